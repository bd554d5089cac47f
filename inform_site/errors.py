"""Error responses outside views: a page for readers, problem+json for programs."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.defaults import permission_denied

from inform_site.api import problems
from inform_site.api.middleware import is_of_api
from inform_site.language import is_admin_request
from qa_app import pages

NOTHING_HERE = "There is nothing at this address. The addresses there are stand at /api/v1/docs/."
NOT_PERMITTED = "You may not do this."
UNREADABLE = "This request cannot be read: check its host, its headers and its body."
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
    if is_of_api(request):
        return problems.plain(HTTPStatus.INTERNAL_SERVER_ERROR, "failed", FAILED)
    return pages.server_error(request)
