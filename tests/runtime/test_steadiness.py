"""What a hung Redis, a hung queue and a clock that is wrong may not do."""

import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import celery
import psycopg
import pytest
from kombu.transport import pgmq
from kombu.transport.virtual import QoS

from common import waking
from inform_site.caching import SteadyRedisCache
from inform_site.schedule import ClockProofScheduler


def test_a_redis_that_hangs_costs_one_moment(settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # which accepts and never says a word
        cache = SteadyRedisCache(
            f"redis://127.0.0.1:{silent.getsockname()[1]}/0",
            {"OPTIONS": {"socket_timeout": 0.2, "socket_connect_timeout": 0.2}},
        )
        started = time.monotonic()
        cache.set("name", "value")
        assert cache.get("name") == "value"
        assert cache.get_many(["name", "other"]) == {"name": "value"}
        assert cache.incr("count") == 1 if cache.add("count", 0) else None
        assert time.monotonic() - started < 2


def test_a_queue_that_hangs_holds_up_one_page_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    may_go, asked = threading.Event(), []
    monkeypatch.setattr(waking, "QUEUE_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(waking, "_resumes_at", 0.0)
    monkeypatch.setattr(celery.current_app, "send_task", lambda task, **_: (asked.append(task), may_go.wait(20)))

    for _ in range(5):
        waking.wake("a.task")
    may_go.set()

    assert asked == ["a.task"]


def test_an_acknowledgement_lost_with_its_connection_leaves_the_worker_its_slot() -> None:
    def lose(*message: object) -> None:
        raise psycopg.OperationalError("terminating connection")

    qos = QoS(SimpleNamespace(do_restore=False), prefetch_count=1)
    qos.append(SimpleNamespace(delivery_info={"pgmq_queue": "index", "pgmq_msg_id": 7}), "tag")
    assert not qos.can_consume()

    with pytest.raises(psycopg.OperationalError):
        pgmq.Channel.basic_ack(SimpleNamespace(qos=qos, pgmq=SimpleNamespace(delete=lose)), "tag")

    assert qos.can_consume()


def test_a_clock_that_was_set_back_stops_no_periodic_task(tmp_path: Path) -> None:
    app = celery.Celery("clocks", broker="memory://", set_as_current=False)
    app.conf.beat_schedule = {name: {"task": name, "schedule": 30.0} for name in ("one", "two")}
    scheduler = ClockProofScheduler(app, schedule_filename=str(tmp_path / "schedule"))
    for entry in scheduler.schedule.values():
        entry.last_run_at = datetime.now(UTC) + timedelta(hours=5)

    assert scheduler.tick() <= 30

    assert all(entry.last_run_at <= datetime.now(UTC) for entry in scheduler.schedule.values())
    scheduler.close()
