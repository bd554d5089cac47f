"""Error responses outside views: a page for readers, problem+json for programs."""

from __future__ import annotations

import sys
from functools import lru_cache
from http import HTTPStatus

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import translation
from django.views.defaults import permission_denied

from inform_site.api import problems
from inform_site.api.middleware import is_for_program, is_of_api
from inform_site.language import is_admin_request
from inform_site.outage import FAILURES, RETRY_AFTER_SECONDS, outage
from qa_app import pages

NOTHING_HERE = "There is nothing at this address. The addresses there are stand at /api/v1/docs/."
NOT_PERMITTED = "You may not do this."
UNREADABLE = "This request cannot be read: check its host, its headers and its body."
BUSY = "Too many requests are waiting here. Please try again in a few seconds."
FAILED = "Something failed here, and it has been noted. Please try again in a while."


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if is_of_api(request):
        return problems.plain(HTTPStatus.BAD_REQUEST, "malformed", UNREADABLE)
    return pages.bad_request(request, exception)


def not_permitted(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if is_of_api(request):
        return problems.plain(HTTPStatus.FORBIDDEN, "not-permitted", NOT_PERMITTED)
    if not is_admin_request(request):
        return permission_denied(request, exception or PermissionDenied())
    context = {**admin.site.each_context(request), "title": "Not for your role"}
    return render(request, "admin/403.html", context, status=HTTPStatus.FORBIDDEN)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if is_of_api(request):
        return problems.plain(HTTPStatus.NOT_FOUND, "not-found", NOTHING_HERE)
    return pages.not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if isinstance(sys.exc_info()[1], FAILURES):
        outage.report()
        return unavailable(request, is_busy=False)
    if is_of_api(request):
        return problems.plain(HTTPStatus.INTERNAL_SERVER_ERROR, "failed", FAILED)
    return pages.server_error(request)


def unavailable(request: HttpRequest, *, is_busy: bool) -> HttpResponse:
    """Return the 503 of a site that is overloaded (`is_busy`) or cannot reach its database, without using either."""
    wait = {"Retry-After": str(RETRY_AFTER_SECONDS), "Cache-Control": "no-store"}
    response: HttpResponse
    if is_for_program(request):
        detail = BUSY if is_busy else problems.DATABASE_AWAY
        response = problems.plain(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", detail, wait)
    else:
        page = _page(_language(request), is_busy)
        response = HttpResponse(page, status=HTTPStatus.SERVICE_UNAVAILABLE, headers=wait)
    vars(response)["_has_been_logged"] = True  # thousands of lines would say nothing new
    return response


def _language(request: HttpRequest) -> str:
    return settings.LANGUAGE_CODE if is_admin_request(request) else translation.get_language_from_request(request)


@lru_cache(maxsize=8)  # two pages in each language; making one takes a millisecond, and thousands may be refused
def _page(language: str, is_busy: bool) -> str:
    with translation.override(language):
        return render_to_string("503.html", {"is_busy": is_busy})
