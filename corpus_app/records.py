"""Frozen records of the corpus, such as studies, passages and hits, for use outside corpus_app."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray

from corpus_app.appraisal import CertaintyLevel, Effect, RiskOfBias


class Section(StrEnum):
    ABSTRACT = "abstract"
    INTRODUCTION = "introduction"
    BACKGROUND = "background"
    METHODS = "methods"
    RESULTS = "results"
    DISCUSSION = "discussion"
    CONCLUSION = "conclusion"
    LIMITATIONS = "limitations"
    PRACTICAL_APPLICATIONS = "practical_applications"


class Design(StrEnum):
    META_ANALYSIS = "meta_analysis"
    SYSTEMATIC_REVIEW = "systematic_review"
    SCOPING_REVIEW = "scoping_review"
    UMBRELLA_REVIEW = "umbrella_review"
    NARRATIVE_REVIEW = "narrative_review"
    RANDOMIZED_CONTROLLED_TRIAL = "randomized_controlled_trial"
    NONRANDOMIZED_TRIAL = "nonrandomized_trial"
    CROSSOVER_TRIAL = "crossover_trial"
    COHORT_STUDY = "cohort_study"
    CROSS_SECTIONAL_STUDY = "cross_sectional_study"
    POSITION_STAND = "position_stand"
    GUIDELINE = "guideline"
    THESIS = "thesis"
    PREPRINT = "preprint"
    OTHER = "other"


class TrainingStatus(StrEnum):
    UNTRAINED = "untrained"
    RECREATIONALLY_TRAINED = "recreationally_trained"
    TRAINED = "trained"
    ATHLETES = "athletes"
    MIXED = "mixed"
    NOT_REPORTED = "not_reported"
    NOT_APPLICABLE = "not_applicable"


class AgeGroup(StrEnum):
    YOUTH = "youth"
    ADULTS = "adults"
    OLDER_ADULTS = "older_adults"
    MIXED = "mixed"
    NOT_REPORTED = "not_reported"


class Sex(StrEnum):
    FEMALE = "female"
    MALE = "male"
    BOTH = "both"
    NOT_REPORTED = "not_reported"


ASKED_AGES = (AgeGroup.YOUTH, AgeGroup.ADULTS, AgeGroup.OLDER_ADULTS)
ASKED_TRAINING = (
    TrainingStatus.UNTRAINED,
    TrainingStatus.RECREATIONALLY_TRAINED,
    TrainingStatus.TRAINED,
    TrainingStatus.ATHLETES,
)
ASKED_SEXES = (Sex.FEMALE, Sex.MALE)
"""People that a question or a judgement can be about."""


class Wanted(StrEnum):
    """The direction in which a change of an outcome is a benefit."""

    MORE = "more"
    LESS = "less"
    NEITHER = "neither"
    """A change is neither good nor bad in itself, or no curator has decided."""


class ConceptRole(StrEnum):
    """The part that a concept plays in a question."""

    THING = "thing"
    """A thing that is done, given or used: an intervention, a product, a method."""
    PARAMETER = "parameter"
    """A setting of a thing, such as its amount, length or frequency."""
    OUTCOME = "outcome"
    MEASURE = "measure"
    """A way to measure an outcome."""
    CONDITION = "condition"
    GROUP = "group"
    """People, or whatever else is studied."""
    NONE = "none"


class SectionRole(StrEnum):
    """The purpose of the text of a section."""

    FINDING = "finding"
    HOW = "how"
    CONTEXT = "context"
    CAVEAT = "caveat"
    ADVICE = "advice"
    DEFINITION = "definition"
    EVENT = "event"


SECTION_OF_ROLE: Mapping[SectionRole, Section] = {
    SectionRole.FINDING: Section.RESULTS,
    SectionRole.HOW: Section.METHODS,
    SectionRole.CONTEXT: Section.BACKGROUND,
    SectionRole.CAVEAT: Section.LIMITATIONS,
    SectionRole.ADVICE: Section.PRACTICAL_APPLICATIONS,
    SectionRole.DEFINITION: Section.ABSTRACT,
    SectionRole.EVENT: Section.RESULTS,
}
"""The section of a paper whose part in an answer is the same."""


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source that a corpus declares beside the designs of studies."""

    label: str
    """As it stands within a sentence: `web page`."""
    plural: str
    strength: CertaintyLevel | None = None
    """The level at which a source of this kind starts as evidence; None where such sources are not graded."""


