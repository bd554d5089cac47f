"""The ASGI handler of the site, which runs each request in one thread from middleware to view.

A request waits for one of a few places. Where the queue is full or the database is away, it is refused at once, with
Retry-After.
"""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import django
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, JsonResponse

from common.places import place
from common.postgresql.patience import patience
from inform_site.admission import Gate
from inform_site.outage import FAILURES, outage

MAX_IDLE_THREADS = 16  # threads kept for later requests; a request without one creates it
QUEUE_SECONDS = 0.5  # a request that has waited so long for a place is refused
DESK_SECONDS = 30.0  # how long a request of the desk may wait for the database
READINESS_SECONDS = 0.9
DESKS = ("/admin/", "/api/v1/desk/")
WITHOUT_DATABASE = ("/livez", "/readyz", "/static/", "/robots.txt", "/api/v1/health")
ASGIApp = Callable[[Any, Any, Any], Awaitable[None]]  # scope, receive, send
logger = logging.getLogger(__name__)


class OneThreadHandler(ASGIHandler):
    """An ASGI handler that runs the middleware and the view of a request in one reused thread.

    Django returns to the event loop between synchronous middleware and views, and creates a thread for each request.
    Both cost time and gain nothing here, because all our middleware is synchronous.
    """

    def __init__(self) -> None:
        self.gate = Gate(places=settings.REQUESTS_AT_ONCE, queue=settings.REQUESTS_WAITING, seconds=QUEUE_SECONDS)
        super().__init__()
        self._idle: list[ThreadPoolExecutor] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            thread = self._idle.pop()
        except IndexError:
            thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="request")
        try:
            async with ThreadSensitiveContext(executor=thread):
                await super().__call__(scope, receive, send)
        except BaseException:  # a cancelled request may leave its thread busy
            thread.shutdown(wait=False)
            raise
        if len(self._idle) < MAX_IDLE_THREADS:
            self._idle.append(thread)
        else:
            thread.shutdown(wait=False)

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)
        chain: Any = vars(self)["_middleware_chain"]
        gate = self.gate

        async def admitted(request: HttpRequest) -> Any:
            from inform_site import errors

            if request.path.startswith("/static/"):  # a moment's work, and every page needs it
                return await sync_to_async(chain, thread_sensitive=True)(request)
            if not await gate.enter():
                return errors.unavailable(request, is_busy=True)
            return await _work(gate, chain, request)

        self._middleware_chain = admitted


async def _work(gate: Gate, chain: Callable[[HttpRequest], Any], request: HttpRequest) -> Any:
    """Run the request in its thread, and give its place back when the thread is free, even if the client has left."""
    loop = asyncio.get_running_loop()
    places = [gate]

    def leave() -> None:
        if places:
            places.pop().leave()

    def leave_soon() -> None:
        with suppress(RuntimeError):  # the loop has ended, and its gate with it
            loop.call_soon_threadsafe(leave)

    is_begun = False

    def run() -> Any:
        nonlocal is_begun
        is_begun = True
        try:
            seconds = DESK_SECONDS if request.path.startswith(DESKS) else settings.DATABASE_SECONDS
            with patience(seconds), place(leave_soon):
                return chain(request)
        finally:
            close_old_connections()  # a slow reader of the response holds none
            leave_soon()

    try:
        return await sync_to_async(run, thread_sensitive=True)()
    except asyncio.CancelledError:
        if not is_begun:
            leave()
        raise


def refuse_early(site: ASGIApp, gate: Gate) -> ASGIApp:
    """Answer /livez, /readyz and what cannot be served now in the event loop, before any thread is taken."""
    readiness = _Readiness()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await site(scope, receive, send)
            return
        path, is_read = scope["path"], scope["method"] in {"GET", "HEAD"}
        if path == "/livez" and is_read:
            await _send(scope, send, JsonResponse({"ok": True}))
        elif path == "/readyz" and is_read:
            await _send(scope, send, await readiness.response())
        elif gate.is_full and not path.startswith("/static/"):
            await _refuse(scope, send, is_busy=True)
        elif outage.is_on and not path.startswith(WITHOUT_DATABASE):
            await _refuse(scope, send, is_busy=False)
        else:
            await _serve(site, scope, receive, send)

    return application


async def _serve(site: ASGIApp, scope: Any, receive: Any, send: Any) -> None:
    """Serve the request; refuse it where the database fails before the response has begun."""
    is_begun = False

    async def noted(message: Any) -> None:
        nonlocal is_begun
        is_begun = True
        await send(message)

    try:
        await site(scope, receive, noted)
    except FAILURES:
        outage.report()
        if is_begun:
            raise
        await _refuse(scope, send, is_busy=False)


async def _refuse(scope: Any, send: Any, *, is_busy: bool) -> None:
    from inform_site import errors

    await _send(scope, send, errors.unavailable(ASGIRequest(scope, io.BytesIO()), is_busy=is_busy))


async def _send(scope: Any, send: Any, response: HttpResponse) -> None:
    response["Content-Length"] = str(len(response.content))
    response.setdefault("Cache-Control", "no-store")
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else response.content})


class _Readiness:
    """The response of /readyz within a second, whatever the database does. One check serves all who ask meanwhile."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="readiness")
        self._check: asyncio.Future[Any] | None = None

    async def response(self) -> JsonResponse:
        from inform_site import health

        if self._check is None or self._check.done():
            self._check = asyncio.get_running_loop().run_in_executor(self._thread, health.state)
        try:
            body, status = await asyncio.wait_for(asyncio.shield(self._check), READINESS_SECONDS)
        except TimeoutError:
            outage.report()
            body, status = health.away(), HTTPStatus.SERVICE_UNAVAILABLE
        except Exception:
            logger.exception("The readiness check failed")
            body, status = health.away(), HTTPStatus.SERVICE_UNAVAILABLE
        return JsonResponse(body, status=status)


def make_site() -> OneThreadHandler:
    """Set Django up and return the handler."""
    django.setup(set_prefix=False)
    return OneThreadHandler()
