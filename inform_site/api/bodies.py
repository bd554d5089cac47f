"""Strict parsing of request bodies: one JSON object of at most 64 KB with storable text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, NoReturn

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import UnreadablePostError
from rest_framework import exceptions, parsers

from inform_site.api import access, problems

LARGEST_BODY = 64 * 1024  # bytes
DEEPEST = 32  # objects and lists within each other
LONGEST_NUMBER = 40  # characters: more than any number that means something here
MARK = "\ufeff"
_UNFIT = re.compile("[\0\ud800-\udfff]")


class Encoded(exceptions.UnsupportedMediaType):
    default_detail = "The body is compressed. Send it as it is, without Content-Encoding."

    def __init__(self, media_type: str) -> None:
        super().__init__(media_type, self.default_detail)


class StrictJSONParser(parsers.BaseParser):
    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> dict[str, Any]:
        """Parse the body into an object. Raises ParseError, and ValidationError with the name of the bad field."""
        request = (parser_context or {}).get("request")
        if request is not None and request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            raise Encoded(media_type or "")
        try:
            text = stream.read().decode("utf-8")
            if text.startswith(MARK):
                raise exceptions.ParseError("The body begins with a byte order mark. Send UTF-8 without one.")
        except UnicodeDecodeError as error:
            raise exceptions.ParseError("The body is not UTF-8. Send JSON in UTF-8.") from error
        except UnreadablePostError as error:
            raise exceptions.ParseError("The body broke off. Send the request again.") from error
        return read_object(text)


def read_object(text: str) -> dict[str, Any]:
    """Parse a JSON object as in RFC 8259: no NaN, no repeated names. Raises ParseError and ValidationError."""
    try:
        read = json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_number, parse_int=_whole, parse_float=_fraction
        )
    except RecursionError as error:
        raise exceptions.ParseError(f"The body is nested too deeply: {DEEPEST} levels are allowed.") from error
    except ValueError as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise exceptions.ParseError(f"The body is not JSON{where}. Send a JSON object.") from error
    if not isinstance(read, dict):
        raise exceptions.ParseError('Send a JSON object, such as {"question": "How much shade?"}.')
    unfit = dict(_find_unfit(read, (), 1))
    if unfit:
        raise exceptions.ValidationError(unfit)
    return read


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise exceptions.ParseError(f"The body names {sendable(twice)} twice. Name each field once.")
    return found


def _no_number(word: str) -> NoReturn:
    raise exceptions.ParseError(f"The body holds {word}, which is no JSON. Leave the field out or send null.")


def _whole(digits: str) -> int:
    _refuse_long(digits)
    return int(digits)


def _fraction(digits: str) -> float:
    _refuse_long(digits)
    number = float(digits)
    if not math.isfinite(number):
        raise exceptions.ParseError("The body holds a number that is too large. Send a smaller one.")
    return number


def _refuse_long(digits: str) -> None:
    if len(digits) > LONGEST_NUMBER:
        raise exceptions.ParseError(
            f"The body holds a number of more than {LONGEST_NUMBER} digits. Send a shorter one."
        )


def _find_unfit(value: Any, path: tuple[str, ...], level: int) -> Iterator[tuple[str, list[exceptions.ErrorDetail]]]:
    """Find text that cannot be stored or returned: NUL and lone surrogates, in names and values."""
    if level > DEEPEST + 1:
        raise exceptions.ParseError(f"The body is nested too deeply: {DEEPEST} levels are allowed.")
    if isinstance(value, str) and _UNFIT.search(value):
        words = "This holds characters that are not text (NUL or half of a surrogate pair). Please leave them out."
        yield ".".join(path), [exceptions.ErrorDetail(words, code="not_text")]
    elif isinstance(value, dict):
        for name, inner in value.items():
            here = (*path, sendable(name))
            yield from _find_unfit(name, here, level)
            yield from _find_unfit(inner, here, level + 1)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _find_unfit(inner, (*path, str(number)), level + 1)


def sendable(name: str) -> str:
    """Shorten and clean a name from the client so that a response can contain it."""
    return name[:100].encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


class BodyLimit:
    """Middleware that refuses a body that is too large before it is parsed, chunked bodies included.

    A view may raise the limit by `largest_body` (bytes), and format problems by `shape_problem`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, arguments: Any, options: Any) -> HttpResponse | None:
        kind = getattr(view, "cls", None)
        if kind is None:  # not of the API
            return None
        most = getattr(kind, "largest_body", LARGEST_BODY)
        try:
            length = int(request.META.get("CONTENT_LENGTH") or 0)
        except ValueError:
            return _refused(
                kind, problems.plain(HTTPStatus.BAD_REQUEST, "malformed", "Content-Length is not a number of bytes.")
            )
        if length > most or (not length and _is_too_long(request, kind, most)):
            advice = f"The request is larger than {most // 1024} KB. Send less."
            return _refused(kind, problems.plain(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", advice))
        return None


def _refused(kind: Any, problem: HttpResponse) -> HttpResponse:
    if not hasattr(kind, "shape_problem"):
        return problem
    return JsonResponse(kind.shape_problem(json.loads(problem.content)), status=problem.status_code)


def _is_too_long(request: HttpRequest, kind: Any, most: int) -> bool:
    """Return whether a body without a declared length exceeds the limit.

    Do not read an upload before the client is known to be allowed to send it.
    """
    if request.method not in {"POST", "PUT", "PATCH"}:
        return False
    if most > LARGEST_BODY and not access.has_access(request, kind):
        return False  # the view refuses it
    return _measure(request, most) > most


def _measure(request: HttpRequest, most: int) -> int:
    """Return the bytes of a body without a declared length, counted to one past the limit; the parser reuses them."""
    body = request.read(most + 1)
    request._body = body
    request.META["CONTENT_LENGTH"] = str(len(body))
    return len(body)