class Status(StrEnum):
    DRAFT = "draft"
    IN_REVIEW = "in_review"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"
    ARCHIVED = "archived"
    """Of a corpus that another one has replaced: neither searched nor listed; stored answers still show its words."""


READABLE = frozenset({Status.PUBLISHED, Status.ARCHIVED})
"""Statuses of studies whose words readers may see."""


class Notice(StrEnum):
    NONE = "none"
    CORRECTED = "corrected"
    EXPRESSION_OF_CONCERN = "expression_of_concern"
    RETRACTED = "retracted"


class Direction(StrEnum):
    INCREASE = "increase"
    DECREASE = "decrease"
    NO_DIFFERENCE = "no_difference"
    MIXED = "mixed"
    FAVOURS_INTERVENTION = "favours_intervention"
    FAVOURS_COMPARATOR = "favours_comparator"
    UNCLEAR = "unclear"


class Lean(StrEnum):
    """The answer of a finding to the question whether its intervention helps, or whether its outcome rises."""

    YES = "yes"
    NO = "no"
    NO_CLEAR_DIFFERENCE = "no_clear_difference"
    MIXED = "mixed"
    UNCLEAR = "unclear"

    @property
    def turned(self) -> Lean:
        """Return the lean as seen from the comparator."""
        return {Lean.YES: Lean.NO, Lean.NO: Lean.YES}.get(self, self)


class PassageKind(StrEnum):
    SUMMARY = "summary"
    """The curator's own words about the study."""
    EXCERPT = "excerpt"
    """The source's words."""
    TABLE = "table"
    """Rows of a table of the source, each a line of its own with its heads."""
    PLAIN = "plain"
    """A plain sentence, derived from a study's takeaway or from a finding, never written as a passage."""


ORDINARY_KINDS = (PassageKind.SUMMARY, PassageKind.EXCERPT, PassageKind.TABLE)
"""The kinds that a source or a curator may give a passage."""


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A work that a source cites at a place of a passage; its mark is left out of the text."""

    at: int
    """Code points of the text before the mark."""
    reference: str
    """Id of the reference in the source."""
    label: str
    """The number of the reference, as printed; empty where the source has none."""
    doi: str = ""
    pmid: str = ""


TITLE_RUN = 6  # consecutive words of a title that name it


class WordField(StrEnum):
    """Parts of a study that have words."""

    PASSAGE = "passage"
    AUTHOR = "author"
    TITLE = "title"
    RUN = "run"
    """TITLE_RUN words of the title in a row."""


@dataclass(frozen=True, slots=True)
class NameCues:
    """The names by which a text may mean studies; words are normalised as those of `StudyWord`."""

    dois: tuple[str, ...] = ()
    pmids: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    title_words: tuple[str, ...] = ()
    """Of each, one title that has it is returned."""
    runs: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    """Words of which a title, or title and authors, have most."""
    acronyms: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    """Words for an organisation; those whose name has one may have the acronyms."""


class TextKind(StrEnum):
    """The kinds of short texts of a study that questions are compared with."""

    TITLE = "title"
    STATEMENT = "statement"
    """What was compared, the outcome and the statement of a finding in one text."""
    PLAIN = "plain"
    """The takeaway, or the plain sentence of a finding."""
    QUESTION = "question"
    """A question that the study, one of its findings or passages answers."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of numbers that a corpus declares, beside those of English."""

    forms: tuple[str, ...]
    """As it is written, in the singular: single words."""
    dimension: str = ""
    """What it measures, as length or sheets; empty: it is converted to no other unit."""
    factor: float = 1.0
    """How many of the base unit of its dimension it is."""


