"""The base of the desk's admin classes: saving through `curation` in one act, and errors as messages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import ERROR_FLAG
from django.contrib.auth.models import User
from django.core.exceptions import NON_FIELD_ERRORS, BadRequest, ValidationError
from django.db import DataError, IntegrityError, ProgrammingError, models, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.safestring import mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext

from common.desk import SeenField
from corpus_app import curation
from corpus_app.records import QUESTION_LETTERS, question_lines
from corpus_app.sources import text_fault

CLASH = (
    "Nothing was saved: somebody else saved something at the same moment that stands in its way. "
    "Look again, then repeat."
)
UNANSWERABLE = "The address asked for something that cannot be looked up, so that part was left out."
SEEN_FIELDS = ("seen", "seen_version")
NOT_SAVED = "_not_saved"  # attribute of a request: the reasons why its form could not be saved
TEXT_FAULTS = "_faults"  # attribute of a request: the text faults in its form
CORRECT_BUTTON, WAIVE_BUTTON = "_mended", "_stands"  # the buttons that save despite these findings


def curator(request: HttpRequest) -> User:
    return cast(User, request.user)  # every admin view requires a signed-in user


if TYPE_CHECKING:  # generic for the type checker alone
    ModelForm = forms.ModelForm[Any]
    InlineFormSet = forms.BaseInlineFormSet[Any, Any, Any]
    ModelAdmin = admin.ModelAdmin[Any]
    StackedInline = admin.StackedInline[Any, Any]
    TabularInline = admin.TabularInline[Any, Any]
else:
    ModelForm = forms.ModelForm
    InlineFormSet = forms.BaseInlineFormSet
    ModelAdmin = admin.ModelAdmin
    StackedInline = admin.StackedInline
    TabularInline = admin.TabularInline


class CleanTextForm(ModelForm):
    """A form that refuses text with forbidden characters and shows why the last save failed.

    Browsers send line ends as carriage return and line feed; the text has line feeds, as before.
    """

    not_saved: tuple[str, ...] = ()  # reasons of the failed save, set by CurationAdmin.get_form

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name, value in list(cleaned.items()):
            if not isinstance(value, str):
                continue
            cleaned[name] = value.replace("\r\n", "\n")
            if fault := curation.find_text_fault(name, cleaned[name]):
                self.add_error(name, fault)
        for reason in self.not_saved:
            self.add_error(None, reason)
        return cleaned


class QuestionsForm(CleanTextForm):
    """A form for the questions that a row answers, one per line."""

    def clean_asked_as(self) -> str:
        """Return the questions one per line, without empty ones. Raises ValidationError when one is too long."""
        questions = question_lines(self.cleaned_data["asked_as"])
        if long := [question for question in questions if len(question) > QUESTION_LETTERS]:
            raise ValidationError(
                f"“{long[0][:40]}…” has {len(long[0])} characters; a question has at most {QUESTION_LETTERS}. "
                "Put each on a line of its own."
            )
        return "\n".join(questions)


class SeenForm(CleanTextForm):
    """A form that refuses to overwrite changes saved since the page was rendered, in the row or its inlines."""

    seen = SeenField()
    seen_fields: tuple[str, ...] = ()
    seen_inlines: Mapping[str, tuple[str, ...]] = {}  # fields by the related name of the inline

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not self.instance._state.adding:
            self.fields["seen"].initial = self._fingerprint_of(self.instance)

    def clean(self) -> dict[str, Any]:
        """Lock the row and add an error when it changed since the page was rendered."""
        cleaned = super().clean()
        if self.instance._state.adding:
            return cleaned
        rows = type(self.instance)._default_manager.select_for_update(no_key=True)
        stored = rows.filter(pk=self.instance.pk).first()
        if stored and cleaned.get("seen") != self._fingerprint_of(stored, lock=True):
            self.add_error(None, str(curation.EditConflict(f"this {stored._meta.verbose_name}")))
        return cleaned

    def _fingerprint_of(self, row: models.Model, *, lock: bool = False) -> str:
        parts: list[Any] = [getattr(row, name) for name in self.seen_fields]
        for inline, names in self.seen_inlines.items():
            rows = getattr(row, inline).order_by("pk")
            rows = rows.select_for_update(no_key=True) if lock else rows
            parts.append(list(rows.values_list("pk", *names)))
        return fingerprint(parts)


def fingerprint(values: list[Any]) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()


class LinesField(forms.CharField):
    """A list of short texts, one on each line."""

    def __init__(self, *, max_length: int = 200, rows: int = 4, **options: Any) -> None:
        options.setdefault("help_text", "One on each line.")
        super().__init__(widget=forms.Textarea(attrs={"rows": rows, "cols": 60}), required=False, **options)
        self.line_length = max_length

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def validate(self, value: Any) -> None:
        for line in value:
            if fault := text_fault(line, limit=self.line_length, one_line=True):
                raise ValidationError(f"“{line[:60]}” {fault}")
            if fault := curation.find_text_fault("", line):
                raise ValidationError(fault)

    def run_validators(self, value: Any) -> None:
        return

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(list(initial or []) != self.to_python(data))


class LabelledFormSet(InlineFormSet):
    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        if "DELETE" in form.fields:
            form.fields["DELETE"].widget.attrs["aria-label"] = (
                f"Delete {form.instance}" if form.instance.pk else "Delete"
            )


class LabelledTabularInline(TabularInline):
    """A tabular inline whose inputs have labels for screen readers."""

    formset = LabelledFormSet

    def formfield_for_dbfield(self, db_field: Any, request: Any, **options: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **options)
        if field is not None and field.widget is not None:
            field.label = gettext(str(field.label))
            widget: Any = getattr(field.widget, "widget", field.widget)  # unwrap RelatedFieldWidgetWrapper
            widget.attrs["aria-label"] = str(field.label)
        return field


class WordsFilter(admin.AllValuesFieldListFilter):
    """A filter over the values that occur, with readable labels."""

    words: Callable[[str], str]

    def choices(self, changelist: Any) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        every, *choices = map(dict, super().choices(changelist))
        yield every
        for choice in choices:
            value, bracket, count = str(choice["display"]).partition(" (")  # facet count, if shown
            yield {**choice, "display": f"{type(self).words(value)}{bracket}{count}"}


class EmptyLabelFilter(admin.RelatedFieldListFilter):
    """A filter by a related row, with a readable label for rows without one."""

    empty_label: str

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.empty_value_display = mark_safe(type(self).empty_label)  # noqa: S308 - a constant


class MomentFilter(admin.DateFieldListFilter):
    """A date filter with the title "when"."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = "when"


