"""Admin page for followed questions: who waits, when they were told last, and what did not arrive."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from common.waking import wake
from qa_app.desk.base import ReadOnlyAdmin, in_words
from qa_app.following import followers
from qa_app.models import Delivery, FollowedQuestion

MANAGE = "qa_app.change_followedquestion"
MAX_SHOWN = 50  # deliveries with an error


class DeliveriesFilter(admin.SimpleListFilter):
    title = "messages"
    parameter_name = "deliveries"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("care", "Some did not arrive")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(failed__gt=0) if self.value() else queryset


@admin.register(FollowedQuestion)
class FollowedQuestionAdmin(ReadOnlyAdmin):
    list_display = (
        "question", "confirmed", "unconfirmed", "has_feed", "changed", "notified_at", "failed", "asked_version",
    )  # fmt: skip
    list_filter = (DeliveriesFilter,)
    list_select_related = ("answer",)
    search_fields = ("answer__question",)
    search_help_text = "Words of a question."
    fields = (
        "question", "page", "followers_by_channel", "unconfirmed", "has_feed", "asked_version", "notified_at",
        "history", "undelivered",
    )  # fmt: skip
    readonly_fields = fields
    actions = ("send_again",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return FollowedQuestion.objects.with_figures()

    def has_view_permission(self, request: HttpRequest, obj: FollowedQuestion | None = None) -> bool:
        """Allow those who may see readers' questions."""
        return super().has_view_permission(request, obj) and request.user.has_perm("qa_app.view_answer")

    def has_manage_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(MANAGE)

    @admin.action(description="Send again what did not arrive", permissions=["manage"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[FollowedQuestion]) -> None:
        """Send failed and uncertain messages of the selected questions once more."""
        chosen = Delivery.objects.filter(follower__question__in=list(queryset.values_list("pk", flat=True)))
        number = chosen.send_again(timezone.now())
        wake(followers.TASK)
        self.message_user(request, f"Messages that are sent again: {number}.", messages.SUCCESS)

    @admin.display(description="question", ordering="answer__question")
    def question(self, row: FollowedQuestion) -> str:
        return row.answer.meant[:200]

    @admin.display(description="answer now")
    def page(self, row: FollowedQuestion) -> SafeString:
        words = in_words(row.answer.outcome)
        return format_html('<a href="{}">{}</a>', row.answer.get_absolute_url(), words)

    @admin.display(description="followers", ordering="confirmed")
    def confirmed(self, row: Any) -> int:
        return int(row.confirmed)

    @admin.display(description="not yet confirmed", ordering="unconfirmed")
    def unconfirmed(self, row: Any) -> int:
        return int(row.unconfirmed)

    @admin.display(description="feed", boolean=True)
    def has_feed(self, row: FollowedQuestion) -> bool:
        return row.feed_read_at is not None

    @admin.display(description="changes", ordering="n_changes")
    def changed(self, row: Any) -> int:
        return int(row.n_changes)

    @admin.display(description="last told", ordering="notified_at")
    def notified_at(self, row: Any) -> Any:
        return row.notified_at

    @admin.display(description="not arrived", ordering="failed")
    def failed(self, row: Any) -> int:
        return int(row.failed)

    @admin.display(description="followers")
    def followers_by_channel(self, row: FollowedQuestion) -> str:
        counted = row.followers.filter(confirmed_at__isnull=False).order_by("channel").values_list("channel")
        return ", ".join(f"{channel}: {n}" for channel, n in counted.annotate(n=Count("pk"))) or "–"

    @admin.display(description="changes")
    def history(self, row: FollowedQuestion) -> SafeString | str:
        rows = [
            (f"{reverse('answer', args=[change.after_id])}?since={change.before_id}", f"{change.at:%Y-%m-%d %H:%M}")
            for change in row.changes.all()[:MAX_SHOWN]
        ]
        return format_html_join("", '<p><a href="{}">{}</a></p>', rows) or "It has not changed yet"

    @admin.display(description="messages that did not arrive")
    def undelivered(self, row: FollowedQuestion) -> SafeString | str:
        failed = Delivery.objects.filter(follower__question=row).exclude(error="").select_related("follower")
        rows = ((str(one.follower), one.get_status_display(), one.attempts, one.error) for one in failed[:MAX_SHOWN])
        return format_html_join("", "<p>{}: {}, attempt {}. {}</p>", rows) or "None"
