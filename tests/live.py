"""A real ASGI server on a free port of the loopback, for tests whose client speaks through a socket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def serving(application: Any) -> Iterator[str]:
    """Serves `application` beside the test; gives the address of the server, without a slash at its end."""
    server = uvicorn.Server(
        uvicorn.Config(
            application, host="127.0.0.1", port=0, log_config=None, proxy_headers=False, timeout_graceful_shutdown=5
        )
    )
    has_started = threading.Event()
    announce = server.startup

    async def startup(*arguments: Any, **options: Any) -> None:
        await announce(*arguments, **options)
        has_started.set()

    server.startup = startup  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, name="live", daemon=True)
    thread.start()
    assert has_started.wait(60), "the server did not start"
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive(), "the server did not stop"
