"""Narrow an answer: ask its question again of the studies that fit filters, at an address that shows the filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.urls import reverse

from corpus_app import search
from corpus_app.facets import key_of
from corpus_app.records import Study
from qa_app.answers import answering, asking, study_filters
from qa_app.answers.payload import is_from_studies
from qa_app.models import Answer
from qa_app.pipeline.study_filters import NO_FILTERS, StudyFilters, has_value

LEAST_CANDIDATES = 2
"""Of fewer studies, none can be chosen."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a filter, with the number of candidates that have it and fit the other filters."""

    value: str
    label: str
    """Of a facet's value, as the site declares it."""
    count: int
    is_on: bool

    @property
    def is_empty(self) -> bool:
        """Tell whether choosing it would leave no study."""
        return not self.count and not self.is_on


@dataclass(frozen=True, slots=True)
class FilterGroup:
    """A filter with the values that candidates have."""

    name: str
    label: str
    """Of a facet, as the site declares it; empty for collections and kinds of source."""
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class ActiveFilter:
    """A filter in force, and the address of the answer without it."""

    name: str
    """`years`, `collection`, `design` or a facet."""
    value: str
    label: str
    address: str


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The filters of an answer: those in force, and those that can be chosen."""

    address: str
    """Takes the filters as parameters; without any, it is that of the answer from all studies."""
    filters: StudyFilters
    active: tuple[ActiveFilter, ...]
    groups: tuple[FilterGroup, ...]
    years: tuple[int, int] | None
    """The first and the last year of the candidates; None where they are of one year, or of none."""
    candidates: int

    @property
    def is_offered(self) -> bool:
        return self.candidates > 0 and bool(self.groups or self.years)


def address_of(payload: Mapping[str, Any]) -> str:
    """Return the address of an answer, with its filters."""
    return _with(str(payload["url"]), study_filters.read_stored(payload.get("filters")))


def find_narrowed(payload: Mapping[str, Any], filters: StudyFilters) -> dict[str, Any] | None:
    """Return the newest stored answer to an answer's question under these filters; None where there is none."""
    newest = _same_question(payload, filters).values_list("pk", flat=True).first()
    return asking.find_answer(newest) if newest else None


def _same_question(payload: Mapping[str, Any], filters: StudyFilters) -> QuerySet[Answer]:
    """Return the stored answers to an answer's question under these filters, newest first."""
    key = answering.asked_key(payload)
    return Answer.objects.filter(asked_key=key, payload__filters=filters.to_json()).order_by("-created_at", "pk")


def narrow(
    answer_id: str, filters: StudyFilters, *, allowance: asking.Allowance | None = None, now: datetime | None = None
) -> dict[str, Any] | None:
    """Ask a stored answer's question under these filters alone; None where there is no such answer.

    Raises BadQuestion and OutOfTime.
    """
    row = Answer.objects.filter(pk=answer_id).first()
    if row is None:
        return None
    return asking.ask(**asking.repeat(row) | {"filters": filters.to_json()}, allowance=allowance, now=now)


def read_narrowing(payload: Mapping[str, Any]) -> Narrowing | None:
    """Return the filters of an answer; None for one that cannot be narrowed."""
    if not is_from_studies(payload):
        return None
    filters = study_filters.read_stored(payload.get("filters"))
    studies = _candidates(payload, filters)
    address = reverse("narrow", args=[payload["id"]])
    years = sorted(study.year for study in studies if study.year is not None)
    return Narrowing(
        address=address,
        filters=filters,
        active=tuple(_active(filters, address)),
        groups=tuple(_groups(filters, studies)),
        years=(years[0], years[-1]) if years and (years[0] < years[-1] or filters.has_years) else None,
        candidates=len(studies),
    )


def _candidates(payload: Mapping[str, Any], filters: StudyFilters) -> Sequence[Study]:
    """Return the public candidates of the answer from all studies, or those of this one where there is none yet."""
    own = Answer.objects.filter(pk=payload["id"])
    rows = [_same_question(payload, NO_FILTERS), own] if filters.narrows else [own]
    found = (ids for row in rows for ids in row.values_list("candidates", flat=True)[:1])
    candidates = next(found, [])
    public = search.studies(candidates)
    studies = [public[study_id] for study_id in candidates if study_id in public]
    return studies if len(studies) >= LEAST_CANDIDATES else []


def _active(filters: StudyFilters, address: str) -> Iterator[ActiveFilter]:
    """Yield the filters in force, each with the address of the answer without it."""
    facets = search.site().facets
    for name, allowed in filters.values:
        for value in allowed:
            others = tuple(one for one in allowed if one != value)
            rest = tuple((n, own) for n, own in ((n, others if n == name else own) for n, own in filters.values) if own)
            label = facets[name].values[value].label if name in facets and value in facets[name].values else value
            yield ActiveFilter(name, value, label, _with(address, replace(filters, values=rest)))
    if filters.has_years:
        yield ActiveFilter("years", "", "", _with(address, replace(filters, first_year=None, last_year=None)))


def _with(address: str, filters: StudyFilters) -> str:
    query = urlencode(study_filters.to_parameters(filters))
    return f"{address}?{query}" if query else address


def _groups(filters: StudyFilters, studies: Sequence[Study]) -> Iterator[FilterGroup]:
    """Yield the filters in which the candidates differ, or that are in force, with the values to choose from."""
    facets, chosen = search.site().facets, dict(filters.values)
    for name, known in study_filters.known_values().items():
        key = key_of(name)
        others = replace(filters, values=tuple(pair for pair in filters.values if pair[0] != key))
        fitting = [study for study in studies if others.accepts(study)]
        declared = facets[key].values if key in facets else None
        offered = [value for value in known if declared is None or value in declared]
        counts = {value: sum(has_value(study, key, (value,)) for study in fitting) for value in offered}
        on = chosen.get(key, ())
        held = {value for value in offered if any(has_value(study, key, (value,)) for study in studies)}
        choices = tuple(
            Choice(value, declared[value].label if declared else "", count, value in on)
            for value, count in counts.items()
            if value in held or value in on
        )
        if on or any(choice.count < len(fitting) for choice in choices):
            yield FilterGroup(name, facets[key].label if key in facets else "", choices)
