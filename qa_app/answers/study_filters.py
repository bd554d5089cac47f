"""Parse and describe the filters of a question, with the values that the corpus knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from corpus_app import search
from corpus_app.facets import COLUMNS, key_of, parameter_of
from qa_app.pipeline.study_filters import NO_FILTERS, StudyFilters

FIRST_YEAR, LAST_YEAR = 1000, 2999
YEARS = ("from", "to")
MOST_VALUES = 50  # of one filter


class BadFilters(ValueError):
    """Filters that cannot be used; the message says what to send instead."""


def known_values() -> Mapping[str, Sequence[str]]:
    """Return the values of each filter but the years, by the names that addresses use."""
    site = search.site()
    return {
        "collection": [collection.slug for collection in search.collections()],
        "design": site.designs,
        **{parameter_of(key): tuple(map(str, COLUMNS.get(key, facet.values))) for key, facet in site.facets.items()},
    }


def read(given: object) -> StudyFilters:
    """Parse filters as the API and stored answers have them: `{"from": 2015, "design": ["other"]}`.

    Raises BadFilters.
    """
    if not isinstance(given, Mapping):
        raise BadFilters("Send an object of filters and their values.")
    known = known_values()
    values = []
    for name, wanted in given.items():
        if name in YEARS:
            continue
        if name not in known:
            raise BadFilters(f"Filter by {', '.join((*YEARS, *known))}.")
        if not isinstance(wanted, list) or not wanted or any(value not in known[name] for value in wanted):
            raise BadFilters(f"Send a list of values of {name}: {', '.join(known[name][:MOST_VALUES])}.")
        values.append((key_of(name), tuple(value for value in known[name] if value in wanted)))
    years = {name: given.get(name) for name in YEARS}
    if any(year is not None and not _is_year(year) for year in years.values()):
        raise BadFilters(f"Send a year from {FIRST_YEAR} to {LAST_YEAR}.")
    first, last = years["from"], years["to"]
    if first is not None and last is not None and first > last:
        first, last = last, first
    return StudyFilters(tuple(sorted(values)), first, last)


def read_query(parameters: Mapping[str, Sequence[str]]) -> StudyFilters:
    """Parse the parameters of an address; what cannot be used is left out."""
    years = {name: _year((parameters.get(name) or [""])[-1]) for name in YEARS}
    return _read_known(years | {name: list(parameters.get(name) or ()) for name in known_values()})


def read_stored(stored: Mapping[str, Any] | None) -> StudyFilters:
    """Return the filters of a stored answer, without the values that the corpus no longer knows."""
    return _read_known(stored) if stored else NO_FILTERS


def is_named(parameters: Mapping[str, Any]) -> bool:
    """Tell whether an address names a filter."""
    return bool(parameters) and any(name in parameters for name in (*YEARS, *known_values()))


def _read_known(given: Mapping[str, Any]) -> StudyFilters:
    years = {name: given.get(name) for name in YEARS}
    values = {
        name: [value for value in given.get(name) or () if value in all_] for name, all_ in known_values().items()
    }
    return read({name: value for name, value in (years | values).items() if value})


def to_parameters(filters: StudyFilters) -> list[tuple[str, str]]:
    """Return the filters as parameters of an address."""
    pairs: list[tuple[str, str]] = []
    for name, value in filters.to_json().items():
        pairs += [(name, one) for one in value] if isinstance(value, list) else [(name, str(value))]
    return pairs


def describe(filters: Mapping[str, Any] | None) -> list[str]:
    """Return each filter in words, in English or as the site declares them; empty where there are none."""
    site, stored = search.site(), read_stored(filters)
    names = {collection.slug: collection.name for collection in search.collections()}
    names |= {kind: declared.label for kind, declared in site.source_kinds.items()}
    found = []
    for name, allowed in stored.values:
        facet = site.facets.get(name)
        own = names | ({value: declared.label for value, declared in facet.values.items()} if facet else {})
        label = facet.label.lower() if facet else {"design": "kind of study"}.get(name, name)
        found.append(f"{label} {' or '.join(own.get(value, value.replace('_', ' ')) for value in allowed)}")
    first, last = stored.first_year, stored.last_year
    years = f"from {first} to {last}" if first and last else f"from {first}" if first else f"up to {last}"
    return [*found, years] if stored.has_years else found


def to_words(filters: Mapping[str, Any] | None) -> str:
    """Return filters as words, the same for the same filters; empty where there are none."""
    return " ".join(f"{name}={value}" for name, value in to_parameters(read_stored(filters)))


def _is_year(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and FIRST_YEAR <= value <= LAST_YEAR


def _year(text: str) -> int | None:
    text = text.strip()
    number = int(text) if text.isascii() and text.isdecimal() and len(text) == 4 else None
    return number if _is_year(number) else None
