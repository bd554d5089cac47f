"""Frozen values that pass between the stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from corpus_app.records import (
    AgeGroup,
    Collection,
    Concept,
    Finding,
    Found,
    Hit,
    Hits,
    Leg,
    Passage,
    Section,
    Sex,
    Study,
    TrainingStatus,
)
from qa_app.pipeline.policy import Policy


class Mode(StrEnum):
    BEGINNER = "beginner"
    INTERMEDIATE = "intermediate"


class Outcome(StrEnum):
    ANSWERED = "answered"
    PARTIAL = "partial"
    CONFLICTING = "conflicting"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    OUT_OF_SCOPE = "out_of_scope"
    GUARDRAIL = "guardrail"

    @property
    def is_answer(self) -> bool:
        return self in {Outcome.ANSWERED, Outcome.PARTIAL, Outcome.CONFLICTING}

    @property
    def code(self) -> str | None:
        """What clients see beside the outcome; None for an answer."""
        return {
            Outcome.INSUFFICIENT_EVIDENCE: "RAG_NO_ANSWER",
            Outcome.OUT_OF_SCOPE: "OUT_OF_SCOPE",
            Outcome.GUARDRAIL: "GUARDRAIL",
        }.get(self)


class SentenceKind(StrEnum):
    QUOTE = "quote"
    NEAR_QUOTE = "near_quote"
    PARAPHRASE = "paraphrase"
    COUNT = "count"


class Verdict(StrEnum):
    VERBATIM = "verbatim"
    SUPPORTED = "supported"
    WEAK = "weak"
    COUNTED = "counted"


class LeftOutReason(StrEnum):
    DUPLICATE_LOCATION = "duplicate_location"
    NEAR_DUPLICATE = "near_duplicate"
    HANGS = "hangs"
    STUDY_CAP = "study_cap"
    BELOW_THRESHOLD = "below_threshold"
    BUDGET = "budget"
    UNSUPPORTED = "unsupported"
    NUMBER_MISMATCH = "number_mismatch"
    DIRECTION_MISMATCH = "direction_mismatch"
    NEGATION_MISMATCH = "negation_mismatch"
    POPULATION_MISMATCH = "population_mismatch"
    UNKNOWN_CITATION = "unknown_citation"


class Scope(StrEnum):
    COLLECTION = "collection"
    GLOBAL = "global"
    COLLECTION_THEN_GLOBAL = "collection_then_global"


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    """As asked, trimmed."""
    searched: str
    """Normalised for search: NFKC, without zero-width and control characters."""
    mode: Mode = Mode.BEGINNER
    collection: str | None = None
    understood_as: str | None = None
    """What a follow-up means after the question before; None for a question that stands alone. It is what is searched."""


@dataclass(frozen=True, slots=True)
class Declined:
    """A question that gets a fixed reply instead of a search."""

    outcome: Outcome
    route: str
    message: str
    version: int | None = None
    """Of the approved reply; None for the built-in words."""


@dataclass(frozen=True, slots=True)
class Population:
    """Whom a question is about; what it does not say is empty."""

    age_groups: tuple[AgeGroup, ...] = ()
    training: tuple[TrainingStatus, ...] = ()
    sexes: tuple[Sex, ...] = ()

    @property
    def is_named(self) -> bool:
        return bool(self.age_groups or self.training or self.sexes)


@dataclass(frozen=True, slots=True)
class Number:
    """A number that a question names: `value` as digits with a point, `unit` as written, lower case, or empty."""

    value: str
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A publication that a question names; what it does not name is empty or None."""

    author: str = ""
    year: int | None = None
    doi: str = ""
    pmid: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Understanding:
    """What the question asks for."""

    intents: tuple[str, ...]
    target_sections: tuple[Section, ...]
    concepts: tuple[Concept, ...]
    collection: str | None
    """Detected from keywords and concepts; None where no collection stands out."""
    terms: tuple[str, ...]
    """Stems of the question's content words, in order, without repeats."""
    core: str = ""
    """What it asks in the end, where a heading or statements stand before that; empty where the whole text asks."""
    asks_for_figures: bool = False
    corrections: tuple[tuple[str, str], ...] = ()
    """Words as typed that the corpus does not know, and the word of the corpus that each is close to."""
    population: Population = Population()
    numbers: tuple[Number, ...] = ()
    linked: tuple[Concept, ...] = ()
    """Concepts one hop away that a second pass searched for."""
    unstudied: tuple[Concept, ...] = ()
    """Concepts that the question names and no published study is about; they are not among `concepts`."""
    ask: str = ""
    """The question apart from the story around it; empty where the two were not told apart."""
    intent: str = ""
    """The kind of question: yes_no, which, how_many, how, why, what, list or claim; empty where it is not known."""
    intervention: tuple[Concept, ...] = ()
    comparator: tuple[Concept, ...] = ()
    outcome: tuple[Concept, ...] = ()
    language: str = ""
    """Code of the question's language (ISO 639-1); empty where it is not known."""
    sources: tuple[NamedSource, ...] = ()

    @property
    def also_searched(self) -> tuple[str, ...]:
        """What is searched beside the question's own words."""
        return tuple(dict.fromkeys((*(meant for _, meant in self.corrections), *(c.name for c in self.linked))))


