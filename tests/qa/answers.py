"""Answers with every field of the contract filled, stored as the pipeline would store them."""

from dataclasses import replace
from typing import Any

from django.utils import timezone

from corpus_app.appraisal import CertaintyLevel
from qa_app.answers import answering
from qa_app.answers.payload import Payload
from qa_app.pipeline.records import (
    Answered,
    Ending,
    EvidenceStrength,
    Headline,
    HeadlineVerdict,
    Mode,
    NearQuestion,
    Question,
    StrengthReason,
)
from tests.qa.conftest import ASKED

NEAR = (
    NearQuestion("How much protein do older adults need?", "T-PROTEIN"),
    NearQuestion("Do few sets still build muscle?", "T-SETS"),
)
STRENGTH = EvidenceStrength(
    CertaintyLevel.MODERATE,
    (StrengthReason("design", "The best evidence cited here is a randomised trial."),
     StrengthReason("few_studies", "It rests on 3 studies.")),
)  # fmt: skip


def make_answer(question: str = ASKED, *, mode: Mode = Mode.BEGINNER, **changes: Any) -> Ending:
    """Return the pipeline's answer; where it is none, with near questions, else with headline and strength too."""
    answered = answering.make(Question(question, question, mode), writer="extractive")
    if not isinstance(answered, Answered):
        return replace(answered, **({"near_questions": NEAR} | changes))
    first = (*answered.summary, *answered.answer)[0]
    headline = Headline(
        text=first.support[0].quote, verdict=HeadlineVerdict.YES, citations=first.citations[:1],
        support=first.support[:1], studies_for=3, studies_against=1, studies_without_difference=2,
    )  # fmt: skip
    added = {"headline": headline, "strength": STRENGTH, "near_questions": NEAR, "missing": ("sleep",)}
    return replace(answered, **(added | changes))


def store_answer(question: str = ASKED, **changes: Any) -> Payload:
    """Store such an answer; its payload."""
    return answering.store(make_answer(question, **changes), parent=None, now=timezone.now())
