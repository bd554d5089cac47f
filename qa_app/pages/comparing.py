"""The page that compares two answers, or one question in both modes."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from qa_app.answers import asking, comparing, quota
from qa_app.answers.site_words import in_site_words
from qa_app.pages.caching import current, page_or_part
from qa_app.pages.errors import too_many
from qa_app.pages.forms import QuestionForm
from qa_app.pages.history import remember
from qa_app.pages.questions import timeout_page

_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
OTHER_MODE = {"beginner": "intermediate", "intermediate": "beginner"}


@current
@page_or_part
@require_http_methods(["GET", "HEAD", "POST"])
def compare(request: HttpRequest) -> HttpResponse:
    """Compare the answers `a` and `b` (ids or addresses); POST first asks the question of `a` in the other mode.

    `?answer=` twice comes from a list in which two answers are ticked.
    """
    if request.method == "POST":
        wait = quota.seconds_to_wait(request, "ask")
        return too_many(request, seconds=wait) if wait else _in_both_modes(request)
    if ticked := request.GET.getlist("answer"):
        return _see(dict(zip("ab", ticked, strict=False)))
    given = {side: request.GET.get(side, "").strip() for side in ("a", "b")}
    found = {side: _find(text) for side, text in given.items()}
    missing = [side.upper() for side, text in given.items() if text and found[side] is None]
    context: dict[str, Any] = {"given": given, "missing": missing}
    if found["a"] and found["b"]:
        context["compared"] = comparing.compare(
            found["a"], found["b"], is_same_engine=asking.has_one_engine(found["a"]["id"], found["b"]["id"])
        )
        context |= asking.collection_choices()
    response = render(request, "qa/compare.html", context, status=HTTPStatus.NOT_FOUND if missing else HTTPStatus.OK)
    if found["b"] and request.headers.get("X-Asked-Here"):  # sent by our script after a streamed answer
        remember(request, response, found["b"]["id"])
    return response


def _in_both_modes(request: HttpRequest) -> HttpResponse:
    first = _find(request.POST.get("a", ""))
    if first is None:
        raise Http404
    try:
        other = _ask_in_mode(OTHER_MODE[first["mode"]], first, quota.allowance(request))
    except asking.OutOfTime as late:
        return timeout_page(request, QuestionForm({"question": first["question"]}), late)
    response = _see({"a": first["id"], "b": other["id"]})
    remember(request, response, other["id"])
    return response


def _see(sides: dict[str, str]) -> HttpResponse:
    return HttpResponse(status=HTTPStatus.SEE_OTHER, headers={"Location": f"{reverse('compare')}?{urlencode(sides)}"})


def _ask_in_mode(mode: str, first: dict[str, Any], allowance: asking.Allowance) -> dict[str, Any]:
    """Ask an answer's question in this mode, without its collection or parent where these are gone."""
    try:
        return asking.ask(
            question=first["question"],
            mode=mode,
            collection=first["collection"],
            parent=first.get("parent"),
            filters=first["filters"],
            allowance=allowance,
        )
    except asking.BadQuestion:
        return asking.ask(question=first.get("understood_as") or first["question"], mode=mode, allowance=allowance)


def _find(text: str) -> dict[str, Any] | None:
    """Return the answer of an id, or of an address that ends in one."""
    answer_id = text.split("?")[0].split("#")[0].rstrip("/").rpartition("/")[2]
    found = asking.find_answer(answer_id) if _ID.fullmatch(answer_id) else None
    return in_site_words(found) if found else None
