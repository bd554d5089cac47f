"""Values around a model server: what it is asked, what it replies, how long it may take."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Deadline:
    """One moment that everything done for a question shares."""

    at: float
    clock: Clock = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Clock = time.monotonic) -> Self:
        return cls(clock() + seconds, clock)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.at - self.clock())

    @property
    def is_over(self) -> bool:
        return self.seconds_left <= 0


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
