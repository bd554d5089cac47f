"""ASGI middleware that limits request bodies before Django reads them.

A body with a declared length above the limit is not read; one without is read up to the limit. Only imports may exceed
64 KB, with an API key that permits them or a staff session.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.urls import Resolver404, resolve

from corpus_app.sources.intake import MAX_BYTES
from inform_site.api import access
from inform_site.api.bodies import LARGEST_BODY

ASGIApp = Callable[[Any, Any, Any], Awaitable[None]]  # scope, receive, send
Receive = Callable[[], Awaitable[Any]]

LARGEST_ADMIN_FORM = MAX_BYTES + 1_000_000  # bytes: an import file and the other fields of its form


def limit_bodies(site: ASGIApp) -> ASGIApp:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await site(scope, await _limit_body(scope, receive) if scope["type"] == "http" else receive, send)

    return application


async def _limit_body(scope: Any, receive: Receive) -> Receive:
    """Return the `receive` callable for the site: an empty body where the request will be refused."""
    headers = dict(scope["headers"])
    declared = headers.get(b"content-length", b"")
    length = int(declared) if declared.isdigit() else None
    view = _view(scope)
    if length == 0 or (length is None and scope["method"] in {"GET", "HEAD"} and b"transfer-encoding" not in headers):
        return receive
    usual, most = _limits(scope, view)
    if most > usual and (length is None or length > usual) and not await sync_to_async(_may_exceed_limit)(scope, view):
        most = usual if view is None else 0  # a login form is small; without a key nothing is read
    if (length is not None and length > most) or not most:
        return _EmptyBody()
    return receive if length is not None else _LimitedBody(receive, most)


def _view(scope: Any) -> Any:
    """Return the class of the API view of this path; None for a page."""
    try:
        found = resolve(scope["path"].removeprefix(scope.get("root_path", "")))
    except Resolver404:
        return None
    return getattr(found.func, "cls", None)


def _limits(scope: Any, view: Any) -> tuple[int, int]:
    """Return the byte limits for anybody and for an authorised sender."""
    if view is not None:
        return LARGEST_BODY, int(getattr(view, "largest_body", LARGEST_BODY))
    form = int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    return form, LARGEST_ADMIN_FORM if scope["path"].startswith("/admin/") else form


def _may_exceed_limit(scope: Any, view: Any) -> bool:
    """Return whether the sender may exceed the usual limit, by API key or by staff session."""
    request = ASGIRequest(scope, io.BytesIO())  # only its headers are read
    try:
        return _is_staff(request) if view is None else access.has_access(request, view)
    finally:
        connection.close()  # the request itself starts only once its body has arrived


def _is_staff(request: ASGIRequest) -> bool:
    sessions = import_module(settings.SESSION_ENGINE)
    request.session = sessions.SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    user = get_user(request)
    return user.is_active and user.is_staff


class _EmptyBody:
    """An empty body. Later calls never return, because waiting for a disconnect would request the rest of the body."""

    def __init__(self) -> None:
        self._is_sent = False

    async def __call__(self) -> Any:
        if self._is_sent:
            await asyncio.Future()
        self._is_sent = True
        return {"type": "http.request", "body": b"", "more_body": False}


class _LimitedBody:
    """A body that ends after the chunk that exceeds `most` bytes."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._left = receive, most

    async def __call__(self) -> Any:
        if self._left < 0:
            await asyncio.Future()
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return message if self._left >= 0 else message | {"more_body": False}
