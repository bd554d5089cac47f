"""The studies of a corpus as a question about it counts and lists them, without reading them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from corpus_app.records import SourceKind, Study, StudyTotal, StudyTrait, TraitCounts
from qa_app.pipeline.question.about_filters import Filters


class Holdings(Protocol):
    """Published studies, which the corpus counts itself."""

    def where(self, filters: Filters, /) -> Holdings:
        """Return those of them that fit."""

    def without_retracted(self) -> Holdings:
        """Return those of them that are not retracted."""

    def reviewed(self) -> Holdings:
        """Return those of them that are marked as peer-reviewed."""

    def count(self) -> StudyTotal:
        """Return their number, and the ids of some hundred of them."""

    def tally(self, trait: StudyTrait, limit: int = ...) -> TraitCounts:
        """Return how many of them have each name of a trait, the most frequent names first."""

    def listed(self, limit: int, *, oldest: bool = False) -> Sequence[Study]:
        """Return the newest of them, or the oldest; those without a year come last."""

    def kind_of(self, design: str, /) -> SourceKind | None:
        """Return the declared kind of source that a design names; None for a design of `Design`."""
