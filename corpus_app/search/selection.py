"""Select published studies by their traits: collection, design, notice, facets and years."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce
from operator import or_

from django.db.models import Q

from corpus_app.facets import COLUMNS
from corpus_app.models import Study

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


def study_ids(
    values: Iterable[tuple[str, Collection[str]]], first_year: int | None = None, last_year: int | None = None
) -> frozenset[str]:
    """Return the ids of the published studies that fit, retracted or not."""
    rows = Study.objects.published().filter(fits(values, first_year, last_year))
    return frozenset(rows.order_by().values_list("study_id", flat=True))
