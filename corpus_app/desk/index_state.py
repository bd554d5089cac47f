"""The index state of passages as query annotations and filters."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, CharField, Count, Exists, IntegerField, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from corpus_app import embedding
from corpus_app.models import Passage, PassageVector

INDEXED, WAITING, FAILED = "indexed", "waiting", "failed"


def with_index_state(passages: QuerySet[Any]) -> QuerySet[Any]:
    """Annotate `index_state`: `indexed` (current text), `waiting` or `failed`."""
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
    """Filter passages by their state.

    Filtering on the `index_state` annotation would be slower: a lookup per passage instead of one join.
    """
    if state == INDEXED:
        return passages.filter(Exists(_current_vectors()))
    lacking = passages.filter(~Exists(_current_vectors()))
    return lacking.filter(index_error="") if state == WAITING else lacking.exclude(index_error="")


def with_index_counts(studies: QuerySet[Any]) -> QuerySet[Any]:
    """Annotate the number of passages of each study, and of its indexed and failed ones."""
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


def state_label(passage: Passage) -> str:
    state = getattr(passage, "index_state", WAITING)
    if state == INDEXED:
        return "Yes"
    if state == FAILED:
        return f"Failed: {passage.index_error}"
    return "Waiting"
