"""A signed cookie by which an account knows a browser that signed in to it before (OWASP: device cookies)."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from inform_site.accounts import throttle

COOKIE = "__Host-known_browser" if settings.PRODUCTION else "known_browser"
SALT = "inform.known_browser"
SECONDS = 180 * 86_400
MOST_ACCOUNTS = 5


def id_of(request: HttpRequest, name: str) -> str:
    """Return the id of the browser where this account knows it, else an empty text."""
    known = _read(request)
    return known["id"] if throttle.key_of("account", name) in known["accounts"] else ""


def remember(request: HttpRequest, response: HttpResponse, name: str) -> None:
    """Let the account know this browser. The cookie holds keyed hashes of names; it signs nobody in."""
    known = _read(request)
    key = throttle.key_of("account", name)
    accounts = [key, *(other for other in known["accounts"] if other != key)][:MOST_ACCOUNTS]
    response.set_cookie(
        COOKIE,
        signing.dumps({"id": known["id"], "accounts": accounts}, salt=SALT),
        max_age=SECONDS,
        secure=settings.PRODUCTION,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> dict[str, Any]:
    try:
        known: dict[str, Any] = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return {"id": secrets.token_urlsafe(16), "accounts": []}
    return known
