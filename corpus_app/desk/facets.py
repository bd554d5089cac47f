"""The facets of a site in the forms of the desk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest

from corpus_app import search
from corpus_app.facets import COLUMNS, facets_from_json, facets_to_json, from_pairs, to_pairs
from corpus_app.site import Site
from corpus_app.site_texts import facet_words

OF_PEOPLE = frozenset({"population", "n_participants"})
"""Fields of a study that tell who was studied, beside the facets with a column."""
HIDDEN = "_hidden_fields"  # of a request: read from the site once


def hidden_fields(request: HttpRequest) -> frozenset[str]:
    """Return the fields of a study that the site has no use for.

    These are facets that it does not declare, and the risk of bias where none of its kinds of source is graded.
    """
    if not hasattr(request, HIDDEN):
        setattr(request, HIDDEN, _hidden_fields(search.site()))
    found: frozenset[str] = getattr(request, HIDDEN)
    return found


def _hidden_fields(site: Site) -> frozenset[str]:
    hidden = frozenset(COLUMNS) - site.facets.keys()
    hidden |= frozenset() if site.facets.keys() - COLUMNS.keys() else {"facets"}
    if site.is_about_people:
        return hidden
    is_graded = any(kind.strength for kind in site.source_kinds.values())
    return hidden | OF_PEOPLE if is_graded else hidden | OF_PEOPLE | {"risk_of_bias"}


def facet_choices(*, has_columns: bool = False) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the values of the facets by the label of their facet; those with a column only where asked for."""
    return [
        (
            facet_words(facet.label),
            [(f"{key}:{value}", facet_words(own.label)) for value, own in facet.values.items()],
        )
        for key, facet in search.site().facets.items()
        if has_columns or key not in COLUMNS
    ]


class FacetsField(forms.MultipleChoiceField):
    """Values of declared facets, as boxes to tick; a study may have several of one facet."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, **options)

    def prepare_value(self, value: Any) -> Any:
        """Return the ticked boxes of stored facets."""
        return list(to_pairs(facets_from_json(value))) if isinstance(value, Mapping) else value

    def clean(self, value: Any) -> dict[str, list[str]]:
        """Return the ticked values by facet."""
        return facets_to_json(from_pairs(super().clean(value)))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial or {}), data)
