"""Drafts of studies and notices as parsed from a source, and the problems found in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from corpus_app.appraisal import CertaintyLevel, Effect, RiskOfBias
from corpus_app.facets import Facet, FacetValues
from corpus_app.records import (
    AgeGroup,
    CitedWork,
    Design,
    Direction,
    Lean,
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
    REPORTED = "told"
    """Nothing is lost that the corpus could hold; a curator should know it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a source: position, and what to correct; `field` is empty when it concerns the whole file."""

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
    asked_as: str | None = None
    """Questions that it answers, one a line; None where the source says nothing of that."""
    cited: tuple[CitedWork, ...] = field(default=(), compare=False)
    """What the source cites in it; the marks are left out of the text."""


@dataclass(frozen=True, slots=True)
class FindingDraft:
    intervention: str
    comparator: str
    outcome: str
    direction: Direction
    statement: str
    asked_as: str | None = None
    """How readers ask for it, one question a line; None where the source says nothing of that."""
    plain: str | None = None
    """The finding in one sentence of plain words; None where the source says nothing of that."""
    lean: Lean | None = None
    is_unconfirmed: bool | None = None
    """None where the source does not say."""
    effect: Effect | None = None
    is_without_effect: bool = False
    """Whether the source says that no effect is given; without an effect it says nothing otherwise."""

    @property
    def words(self) -> str:
        """Return the whole content as text, for a curator to compare."""
        lean = self.lean and f"({self.lean.replace('_', ' ')})"
        effect = self.effect.words if self.effect else None
        return "\n".join(filter(None, (self.statement, effect, self.plain, lean, self.asked_as)))

    @property
    def said(self) -> tuple[str, ...]:
        """Return the finding without the curators' additions."""
        return self.intervention, self.comparator, self.outcome, self.direction, self.statement


def with_questions(findings: Iterable[FindingDraft], present: Sequence[FindingDraft]) -> tuple[FindingDraft, ...]:
    """Complete the findings of a source with the curated data of the present findings.

    Questions and doubts come from the finding with the same content or comparison, plain sentences and effects only
    from the one with the same content.
    """
    return tuple(_completed(finding, present) for finding in findings)


def _completed(finding: FindingDraft, present: Sequence[FindingDraft]) -> FindingDraft:
    alike = [other for other in present if other.statement == finding.statement]
    alike += [other for other in present if other.said[:3] == finding.said[:3]]
    same = [other for other in present if other.said == finding.said]
    missing: dict[str, Any] = {}
    if finding.asked_as is None:
        missing["asked_as"] = next((other.asked_as for other in alike if other.asked_as), "")
    if finding.is_unconfirmed is None:
        missing["is_unconfirmed"] = any(other.is_unconfirmed for other in alike[:1])
    if finding.plain is None:
        missing["plain"] = next((other.plain for other in same if other.plain), "")
        missing["lean"] = finding.lean or next((other.lean for other in same if other.lean), None)
    if finding.effect is None and not finding.is_without_effect:
        missing["effect"] = next((other.effect for other in same if other.effect), None)
        missing["is_without_effect"] = missing["effect"] is None
    return replace(finding, **missing) if missing else finding


def with_passage_questions(
    passages: Iterable[PassageDraft], present: Sequence[PassageDraft]
) -> tuple[PassageDraft, ...]:
    """Complete the passages of a source with the curated questions of present passages of the same text."""
    known = {passage.text: passage.asked_as for passage in present if passage.asked_as}
    return tuple(
        passage if passage.asked_as is not None else replace(passage, asked_as=known.get(passage.text) or "")
        for passage in passages
    )


