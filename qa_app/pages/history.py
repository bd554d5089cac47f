"""The visitor's own questions: their addresses in a signed cookie of this browser, and nowhere else."""

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

COOKIE = "asked"
MOST_KEPT = 50
KEPT_SECONDS = 180 * 24 * 3600
BETWEEN = "~"  # never part of an id


def remember(request: HttpRequest, response: HttpResponse, answer_id: str) -> None:
    """Puts an answer first among those that this browser asked for."""
    _keep(response, [answer_id, *(kept for kept in _kept(request) if kept != answer_id)])


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def history(request: HttpRequest) -> HttpResponse:
    """The questions asked in this browser, newest first. POST forgets one (`forget`), all (`forget_all`), or keeps one (`keep`)."""
    if request.method != "POST":
        return render(request, "qa/history.html", {"asked": summarize_answers(_kept(request)), "most_kept": MOST_KEPT})
    response = HttpResponse(status=HTTPStatus.SEE_OTHER, headers={"Location": reverse("history")})
    if "forget_all" in request.POST:
        _keep(response, [])
    elif forgotten := request.POST.get("forget"):
        _keep(response, [kept for kept in _kept(request) if kept != forgotten])
    elif found := summarize_answers([request.POST.get("keep", "").replace("\0", "")]):
        remember(request, response, found[0].answer_id)
    return response


def _kept(request: HttpRequest) -> list[str]:
    """Empty where the cookie is missing, too old, or was not signed by this site."""
    try:
        kept = str(request.get_signed_cookie(COOKIE, max_age=KEPT_SECONDS))
    except (KeyError, signing.BadSignature):
        return []
    return [answer_id for answer_id in kept.split(BETWEEN) if answer_id]


def _keep(response: HttpResponse, answer_ids: list[str]) -> None:
    if not answer_ids:
        response.delete_cookie(COOKIE, samesite="Lax")
        return
    response.set_signed_cookie(
        COOKIE,
        BETWEEN.join(answer_ids[:MOST_KEPT]),
        max_age=KEPT_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
