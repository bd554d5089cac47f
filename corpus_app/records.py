"""Frozen values that corpus_app hands out: what a study, a passage and a hit are to everybody else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray


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


class Wanted(StrEnum):
    """Which way a change of an outcome is a benefit."""

    MORE = "more"
    LESS = "less"
    NEITHER = "neither"
    """A change is neither good nor bad in itself, or nobody has said."""


class Status(StrEnum):
    DRAFT = "draft"
    IN_REVIEW = "in_review"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"


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
    """Which answer a finding gives to whoever asks whether its intervention helps, or whether what was asked rises."""

    YES = "yes"
    NO = "no"
    NO_CLEAR_DIFFERENCE = "no_clear_difference"
    MIXED = "mixed"
    UNCLEAR = "unclear"


class PassageKind(StrEnum):
    SUMMARY = "summary"
    """The curator's own words about the study."""
    EXCERPT = "excerpt"
    """The source's words."""
    PLAIN = "plain"
    """A curator's sentence in plain words: derived from a study's takeaway or from a finding, never written as a passage."""


ORDINARY_KINDS = (PassageKind.SUMMARY, PassageKind.EXCERPT)
"""The kinds that a source or a curator may give a passage."""


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
class Study:
    """A study as readers see it."""

    study_id: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    journal: str | None
    doi: str | None
    url: str | None
    design: Design
    peer_reviewed: bool
    collection: str
    population: str
    training_status: TrainingStatus
    age_group: AgeGroup
    sex: Sex
    status: Status
    notice: Notice
    concepts: tuple[str, ...] = ()
    """Ids of what the study is about, in the curator's order."""
    takeaway: str = ""
    """The study as a whole in a sentence or two of plain words; empty where nobody has written it."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a reader needs to find a study and to judge it at a glance: no text of it."""

    study_id: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    journal: str | None
    doi: str | None
    pmid: str | None
    url: str | None
    design: Design
    notice: Notice
    population: str = ""
    participants: int | None = None
    included_studies: int | None = None
    concepts: tuple[str, ...] = ()
    notice_reason: str = ""
    """Curators' words, which are not public: empty where readers ask."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage: code points `start` to `end` (exclusive) of its text."""

    start: int
    end: int
    vector: tuple[float, ...] | NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    """Unit length, of the encoder in use; None while the passage waits to be indexed. Read-only; says nothing about equality."""
    role: str = ""
    """Background, objective, method, result or conclusion; empty where nobody has worked it out."""
    self_containedness: float | None = None
    """From 0 to 1, how well it is understood by itself; None where nobody has worked it out."""


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
    """Of the kind `plain`: the finding whose plain sentence it is; None for the study's takeaway."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a leg of the search found, with the raw scores of both legs."""

    passage_id: int
    bm25: float
    """0.0 where no word of the question stands in the passage."""
    cosine: float | None
    """None where the passage has no vector yet, or the dense leg did not run."""


class Hits(Sequence[Hit]):
    """Hits column by column: hundreds of them are worked on at once, and few are looked at one by one."""

    __slots__ = ("bm25", "cosines", "ids")

    def __init__(self, ids: NDArray[np.int64], bm25: NDArray[np.float64], cosines: NDArray[np.float64]) -> None:
        """Columns of one length; the cosine is NaN where a hit has none."""
        self.ids, self.bm25, self.cosines = ids, bm25, cosines

    @classmethod
    def of(cls, hits: Iterable[Hit]) -> Self:
        if isinstance(hits, cls):
            return hits
        rows = [(h.passage_id, h.bm25, np.nan if h.cosine is None else h.cosine) for h in hits]
        ids, bm25, cosines = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(np.array(ids, np.int64), np.array(bm25, np.float64), np.array(cosines, np.float64))

    def among(self, places: NDArray[np.int64]) -> Self:
        """Those at these places, in their order."""
        return type(self)(self.ids[places], self.bm25[places], self.cosines[places])

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

    __hash__ = None  # type: ignore[assignment]  # columns can be written to

    def __repr__(self) -> str:
        return f"Hits.of({list(self)!r})"


@dataclass(frozen=True, slots=True)
class Leg:
    """How one half of a search went; `error` names what failed, in words for a reader."""

    ok: bool
    candidates: int
    error: str | None = None
    lowest: float = 0.0
    """The lowest and highest raw score among all candidates of both legs."""
    highest: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """What one search of the corpus gave: the best hits of each leg, at one corpus version."""

    hits: Hits
    lexical: Leg
    dense: Leg
    corpus_version: int
    lexemes: tuple[str, ...] = ()
    """The question's lexemes, as Postgres reads them."""
    document_frequency: tuple[tuple[str, int], ...] = ()
    """In how many searchable passages each of them stands."""
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
    """Ids one hop away, over relations that a published study stands behind, strongest first."""
    rarity: float = 0.0
    """Inverse document frequency among published studies: a concept of few studies tells more."""
    wanted: Wanted = Wanted.NEITHER
    is_studied: bool = True
    """Whether a published study that is not retracted is about it, or a published one stands behind a relation of it. What none is about is known by its names only, so that
    a question on it can be told from one that the corpus answers."""

    def __hash__(self) -> int:  # what is worked out of all concepts is kept by them, and looked up with every question
        return hash(self.concept_id)


