"""What a source says, before anything is kept: drafts, and the problems found in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from corpus_app.records import (
    AgeGroup,
    Design,
    Direction,
    Notice,
    PassageKind,
    Section,
    Sex,
    Status,
    TrainingStatus,
    Wanted,
)


class Weight(StrEnum):
    BROKEN = "broken"
    """Nothing was taken of the file, the study or the passage."""
    DROPPED = "dropped"
    """The study was taken without this value."""
    TOLD = "told"
    """Nothing is lost that the corpus could hold; a curator should know it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, where, in words that say what to correct. `field` is empty where the whole file is meant."""

    file: str
    line: int | None
    field: str
    reason: str
    weight: Weight = Weight.BROKEN

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place} {self.field}: {self.reason}" if self.field else f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class PassageDraft:
    section: Section
    text: str
    page: int | None = None
    kind: PassageKind = PassageKind.SUMMARY
    heading: str = field(default="", compare=False)
    """The headings above it in the source, outermost first: `Results > Strength`."""
    start: int | None = field(default=None, compare=False)
    """Code points of the source's text as it was read (`Article.text`), end exclusive; None where there was none."""
    end: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FindingDraft:
    intervention: str
    comparator: str
    outcome: str
    direction: Direction
    statement: str
    asked_as: str | None = None
    """How readers ask for it, one question a line; None where the source says nothing of that."""

    @property
    def words(self) -> str:
        """All that it says, for a curator to compare."""
        return "\n".join(filter(None, (self.statement, self.asked_as)))

    @property
    def said(self) -> tuple[str, ...]:
        """What readers are shown of it."""
        return self.intervention, self.comparator, self.outcome, self.direction, self.statement


def with_questions(findings: Iterable[FindingDraft], present: Sequence[FindingDraft]) -> tuple[FindingDraft, ...]:
    """Findings of a source; where it does not say how readers ask for one, with what is written down of that already: for the one that
    says the same, or compares the same.
    """

    def kept(finding: FindingDraft) -> str:
        alike = [other for other in present if other.statement == finding.statement]
        alike += [other for other in present if other.said[:3] == finding.said[:3]]
        return next((other.asked_as for other in alike if other.asked_as), "")

    return tuple(f if f.asked_as is not None else replace(f, asked_as=kept(f)) for f in findings)


@dataclass(frozen=True, slots=True)
class StudyDraft:
    study_id: str
    title: str
    authors: tuple[str, ...]
    design: Design
    peer_reviewed: bool
    collection: str
    status: Status
    year: int | None = None
    journal: str | None = None
    doi: str | None = None
    pmid: str | None = None
    url: str | None = None
    population: str = ""
    training_status: TrainingStatus = TrainingStatus.NOT_REPORTED
    age_group: AgeGroup = AgeGroup.NOT_REPORTED
    sex: Sex = Sex.NOT_REPORTED
    n_studies: int | None = None
    n_participants: int | None = None
    duration_weeks_min: float | None = None
    duration_weeks_max: float | None = None
    concepts: tuple[str, ...] = ()
    findings: tuple[FindingDraft, ...] = ()
    licence: str = ""
    curator_notes: str = ""
    status_reason: str = ""
    notice: Notice = Notice.NONE
    notice_reason: str = ""
    derived_numbers: tuple[int | float | str, ...] = ()
    passages: tuple[PassageDraft, ...] = ()
    source_ref: int | None = None
    empty_keys: tuple[str, ...] = ()
    """Keys that the file held without a value, each as `key=value`: `year=null`, `duration_weeks={}`."""
    columns: tuple[str, ...] | None = None
    """The fields that a row of the master CSV states; None for a study file, which states everything."""
    origin: str = field(default="", compare=False)
    """The file, and the line of a CSV: where a problem found later is reported."""
    line: int | None = field(default=None, compare=False)

    def problem(self, field_name: str, reason: str) -> Problem:
        return Problem(self.origin or self.study_id, self.line, field_name, reason)


@dataclass(frozen=True, slots=True)
class AddedPassages:
    """Passages of a file that says which study they belong to, and no more of it."""

    study_id: str
    doi: str
    pmid: str
    passages: tuple[PassageDraft, ...]
    origin: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NoticeDraft:
    """A record that is no study: it corrects or retracts one, named by DOI or PMID (normal form; empty where not given)."""

    notice: Notice
    doi: str
    pmid: str
    reason: str
    """Where the notice stands, in words for `notice_reason`."""
    origin: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CollectionDraft:
    slug: str
    name: str
    description: str = ""
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConceptDraft:
    concept_id: str
    name: str
    kind: str
    aliases: tuple[str, ...] = ()
    definition: str = ""
    collections: tuple[str, ...] = ()
    wanted: Wanted = Wanted.NEITHER


@dataclass(frozen=True, slots=True)
class RelationDraft:
    source: str
    relation: str
    target: str
    studies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What concepts.json holds; `is_given` is False where there was no such file."""

    collections: tuple[CollectionDraft, ...] = ()
    concepts: tuple[ConceptDraft, ...] = ()
    relations: tuple[RelationDraft, ...] = ()
    is_given: bool = False


@dataclass(frozen=True, slots=True)
class CorpusDraft:
    vocabulary: Vocabulary
    studies: tuple[StudyDraft, ...]
    problems: tuple[Problem, ...]
    broken: int = 0
    """How many studies gave no draft."""


class Unreadable(Exception):
    """Nothing at the path can be read as a corpus; the message says why."""


@dataclass(frozen=True, slots=True)
class Known:
    """Ids that the corpus holds already, so that a file may name them."""

    collections: frozenset[str] = frozenset()
    concepts: frozenset[str] = frozenset()
    studies: frozenset[str] = frozenset()
