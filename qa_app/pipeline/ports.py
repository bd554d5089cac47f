"""Define the ports of the engine: corpus, writers, rerankers, progress and time limit.

Everything read inside one `snapshot` belongs to one corpus version.
"""

from __future__ import annotations

from collections.abc import Collection as Values
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from corpus_app.records import (
    Certainty,
    Collection,
    Concept,
    Finding,
    Found,
    NameCues,
    Passage,
    Reference,
    Study,
    StudyScores,
)
from qa_app.pipeline.agreement import AliasIndex
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.learned import Scaling
from qa_app.pipeline.lexicon import PhraseIndex
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.query import Query, UnitForm
from qa_app.pipeline.question.about_corpus import CorpusWords
from qa_app.pipeline.question.about_filters import Names
from qa_app.pipeline.question.facets import FacetIndex
from qa_app.pipeline.question.holdings import Holdings
from qa_app.pipeline.question.safety import SafetyLexicon
from qa_app.pipeline.question.site_questions import SiteIndex
from qa_app.pipeline.records import Candidate, Draft, Evidence, Generator, Headline, Sentence
from qa_app.pipeline.study_filters import StudyFilters

Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """Facts of the corpus for parsing and for the grammar over its rows; built once a corpus version."""

    version: int
    collections: tuple[Collection, ...]
    concepts: tuple[Concept, ...]
    concept_index: ConceptIndex
    facets: FacetIndex
    safety: SafetyLexicon
    corpus_words: CorpusWords
    """The words for what it holds."""
    site: SiteIndex
    polarity: PhraseIndex
    """What a yes to a question would say, in words of the language and of the corpus."""
    aliases: AliasIndex
    """Concepts by the names that findings have for them."""
    changed_at: datetime | None
    journals: Names = field(default_factory=dict)
    """Journals that a question about the corpus may name, by the words that name them."""
    units: Mapping[str, UnitForm] = field(default_factory=dict)
    """Units that the corpus declares, by each folded form."""
    site_hash: str = ""
    """Of the site file; empty where there is none."""
    scaling: Scaling | None = None
    """The calibration of the estimates to this corpus; None where there is none."""