@dataclass(frozen=True, slots=True)
class Because:
    """One step of ranking and what it did to a passage."""

    step: str
    effect: str
    value: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage on its way through ranking."""

    passage: Passage
    hit: Hit
    fused: float
    """Orders the candidates of this question only."""
    score: float
    because: tuple[Because, ...] = ()
    keyword_hits: int = 0
    chance: int = 0
    """Calibrated chance, 0 to 100, that the passage's study answers the question."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    what: str
    """`passage` or `sentence`."""
    reason: LeftOutReason
    detail: str
    passage_id: int | None = None
    text: str | None = None
    study_id: str | None = None


class Stance(StrEnum):
    """Where a study stands on the outcome asked for."""

    FAVOURS = "favours"
    NO_DIFFERENCE = "no_difference"
    AGAINST = "against"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class StudyStance:
    study_id: str
    stance: Stance
    findings: tuple[Finding, ...]
    """Those on the matter; the stance is read from them."""


@dataclass(frozen=True, slots=True)
class PopulationSplit:
    """Studies of one group of people, which stand elsewhere than those of another."""

    population: str
    studies: tuple[StudyStance, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Where the studies of the evidence stand, each counted once."""

    outcome: Concept
    subject: Concept | None
    """What the question asks about the outcome; None where it names no concept."""
    studies: tuple[StudyStance, ...]
    by_population: tuple[PopulationSplit, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The frozen context that summary and answer are both written from; never empty."""

    question: Question
    understanding: Understanding
    passages: tuple[Candidate, ...]
    left_out: tuple[LeftOut, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What the studies of these passages found, as their curators recorded it."""
    citable: Mapping[str, float] | None = None
    """Studies that bear on the question well enough to be quoted, each with the chance that it does; None for all."""
    agreement: Agreement | None = None
    draft: Draft | None = None
    """The sentences that selection chose; None where a writer chooses."""
    headline_study: str | None = None
    """The study that the headline quotes: citations are numbered from it."""

    def __post_init__(self) -> None:
        if not self.passages:
            raise InsufficientEvidence("No passage of the corpus bears on the question.")

    @property
    def studies(self) -> tuple[Study, ...]:
        return tuple({c.passage.study.study_id: c.passage.study for c in self.passages}.values())

    @property
    def leading_study(self) -> str:
        """The first that may be quoted; the first of all where none may."""
        ids = [c.passage.study.study_id for c in self.passages]
        return next((i for i in ids if self.citable is None or i in self.citable), ids[0])


class InsufficientEvidence(Exception):
    """There is nothing to write from."""


@dataclass(frozen=True, slots=True)
class Span:
    """Exact words of a passage: code points `start` to `end` (exclusive) of its text."""

    passage_id: int
    passage_version: int
    study_id: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence as a writer gave it; `passage_ids` are the passages that it claims behind it."""

    text: str
    passage_ids: tuple[int, ...]
    paragraph: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    summary: tuple[DraftSentence, ...] = ()
    answer: tuple[DraftSentence, ...] = ()
    dropped: tuple[LeftOut, ...] = ()
    """What was given as a sentence and is none, or could not be quoted although it answers."""
    received: Mapping[str, str] = field(default_factory=dict)
    """A model's words for each part, as they came."""
    labels: Mapping[str, int] = field(default_factory=dict)
    """The passages by the labels that stand in `received`."""
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Generator:
    name: str
    version: str
    model: str | None = None
    prompt: str | None = None
    fallback_from: str | None = None
    tokens: int | None = None
    cost: float | None = None
    fallback_reason: str | None = None
    """Why the writer in `fallback_from` did not write: a short code."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One writer's draft as received, before verification, and what became of it."""

    generator: Generator
    draft: Draft
    """Without sentences where the writer failed."""
    failure: str | None = None
    """Why the writer gave no draft: a short code."""
    verdicts: tuple[str, ...] = ()
    """Of each sentence of summary, then answer: its verdict, or the reason why it fell."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that has passed verification, without markers."""

    text: str
    citations: tuple[int, ...]
    verdict: Verdict
    support_level: str
    kind: SentenceKind
    support: tuple[Span, ...]
    paragraph: int = 0
    counted: tuple[Finding, ...] = ()
    """The findings that a counted sentence rests on, in the place of spans."""
    counted_studies: tuple[str, ...] = ()
    """Ids of the studies that a sentence about the corpus itself counts."""
    attribution: str = ""
    """Who says it, where its own words do not and the reader could not tell; not part of the quotation."""

    @property
    def study_ids(self) -> tuple[str, ...]:
        """The studies behind it, each once."""
        return tuple(dict.fromkeys((*(s.study_id for s in self.support), *(f.study_id for f in self.counted))))


@dataclass(frozen=True, slots=True)
class Citation:
    index: int
    study: Study


@dataclass(frozen=True, slots=True)
class Overview:
    """What a question about the corpus itself was answered with: counts of its rows."""

    wish: str
    total: int
    filters: tuple[tuple[str, str], ...]
    """Facets of the corpus page and their values, which lead to the same studies."""
    years: tuple[tuple[int, int], ...]
    """Studies of each year that has some, in order."""
    designs: tuple[tuple[str, int], ...]
    """Studies of each design, the most first."""


@dataclass(frozen=True, slots=True)
class Confidence:
    score: int
    label: str
    reasons: tuple[str, ...]
    calibration: str


@dataclass(frozen=True, slots=True)
class Signals:
    """What the search showed, on raw scales that compare across questions."""

    values: Mapping[str, float]


class HeadlineVerdict(StrEnum):
    """The shape of the short answer that a headline gives."""

    YES = "yes"
    NO = "no"
    NO_CLEAR_DIFFERENCE = "no_clear_difference"
    DEPENDS = "depends"
    NUMBER = "number"
    LIST = "list"
    EXPLANATION = "explanation"


@dataclass(frozen=True, slots=True)
class Headline:
    """One verbatim plain sentence that answers, with its verdict and the count of studies behind it.

    The three counts cover the whole corpus; they are None where the finding's concepts are not mapped.
    """

    text: str
    verdict: HeadlineVerdict | None
    """None where the polarity of the question is not certain."""
    citations: tuple[int, ...]
    support: tuple[Span, ...]
    """Empty where the headline rests on counted findings."""
    studies_for: int | None = None
    studies_against: int | None = None
    studies_without_difference: int | None = None
    counted: tuple[Finding, ...] = ()
    """The findings that a counted headline rests on, in the place of spans."""


class StrengthLevel(StrEnum):
    """How far a body of evidence can be relied on, in the manner of GRADE."""

    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"
    VERY_LOW = "very_low"


@dataclass(frozen=True, slots=True)
class StrengthReason:
    """One reason for a level of evidence: `code` names the row of the table, `text` says it to a reader."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class EvidenceStrength:
    """The strength of the cited studies as evidence, apart from how well they match the question."""

    level: StrengthLevel
    reasons: tuple[StrengthReason, ...]


@dataclass(frozen=True, slots=True)
class NearQuestion:
    """A curated question near the asked one, which a study of the corpus answers."""

    question: str
    study_id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that is kept of one question."""

    question: Question
    outcome: Outcome
    message: str | None
    understanding: Understanding
    scope: Scope
    summary: tuple[Sentence, ...]
    answer: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    confidence: Confidence | None
    evidence: tuple[Candidate, ...]
    left_out: tuple[LeftOut, ...]
    generator: Generator
    policy: Policy
    corpus_version: int
    found: Found | None = None
    related: tuple[Concept, ...] = ()
    signals: Signals | None = None
    linked: Leg | None = None
    """The second pass; None where there was none."""
    ranked: int = 0
    """Passages that were ranked, of all that the search found."""
    agreement: Agreement | None = None
    definitions: tuple[Concept, ...] = ()
    """Terms of the answer that a beginner may not know; each has a definition."""
    declined: Declined | None = None
    overview: Overview | None = None
    """For a question about the corpus itself, which is answered by counting."""
    attempts: tuple[Attempt, ...] = ()
    """To write it, in order; the last one became the answer."""
    timings_ms: Mapping[str, float | None] = field(default_factory=dict)
    headline: Headline | None = None
    strength: EvidenceStrength | None = None
    near_questions: tuple[NearQuestion, ...] = ()
    missing: tuple[str, ...] = ()
    """Parts of the question that nothing cited speaks of."""

    def __post_init__(self) -> None:
        if (self.outcome.is_answer and self.overview is None) != (self.confidence is not None):
            raise ValueError("An answer carries confidence; a refusal carries none, nor does one that only counts.")
        if not self.outcome.is_answer and (self.summary or self.answer or self.citations):
            raise ValueError("A refusal carries no sentence and no citation.")


__all__ = [
    "Agreement", "Answer", "Attempt", "Because", "Candidate", "Citation", "Collection", "Concept", "Confidence", "Declined", "Draft",
    "DraftSentence", "Evidence", "Finding", "Found", "Generator", "Hit", "Hits", "InsufficientEvidence", "LeftOut",
    "LeftOutReason", "Leg", "Mode", "Number", "Outcome", "Overview", "Passage", "Population", "PopulationSplit", "Question", "Scope", "Section", "Sentence",
    "SentenceKind", "Signals", "Span", "Stance", "Study", "StudyStance", "Understanding", "Verdict",
]  # fmt: skip
