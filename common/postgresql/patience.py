"""How long the current work may wait for the database, over all its statements and connections."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

LEAST_SECONDS = 0.01


@dataclass(slots=True)
class Patience:
    """The seconds that are left for waiting."""

    seconds: float


_patience: ContextVar[Patience | None] = ContextVar("database_patience", default=None)


@contextmanager
def patience(seconds: float | None) -> Iterator[None]:
    """Let the block wait for the database for at most `seconds` in all; None is no limit."""
    token = _patience.set(None if seconds is None else Patience(seconds))
    try:
        yield
    finally:
        _patience.reset(token)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Let the block wait for `seconds` of what is left, and count them there; less where less is left."""
    left = _patience.get()
    part = Patience(seconds if left is None else min(seconds, left.seconds))
    given, token = part.seconds, _patience.set(part)
    try:
        yield
    finally:
        _patience.reset(token)
        if left is not None:
            left.seconds -= given - part.seconds


@contextmanager
def spending(most: float | None = None) -> Iterator[float | None]:
    """Yield the seconds that the block may wait, `most` at most, and count its time; None is no limit."""
    left = _patience.get()
    if left is None:
        yield most
        return
    started = time.monotonic()
    try:
        allowed = max(LEAST_SECONDS, left.seconds)
        yield allowed if most is None else min(allowed, most)
    finally:
        left.seconds -= time.monotonic() - started
