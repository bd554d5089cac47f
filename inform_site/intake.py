"""Bodies as they come in: Django takes one in whole before anything looks at its request, so what would be refused ends here.

A body that says it is larger than its address takes is not read; one that does not say is read up to there. One larger than
64 KB, which imports alone may be, is read from a client whose key opens them.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
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
    most = _most(scope, view)
    is_large = most > LARGEST_BODY and (length is None or length > LARGEST_BODY)
    if length == 0 or (length is None and scope["method"] in {"GET", "HEAD"} and b"transfer-encoding" not in headers):
        return receive
    if length is not None and length > most:
        return _Nothing()
    if is_large and view is not None and not await sync_to_async(_is_let_in)(scope, view):
        return _Nothing()
    return receive if length is not None else _UpTo(receive, most)


def _view(scope: Any) -> Any:
    """The class of the API's view that will be asked; None for a page."""
    try:
        found = resolve(scope["path"].removeprefix(scope.get("root_path", "")))
    except Resolver404:
        return None
    return getattr(found.func, "cls", None)


def _most(scope: Any, view: Any) -> int:
    if view is not None:
        return int(getattr(view, "largest_body", LARGEST_BODY))
    return AT_THE_DESK if scope["path"].startswith("/admin/") else settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def _is_let_in(scope: Any, view: Any) -> bool:
    try:
        return access.is_let_in(ASGIRequest(scope, io.BytesIO()), view)  # its headers are all that is looked at
    finally:
        connection.close()  # the request itself comes later, if its body does


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
