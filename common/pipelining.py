"""SQL statements sent in libpq's pipeline mode: without waiting for the previous reply.

Statements use the driver's own cursors, because Django's plan each statement anew, send values as text and wait for
each reply.
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

PREPARE_THRESHOLD = 5  # psycopg's default; Django disables prepared statements by setting None

Cursor = psycopg.Cursor[tuple[Any, ...]]
Send = Callable[..., Cursor]

ONE_VIEW = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
CUT_OFF = "SELECT set_config('statement_timeout', %s, true)"  # to the end of the transaction, in milliseconds


def open_view(query: str, *, milliseconds: int | None = None) -> list[tuple[Any, ...]]:
    """Give the new transaction one snapshot of the corpus and return the rows of `query`.

    `milliseconds` limits each of its statements. Raises DatabaseError.
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
    """Run a prepared statement and return its first row; None where there is none. Raises DatabaseError."""
    connection.ensure_connection()
    driver = connection.connection
    driver.prepare_threshold = _prepare_threshold()
    with connection.wrap_database_errors:
        return psycopg.Cursor(driver).execute(statement, parameters, prepare=True).fetchone()


def binary_rows(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a statement, sent in binary: bytes take half the size of text. Raises DatabaseError."""
    connection.ensure_connection()
    with connection.wrap_database_errors:
        return psycopg.Cursor(connection.connection).execute(statement, parameters, binary=True).fetchall()


def execute_binary(statement: str, parameters: Sequence[Any]) -> None:
    """Run a statement with binary parameters, which Django would send as text. Raises DatabaseError."""
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(statement, parameters, binary=True)


@contextmanager
def statement_pipeline() -> Iterator[Send]:
    """Yield a function that sends prepared statements in the open transaction without waiting.

    Fetching rows waits for them; leaving the block waits for all. Raises DatabaseError.
    """
    driver = connection.connection
    driver.prepare_threshold = _prepare_threshold()

    def send(statement: str, parameters: Sequence[Any] = ()) -> Cursor:
        return psycopg.Cursor(driver).execute(statement, parameters, prepare=True)

    with connection.wrap_database_errors, driver.pipeline():
        yield send


@contextmanager
def snapshot_pipeline(*, settings: Mapping[str, str], is_planned_once: bool) -> Iterator[Send]:
    """Yield a function that sends a statement and returns its cursor; fetching rows waits for them.

    PostgreSQL works while this process does something else. `is_planned_once` prepares the statements. The settings
    apply to the end of the transaction: the open one, protected by a savepoint, or a new one in which all statements
    share one snapshot. Raises DatabaseError.
    """
    is_inner = connection.in_atomic_block
    with nullcontext() if is_inner else transaction.atomic():
        driver = connection.connection
        driver.prepare_threshold = _prepare_threshold()

        def send(statement: str, parameters: Mapping[str, Any]) -> Cursor:
            return _cursor(driver).execute(statement, parameters, prepare=is_planned_once, binary=True)

        try:
            with connection.wrap_database_errors, driver.pipeline():
                plain = psycopg.Cursor(driver)
                plain.execute("SAVEPOINT pipeline" if is_inner else ONE_VIEW)
                if settings:
                    plain.execute(_set(settings), prepare=True)
                yield send
                if is_inner:
                    plain.execute("RELEASE SAVEPOINT pipeline")
        except DatabaseError:
            if is_inner:
                with connection.wrap_database_errors:
                    psycopg.Cursor(driver).execute("ROLLBACK TO SAVEPOINT pipeline")
            raise


def _prepare_threshold() -> int | None:
    """Return from which execution on statements are prepared; None where a pooler forgets them."""
    return None if connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS") else PREPARE_THRESHOLD


def single_row(cursor: Cursor) -> tuple[Any, ...]:
    """Return the only row of a statement."""
    (row,) = cursor.fetchall()
    return row


def _set(settings: Mapping[str, str]) -> str:
    # Not parameters: names and values are constants of the program, never user input.
    return "SELECT " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())


def _cursor(driver: Any) -> Cursor:
    cursor: Cursor = psycopg.Cursor(driver)
    cursor.adapters.register_dumper(Packed, PackedDumper)
    cursor.adapters.register_dumper(Ids, PackedDumper)
    cursor.adapters.register_loader(BIGINTS, _IdLoader)
    return cursor


VECTOR_HEADER_BYTES = 4  # vector_send: dimensions and an unused field, then big-endian floats


def unpack_vector(data: bytes) -> NDArray[np.float32]:
    """Return a vector from the output of `vector_send`."""
    return np.frombuffer(data, dtype=">f4", offset=VECTOR_HEADER_BYTES).astype(np.float32)


class Packed:
    """A vector in pgvector's binary format: dimensions, an unused field, then big-endian numbers."""

    def __init__(self, vector: Sequence[float], number_type: str) -> None:
        self.data = struct.pack(">HH", len(vector), 0) + np.asarray(vector, dtype=number_type).tobytes()


class Ids:
    """Ids in PostgreSQL's binary format of a bigint array; the driver would write them one by one."""

    def __init__(self, ids: Sequence[int]) -> None:
        rows = np.empty(len(ids), _IdLoader.row)
        rows["length"], rows["value"] = rows.dtype["value"].itemsize, ids
        dimensions = struct.pack(">ii", len(ids), 1) if ids else b""
        self.data = struct.pack(">iii", len(dimensions) > 0, 0, BIGINT) + dimensions + rows.tobytes()


class PackedDumper(Dumper):
    """Send packed values as they are."""

    format = pq.Format.BINARY
    oid = 0  # unknown: the cast in the statement gives the type

    def dump(self, obj: Packed | Ids) -> bytes:
        return obj.data


class _IdLoader(Loader):
    """A loader of PostgreSQL's binary bigint array: a header of 20 bytes, then each number after its length."""

    format = pq.Format.BINARY
    row = np.dtype([("length", ">i4"), ("value", ">i8")])

    def load(self, data: Any) -> Any:
        return np.frombuffer(data, self.row, offset=ARRAY_HEADER_BYTES)["value"].astype(np.int64)


ARRAY_HEADER_BYTES = 20  # of one dimension without nulls
BIGINT = psycopg.postgres.types["int8"].oid
BIGINTS = psycopg.postgres.types["int8"].array_oid
