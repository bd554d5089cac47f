"""Signs of life of the workers, their limits of memory, and what is late."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from celery.signals import task_postrun, task_prerun, worker_process_init
from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from inform_site.queues import UPKEEP, Queue

INDEX = "index"
MEGABYTE = 1_000_000


@worker_process_init.connect
def limit_memory(**details: Any) -> None:
    """Let a task that wants too much memory fail with MemoryError, before the system ends some process."""
    limit = settings.TASK_MEGABYTES * MEGABYTE
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(ValueError, OSError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_DATA, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


@task_prerun.connect
def note_begin(sender: Any = None, **details: Any) -> None:
    _note(sender, task=sender.name, began_at=timezone.now())


@task_postrun.connect
def note_end(sender: Any = None, **details: Any) -> None:
    """Store that a task has ended; a task of indexing also counts what is late."""
    found: dict[str, Any] = {"task": "", "began_at": None, "beat_at": timezone.now()}
    if _queue_of(sender.name) == INDEX:
        from corpus_app import indexing

        with suppress(Error):
            found["unindexed"] = indexing.count_late(timezone.now() - _lag(INDEX))
    _note(sender, **found)


def _note(sender: Any, **values: Any) -> None:
    from inform_site.models import QueueBeat

    if sender.request.called_directly or connection.in_atomic_block:
        return  # no worker's
    with suppress(Error):  # a database that is away is no reason to drop the task
        QueueBeat.objects.update_or_create(queue=_queue_of(sender.name), defaults=values)


def _queue_of(task: str) -> str:
    return next((queue.name for queue in settings.QUEUES if task in queue.tasks), UPKEEP)


def _lag(name: str) -> timedelta:
    return timedelta(seconds=next(queue.lag_seconds for queue in settings.QUEUES if queue.name == name))


# --- What is late -----------------------------------------------------------------------------------------------------


def delays() -> list[str]:
    """Return what is late in the background, one sentence each; answers are given all the same."""
    from inform_site.models import QueueBeat

    beats = {beat.queue: beat for beat in QueueBeat.objects.all()}
    now = timezone.now()
    return [words for queue in settings.QUEUES for words in _delays_of(queue, beats.get(queue.name), now)]


def _delays_of(queue: Queue, beat: Any, now: datetime) -> Iterator[str]:
    if beat is None or beat.beat_at is None:
        yield f"No worker has taken anything from the queue “{queue.name}” yet."
        return
    age = now - beat.beat_at
    if age > timedelta(seconds=queue.lag_seconds):
        at_work = f"; {beat.task} began at {beat.began_at:%H:%M} UTC" if beat.task and beat.began_at else ""
        yield f"The queue “{queue.name}” has had nothing done for {_minutes(age)} minutes{at_work}."
    if beat.unindexed:
        yield (
            f"{beat.unindexed:,} published passages have had no vector for more than "
            f"{_minutes(_lag(queue.name))} minutes; they are found by their words alone."
        )


def _minutes(span: timedelta) -> int:
    return int(span.total_seconds() // 60)
