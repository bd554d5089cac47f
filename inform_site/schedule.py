"""Celery's scheduler, which a clock that is set back does not stop."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from celery.beat import PersistentScheduler

TOLERANCE = timedelta(minutes=1)


class ClockProofScheduler(PersistentScheduler):  # type: ignore[misc]
    """A scheduler that starts over where an entry claims to have run in the future.

    Celery would wait until the clock is there again, which may take hours.
    """

    def tick(self, *arguments: Any, **options: Any) -> float:
        for entry in self.schedule.values():
            now = entry.default_now()
            if entry.last_run_at and entry.last_run_at > now + TOLERANCE:
                entry.last_run_at = now
                self._heap = None
        seconds: float = super().tick(*arguments, **options)
        return seconds
