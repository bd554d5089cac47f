"""Select published studies by their traits: collection, design, notice, facets and years."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import Q

from corpus_app.facets import COLUMNS
from corpus_app.models import Study, StudyQuerySet

_COLUMNS = {"collection": "collection", "design": "design", "notice": "notice", **{name: name for name in COLUMNS}}


def fits(
    values: Iterable[tuple[str, Collection[str]]], first_year: int | None = None, last_year: int | None = None
) -> Q:
    """Return the condition of a study that has one of the values of each trait; one without a year has none of years.

    Traits are `collection`, `design`, `notice` and the keys of facets.
    """
    found = Q()
    for name, allowed in values:
        if name in _COLUMNS:
            found &= Q(**{f"{_COLUMNS[name]}__in": list(allowed)})
        else:
            found &= reduce(or_, (Q(facets__contains={name: [value]}) for value in allowed), Q(pk__in=()))
    if first_year is not None:
        found &= Q(year__gte=first_year)
    if last_year is not None:
        found &= Q(year__lte=last_year)
    return found


def primary_keys(rows: StudyQuerySet) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL of the primary keys of these studies, in no order, and its parameters."""
    try:
        statement, values = rows.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:  # Django knows that no study fits
        return "SELECT NULL::bigint WHERE false", ()
    return statement, tuple(values)


@dataclass(frozen=True, slots=True)
class StudySelection:
    """The published studies of some traits, retracted or not. PostgreSQL selects them: their ids stay there."""

    values: tuple[tuple[str, tuple[str, ...]], ...]
    first_year: int | None = None
    last_year: int | None = None

    def among(self, study_ids: Collection[str]) -> frozenset[str]:
        """Return the ids of those studies among these that are selected."""
        return frozenset(
            self._rows().filter(study_id__in=list(study_ids)).order_by().values_list("study_id", flat=True)
        )

    def keys(self) -> tuple[str, dict[str, Any]]:
        """Return the SQL of the primary keys of the selected studies, and its parameters by name."""
        statement, values = primary_keys(self._rows())
        parameters = {f"trait{place}": value for place, value in enumerate(values)}
        return statement % tuple(f"%({name})s" for name in parameters), parameters

    def _rows(self) -> StudyQuerySet:
        return Study.objects.published().filter(fits(self.values, self.first_year, self.last_year))
