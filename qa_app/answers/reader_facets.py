"""What tells whether a study is about people like the reader; a script compares it, so that nothing is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from corpus_app import search
from corpus_app.facets import Facet, to_pairs
from corpus_app.records import Study


@dataclass(frozen=True, slots=True)
class ReaderFacet:
    """A facet that may describe a reader, with the values to choose from and their labels."""

    key: str
    label: str
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReaderFacets:
    """The facets that may describe a reader, and which values of theirs each study is about."""

    facets: tuple[ReaderFacet, ...]
    studies: Mapping[str, str]
    """Pairs of facet and value with spaces between, by study id: `soil:clay soil:sand`."""


def read_reader_facets(study_ids: Iterable[str]) -> ReaderFacets | None:
    """Return what marks these studies; None where the corpus declares no facet of readers."""
    declared = {key: facet for key, facet in search.site().facets.items() if facet.about_reader}
    if not declared:
        return None
    public = search.studies(list(study_ids))
    return ReaderFacets(
        facets=tuple(ReaderFacet(key, facet.label, _choices(facet)) for key, facet in declared.items()),
        studies={study_id: _pairs(study, declared) for study_id, study in public.items()},
    )


def _choices(facet: Facet) -> tuple[tuple[str, str], ...]:
    """Return the values that one reader may have, with their labels."""
    return tuple((name, value.label) for name, value in facet.values.items() if not value.open)


def _pairs(study: Study, declared: Mapping[str, Facet]) -> str:
    """Return the values of each facet that a study is direct evidence for."""
    about = {
        key: tuple(dict.fromkeys(one for value in study.values_of(key) for one in facet.direct_values(value)))
        for key, facet in declared.items()
    }
    return " ".join(to_pairs(tuple(about.items())))
