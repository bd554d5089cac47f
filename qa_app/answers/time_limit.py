"""How long an answer may take, in whatever it is doing: between its stages, and in each statement of the database."""

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

LEAST_MS = 1  # PostgreSQL takes 0 for no limit


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """The seconds that an answer has, from when it was begun."""

    seconds: float
    deadline: Deadline

    def require(self) -> None:
        """Raises OutOfTime where they are over."""
        if self.deadline.is_over:
            raise OutOfTime(self.seconds)

    def bind(self) -> None:
        """From here on no statement takes longer than what is left. Raises OutOfTime where nothing is."""
        _cut_off_after(self.milliseconds_left)

    @property
    def milliseconds_left(self) -> int:
        """As a statement takes them. Raises OutOfTime where there are none."""
        self.require()
        return max(LEAST_MS, int(1000 * self.deadline.seconds_left))


@contextmanager
def limited(seconds: float | None = None) -> Iterator[TimeLimit]:
    """What is done inside, in this thread, has so many seconds (`ANSWER_SECONDS` in the settings). Raises OutOfTime.

    The connection is told with the first statement that Django sends: most answers need none outside the transactions that bring
    the limit along themselves. What is sent past Django (`common.pipelining`) is limited in these alone: a snapshot, and what stores.
    """
    seconds = settings.ANSWER_SECONDS if seconds is None else seconds
    limit = TimeLimit(seconds, Deadline.after(seconds))
    limit.require()
    binding = _Binding(limit)
    try:
        with connection.execute_wrapper(binding):
            yield limit
    except OperationalError as error:  # a statement that was cut off among them
        if limit.deadline.is_over or isinstance(error.__cause__, QueryCanceled):
            raise OutOfTime(seconds) from error
        raise
    finally:
        if binding.is_bound:
            with suppress(Error):  # a lost connection keeps nothing, and what is rolled back takes it along
                _cut_off_after(0)


class _Binding:
    """Tells the connection of a limit before what Django sends: once, outside a transaction; within one for that one alone, and again
    after each rollback, since that takes the limit along.
    """

    def __init__(self, limit: TimeLimit) -> None:
        self._limit = limit
        self._is_telling = False  # which is to send a statement, too
        self._told_in: object = None
        """The outermost block of the transaction that knows."""
        self.is_bound = False

    def __call__(self, execute: Callable[..., Any], sql: Any, *others: Any) -> Any:
        statement = str(sql)
        if statement.startswith("ROLLBACK"):
            self._told_in = None
        elif not (self.is_bound or self._is_telling or statement.startswith(_OF_SAVEPOINTS)):
            self._is_telling = True
            try:
                self._tell()
            finally:
                self._is_telling = False
        return execute(sql, *others)

    def _tell(self) -> None:
        if not connection.in_atomic_block:
            self._limit.bind()
            self.is_bound = True
        elif self._told_in is not (outermost := connection.atomic_blocks[0]):
            _cut_off_after(self._limit.milliseconds_left, is_local=True)
            self._told_in = outermost


_OF_SAVEPOINTS = ("SAVEPOINT", "RELEASE")  # these take no time


def _cut_off_after(milliseconds: int, *, is_local: bool = False) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, %s)", [str(milliseconds), is_local])
