"""A real ASGI server on a free port of the loopback, for tests whose client speaks through a socket: streams come in
pieces, and whoever leaves is noticed.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

LONG = 60.0  # seconds; longer than an end ever takes


@contextmanager
def serving(application: Any) -> Iterator[str]:
    """Serves `application` from a thread of this process; gives the address of the server, without a slash at its end.

    Its socket listens before the server does: whoever is early waits for it.
    """
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(
            application, log_config=None, access_log=False, proxy_headers=False, timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), name="live", daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(LONG)
            assert not thread.is_alive(), "the server did not stop"