@dataclass(frozen=True, slots=True)
class Study:
    """A study as readers see it."""

    study_id: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    journal: str | None
    doi: str | None
    url: str | None
    design: str
    """A value of `Design`, or the name of a kind of source that the corpus declares."""
    peer_reviewed: bool
    collection: str
    population: str
    training_status: TrainingStatus
    age_group: AgeGroup
    sex: Sex
    status: Status
    notice: Notice
    concepts: tuple[str, ...] = ()
    """Ids of its concepts, in the curator's order."""
    takeaway: str = ""
    """The study in one or two plain sentences; empty when no curator has written them."""
    kind: SourceKind | None = None
    """The declared kind of source; None where the design is one of `Design`."""
    facets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The values of declared facets without a column of their own, by key."""

    def values_of(self, facet: str) -> tuple[str, ...]:
        """Return the values of a facet; none where nobody has entered any."""
        column = {"age_group": self.age_group, "training_status": self.training_status, "sex": self.sex}.get(facet)
        return dict(self.facets).get(facet, ()) if column is None else (column.value,)


@dataclass(frozen=True, slots=True)
class StudyTotal:
    """A number of studies."""

    total: int
    ids: tuple[str, ...]
    """Their ids, sorted; not all of them where they are many."""


class StudyTrait(StrEnum):
    """A trait by which studies are counted."""

    YEAR = "year"
    DESIGN = "design"
    COLLECTION = "collection"
    JOURNAL = "journal"
    AUTHOR = "author"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class TraitCounts:
    """The number of studies by name of one trait."""

    names: int
    """The number of different names."""
    most: tuple[tuple[str, int], ...]
    """The most frequent names with their numbers, the most frequent first."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The bibliographic data and key figures of a study, without its text."""

    study_id: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    journal: str | None
    doi: str | None
    pmid: str | None
    url: str | None
    design: str
    notice: Notice
    population: str = ""
    participants: int | None = None
    included_studies: int | None = None
    concepts: tuple[str, ...] = ()
    notice_reason: str = ""
    """For curators only: empty in what readers see."""
    risk_of_bias: RiskOfBias | None = None
    """None when no curator has assessed it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage: code points `start` to `end` (exclusive) of its text."""

    start: int
    end: int
    vector: tuple[float, ...] | NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    """Unit length, of the encoder in use, read-only; None while the passage waits to be indexed."""
    role: str = ""
    """Background, objective, method, result or conclusion; empty until computed."""
    self_containedness: float | None = None
    """How well it is understood by itself, from 0 to 1; None until computed."""


@dataclass(frozen=True, slots=True)
class Passage:
    passage_id: int
    version: int
    study: Study
    position: int
    section: Section
    page: int | None
    heading: str
    text: str
    kind: PassageKind
    sentences: tuple[Sentence, ...]
    finding_id: int | None = None
    """The finding of a plain sentence; None for a takeaway and for other kinds."""
    source_heading: str = ""
    """The headings above it in the source, outermost first; empty where none are known."""
    own_section: str = ""
    """The section as the source names it; empty where it is a section of a paper."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found by either half of a search, with the raw scores of both."""

    passage_id: int
    bm25: float
    """0.0 when the passage has no word of the question."""
    cosine: float | None
    """None when the passage has no vector yet, or the dense half did not run."""


class Hits(Sequence[Hit]):
    """Hits stored as columns, because hundreds are processed at once and few are read one by one."""

    __slots__ = ("bm25", "cosines", "ids")

    def __init__(self, ids: NDArray[np.int64], bm25: NDArray[np.float64], cosines: NDArray[np.float64]) -> None:
        """Take columns of equal length; a missing cosine is NaN."""
        self.ids, self.bm25, self.cosines = ids, bm25, cosines

    @classmethod
    def of(cls, hits: Iterable[Hit]) -> Self:
        if isinstance(hits, cls):
            return hits
        rows = [(h.passage_id, h.bm25, np.nan if h.cosine is None else h.cosine) for h in hits]
        ids, bm25, cosines = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(np.array(ids, np.int64), np.array(bm25, np.float64), np.array(cosines, np.float64))

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: int | slice) -> Hit | Self:
        if isinstance(place, slice):
            return type(self)(self.ids[place], self.bm25[place], self.cosines[place])
        cosine = float(self.cosines[place])
        return Hit(int(self.ids[place]), float(self.bm25[place]), None if math.isnan(cosine) else cosine)

    def __iter__(self) -> Iterator[Hit]:
        known = (None if math.isnan(cosine) else cosine for cosine in self.cosines.tolist())
        return map(Hit, self.ids.tolist(), self.bm25.tolist(), known)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Hits | tuple | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # columns are mutable

    def __repr__(self) -> str:
        return f"Hits.of({list(self)!r})"


