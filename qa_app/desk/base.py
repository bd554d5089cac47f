"""Base classes of the admin pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext as _

from common.desk import SeenField
from qa_app.templatetags.answer_words import mode_words

if TYPE_CHECKING:  # generic for the type checker only
    ModelAdmin = admin.ModelAdmin[Any]
    ModelForm = forms.ModelForm[Any]
else:
    ModelAdmin = admin.ModelAdmin
    ModelForm = forms.ModelForm

SAVED_SINCE = "Someone else has saved this {} in the meantime. Open it again to see their changes, then make yours."


OUTCOMES = {
    "answered": "Answered",
    "partial": "Partly answered",
    "conflicting": "Answered, studies disagree",
    "insufficient_evidence": "Unanswered",
    "out_of_scope": "About something else",
    "guardrail": "Fixed reply",
}


def in_words(outcome: str) -> str:
    """Return the outcome's label."""
    return _(OUTCOMES[outcome]) if outcome in OUTCOMES else outcome


class WordsFilter(admin.AllValuesFieldListFilter):
    """A filter that shows values by their labels."""

    words: Callable[[str], str]

    def choices(self, changelist: Any) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        for choice in super().choices(changelist):
            value, bracket, count = str(choice["display"]).partition(" (")  # followed by the facet count, if shown
            yield {**choice, "display": f"{type(self).words(value)}{bracket}{count}"}


class OutcomeFilter(WordsFilter):
    words = staticmethod(in_words)


class ModeFilter(WordsFilter):
    words = staticmethod(mode_words)


class WhenFilter(admin.DateFieldListFilter):
    """A date filter titled "when"."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = "when"


class WhetherFilter(admin.BooleanFieldListFilter):
    """A yes-or-no filter with a title of its own."""

    asked: str

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = type(self).asked


def person(request: HttpRequest) -> User:
    return cast(User, request.user)  # all admin views require a login


class SeenForm(ModelForm):
    """A form with optimistic locking: it rejects changes to a row that was saved since the page was made."""

    seen = SeenField()
    seen_fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not self.instance._state.adding:
            self.fields["seen"].initial = self._fingerprint(self.instance)

    def clean(self) -> dict[str, Any]:
        """Lock the row until it is saved, and compare it with what the person saw."""
        cleaned = super().clean() or self.cleaned_data
        if self.instance._state.adding:
            return cleaned
        rows = type(self.instance)._default_manager.select_for_update(no_key=True)
        stored = rows.filter(pk=self.instance.pk).first()
        if stored is None or cleaned.get("seen") != self._fingerprint(stored):
            self.add_error(None, SAVED_SINCE.format(self.instance._meta.verbose_name))
        return cleaned

    def _fingerprint(self, row: models.Model) -> str:
        return hashlib.sha256(repr([getattr(row, name) for name in self.seen_fields]).encode()).hexdigest()


class SeenAdmin(ModelAdmin):
    """An admin that saves only changed fields, since readers and workers write to the same rows."""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Add the fingerprint to the first fieldset where the row can be saved."""
        fieldsets: list[tuple[Any, dict[str, Any]]]
        fieldsets = [(name, {**options}) for name, options in super().get_fieldsets(request, obj)]
        names = [name for name in fieldsets[0][1]["fields"] if name != "seen"]
        may_save = obj is not None and self.has_change_permission(request, obj)
        fieldsets[0][1]["fields"] = [*names, "seen"] if may_save else names
        return fieldsets

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            super().save_model(request, obj, form, change)
        elif form.changed_data:
            obj.save(update_fields=form.changed_data)


class DeskAdmin(ModelAdmin):
    """An admin for long lists: no full count, and no lookups with NUL characters, which PostgreSQL rejects."""

    list_per_page = 50
    show_full_result_count = False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        return None if "\0" in object_id else super().get_object(request, object_id, from_field)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        if "\0" in search_term:
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(DeskAdmin):
    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
