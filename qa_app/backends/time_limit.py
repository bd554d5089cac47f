"""How long an answer may take, in whatever it is doing: between its stages, and in each statement of the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import Error, OperationalError, connection
from psycopg.errors import QueryCanceled

from qa_app.backends.records import Deadline
from qa_app.pipeline.ports import OutOfTime

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
    the limit along themselves.
    """
    seconds = settings.ANSWER_SECONDS if seconds is None else seconds
    limit = TimeLimit(seconds, Deadline.after(seconds))
    limit.require()
    is_bound = False

    def bind_once(execute: Callable[..., Any], *statement: Any) -> Any:
        nonlocal is_bound
        if not is_bound:
            is_bound = True  # first of all: what tells the connection is a statement, too
            limit.bind()
        return execute(*statement)

    try:
        with connection.execute_wrapper(bind_once):
            yield limit
    except OperationalError as error:  # a statement that was cut off among them
        if limit.deadline.is_over or isinstance(error.__cause__, QueryCanceled):
            raise OutOfTime(seconds) from error
        raise
    finally:
        if is_bound:
            with suppress(Error):  # a lost connection keeps nothing, and what is rolled back takes it along
                _cut_off_after(0)


def _cut_off_after(milliseconds: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, false)", [str(milliseconds)])
