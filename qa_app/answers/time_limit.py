"""The time limit of an answer, checked between stages and applied to each SQL statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import Error, OperationalError, connection
from psycopg.errors import QueryCanceled

from qa_app.pipeline.ports import OutOfTime
from qa_app.writers.records import Deadline

MIN_MILLISECONDS = 1  # PostgreSQL takes 0 for no limit


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """The seconds that an answer may take from its start."""

    seconds: float
    deadline: Deadline

    def require(self) -> None:
        """Raise OutOfTime after the deadline."""
        if self.deadline.is_over:
            raise OutOfTime(self.seconds)

    def bind(self) -> None:
        """Limit the connection's statements to the time left. Raises OutOfTime after the deadline."""
        _set_statement_timeout(self.statement_timeout())

    def statement_timeout(self) -> int:
        """Return the time left in milliseconds. Raises OutOfTime after the deadline."""
        self.require()
        return max(MIN_MILLISECONDS, int(1000 * self.deadline.seconds_left))


@contextmanager
def limited(seconds: float | None = None) -> Iterator[TimeLimit]:
    """Limit this thread's work to `seconds` (default: settings.ANSWER_SECONDS). Raises OutOfTime.

    The statement timeout is set with the first statement that Django sends. Statements sent through `common.pipelining`
    are limited only in a snapshot and when storing.
    """
    seconds = settings.ANSWER_SECONDS if seconds is None else seconds
    limit = TimeLimit(seconds, Deadline.after(seconds))
    limit.require()
    binding = _TimeoutSetter(limit)
    try:
        with connection.execute_wrapper(binding):
            yield limit
    except OperationalError as error:  # includes a statement timeout
        if limit.deadline.is_over or isinstance(error.__cause__, QueryCanceled):
            raise OutOfTime(seconds) from error
        raise
    finally:
        if binding.is_bound:
            with suppress(Error):  # a lost connection or a rollback has reset it
                _set_statement_timeout(0)


class _TimeoutSetter:
    """Sets the statement timeout before a statement that Django sends.

    Outside a transaction it is set once; inside, once a transaction, and again after a rollback, which resets it.
    """

    def __init__(self, limit: TimeLimit) -> None:
        self._limit = limit
        self._is_setting = False  # prevents recursion: setting the timeout is a statement too
        self._limited_block: object = None
        """The outermost block of the transaction that has the timeout."""
        self.is_bound = False

    def __call__(self, execute: Callable[..., Any], sql: Any, *arguments: Any) -> Any:
        statement = str(sql)
        if statement.startswith("ROLLBACK"):
            self._limited_block = None
        elif not (self.is_bound or self._is_setting or statement.startswith(_OF_SAVEPOINTS)):
            self._is_setting = True
            try:
                self._set_timeout()
            finally:
                self._is_setting = False
        return execute(sql, *arguments)

    def _set_timeout(self) -> None:
        if not connection.in_atomic_block:
            self._limit.bind()
            self.is_bound = True
        elif self._limited_block is not (outermost := connection.atomic_blocks[0]):
            _set_statement_timeout(self._limit.statement_timeout(), is_local=True)
            self._limited_block = outermost


_OF_SAVEPOINTS = ("SAVEPOINT", "RELEASE")  # these take no time


def _set_statement_timeout(milliseconds: int, *, is_local: bool = False) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, %s)", [str(milliseconds), is_local])
