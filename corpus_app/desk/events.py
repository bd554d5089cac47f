"""Read-only admin pages of the audit events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from corpus_app import actions
from corpus_app.curation import bulk
from corpus_app.curation.history import as_text
from corpus_app.desk.base import DeskAdmin, MomentFilter, WordsFilter
from corpus_app.models import CorpusEvent, Passage, Study

FACTS = {  # labels of event details; other names are shown as they are
    "added": "added",
    "entry": "name",
    "of": "number of the event",
    "other": "merged with it",
    "took": "taken from it",
    "what": "what was put back",
}
LIST = "corpus_app_corpusevent_changelist"
ACTS = (
    ("bulk_edit__id__exact", "admin:corpus_app_bulkedit_change"),
    ("import_job__id__exact", "admin:corpus_app_importjob_change"),
)
"""The parameters of the list that name an act, and the page of the act."""
IMPORT = "import_corpus"  # actor name of the import command
HIDDEN_FACTS = {"changes", "was", "model", "key", "digest"}  # shown elsewhere, or internal


def action_words(action: str) -> str:
    return str(_(actions.label(action)))


class ActionFilter(WordsFilter):
    words = staticmethod(action_words)


@admin.register(CorpusEvent)
class CorpusEventAdmin(DeskAdmin):
    list_display = ("when", "who", "what", "study", "reason", "corpus_version_number")
    list_filter = (("action", ActionFilter), ("at", MomentFilter))
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("study_key", "actor_name", "reason")
    search_help_text = _("A study's id, a name, or words of the reason.")
    date_hierarchy = "at"
    list_select_related = ("bulk_edit",)
    fields = (
        "when",
        "who",
        "what",
        "act_page",
        "study_page",
        "passage_page",
        "reason",
        "corpus_version_number",
        "what_changed",
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[CorpusEvent]:
        """Return the events; in the plain list a bulk edit is one entry, which leads to all of them."""
        events: QuerySet[CorpusEvent] = super().get_queryset(request)
        is_plain_list = request.resolver_match is not None and request.resolver_match.url_name == LIST
        if is_plain_list and not {"q", *(name for name, _ in ACTS)} & request.GET.keys():
            events = events.filter(Q(bulk_edit=None) | Q(action=bulk.HEADLINE))
        return events

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        return lookup in dict(ACTS) or bool(super().lookup_allowed(lookup, value, request))  # type: ignore[arg-type]

    @admin.display(description="part of")
    def act_page(self, event: CorpusEvent) -> str:
        for name, address in ACTS:
            if act := getattr(event, name.removesuffix("__id__exact")):
                return format_html('<a href="{}">{}</a>', reverse(address, args=[act.pk]), act)
        return "–"

    @admin.display(description="when", ordering="at")
    def when(self, event: CorpusEvent) -> str:
        return date_format(timezone.localtime(event.at), "DATETIME_FORMAT")

    @admin.display(description="who", ordering="actor_name")
    def who(self, event: CorpusEvent) -> str:
        return "Import" if event.actor_name == IMPORT else event.actor_name

    @admin.display(description="what", ordering="action")
    def what(self, event: CorpusEvent) -> str:
        if event.action == bulk.HEADLINE and event.bulk_edit:
            return str(event.bulk_edit)
        return action_words(event.action)

    @admin.display(description=_("study"), ordering="study_key")
    def study(self, event: CorpusEvent) -> str:
        return event.study_key

    @admin.display(description="corpus version", ordering="corpus_version_id")
    def corpus_version_number(self, event: CorpusEvent) -> int | str:
        return event.corpus_version_id or "–"

    @admin.display(description=_("study"))
    def study_page(self, event: CorpusEvent) -> str:
        found = Study.objects.filter(study_id=event.study_key).only("pk").first() if event.study_key else None
        if found is None:
            return event.study_key or "–"
        return format_html(
            '<a href="{}">{}</a>', reverse("admin:corpus_app_study_change", args=[found.pk]), event.study_key
        )

    @admin.display(description="passage")
    def passage_page(self, event: CorpusEvent) -> str:
        if event.passage_key is None:
            return "–"
        found = Passage.objects.filter(pk=event.passage_key).only("pk", "position").first()
        if found is None:
            return f"{event.passage_key}, deleted since"
        address = reverse("admin:corpus_app_passage_change", args=[found.pk])
        return format_html('<a href="{}">passage {}</a>', address, found.position + 1)

    @admin.display(description="what changed")
    def what_changed(self, event: CorpusEvent) -> str:
        changes, facts = list(_changes(event.detail)), list(_facts(event.detail))
        if not changes and not facts:
            return "–"
        return render_to_string("admin/corpus_app/event_detail.html", {"changes": changes, "facts": facts})

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _changes(detail: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield name, old and new text of each changed field; the new text of deleted rows is empty."""
    for field, change in _items(detail.get("changes")):
        before_after = change if isinstance(change, Mapping) else {"after": change}
        yield field, as_text(before_after.get("before")), as_text(before_after.get("after"))
    for row in _passages(detail):
        for field, change in _items(row.get("changes")):
            yield f"passage {row.get('revised')}: {field}", as_text(change.get("before")), as_text(change.get("after"))
        if "removed" in row:
            yield f"passage {row['removed']}", as_text(row.get("text")), ""
    for field, value in _items(detail.get("was")):
        if value not in (None, "", []) and field not in {"id", "position"}:
            yield field, as_text(value), ""


def _facts(detail: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in detail.items():
        if name in HIDDEN_FACTS or value in (None, "", [], {}):
            continue
        if name == "passages" and isinstance(value, list):
            added = sum("changes" not in row and "removed" not in row for row in _passages(detail))
            if added:
                yield "passages added", str(added)
            continue
        text = action_words(str(value)) if name == "what" else as_text(value)
        yield FACTS.get(name, name), text


def _passages(detail: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    rows = detail.get("passages")
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, Mapping) else []
