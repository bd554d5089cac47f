"""Read replicas: one stands in for the primary while a search reads, and a lost one is avoided until it answers again.

A replica is another entry of `DATABASES`. Inside `use` it takes the place of the default connection of this thread, so
that whatever reads there needs no second name for its connection.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, OperationalError, connections

from common.postgresql.base import PatientConnection
from common.postgresql.patience import at_most, patience

PREFIX = "replica_"
CONNECT_SECONDS = 0.3  # then the primary is read
SHARE_OF_PATIENCE = 0.4  # of DATABASE_SECONDS, for one search; the rest is left for the primary
PROBE_EVERY_SECONDS = 1.0
PROBE_SECONDS = 2.0
logger = logging.getLogger(__name__)
T = TypeVar("T")

_may_be_used: ContextVar[bool] = ContextVar("replicas_may_be_used", default=False)
_primary: ContextVar[Any] = ContextVar("primary_connection", default=None)
"""The default connection of this thread while a replica stands in for it."""
_lost: set[str] = set()
_lock = threading.Lock()
_turns = itertools.count()


class ReplicaLost(OperationalError):
    """A replica failed while it was read; the same can be read from the primary."""


def with_failover(read: Callable[[], T]) -> T:
    """Run a search that may read a replica; run it again on the primary where that replica is lost."""
    token = _may_be_used.set(True)
    try:
        return read()
    except ReplicaLost as error:
        logger.info("A search is repeated on the primary: %s", error)
    finally:
        _may_be_used.reset(token)
    return read()


def usable() -> list[str]:
    """Return the replicas that the present work may read, those first whose turn it is."""
    if not _may_be_used.get():
        return []
    names = [name for name in connections if name.startswith(PREFIX) and name not in _lost]
    first = next(_turns) % len(names) if names else 0
    return names[first:] + names[:first]


@contextmanager
def use(name: str) -> Iterator[None]:
    """Let a replica take the place of the default connection. Raises ReplicaLost where one of its statements fails."""
    default, replica = connections[DEFAULT_DB_ALIAS], connections[name]
    token, is_connected = _primary.set(default), False
    try:
        with at_most(CONNECT_SECONDS):
            replica.ensure_connection()
        is_connected = True
        replica.errors_occurred = False
        connections[DEFAULT_DB_ALIAS] = replica
        with at_most(SHARE_OF_PATIENCE * settings.DATABASE_SECONDS):
            yield
    except Exception as error:
        if is_connected and not replica.errors_occurred and not isinstance(error, (DatabaseError, InterfaceError)):
            raise
        _report(name)
        raise ReplicaLost(f"{name} failed ({type(error).__name__})") from error
    finally:
        connections[DEFAULT_DB_ALIAS] = default
        _primary.reset(token)
        if replica.errors_occurred or not is_connected or replica.settings_dict["OPTIONS"].get("pool"):
            replica.close()
    if replica.errors_occurred:  # one half of a search failed, and the other went on alone
        _report(name)
        raise ReplicaLost(f"{name} failed in part")


@contextmanager
def primary() -> Iterator[None]:
    """Read the primary inside, even where a replica stands in for it: for what must never be late."""
    default = _primary.get()
    if default is None:
        yield
        return
    replica, connections[DEFAULT_DB_ALIAS] = connections[DEFAULT_DB_ALIAS], default
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = replica


def _report(name: str) -> None:
    """Avoid a replica from now on, until a probe of its own finds it again."""
    with _lock:
        if name in _lost:
            return
        _lost.add(name)
    logger.warning("%s does not answer; searches read another server until it does.", name)
    parameters = connections[name].get_connection_params()
    close_pool = connections[name].close_pool  # type: ignore[attr-defined]
    threading.Thread(
        target=_probe_until_back, args=[name, parameters, close_pool], name=f"probe-{name}", daemon=True
    ).start()


def _probe_until_back(name: str, parameters: dict[str, Any], close_pool: Callable[[], None]) -> None:
    close_pool()
    while not _answers(parameters):
        time.sleep(PROBE_EVERY_SECONDS)
    with _lock:
        _lost.discard(name)
    logger.warning("%s answers again.", name)


def _answers(parameters: dict[str, Any]) -> bool:
    try:
        with patience(PROBE_SECONDS), PatientConnection.connect(**parameters | {"autocommit": True}) as probe:
            probe.execute("SELECT 1")
    except Exception:  # whatever it is, the replica cannot be used
        return False
    return True
