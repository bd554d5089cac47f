"""`python -m lab bench_index`: embed the present corpus anew by one and by two workers, one of which is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction
from django.utils import timezone

from corpus_app import indexing
from corpus_app.models import IndexBatch, PassageSentence, PassageVector, Study
from inform_site import queue_setup

ROUNDS, SECONDS, START_SECONDS = 3, 60, 120.0
CORES = os.cpu_count() or 1
WORKER = "-m celery --quiet -A inform_site worker --concurrency 1 --without-gossip --without-mingle --queues index"


class Command(BaseCommand):
    help = (
        "Deletes the vectors of the present corpus and has them made anew: by one worker and two in turn, then by two "
        "of which one is killed in the middle. Give it a data directory of its own that no site uses: INFORM_DATA_DIR."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rounds", type=int, default=ROUNDS, help="of one worker, then two")
        parser.add_argument("--seconds", type=float, default=SECONDS, help="of each measurement")

    def handle(self, *args: Any, rounds: int, seconds: float, **options: Any) -> None:
        if not settings.QUEUE_IN_DATABASE:
            raise CommandError("Only a data directory of its own is measured: unset CELERY_BROKER_URL and REDIS_URL.")
        queue_setup.install()
        rates: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(rounds):
            for count in rates:
                rates[count].append(self._measure(count, seconds))
        for count, found in rates.items():
            self.stdout.write(f"{count} workers: {sorted(found)[len(found) // 2]:.2f} passages a second (median)")
        self._kill_one()

    def _measure(self, count: int, seconds: float) -> float:
        _forget_vectors()
        with _workers(count):
            busy, done, started = _busy_seconds(), PassageVector.objects.count(), time.monotonic()
            time.sleep(seconds)
            spent = time.monotonic() - started
            rate, share = (PassageVector.objects.count() - done) / spent, (_busy_seconds() - busy) / spent / CORES
        self.stdout.write(f"{count} workers: {rate:.2f} passages a second, {CORES} cores {share:.0%} busy")
        return rate

    def _kill_one(self) -> None:
        _forget_vectors()
        total, started = indexing.progress().total, time.monotonic()
        with _workers(2) as workers:
            while PassageVector.objects.count() < total / 2:
                time.sleep(1)
            _kill(workers[0])
            while indexing.has_work() or indexing.is_under_way():
                time.sleep(1)
            spent = time.monotonic() - started
        faults, passages = indexing.audit(), PassageVector.objects.values("passage").distinct().count()
        doubled = PassageVector.objects.count() - passages
        self.stdout.write(f"one of 2 workers killed halfway: {passages} of {total} passages indexed in {spent:.0f} s")
        self.stdout.write("\n".join([f"doubled: {doubled}, faults of the index: {len(faults)}", *faults[:5]]))


@contextmanager
def _workers(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run workers, each of which looks for work when it starts, and wait until all embed texts.

    Raises CommandError when they do not. They are killed at the end.
    """
    started_at = timezone.now()
    command = [sys.executable, *WORKER.split()]
    workers = [
        subprocess.Popen([*command, "--hostname", f"index-{place}@%h"], cwd=settings.BASE_DIR, start_new_session=True)
        for place in range(count)
    ]
    try:
        at_work = IndexBatch.objects.filter(claimed_at__gte=started_at).order_by().values("worker").distinct()
        while at_work.count() < count:
            if (timezone.now() - started_at).total_seconds() > START_SECONDS:
                raise CommandError("The workers do nothing: is there anything to index?")
            time.sleep(0.2)
        yield workers
    finally:
        for worker in workers:
            _kill(worker)


def _kill(worker: subprocess.Popen[bytes]) -> None:
    if worker.poll() is None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def _forget_vectors() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE corpus_app_passagevector, corpus_app_studytextvector, corpus_app_indexbatch")
        PassageSentence.objects.exclude(encoder="").update(encoder="", vector=None, kept_encoder="", kept_vector=None)
        Study.objects.update(indexed_by="")


def _busy_seconds() -> float:
    """Return the time that all cores together have worked since the machine started."""
    user, nice, system, _, _, irq, softirq = map(int, Path("/proc/stat").read_text("ascii").split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
