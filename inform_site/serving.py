"""The site as the server calls it: each request in one thread, from the first middleware to the view and back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler

IDLE_MOST = 16  # threads kept for a next request; a request that finds none begins one


class OneThread(ASGIHandler):
    """Django's own comes back to the event loop between the middleware and the view, and once more for each middleware that
    looks at the view. All of ours is synchronous, so that each of these ways is two changes of threads for nothing.

    It also begins a thread with each request, and the event loop waits until that runs and until it has ended: here a thread
    that has served one request serves another.
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
        except BaseException:  # given up from outside, it may leave the thread at work
            thread.shutdown(wait=False)
            raise
        if len(self._idle) < IDLE_MOST:
            self._idle.append(thread)
        else:
            thread.shutdown(wait=False)

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)
        chain: Any = vars(self)["_middleware_chain"]
        self._middleware_chain = sync_to_async(chain, thread_sensitive=True)


def make_site() -> ASGIHandler:
    """The whole site, ready to be called."""
    django.setup(set_prefix=False)
    return OneThread()
