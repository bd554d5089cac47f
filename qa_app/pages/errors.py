"""Error pages."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from qa_app.answers import quota


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "404.html", status=HTTPStatus.NOT_FOUND)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "400.html", status=HTTPStatus.BAD_REQUEST)


def too_many(request: HttpRequest, *, seconds: int) -> HttpResponse:
    """Render the page for a used-up quota, with a Retry-After header."""
    response = render(request, "429.html", {"wait": quota.in_words(seconds)}, status=HTTPStatus.TOO_MANY_REQUESTS)
    response["Retry-After"] = str(seconds)
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    return render(request, "500.html", status=HTTPStatus.INTERNAL_SERVER_ERROR)