class DeskAdmin(ModelAdmin):
    """An admin class that answers queries PostgreSQL cannot run with a message instead of an error."""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fieldsets, without the locking fields for users who may only view."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        return [
            (name, {**options, "fields": [field for field in options["fields"] if field not in SEEN_FIELDS]})
            for name, options in fieldsets
        ]

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        return None if "\0" in object_id else super().get_object(request, object_id, from_field)

    def get_search_results(
        self, request: HttpRequest, queryset: models.QuerySet[Any], search_term: str
    ) -> tuple[models.QuerySet[Any], bool]:
        if "\0" in search_term:
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    def changelist_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        return self._catch_unanswerable_query(
            request, lambda: super(DeskAdmin, self).changelist_view(request, *args, **options)
        )

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        return self._catch_unanswerable_query(
            request, lambda: super(DeskAdmin, self).changeform_view(request, *args, **options)
        )

    def _catch_unanswerable_query(self, request: HttpRequest, view: Callable[[], Any]) -> HttpResponse:
        """Return the page; redirect to it without the query string when the database cannot run the query."""
        asked = [part for name, values in request.GET.lists() for part in (name, *values)]
        if ERROR_FLAG not in request.GET and not any("\0" in part for part in asked):
            try:
                with transaction.atomic():
                    return cast(HttpResponse, view())
            except (DataError, ProgrammingError) as error:
                if request.method == "POST" and isinstance(error, DataError):
                    raise BadRequest("What was posted holds what no row can hold.") from error
                if not asked or request.method == "POST":
                    raise
        self.message_user(request, UNANSWERABLE, messages.ERROR)
        return HttpResponseRedirect(request.path)


