"""The place among the requests that are worked at, which one that only waits for another server gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_leave: ContextVar[Callable[[], None] | None] = ContextVar("leave_place", default=None)


@contextmanager
def place(leave: Callable[[], None]) -> Iterator[None]:
    """Let the block give its place back early by `leave`, which may be called more than once."""
    token = _leave.set(leave)
    try:
        yield
    finally:
        _leave.reset(token)


def give_back_place() -> None:
    """Let another request be worked at, since this one waits for a language model."""
    if leave := _leave.get():
        leave()
