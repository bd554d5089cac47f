"""The answers of /api/v1/: parse, call the door, answer; every error is problem+json (RFC 9457)."""

from __future__ import annotations

from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from qa_app import asking

LARGEST_BODY = 64 * 1024  # bytes
FIELDS = ("question", "mode", "collection", "writer", "parent")
FRESH = {"Cache-Control": "private, no-cache"}  # words may be withdrawn: a copy is asked for again before it is shown
PROBLEM = "application/problem+json"


class BodyTooLarge(exceptions.APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = f"The request is larger than {LARGEST_BODY // 1024} KB. Send the question alone."
    default_code = "too_large"


class Unavailable(exceptions.APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "The database does not answer. Please try again in a few seconds."
    default_code = "unavailable"


class Invalid(exceptions.ValidationError):
    """Bad input, as `errors[]` of field, code and detail."""

    def __init__(self, errors: list[dict[str, str]]) -> None:
        super().__init__()
        self.errors = errors


@api_view(["POST"])
def create_answer(request: Request) -> Response:
    body = _body(request)
    try:
        payload = asking.ask(**_arguments(body))
    except asking.BadQuestion as bad:
        raise Invalid([{"field": bad.field, "code": bad.code, "detail": bad.detail}]) from bad
    headers = {"Location": f"/api/v1/answers/{payload['id']}"} | FRESH
    return Response(payload, status=status.HTTP_201_CREATED, headers=headers)


@api_view(["GET", "HEAD"])
def get_answer(request: Request, answer_id: str) -> Response:
    payload = asking.find_answer(answer_id)
    if payload is None:
        raise Http404("There is no answer with this id.")
    return Response(payload, headers=FRESH)


def _body(request: Request) -> dict[str, Any]:
    """The request's JSON object. Raises before anything dear is done."""
    try:
        length = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError as error:
        raise exceptions.ParseError("Content-Length is not a number of bytes.") from error
    if length > LARGEST_BODY or (not length and _measure(request) > LARGEST_BODY):
        raise BodyTooLarge
    try:
        data = request.data
    except UnicodeDecodeError as error:
        raise exceptions.ParseError("The body is not UTF-8.") from error
    except RecursionError as error:
        raise exceptions.ParseError("The body is nested too deeply.") from error
    if not isinstance(data, dict):
        raise exceptions.ParseError('Send a JSON object, such as {"question": "How many sets per week?"}.')
    return data


def _measure(request: Request) -> int:
    """Bytes of a body that came without its length, in chunks; it is kept for the parser, up to one byte too many."""
    sent = request._request
    body = sent.read(LARGEST_BODY + 1)
    sent._body = body
    sent.META["CONTENT_LENGTH"] = str(len(body))
    return len(body)


def _arguments(body: dict[str, Any]) -> dict[str, Any]:
    unknown = [field for field in body if field not in FIELDS]
    if unknown:
        fields = ", ".join(FIELDS)
        # JSON may name a field by half a surrogate pair, which cannot be sent back as it is.
        named = [f[:100].encode("utf-8", "backslashreplace").decode() for f in unknown[:20]]
        raise Invalid(
            [{"field": f, "code": "unknown_field", "detail": f"Leave it out; the fields are {fields}."} for f in named]
        )
    if "question" not in body:
        raise Invalid([{"field": "question", "code": "required", "detail": "Send the question as text."}])
    return {field: value for field, value in body.items() if value is not None or field == "question"}


def problem(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: problem+json with a sentence that says what to do; None for the unexpected."""
    if isinstance(error, Http404):
        error = exceptions.NotFound(str(error) or None)
    if isinstance(error, (OperationalError, InterfaceError)):
        error = Unavailable()
    if not isinstance(error, exceptions.APIException):
        return None
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    if isinstance(error, Unavailable):
        headers["Retry-After"] = "5"
    set_rollback()
    return Response(problem_body(error), status=error.status_code, headers=headers, content_type=PROBLEM)


def problem_body(error: exceptions.APIException) -> dict[str, Any]:
    if isinstance(error, Invalid):
        errors, detail = error.errors, "Correct the fields named in errors and send the request again."
    else:
        errors, detail = [], str(error.detail)
    return {
        "type": "about:blank",
        "title": TITLES.get(error.status_code, "Error"),
        "status": error.status_code,
        "detail": detail,
        "errors": errors,
    }


TITLES = {
    400: "Bad request",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    413: "Request too large",
    415: "Unsupported media type",
    503: "Unavailable",
}
