"""What the engine asks of the corpus. Everything read inside one `snapshot` belongs to one corpus version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from corpus_app.records import Collection, Concept, Finding, Found, Passage, Study, StudyScores
from qa_app.pipeline.agreement import FindingConcepts
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.query import Query
from qa_app.pipeline.question.people import PeopleIndex
from qa_app.pipeline.question.safety import SafetyLexicon
from qa_app.pipeline.question.sources import SourceIndex
from qa_app.pipeline.records import Candidate, Draft, Evidence, Generator, Headline, Sentence
from qa_app.pipeline.strength import StudySize

Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """Facts of the corpus for parsing and for the grammar over its rows; built once a corpus version."""

    version: int
    studies: Mapping[str, Study]
    """Published studies by id, retracted ones included."""
    sources: SourceIndex
    collections: tuple[Collection, ...]
    concepts: tuple[Concept, ...]
    concept_index: ConceptIndex
    people: PeopleIndex
    safety: SafetyLexicon
    findings: tuple[Finding, ...]
    """Confirmed findings of all searchable studies."""
    finding_concepts: Mapping[int, FindingConcepts]
    sizes: Mapping[str, StudySize]
    vocabulary: Mapping[str, int]
    changed_at: datetime | None


class Corpus(Protocol):
    """The corpus as the engine reads it."""

    def snapshot(self) -> AbstractContextManager[None]: ...

    def facts(self) -> CorpusFacts: ...

    def is_word(self, word: str) -> bool:
        """Tell whether the language has this word."""
        ...

    def encode(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return the unit vector of each text. Raises LegFailed where no encoder can be had."""
        ...

    def mean(self, vectors: Sequence[Vector]) -> Vector:
        """Return the unit vector of the mean of vectors that `encode` gave."""
        ...

    def score_studies(
        self, text: str, vectors: Sequence[Vector], *, collection: str | None, limit: int
    ) -> tuple[StudyScores, ...]:
        """Score candidate studies by words and meaning, kind by kind of their texts.

        `vectors` are those of the question's formulations, the main one first; without any, words alone decide.
        """
        ...

    def find(self, text: str, vector: Vector | None, *, collection: str | None, limit: int, error: str | None) -> Found:
        """Return the best passages of both halves with their exact scores."""
        ...

    def load(self, passage_ids: Sequence[int]) -> tuple[Passage, ...]: ...

    def passages_among(self, study_ids: Sequence[str], passage_ids: Sequence[int]) -> tuple[Passage, ...]:
        """Return the passages of these studies that are among these ids."""
        ...

    def plain_passages(self, study_ids: Sequence[str]) -> tuple[Passage, ...]:
        """Return the plain sentences of these studies as passages."""
        ...


class Writer(Protocol):
    @property
    def name(self) -> str:
        """As it stands in `generator.name`."""
        ...

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        """Summary and answer from the evidence alone.

        Raises InsufficientEvidence where it does not answer, WriterFailed where the writer itself is at fault.
        """
        ...


class Reranker(Protocol):
    """A model that reads question and passage together."""

    @property
    def name(self) -> str:
        """As it stands in the `because` of what it moved."""
        ...

    def prepare(self) -> None:
        """Loads what it needs before the first question. Raises RerankerFailed."""
        ...

    def scores(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Sequence[float]:
        """One score a passage, the higher the better. Raises RerankerFailed, at the latest after `seconds`."""
        ...


class Progress(Protocol):
    """Told how an answer comes along; asked whether anybody still waits for it."""

    def is_abandoned(self) -> bool:
        """Whether nobody waits any more: the work then stops at the next stage with Abandoned."""
        ...

    def stage(self, name: str, milliseconds: float) -> None:
        """A stage has finished; where it runs again it is told again, with all the time that it has taken."""
        ...

    def evidence(self, passages: Sequence[Candidate], query: Query) -> None:
        """What the answer is written from, in rank order; of a refusal, what came nearest."""
        ...

    def headline(self, headline: Headline, introduced: Mapping[int, Study]) -> None:
        """Report the final headline, once and before any sentence.

        `introduced` are the studies that it cites, by their numbers.
        """
        ...

    def sentence(self, part: str, index: int, sentence: Sentence, introduced: Mapping[int, Study]) -> None:
        """A sentence that is certain to stand in the answer: verified, numbered, at this place of its part.

        `introduced` are the studies that it is the first to cite, by their numbers.
        """
        ...


class Unwatched:
    """Nobody is told, and nobody leaves."""

    def is_abandoned(self) -> bool:
        return False

    def stage(self, name: str, milliseconds: float) -> None:
        return None

    def evidence(self, passages: Sequence[Candidate], query: Query) -> None:
        return None

    def headline(self, headline: Headline, introduced: Mapping[int, Study]) -> None:
        return None

    def sentence(self, part: str, index: int, sentence: Sentence, introduced: Mapping[int, Study]) -> None:
        return None


class Abandoned(Exception):
    """Nobody waits for the answer any more; it is not made."""


class Limit(Protocol):
    """How long an answer may take."""

    def require(self) -> None:
        """Raises OutOfTime where it has taken longer."""
        ...


class OutOfTime(Exception):
    """The answer took longer than one may; it is not made, and nothing of it is kept."""

    def __init__(self, seconds: float) -> None:
        self.seconds = round(seconds)
        super().__init__(
            f"This took longer than {self.seconds} seconds and was given up; nothing of it is kept. Please try again in a while."
        )


class RerankerFailed(Exception):
    """No order can be had of the model; the message, for a reader, says why. The built-in order stands."""


class WriterFailed(Exception):
    """A writer gave nothing that can be used; another may try.

    `reason` is a short code; `is_final` says that the same writer need not be asked again for this question. What was
    received all the same, and what it took, stay with it.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str = "unavailable",
        is_final: bool = False,
        generator: Generator | None = None,
        received: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.reason, self.is_final = reason, is_final
        self.generator, self.received = generator, received or {}


class LegFailed(Exception):
    """One half of the search cannot run; the message is for a reader."""
