"""Claims of several workers on what waits to be embedded, so that no text is encoded twice, and their common pace.

A claim is a row. It ends with its batch, with its process on this machine, or after CLAIM_SECONDS. Work that was
claimed twice all the same is written once: vectors are replaced, never added.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from django.db import connection, transaction
from django.db.models import Max, Min, Q, Sum
from django.utils import timezone

from corpus_app.models import IndexBatch

Row = TypeVar("Row")

CLAIM_LOCK_ID = 7_301_007  # of the advisory lock that is held for some milliseconds, while a batch is chosen
CLAIM_SECONDS = 120  # of a process on another machine that was killed; a batch takes some seconds
PACE_MINUTES = 10  # over which the pace is measured


@contextmanager
def claim(
    read: Callable[[Q], list[Row]], study_of: Callable[[Row], int], *, is_of_passages: bool = True
) -> Iterator[list[Row]]:
    """Yield rows that no other worker has: those that `read` returns for a condition on their studies.

    Nobody else claims their studies until the block ends. Only batches of passages count for the pace.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CLAIM_LOCK_ID])
        rows = read(~Q(study__in=_claimed_studies()))
        batch = _write(sorted({study_of(row) for row in rows}), len(rows) if is_of_passages else 0)
    is_done = False
    try:
        yield rows
        is_done = True
    finally:
        if batch and is_done:
            IndexBatch.objects.filter(pk=batch.pk).update(done_at=timezone.now())
        elif batch:
            IndexBatch.objects.filter(pk=batch.pk).delete()


def is_under_way() -> bool:
    """Return whether a worker embeds texts at the moment."""
    return bool(_claimed_studies())


def pace() -> float | None:
    """Return how many passages all workers together embed in a second; None when none was embedded lately."""
    recent = IndexBatch.objects.filter(done_at__gte=timezone.now() - timedelta(minutes=PACE_MINUTES))
    found = recent.aggregate(passages=Sum("passages"), first=Min("claimed_at"), last=Max("done_at"))
    if not found["passages"]:
        return None
    return float(found["passages"] / max(0.001, (found["last"] - found["first"]).total_seconds()))


def forget_done() -> None:
    """Delete the batches that no longer count for the pace."""
    IndexBatch.objects.filter(done_at__lt=timezone.now() - timedelta(minutes=PACE_MINUTES)).delete()


def _write(studies: Sequence[int], passages: int) -> IndexBatch | None:
    if not studies:
        return None
    return IndexBatch.objects.create(
        worker=_worker(), studies=list(studies), passages=passages, claimed_at=timezone.now()
    )


def _claimed_studies() -> set[int]:
    oldest = timezone.now() - timedelta(seconds=CLAIM_SECONDS)
    rows = IndexBatch.objects.filter(done_at=None)
    rows.filter(claimed_at__lt=oldest).delete()
    claimed: set[int] = set()
    for row in rows:
        if _is_alive(row.worker):
            claimed.update(row.studies)
        else:
            row.delete()
    return claimed


def _worker() -> str:
    """Return the name of this worker, of which each thread works at one batch at a time."""
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}"


def _is_alive(worker: str) -> bool:
    """Return whether a worker may still be at its batch; it is not where its process is gone, or is this thread."""
    host, pid, _ = worker.rsplit(":", 2)
    if host != socket.gethostname():
        return True
    if worker == _worker():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
