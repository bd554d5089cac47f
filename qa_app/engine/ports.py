"""What the engine asks of the corpus. Everything read inside one `snapshot` belongs to one corpus version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from corpus_app.records import Collection, Concept, Finding, Found, Passage, Study, StudyScores
from qa_app.engine.agreement import FindingConcepts
from qa_app.engine.concepts import ConceptIndex
from qa_app.engine.lexicon import PhraseIndex
from qa_app.engine.question.people import PeopleIndex
from qa_app.engine.question.safety import SafetyLexicon
from qa_app.engine.question.sources import SourceIndex
from qa_app.engine.strength import StudySize

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

    def encode(self, text: str) -> Vector:
        """Return the unit vector of a text. Raises LegFailed where no encoder can be had."""
        ...

    def score_studies(
        self, text: str, vector: Vector | None, *, collection: str | None, limit: int
    ) -> tuple[StudyScores, ...]:
        """Score candidate studies by words and meaning, kind by kind of their texts."""
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


__all__ = ["Corpus", "CorpusFacts", "PhraseIndex", "Vector"]