class Corpus(Protocol):
    """The corpus as the engine reads it."""

    def snapshot(self) -> AbstractContextManager[None]: ...

    def facts(self) -> CorpusFacts: ...

    def among(self, filters: StudyFilters) -> Corpus:
        """Return the same corpus, where passages and findings of the studies that fit are found alone.

        These are always scored. Judgements on all the evidence together do not hold for a part.
        """

    def fitting(self, study_ids: Values[str]) -> frozenset[str]:
        """Return the ids of those studies among these that may answer: all, or those that fit the filters."""

    def holdings(self, collection: str | None) -> Holdings:
        """Return the published studies, or those of a collection, for a question about the corpus itself."""

    def studies(self, study_ids: Values[str]) -> Mapping[str, Study]:
        """Return the published studies among these by id."""

    def concepts_of(self, study_ids: Values[str], concepts: Values[str]) -> Mapping[str, frozenset[str]]:
        """Return which of these concepts each study is about; a study that is about none may be left out."""

    def references(self, study_ids: Values[str]) -> tuple[Reference, ...]:
        """Return the key figures of these studies: participants, included studies and risk of bias."""

    def named_studies(self, cues: NameCues) -> tuple[Reference, ...]:
        """Return the published studies that a text may name, in the order of their ids."""

    def findings(self, study_ids: Values[str]) -> tuple[Finding, ...]:
        """Return the confirmed findings of these studies that may answer, in the order of study ids."""

    def findings_naming(self, outcomes: Values[str], compared: Sequence[Values[str]]) -> tuple[Finding, ...]:
        """Return findings whose outcome has one of these names, and whose sides have one of each thing compared.

        They are in the order of study ids, and no more than an answer can weigh.
        """

    def certainties(self, intervention: str, outcome: str) -> tuple[Certainty, ...]:
        """Return the curators' judgements on this intervention and outcome."""

    def is_word(self, word: str) -> bool:
        """Tell whether the language has this word."""

    def word_counts(self, words: Values[str]) -> Mapping[str, int]:
        """Return the number of passages that contain each of these lower-case words; words of none are left out."""

    def encode(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return the unit vector of each text. Raises LegFailed when no encoder is available."""

    def mean(self, vectors: Sequence[Vector]) -> Vector:
        """Return the unit vector of the mean of vectors that `encode` gave."""

    def score_studies(
        self, text: str, vectors: Sequence[Vector], *, collection: str | None, limit: int
    ) -> tuple[StudyScores, ...]:
        """Score candidate studies by words and meaning, kind by kind of their texts.

        `vectors` are those of the question's formulations, the main one first; without any, words alone decide.
        """

    def find(self, text: str, vector: Vector | None, *, collection: str | None, limit: int, error: str | None) -> Found:
        """Return the best passages of both halves with their exact scores."""

    def load(self, passage_ids: Sequence[int]) -> tuple[Passage, ...]: ...

    def passages_among(self, study_ids: Sequence[str], passage_ids: Sequence[int]) -> tuple[Passage, ...]:
        """Return the passages of these studies that are among these ids."""

    def plain_passages(self, study_ids: Sequence[str]) -> tuple[Passage, ...]:
        """Return the plain sentences of these studies as passages."""


class LegFailed(Exception):
    """One half of the search cannot run; the message is for a reader."""


class Writer(Protocol):
    """Writes summary and answer from evidence; `name` is shown in `generator.name`."""

    @property
    def name(self) -> str: ...

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        """Return a draft. Raises InsufficientEvidence where there is nothing to write, WriterFailed for a fault."""


class WriterFailed(Exception):
    """A writer returned nothing usable; another may try.

    `reason` is a short code; `is_final` says that the same writer need not be asked again for this question.
    `received` and `generator` carry the raw reply and its cost, where there is one.
    """

    def __init__(
        self, message: str, *, reason: str = "unavailable", is_final: bool = False, generator: Generator | None = None,
        received: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.reason, self.is_final = reason, is_final
        self.generator, self.received = generator, received or {}


class Reranker(Protocol):
    """A model that reads question and passage together; `name` is shown in the `because` of what it moved."""

    @property
    def name(self) -> str: ...

    def prepare(self) -> None:
        """Load the model before the first question. Raises RerankerFailed."""

    def scores(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Sequence[float]:
        """Score each passage, the higher the better. Raises RerankerFailed, at the latest after `seconds`."""


class RerankerFailed(Exception):
    """The model gave no order; the message, for a reader, says why."""


class Progress(Protocol):
    """Receives the parts of an answer as they become final."""

    def is_abandoned(self) -> bool:
        """Tell whether the client has left; the work then stops at the next stage with Abandoned."""

    def stage(self, name: str, milliseconds: float) -> None:
        """Report a finished stage; one that runs again is reported again, with all its time."""

    def evidence(self, passages: Sequence[Candidate], query: Query) -> None:
        """Report the passages that the answer is written from, or those nearest to a refused question, as ranked."""

    def headline(self, headline: Headline, introduced: Mapping[int, Study]) -> None:
        """Report the headline, before any sentence, with the studies that it cites, by their numbers."""

    def sentence(self, part: str, index: int, sentence: Sentence, introduced: Mapping[int, Study]) -> None:
        """Report a verified, numbered sentence at its final place, with the studies that it is the first to cite."""


class Unwatched:
    """A Progress that ignores all reports and is never abandoned."""

    def is_abandoned(self) -> bool:
        return False

    def stage(self, name: str, milliseconds: float) -> None: ...

    def evidence(self, passages: Sequence[Candidate], query: Query) -> None: ...

    def headline(self, headline: Headline, introduced: Mapping[int, Study]) -> None: ...

    def sentence(self, part: str, index: int, sentence: Sentence, introduced: Mapping[int, Study]) -> None: ...


class Abandoned(Exception):
    """Raised when the client has left before the answer was made."""


class Limit(Protocol):
    """Limits the time that an answer may take."""

    def require(self) -> None:
        """Return while there is time left. Raises OutOfTime."""


class OutOfTime(Exception):
    """The answer took too long; it is not made, and nothing of it is stored."""

    def __init__(self, seconds: float) -> None:
        self.seconds = round(seconds)
        super().__init__(
            f"This took longer than {self.seconds} seconds and was given up; nothing of it is kept. "
            "Please try again in a while."
        )
