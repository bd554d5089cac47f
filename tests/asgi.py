"""A client of the real ASGI application, in its event loop: it reads what is sent, and leaves when it likes."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

LONG = 60.0  # seconds; longer than anything here takes, however busy the machine


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    id: str
    data: dict[str, Any]


class Connection:
    """One request under way."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.gone = asyncio.Event()
        self.comments: list[str] = []
        self._sent: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._started = asyncio.Event()
        self._rest = b""

    async def receive(self, body: list[bytes]) -> dict[str, Any]:
        if body:
            return {"type": "http.request", "body": body.pop(), "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if self.gone.is_set():
            raise OSError("The client has gone.")  # as servers do
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
            self._started.set()
            return
        if message.get("body"):
            self._sent.put_nowait(message["body"])
        if not message.get("more_body"):
            self._sent.put_nowait(None)

    async def started(self) -> None:
        async with asyncio.timeout(LONG):
            await self._started.wait()

    async def piece(self) -> str | None:
        """What stands before the next empty line; None at the end."""
        while b"\n\n" not in self._rest:
            async with asyncio.timeout(LONG):
                sent = await self._sent.get()
            if sent is None:
                assert self._rest == b"", "the stream ends within an event"
                return None
            self._rest += sent
        piece, _, self._rest = self._rest.partition(b"\n\n")
        return piece.decode()

    async def next(self) -> Event | None:
        """The next event; None at the end. Comments are noted."""
        while (piece := await self.piece()) is not None:
            if piece.startswith(":"):
                self.comments.append(piece)
                continue
            fields = dict(line.split(": ", 1) for line in piece.split("\n"))
            assert list(fields) == ["event", "id", "data"]
            return Event(fields["event"], fields["id"], json.loads(fields["data"]))
        return None

    async def rest(self) -> list[Event]:
        events = []
        while (event := await self.next()) is not None:
            events.append(event)
        return events

    async def body(self) -> Any:
        """The whole body, of an answer that is no stream."""
        pieces = []
        async with asyncio.timeout(LONG):
            while (piece := await self._sent.get()) is not None:
                pieces.append(piece)
        return json.loads(b"".join(pieces))


@asynccontextmanager
async def posting(application: Callable[..., Any], path: str, body: Any, **headers: str) -> AsyncIterator[Connection]:
    """A request that the client leaves at the end of the block; then the application has come to its end with it."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"host": "127.0.0.1", "content-type": "application/json", "content-length": str(len(sent))}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": path, "scheme": "http",
        "raw_path": path.encode(), "query_string": b"", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }  # fmt: skip
    connection, left = Connection(), [sent]
    task = asyncio.create_task(application(scope, lambda: connection.receive(left), connection.send))
    try:
        await connection.started()
        yield connection
    finally:
        connection.gone.set()
        with suppress(OSError):
            async with asyncio.timeout(LONG):
                await task
