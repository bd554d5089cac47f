"""Values around a model server: what it is asked, what it replies, how long it may take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

Clock = Callable[[], float]
Message = Mapping[str, str]


class ServerFailed(Exception):
    """The server gave no reply that can be used.

    `reason` is a short code for records and pages; `again` says whether the same request may succeed in a moment,
    `after_seconds` when, if the server named a time.
    """

    def __init__(self, reason: str, detail: str, *, again: bool = False, after_seconds: float | None = None) -> None:
        super().__init__(detail)
        self.reason, self.again, self.after_seconds = reason, again, after_seconds


class Waiting:
    """Whether somebody still waits for what is being done. They leave once, from any thread, and never come back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = threading.Event()
        self._stops: list[Callable[[], object]] = []

    @property
    def is_over(self) -> bool:
        return self._left.is_set()

    def leave(self) -> None:
        """Nobody waits any more: everything that `when_left` was told to do is done, here and now."""
        with self._lock:
            self._left.set()
            stops, self._stops = self._stops, []
        for stop in stops:
            stop()

    def when_left(self, stop: Callable[[], object]) -> None:
        """Does this when they leave; at once, where they have left."""
        with self._lock:
            if not self._left.is_set():
                self._stops.append(stop)
                return
        stop()

    def sleep(self, seconds: float) -> None:
        """As `time.sleep`, but no longer than somebody waits."""
        self._left.wait(seconds)


@dataclass(frozen=True, slots=True)
class Deadline:
    """One moment that everything done for a question shares. Where those who wait for it leave, it is over."""

    at: float
    clock: Clock = time.monotonic
    waiting: Waiting | None = None
    """None where they cannot leave."""

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
        """As `time.sleep`, cut short where those who wait leave."""
        if self.waiting is None:
            time.sleep(seconds)
        else:
            self.waiting.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Price:
    """What 1,000 tokens cost; zero where nobody said."""

    prompt: float = 0.0
    reply: float = 0.0

    @property
    def is_known(self) -> bool:
        return self.prompt > 0 or self.reply > 0

    def of(self, prompt_tokens: int, reply_tokens: int) -> float:
        return (prompt_tokens * self.prompt + reply_tokens * self.reply) / 1000


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked: messages, and the JSON schema that its reply should follow."""

    name: str
    messages: Sequence[Message]
    schema: Mapping[str, object]

    @property
    def characters(self) -> int:
        return sum(len(message["content"]) for message in self.messages)


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's words as they came; whether they are what was asked for is for the caller to say."""

    text: str
    prompt_tokens: int
    reply_tokens: int
    cost: float | None
    """None where no price is known."""
    is_complete: bool
    """False where the model was cut off, or refused."""
    seconds: float

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.reply_tokens
