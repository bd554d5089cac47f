"""States that cannot be written down."""

from __future__ import annotations

from typing import Any

import pytest

from qa_app.pipeline.policy import DEFAULT
from qa_app.pipeline.records import InsufficientEvidence, Outcome, Refused, Scope
from qa_app.pipeline.writer import EXTRACTIVE
from tests.pipeline.values import make_candidate, make_evidence, make_query, make_question


@pytest.mark.parametrize("outcome", Outcome)
def test_only_a_refusal_has_the_outcome_and_the_code_of_one(outcome: Outcome) -> None:
    values: dict[str, Any] = {
        "question": make_question(), "query": make_query(), "scope": Scope.GLOBAL, "policy": DEFAULT,
        "corpus_version": 1, "generator": EXTRACTIVE, "search": None, "timings_ms": {},
    }  # fmt: skip

    if outcome.is_answer:
        with pytest.raises(ValueError, match="outcome of an answer"):
            Refused(outcome=outcome, message="No.", **values)
    else:
        assert Refused(outcome=outcome, message="No.", **values).outcome.code is not None


def test_evidence_without_passages_cannot_be_made() -> None:
    with pytest.raises(InsufficientEvidence):
        make_evidence()


def test_studies_of_the_evidence_are_named_once_in_rank_order() -> None:
    evidence = make_evidence(*(make_candidate(study=study) for study in "BAB"))

    assert [study.study_id for study in evidence.studies] == ["B", "A"]
