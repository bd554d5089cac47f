"""Admin pages of the curators' judgements: how certain the evidence for an outcome is."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from corpus_app import search
from corpus_app.desk.base import LinesField, SeenForm
from corpus_app.desk.facets import FacetsField, facet_choices, hidden_fields
from corpus_app.desk.history import HistoryMixin
from corpus_app.facets import certainty_fault, facets_from_json, to_pairs
from corpus_app.models import OutcomeCertainty

FIELDS = ("intervention", "outcome", "age_group", "training_status", "sex", "facets", "level", "reasons")


class CertaintyForm(SeenForm):
    seen_fields = ("intervention_id", "outcome_id", *FIELDS[2:])

    facets = FacetsField(help_text="What else it is about, one value of a facet.")

    class Meta:
        model = OutcomeCertainty
        fields = FIELDS
        widgets = {"reasons": forms.Textarea(attrs={"rows": 4, "cols": 90})}

    def clean_facets(self) -> dict[str, list[str]]:
        """Return the ticked values. Raises ValidationError for several of one facet."""
        facets: dict[str, list[str]] = self.cleaned_data["facets"]
        if fault := certainty_fault(facets_from_json(facets), search.site().facets):
            raise forms.ValidationError(f"Tick one value at most: {fault}")
        return facets

    def clean_reasons(self) -> str:
        """Return the reasons one a line, without empty ones."""
        lines = LinesField(max_length=1_000)
        return "\n".join(lines.clean(self.cleaned_data["reasons"]))


@admin.register(OutcomeCertainty)
class CertaintyAdmin(HistoryMixin):
    form = CertaintyForm
    list_display = ("intervention", "outcome", "age_group", "training_status", "sex", "others", "level")
    list_display_links = ("intervention", "outcome")
    list_filter = ("level",)
    list_select_related = ("intervention", "outcome")
    search_fields = ("intervention__name", "outcome__name", "reasons")
    search_help_text = "Names of the intervention or outcome, or words of a reason."
    ordering = ("intervention__name", "outcome__name")

    @admin.display(description="other facets")
    def others(self, certainty: OutcomeCertainty) -> str:
        return ", ".join(to_pairs(facets_from_json(certainty.facets)))

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        hidden = hidden_fields(request) | ({"others"} if "facets" in hidden_fields(request) else frozenset())
        return tuple(name for name in self.list_display if name not in hidden)

    def get_fields(self, request: HttpRequest, obj: OutcomeCertainty | None = None) -> Any:
        """Return the fields of the form: of the people, those facets that the site declares."""
        people = tuple(name for name in ("age_group", "training_status", "sex") if name not in hidden_fields(request))
        facets = () if "facets" in hidden_fields(request) else ("facets",)
        return (("intervention", "outcome"), *((people,) if people else ()), *facets, "level", "reasons", "seen")

    def get_form(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        """Return the form with the facets that the site declares."""
        form = super().get_form(request, *args, **options)
        if "facets" in form.base_fields:
            form.base_fields["facets"].choices = facet_choices()
        return form

    autocomplete_fields = ("intervention", "outcome")
