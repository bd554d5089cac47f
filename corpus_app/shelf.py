"""The published studies as lists show them: read once for each version of the corpus."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from corpus_app import models, records, search
from corpus_app.records import Status
from corpus_app.selection import Selection


@dataclass(frozen=True, slots=True)
class Shelved:
    """A published study as lists show it."""

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


def shelf() -> tuple[Shelved, ...]:
    """All published studies, retracted ones included, in the order of their ids."""
    return search.once_per_version(_read_shelf)


def _read_shelf() -> tuple[Shelved, ...]:
    concepts: dict[int, list[str]] = defaultdict(list)
    links = models.StudyConcept.objects.filter(study__status=Status.PUBLISHED).order_by("study", "position")
    for study_pk, concept_id in links.values_list("study_id", "concept_id"):
        concepts[study_pk].append(concept_id)
    rows = models.Study.objects.published().order_by("study_id")
    return tuple(Shelved(row.pk, search.as_record(row, concepts[row.pk])) for row in rows.defer("curator_notes"))
