"""Which part of a question an answer leaves open: of two things asked about at once, the one that nothing cited speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from corpus_app.records import AgeGroup, Concept, Finding, Sex, Study
from qa_app.pipeline.naming import names
from qa_app.pipeline.records import Population, Sentence, Understanding
from qa_app.pipeline.text import content_stems, stem_set

OUTCOMES = frozenset({"outcome", "measure"})
SUBJECTS = frozenset({"intervention", "nutrient"})
_JOINED = re.compile(
    r"\b(?:and|or|vs\.?|versus|plus|than|compared (?:with|to))\b|[/&]|\bas\b[^?]{1,60}\bas\b", re.IGNORECASE
)
_BOTH_AGES = re.compile(r"\byoung|\bchild|\bteen|\badolescen|\bkids?\b", re.IGNORECASE)
_GROUPS = {
    AgeGroup.YOUTH: "young people",
    AgeGroup.ADULTS: "younger adults",
    AgeGroup.OLDER_ADULTS: "older adults",
    Sex.FEMALE: "women",
    Sex.MALE: "men",
}
_MIXED = frozenset({AgeGroup.MIXED, AgeGroup.NOT_REPORTED, Sex.BOTH, Sex.NOT_REPORTED})


def find_open(
    question: str,
    understanding: Understanding,
    *,
    sentences: Sequence[Sentence],
    studies: Sequence[Study],
    findings: Sequence[Finding] = (),
) -> tuple[str, ...]:
    """The outcomes, interventions or groups of people that the question joins and of which only some are spoken of.

    Empty where all are, where none is, or where the question names but one. Spoken of is what a sentence names, in any of its
    names or in most of its words, and what a cited study is about or has measured: rather too much than too little.
    """
    if not _JOINED.search(question):
        return ()
    said = [sentence.text for sentence in sentences] + [
        f"{f.intervention} {f.comparator} {f.outcome}" for f in findings
    ]
    topics = {concept_id for study in studies for concept_id in study.concepts}
    missing: list[str] = []
    for kinds in (OUTCOMES, SUBJECTS):
        asked = [concept for concept in understanding.concepts if concept.kind in kinds]
        missing += _some_of([(c.name, c.concept_id in topics or _is_named(c, said)) for c in asked])
    return tuple(dict.fromkeys((*missing, *_missing_people(question, understanding.population, studies))))


def _is_named(concept: Concept, said: Sequence[str]) -> bool:
    own = frozenset(content_stems(concept.name))
    return any(names(text, concept) or (own and 2 * len(own & stem_set(text)) >= len(own)) for text in said)


def _missing_people(question: str, asked: Population, studies: Sequence[Study]) -> list[str]:
    if not _BOTH_AGES.search(question):  # "over 55" alone is no question about two groups
        asked = replace(asked, age_groups=())
    ages, sexes = {study.age_group for study in studies}, {study.sex for study in studies}
    return [
        *_some_of([(_GROUPS[g], g in ages or bool(ages & _MIXED)) for g in asked.age_groups if g in _GROUPS]),
        *_some_of([(_GROUPS[s], s in sexes or bool(sexes & _MIXED)) for s in asked.sexes if s in _GROUPS]),
    ]


def _some_of(covered: Sequence[tuple[str, bool]]) -> list[str]:
    """The names not covered, where others are."""
    missing = [name for name, is_covered in covered if not is_covered]
    return missing if len(missing) < len(covered) else []


def in_words(missing: Sequence[str]) -> str:
    """What a reader is told."""
    *others, last = missing
    named = f"{', '.join(others)} or {last}" if others else last
    return f"Nothing quoted here is about {named}; the answer is about the rest of the question."
