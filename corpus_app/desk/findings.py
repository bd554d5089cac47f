"""Findings at the desk: edited on the page of their study, listed, and confirmed with the words of a passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from corpus_app import curation
from corpus_app.appraisal import EFFECT_FIELDS, effect_of
from corpus_app.curation import doubts
from corpus_app.desk.base import EXPECTED_ERRORS, QuestionsForm, StackedInline, curator, error_messages
from corpus_app.desk.history import HistoryMixin
from corpus_app.models import Finding, Passage, PassageSentence
from corpus_app.records import ORDINARY_KINDS, Section

_ROWS = {"asked_as": 3, "plain": 2, "statement": 3}
_NARROW = frozenset({"intervention", "comparator", "outcome"})  # two in a line


class FindingForm(QuestionsForm):
    """A finding with its plain words and its effect; the mark `unconfirmed` can be set here, not taken away."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.pk and self.instance.is_unconfirmed and (field := self.fields.get("is_unconfirmed")):
            field.disabled = True
            field.help_text = "Answers neither count nor quote it, until it is confirmed with its source."

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if not self.errors.keys() & set(EFFECT_FIELDS) and set(EFFECT_FIELDS) <= cleaned.keys():
            self._check_effect(cleaned)
        return cleaned

    def _check_effect(self, cleaned: dict[str, Any]) -> None:
        values = [cleaned[name] for name in EFFECT_FIELDS]
        measure, value, *_ = values
        if not measure and any(figure is not None for figure in values[1:4]):
            self.add_error("effect_measure", "Choose what the figures measure, or leave them out.")
        elif measure and value is None:
            self.add_error("effect_value", "Give the value of the effect, or choose no measure.")
        else:
            try:
                effect_of(*values)
            except ValueError as error:
                self.add_error("effect_value", f"The effect {error}")

    def clean_effect_unit(self) -> str:
        return str(self.cleaned_data["effect_unit"]).strip()


