"""`python -m lab load`: ask a running site with many clients at once, and report what was served and refused."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx2
from django.core.management.base import BaseCommand, CommandError

from lab.own_site import megabytes

PATIENCE_SECONDS = 30.0
REST_SECONDS = 20.0  # after which memory is measured again
GOAL_SECONDS = 2.0  # of the slowest hundredth of what was served
QUESTIONS = ("How many sets per week?", "Is it safe for older people?", "What helps most?", "How often should I train?")


@dataclass
class Tally:
    """Count what the clients received."""

    served: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    without_retry_after: int = 0
    failures: Counter[str] = field(default_factory=Counter)


class Command(BaseCommand):
    help = "Asks a running site with many clients at once, who wait as Retry-After tells them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", help="of the site, e.g. http://127.0.0.1:8000")
        parser.add_argument("--clients", type=int, default=128)
        parser.add_argument("--seconds", type=float, default=60.0)
        parser.add_argument("--pid", type=int, help="of the web process, to compare its memory before and after")
        parser.add_argument("--impatient", action="store_true", help="ask again at once, whatever Retry-After says")

    def handle(self, *args: Any, **options: Any) -> None:
        pid = options["pid"]
        before = _megabytes(pid)
        tally = asyncio.run(_run(options["url"], options["clients"], options["seconds"], options["impatient"]))
        if not tally.served:
            raise CommandError(f"{options['url']} served nothing: {dict(tally.failures)}")
        served, refused = sorted(tally.served), sorted(tally.refused)
        self.stdout.write(
            f"served {len(served)}: p50 {statistics.median(served):.2f} s, p99 {_p99(served):.2f} s, "
            f"slowest {served[-1]:.2f} s"
        )
        if refused:
            self.stdout.write(
                f"refused with 503 {len(refused)}: p50 {statistics.median(refused):.3f} s, p99 {_p99(refused):.3f} s, "
                f"{tally.without_retry_after} of them without Retry-After"
            )
        self.stdout.write(f"other failures: {dict(tally.failures) or 0}")
        if pid:
            time.sleep(REST_SECONDS)
            self.stdout.write(f"memory: {before:.0f} MB before, {_megabytes(pid):.0f} MB after")
        if tally.failures or tally.without_retry_after or _p99(served) > GOAL_SECONDS:
            raise CommandError(f"The goal is missed: no failure, and p99 within {GOAL_SECONDS:g} s.")


async def _run(url: str, clients: int, seconds: float, is_impatient: bool) -> Tally:
    tally, end = Tally(), time.monotonic() + seconds
    limits = httpx2.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE_SECONDS, limits=limits) as client:
        await asyncio.gather(*(_visit(client, tally, end, is_impatient) for _ in range(clients)))
    return tally


async def _visit(client: httpx2.AsyncClient, tally: Tally, end: float, is_impatient: bool) -> None:
    """Ask and read like a visitor until the end: half of the requests are questions."""
    while time.monotonic() < end:
        started = time.monotonic()
        try:
            response = await _request(client)
        except httpx2.HTTPError as error:
            tally.failures[type(error).__name__] += 1
            continue
        spent = time.monotonic() - started
        if response.is_success:
            tally.served.append(spent)
        elif response.status_code == httpx2.codes.SERVICE_UNAVAILABLE:
            tally.refused.append(spent)
            wait = response.headers.get("retry-after", "")
            tally.without_retry_after += not wait.isdigit()
            if not is_impatient:
                await asyncio.sleep(int(wait or 1) * random.uniform(0.5, 1.5))  # noqa: S311  # no secret
        else:
            tally.failures[str(response.status_code)] += 1


async def _request(client: httpx2.AsyncClient) -> httpx2.Response:
    if random.random() < 0.5:  # noqa: S311  # no secret
        question = f"{random.choice(QUESTIONS)[:-1]} {random.randrange(10_000)}?"  # noqa: S311  # no secret
        return await client.post("/api/v1/answers", json={"question": question})
    return await client.get(random.choice(("/", "/api/v1/studies", "/api/v1/collections")))  # noqa: S311  # no secret


def _p99(values: list[float]) -> float:
    return values[int(0.99 * (len(values) - 1))]


def _megabytes(pid: int | None) -> float:
    """Return the resident memory of a process; 0 where none is named."""
    return 0.0 if pid is None else megabytes(pid)
