"""How the statements of a search are sent: one after the other without waiting, their replies fetched when they are wanted.

By cursors of the driver's own: Django's plan every statement anew, write every value out as text and wait for each reply.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import psycopg
from django.db import DatabaseError, connection, transaction
from numpy.typing import NDArray
from psycopg import pq
from psycopg.adapt import Dumper, Loader

PREPARE_THRESHOLD = 5  # the driver's own default, which Django switches off; it lets us prepare a statement by name

Cursor = psycopg.Cursor[tuple[Any, ...]]
Send = Callable[..., Cursor]


ONE_VIEW = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


CUT_OFF = "SELECT set_config('statement_timeout', %s, true)"  # to the end of the transaction, in milliseconds


def open_view(query: str, *, milliseconds: int | None = None) -> list[tuple[Any, ...]]:
    """Makes the transaction that has just begun see the corpus as it is now; the rows of a query come with it.

    With `milliseconds` none of its statements takes longer. Raises DatabaseError.
    """
    driver = connection.connection
    with connection.wrap_database_errors:
        with driver.pipeline():
            psycopg.Cursor(driver).execute(ONE_VIEW)
            if milliseconds is not None:
                psycopg.Cursor(driver).execute(CUT_OFF, [str(milliseconds)], prepare=True)
            rows = psycopg.Cursor(driver).execute(query, prepare=True)
        return rows.fetchall()


def first_row(statement: str, parameters: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Of one statement, which is planned once a connection; None where it gives no row. Raises DatabaseError."""
    connection.ensure_connection()
    driver = connection.connection
    driver.prepare_threshold = PREPARE_THRESHOLD
    with connection.wrap_database_errors:
        return psycopg.Cursor(driver).execute(statement, parameters, prepare=True).fetchone()


@contextmanager
def sending() -> Iterator[Send]:
    """In the open transaction: what sends a statement with its parameters, planned once a connection, and does not wait.

    To fetch its rows is to wait for them; at the end all are waited for. Raises DatabaseError.
    """
    driver = connection.connection
    driver.prepare_threshold = PREPARE_THRESHOLD

    def send(statement: str, parameters: Sequence[Any] = ()) -> Cursor:
        return psycopg.Cursor(driver).execute(statement, parameters, prepare=True)

    with connection.wrap_database_errors, driver.pipeline():
        yield send


@contextmanager
def together(*, settings: Mapping[str, str], is_planned_once: bool) -> Iterator[Send]:
    """What sends a statement with its parameters, and gives the cursor that has its rows: at the end, or waits for them.

    PostgreSQL works on it while this process does something else. A statement that `is_planned_once` is planned once a
    connection. The settings hold to the end of the transaction: the open one, which a statement that fails leaves as it
    was, or one of their own, in which all statements see the corpus at one moment. Raises DatabaseError.
    """
    is_inner = connection.in_atomic_block
    with nullcontext() if is_inner else transaction.atomic():
        driver = connection.connection
        driver.prepare_threshold = PREPARE_THRESHOLD

        def send(statement: str, parameters: Mapping[str, Any]) -> Cursor:
            return _cursor(driver).execute(statement, parameters, prepare=is_planned_once, binary=True)

        try:
            with connection.wrap_database_errors, driver.pipeline():
                plain = psycopg.Cursor(driver)
                plain.execute("SAVEPOINT together" if is_inner else ONE_VIEW)
                if settings:
                    plain.execute(_set(settings), prepare=True)
                yield send
                if is_inner:
                    plain.execute("RELEASE SAVEPOINT together")
        except DatabaseError:
            if is_inner:
                with connection.wrap_database_errors:
                    psycopg.Cursor(driver).execute("ROLLBACK TO SAVEPOINT together")
            raise


def row_of(cursor: Cursor) -> tuple[Any, ...]:
    """The one row of its statement."""
    (row,) = cursor.fetchall()
    return row


def _set(settings: Mapping[str, str]) -> str:
    """Our own words, never a reader's."""
    return "SELECT " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())


def _cursor(driver: Any) -> Cursor:
    cursor: Cursor = psycopg.Cursor(driver)
    cursor.adapters.register_dumper(Packed, _PackedDumper)
    cursor.adapters.register_dumper(Ids, _PackedDumper)
    cursor.adapters.register_loader(BIGINTS, _IdLoader)
    return cursor


VECTOR_HEADER_BYTES = 4  # vector_send: dimensions and an unused field, then big-endian floats


def unpacked(sent: bytes) -> NDArray[np.float32]:
    """A vector as `vector_send` gives it."""
    return np.frombuffer(sent, dtype=">f4", offset=VECTOR_HEADER_BYTES).astype(np.float32)


class Packed:
    """A vector as pgvector takes it in: dimensions, an unused field, then its numbers, the high byte first."""

    def __init__(self, vector: Sequence[float], kind: str) -> None:
        self.sent = struct.pack(">HH", len(vector), 0) + np.asarray(vector, dtype=kind).tobytes()


class Ids:
    """Numbers as PostgreSQL takes in an array of bigint; the driver would write hundreds of them out one by one."""

    def __init__(self, ids: Sequence[int]) -> None:
        rows = np.empty(len(ids), _IdLoader.row)
        rows["length"], rows["value"] = rows.dtype["value"].itemsize, ids
        dimensions = struct.pack(">ii", len(ids), 1) if ids else b""
        self.sent = struct.pack(">iii", len(dimensions) > 0, 0, BIGINT) + dimensions + rows.tobytes()


class _PackedDumper(Dumper):
    format = pq.Format.BINARY
    oid = 0  # the cast beside it says the type

    def dump(self, obj: Packed | Ids) -> bytes:
        return obj.sent


class _IdLoader(Loader):
    """An array of bigint as PostgreSQL sends it: twenty bytes of header, then each number after its length."""

    format = pq.Format.BINARY
    row = np.dtype([("length", ">i4"), ("value", ">i8")])

    def load(self, data: Any) -> Any:
        return np.frombuffer(data, self.row, offset=ARRAY_HEADER_BYTES)["value"].astype(np.int64)


ARRAY_HEADER_BYTES = 20  # of one dimension without nulls
BIGINT = psycopg.postgres.types["int8"].oid
BIGINTS = psycopg.postgres.types["int8"].array_oid
