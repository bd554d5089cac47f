"""Who did what when: to be read only."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html

from corpus_app.admin.base import DeskAdmin
from corpus_app.models import CorpusEvent


@admin.register(CorpusEvent)
class CorpusEventAdmin(DeskAdmin):
    list_display = ("at", "actor_name", "action", "study_key", "passage_key", "reason", "corpus_version_number")
    list_filter = ("action", "at")
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("study_key", "actor_name", "reason")
    search_help_text = "A study's id, a name, or words of the reason."
    date_hierarchy = "at"
    fields = (
        "at",
        "actor_name",
        "action",
        "study_key",
        "passage_key",
        "reason",
        "corpus_version_number",
        "what_changed",
    )
    readonly_fields = fields

    @admin.display(description="corpus version", ordering="corpus_version_id")
    def corpus_version_number(self, event: CorpusEvent) -> Any:
        return event.corpus_version_id

    @admin.display(description="what changed")
    def what_changed(self, event: CorpusEvent) -> str:
        return format_html('<pre class="what-changed">{}</pre>', json.dumps(event.detail, indent=2, ensure_ascii=False))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
