"""Draw where the studies stand on the comparison and outcome asked about: counts by stance, one mark for each study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_app import search
from corpus_app.facets import Facet
from corpus_app.records import Design, Notice, Reference, Study

Payload = Mapping[str, Any]

STANCES = ("favours", "no_difference", "against", "unclear")
LEAST_STUDIES = 2  # one study is no picture
REVIEWS = frozenset(
    {
        Design.META_ANALYSIS,
        Design.SYSTEMATIC_REVIEW,
        Design.UMBRELLA_REVIEW,
        Design.SCOPING_REVIEW,
        Design.NARRATIVE_REVIEW,
    }
)
TRIALS = frozenset({Design.RANDOMIZED_CONTROLLED_TRIAL, Design.CROSSOVER_TRIAL, Design.NONRANDOMIZED_TRIAL})
SIZES = (100, 1_000)  # participants: from each on, the mark of a study is larger


@dataclass(frozen=True, slots=True)
class Mark:
    """A study in the meter."""

    study: Reference
    index: int | None
    """The study's citation number; None for a study that was not cited."""
    shape: str
    """`review`, `trial` or `other`."""
    size: int
    """From 1 to 3, by the number of participants."""
    statements: tuple[tuple[str, str], ...]
    """What it found on the matter, in the words of its records, each with its stance where that is not the study's."""
    sentence: tuple[str, int] | None
    """Part and number of the first sentence that cites the study."""


@dataclass(frozen=True, slots=True)
class StanceGroup:
    """The studies of one stance, and the part of the bar that is theirs, in percent."""

    stance: str
    marks: tuple[Mark, ...]
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Group:
    """Studies that share a value of a facet, such as the age of the people, counted by stance."""

    label: str
    counts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Trait:
    """A facet in which the studies differ, with those of each value."""

    label: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Meter:
    """Studies counted by where they stand; each counts once."""

    outcome: str
    subject: str
    """The intervention whose benefit or harm is meant; empty where the answer names none."""
    comparator: str
    """What it was compared with; empty where the studies differ in it, or the answer is older."""
    sides: tuple[StanceGroup, ...]
    traits: tuple[Trait, ...]
    not_counted: int
    """Number of cited studies that are not in the picture: they compared or measured something else."""
    retracted: int
    """Number of studies that were counted and have been retracted since."""

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        return tuple((side.stance, len(side.marks)) for side in self.sides)

    @property
    def total(self) -> int:
        return sum(count for _, count in self.counts)


def draw_meter(payload: Payload, cited: Mapping[str, int], known: Mapping[str, Reference]) -> Meter | None:
    """Return the meter of a redacted answer; None where fewer than two studies are counted.

    `cited` are citation numbers by study id, `known` the public studies of the answer, and of its agreement.
    """
    agreement = payload.get("agreement")
    if not agreement:
        return None
    rows = {stance: agreement.get(stance) or () for stance in STANCES}
    named = {row["study_id"] for own in rows.values() for row in own} & known.keys()
    counted = {study_id for study_id in named if known[study_id].notice is not Notice.RETRACTED}
    if len(counted) < LEAST_STUDIES:
        return None
    stances = {row["study_id"]: stance for stance in reversed(STANCES) for row in rows[stance]}
    sides = tuple(_sides(rows, {study_id: known[study_id] for study_id in counted}, cited, _sentences(payload)))
    return Meter(
        outcome=agreement.get("outcome_name") or "",
        subject=agreement.get("intervention") or _subject(agreement),
        comparator=agreement.get("comparator") or "",
        sides=sides,
        traits=tuple(_traits({study_id: stances[study_id] for study_id in counted})),
        not_counted=len(cited.keys() - named),
        retracted=len(named - counted),
    )


def _sides(
    rows: Mapping[str, Sequence[Payload]],
    counted: Mapping[str, Reference],
    cited: Mapping[str, int],
    sentences: Mapping[int, tuple[str, int]],
) -> Iterator[StanceGroup]:
    start, seen = 0.0, set[str]()
    for stance in STANCES:
        found: dict[str, list[tuple[str, str]]] = {}
        for row in rows[stance]:
            if row["study_id"] in counted and row["study_id"] not in seen:
                own = row.get("stance", stance)
                found.setdefault(row["study_id"], []).append((row["statement"], "" if own == stance else own))
        seen |= found.keys()
        marks = [
            _mark(counted[study_id], tuple(statements), cited.get(study_id), sentences)
            for study_id, statements in found.items()
        ]
        if marks:
            ordered = sorted(marks, key=lambda mark: (mark.index is None, mark.index or 0, mark.study.study_id))
            width = 100 * len(marks) / len(counted)
            yield StanceGroup(stance, tuple(ordered), round(start, 2), round(width, 2))
            start += width


def _mark(
    study: Reference,
    statements: tuple[tuple[str, str], ...],
    index: int | None,
    sentences: Mapping[int, tuple[str, int]],
) -> Mark:
    return Mark(
        study=study,
        index=index,
        shape="review" if study.design in REVIEWS else "trial" if study.design in TRIALS else "other",
        size=1 + sum((study.participants or 0) >= least for least in SIZES),
        statements=statements,
        sentence=None if index is None else sentences.get(index),
    )


def _traits(stances: Mapping[str, str]) -> Iterator[Trait]:
    """Yield each facet in which the studies differ, and how those of each value stand."""
    studies = search.studies(stances)
    for key, facet in search.site().facets.items() if len(studies) == len(stances) else ():
        by_value = _by_value(facet, key, studies)
        if len(by_value) > 1:
            counts = {label: Counter(stances[study_id] for study_id in own) for label, own in by_value.items()}
            yield Trait(
                facet.label,
                tuple(
                    Group(label, tuple((stance, own[stance]) for stance in STANCES if own[stance]))
                    for label, own in counts.items()
                ),
            )


def _by_value(facet: Facet, key: str, studies: Mapping[str, Study]) -> dict[str, list[str]]:
    """Return the ids of studies by the label of their value, in the order of the facet's declaration."""
    return {
        declared.label: members
        for value, declared in facet.values.items()
        if (members := [study_id for study_id, study in studies.items() if value in study.values_of(key)])
    }


def _subject(agreement: Payload) -> str:
    concept_id = agreement.get("subject_concept")
    return next((concept.name for concept in search.concepts() if concept.concept_id == concept_id), "")


def _sentences(payload: Payload) -> dict[int, tuple[str, int]]:
    """Map citation numbers to the first sentence that cites them and was not withdrawn."""
    found: dict[int, tuple[str, int]] = {}
    for part in ("summary", "answer"):
        for number, row in enumerate(payload[part]["sentences"], start=1):
            for index in row["citations"] if row["support"] else ():
                found.setdefault(index, (part, number))
    return found