@dataclass(frozen=True, slots=True)
class Leg:
    """The outcome of one half of a search; `error` tells readers what failed."""

    ok: bool
    candidates: int
    """The passages that the half handed over."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The result of one search: the best hits of each half, at one corpus version."""

    hits: Hits
    lexical: Leg
    dense: Leg
    corpus_version: int
    lexemes: tuple[str, ...] = ()
    """The question's lexemes, as PostgreSQL parses them."""
    document_frequency: tuple[tuple[str, int], ...] = ()
    """Each lexeme with the number of searchable passages that contain it."""
    searchable_passages: int = 0


@dataclass(frozen=True, slots=True)
class Concept:
    concept_id: str
    name: str
    kind: str
    aliases: tuple[str, ...]
    definition: str
    collections: tuple[str, ...]
    neighbours: tuple[str, ...] = ()
    """Ids of concepts related by a published study, strongest relation first."""
    measured_by: tuple[str, ...] = ()
    """Ids of the concepts that measure this one, as a published study did."""
    rarity: float = 0.0
    """Inverse document frequency among published studies: a concept of few studies is more informative."""
    wanted: Wanted = Wanted.NEITHER
    role: ConceptRole = ConceptRole.THING
    is_studied: bool = True
    """Whether a searchable study names it, or a published study supports a relation of it.

    Other concepts are known by name only, so that questions about them are recognised as outside the corpus.
    """

    def __hash__(self) -> int:  # concepts are cache keys looked up with every question: hash the id alone
        return hash(self.concept_id)


@dataclass(frozen=True, slots=True)
class Certainty:
    """The curators' judgement of the evidence for one intervention and one outcome."""

    intervention: str
    """A concept's id, as is the outcome."""
    outcome: str
    level: CertaintyLevel
    reasons: tuple[str, ...]
    age_group: AgeGroup | None = None
    """The people that it is about; None where it is about all, as in the next two."""
    training_status: TrainingStatus | None = None
    sex: Sex | None = None
    facets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The values of other facets that it is about, by key."""


@dataclass(frozen=True, slots=True)
class Finding:
    intervention: str
    comparator: str
    outcome: str
    direction: Direction
    statement: str
    finding_id: int = 0
    """0 when it was not read from the corpus."""
    study_id: str = ""
    plain: str = ""
    """The finding in one plain sentence; empty when no curator has written it."""
    lean: Lean | None = None
    """Never shown without the plain sentence; None when no curator has decided."""
    is_unconfirmed: bool = False
    """No passage contains its figures yet, so it is neither counted nor quoted."""
    effect: Effect | None = None
    """None when no curator has entered its figures as numbers."""


QUESTION_LETTERS = 300
LABEL_LETTERS = 100
"""The maximum length, in characters, of a curated question about a finding, a passage or a study."""


def question_lines(asked_as: str) -> list[str]:
    """Return the curated questions of a text field with one question per line, without empty ones."""
    return [question for line in asked_as.splitlines() if (question := line.strip())]


COSINE_DECIMALS = 6  # beyond these, a value depends on the order of summation


@dataclass(frozen=True, slots=True)
class ShortText:
    """A text of a study that a question was compared with, and its finding or passage."""

    kind: str
    """A TextKind, or `passage` for an ordinary passage."""
    text_id: int | None
    """None for an ordinary passage."""
    finding_id: int | None = None
    passage_id: int | None = None
    """The passage itself, the passage of a curated question, or the passage of a plain sentence."""
    words: str = ""
    """The text of a question; empty for other kinds."""


@dataclass(frozen=True, slots=True)
class TextScore:
    """The best scores of a question against the texts of one kind of one study."""

    bm25: float
    """0.0 when none of them has a word of the question."""
    cosine: float | None
    """None when none of them has a vector yet, or the question has none."""
    by_words: ShortText | None = None
    """The text with the best BM25; None when that is 0."""
    by_meaning: ShortText | None = None
    """The text with the best cosine; None when there is none."""
    top3: float | None = None
    """Mean of the three best cosines; None when there are fewer texts."""
    others: tuple[float, ...] = ()
    """Best cosines of the question's further formulations, in their order."""


