"""Corpus versions: read everything from one, and cache what depends on nothing else."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

from django.db import connection, transaction

from common import pipelining
from common.postgresql import replicas

T = TypeVar("T")
Version = tuple[int, datetime.datetime | None]
Cache = dict[Callable[[], Any], tuple[Any, Any]]

_NEWEST_VERSION = "SELECT number, at FROM corpus_app_corpusversion ORDER BY number DESC LIMIT 1"

cache: Cache = {}
"""The last result of each function given to `once_per_version`, with its version; one entry for each function."""

snapshot_encoder: ContextVar[list[str] | None] = ContextVar("snapshot_encoder", default=None)
"""The encoder name of the open snapshot: None outside a snapshot, an empty list until it is looked up."""
_snapshot_version: ContextVar[Version | None] = ContextVar("snapshot_version", default=None)
_separate_cache: ContextVar[Cache | None] = ContextVar("separate_cache", default=None)


@contextmanager
def snapshot(*, milliseconds: int | None = None) -> Iterator[None]:
    """Read everything inside from one corpus version, and compare it by one encoder.

    It is read from a replica inside `replicas.with_failover`, where one has the version of the primary.
    Inside another transaction, that transaction's view is used. No statement takes longer than `milliseconds`; a
    snapshot inside another one keeps the limit of the outer one.
    """
    if _snapshot_version.get() is not None and connection.in_atomic_block:
        yield  # the outer snapshot is still open
        return
    with ExitStack() as stack:
        version = _snapshot_version.set(_enter(stack, milliseconds))
        encoder = snapshot_encoder.set([])
        try:
            yield
        finally:
            _snapshot_version.reset(version)
            snapshot_encoder.reset(encoder)


def _enter(stack: ExitStack, milliseconds: int | None) -> Version:
    """Open a transaction for the snapshot, on a replica where one has the present version; return the version."""
    is_inner = connection.in_atomic_block
    if not is_inner and (version := _enter_replica(stack, milliseconds)) is not None:
        return version
    stack.enter_context(transaction.atomic())
    if not is_inner:
        return _open_view(milliseconds)
    if milliseconds is not None:
        with connection.cursor() as cursor:
            cursor.execute(pipelining.CUT_OFF, [str(milliseconds)])
    return _read_version()


def _enter_replica(stack: ExitStack, milliseconds: int | None) -> Version | None:
    """Open the snapshot on a replica; None where none has what the primary has published and taken back by now."""
    needed = None
    for name in replicas.usable():
        needed = needed or _read_version()
        with suppress(replicas.ReplicaLost), ExitStack() as attempt:
            attempt.enter_context(replicas.use(name))
            attempt.enter_context(transaction.atomic())
            version = _open_view(milliseconds)
            if version == needed or version[0] > needed[0]:
                stack.enter_context(attempt.pop_all())
                return version
    return None


def corpus_version() -> int:
    """Return the number of the present version; 0 before anything was published."""
    return _version()[0]


def corpus_changed_at() -> datetime.datetime | None:
    """Return when the present version was published; None before anything was published."""
    return _version()[1]


def once_per_version(read: Callable[[], T]) -> T:
    """Return the result of `read`, called at most once per corpus version.

    Before the first version it is called each time.
    """
    version = _version()
    separate = _separate_cache.get()
    entries = cache if separate is None else separate
    cached_version, value = entries.get(read, (None, None))
    if cached_version != version or version[0] == 0:
        value = read()
        entries[read] = (version, value)
    found: T = value
    return found


@contextmanager
def without_version() -> Iterator[None]:
    """Use a separate cache inside, for a transaction whose changes have no version yet."""
    before = _separate_cache.set({})
    try:
        yield
    finally:
        _separate_cache.reset(before)


def _open_view(milliseconds: int | None) -> Version:
    rows = pipelining.open_view(_NEWEST_VERSION, milliseconds=milliseconds)
    return (rows[0][0], rows[0][1]) if rows else (0, None)


def _version() -> Version:
    return _snapshot_version.get() or _read_version()


def _read_version() -> Version:
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST_VERSION)
        number, at = cursor.fetchone() or (0, None)
        return number, at
