"""The queues of background work: which tasks go where, how long each may take, and how late a queue may be.

Each queue has a worker of its own, so that none waits for another. Read by the settings: imports nothing of Django.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

UPKEEP_SECONDS = 7_200  # a language model may take half a minute for each golden question
GRACE_SECONDS = 30  # between the request to end and the end of the process


@dataclass(frozen=True, slots=True)
class Queue:
    name: str
    tasks: tuple[str, ...]
    seconds: int
    """The longest that one task may take."""
    lag_seconds: int
    """How long no task may end before the queue counts as late."""


def queues(seconds: int) -> tuple[Queue, ...]:
    """Return all queues; a task of an import, of a bulk edit or of mail may take so many seconds."""
    return (
        Queue(INDEX, ("corpus_app.tasks.index_stale_passages",), max(600, seconds), 300),
        Queue(
            "imports",
            (
                "corpus_app.tasks.carry_on_imports",
                "corpus_app.tasks.carry_on_bulk_edits",
                "corpus_app.tasks.check_texts",
                "corpus_app.tasks.prune_imports",
            ),
            seconds,
            2 * seconds,
        ),
        Queue("mail", ("qa_app.tasks.notify_followers",), seconds, 2 * seconds),
        Queue(UPKEEP, (), UPKEEP_SECONDS, UPKEEP_SECONDS + 1_800),
    )


INDEX = "index"
"""The queue of vectors."""

UPKEEP = "upkeep"
"""The queue of all tasks that no other one names: evaluation, calibration, proposals, followed questions."""


def routes(of: Iterable[Queue]) -> dict[str, dict[str, str]]:
    """Return the queue of each task that is named, as Celery reads it."""
    return {task: {"queue": queue.name} for queue in of for task in queue.tasks}


def limits(of: Iterable[Queue]) -> dict[str, dict[str, int]]:
    """Return the time limits of each task that is named, as Celery reads them."""
    return {
        task: {"soft_time_limit": queue.seconds, "time_limit": queue.seconds + GRACE_SECONDS}
        for queue in of
        for task in queue.tasks
    }


def scheduled(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return a schedule whose messages expire with the next one, so that none pile up where a worker is away."""
    return {name: {**entry, "options": {"expires": max(60, entry["schedule"])}} for name, entry in entries.items()}
