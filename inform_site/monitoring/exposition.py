"""The text that Prometheus reads at /metrics: what processes have counted, and figures of the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpResponse
from django.utils.crypto import constant_time_compare
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

from common import metrics
from common.postgresql.patience import patience
from inform_site.backups import records
from inform_site.monitoring import figures

DATABASE_SECONDS = 2.0
FORWARDED = (b"x-forwarded-for", b"forwarded", b"x-real-ip")
Headers = Iterable[tuple[bytes, bytes]]


def response(client: Sequence[Any] | None, headers: Headers) -> HttpResponse:
    """Return the metrics, or 403: without a token they are for programs on this machine alone."""
    if not _may_read(client, list(headers)):
        return HttpResponse(
            "These figures need the token of INFORM_METRICS_TOKEN.\n", "text/plain", HTTPStatus.FORBIDDEN
        )
    return HttpResponse(render(), CONTENT_TYPE_LATEST)


def _may_read(client: Sequence[Any] | None, headers: Sequence[tuple[bytes, bytes]]) -> bool:
    if settings.METRICS_TOKEN:
        given = dict(headers).get(b"authorization", b"").decode("latin-1")
        return constant_time_compare(given, f"Bearer {settings.METRICS_TOKEN}")
    if any(name in FORWARDED for name, _ in headers):
        return False  # a proxy on this machine speaks for somebody else
    try:
        return client is not None and ip_address(client[0]).is_loopback
    except ValueError:
        return False


def render() -> bytes:
    """Return all metrics as text, once `metrics.prepare` has been called.

    Without the database, only its absence and the counters are there.
    """
    _forget_ended_pools()
    counted = CollectorRegistry()
    MultiProcessCollector(counted, path=str(metrics.folder()))  # type: ignore[no-untyped-call]
    stored = CollectorRegistry()
    stored.register(_Families(list(_read())))
    return generate_latest(counted) + generate_latest(stored)


class _Families:
    """A collector of metrics that were made before."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _forget_ended_pools() -> None:
    """Delete the gauges of ended processes; their counters stay, since sums may not fall."""
    for path in metrics.folder().glob("gauge_live*_*.db"):
        if not metrics.is_alive(metrics.process_of(path)):
            path.unlink(missing_ok=True)


def _read() -> Iterator[Metric]:
    found: list[Metric] = []
    try:
        with patience(DATABASE_SECONDS):
            found += [*_of_database(), *_of_queues(), *_of_index(), *_of_backups(), *_of_model()]
    except (DatabaseError, InterfaceError):
        found.clear()
    finally:
        if not connection.in_atomic_block:
            connection.close()
    yield _gauge("inform_database_up", "Whether the database answers.", int(bool(found)))
    yield from found


def _of_database() -> Iterator[Metric]:
    state = figures.database()
    yield _by("inform_database_connections", "Connections to the site's database.", "state", state.connections)
    yield _gauge("inform_database_max_connections", "Connections that PostgreSQL admits.", state.max_connections)
    yield _gauge("inform_database_size_bytes", "Size of the site's database.", state.size_bytes)


def _of_queues() -> Iterator[Metric]:
    queues = list(figures.queues())
    idle = {queue.name: queue.idle_seconds for queue in queues if queue.idle_seconds is not None}
    yield _by(
        "inform_queue_idle_seconds", "Time since a task of the queue ended: its worker's heartbeat.", "queue", idle
    )
    limits = {queue.name: queue.limit_seconds for queue in queues}
    yield _by("inform_queue_idle_limit_seconds", "Idle time from which on a queue is late.", "queue", limits)
    late = {queue.name: int(queue.is_late) for queue in queues}
    yield _by("inform_queue_late", "Whether a queue has had nothing done for too long.", "queue", late)
    running = {queue.name: queue.task_seconds for queue in queues}
    yield _by("inform_queue_task_seconds", "How long the present task has run; 0 between tasks.", "queue", running)
    waiting = {queue.name: queue.waiting for queue in queues if queue.waiting}
    lengths = {name: one.messages for name, one in waiting.items()}
    yield _by("inform_queue_messages", "Messages that wait in the queue.", "queue", lengths)
    ages = {name: one.oldest_seconds for name, one in waiting.items() if one.oldest_seconds is not None}
    yield _by("inform_queue_oldest_message_seconds", "Age of the oldest message in the queue.", "queue", ages)


def _of_index() -> Iterator[Metric]:
    waiting, late = figures.passages_waiting(), figures.passages_late()
    yield _gauge("inform_index_passages_waiting", "Published passages without a vector.", waiting)
    yield _gauge("inform_index_passages_late", "Published passages without a vector for too long.", late)


def _of_backups() -> Iterator[Metric]:
    state = records.state()
    if state.age_seconds is not None:
        yield _gauge("inform_backup_age_seconds", "Age of the newest backup.", state.age_seconds)
        yield _gauge("inform_backup_size_bytes", "Size of the newest backup.", state.size_bytes)
    yield _gauge("inform_backup_late", "Whether a backup by schedule failed or is late.", int(state.is_late))


def _of_model() -> Iterator[Metric]:
    use = figures.model_use()
    yield CounterMetricFamily("inform_model_tokens", "Tokens that the language model read and wrote.", use.tokens)
    yield _gauge("inform_model_spent", "Spent on the language model, in the unit of the prices.", use.spent)
    yield _gauge("inform_model_spent_today", "Spent on this day (UTC).", use.spent_today)
    yield _gauge(
        "inform_model_daily_limit", "The most that may be spent on a day; 0: no limit.", settings.OPENAI_DAILY_LIMIT
    )


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value)


def _by(name: str, meaning: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family
