"""Figures that the database and the queue hold, and are thus the same from whichever process they are asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import connection
from django.db.models import Sum
from django.utils import timezone

from corpus_app import indexing
from inform_site.models import QueueBeat
from qa_app.models import ModelSpend

REDIS_SECONDS = 0.3  # how long the queue may take to say its length


@dataclass(frozen=True, slots=True)
class Waiting:
    """The messages in a queue. They only wake a worker, so a few are normal, and many mean that nobody listens."""

    messages: int
    oldest_seconds: float | None
    """The age of the oldest one; None where the queue does not say."""


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """The state of a queue and of its worker."""

    name: str
    idle_seconds: float | None
    """Seconds since a task last ended; None where none ever has."""
    task: str
    """What is being carried out; empty between tasks."""
    task_seconds: float
    limit_seconds: int
    """From so many idle seconds on the queue counts as late."""
    waiting: Waiting | None
    """None where the queue cannot be asked."""

    @property
    def is_late(self) -> bool:
        return self.idle_seconds is None or self.idle_seconds > self.limit_seconds


@dataclass(frozen=True, slots=True)
class ModelUse:
    """The use of the language model, in tokens and in the unit of the prices."""

    tokens: int
    spent: float
    spent_today: float


@dataclass(frozen=True, slots=True)
class DatabaseFigures:
    """The connections to the site's database by state, and its size."""

    connections: dict[str, int]
    max_connections: int
    size_bytes: int

    @property
    def used(self) -> int:
        return sum(self.connections.values())


def database() -> DatabaseFigures:
    """Return the state of the database. Raises DatabaseError."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(state, 'unknown'), count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND backend_type = 'client backend' GROUP BY 1"
        )
        states = {"active": 0, "idle": 0, "idle in transaction": 0} | dict(cursor.fetchall())
        cursor.execute("SELECT current_setting('max_connections')::int, pg_database_size(current_database())")
        most, size = cursor.fetchone()
    return DatabaseFigures(states, most, size)


def passages_waiting() -> int:
    """Return the number of published passages without a vector. Raises DatabaseError."""
    return indexing.count_late(timezone.now())


def passages_late() -> int:
    """Return how many of them have been without one for too long, as the worker last counted."""
    return QueueBeat.objects.aggregate(late=Sum("unindexed"))["late"] or 0


def model_use() -> ModelUse:
    """Return the use of the language model by all processes. Raises DatabaseError."""
    whole = ModelSpend.objects.aggregate(tokens=Sum("tokens"), cost=Sum("cost"))
    today = ModelSpend.objects.filter(day=timezone.now().date()).values_list("cost", flat=True).first()
    return ModelUse(whole["tokens"] or 0, float(whole["cost"] or 0), float(today or 0))


def queues() -> Iterator[QueueFigures]:
    """Yield the state of each queue. Raises DatabaseError."""
    beats = {beat.queue: beat for beat in QueueBeat.objects.all()}
    waiting, now = _waiting(), timezone.now()
    for queue in settings.QUEUES:
        beat = beats.get(queue.name)
        yield QueueFigures(
            name=queue.name,
            idle_seconds=_seconds(beat.beat_at, now) if beat else None,
            task=beat.task if beat else "",
            task_seconds=(_seconds(beat.began_at, now) or 0.0) if beat else 0.0,
            limit_seconds=queue.lag_seconds,
            waiting=waiting.get(queue.name),
        )


def _seconds(since: datetime | None, now: datetime) -> float | None:
    return None if since is None else max(0.0, (now - since).total_seconds())


def _waiting() -> dict[str, Waiting]:
    if settings.QUEUE_IN_DATABASE:
        return dict(_waiting_in_database())
    if settings.CELERY_BROKER_URL.startswith("redis"):
        return _waiting_in_redis()
    return {}  # RabbitMQ has an exporter of its own


def _waiting_in_database() -> Iterator[tuple[str, Waiting]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regnamespace('pgmq') IS NOT NULL")
        if not cursor.fetchone()[0]:
            return
        cursor.execute("SELECT queue_name, queue_length, oldest_msg_age_sec FROM pgmq.metrics_all()")
        for name, length, age in cursor.fetchall():
            yield name, Waiting(length, float(age or 0))


def _waiting_in_redis() -> dict[str, Waiting]:
    import redis

    client = redis.Redis.from_url(
        settings.CELERY_BROKER_URL, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS
    )
    end = time.monotonic() + REDIS_SECONDS
    found = {}
    try:
        with client:
            for queue in settings.QUEUES:
                if time.monotonic() < end:
                    found[queue.name] = Waiting(client.llen(queue.name), None)
    except redis.RedisError:
        return {}
    return found
