"""Admin pages of the curators' judgements: how certain the evidence for an outcome is."""

from __future__ import annotations

from django import forms
from django.contrib import admin

from corpus_app.desk.base import LinesField, SeenForm
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
    fields = (("intervention", "outcome"), ("age_group", "training_status", "sex"), "level", "reasons", "seen")
    autocomplete_fields = ("intervention", "outcome")
