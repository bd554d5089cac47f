"""Background jobs: run by one process at a time, in turns, with progress in the job's row.

A job stores each step's outcome in the transaction of the step, so that a killed worker can be replaced at any moment
and nothing is done twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from corpus_app.curation.acts import NotReady
from corpus_app.models import Job

PROGRESS_SECONDS = 0.5  # least time between two progress updates
MAX_ATTEMPTS = 3  # turns without progress, after which a job is set aside until a person tries again
FAILED = "failed"

J = TypeVar("J", bound=Job)


WORKER_ENDED = "Each time the worker that was at it ended: it may take more memory than there is. Split the file."
TOO_LONG = "Each time it took longer than one step may take. Split the file, or ask who runs the site for more time."
TOO_LARGE = "It takes more memory than a worker may have. Split the file, or ask who runs the site for more memory."


class Ended(Exception):
    """The job was cancelled while it was running."""


def lock_job(rows: QuerySet[J], *statuses: str, what: str = "This") -> J:
    """Return the one job of these rows, its row locked. Raises NotReady when its status is none of these."""
    stored = rows.select_for_update(of=("self",)).first()
    if stored is None or stored.status not in statuses:  # type: ignore[attr-defined]
        raise NotReady(f"{what} has gone on in the meantime: look at its page again.")
    return stored


def try_again(rows: QuerySet[J], begin: Mapping[str, str], otherwise: str) -> None:
    """Put the one job of these rows back to where its step begins; `begin` maps the status that it failed in.

    Raises NotReady.
    """
    with transaction.atomic():
        stored: Any = lock_job(rows, FAILED)
        stage = stored.report.pop("failed_while", "")
        stored.report.pop("stopped", None)
        stored.status, stored.error = begin.get(stage, otherwise), ""
        stored.attempts, stored.finished_at = 0, None
        stored.save(update_fields=["status", "error", "attempts", "finished_at", "report"])


class JobRun(Generic[J]):
    """One turn of a job: its clock, its progress, and its failure."""

    expected: tuple[type[Exception], ...] = ()
    """Exceptions that end the job with their message and are not raised again."""

    def __init__(self, job: J, seconds: float | None = None, on_progress: Callable[[J], None] | None = None) -> None:
        self.job = job
        self._seconds = seconds
        self._deadline: float | None = None
        self._on_progress = on_progress
        self._reported_at = 0.0
        self._done_before = job.done
        self._first: tuple[float, int] | None = None
        """The time and the number done at the first progress of this turn."""

    def run(self, work: Callable[[], bool]) -> bool:
        """Do the work and return whether the job has ended.

        An unexpected exception marks the job as failed and is raised again. A job is set aside when its turns end
        before they come to anything: at the time limit, or with the worker.
        """
        if self.job.attempts >= MAX_ATTEMPTS:
            self._fail(f"It was tried {MAX_ATTEMPTS} times. {self.job.report.get('stopped') or WORKER_ENDED}")
            return True
        try:
            self.set(attempts=self.job.attempts + 1)
            has_ended = work()
            self.set(attempts=0)
            return has_ended
        except SoftTimeLimitExceeded:
            with suppress(Ended):
                self.set(report=self.job.report | {"stopped": TOO_LONG})
            return False
        except MemoryError:
            self._fail(TOO_LARGE)
            return True
        except (OperationalError, InterfaceError):
            raise  # the database is gone; the next worker continues the job
        except (Ended, NotReady):
            return True
        except self.expected as error:
            self._fail(str(error))
            return True
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}")
            raise

    def set(self, **values: Any) -> None:
        """Store values of the job. Raises Ended when somebody has cancelled it."""
        manager: Any = type(self.job)._default_manager
        rows = manager.filter(pk=self.job.pk, status=self.job.status)  # type: ignore[attr-defined]
        if not rows.update(**values):
            raise Ended
        for name, value in values.items():
            setattr(self.job, name, value)

    def start_clock(self) -> None:
        """Start the time limit once the work is prepared, so that every turn makes progress."""
        self._deadline = None if self._seconds is None else time.monotonic() + self._seconds

    def start_step(self) -> None:
        """Measure the rate anew, for work of another kind."""
        self._first, self._done_before = None, 0

    def is_over(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def report_progress(self, *, done: int, total: int, at_once: bool = False) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = (now, done)
        if not at_once and now - self._reported_at < PROGRESS_SECONDS:
            return
        self._reported_at = now
        started_at, at_first = self._first
        if now > started_at and done > at_first:
            self.job.report = self.job.report | {"rate": round((done - at_first) / (now - started_at), 1)}
        progress = {"attempts": 1} if done > self._done_before else {}
        self.set(done=done, total=total, beat_at=timezone.now(), report=self.job.report, **progress)
        if self._on_progress:
            self._on_progress(self.job)

    def _fail(self, words: str) -> None:
        with suppress(Ended):
            stage: str = self.job.status  # type: ignore[attr-defined]
            report = self.job.report | {"failed_while": stage}
            self.set(status=FAILED, error=words[:2_000], finished_at=timezone.now(), report=report)
