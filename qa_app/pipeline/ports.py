"""What the pipeline asks of the outside: a corpus to search, a writer, somebody to tell how it comes along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from corpus_app.records import Collection, Concept, Finding, Found, NearFinding, Passage
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Candidate, Draft, Evidence, Generator, Headline, Sentence, Study, Understanding

Encode = Callable[[], tuple[Sequence[float] | None, str | None]]
"""What gives the question's vector; or None, and why there is none."""


Encoded = Callable[[], Sequence[Sequence[float]]]
"""What waits for the vectors of texts, in their order, and gives them; raises LegFailed where no encoder can be had."""


class Corpus(Protocol):
    """Everything read inside one `snapshot` belongs to one corpus version."""

    def version(self) -> int: ...

    def snapshot(self) -> AbstractContextManager[None]: ...

    def encode_ahead(self, texts: Sequence[str]) -> Encoded:
        """Begins to encode texts beside what is done next; what it gives waits for the unit-length vector of each."""
        ...

    def find_while(
        self, text: str, encode: Encode, *, collection: str | None, limit: int, k1: float, b: float
    ) -> Found:
        """The candidates of both halves; the vector is asked for while the words are looked up, or sooner.

        `k1` and `b` are those of BM25.
        """
        ...

    def find_linked(
        self, text: str, vector: Sequence[float] | None, *, collection: str | None, limit: int, k1: float, b: float
    ) -> Found:
        """The same with a vector that is there, for the second pass by related concepts; raises LegFailed where it cannot run."""
        ...

    def load(self, passage_ids: Sequence[int]) -> tuple[Passage, ...]: ...

    def passage_ids(self, study_id: str) -> tuple[int, ...]:
        """All that may be searched of a study, in its order."""
        ...

    def findings(self, study_ids: Sequence[str]) -> tuple[Finding, ...]:
        """What these studies found, in the order of the ids."""
        ...

    def near_findings(self, vector: Sequence[float], passage_ids: Sequence[int]) -> tuple[NearFinding, ...]:
        """Of each study that one of these passages is from, the finding that comes closest to the question."""
        ...

    def studies(self) -> tuple[Study, ...]:
        """All published studies, retracted ones included, in the order of their ids."""
        ...

    def concepts(self) -> tuple[Concept, ...]: ...

    def collections(self) -> tuple[Collection, ...]: ...

    def vocabulary(self) -> Mapping[str, int]:
        """Words of searchable passages, lower case and without accents, and in how many passages each stands."""
        ...

    def is_word(self, word: str) -> bool:
        """Whether the language has this word, lower case, though the corpus may not: then it is not misspelt."""
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

    def evidence(self, passages: Sequence[Candidate], understanding: Understanding) -> None:
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

    def evidence(self, passages: Sequence[Candidate], understanding: Understanding) -> None:
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
