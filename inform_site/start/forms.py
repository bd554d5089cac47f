"""Forms of the start: the site's name and texts, and a safety route of one's own."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from corpus_app import curation, search
from corpus_app.desk.base import LinesField
from corpus_app.site import Site, SiteTexts
from corpus_app.sources.values import SLUG

LANGUAGE = "de"  # of the pages, beside English


class NameForm(forms.Form):
    name = forms.CharField(max_length=80, help_text="As readers see it at the top of every page.")
    tagline = forms.CharField(max_length=120, required=False, help_text="A few words beside the name.")
    placeholder = forms.CharField(
        label="Example in the empty question box", max_length=200, required=False, help_text="A question of a reader."
    )
    noun_one = forms.CharField(
        label="What it holds: one",
        max_length=40,
        required=False,
        help_text="Such as page. Empty: it is called a study.",
    )
    noun_many = forms.CharField(
        label="What it holds: many",
        max_length=40,
        required=False,
        help_text="Such as pages. Empty: they are called studies.",
    )
    tagline_de = forms.CharField(label="Tagline in German", max_length=120, required=False)
    placeholder_de = forms.CharField(
        label="Example in German", max_length=200, required=False, help_text="Empty: as in English."
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    @staticmethod
    def values_of(site: Site, hash_: str) -> dict[str, str]:
        """Return what the form shows of the stored settings."""
        german = site.translations.get(LANGUAGE, SiteTexts())
        return {
            "name": site.texts.name,
            "tagline": site.texts.tagline,
            "placeholder": site.texts.placeholder,
            "noun_one": site.nouns.one if site.nouns else "",
            "noun_many": site.nouns.many if site.nouns else "",
            "tagline_de": german.tagline,
            "placeholder_de": german.placeholder,
            "seen": hash_,
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name, value in cleaned.items():
            if fault := curation.find_text_fault(name, value):
                self.add_error(name, fault)
        if bool(cleaned.get("noun_one")) != bool(cleaned.get("noun_many")):
            self.add_error("noun_many", "Give both forms, or neither.")
        return cleaned

    def changes(self) -> dict[str, Any]:
        """Return the keys of the site file as `curation.revise_site` takes them."""
        value = self.cleaned_data
        return {
            "name": value["name"],
            "tagline": value["tagline"],
            "placeholder": value["placeholder"],
            "nouns": {"one": value["noun_one"], "many": value["noun_many"]},
            "languages": {LANGUAGE: {"tagline": value["tagline_de"], "placeholder": value["placeholder_de"]}},
        }


class RouteForm(forms.Form):
    name = forms.CharField(max_length=40, help_text="Small letters and dashes, such as legal-advice.")
    reply = forms.CharField(
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 60}),
        help_text="What the reader is told in place of an answer: who can help, and what this site can do.",
    )
    phrases = LinesField(
        help_text="One on each line, small letters. A question with one of them gets the reply; * stands for an ending."
    )
    example = forms.CharField(label="A question that must get it", max_length=300)
    counterexample = forms.CharField(label="A question that must not", max_length=300)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if not SLUG.fullmatch(name) or name != name.lower():
            raise ValidationError("Use small letters, digits and dashes.")
        if name in {route for table in (search.lexicons().get("safety", {}),) for route in _names(table)}:
            raise ValidationError("There is a reply of this name.")
        return name

    def clean_phrases(self) -> list[str]:
        phrases: list[str] = self.cleaned_data["phrases"]
        if not phrases:
            raise ValidationError("Give at least one phrase.")
        return phrases


def _names(table: Any) -> list[str]:
    return [row.get("name", "") for row in table.get("routes", ())]
