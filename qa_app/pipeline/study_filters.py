"""The filters of a question: which studies may answer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_app.facets import parameter_of
from corpus_app.records import Study

COLUMNS: Mapping[str, Callable[[Study], str]] = {
    "collection": lambda study: study.collection,
    "design": lambda study: study.design,
    "notice": lambda study: study.notice,
}
"""Filters of every corpus; every other filter is a facet that the corpus declares."""


@dataclass(frozen=True, slots=True)
class StudyFilters:
    """Traits that a study has to have: values of one filter are alternatives, different filters must all fit."""

    values: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """By `collection`, `design` or the key of a facet; none is empty."""
    first_year: int | None = None
    last_year: int | None = None

    @property
    def has_years(self) -> bool:
        return self.first_year is not None or self.last_year is not None

    @property
    def narrows(self) -> bool:
        return bool(self.values) or self.has_years

    def accepts(self, study: Study) -> bool:
        """Tell whether the study has all of the traits; one without a year has none of the years."""
        return (
            all(has_value(study, name, allowed) for name, allowed in self.values)
            and (self.first_year is None or (study.year or 0) >= self.first_year)
            and (self.last_year is None or 0 < (study.year or 0) <= self.last_year)
        )

    def to_json(self) -> dict[str, Any]:
        """Return the filters by their names in addresses; empty where nothing is narrowed."""
        years = (("from", self.first_year), ("to", self.last_year))
        return {name: year for name, year in years if year is not None} | {
            parameter_of(name): list(allowed) for name, allowed in self.values
        }


NO_FILTERS = StudyFilters()


def has_value(study: Study, name: str, allowed: Sequence[str]) -> bool:
    """Tell whether a study has one of the values of a filter."""
    own = (COLUMNS[name](study),) if name in COLUMNS else study.values_of(name)
    return not set(own).isdisjoint(allowed)
