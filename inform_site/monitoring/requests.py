"""Counts and traces of requests, taken outside Django, so that refused ones are counted too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

from django.conf import settings
from django.db import connections

from common import metrics, tracing

ASGIApp = Callable[[Any, Any, Any], Awaitable[None]]  # scope, receive, send
KINDS = (
    ("/static/", "static"),
    ("/admin/", "desk"),
    ("/api/v1/desk/", "desk_api"),
    ("/api/", "api"),
    ("/mcp", "mcp"),
    ("/livez", "probe"),
    ("/readyz", "probe"),
    ("/metrics", "probe"),
)
"""Beginnings of addresses and the kind of request; the first that fits decides, and the rest are pages."""


def kind_of(path: str) -> str:
    """Return the kind of a request by its address: one of a few, whatever strangers send."""
    return next((kind for beginning, kind in KINDS if path.startswith(beginning)), "page")


def watch_requests(site: ASGIApp) -> ASGIApp:
    """Count each request and trace it, as far as settings ask for either."""
    if not (settings.METRICS or settings.TRACES):
        return site
    metrics.prepare()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await site(scope, receive, send)
            return
        kind, status, start = kind_of(scope["path"]), 0, perf_counter()
        try:
            with tracing.span(f"request {kind}", **{"http.request.method": scope["method"]}) as note:

                async def noted(message: Any) -> None:
                    nonlocal kind, status
                    if message["type"] == "http.response.start":
                        status = message["status"]
                        headers = _headers(message)
                        kind = "stream" if b"event-stream" in headers.get(b"content-type", b"") else kind
                        note("http.response.status_code", status)
                        note("request_id", headers.get(b"x-request-id", b"-").decode("latin-1"))
                    await send(message)

                await site(scope, receive, noted)
        except Exception:
            status = status or 500
            raise
        finally:
            metrics.count_request(kind, status, perf_counter() - start)
            _note_pool()

    return application


def _headers(message: Any) -> dict[bytes, bytes]:
    return {name.lower(): value for name, value in message.get("headers", ())}


def _note_pool() -> None:
    """Note the pool of this process; the wrapper of any thread knows it."""
    pool = getattr(connections["default"], "pool", None) if settings.METRICS else None
    if pool is not None:
        stats = pool.get_stats()
        idle = stats.get("pool_available", 0)
        metrics.set_pool(used=stats.get("pool_size", 0) - idle, idle=idle)
