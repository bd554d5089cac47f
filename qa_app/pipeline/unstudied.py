"""Subjects that a question names and no study is about: which of them it is about, and which it only mentions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from qa_app.pipeline.naming import CONDITION, DONE, MEASURED, VARIABLE, find_name_spans, names
from qa_app.pipeline.records import Concept, Understanding
from qa_app.pipeline.text import corrected

FIELD = frozenset({CONDITION, "intervention", *MEASURED})
PASSING = frozenset({VARIABLE, "population"})
"""Kinds that are named in passing as a rule: single exercises, and sports."""
_PRONOUN = re.compile(
    r"\b(?:it|its|this|these|those|they|them|(?:does|is|will|would|can|should) that)\b", re.IGNORECASE
)
_EXPLETIVE = re.compile(
    r"\b(?:is|was|be|does|would|will)\s+(?:it|this|that)\s+(?:really |still |even |also |actually )?(?:better|best|enough|ok|okay|safe|possible|true|worth|"
    r"necessary|good|bad|fine|too|matter|make sense|take|help to|needed|normal|wise|smart)\b|\bit takes?\b",
    re.IGNORECASE,
)
_OF_ONESELF = re.compile(r"\s*(?:i|i['’]?m|i['’]?ve|my|we|our|he|she|mum|mom|dad)\b", re.IGNORECASE)
_ASKED_AFTER_A_COMMA = re.compile(
    r",\s+(?:so |and |but |now )?(?=(?:how|what|which|when|should|can|could|do|does|is|are|will|would)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A concept that no study is about, as a question names it."""

    text: str
    concept: Concept
    is_asked_about: bool
    """The question is about it; else it is named in passing."""


def find_subjects(question: str, understanding: Understanding) -> tuple[Subject, ...]:
    """What no study is about, of what `find_asked` finds.

    A sport or a single exercise is named in passing where the question names something else that is done.
    """
    if not understanding.unstudied:
        return ()
    passing = PASSING if _names_any(understanding, DONE) else PASSING - DONE
    return tuple(
        Subject(text, concept, concept.kind not in passing)
        for text, concept in find_asked(question, understanding)
        if not concept.is_studied
    )


def find_asked(question: str, understanding: Understanding) -> tuple[tuple[str, Concept], ...]:
    """The concepts that a question names where it asks, in its own words, what was misspelt as it was meant.

    Not those that only stand in what people say of themselves before they ask ("I take creatine. How many sets ..."), unless it is
    what they have, or what is asked takes it up by a pronoun.
    """
    said = corrected(question, understanding.corrections)
    asked_from = _asked_from(said, corrected(understanding.core, understanding.corrections))
    return tuple(
        (said[start:end], concept)
        for start, end, concept in find_name_spans(said, (*understanding.concepts, *understanding.unstudied))
        if start >= asked_from or concept.kind == CONDITION
    )


def find_alone(question: str, understanding: Understanding) -> tuple[Subject, ...]:
    """Those of `find_subjects` beside which nothing is named that was done, or that was measured: without them nothing is left of it."""
    subjects = [subject for subject in find_subjects(question, understanding) if subject.is_asked_about]
    return tuple(
        subject
        for subject in subjects
        for kinds in (DONE, MEASURED)
        if subject.concept.kind in kinds and not _names_any(understanding, kinds)
    )


def is_of_the_field(understanding: Understanding) -> bool:
    """Whether what no study is about belongs to the field all the same: foods and sports alone do not ("who won the football cup?")."""
    return any(concept.kind in FIELD for concept in understanding.unstudied)


def is_named(subject: Subject, texts: Sequence[str]) -> bool:
    return any(names(text, subject.concept) for text in texts)


def _names_any(understanding: Understanding, kinds: frozenset[str]) -> bool:
    return any(concept.kind in kinds for concept in understanding.concepts)


def _asked_from(said: str, core: str) -> int:
    """Where what is asked begins; 0 where it is all, or takes up what stands before it."""
    start = max(0, said.find(core)) if core else 0
    if not core and _OF_ONESELF.match(said):
        start = max((match.end() for match in _ASKED_AFTER_A_COMMA.finditer(said)), default=0)
    return 0 if _PRONOUN.search(_EXPLETIVE.sub(" ", said[start:])) else start
