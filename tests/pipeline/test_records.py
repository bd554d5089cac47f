"""What cannot be written down wrongly."""

from __future__ import annotations

from typing import Any

import pytest

from qa_app.pipeline.policy import DEFAULT
from qa_app.pipeline.records import Answer, Confidence, InsufficientEvidence, Outcome, Scope
from qa_app.pipeline.writer import EXTRACTIVE
from tests.pipeline.values import make_candidate, make_evidence, make_query, make_question


def make_answer(**changes: Any) -> Answer:
    values: dict[str, Any] = {
        "question": make_question(), "outcome": Outcome.INSUFFICIENT_EVIDENCE, "message": "No.",
        "query": make_query(), "scope": Scope.GLOBAL, "summary": (), "answer": (),
        "citations": (), "confidence": None, "evidence": (), "left_out": (), "generator": EXTRACTIVE,
        "policy": DEFAULT, "corpus_version": 1,
    }  # fmt: skip
    return Answer(**(values | changes))


@pytest.mark.parametrize("outcome", Outcome)
def test_an_answer_carries_confidence_and_a_refusal_carries_none(outcome: Outcome) -> None:
    wrong = None if outcome.is_answer else Confidence(80, "medium", (), "x")

    with pytest.raises(ValueError, match="confidence"):
        make_answer(outcome=outcome, confidence=wrong)


@pytest.mark.parametrize("part", ["summary", "answer", "citations"])
def test_a_refusal_carries_no_sentence_and_no_citation(part: str) -> None:
    with pytest.raises(ValueError, match="refusal"):
        make_answer(**{part: ("anything",)})


@pytest.mark.parametrize("outcome", Outcome)
def test_a_refusal_has_a_code_and_an_answer_has_none(outcome: Outcome) -> None:
    assert (outcome.code is None) == outcome.is_answer


def test_evidence_without_passages_cannot_be_made() -> None:
    with pytest.raises(InsufficientEvidence):
        make_evidence()


def test_studies_of_the_evidence_are_named_once_in_rank_order() -> None:
    evidence = make_evidence(*(make_candidate(study=study) for study in "BAB"))

    assert [study.study_id for study in evidence.studies] == ["B", "A"]
