"""Admin pages of the curators' judgements: how certain the evidence for an outcome is."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from corpus_app.desk.base import LinesField, SeenForm
from corpus_app.desk.facets import hidden_fields
from corpus_app.desk.history import HistoryMixin
from corpus_app.models import OutcomeCertainty

FIELDS = ("intervention", "outcome", "age_group", "training_status", "sex", "level", "reasons")


class CertaintyForm(SeenForm):
    seen_fields = ("intervention_id", "outcome_id", *FIELDS[2:])

    class Meta:
        model = OutcomeCertainty
        fields = FIELDS
        widgets = {"reasons": forms.Textarea(attrs={"rows": 4, "cols": 90})}

    def clean_reasons(self) -> str:
        """Return the reasons one a line, without empty ones."""
        lines = LinesField(max_length=1_000)
        return "\n".join(lines.clean(self.cleaned_data["reasons"]))


@admin.register(OutcomeCertainty)
class CertaintyAdmin(HistoryMixin):
    form = CertaintyForm
    list_display = ("intervention", "outcome", "age_group", "training_status", "sex", "level")
    list_display_links = ("intervention", "outcome")
    list_filter = ("level",)
    list_select_related = ("intervention", "outcome")
    search_fields = ("intervention__name", "outcome__name", "reasons")
    search_help_text = "Names of the intervention or outcome, or words of a reason."
    ordering = ("intervention__name", "outcome__name")

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        return tuple(name for name in self.list_display if name not in hidden_fields(request))

    def get_fields(self, request: HttpRequest, obj: OutcomeCertainty | None = None) -> Any:
        """Return the fields of the form: of the people, those facets that the site declares."""
        people = tuple(name for name in ("age_group", "training_status", "sex") if name not in hidden_fields(request))
        return (("intervention", "outcome"), *((people,) if people else ()), "level", "reasons", "seen")

    autocomplete_fields = ("intervention", "outcome")
