"""Admin page for gaps: demand, nearest evidence and assignee."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from qa_app.desk.base import DeskAdmin, OutcomeFilter, SeenAdmin, SeenForm, WordsFilter, in_words
from qa_app.feedback import gaps
from qa_app.models import Gap


class GapForm(SeenForm):
    seen_fields = ("status", "assigned_to_id", "note")


class WhereFilter(WordsFilter):
    """Filters gaps by collection; an empty one means the whole corpus."""

    @staticmethod
    def words(value: str) -> str:
        return value or "The whole corpus"


@admin.register(Gap)
class GapAdmin(SeenAdmin, DeskAdmin):
    form = GapForm
    list_display = ("question", "demand", "came_out", "answered_now", "status", "assigned_to", "last_asked_at")
    list_filter = (
        "status",
        ("outcome", OutcomeFilter),
        ("collection", WhereFilter),
        ("assigned_to", admin.RelatedOnlyFieldListFilter),
    )
    list_select_related = ("assigned_to", "result")
    search_fields = ("question", "note", "followers__question")
    search_help_text = "Words of a question or of a note."
    ordering = None
    fieldsets = (
        (None, {"fields": (
            "question", "asked_as", "came_out", "collection", "demand", "first_asked_at", "last_asked_at",
        )}),
        ("What is missing", {"fields": ("missing_words", "nearest", "search_string", "answered_now")}),
        ("Looking after it", {"fields": ("status", "assigned_to", "note")}),
    )  # fmt: skip
    readonly_fields = (
        "question", "asked_as", "came_out", "collection", "demand", "first_asked_at", "last_asked_at", "missing_words",
        "nearest", "search_string", "answered_now",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Gap]:
        return gaps.list_leaders().order_by("-demanded", "-last_asked_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name == "assigned_to":
            options["queryset"] = User.objects.filter(is_staff=True, is_active=True).order_by("username")
        return super().formfield_for_foreignkey(db_field, request, **options)

    @admin.display(description="times asked", ordering="demanded")
    def demand(self, gap: Any) -> int:
        return int(gap.demanded)

    @admin.display(description="outcome", ordering="outcome")
    def came_out(self, gap: Gap) -> str:
        return in_words(gap.outcome)

    @admin.display(description="asked as")
    def asked_as(self, gap: Gap) -> SafeString:
        rows = ((member.question, member.asked) for member in gaps.list_members(gap))
        return format_html('<ul class="chosen">{}</ul>', format_html_join("", "<li>{} ({}×)</li>", rows))

    @admin.display(description="words that the nearest passages do not hold")
    def missing_words(self, gap: Gap) -> str:
        return ", ".join(gaps.missing_words(gap)) or "None: the words are there, the answer is not"

    @admin.display(description="nearest evidence")
    def nearest(self, gap: Gap) -> SafeString | str:
        rows = [
            (reverse("study", args=[row["study_id"]]), row["title"], row["section"].replace("_", " "), row["text"])
            for row in gaps.nearest(gap.last_answer)
        ]
        if not rows:
            return "Nothing came near"
        return format_html_join("", '<p><strong><a href="{}">{}</a></strong>, {}: {}</p>', rows)

    @admin.display(description="for a literature search")
    def search_string(self, gap: Gap) -> SafeString:
        return format_html("<code>{}</code>", gaps.search_string(gap))

    @admin.display(description="asked again")
    def answered_now(self, gap: Gap) -> SafeString | str:
        if gap.result is not None:
            return format_html('<a href="{}">Answered now</a>', gap.result.get_absolute_url())
        if gap.asked_again_version is None:
            return "Not yet"
        return f"Still open at corpus version {gap.asked_again_version}"
