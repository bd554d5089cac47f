"""Middleware of the API: request ids, quota headers, caching and cross-origin access."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable
from http import HTTPStatus
from time import perf_counter
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.http import ConditionalGetMiddleware
from django.urls import Resolver404, resolve
from django.utils.cache import get_conditional_response, patch_vary_headers, set_response_etag

from inform_site import logs
from inform_site.api import problems
from inform_site.clients.quotas import Taken

Handler = Callable[[HttpRequest], HttpResponse]

API = "/api/"
KEPT = "private, no-cache"  # a copy is asked for again before it is shown: words may be withdrawn
VARY = ("Accept", "Authorization", "X-API-Key")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
logger = logging.getLogger("inform_site.requests")

ANOTHER = "It is no longer what If-Match names. Read it without If-Match."
METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
SENT = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-API-Key, X-Request-ID"
READ = "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-ID"
PREFLIGHT_SECONDS = 600


UNENCRYPTED = "Send it to https://. Replace a key that was sent to http://, since others may have read it."


def is_of_api(request: HttpRequest) -> bool:
    """Return whether the request is for the API, including API views outside its prefix."""
    return f"{request.path}/".startswith(API) or getattr(request, "is_of_api", False)


def is_for_program(request: HttpRequest) -> bool:
    """Return whether the request is for the API, also before its path has been resolved to a view."""
    if is_of_api(request):
        return True
    try:
        return hasattr(resolve(request.path_info).func, "cls")
    except Resolver404:
        return False


class RequestId:
    """Add an id to every request, its response and its log lines; log no query, body or key."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = sent if _REQUEST_ID.fullmatch(sent) else uuid.uuid4().hex
        logs.request_id.set(request_id)  # and left so: Django logs a failure when all this is over
        start = perf_counter()
        response = self.get_response(request)
        milliseconds = 1000 * (perf_counter() - start)
        response["X-Request-ID"] = request_id
        if is_of_api(request):
            self._log(request, response, milliseconds)
        return response

    @staticmethod
    def _log(request: HttpRequest, response: HttpResponse, milliseconds: float) -> None:
        key = getattr(request, "api_key", None)
        address = getattr(
            request.resolver_match, "route", "-"
        )  # the pattern: an address may hold what a client made up
        logger.info(
            "%s /%s %s %.1f ms %s", request.method, address, response.status_code, milliseconds,
            key.client_id if key else "anonymous",
        )  # fmt: skip


class ApiResponses:
    """Add the headers that every response of the API has."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        taken = getattr(request, "quotas_taken", ())
        if taken:
            response["RateLimit-Policy"] = ", ".join(policy for one in taken for policy in _policies(one))
            response["RateLimit"] = ", ".join(left for one in taken for left in _left(one))
        if is_of_api(request):
            is_failure = response.status_code >= HTTPStatus.BAD_REQUEST
            response["Cache-Control"] = "no-store" if is_failure else response.get("Cache-Control", KEPT)
            patch_vary_headers(response, VARY)
            if (
                "Allow" in response
            ):  # the framework counts OPTIONS, which is answered to browsers of other origins alone
                response["Allow"] = response["Allow"].removesuffix(", OPTIONS")
        return response

    def process_view(self, request: HttpRequest, view: Any, arguments: Any, options: Any) -> None:
        if hasattr(view, "cls"):
            request.is_of_api = True  # type: ignore[attr-defined]


def _policies(taken: Taken) -> tuple[str, str]:
    """Format the quota as in draft-ietf-httpapi-ratelimit-headers."""
    return (
        f'"{taken.quota}-minute";q={taken.limits.per_minute};w=60',
        f'"{taken.quota}-day";q={taken.limits.per_day};w=86400',
    )


def _left(taken: Taken) -> tuple[str, str]:
    return (
        f'"{taken.quota}-minute";r={taken.left_in_minute};t={taken.seconds_of_minute}',
        f'"{taken.quota}-day";r={taken.left_in_day};t={taken.seconds_of_day}',
    )


class EncryptedApi:
    """Refuse API requests over plain HTTP in production: a redirect would hide that the key was readable on its way."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.SECURE_SSL_REDIRECT and not request.is_secure() and is_for_program(request):
            return problems.plain(HTTPStatus.FORBIDDEN, "not-permitted", UNENCRYPTED)
        return self.get_response(request)


class ApiConditional(ConditionalGetMiddleware):
    """Add ETag, 304 and 412 to API responses. A tag identifies exact bytes; HEAD behaves as GET."""

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        is_read = request.method in {"GET", "HEAD"} and response.status_code == HTTPStatus.OK
        if not is_of_api(request) or not is_read:
            return response
        if self.needs_etag(response) and "ETag" not in response:
            set_response_etag(response)
        if "ETag" not in response:
            return response
        answered: Any = get_conditional_response(request, etag=response["ETag"], response=response)
        if answered.status_code != HTTPStatus.PRECONDITION_FAILED:
            return answered
        if "If-Match" not in request.headers:  # If-Unmodified-Since, and nothing here has a date (RFC 9110, 13.1.4)
            return response
        return problems.plain(HTTPStatus.PRECONDITION_FAILED, "stale", ANOTHER, {"ETag": response["ETag"]})


class Cors:
    """Allow pages of the origins in `INFORM_CORS_ORIGINS` to call the API with a key, never with a cookie."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        origin = request.META.get("HTTP_ORIGIN", "")
        allowed = settings.CORS_ORIGINS
        if not allowed or not is_of_api(request):
            return self.get_response(request)
        is_allowed = "*" in allowed or origin in allowed
        is_preflight = request.method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META
        response = HttpResponse(status=HTTPStatus.NO_CONTENT) if is_preflight else self.get_response(request)
        patch_vary_headers(response, ("Origin",))
        if origin and is_allowed:
            response["Access-Control-Allow-Origin"] = "*" if "*" in allowed else origin
            if is_preflight:
                response["Access-Control-Allow-Methods"] = METHODS
                response["Access-Control-Allow-Headers"] = SENT
                response["Access-Control-Max-Age"] = str(PREFLIGHT_SECONDS)
            else:
                response["Access-Control-Expose-Headers"] = READ
        return response
