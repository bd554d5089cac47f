"""Requests, replies, deadlines and prices of a model server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

Clock = Callable[[], float]
Message = Mapping[str, str]


class ServerFailed(Exception):
    """The server gave no usable reply.

    `reason` is a short code, `again` tells whether a retry may succeed, `after_seconds` is the server's Retry-After.
    """

    def __init__(self, reason: str, detail: str, *, again: bool = False, after_seconds: float | None = None) -> None:
        super().__init__(detail)
        self.reason, self.again, self.after_seconds = reason, again, after_seconds


class Waiting:
    """A cancellation token: clients leave once, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = threading.Event()
        self._stops: list[Callable[[], object]] = []

    @property
    def is_over(self) -> bool:
        return self._left.is_set()

    def leave(self) -> None:
        """Cancel the work and run the callbacks of `when_left`."""
        with self._lock:
            self._left.set()
            stops, self._stops = self._stops, []
        for stop in stops:
            stop()

    def when_left(self, stop: Callable[[], object]) -> None:
        """Run this callback on cancellation, or now if it was cancelled before."""
        with self._lock:
            if not self._left.is_set():
                self._stops.append(stop)
                return
        stop()

    def sleep(self, seconds: float) -> None:
        """Sleep until the time is over or the work is cancelled."""
        self._left.wait(seconds)


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time that all work for one question shares; cancellation ends it early."""

    at: float
    clock: Clock = time.monotonic
    waiting: Waiting | None = None
    """None where the client cannot leave."""

    @classmethod
    def after(cls, seconds: float, clock: Clock = time.monotonic, *, waiting: Waiting | None = None) -> Self:
        return cls(clock() + seconds, clock, waiting)

    @property
    def is_abandoned(self) -> bool:
        return self.waiting is not None and self.waiting.is_over

    @property
    def seconds_left(self) -> float:
        return 0.0 if self.is_abandoned else max(0.0, self.at - self.clock())

    @property
    def is_over(self) -> bool:
        return self.seconds_left <= 0

    def sleep(self, seconds: float) -> None:
        """Sleep until the time is over or the work is cancelled."""
        if self.waiting is None:
            time.sleep(seconds)
        else:
            self.waiting.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Price:
    """The price of 1,000 tokens; zero where it is unknown."""

    prompt: float = 0.0
    reply: float = 0.0

    @property
    def is_known(self) -> bool:
        return self.prompt > 0 or self.reply > 0

    def cost_of(self, prompt_tokens: int, reply_tokens: int) -> float:
        return (prompt_tokens * self.prompt + reply_tokens * self.reply) / 1000


class Reader(Protocol):
    """Reads a reply while it is being written."""

    def is_enough(self, text: str) -> bool:
        """Tell whether the rest of the reply is not needed; the connection is then closed."""

    def is_usable(self, text: str) -> bool:
        """Tell whether a reply that broke off here is worth keeping."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Messages for a model, and the JSON schema of the reply."""

    name: str
    messages: Sequence[Message]
    schema: Mapping[str, object]
    bounded_schema: Mapping[str, object] | None = None
    """The same schema with lengths and choices, which not every server knows."""
    reply_tokens: int | None = None
    """The longest reply; None for that of the settings."""
    reader: Reader | None = None
    """Reads the reply as it comes; None for a reply that counts as a whole only."""

    @property
    def characters(self) -> int:
        return sum(len(message["content"]) for message in self.messages)


@dataclass(frozen=True, slots=True)
class Reply:
    """The unverified reply of a model."""

    text: str
    prompt_tokens: int
    reply_tokens: int
    cost: float | None
    """None where the price is unknown."""
    is_complete: bool
    """False where the model was cut off or refused."""
    is_refused: bool
    seconds: float

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.reply_tokens
