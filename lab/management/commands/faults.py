"""`python -m lab faults`: hurt a site of its own in the middle of its work, and check that nothing is lost."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import defaultdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from lab import faults
from lab.own_site import own_site


class Command(BaseCommand):
    help = (
        "Hurts a site of its own while it answers, publishes, imports and indexes; status 1 where it broke a promise."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--number", type=int, default=224, help="of faults (28 are every stage with every fault)")
        parser.add_argument("--recovery", type=float, default=faults.RECOVERY_SECONDS, help="seconds allowed")
        parser.add_argument("--data", type=Path, help="folder to keep the site in (default: a new one, thrown away)")

    def handle(self, *args: Any, **options: Any) -> None:
        rows: dict[str, list[faults.Outcome]] = defaultdict(list)
        with own_site(options["data"]) as site:
            for outcome in faults.sweep(site, options["number"], recovery_seconds=options["recovery"]):
                rows[outcome.fault].append(outcome)
                told = outcome.broken or [f"served again after {outcome.recovery:.1f} s"]
                self.stderr.write(f"{outcome.fault} during {outcome.stage}: {'; '.join(told)}")
        self.stdout.write(f"{'fault':<17}{'tried':>6}{'broken':>8}{'served again, slowest':>24}")
        for fault, outcomes in sorted(rows.items()):
            n_broken = sum(bool(outcome.broken) for outcome in outcomes)
            slowest = max(outcome.recovery for outcome in outcomes)
            self.stdout.write(f"{fault:<17}{len(outcomes):>6}{n_broken:>8}{slowest:>22.1f} s")
        if n_broken := sum(bool(outcome.broken) for outcomes in rows.values() for outcome in outcomes):
            raise CommandError(f"{n_broken} faults broke a promise of the site.")
