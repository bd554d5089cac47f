"""Confidence says how likely the answer fits, in a number, a word and reasons."""

from __future__ import annotations

import pytest

from qa_app.pipeline.confidence import assess
from qa_app.pipeline.policy import DEFAULT, Policy

SIGNALS = {"leader_question_cosine": 0.5, "likely": 1.0}


@pytest.mark.parametrize(
    ("chance", "score", "label"),
    [(0.0, 0, "low"), (0.444, 44, "low"), (0.446, 45, "medium"), (0.69, 69, "medium"), (0.7, 70, "high"), (1.0, 100, "high")],
)  # fmt: skip
def test_the_label_follows_the_score(chance: float, score: int, label: str) -> None:
    policy = Policy(confidence_medium=45, confidence_high=70)

    found = assess(chance, SIGNALS, (), "lead-1", policy)

    assert (found.score, found.label, found.calibration) == (score, label, "lead-1")


@pytest.mark.parametrize(
    ("signals", "missing", "reason"),
    [
        ({"leader_question_cosine": 0.9}, (), "a curated question asks the same"),
        ({"likely": 3.0}, (), "3 studies are likely to answer"),
        ({"likely": 1.0}, (), "one study stands out"),
        ({"likely": 0.0}, (), "no study stands out"),
        ({}, (), "the cited studies use the question's words"),
        ({}, ("sauna",), "some words of the question stand in no cited study"),
    ],
)
def test_confidence_gives_its_reasons(signals: dict[str, float], missing: tuple[str, ...], reason: str) -> None:
    assert reason in assess(0.5, SIGNALS | signals, missing, "", DEFAULT).reasons
