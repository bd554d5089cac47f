"""Errors of the API as problem+json (RFC 9457)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.http import Http404, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response

from inform_site import nouns
from inform_site.outage import FAILURES, RETRY_AFTER_SECONDS, outage

CONTENT_TYPE = "application/problem+json"
URN = "urn:inform:problem:"
CORRECT = "Correct what errors names and send the request again."
DATABASE_AWAY = "The database does not answer. Please try again in a few seconds."
MOST_ERRORS = 20

# The kinds of problems, and what each is called. One of an app's own is named by its exception's `default_code`.
TITLES: Mapping[str, str] = {
    "malformed": "The request cannot be read",
    "invalid": "Something in the request is not as it should be",
    "key-required": "A key is needed",
    "bad-key": "The key is not valid",
    "missing-scope": "The key may not do this",
    "not-permitted": "This is not permitted",
    "not-found": "Not found",
    "method-not-allowed": "Method not allowed",
    "not-acceptable": "There is no such format",
    "stale": "It was changed in the meantime",
    "version-needed": "The version is missing",
    "conflict": "This does not fit what is there",
    "gone": "No longer there",
    "not-possible": "This cannot be done",
    "too-large": "The request is too large",
    "unsupported-media-type": "Unsupported media type",
    "quota-used-up": "The quota is used up",
    "failed": "Something failed here",
    "unavailable": "Unavailable",
}
# What the framework says only half of.
ADVICE: Mapping[str, str] = {
    "not_acceptable": "This is not given in any form that Accept names. Leave Accept out, or accept application/json.",
    "unsupported_media_type": "Send the body as JSON, with Content-Type: application/json.",
    "method_not_allowed": "There is no such method here. Use one that Allow names.",
}
# What the framework calls them.
_KINDS: Mapping[str, str] = {
    "parse_error": "malformed",
    "not_authenticated": "key-required",
    "authentication_failed": "bad-key",
    "permission_denied": "not-permitted",
    "throttled": "quota-used-up",
    "error": "failed",
}


class Unavailable(exceptions.APIException):
    status_code = HTTPStatus.SERVICE_UNAVAILABLE
    default_detail = DATABASE_AWAY
    default_code = "unavailable"
    wait = RETRY_AFTER_SECONDS


class TooLarge(exceptions.APIException):
    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Handle an exception of a view; None for an unexpected one, which becomes a plain 500."""
    if isinstance(error, Http404):
        error = exceptions.NotFound(_said(error))
    if isinstance(error, FAILURES):
        outage.report()
        error = Unavailable()
    if not isinstance(error, exceptions.APIException):
        return None
    return Response(body_of(error), status=error.status_code, headers=_headers(error), content_type=CONTENT_TYPE)


def plain(status: HTTPStatus, kind: str, detail: str, headers: Mapping[str, str] | None = None) -> JsonResponse:
    """Return a problem response for a request that never reaches a view of the API."""
    return JsonResponse(
        _body(status, kind, detail), status=status, headers=dict(headers or {}), content_type=CONTENT_TYPE
    )


def body_of(error: exceptions.APIException) -> dict[str, Any]:
    if isinstance(error, exceptions.ValidationError):
        errors = list(_flat(error.detail))[:MOST_ERRORS]
        return _body(error.status_code, "invalid", CORRECT, errors=errors)
    code = str(getattr(error.detail, "code", error.default_code))
    kind = _KINDS.get(code, code.replace("_", "-"))
    is_of_framework = type(error).__module__ == exceptions.__name__
    said = ADVICE.get(code, str(error.detail)) if is_of_framework else str(error.detail)
    return _body(
        error.status_code, kind, said, errors=getattr(error, "errors", None), title=getattr(error, "title", None)
    )


def _body(
    status: int, kind: str, detail: str, *, errors: list[dict[str, str]] | None = None, title: str | None = None
) -> dict[str, Any]:
    return {
        "type": URN + kind,
        "title": title or TITLES.get(kind) or HTTPStatus(status).phrase,
        "status": int(status),
        "detail": nouns.in_use(detail),
        "errors": errors or [],
    }


def _flat(detail: Any, field: str = "") -> Iterator[dict[str, str]]:
    """Flatten the framework's nested details to rows of field, code and detail, with paths as `passages.2.text`."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            is_whole = name == "non_field_errors"
            yield from _flat(inner, field if is_whole else ".".join(filter(None, (field, str(name)))))
    elif isinstance(detail, list | tuple):
        for number, inner in enumerate(detail):
            is_nested = isinstance(inner, Mapping | list | tuple)
            yield from _flat(inner, ".".join(filter(None, (field, str(number)))) if is_nested else field)
    else:
        code = getattr(detail, "code", None) or "invalid"
        # names of fields are no words of ours: `studies` stays
        words = str(detail) if code == "unknown_field" else nouns.in_use(str(detail))
        yield {"field": field, "code": code, "detail": words}


def _headers(error: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if (wait := getattr(error, "wait", None)) is not None:
        headers["Retry-After"] = str(max(1, int(wait)))
    if present := getattr(error, "present_version", None):
        headers["ETag"] = f'"{present}"'
    return headers


def _said(error: Http404) -> str:
    """Return the view's own message; Django's default messages name models and patterns and stay private."""
    words = str(error.args[0]) if error.args and isinstance(error.args[0], str) else ""
    return words if words.endswith(".") else "There is nothing at this address."
