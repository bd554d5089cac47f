"""What is told where no view answers: a page to a reader, problem+json to a program."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse

from inform_site.api import problems
from inform_site.api.middleware import is_of_api
from qa_app import views

NOTHING_HERE = "There is nothing at this address. The addresses there are stand at /api/v1/docs/."
UNREADABLE = "This request cannot be read: check its host, its headers and its body."
FAILED = "Something failed here, and it has been noted. Please try again in a while."


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if is_of_api(request):
        return problems.plain(HTTPStatus.BAD_REQUEST, "malformed", UNREADABLE)
    return views.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if is_of_api(request):
        return problems.plain(HTTPStatus.NOT_FOUND, "not-found", NOTHING_HERE)
    return views.not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if is_of_api(request):
        return problems.plain(HTTPStatus.INTERNAL_SERVER_ERROR, "failed", FAILED)
    return views.server_error(request)