@dataclass(frozen=True, slots=True)
class StudyDraft:
    study_id: str
    title: str
    authors: tuple[str, ...]
    design: str
    """A value of `Design`, or the name of a kind of source that the corpus declares."""
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
    facets: FacetValues = ()
    """Values of the facets that the corpus declares."""
    n_studies: int | None = None
    n_participants: int | None = None
    duration_weeks_min: float | None = None
    duration_weeks_max: float | None = None
    concepts: tuple[str, ...] = ()
    takeaway: str = ""
    asked_as: str | None = None
    """Questions that the study as a whole answers, one a line; None where the source says nothing of that."""
    findings: tuple[FindingDraft, ...] = ()
    risk_of_bias: RiskOfBias | None = None
    """None where the source says nothing of it."""
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
    labels: tuple[str, ...] = ()
    """Curators' words to sort studies by; those of a file are added to those of the corpus."""
    columns: tuple[str, ...] | None = None
    """The fields that a row of the master CSV states; None for a study file, which states everything."""
    origin: str = field(default="", compare=False)
    """The file, and the line of a CSV: where a problem found later is reported."""
    line: int | None = field(default=None, compare=False)

    @property
    def has_people(self) -> bool:
        """Tell whether it says anything of who was studied."""
        facets = {self.training_status.value, self.age_group.value, self.sex.value}
        return bool(self.population or self.n_participants is not None or facets != {Sex.NOT_REPORTED.value})

    def identities(self) -> Iterator[tuple[str, str]]:
        """Yield the fields, with their values, that name one study only."""
        yield "study_id", self.study_id
        if self.doi:
            yield "doi", self.doi
        if self.pmid:
            yield "pmid", self.pmid

    def problem(self, field_name: str, reason: str) -> Problem:
        return Problem(self.origin or self.study_id, self.line, field_name, reason)


@dataclass(frozen=True, slots=True)
class AddedPassages:
    """Passages of a file that names their study, but no other data of it."""

    study_id: str
    doi: str
    pmid: str
    passages: tuple[PassageDraft, ...]
    origin: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NoticeDraft:
    """A notice that corrects or retracts a study, named by normalised DOI or PMID (empty when absent)."""

    notice: Notice
    doi: str
    pmid: str
    reason: str
    """Where the notice stands, in words for `notice_reason`."""
    origin: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of an exported spreadsheet that comes back, cell by cell."""

    study_id: str
    version: int | None
    """The study's version when it was exported; None where the row does not say."""
    cells: Mapping[str, str]
    """The text of each column that the file has."""
    is_lossy: bool = False
    """Whether the file's encoding lacks characters that the study may have."""
    origin: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)

    def problem(self, column: str, reason: str, weight: Weight = Weight.DROPPED) -> Problem:
        return Problem(self.origin, self.line, column, reason, weight)

    def twin_problem(self, first: SheetRow) -> Problem:
        """Return the problem of a second row of a study."""
        reason = f"{self.study_id} has a row already, line {first.line}; this one was left out."
        return self.problem("study_id", reason, Weight.BROKEN)


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
class CertaintyDraft:
    intervention: str
    outcome: str
    level: CertaintyLevel
    reasons: tuple[str, ...]
    age_group: AgeGroup | None = None
    training_status: TrainingStatus | None = None
    sex: Sex | None = None
    facets: FacetValues = ()
    """The values of other facets that it is about."""

    @property
    def matter(self) -> tuple[Any, ...]:
        """Return the concepts and facets by which it is known; people that it does not name are empty."""
        people = (self.age_group or "", self.training_status or "", self.sex or "")
        return (self.intervention, self.outcome, *people, self.facets)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The content of concepts.json; `is_given` is False when there is no such file."""

    collections: tuple[CollectionDraft, ...] = ()
    concepts: tuple[ConceptDraft, ...] = ()
    relations: tuple[RelationDraft, ...] = ()
    certainties: tuple[CertaintyDraft, ...] = ()
    is_given: bool = False


@dataclass(frozen=True, slots=True)
class CorpusDraft:
    vocabulary: Vocabulary
    studies: tuple[StudyDraft, ...]
    problems: tuple[Problem, ...]
    broken: int = 0
    """How many studies gave no draft."""
    lexica: Mapping[str, str] | None = None
    """The word lists of its subject, TOML by name; None where it has none, or unsound ones."""
    notes: tuple[Problem, ...] = ()
    """What a curator should know of its pages and books; nothing is wrong."""


class Unreadable(Exception):
    """A path that cannot be read as a corpus; the message says why."""


@dataclass(frozen=True, slots=True)
class Known:
    """The ids that the corpus has already, which a file may refer to."""

    collections: frozenset[str] = frozenset()
    concepts: frozenset[str] = frozenset()
    studies: frozenset[str] = frozenset()
    designs: frozenset[str] = frozenset(Design)
    """The kinds of source that the corpus knows."""
    facets: Mapping[str, Facet] = field(default_factory=dict)