@dataclass(frozen=True, slots=True)
class Finding:
    intervention: str
    comparator: str
    outcome: str
    direction: Direction
    statement: str
    finding_id: int = 0
    """0 for one that was not read from the corpus."""
    study_id: str = ""
    plain: str = ""
    """The finding in one sentence of plain words; empty where nobody has written it."""
    lean: Lean | None = None
    """Never shown without the plain sentence; None where nobody has said."""
    is_unconfirmed: bool = False
    """Its figures stand in no passage yet: neither counted nor quoted."""


QUESTION_LETTERS = 300
"""The most letters of a question by which readers ask for a finding, a passage or a study."""


def question_lines(asked_as: str) -> list[str]:
    """Return the questions by which readers ask for something, which are kept one a line; none empty."""
    return [question for line in asked_as.splitlines() if (question := line.strip())]


COSINE_DECIMALS = 6  # whoever compares: what lies beyond follows the order of the additions


@dataclass(frozen=True, slots=True)
class ShortText:
    """A text of a study that a question was compared with, and what it belongs to."""

    kind: str
    """A TextKind, or `passage` for an ordinary passage."""
    text_id: int | None
    """None for an ordinary passage."""
    finding_id: int | None = None
    passage_id: int | None = None
    """The passage itself, the passage that the question belongs to, or the one that quotes the plain sentence."""
    words: str = ""
    """Of a question; empty for the other kinds."""


@dataclass(frozen=True, slots=True)
class TextScore:
    """The best scores of a question against the texts of one kind of one study."""

    bm25: float
    """0.0 where no word of the question stands in any of them."""
    cosine: float | None
    """None where none of them has a vector yet, or the question has none."""
    by_words: ShortText | None = None
    """The text with the best BM25; None where that is 0."""
    by_meaning: ShortText | None = None
    """The text with the best cosine; None where there is none."""
    top3: float | None = None
    """Mean of the three best cosines; None where there are fewer texts."""
    others: tuple[float, ...] = ()
    """Best cosines of the question's further formulations, in their order; empty where there are none."""


@dataclass(frozen=True, slots=True)
class StudyScores:
    """Scores of the texts of a study against a question."""

    study_id: str
    best: Mapping[str, TextScore]
    """By kind, `passage` for ordinary passages; kinds of which the study has no text, or none that matches, are absent."""
    matched: frozenset[str] = frozenset()
    """The question's lexemes that stand somewhere in the study."""
    is_curated: bool = False
    """Whether curators wrote questions or plain sentences for it."""


@dataclass(frozen=True, slots=True)
class StudyPage:
    """A published study with all that readers may see of it."""

    study: Study
    passages: tuple[Passage, ...]
    """Without their sentences."""
    findings: tuple[Finding, ...]
    concepts: tuple[Concept, ...]
    included_studies: int | None = None
    participants: int | None = None
    weeks: tuple[float | None, float | None] = (None, None)
    """The shortest and the longest that it lasted, or what it included."""
    collection_name: str = ""


def rarity(carrying: int, total: int) -> float:
    """Inverse document frequency in the form of BM25: how much it tells that `carrying` of `total` have something."""
    return math.log(1 + (total - carrying + 0.5) / (carrying + 0.5))


@dataclass(frozen=True, slots=True)
class Collection:
    slug: str
    name: str
    description: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number on the curators' front page; it leads to the list behind it."""

    label: str
    number: int
    address: str
    needs_care: bool = False
    """Whether somebody should look at it while it is not 0."""


NEEDED, NOTHING = "Needs attention", "Nothing needs attention."


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    figures: tuple[Figure, ...]
    as_bars: bool = False
    empty: str = "Nothing yet."
    is_work: bool = False
    """Whether it lists what waits for somebody: what does not is left out, and all such panels of one title are one."""


@dataclass(frozen=True, slots=True)
class Impact:
    """What rests on a study or passage elsewhere, and what becomes of it when the words are gone."""

    headline: str
    """What, and how much of it, in words."""
    details: tuple[tuple[str, str | None], ...] = ()
    """The first few, each with the address of its page."""
    keeps: bool = False
    """Whether it keeps the study from being deleted: withdrawn, its words can come back."""
    listed_at: str = ""
    """Where the desk lists all of it, where it does."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that a curator approved for other readers to see, and where its answer stands."""

    question: str
    address: str
    answered_at: datetime


@dataclass(frozen=True, slots=True)
class StudyState:
    """What has become of a study since an answer cited it."""

    study_id: str
    status: Status
    notice: Notice
    changed_at: str | None
    """ISO 8601, when status or notice last changed."""


@dataclass(frozen=True, slots=True)
class PassageState:
    passage_id: int
    version: int
    changed_at: str | None
