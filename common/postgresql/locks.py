"""Advisory locks of long work, which hold behind a pooler in transaction mode as well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import psycopg
from django.db import OperationalError, connection

from common.postgresql.base import PatientConnection


@contextmanager
def work_lock(key: int, part: int = 0) -> Iterator[bool]:
    """Try to take an advisory lock (two numbers); yield if it was free. Raises OperationalError without a database.

    An open transaction of a connection of its own holds it: PgBouncer leaves a session to nobody between transactions.
    The lock ends with that connection, so a killed process blocks nobody. The transaction sees no rows, so it keeps
    none from being vacuumed.
    """
    try:
        holder = PatientConnection.connect(**connection.get_connection_params() | {"autocommit": False})
        holder.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        row = holder.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [key, part]).fetchone()
    except psycopg.OperationalError as error:
        raise OperationalError(str(error)) from error
    with closing(holder):
        try:
            yield row == (True,)
        finally:  # at once: the server ends a closed connection when it notices
            with suppress(psycopg.Error):  # a lost one has released the lock
                holder.rollback()
