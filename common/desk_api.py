"""The base of the API views of both desks: the acting user, known parameters, pages, and refusals as HTTP problems."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar, cast

from django.contrib.auth.models import User
from django.http import Http404
from rest_framework import exceptions, generics
from rest_framework.request import Request
from rest_framework.response import Response

from common import parameters

TAG = ["Desk"]


class Stale(exceptions.APIException):
    status_code = HTTPStatus.PRECONDITION_FAILED
    default_code = "stale"

    def __init__(self, version: object) -> None:
        super().__init__(f"It is at version {version} now. Read it again, then make your change.")
        self.present_version = str(version)


class NotPossible(exceptions.APIException):
    """A refusal by the service layer; `errors` lists the reasons by field."""

    status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    default_code = "not_possible"

    def __init__(self, detail: str, errors: list[dict[str, str]] | None = None) -> None:
        super().__init__(detail)
        self.errors = errors


class DeskAPIView(generics.GenericAPIView[Any]):
    """Acts as the key's owner, and does what that person may do at the desk."""

    scope = "curate"
    quota: Mapping[str, str] = {"GET": "read", "POST": "write", "PATCH": "write", "DELETE": "write"}
    ordering: ClassVar[tuple[str, ...]] = ("pk",)
    known: ClassVar[tuple[str, ...]] = ()
    """The query parameters that the view accepts."""

    def initial(self, request: Request, *arguments: Any, **options: Any) -> None:
        super().initial(request, *arguments, **options)
        parameters.refuse_unknown(request, self.known, always=())

    def page(self, rows: Any, shape: Any) -> Response:
        """Return one page of a queryset, in the view's `ordering`."""
        found: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(shape(found, many=True).data)


def person(request: Request) -> User:
    return cast(User, request.user)  # a key that curates has an owner


def version_seen(request: Request) -> str | None:
    """Return the version in the If-Match header of a view that declares `if_match`."""
    return cast("str | None", request.version_seen)  # type: ignore[attr-defined]


def key_of(text: str, what: str) -> int:
    """Parse a row's key in a URL. Raises Http404 when it is no number."""
    if text.isascii() and text.isdecimal() and len(text) < 19:
        return int(text)
    raise Http404(f"There is no {what} with this id.")
