"""Admin pages of passages."""

from __future__ import annotations

import hashlib
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from common.desk import SeenField
from corpus_app import curation, hooks
from corpus_app.curation import gate, history
from corpus_app.desk import beside, encoder, text_quality
from corpus_app.desk.base import QuestionsForm, correct_posted_texts, curator
from corpus_app.desk.history import HistoryMixin
from corpus_app.desk.index_state import FAILED, INDEXED, WAITING, in_state, state_label, with_index_state
from corpus_app.models import CorpusEvent, Passage, Study

FIELDS = ("section", "kind", "page", "text", "asked_as")


class IndexedFilter(admin.SimpleListFilter):
    title = "indexed"
    parameter_name = "indexed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(INDEXED, "Yes"), (WAITING, "Waiting"), (FAILED, "Failed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return in_state(queryset, self.value() or "") if self.value() in (INDEXED, WAITING, FAILED) else queryset


class QualityFilter(admin.SimpleListFilter):
    title = "text"
    parameter_name = "text"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", "Blocks publishing"), ("unread", "Not looked at yet")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "open":
            return queryset.filter(pk__in=gate.known_blocked().values("pk"))
        return queryset.filter(pk__in=gate.stale_passages().values("pk")) if self.value() == "unread" else queryset


class PassageForm(QuestionsForm):
    seen = SeenField()

    class Meta:
        model = Passage
        fields = FIELDS
        widgets = {
            "text": forms.Textarea(attrs={"rows": 8, "cols": 90}),
            "asked_as": forms.Textarea(attrs={"rows": 3, "cols": 90}),
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["seen"].initial = _fingerprint(self.instance)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        # Lock the study's row first, as every writer does, to avoid deadlocks.
        Study.objects.select_for_update(no_key=True).filter(pk=self.instance.study_id).first()
        stored = Passage.objects.select_for_update(no_key=True).filter(pk=self.instance.pk).first()
        if stored and cleaned.get("seen") != _fingerprint(stored):
            self.add_error(None, str(curation.EditConflict("this passage")))
        return cleaned


def _source_context(passage: Passage) -> dict[str, Any]:
    """Return the template context of the source beside a passage, and of its neighbours."""
    others = passage.study.passages.order_by("position").values_list("pk", flat=True)
    return {
        "beside": beside.find_source(passage),
        "source_links": beside.source_links(passage.study),
        "passage_before": others.filter(position__lt=passage.position).last(),
        "passage_after": others.filter(position__gt=passage.position).first(),
    }


def _fingerprint(passage: Passage) -> str:
    values = "\0".join(str(getattr(passage, name)) for name in FIELDS)
    return hashlib.sha256(values.encode()).hexdigest()


@admin.register(Passage)
class PassageAdmin(HistoryMixin):
    form = PassageForm
    list_display = ("of_study", "number", "section", "beginning", "status", "is_indexed")
    list_display_links = ("of_study", "number", "beginning")
    list_filter = (IndexedFilter, QualityFilter, "section", "kind", "study__status", "study__collection")
    list_select_related = ("study",)
    search_fields = ("text", "heading", "study__study_id")
    search_help_text = _("Words of the passage or of the study's title, or a study's id.")
    ordering = ("study__study_id", "position")
    change_form_template = "admin/corpus_app/passage/change_form.html"
    actions = ("embed_passages_again",)
    fields = ("study_link", "source_heading", *FIELDS, "version", "text_changed_at", "is_indexed", "seen")
    readonly_fields = ("study_link", "source_heading", "version", "text_changed_at", "is_indexed")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Passage]:
        return with_index_state(super().get_queryset(request))

    @admin.display(description=_("study"), ordering="study__study_id")
    def of_study(self, passage: Passage) -> str:
        return passage.study.study_id

    @admin.display(description="no.", ordering="position")
    def number(self, passage: Passage) -> int:
        return passage.position + 1

    @admin.display(description="text")
    def beginning(self, passage: Passage) -> str:
        return f"{passage.text[:90]}…" if len(passage.text) > 90 else passage.text

    @admin.display(description=_("study is"), ordering="study__status")
    def status(self, passage: Passage) -> str:
        return passage.study.get_status_display()

    @admin.display(description="indexed")
    def is_indexed(self, passage: Passage) -> str:
        return state_label(passage)

    @admin.display(description=_("study"))
    def study_link(self, passage: Passage) -> str:
        address = reverse("admin:corpus_app_study_change", args=[passage.study_id])
        return format_html('<a href="{}">{}</a>', address, passage.study)

    def has_embed_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(encoder.PERMISSION)

    @admin.action(description="Embed again", permissions=["embed"])
    def embed_passages_again(self, request: HttpRequest, queryset: QuerySet[Passage]) -> None:
        asked = curation.embed_again(passages=list(queryset.values_list("pk", flat=True)), by=curator(request))
        self.message_user(request, f"{asked} passages will be embedded again.", messages.SUCCESS)

    def events_of(self, obj: Passage) -> QuerySet[CorpusEvent]:
        return history.of_passage(obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: passages are added on the page of their study."""
        return False

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **options: Any) -> Any:
        stored = self.get_object(request, object_id) if object_id else None
        correct_posted_texts(request, {"text": stored.text if stored else ""})
        return super().changeform_view(request, object_id, *args, **options)

    def curate(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        values = {name: form.cleaned_data[name] for name in FIELDS if name in form.changed_data}
        curation.revise_passage(form.instance.pk, by=curator(request), **values)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        if passage := context.get("original"):
            context["impacts"] = hooks.impacts([passage.study.study_id], [passage.pk])
            context |= _source_context(passage)
            context |= text_quality.context(request, [passage], back="passage")
        return super().render_change_form(request, context, *args, **options)

    def delete_model(self, request: HttpRequest, obj: Passage) -> None:
        curation.remove_passage(obj.pk, by=curator(request))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List the passages alone, without the derived rows that are deleted with them."""
        passages = list(objs)
        return [str(passage) for passage in passages], {"passages": len(passages)}, set(), []
