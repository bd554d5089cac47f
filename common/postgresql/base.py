"""The backend that `DATABASES` names: patient connections, and a pool that recovers at once."""

from __future__ import annotations

import select
import threading
from typing import Any, ClassVar

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg import errors
from psycopg_pool import ConnectionPool

from common.postgresql.patience import spending

POLL_SECONDS = 0.1  # psycopg's default: how often a wait looks at its time
CLOSE_SECONDS = 0.1
LEAST_RETRY_SECONDS = 0.01  # 0 would retry for ever


class PatientConnection(psycopg.Connection[Any]):
    """A connection that is given up when the current work has waited long enough (`patience`).

    The server may be frozen, so it is not asked to cancel: `client_connection_check_interval` ends the statement there.
    """

    def wait(self, gen: Any, interval: float = POLL_SECONDS, timeout: float | None = None) -> Any:
        """Consume a generator of the driver. Raises OperationalError when the time is over."""
        with spending(timeout) as seconds:
            if seconds is None or seconds == timeout:
                return super().wait(gen, interval, timeout)
            try:
                return super().wait(gen, interval, seconds)
            except errors._WaitTimeout:
                self.pgconn.finish()
                raise errors.OperationalError("The database did not answer in time.") from None


class _Pool(ConnectionPool[Any]):
    def getconn(self, timeout: float | None = None) -> Any:
        with spending(self.timeout if timeout is None else timeout) as seconds:
            return super().getconn(seconds)


class _Driver:
    """The psycopg module, as Django uses it, with our connection."""

    connect = PatientConnection.connect

    def __getattr__(self, name: str) -> Any:
        return getattr(psycopg, name)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's wrapper with patient connections.

    A pool that cannot connect tries again with the next request. psycopg's own retries wait up to minutes.
    """

    Database: Any = _Driver()
    _pool_lock: ClassVar[threading.Lock] = threading.Lock()
    _connection_pools: ClassVar[dict[str, Any]] = {}

    @property
    def pool(self) -> Any:
        """The pool of this process; None where the settings ask for none."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if not options or self.alias == NO_DB_ALIAS:
            return None
        with self._pool_lock:
            if self.alias not in self._connection_pools:
                if self.settings_dict.get("CONN_MAX_AGE", 0) != 0:
                    raise ImproperlyConfigured("Pooling doesn't support persistent connections.")
                self._connection_pools[self.alias] = _Pool(
                    kwargs=self.get_connection_params() | {"autocommit": True},
                    connection_class=PatientConnection,
                    configure=self._configure_connection,  # type: ignore[attr-defined]
                    check=require_open,
                    reconnect_timeout=LEAST_RETRY_SECONDS,
                    open=False,
                    **options,
                )
            return self._connection_pools[self.alias]

    def close_pool(self) -> None:
        """Close the pool's connections and wake whoever waits for one; the next request opens another pool."""
        with self._pool_lock:
            pool = self._connection_pools.pop(self.alias, None)
        if pool is not None:
            pool.close(CLOSE_SECONDS)


def require_open(connection: psycopg.Connection[Any]) -> None:
    """Raise OperationalError when the server has closed an idle connection. Sends nothing to one that is silent."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    if poll.poll(0):
        connection.execute("")
