"""Published studies in an order of the corpus page, read page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

from django.db.models import F, FloatField, Func, JSONField, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Coalesce, Collate, Lower

from corpus_app import models, records, search

KEYS: Mapping[str, tuple[str, ...]] = {
    "title": ("folded_title", "sorted_id"),
    "newest": ("newest", "folded_title", "sorted_id"),
    "relevance": ("relevance", "newest", "folded_title", "sorted_id"),
}
"""The columns of the key of each order, all ascending; see `SORTS`."""


@dataclass(frozen=True, slots=True)
class RankedStudy:
    """A study and its unique sort key."""

    key: tuple[Any, ...]
    pk: int
    study: records.Study


class SortedStudies(Sequence[RankedStudy]):
    """Studies in an order; only those of a slice are read.

    `scores` are by primary key; studies without one have 0.
    """

    def __init__(self, rows: QuerySet[models.Study], sort: str, scores: Mapping[int, float] | None = None) -> None:
        self._columns = KEYS.get(sort, KEYS["relevance"])
        known = Value({str(pk): score for pk, score in (scores or {}).items() if score}, output_field=JSONField())
        score = Func(
            known, Cast("pk", TextField()), template="(%(expressions)s)::float8", arg_joiner=" ->> ",
            output_field=FloatField(),
        )  # fmt: skip
        self._rows = rows.annotate(
            relevance=-Coalesce(score, 0.0),
            newest=-Coalesce(F("year"), 0),
            folded_title=Collate(Lower("title"), "C"),
            sorted_id=Collate("study_id", "C"),
        )

    @cached_property
    def _total(self) -> int:
        return self._rows.order_by().count()

    def __len__(self) -> int:
        return self._total

    @overload
    def __getitem__(self, place: int) -> RankedStudy: ...

    @overload
    def __getitem__(self, place: slice) -> list[RankedStudy]: ...

    def __getitem__(self, place: int | slice) -> RankedStudy | list[RankedStudy]:
        if isinstance(place, int):
            return self[place : place + 1][0]
        ordered = self._rows.order_by(*self._columns).values_list("pk", "study_id", *self._columns)[place]
        rows = [(pk, study_id, tuple(key)) for pk, study_id, *key in ordered]
        studies = search.studies([study_id for _, study_id, _ in rows])
        return [RankedStudy(key, pk, studies[study_id]) for pk, study_id, key in rows]

    def place_after(self, key: Sequence[Any]) -> int:
        """Return how many studies come up to and including this key. Raises TypeError, ValueError and DataError."""
        before, equal = Q(pk__in=()), Q()
        for column, value in zip(self._columns, key, strict=True):
            before |= equal & Q(**{f"{column}__lt": value})
            equal &= Q(**{column: value})
        return self._rows.filter(before | equal).order_by().count()
