"""Password hashing in bounded memory: one hash at a time in a process, and a short queue."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.hashers import Argon2PasswordHasher

from common.places import give_back_place

AT_ONCE = 1
MOST_WAITING = 40
WAIT_SECONDS = 10.0
_free = threading.BoundedSemaphore(AT_ONCE)
_waiting = threading.BoundedSemaphore(MOST_WAITING)


class HasherBusy(Exception):
    """Too many passwords wait to be hashed; the client may try again in a few seconds."""


@contextmanager
def hash_slot() -> Iterator[None]:
    """Wait for the right to hash, without a place among the requests. Raises HasherBusy."""
    give_back_place()
    if not _waiting.acquire(blocking=False):
        raise HasherBusy
    try:
        if not _free.acquire(timeout=WAIT_SECONDS):
            raise HasherBusy
    finally:
        _waiting.release()
    try:
        yield
    finally:
        _free.release()


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """Argon2id with 46 MiB and two passes: more than OWASP's Password Storage Cheat Sheet asks for (46 MiB, one).

    A password that was hashed with other figures is hashed anew when its owner signs in.
    """

    time_cost = 2
    memory_cost = 47_104  # KiB
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with hash_slot():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with hash_slot():
            return super().verify(password, encoded)
