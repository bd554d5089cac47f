"""A visitor's own questions, stored in a signed cookie only."""

from __future__ import annotations

from http import HTTPStatus

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from qa_app.answers.history import summarize_answers

COOKIE = "__Host-asked" if settings.PRODUCTION else "asked"
MAX_REMEMBERED = 50
MAX_AGE_SECONDS = 180 * 24 * 3600
SEPARATOR = "~"  # never part of an id


def remember(request: HttpRequest, response: HttpResponse, answer_id: str) -> None:
    """Add an answer to the front of this browser's list."""
    _write_cookie(response, [answer_id, *(one for one in _read_cookie(request) if one != answer_id)])


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def history(request: HttpRequest) -> HttpResponse:
    """List the questions of this browser, newest first; POST forgets one or all (`forget`, `forget_all`) or adds one
    (`keep`).
    """
    if request.method != "POST":
        return render(
            request, "qa/history.html", {"asked": summarize_answers(_read_cookie(request)), "most_kept": MAX_REMEMBERED}
        )
    response = HttpResponse(status=HTTPStatus.SEE_OTHER, headers={"Location": reverse("history")})
    if "forget_all" in request.POST:
        _write_cookie(response, [])
    elif forgotten := request.POST.get("forget"):
        _write_cookie(response, [one for one in _read_cookie(request) if one != forgotten])
    elif found := summarize_answers([request.POST.get("keep", "").replace("\0", "")]):
        remember(request, response, found[0].answer_id)
    return response


def _read_cookie(request: HttpRequest) -> list[str]:
    """Return the answer ids in the cookie; empty where it is missing, expired or badly signed."""
    try:
        cookie = str(request.get_signed_cookie(COOKIE, max_age=MAX_AGE_SECONDS))
    except (KeyError, signing.BadSignature):
        return []
    return [answer_id for answer_id in cookie.split(SEPARATOR) if answer_id]


def read_value(cookie: str) -> list[str]:
    """Return the answer ids in the cookie's value, as a browser shows it; empty as in `_read_cookie`."""
    request = HttpRequest()
    request.COOKIES[COOKIE] = cookie.strip().strip('"')
    return _read_cookie(request)


def _write_cookie(response: HttpResponse, answer_ids: list[str]) -> None:
    if not answer_ids:
        response.delete_cookie(COOKIE, samesite="Lax")
        return
    response.set_signed_cookie(
        COOKIE,
        SEPARATOR.join(answer_ids[:MAX_REMEMBERED]),
        max_age=MAX_AGE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
