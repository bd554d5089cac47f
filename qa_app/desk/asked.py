"""Admin pages for answers and feedback; only the public listing can be changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from qa_app.answers import asking, listed, retracted, storing
from qa_app.desk import written
from qa_app.desk.base import ModeFilter, OutcomeFilter, ReadOnlyAdmin, WhenFilter, WhetherFilter, in_words, person
from qa_app.models import Answer, Feedback, Listing
from qa_app.templatetags.answer_words import mode_words

LIST = "qa_app.list_answer"
ASK = "qa_app.change_gap"  # the permission of those who manage gaps
MAX_QUESTIONS = 20  # asked again at a time, since each may take seconds


class ListedFilter(admin.SimpleListFilter):
    title = "public list"
    parameter_name = "listed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Shown to other readers"), ("no", "Not shown")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset if self.value() is None else queryset.filter(is_listed=self.value() == "yes")


class SourcesFilter(admin.SimpleListFilter):
    """Filters answers by what became of their sources."""

    title = "sources"
    parameter_name = "sources"
    kinds = {
        "again": ("Source withdrawn, not asked again", retracted.to_ask_again),
        "lost": ("Source withdrawn", retracted.with_lost_sources),
        "marked": ("Source corrected or of concern", retracted.with_notices),
        "changed": ("Text changed", retracted.with_changed_passages),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(key, words) for key, (words, _) in self.kinds.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        kind = self.kinds.get(self.value() or "")
        return queryset.filter(pk__in=kind[1]().values("pk")) if kind else queryset


class QuotesFilter(admin.SimpleListFilter):
    """Filters answers by quoted study; offered only where the address names one."""

    title = _("quoted study")
    parameter_name = "quotes"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        named = request.GET.get(self.parameter_name, "")
        return [(named, named.replace(",", ", "))] if named else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        named = (self.value() or "").split(",")
        return queryset.filter(pk__in=retracted.quoting_studies(named).values("pk")) if self.value() else queryset


@admin.register(Answer)
class AnswerAdmin(ReadOnlyAdmin):
    list_display = ("question", "came_out", "listed", "reader", "asked_at")
    list_filter = (
        ListedFilter,
        SourcesFilter,
        QuotesFilter,
        ("outcome", OutcomeFilter),
        ("mode", ModeFilter),
        ("created_at", WhenFilter),
    )
    search_fields = ("question",)
    search_help_text = "Words of a question."
    date_hierarchy = "created_at"
    fields = (
        "question", "page", "came_out", "shown", "reader", "collection", "corpus_version", "asked_at", "written",
        "settings",
    )  # fmt: skip
    readonly_fields = fields
    actions = ("ask_again", "list_publicly", "take_off_the_list")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Answer]:
        current = Listing.objects.filter(answer=OuterRef("pk"), taken_off_at=None)
        rows: QuerySet[Any] = super().get_queryset(request).annotate(is_listed=Exists(current))
        return rows.defer("payload", "drafts")

    # --- Asking again

    def has_ask_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(ASK)

    @admin.action(description="Ask again", permissions=["ask"])
    def ask_again(self, request: HttpRequest, queryset: QuerySet[Answer]) -> None:
        """Ask the selected questions again; each new page shows what has changed."""
        chosen = list(queryset.values_list("pk", "question"))
        for key, question in chosen[:MAX_QUESTIONS]:
            try:
                body = asking.ask_again(key)
            except (asking.BadQuestion, asking.OutOfTime) as error:
                self.message_user(request, f"“{question[:120]}” cannot be asked again: {error}", messages.ERROR)
                continue
            if body:
                page = f"{reverse('answer', args=[body['id']])}?since={key}"
                message = format_html('“{}”: <a href="{}">{}</a>', question[:120], page, in_words(body["outcome"]))
                self.message_user(request, message, messages.SUCCESS)
        if len(chosen) > MAX_QUESTIONS:
            words = f"The first {MAX_QUESTIONS} were asked again. Choose the others next."
            self.message_user(request, words, messages.WARNING)

    @admin.display(description="outcome", ordering="outcome")
    def came_out(self, answer: Answer) -> str:
        return in_words(answer.outcome)

    @admin.display(description="mode", ordering="mode")
    def reader(self, answer: Answer) -> str:
        return mode_words(answer.mode)

    @admin.display(description="asked at", ordering="created_at")
    def asked_at(self, answer: Answer) -> str:
        return _moment(answer.created_at)

    # --- What other readers are shown

    def has_list_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(LIST)

    @admin.action(description="List publicly", permissions=["list"])
    def list_publicly(self, request: HttpRequest, queryset: QuerySet[Answer]) -> None:
        chosen = list(queryset.values_list("pk", flat=True))
        fresh = listed.list_publicly(chosen, by=person(request), now=timezone.now())
        self._report(request, fresh, "Listed publicly.", "{} now shown to other readers.")
        if passed_over := len(chosen) - len(fresh):
            words = f"{_counted(passed_over)} left as it was: listed already, or no answer was given."
            self.message_user(request, words, messages.WARNING)

    @admin.action(description="Take off the public list", permissions=["list"])
    def take_off_the_list(self, request: HttpRequest, queryset: QuerySet[Answer]) -> None:
        chosen = list(queryset.values_list("pk", flat=True))
        gone = listed.unlist(chosen, by=person(request), now=timezone.now())
        self._report(request, gone, "Taken off the public list.", "{} no longer shown to other readers.")

    def _report(self, request: HttpRequest, answers: list[Answer], entry: str, words: str) -> None:
        for answer in answers:
            self.log_change(request, answer, entry)
        level = messages.SUCCESS if answers else messages.WARNING
        self.message_user(request, words.format(_counted(len(answers))), level)

    @admin.display(description="shown to others", ordering="is_listed")
    def listed(self, answer: Any) -> str:
        return "Yes" if answer.is_listed else ""

    @admin.display(description="shown to other readers")
    def shown(self, answer: Answer) -> SafeString | str:
        rows = list(_listing_history(answer.listings.select_related("listed_by", "taken_off_by")))
        if not rows:
            return "Not shown: nobody has approved it"
        return format_html('<ul class="plain">{}</ul>', format_html_join("", "<li>{}</li>", rows))

    @admin.display(description="as readers see it")
    def page(self, answer: Answer) -> SafeString:
        return format_html('<a href="{}">{}</a>', answer.get_absolute_url(), answer.get_absolute_url())

    # --- How it was made

    @admin.display(description="how it was written")
    def written(self, answer: Answer) -> str:
        if not answer.drafts:
            return "Nothing was written for it"
        context = {"attempts": list(written.attempts(storing.restore_drafts(answer)))}
        return render_to_string("admin/qa_app/answer/written.html", context)

    @admin.display(description="settings")
    def settings(self, answer: Answer) -> str:
        context = {"settings": list(written.settings(answer.policy.values)), "engine": answer.engine}
        return render_to_string("admin/qa_app/answer/settings.html", context)

    def view_on_site(self, obj: Answer) -> str:
        return obj.get_absolute_url()


def _listing_history(listings: Iterable[Listing]) -> Iterable[tuple[str]]:
    """Yield who listed the question and who took it off the list, newest first."""
    for row in listings:
        since = f"since {_moment(row.listed_at)}, approved by {row.listed_by or 'somebody who is gone'}"
        if row.taken_off_at:
            since += f"; taken off {_moment(row.taken_off_at)} by {row.taken_off_by or 'somebody who is gone'}"
        yield (since,)


def _moment(at: Any) -> str:
    return date_format(timezone.localtime(at), "DATETIME_FORMAT")


def _counted(n: int) -> str:
    return f"{n} question{'' if n == 1 else 's'} {'is' if n == 1 else 'are'}"


class HelpedFilter(WhetherFilter):
    asked = "whether it helped"


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    list_display = ("answer", "helped", "why", "words", "when")
    list_filter = (("is_helpful", HelpedFilter), ("given_at", WhenFilter))
    list_select_related = ("answer",)
    search_fields = ("words", "answer__question")
    search_help_text = "Words of the feedback or of the question."
    fields = ("about", "helped", "why", "words", "when")
    readonly_fields = fields

    @admin.display(description="it helped", boolean=True, ordering="is_helpful")
    def helped(self, feedback: Feedback) -> bool:
        return feedback.is_helpful

    @admin.display(description="when", ordering="given_at")
    def when(self, feedback: Feedback) -> str:
        return _moment(feedback.given_at)

    @admin.display(description="reasons")
    def why(self, feedback: Feedback) -> str:
        names = dict(Feedback.Reason.choices)
        return ", ".join(str(names.get(code, code)) for code in feedback.reasons) or "–"

    @admin.display(description="answer")
    def about(self, feedback: Feedback) -> SafeString:
        return format_html('<a href="{}">{}</a>', feedback.answer.get_absolute_url(), feedback.answer.question)
