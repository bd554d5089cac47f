"""Counters of requests, answers and model calls, for Prometheus; nothing is counted unless INFORM_METRICS is on.

The counters lie in files that all processes of a machine share, so that each web process can tell the sum of all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from prometheus_client import Counter, Gauge, Histogram

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60)  # seconds
MAX_FILES = 200  # of ended processes, about 100 kB each; beyond, those are deleted at the next start


@dataclass(frozen=True, slots=True)
class Instruments:
    """The counters of this process."""

    requests: Histogram
    answers: Counter
    stages: Histogram
    model_calls: Histogram
    pool: Gauge


def count_request(kind: str, status: int, seconds: float) -> None:
    """Count a request that has ended; 0 is the status of one whose client left before the response began."""
    if instruments := _instruments():
        instruments.requests.labels(kind, str(status)).observe(seconds)


def count_answer(outcome: str, writer: str, milliseconds: Mapping[str, float | None]) -> None:
    """Count a stored answer and the time of each stage that ran."""
    if instruments := _instruments():
        instruments.answers.labels(outcome, writer).inc()
        for stage, spent in milliseconds.items():
            if spent is not None:
                instruments.stages.labels(stage).observe(spent / 1000)


def count_model_call(outcome: str, seconds: float) -> None:
    """Count a request to the language model; the outcome is `ok`, `cut` or the reason of its failure."""
    if instruments := _instruments():
        instruments.model_calls.labels(outcome).observe(seconds)


def set_pool(used: int, idle: int) -> None:
    """Note how many connections of this process's pool are at work, and how many are idle."""
    if instruments := _instruments():
        instruments.pool.labels("used").set(used)
        instruments.pool.labels("idle").set(idle)


def prepare() -> None:
    """Choose the folder to count in, before anything imports the library; forget processes that ended long ago."""
    if _instruments():
        _forget_ended()


def folder() -> Path:
    """Return the folder of the files that processes count in."""
    return Path(settings.METRICS_DIR)


def _forget_ended() -> None:
    """Delete the files of ended processes where there are many; the sums begin anew, as Prometheus expects."""
    paths = sorted(folder().glob("*.db"))
    if len(paths) > MAX_FILES:
        for path in paths:
            if not is_alive(process_of(path)):
                path.unlink(missing_ok=True)


def process_of(path: Path) -> int:
    """Return the id of the process that counts in a file, as `counter_12.db`."""
    return int(path.stem.rpartition("_")[2])


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@cache
def _instruments() -> Instruments | None:
    if not settings.METRICS:
        return None
    folder().mkdir(parents=True, exist_ok=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder())  # the library reads it once, at its import
    from prometheus_client import Counter, Gauge, Histogram

    return Instruments(
        requests=Histogram(
            "inform_request_seconds",
            "Time from a request to the end of its response.",
            ["kind", "status"],
            buckets=BUCKETS,
            registry=None,
        ),
        answers=Counter("inform_answers", "Answers stored.", ["outcome", "writer"], registry=None),
        stages=Histogram(
            "inform_stage_seconds", "Time of a stage of an answer.", ["stage"], buckets=BUCKETS, registry=None
        ),
        model_calls=Histogram(
            "inform_model_call_seconds",
            "Time of a request to the language model.",
            ["outcome"],
            buckets=BUCKETS,
            registry=None,
        ),
        pool=Gauge(
            "inform_database_pool_connections",
            "Connections in the pools of the web processes.",
            ["state"],
            registry=None,
            multiprocess_mode="livesum",
        ),
    )