@dataclass(frozen=True, slots=True)
class CuratedQuestion:
    """A question that a study of the corpus answers, as a curator wrote it."""

    text: str
    study_id: str
    nearness: float = 0.0
    """How near it is to what it was looked up by, at most 1.0: a cosine, or a share of words."""


@dataclass(frozen=True, slots=True)
class StudyScores:
    """Scores of the texts of a study against a question."""

    study_id: str
    best: Mapping[str, TextScore]
    """By kind, `passage` for ordinary passages; kinds without a matching text are absent."""
    matched: frozenset[str] = frozenset()
    """The question's lexemes that occur anywhere in the study."""
    is_curated: bool = False
    """Whether curators wrote questions or plain sentences for it."""
    near_questions: tuple[CuratedQuestion, ...] = ()
    """Its questions among the nearest ones of all studies, the nearest first."""


@dataclass(frozen=True, slots=True)
class StudyPage:
    """A published study with everything that readers may see of it."""

    study: Study
    passages: tuple[Passage, ...]
    """Without their sentences."""
    findings: tuple[Finding, ...]
    concepts: tuple[Concept, ...]
    included_studies: int | None = None
    participants: int | None = None
    weeks: tuple[float | None, float | None] = (None, None)
    """The shortest and the longest duration, of the study or of those that it includes."""
    collection_name: str = ""
    risk_of_bias: RiskOfBias | None = None
    """None when no curator has assessed it."""


def rarity(carrying: int, total: int) -> float:
    """Return BM25's inverse document frequency of a property that `carrying` of `total` items have."""
    return math.log(1 + (total - carrying + 0.5) / (carrying + 0.5))


@dataclass(frozen=True, slots=True)
class Collection:
    slug: str
    name: str
    description: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number on the curators' front page, linked to its list."""

    label: str
    number: int
    address: str
    needs_care: bool = False
    """Whether a number above 0 needs attention."""


NEEDED, NOTHING = "Needs attention", "Nothing needs attention."


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    figures: tuple[Figure, ...]
    as_bars: bool = False
    empty: str = "Nothing yet."
    is_work: bool = False
    """Whether it lists waiting work: zeros are left out, and panels of the same title are merged."""


@dataclass(frozen=True, slots=True)
class Impact:
    """A use of a study or passage elsewhere, and the effect of deleting the text."""

    headline: str
    """The kind and number of uses, in words."""
    details: tuple[tuple[str, str | None], ...] = ()
    """The first few uses, each with the URL of its page."""
    keeps: bool = False
    """Whether it prevents deletion of the study, which can still be withdrawn."""
    listed_at: str = ""
    """URL of the desk's list of all uses; empty when there is none."""


@dataclass(frozen=True, slots=True)
class ProposedWords:
    """Words for a finding that a language model proposes and that agree with its sources; a person decides."""

    plain: str = ""
    questions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out, and why, in words for curators."""

    @property
    def question_lines(self) -> str:
        """Return the questions one a line, as fields hold them."""
        return "\n".join(self.questions)


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that a curator approved for other readers, with the URL of its answer."""

    question: str
    address: str
    answered_at: datetime


@dataclass(frozen=True, slots=True)
class StudyState:
    """The present status of a study that an answer cited."""

    study_id: str
    status: Status
    notice: Notice
    changed_at: str | None
    """When status or notice last changed, as ISO 8601."""

    @property
    def is_searched(self) -> bool:
        """Tell whether new answers may use the study."""
        return self.status is Status.PUBLISHED and self.notice is not Notice.RETRACTED


@dataclass(frozen=True, slots=True)
class PassageState:
    passage_id: int
    version: int
    changed_at: str | None
