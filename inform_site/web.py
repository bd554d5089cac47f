"""The web processes of this machine, which accept connections on one socket: `python -m inform_site.web`.

The supervisor opens the socket and starts WEB_PROCESSES processes, each with an interpreter of its own. One that ends
is started again, while the others go on serving.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
from contextlib import suppress
from math import ceil
from typing import Any

import uvicorn
from django.conf import settings

from inform_site.environment import cores
from inform_site.supervisor import Supervisor

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")

BACKLOG = 2_048  # connections that the system holds until a process accepts them; as uvicorn's own
TURN_SECONDS = 0.005  # until a process that has connections accepts another, so that the others have their turn
ACCEPT_RETRY_SECONDS = 1.0  # where the system has no file descriptors left
STOP_SECONDS = 10  # for the responses under way
MAX_FAILURES = 5  # of a process that cannot start; one that was killed always comes back


def main(arguments: list[str] | None = None) -> int:
    """Run the web processes until they are asked to stop (0) or cannot start (1)."""
    parser = argparse.ArgumentParser(prog="python -m inform_site.web", description="Runs the web processes.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--socket", type=int, help=argparse.SUPPRESS)  # one process, on a socket that it inherits
    options = parser.parse_args(arguments)
    if options.socket is not None:
        return serve(options.socket)
    with bind(options.host, options.port) as listening, Supervisor() as supervisor:
        start(supervisor, listening)
        return supervisor.run()


def serve(inherited: int) -> int:
    """Serve the site from this process, on the socket with this file descriptor."""
    config = uvicorn.Config(
        "inform_site.asgi:application",
        access_log=False,
        proxy_headers=False,
        log_level="warning",
        backlog=BACKLOG,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    config.load()  # outside the event loop, since it asks the database for its release
    server = _Server(config)
    with socket.socket(fileno=inherited) as listening:
        server.run(sockets=[listening])
    return int(not server.started)


class _Server(uvicorn.Server):
    """A server that takes turns with other processes on its socket; uvicorn's own accepts all that waits at once."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])  # the application starts; nothing listens yet
        self._accepting = [asyncio.create_task(self._accept(listening)) for listening in sockets or []]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in self._accepting:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await super().shutdown(sockets=sockets)

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        listening.setblocking(False)
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
                await loop.connect_accepted_socket(self._protocol, connection)
            except OSError:
                await asyncio.sleep(ACCEPT_RETRY_SECONDS)
            if self.server_state.connections:
                await asyncio.sleep(TURN_SECONDS)

    def _protocol(self) -> asyncio.Protocol:
        protocol: Any = self.config.http_protocol_class
        made: asyncio.Protocol = protocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made


def bind(host: str, port: int) -> socket.socket:
    """Take the address of the web processes, without listening yet. Raises OSError where it is taken."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    return bound


def start(supervisor: Supervisor, bound: socket.socket) -> None:
    """Listen, and start the web processes; each gets its share of the cores and of the connections to the database.

    From here on the system holds connections until a process accepts them.
    """
    bound.listen(BACKLOG)
    number = settings.WEB_PROCESSES
    share = environment(
        threads=max(1, cores() // number // 2),
        DATABASE_POOL_SIZE=str(settings.DATABASE_POOL_SIZE or settings.WEB_POOL_SIZE),
        INFORM_REQUESTS_AT_ONCE=os.environ.get("INFORM_REQUESTS_AT_ONCE", "") or str(ceil(cores() / number) + 1),
    )
    for index in range(1, number + 1):
        supervisor.start(
            f"web {index}" if number > 1 else "web",
            [sys.executable, "-m", "inform_site.web", "--socket", str(bound.fileno())],
            environment=share,
            folder=settings.BASE_DIR,
            max_failures=MAX_FAILURES,
            files=[bound.fileno()],
        )


def environment(*, threads: int, **names: str) -> dict[str, str]:
    """Return our environment with offline models and a limited number of threads."""
    defaults = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": str(threads)}
    return defaults | os.environ | {"PYTHONUNBUFFERED": "1"} | names


if __name__ == "__main__":
    sys.exit(main())
