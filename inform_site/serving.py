"""The site as the server calls it: each request in one thread, from the first middleware to the view and back."""

from __future__ import annotations

from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler


class OneThread(ASGIHandler):
    """Django's own comes back to the event loop between the middleware and the view, and once more for each middleware that
    looks at the view. All of ours is synchronous, so that each of these ways is two changes of threads for nothing.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)
        chain: Any = vars(self)["_middleware_chain"]
        self._middleware_chain = sync_to_async(chain, thread_sensitive=True)


def make_site() -> ASGIHandler:
    """The whole site, ready to be called."""
    django.setup(set_prefix=False)
    return OneThread()
