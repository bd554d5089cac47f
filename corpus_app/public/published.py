"""All published studies in memory, read once per corpus version."""

from __future__ import annotations

from dataclasses import dataclass

from corpus_app import records, search
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
            "age": study.age_group,
            "sex": study.sex,
            "training": study.training_status,
            "notice": study.notice,
        }[facet]
        return (str(value),)

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
