"""The ASGI handler of the site, which runs each request in one thread from middleware to view."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler

MAX_IDLE_THREADS = 16  # threads kept for later requests; a request without one creates it


class OneThreadHandler(ASGIHandler):
    """An ASGI handler that runs the middleware and the view of a request in one reused thread.

    Django returns to the event loop between synchronous middleware and views, and creates a thread for each request.
    Both cost time and gain nothing here, because all our middleware is synchronous.
    """

    def __init__(self) -> None:
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
        self._middleware_chain = sync_to_async(chain, thread_sensitive=True)


def make_site() -> ASGIHandler:
    """Set Django up and return the handler."""
    django.setup(set_prefix=False)
    return OneThreadHandler()
