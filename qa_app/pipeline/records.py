"""Frozen values that pass between the stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from corpus_app.appraisal import CertaintyLevel
from corpus_app.records import Concept, Finding, Found, Hit, Lean, Leg, Passage, Study
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.query import Query
from qa_app.pipeline.study_filters import NO_FILTERS, StudyFilters


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
        """Return the error code of a refusal; None for an answer."""
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
    BELOW_THRESHOLD = "below_threshold"
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
    """A follow-up completed from the question before, which is searched instead; None for a standalone question."""
    filters: StudyFilters = NO_FILTERS
    """Only studies that fit may answer; a fixed reply and a count of the corpus are not narrowed."""


@dataclass(frozen=True, slots=True)
class Declined:
    """A question that gets a fixed reply instead of a search."""

    outcome: Outcome
    route: str
    message: str
    version: int | None = None
    """Of the approved reply; None for the built-in words."""


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


@dataclass(frozen=True, slots=True)
class StudyLean:
    """The lean of a study on one matter, with its findings on it."""

    findings: tuple[Finding, ...]
    lean: Lean
    """As seen from the matter; MIXED where the findings lean to different sides."""

    @property
    def study_id(self) -> str:
        return self.findings[0].study_id


@dataclass(frozen=True, slots=True)
class Agreement:
    """The studies of the corpus on one comparison and outcome, each counted once."""

    outcome: Concept
    subject: Concept | None
    """What was done, where it is one thing: a benefit is one of this."""
    studies: tuple[StudyLean, ...]
    intervention: str = ""
    """What a benefit is one of, in words."""
    comparator: str = ""
    """What it was compared with, in words; empty where the studies differ in it."""
    turned: frozenset[int] = frozenset()
    """Findings that state the two sides the other way round."""

    def stance_of(self, finding: Finding) -> Lean | None:
        """Return the lean of a finding as seen from the intervention."""
        return finding.lean.turned if finding.lean and finding.finding_id in self.turned else finding.lean


@dataclass(frozen=True, slots=True)
class Evidence:
    """The frozen context that summary and answer are both written from; never empty."""

    question: Question
    query: Query
    passages: tuple[Candidate, ...]
    left_out: tuple[LeftOut, ...] = ()
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


class InsufficientEvidence(Exception):
    """Raised when there is no evidence to write from, or when no sentence of any attempt could be verified."""

    def __init__(self, message: str = "", attempts: tuple[Attempt, ...] = ()) -> None:
        super().__init__(message)
        self.attempts = attempts


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
    """A sentence from a writer, before verification; `passage_ids` are the passages that it cites."""

    text: str
    passage_ids: tuple[int, ...]
    paragraph: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    summary: tuple[DraftSentence, ...] = ()
    answer: tuple[DraftSentence, ...] = ()
    dropped: tuple[LeftOut, ...] = ()
    """Received texts that are not sentences, or answers that could not be quoted."""
    received: Mapping[str, str] = field(default_factory=dict)
    """A model's words for each part, as they came."""
    labels: Mapping[str, int] = field(default_factory=dict)
    """Passage ids by the labels used in `received`."""
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
    """The verdict of each sentence of summary, then answer, or the reason why it was rejected."""


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
    counted_studies: tuple[str, ...] = ()
    """Ids of the studies that a sentence about the corpus itself counts."""
    attribution: str = ""
    """The source of a quotation that does not name it; not part of the quotation."""

    @property
    def study_ids(self) -> tuple[str, ...]:
        """Return the ids of its studies, each once."""
        return tuple(dict.fromkeys(span.study_id for span in self.support))


@dataclass(frozen=True, slots=True)
class Citation:
    index: int
    study: Study


@dataclass(frozen=True, slots=True)
class Overview:
    """The counts of studies that answer a question about the corpus itself."""

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
    """One verbatim plain sentence that answers, with its verdict and counts of studies.

    The three counts cover the whole corpus; they are None where the finding's concepts are not mapped.
    """

    text: str
    verdict: HeadlineVerdict | None
    """None where the polarity of the question is not certain."""
    citations: tuple[int, ...]
    support: tuple[Span, ...]
    studies_for: int | None = None
    studies_against: int | None = None
    studies_without_difference: int | None = None


@dataclass(frozen=True, slots=True)
class StrengthReason:
    """One reason for a level of evidence: `code` names the row of the table, `text` says it to a reader."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class EvidenceStrength:
    """The strength of the cited studies as evidence, apart from how well they match the question."""

    level: CertaintyLevel
    reasons: tuple[StrengthReason, ...]


@dataclass(frozen=True, slots=True)
class NearQuestion:
    """A curated question near the asked one, which a study of the corpus answers."""

    question: str
    study_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRun:
    """The result of one search, with its signals."""

    found: Found
    signals: Mapping[str, float]
    """On scales that compare across questions."""
    related: tuple[Concept, ...]
    linked: Leg | None
    """The second pass; None where there was none."""
    candidates: tuple[str, ...] = ()
    """Ids of the studies that may bear on the question, the most likely first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingContext:
    """The fields of every ending: the question as parsed and searched, and the policy."""

    question: Question
    query: Query
    scope: Scope
    policy: Policy
    corpus_version: int
    site_hash: str = ""
    """Of the corpus' site file; empty where it has none."""
    generator: Generator
    search: SearchRun | None
    """None where nothing was searched."""
    timings_ms: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(EndingContext):
    """An answer of verified sentences, each with its sources."""

    outcome: Outcome
    message: str | None
    headline: Headline
    summary: tuple[Sentence, ...]
    answer: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    confidence: Confidence
    strength: EvidenceStrength | None
    """None where no cited study is of a kind that is graded."""
    evidence: Evidence
    left_out: tuple[LeftOut, ...]
    """What ranking and verification left out."""
    definitions: tuple[Concept, ...]
    """The term whose meaning is asked, and those of the answer that a beginner may not know; each has a definition."""
    near_questions: tuple[NearQuestion, ...]
    missing: tuple[str, ...]
    """Parts of the question that no cited text mentions."""
    attempts: tuple[Attempt, ...]
    """Attempts to write it, in order; the last one became the answer."""
    ranked: int
    """Studies that were ranked, of all that the search found."""

    def __post_init__(self) -> None:
        if not self.outcome.is_answer:
            raise ValueError(f"{self.outcome.value} is the outcome of a refusal.")

    @property
    def passages(self) -> tuple[Candidate, ...]:
        return self.evidence.passages


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(EndingContext):
    """A question without an answer, with the nearest passages where there are any."""

    outcome: Outcome
    message: str
    declined: Declined | None = None
    """For a question that gets the fixed reply of a safety route."""
    passages: tuple[Candidate, ...] = ()
    """The nearest passages, which are no answer."""
    near_questions: tuple[NearQuestion, ...] = ()
    missing: tuple[str, ...] = ()
    """Parts of the question that no passage shown mentions."""
    attempts: tuple[Attempt, ...] = ()
    """Attempts to write an answer, of which no sentence could be verified."""

    def __post_init__(self) -> None:
        if self.outcome.is_answer:
            raise ValueError(f"{self.outcome.value} is the outcome of an answer.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(EndingContext):
    """A question about the corpus itself, answered by counting its rows."""

    outcome: ClassVar[Outcome] = Outcome.ANSWERED
    passages: ClassVar[tuple[Candidate, ...]] = ()
    summary: tuple[Sentence, ...]
    answer: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    overview: Overview


Ending = Answered | Refused | Counted
