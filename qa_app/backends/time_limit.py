"""How long an answer may take, in whatever it is doing: between its stages, and in each statement of the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import Error, OperationalError, connection
from psycopg.errors import QueryCanceled

from corpus_app import search
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

    @property
    def milliseconds_left(self) -> int:
        """As a statement takes them. Raises OutOfTime where there are none."""
        self.require()
        return max(LEAST_MS, int(1000 * self.deadline.seconds_left))


@contextmanager
def limited(seconds: float | None = None) -> Iterator[TimeLimit]:
    """What is done inside, in this thread, has so many seconds (`ANSWER_SECONDS` in the settings). Raises OutOfTime.

    Most answers need no statement but those of a snapshot of the corpus, which is told when it opens, and of whoever stores
    them, who tells the database too; before any other it is told here.
    """
    seconds = settings.ANSWER_SECONDS if seconds is None else seconds
    limit = TimeLimit(seconds, Deadline.after(seconds))
    limit.require()
    teller = _Teller(limit)
    told = search.milliseconds_left.set(lambda: limit.milliseconds_left)
    try:
        with connection.execute_wrapper(teller):
            yield limit
    except OperationalError as error:  # a statement that was cut off among them
        if limit.deadline.is_over or isinstance(error.__cause__, QueryCanceled):
            raise OutOfTime(seconds) from error
        raise
    finally:
        search.milliseconds_left.reset(told)
        if teller.has_told_session:
            with suppress(Error):  # a lost connection keeps nothing
                _cut_off_after(0)


@dataclass(slots=True)
class _Teller:
    """Tells the database how long the statement that comes may take, and all after it.

    Outside a transaction once. Inside of one for that alone, and again each time: what is rolled back takes it along.
    """

    limit: TimeLimit
    has_told_session: bool = False
    _is_telling: bool = False

    def __call__(self, execute: Callable[..., Any], sql: Any, parameters: Any, many: bool, context: Any) -> Any:
        is_in_transaction = connection.in_atomic_block
        if not (self._is_telling or (self.has_told_session and not is_in_transaction)):
            self._is_telling = True  # by a statement that comes here itself
            try:
                _cut_off_after(self.limit.milliseconds_left, is_for_transaction=is_in_transaction)
            finally:
                self._is_telling = False
            self.has_told_session |= not is_in_transaction
        return execute(sql, parameters, many, context)


def _cut_off_after(milliseconds: int, *, is_for_transaction: bool = False) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, %s)", [str(milliseconds), is_for_transaction])
