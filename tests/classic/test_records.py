"""What cannot be written down wrongly, and a policy that is known by its figures."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest
from qa_app.classic.generation import EXTRACTIVE
from qa_app.classic.policy import Policy
from qa_app.classic.query import understand
from qa_app.pipeline.calibration import Logistic

from qa_app.pipeline import records
from qa_app.pipeline.records import Answer, Because, Confidence, Outcome, Searched
from tests.classic.values import POLICY, make_candidate, make_question


def another(value: Any) -> Any:
    if isinstance(value, Logistic):
        return replace(value, intercept=value.intercept + 0.001)
    return f"{value}-2" if isinstance(value, str) else value + 1


def make_answer(**changes: Any) -> Answer:
    question = make_question()
    values: dict[str, Any] = {
        "question": question, "outcome": Outcome.INSUFFICIENT_EVIDENCE, "message": "No.",
        "understanding": understand(question, concepts=(), collections=()), "scope": Searched.GLOBAL,
        "summary": (), "answer": (), "citations": (), "confidence": None, "evidence": (), "left_out": (),
        "generator": EXTRACTIVE, "policy": POLICY, "corpus_version": 1,
    }  # fmt: skip
    return Answer(**(values | changes))


@pytest.mark.parametrize("figure", [f.name for f in fields(Policy)])
def test_the_policys_label_changes_with_every_figure(figure: str) -> None:
    changed = replace(POLICY, **{figure: another(getattr(POLICY, figure))})

    assert changed.label != POLICY.label


def test_equal_policies_have_equal_labels_that_begin_with_the_name() -> None:
    assert Policy().label == Policy().label
    assert Policy(name="seed-000").label.startswith("seed-000-")


def test_a_policy_can_be_stored_whole() -> None:
    stored = json.loads(json.dumps(POLICY.values()))

    assert set(stored) == {f.name for f in fields(Policy)}
    assert stored["answerability"]["intercept"] == POLICY.answerability.intercept


def test_values_do_not_change_once_made() -> None:
    with pytest.raises(FrozenInstanceError):
        POLICY.pool_cap = 1  # type: ignore[misc]


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


def test_a_candidate_with_a_chance_is_else_the_same() -> None:
    candidate = make_candidate("It grows.", cosine=0.5)

    why = Because("recency", "tie-break", 2020.0)
    assert candidate.bearing(77) == replace(candidate, bears=77)
    assert candidate.explained(why) == replace(candidate, because=(*candidate.because, why))
    assert (
        len({str(getattr(candidate, field.name)) for field in fields(candidate)}) > 5
    )  # two fields in each other's place would be seen


def test_everything_that_is_exported_exists() -> None:
    assert all(hasattr(records, name) for name in records.__all__)