class FindingInline(StackedInline):
    model = Finding
    form = FindingForm
    template = "admin/corpus_app/study/findings.html"
    fields = (
        "statement",
        ("intervention", "comparator"),
        ("outcome", "direction"),
        ("effect_measure", "effect_value", "effect_lower", "effect_upper", "effect_level", "effect_unit"),
        "plain",
        ("lean", "is_unconfirmed"),
        "asked_as",
    )
    ordering = ("position",)
    extra = 0

    def formfield_for_dbfield(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.get_internal_type() == "TextField":
            cols = 40 if db_field.name in _NARROW else 90
            options["widget"] = forms.Textarea(attrs={"rows": _ROWS.get(db_field.name, 2), "cols": cols})
        return super().formfield_for_dbfield(db_field, request, **options)


class MissingFilter(admin.SimpleListFilter):
    title = "to write"
    parameter_name = "missing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("plain", "No plain sentence"), ("effect", "No effect as numbers")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        columns = {"plain": "plain", "effect": "effect_measure"}
        return queryset.filter(**{columns[self.value() or ""]: ""}) if self.value() in columns else queryset


class SourceForm(forms.Form):
    """The sentences of a passage that a finding rests on, or a new passage."""

    sentences = forms.MultipleChoiceField(required=False)
    section = forms.ChoiceField(choices=[(section.value, section.value.replace("_", " ")) for section in Section])
    kind = forms.ChoiceField(choices=[(kind.value, kind.value) for kind in ORDINARY_KINDS])
    page = forms.IntegerField(required=False, min_value=1, max_value=100_000)
    text = forms.CharField(
        required=False,
        max_length=60_000,
        label="New passage",
        widget=forms.Textarea(attrs={"rows": 5, "cols": 90}),
        help_text=_("Words of the study in which every figure of the finding stands."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        chosen, text = cleaned.get("sentences") or [], (cleaned.get("text") or "").strip()
        if fault := curation.find_text_fault("text", text):
            raise ValidationError(fault)
        if bool(chosen) == bool(text):
            raise ValidationError("Choose the sentences in which its figures stand, or add a passage that has them.")
        if len({choice.split(":")[0] for choice in chosen}) > 1:
            raise ValidationError("Choose sentences of one passage.")
        return cleaned


@dataclass(frozen=True, slots=True)
class ShownSentence:
    key: str
    """Its passage, start and end, as the form sends them."""
    text: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ShownPassage:
    passage: Passage
    missing: tuple[str, ...]
    """Figures of the finding that it lacks."""
    sentences: tuple[ShownSentence, ...]
    n_figures: int
    """Of the finding."""

    @property
    def verdict(self) -> str:
        """Return in words which figures of the finding it has; empty where the finding has none."""
        if not self.n_figures:
            return ""
        if len(self.missing) == self.n_figures:
            return "has none of its figures"
        return f"lacks {', '.join(self.missing)}" if self.missing else "has every figure"


@admin.register(Finding)
class FindingAdmin(HistoryMixin):
    list_display = ("study_id_", "statement", "outcome", "state")
    list_display_links = ("study_id_", "statement")
    list_filter = ("is_unconfirmed", MissingFilter, "study__status", "study__collection")
    list_select_related = ("study",)
    search_fields = ("statement", "plain", "intervention", "outcome", "study__study_id")
    search_help_text = _("Words of the finding, or its study’s id.")
    ordering = ("study__study_id", "position")
    actions = None

    @admin.display(description=_("study"), ordering="study__study_id")
    def study_id_(self, finding: Finding) -> str:
        return finding.study.study_id

    @admin.display(description="is", ordering="is_unconfirmed")
    def state(self, finding: Finding) -> str:
        return f"{'Unconfirmed, ' if finding.is_unconfirmed else ''}{finding.study.get_status_display().lower()}"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: findings are added and deleted on the page of their study."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a finding beside the passages of its study; on POST, confirm it with what was chosen there."""
        finding = self.get_object(request, object_id)
        if finding is None:
            messages.warning(request, "This finding doesn’t exist, or no longer.")
            return HttpResponseRedirect(reverse("admin:corpus_app_finding_changelist"))
        if not self.has_view_or_change_permission(request, finding):
            raise PermissionDenied
        may_confirm = finding.is_unconfirmed and self.has_change_permission(request, finding)
        rows = Prefetch("sentences", PassageSentence.objects.order_by("position"))
        passages = list(finding.study.passages.order_by("position").prefetch_related(rows))
        shown = sorted(_shown(finding, passages), key=lambda row: len(row.missing))
        form = SourceForm(request.POST if request.method == "POST" else None)
        keys = [sentence.key for row in shown for sentence in row.sentences]
        form.fields["sentences"].choices = [(key, key) for key in keys]  # type: ignore[attr-defined]
        if request.method == "POST":
            if not may_confirm:
                raise PermissionDenied
            if form.is_valid() and (response := self._confirm(request, finding, form, passages)):
                return response
        context = {
            **self.admin_site.each_context(request),
            "title": "Confirm a finding" if may_confirm else "Finding",
            "opts": self.opts,
            "finding": finding,
            "shown": shown,
            "form": form,
            "may_confirm": may_confirm,
            "may_add": request.user.has_perm("corpus_app.add_passage"),
            "version": finding.study.version,
            "study_address": f"{reverse('admin:corpus_app_study_change', args=[finding.study_id])}#findings-group",
        }
        return TemplateResponse(request, "admin/corpus_app/finding/confirm.html", context)

    def _confirm(
        self, request: HttpRequest, finding: Finding, form: SourceForm, passages: Sequence[Passage]
    ) -> HttpResponse | None:
        by, study_id, chosen = curator(request), finding.study.study_id, form.cleaned_data
        try:
            with curation.act(by=by):
                curation.expect_version(study_id, request.POST.get("version"), by=by)
                if chosen["sentences"]:
                    passage_id, words = _words(passages, chosen["sentences"])
                else:
                    passage_id, words = _add_passage(request, study_id, chosen), chosen["text"]
                curation.confirm_finding(finding.pk, passage_id=passage_id, words=words, by=by)
        except EXPECTED_ERRORS as error:
            for reason in error_messages(error):
                form.add_error(None, reason)
            return None
        follows = _("Answers may count and quote it once its study is published.")
        messages.success(request, f"Confirmed: {finding}. {follows}")
        if request.GET.get("back") == "study":
            return HttpResponseRedirect(reverse("admin:corpus_app_study_change", args=[finding.study_id]))
        return HttpResponseRedirect(f"{reverse('admin:corpus_app_finding_changelist')}?is_unconfirmed__exact=1")


def _shown(finding: Finding, passages: Sequence[Passage]) -> Iterator[ShownPassage]:
    """Yield the passages; of one that has all figures, the sentences with figures are chosen beforehand."""
    every = doubts.missing_in(finding, "")
    for passage in passages:
        missing = doubts.missing_in(finding, passage.text)
        sentences = []
        for row in passage.sentences.all():
            text = passage.text[row.start : row.end]
            has_figures = not missing and doubts.missing_in(finding, text) != every
            sentences.append(ShownSentence(f"{passage.pk}:{row.start}:{row.end}", text, has_figures))
        yield ShownPassage(passage, missing, tuple(sentences), len(every))


def _words(passages: Sequence[Passage], keys: Sequence[str]) -> tuple[int, str]:
    """Return the passage of the chosen sentences, and its words from the first of them to the last."""
    spans = [tuple(map(int, key.split(":"))) for key in keys]
    passage = next(passage for passage in passages if passage.pk == spans[0][0])
    return passage.pk, passage.text[min(start for _, start, _ in spans) : max(end for *_, end in spans)]


def _add_passage(request: HttpRequest, study_id: str, chosen: dict[str, Any]) -> int:
    if not request.user.has_perm("corpus_app.add_passage"):
        raise PermissionDenied
    values = {name: chosen[name] for name in ("text", "section", "kind", "page")}
    return curation.add_passage(study_id, by=curator(request), **values).pk
