"""Counts of published studies, made by PostgreSQL: no study leaves it to be counted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from django.db import connection
from django.db.models import F, Q
from django.db.models.functions import Collate, Lower

from corpus_app import models, records
from corpus_app.models import StudyQuerySet
from corpus_app.records import StudyTotal, StudyTrait, TraitCounts
from corpus_app.search.catalogue import site
from corpus_app.search.selection import fits, primary_keys
from corpus_app.search.studies import studies

MOST_IDS = 500
"""Ids of counted studies that are returned."""
MOST_NAMES = 500
"""Names of a trait that are counted."""
MOST_JOURNALS = 2_000
"""Journals that questions may name: those of the most studies."""

_TALLY = """
    WITH named AS (
        SELECT {name} AS name, row_number() OVER (ORDER BY s.study_id, {place}) AS place
        FROM corpus_app_study s {joined} WHERE s.id IN ({keys})
    )
    SELECT name, count(*), count(*) OVER () FROM named WHERE name <> ''
    GROUP BY name ORDER BY count(*) DESC, min(place) LIMIT %s
"""
_TRAITS: Mapping[StudyTrait, tuple[str, str, str]] = {
    StudyTrait.YEAR: ("s.year::text", "1", ""),
    StudyTrait.DESIGN: ("s.design", "1", ""),
    StudyTrait.COLLECTION: ("s.collection_id", "1", ""),
    StudyTrait.JOURNAL: ("s.journal", "1", ""),
    StudyTrait.AUTHOR: (
        "a.author",
        "a.place",
        "CROSS JOIN LATERAL unnest(s.authors) WITH ORDINALITY AS a (author, place)",
    ),
    StudyTrait.TOPIC: (
        "c.name",
        "l.position",
        "JOIN corpus_app_studyconcept l ON l.study_id = s.id JOIN corpus_app_concept c USING (concept_id)",
    ),
}


class StudyTraits(Protocol):
    """Traits that studies must have, all of them."""

    @property
    def values(self) -> Mapping[str, Collection[str]]: ...
    @property
    def first_year(self) -> int | None: ...
    @property
    def last_year(self) -> int | None: ...
    @property
    def journals(self) -> Collection[str]: ...
    @property
    def sources(self) -> Collection[str] | None: ...
    @property
    def topic_ids(self) -> Sequence[Collection[str]]: ...


class CountedStudies:
    """Published studies, retracted or not, that are counted in the database."""

    def __init__(self, rows: StudyQuerySet) -> None:
        self._rows = rows

    def where(self, traits: StudyTraits) -> CountedStudies:
        """Return those of them that have the traits."""
        condition = fits(traits.values.items(), traits.first_year, traits.last_year)
        if traits.journals:
            condition &= Q(journal__in=list(traits.journals))
        if traits.sources is not None:
            condition &= Q(study_id__in=list(traits.sources))
        for ids in traits.topic_ids:
            condition &= Q(pk__in=models.StudyConcept.objects.filter(concept__in=list(ids)).values("study"))
        return CountedStudies(self._rows.filter(condition))

    def without_retracted(self) -> CountedStudies:
        """Return those of them that are not retracted."""
        return CountedStudies(self._rows.exclude(notice=records.Notice.RETRACTED))

    def reviewed(self) -> CountedStudies:
        """Return those of them that are marked as peer-reviewed."""
        return CountedStudies(self._rows.filter(peer_reviewed=True))

    def count(self) -> StudyTotal:
        """Return their number, and their ids, at most `MOST_IDS`."""
        ids = self._rows.order_by(Collate("study_id", "C")).values_list("study_id", flat=True)[:MOST_IDS]
        found = tuple(ids)
        return StudyTotal(len(found) if len(found) < MOST_IDS else self._rows.count(), found)

    def tally(self, trait: StudyTrait, limit: int = MOST_NAMES) -> TraitCounts:
        """Return how many of them have each name of a trait: the most frequent ones, of equals that of the first id."""
        keys, parameters = primary_keys(self._rows)
        name, place, joined = _TRAITS[trait]
        statement = _TALLY.format(name=name, place=place, joined=joined, keys=keys)
        with connection.cursor() as cursor:
            cursor.execute(statement, [*parameters, limit])
            rows = cursor.fetchall()
        return TraitCounts(rows[0][2] if rows else 0, tuple((name, number) for name, number, _ in rows))

    def listed(self, limit: int, *, oldest: bool = False) -> tuple[records.Study, ...]:
        """Return the newest of them, or the oldest; those without a year come last."""
        year = F("year").asc(nulls_last=True) if oldest else F("year").desc(nulls_last=True)
        rows = self._rows.order_by(year, Collate(Lower("title"), "C"), Collate("study_id", "C"))
        ids = list(rows.values_list("study_id", flat=True)[:limit])
        found = studies(ids)
        return tuple(found[study_id] for study_id in ids if study_id in found)

    def kind_of(self, design: str) -> records.SourceKind | None:
        """Return the declared kind of source that a design names; None for a design of `Design`."""
        return site().source_kinds.get(design)


def counted_studies(collection: str | None = None) -> CountedStudies:
    """Return the published studies, or those of a collection."""
    rows = models.Study.objects.published()
    return CountedStudies(rows if collection is None else rows.filter(collection=collection))


def journals() -> tuple[str, ...]:
    """Return the journals of the most published studies, at most `MOST_JOURNALS`, sorted."""
    return tuple(sorted(name for name, _ in counted_studies().tally(StudyTrait.JOURNAL, MOST_JOURNALS).most))
