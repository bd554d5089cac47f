"""All published studies in memory, read once per corpus version."""

from __future__ import annotations

from dataclasses import dataclass

from corpus_app import records, search
from corpus_app.facets import key_of
from corpus_app.public.selection import Selection


@dataclass(frozen=True, slots=True)
class PublishedStudy:
    """A published study with the values of its facets."""

    pk: int
    study: records.Study

    def values(self, facet: str) -> tuple[str, ...]:
        study = self.study
        if facet == "topic":
            return study.concepts
        value = {
            "collection": study.collection,
            "design": study.design,
            "notice": study.notice,
        }.get(facet)
        return study.values_of(key_of(facet)) if value is None else (str(value),)

    def fits(self, facet: str, wanted: frozenset[str]) -> bool:
        return not wanted or not wanted.isdisjoint(self.values(facet))

    def fits_years(self, selection: Selection) -> bool:
        year = self.study.year
        if year is None:
            return not selection.has_years
        return (selection.first_year or year) <= year <= (selection.last_year or year)


def published_studies() -> tuple[PublishedStudy, ...]:
    """Return all published studies, retracted ones included, in the order of their ids."""
    return search.once_per_version(_read_published_studies)


def _read_published_studies() -> tuple[PublishedStudy, ...]:
    return tuple(PublishedStudy(pk, study) for pk, study in search.published_studies())
