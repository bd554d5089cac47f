"""Admin pages that change the state of studies (submit, send back, publish, withdraw, notice) after confirmation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from corpus_app import curation, hooks
from corpus_app.desk import bulk, queue
from corpus_app.desk.base import curator, error_messages
from corpus_app.models import Study
from corpus_app.records import Notice, Status

MOST_AT_ONCE = 100  # studies changed while the page waits: some seconds
MOST_SHOWN = 200  # studies listed on the page; the others are counted


@dataclass(frozen=True, slots=True)
class StateChange:
    """A change of state: its name, the permission it takes, and the texts of its page."""

    verb: str
    title: str
    permission: str
    meaning: str
    button: str


SUBMIT = StateChange(
    "submit",
    "Hand studies over for review",
    "corpus_app.change_study",
    "They wait for somebody to read and publish them. Readers of the site see nothing of them yet.",
    "Hand over",
)
SEND_BACK = StateChange(
    "send_back",
    "Send studies back",
    "corpus_app.publish_study",
    "They become drafts again; the reason says what is to be mended.",
    "Send back",
)
PUBLISH = StateChange(
    "publish",
    "Publish studies",
    "corpus_app.publish_study",
    "Readers will see these studies, and answers will quote their passages.",
    "Publish",
)
WITHDRAW = StateChange(
    "withdraw",
    "Withdraw studies",
    "corpus_app.publish_study",
    "They are gone from search at once. Past answers stay, without these studies’ words.",
    "Withdraw",
)
NOTICE = StateChange(
    "notice",
    "Set the notice of studies",
    "corpus_app.set_notice_study",
    "Readers see the notice wherever these studies are cited. A retracted study is gone from search at once.",
    "Set the notice",
)
HIDING_CHANGES = (WITHDRAW, NOTICE)  # these can hide published text
CHANGES = {change.verb: change for change in (SUBMIT, SEND_BACK, PUBLISH, WITHDRAW, NOTICE)}


class ReasonForm(forms.Form):
    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "cols": 70}),
        max_length=2000,
        help_text=_("Kept with the study and in its history."),
        error_messages={"required": _("Give the reason: it is kept with the study and in its history.")},
    )

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if fault := curation.find_text_fault("reason", reason):
            raise forms.ValidationError(fault)
        return reason


class OptionalReasonForm(ReasonForm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["reason"].required = False
        self.fields["reason"].help_text = "May stay empty. Kept in the history."


class NoticeForm(ReasonForm):
    notice = forms.ChoiceField(
        choices=[
            ("", "Choose a notice"),
            *(
                (notice.value, notice.value.replace("_", " ").capitalize())
                for notice in Notice
                if notice is not Notice.NONE
            ),
            (Notice.NONE.value, "None: take the notice away"),
        ],
        error_messages={"required": "Choose the notice."},
    )
    field_order = ("notice", "reason")


FORMS: dict[str, type[ReasonForm]] = {
    "submit": OptionalReasonForm,
    "send_back": ReasonForm,
    "publish": OptionalReasonForm,
    "withdraw": ReasonForm,
    "notice": NoticeForm,
}


def change_state(model_admin: admin.ModelAdmin[Study], request: HttpRequest, verb: str) -> HttpResponse:
    """Ask for confirmation on GET for the studies `ids`; apply the change on POST."""
    change = CHANGES.get(verb)
    if change is None:
        raise Http404
    if not request.user.has_perm(change.permission):
        raise PermissionDenied
    posted = request.POST if request.method == "POST" else request.GET
    keys = ",".join(posted.getlist("ids")).split(",")  # one field, as Django limits the number of fields
    studies = Study.objects.filter(pk__in=[key for key in keys if key.isdecimal() and len(key) < 19])
    return confirm_or_apply(model_admin, request, change, list(studies), is_confirmed=request.method == "POST")


def ask(
    model_admin: admin.ModelAdmin[Study], request: HttpRequest, change: StateChange, studies: QuerySet[Study]
) -> HttpResponse:
    """Ask for confirmation; many studies are left to the worker, as a bulk edit."""
    chosen = list(studies[: MOST_AT_ONCE + 1])
    if len(chosen) <= MOST_AT_ONCE:
        return confirm_or_apply(model_admin, request, change, chosen, is_confirmed=False)
    return bulk.start(request, studies, changes={} if change is NOTICE else {"status": change.verb})


def confirm_or_apply(
    model_admin: admin.ModelAdmin[Study],
    request: HttpRequest,
    change: StateChange,
    studies: list[Study],
    *,
    is_confirmed: bool,
) -> HttpResponse:
    affected, left = _split_affected(change, studies, curator(request))
    form = FORMS[change.verb](request.POST if is_confirmed else None)
    if (
        is_confirmed
        and affected
        and form.is_valid()
        and (response := _apply(model_admin, request, change, affected, form))
    ):
        return response
    context = {
        **model_admin.admin_site.each_context(request),
        "title": _(change.title),
        "opts": model_admin.opts,
        "change": change,
        "affected": affected,
        "shown": affected[:MOST_SHOWN],
        "ids": ",".join(str(study.pk) for study in affected),
        "left": left,
        "impacts": hooks.impacts([study.study_id for study in affected])
        if change in HIDING_CHANGES and affected
        else None,
        "form": form,
        "back": _address_of(request, studies),
    }
    return TemplateResponse(request, "admin/corpus_app/study/change_state.html", context)


def _split_affected(change: StateChange, studies: list[Study], by: User) -> tuple[list[Study], list[tuple[Study, str]]]:
    """Split studies into those that the change applies to, and the others with the reason."""
    affected: list[Study] = []
    left: list[tuple[Study, str]] = []
    for study in sorted(studies, key=lambda study: study.study_id):
        if reason := _find_reason_left_out(change, study, by):
            left.append((study, reason))
        else:
            affected.append(study)
    return affected, left


def _find_reason_left_out(change: StateChange, study: Study, by: User) -> str | None:
    if change is PUBLISH:
        if study.status == Status.PUBLISHED:
            return "is published already."
        return (
            curation.find_obstacle(study)
            or curation.find_quality_obstacle(study)
            or curation.find_review_obstacle(study, by)
        )
    if change is SUBMIT:
        if study.status not in {Status.DRAFT, Status.WITHDRAWN}:
            return "is no draft."
        return curation.find_obstacle(study)
    if change is SEND_BACK and study.status != Status.IN_REVIEW:
        return "is not in review."
    if change is WITHDRAW and study.status != Status.PUBLISHED:
        return "is not published, so readers do not see it: delete what does not belong here."
    return None


def _apply(
    model_admin: admin.ModelAdmin[Study],
    request: HttpRequest,
    change: StateChange,
    affected: list[Study],
    form: ReasonForm,
) -> HttpResponse | None:
    ids, by, reason = [study.study_id for study in affected], curator(request), form.cleaned_data["reason"]
    try:
        if change is SUBMIT:
            done = curation.submit(ids, by=by, reason=reason)
        elif change is SEND_BACK:
            done = curation.send_back(ids, by=by, reason=reason)
        elif change is PUBLISH:
            done = curation.publish(ids, by=by, reason=reason)
        elif change is WITHDRAW:
            done = curation.withdraw(ids, by=by, reason=reason)
        else:
            done = curation.set_notice(ids, form.cleaned_data["notice"], by=by, reason=reason)
    except curation.CurationError as error:
        form.add_error(None, list(error_messages(error)))
        return None
    messages.success(request, f"{_DONE[change.verb]}: {', '.join(done) or 'nothing, it was so already'}.")
    if change in HIDING_CHANGES and done and form.cleaned_data.get("notice") != Notice.NONE.value:
        show_impacts(request, done)
    return HttpResponseRedirect(_address_of(request, affected))


def _address_of(request: HttpRequest, studies: Sequence[Study]) -> str:
    """Return the page of the only study, else the list as it was filtered last."""
    if len(studies) == 1:
        return reverse("admin:corpus_app_study_change", args=[studies[0].pk])
    return queue.list_address(request, unfiltered="")


def show_impacts(request: HttpRequest, studies: Sequence[str]) -> None:
    """Show messages that link to whatever depends on studies whose text is now hidden."""
    for found in hooks.impacts(list(studies)):
        if found.listed_at:
            words = '{}. <a href="{}">See which, and ask again</a>.'
            messages.info(request, format_html(words, found.headline, found.listed_at))


_DONE = {
    "submit": "Handed over",
    "send_back": "Sent back",
    "publish": "Published",
    "withdraw": "Withdrawn",
    "notice": "Notice set",
}
