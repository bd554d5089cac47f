"""What a visitor or a program is told when there is nothing to show."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if request.path.startswith("/api/"):
        return _problem(HTTPStatus.NOT_FOUND, "There is nothing at this address.")
    return render(request, "404.html", status=HTTPStatus.NOT_FOUND)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if request.path.startswith("/api/"):
        return _problem(HTTPStatus.BAD_REQUEST, "This request cannot be read: check its host, headers and form.")
    return render(request, "400.html", status=HTTPStatus.BAD_REQUEST)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith("/api/"):
        return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Something failed here. Please try again in a while.")
    return render(request, "500.html", status=HTTPStatus.INTERNAL_SERVER_ERROR)


def _problem(status: HTTPStatus, detail: str) -> JsonResponse:
    """A problem as clients of the API expect one, for what never reaches the API's own handler."""
    problem = {"type": "about:blank", "title": status.phrase, "status": status, "detail": detail, "errors": []}
    return JsonResponse(problem, status=status, content_type="application/problem+json")