class CurationAdmin(DeskAdmin):
    """An admin class that saves a form and its inlines in one act, in `save_related`."""

    show_full_result_count = False
    list_per_page = 50

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Do nothing: `save_related`, which Django calls next, saves the row."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        with curation.act(by=curator(request)) as current:
            if WAIVE_BUTTON in request.POST and request.user.has_perm("corpus_app.add_qualitywaiver"):
                current.accept_broken_text(_read_waiver_reason(request))
            self.curate(request, form, formsets, change)
        for finding in current.doubted:
            text = f"Marked as unconfirmed, since no passage has its effect: {finding}. Choose its source."
            self.message_user(request, text, messages.WARNING)

    def curate(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        curation.save_entry(form.instance, by=curator(request))
        for formset in formsets:
            save_entries(request, formset)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        curation.delete_entry(obj, by=curator(request))

    def delete_queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        with curation.act(by=curator(request)):
            for obj in queryset:
                self.delete_model(request, obj)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form: Any = super().get_form(request, obj, change=change, **options)
        form.not_saved = getattr(request, NOT_SAVED, ())
        return form

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        """Show a form that could not be saved again, as it was typed, with the reasons."""
        view = super().changeform_view
        try:
            return view(request, *args, **options)
        except EXPECTED_ERRORS as error:
            setattr(request, NOT_SAVED, error_messages(error))
            setattr(request, TEXT_FAULTS, getattr(error, "faults", ()))
        return self._catch_expected_errors(request, lambda: view(request, *args, **options))

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        context["faults"] = getattr(request, TEXT_FAULTS, ())
        context["may_waive"] = request.user.has_perm("corpus_app.add_qualitywaiver")
        return super().render_change_form(request, context, *args, **options)

    def delete_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        return self._catch_expected_errors(
            request, lambda: super(CurationAdmin, self).delete_view(request, *args, **options)
        )

    def changelist_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        def view() -> Any:
            for key in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.opts.pk.to_python(key)
            return super(CurationAdmin, self).changelist_view(request, *args, **options)

        return self._catch_expected_errors(request, view)

    def _catch_expected_errors(self, request: HttpRequest, view: Callable[[], Any]) -> HttpResponse:
        """Return the view's response; turn an expected error, such as a conflict, into messages and a redirect."""
        try:
            return cast(HttpResponse, view())
        except EXPECTED_ERRORS as error:
            texts = error_messages(error)
        for text in texts:
            self.message_user(request, text, messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())


def _read_waiver_reason(request: HttpRequest) -> str:
    """Return the posted reason of a waiver. Raises ReasonMissing, or ValidationError for forbidden characters."""
    reason = request.POST.get("stands_because", "").strip()[:1_000]
    if not reason:
        raise curation.ReasonMissing
    if fault := curation.find_text_fault("reason", reason):
        raise ValidationError(fault)
    return reason


def correct_posted_texts(request: HttpRequest, texts: Mapping[str, str]) -> None:
    """Apply proposed corrections to the posted texts if that button was pressed.

    `texts` are the stored texts by form field; unchanged ones are left alone.
    """
    if request.method != "POST" or CORRECT_BUTTON not in request.POST:
        return
    posted = request.POST.copy()
    for name, stored in texts.items():
        if name in posted and posted[name] != stored:
            posted[name] = curation.correct_text(str(posted[name]))
    request.POST = posted  # type: ignore[assignment]  # as Django's own actions do


EXPECTED_ERRORS = (curation.CurationError, ValidationError, IntegrityError, models.ProtectedError)


def error_messages(error: Exception) -> tuple[str, ...]:
    """Return the reasons of an expected error in the nouns of the site."""
    return tuple(gettext(text) for text in _error_texts(error))


def _error_texts(error: Exception) -> tuple[str, ...]:
    if isinstance(error, curation.CurationError):
        return (str(error),)
    if not isinstance(error, ValidationError):
        return (CLASH,)
    if not hasattr(error, "error_dict"):
        return tuple(error.messages)
    return tuple(
        text if name == NON_FIELD_ERRORS else f"{capfirst(name.replace('_', ' '))}: {text}"
        for name, texts in error.message_dict.items()
        for text in texts
    )


def save_entries(request: HttpRequest, formset: Any) -> None:
    """Save the rows of an inline; deletions first, to free unique values."""
    saved = formset.save(commit=False)
    for entry in formset.deleted_objects:
        curation.delete_entry(entry, by=curator(request))
    for entry in saved:
        curation.save_entry(entry, by=curator(request))
