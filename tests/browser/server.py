"""The site behind a real ASGI server, as readers meet it: streams come in pieces, and whoever leaves is noticed."""

from __future__ import annotations

import socket
import threading

import uvicorn
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application

LONG = 60.0  # seconds; longer than a start ever takes


class LiveServer:
    """Serves the database of the tests from a thread of this process, on a port that was free."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._socket = socket.create_server((host, 0))
        self.url = f"http://{host}:{self._socket.getsockname()[1]}"
        application = ASGIStaticFilesHandler(get_asgi_application())
        config = uvicorn.Config(
            application, lifespan="off", log_level="warning", access_log=False, timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="live-server")
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(LONG)
        self._socket.close()
