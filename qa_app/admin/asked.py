"""What was asked and what readers thought of it: to be read only."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from qa_app.admin.base import ReadOnlyAdmin
from qa_app.models import Answer, Feedback


@admin.register(Answer)
class AnswerAdmin(ReadOnlyAdmin):
    list_display = ("question", "outcome", "mode", "collection", "corpus_version", "created_at")
    list_filter = ("outcome", "mode", "created_at")
    search_fields = ("question",)
    search_help_text = "Words of a question."
    date_hierarchy = "created_at"
    fields = (
        "question", "page", "outcome", "mode", "collection", "corpus_version", "engine", "policy", "drafts", "created_at",
    )  # fmt: skip
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Answer]:
        rows: QuerySet[Answer] = super().get_queryset(request).defer("payload", "policy", "drafts")
        return rows

    @admin.display(description="as readers see it")
    def page(self, answer: Answer) -> SafeString:
        return format_html('<a href="{}">{}</a>', answer.get_absolute_url(), answer.get_absolute_url())

    def view_on_site(self, obj: Answer) -> str:
        return obj.get_absolute_url()


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    list_display = ("answer", "is_helpful", "why", "words", "given_at")
    list_filter = ("is_helpful", "given_at")
    list_select_related = ("answer",)
    search_fields = ("words", "answer__question")
    search_help_text = "Words of the feedback or of the question."
    fields = ("about", "is_helpful", "why", "words", "given_at")
    readonly_fields = fields

    @admin.display(description="reasons")
    def why(self, feedback: Feedback) -> str:
        names = dict(Feedback.Reason.choices)
        return ", ".join(str(names.get(code, code)) for code in feedback.reasons) or "—"

    @admin.display(description="answer")
    def about(self, feedback: Feedback) -> SafeString:
        return format_html('<a href="{}">{}</a>', feedback.answer.get_absolute_url(), feedback.answer.question)
