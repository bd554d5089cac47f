"""A circuit breaker: a server that fails again and again is left alone for a while."""

from __future__ import annotations

import threading
import time

from qa_app.writers.records import Clock


class Breaker:
    """A circuit breaker for all threads of a process: opens after repeated failures, then probes after a pause."""

    def __init__(self, *, failures: int, pause_seconds: float, clock: Clock = time.monotonic) -> None:
        self._limit, self._pause, self._clock = failures, pause_seconds, clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_at: float | None = None
        self._is_probing = False

    @property
    def state(self) -> str:
        """Return `closed`, `open` or `half_open`."""
        with self._lock:
            if self._opened_at is None:
                return "closed"
            return "half_open" if self._is_probing or self._has_paused(self._opened_at) else "open"

    def admit(self) -> bool:
        """Return whether a call may be made; then call `succeeded`, `failed` or `not_made`."""
        with self._lock:
            if self._opened_at is None:
                return True
            if self._is_probing or not self._has_paused(self._opened_at):
                return False
            self._is_probing = True
            return True

    def succeeded(self) -> None:
        with self._lock:
            self._failures, self._opened_at, self._is_probing = 0, None, False

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            if self._is_probing or self._failures >= self._limit:
                self._opened_at, self._is_probing = self._clock(), False

    def not_made(self) -> None:
        """Record that the admitted call was not made."""
        with self._lock:
            self._is_probing = False

    def _has_paused(self, opened_at: float) -> bool:
        return self._clock() - opened_at >= self._pause
