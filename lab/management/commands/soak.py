"""`python -m lab soak`: work a site of its own for long, and check that memory and connections stay as they are."""

from __future__ import annotations

import random
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from lab import faults
from lab.own_site import OwnSite, megabytes, own_site

CLIENTS = 2
WARM_SHARE = 0.3  # of the time: caches, models and pools fill up
SAMPLE_SECONDS = 2.0
GROWTH = 1.05
SLACK_MEGABYTES = 4.0  # an allocator's step
ASKED = ("When should tomatoes be sown?", "When are zebras sown?")  # one is answered, one refused
READ = ("/", "/corpus/", "/api/v1/studies", "/api/v1/collections", "/api/v1/search?q=warm+soil")


class Command(BaseCommand):
    help = "Works a site of its own for long; status 1 where memory grew by more than 5 % or connections grew."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--minutes", type=float, default=30.0)
        parser.add_argument("--data", type=Path, help="folder to keep the site in (default: a new one, thrown away)")

    def handle(self, *args: Any, **options: Any) -> None:
        with own_site(options["data"]) as site:
            rows = soak(site, 60 * options["minutes"])
        self.stdout.write(f"{'what':<14}{'after warming':>15}{'at the end':>12}")
        for name, before, after, _ in rows:
            self.stdout.write(f"{name:<14}{before:>15.0f}{after:>12.0f}")
        if grown := [name for name, _, _, has_grown in rows if has_grown]:
            raise CommandError(f"These grew: {', '.join(grown)}.")


def soak(site: OwnSite, seconds: float) -> list[tuple[str, float, float, bool]]:
    """Ask, read, publish and import for so long; return each figure after warming and at the end, and whether it grew.

    Memory is in megabytes by process. Each figure is the median of the tenth of the time at its place.
    """
    is_over = threading.Event()
    threads = [threading.Thread(target=_work, args=[site, is_over]) for _ in range(CLIENTS)]
    samples: list[dict[str, float]] = []
    started = time.monotonic()
    for thread in threads:
        thread.start()
    while time.monotonic() - started < seconds:
        samples.append(_sample(site))
        is_over.wait(SAMPLE_SECONDS)
    is_over.set()
    for thread in threads:
        thread.join()
    tenth, warm = max(1, len(samples) // 10), int(WARM_SHARE * len(samples))
    rows = []
    for name in sorted(samples[-1]):
        before = _median(samples[warm : warm + tenth], name)
        after = _median(samples[-tenth:], name)
        limit = before if name == "connections" else max(GROWTH * before, before + SLACK_MEGABYTES)
        rows.append((name, before, after, after > limit))
    rows.append(("5xx", 0.0, float(len(site.server_errors)), bool(site.server_errors)))
    return rows


def _work(site: OwnSite, is_over: threading.Event) -> None:
    acts: tuple[Callable[[], object], ...] = (
        lambda: site.persist("POST", "/api/v1/answers", json={"question": random.choice(ASKED)}),  # noqa: S311
        *(lambda path=path: site.persist("GET", path) for path in READ),
    )
    while not is_over.is_set():
        if random.random() < 0.02:  # noqa: S311  # no secret
            stage = random.choice((faults.publish, faults.import_file))  # noqa: S311  # no secret
            stage(site, faults.new_word())
        random.choice(acts)()  # noqa: S311  # no secret


def _sample(site: OwnSite) -> dict[str, float]:
    figures = {
        f"{name} {number}" if len(pids) > 1 else name: megabytes(pid)
        for name, pids in site.processes().items()
        for number, pid in enumerate(sorted(pids), start=1)
    }
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    return figures | {"connections": float(site.count(query))}


def _median(samples: list[dict[str, float]], name: str) -> float:
    values = sorted(sample[name] for sample in samples if name in sample)
    return values[len(values) // 2] if values else 0.0
