"""Bodies as they come in: Django takes one in whole before anything looks at its request, so what would be refused ends here.

A body that says it is larger than its address takes is not read; one that does not say is read up to there. One larger than
64 KB, which imports alone may be, is read from a client whose key opens them, and at the desk from whoever is signed in.
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

AT_THE_DESK = MAX_BYTES + 1_000_000  # a file, and the form around it


def guarded(site: ASGIApp) -> ASGIApp:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await site(scope, await _taken(scope, receive) if scope["type"] == "http" else receive, send)

    return application


async def _taken(scope: Any, receive: Receive) -> Receive:
    """What the site is to read the body by. Of what is refused it sees the headers alone, and says in its own words why."""
    headers = dict(scope["headers"])
    declared = headers.get(b"content-length", b"")
    length = int(declared) if declared.isdigit() else None
    view = _view(scope)
    if length == 0 or (length is None and scope["method"] in {"GET", "HEAD"} and b"transfer-encoding" not in headers):
        return receive
    usual, most = _limits(scope, view)
    if most > usual and (length is None or length > usual) and not await sync_to_async(_is_let_in)(scope, view):
        most = usual if view is None else 0  # whoever signs in sends a form; without a key nothing is looked at
    if (length is not None and length > most) or not most:
        return _Nothing()
    return receive if length is not None else _UpTo(receive, most)


def _view(scope: Any) -> Any:
    """The class of the API's view that will be asked; None for a page."""
    try:
        found = resolve(scope["path"].removeprefix(scope.get("root_path", "")))
    except Resolver404:
        return None
    return getattr(found.func, "cls", None)


def _limits(scope: Any, view: Any) -> tuple[int, int]:
    """Bytes that are read of anybody's body, and of one whose sender is let in."""
    if view is not None:
        return LARGEST_BODY, int(getattr(view, "largest_body", LARGEST_BODY))
    form = int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    return form, AT_THE_DESK if scope["path"].startswith("/admin/") else form


def _is_let_in(scope: Any, view: Any) -> bool:
    """By the key that an address of the API needs; at the desk by being signed in to it."""
    request = ASGIRequest(scope, io.BytesIO())  # its headers are all that is looked at
    try:
        return _is_at_desk(request) if view is None else access.is_let_in(request, view)
    finally:
        connection.close()  # the request itself comes later, if its body does


def _is_at_desk(request: ASGIRequest) -> bool:
    sessions = import_module(settings.SESSION_ENGINE)
    request.session = sessions.SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    user = get_user(request)
    return user.is_active and user.is_staff


class _Nothing:
    """No body. Whether the client leaves is not waited for: to read on would be to ask for the rest."""

    def __init__(self) -> None:
        self._is_told = False

    async def __call__(self) -> Any:
        if self._is_told:
            await asyncio.Future()
        self._is_told = True
        return {"type": "http.request", "body": b"", "more_body": False}


class _UpTo:
    """The body up to the chunk that goes beyond `most` bytes."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._left = receive, most

    async def __call__(self) -> Any:
        if self._left < 0:
            await asyncio.Future()
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return message if self._left >= 0 else message | {"more_body": False}
