"""Follow the question of an answer, the links of its mails, and its feed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.syndication.views import Feed
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import linebreaks
from django.utils.translation import get_language, gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from qa_app.answers import asking, quota
from qa_app.answers.payload import is_from_studies
from qa_app.following import followers, messages
from qa_app.models import AnswerChange, FollowedQuestion
from qa_app.pages.caching import current, page_or_part
from qa_app.pages.forms import translate

MAX_CHANGES = 20  # in a feed and on the page of a question
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # characters that XML forbids

if TYPE_CHECKING:
    QuestionFeed = Feed[AnswerChange, FollowedQuestion]
else:
    QuestionFeed = Feed


def offer(payload: dict[str, Any]) -> dict[str, Any] | None:
    """Return the context of the follow form; None where the answer cannot be followed."""
    return {"by_email": settings.FOLLOW_BY_EMAIL} if is_from_studies(payload) else None


@current
@page_or_part
@require_http_methods(["GET", "HEAD", "POST"])
def follow(request: HttpRequest, answer_id: str) -> HttpResponse:
    """Follow an answer by e-mail or feed: a page, or the form's own part for htmx."""
    payload = asking.find_answer(answer_id)
    if payload is None:
        raise Http404
    form = offer(payload)
    if form is None:
        raise Http404
    status = HTTPStatus.OK
    if request.method == "POST":
        if wait := quota.seconds_to_wait(request, "follow"):
            words = gettext("Too many requests from your address. Please try again in %(wait)s.")
            form["errors"], status = [words % {"wait": quota.in_words(wait)}], HTTPStatus.TOO_MANY_REQUESTS
        else:
            form |= _follow(request, answer_id)
            status = HTTPStatus.BAD_REQUEST if form.get("errors") else HTTPStatus.OK
        form["email"] = request.POST.get("email", "")[: followers.MAX_ADDRESS_LENGTH]
    template = "qa/_follow_question.html" if request.headers.get("HX-Request") else "qa/follow.html"
    return render(request, template, {"answer": payload, "follow": form}, status=status)


def _follow(request: HttpRequest, answer_id: str) -> dict[str, Any]:
    """Return what came of it, as the form's context."""
    try:
        if request.POST.get("by") == "feed":
            question = followers.follow_by_feed(answer_id)
            path = reverse("followed_feed", args=[question.pk]) if question else ""
            return {"feed": request.build_absolute_uri(path)}
        followers.follow_by_email(answer_id, request.POST.get("email", ""), language=get_language() or "")
    except followers.BadFollow as bad:
        return {"errors": [translate(bad)]}
    return {"is_sent": True}


def _by_signed_link(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Accept a post from wherever the link is opened, mail programs included (RFC 8058): the link is the right."""
    return never_cache(csrf_exempt(require_http_methods(["GET", "HEAD", "POST"])(view)))


@_by_signed_link
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Ask whether to confirm an address, and do it on POST: programs that open every link confirm nothing."""
    pk = _read(token)
    done = followers.confirm(pk) if request.method == "POST" else None
    follower = done or followers.find_follower(pk)
    is_done = done is not None or bool(follower and follower.confirmed_at)
    context = {"act": "confirm", "question": follower and follower.question, "is_done": is_done}
    status = HTTPStatus.OK if follower else HTTPStatus.GONE
    return render(request, "qa/follow_link.html", context, status=status)


@_by_signed_link
def unfollow(request: HttpRequest, token: str) -> HttpResponse:
    """Ask whether to stop, and erase the follower on POST."""
    pk = _read(token)
    if request.method == "POST":
        followers.stop(pk)
    follower = followers.find_follower(pk)
    context = {"act": "stop", "question": follower and follower.question, "is_done": request.method == "POST"}
    return render(request, "qa/follow_link.html", context)


def _read(token: str) -> int:
    pk = followers.read_token(token)
    if pk is None:
        raise Http404
    return pk


@current
@require_safe
def followed(request: HttpRequest, question_id: str) -> HttpResponse:
    """List how the answer to a followed question has changed."""
    question = _get_question(question_id)
    return render(request, "qa/followed.html", {"question": question, "changes": _changes(question)})


@current
@require_safe
def followed_feed(request: HttpRequest, question_id: str) -> HttpResponse:
    """Serve the Atom feed of a followed question, which goes on as long as somebody reads it."""
    followers.note_feed_reading(_get_question(question_id), timezone.now())
    return ChangesOfAnswer()(request, question_id=question_id)


def _get_question(question_id: str) -> FollowedQuestion:
    question = followers.find_question(question_id)
    if question is None:
        raise Http404
    return question


def _changes(question: FollowedQuestion) -> Sequence[AnswerChange]:
    return list(question.changes.select_related("before", "after")[:MAX_CHANGES])


class ChangesOfAnswer(QuestionFeed):
    feed_type = Atom1Feed
    item_guid_is_permalink = False

    def get_object(self, request: HttpRequest, *arguments: Any, **options: Any) -> FollowedQuestion:
        return _get_question(options["question_id"])

    def title(self, question: FollowedQuestion) -> str:
        return gettext("Changes: %(question)s") % {"question": UNPRINTABLE.sub(" ", question.answer.meant)}

    def link(self, question: FollowedQuestion) -> str:
        return reverse("followed", args=[question.pk])

    def items(self, question: FollowedQuestion) -> Sequence[AnswerChange]:
        return _changes(question)

    def item_title(self, item: AnswerChange) -> str:
        return gettext("The answer has changed")

    def item_description(self, item: AnswerChange) -> str:
        return linebreaks(UNPRINTABLE.sub(" ", messages.describe(item)), autoescape=True)

    def item_link(self, item: AnswerChange) -> str:
        return messages.page_of(item)

    def item_guid(self, item: AnswerChange) -> str:
        return f"urn:inform:answer-change:{item.pk}"

    def item_pubdate(self, item: AnswerChange) -> datetime:
        return item.at

    def item_updateddate(self, item: AnswerChange) -> datetime:
        return item.at
