"""Whether passages are indexed, as columns of a query."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, CharField, Count, Exists, IntegerField, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from corpus_app import embedding
from corpus_app.models import Passage, PassageVector

INDEXED, WAITING, FAILED = "indexed", "waiting", "failed"


def with_index_state(passages: QuerySet[Any]) -> QuerySet[Any]:
    """Annotates `index_state`: indexed by its present words, waiting for the worker, or failed."""
    annotated: QuerySet[Any] = passages.annotate(
        index_state=Case(
            When(Exists(_current_vectors()), then=Value(INDEXED)),
            When(index_error="", then=Value(WAITING)),
            default=Value(FAILED),
            output_field=CharField(),
        )
    )
    return annotated


def in_state(passages: QuerySet[Any], state: str) -> QuerySet[Any]:
    """Those in this state. Told apart without the column: so the database joins once instead of looking up each passage."""
    if state == INDEXED:
        return passages.filter(Exists(_current_vectors()))
    lacking = passages.filter(~Exists(_current_vectors()))
    return lacking.filter(index_error="") if state == WAITING else lacking.exclude(index_error="")


def with_index_counts(studies: QuerySet[Any]) -> QuerySet[Any]:
    """Annotates how many passages each study has, and how many of them are indexed or failed."""
    counted: QuerySet[Any] = studies.annotate(n_passages=_count(), n_indexed=_count(INDEXED), n_failed=_count(FAILED))
    return counted


def _current_vectors() -> QuerySet[PassageVector]:
    return PassageVector.objects.filter(
        passage=OuterRef("pk"), encoder=embedding.active_name(), content_hash=OuterRef("content_hash")
    )


def _count(state: str | None = None) -> Coalesce:
    passages: QuerySet[Any] = Passage.objects.filter(study=OuterRef("pk")).order_by()
    if state:
        passages = in_state(passages, state)
    counted = passages.values("study").annotate(counted=Count("pk")).values("counted")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def in_words(passage: Passage) -> str:
    state = getattr(passage, "index_state", WAITING)
    if state == INDEXED:
        return "Yes"
    if state == FAILED:
        return f"Failed: {passage.index_error}"
    return "Waiting"
