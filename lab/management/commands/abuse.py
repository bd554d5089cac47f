"""`python -m lab abuse`: send a site of its own what strangers send; it may neither break, leak nor obey."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from lab import abuse, obedient_model
from lab.own_site import own_site

SHOWN = 20  # broken promises of each kind


class Command(BaseCommand):
    help = "Sends a site of its own hostile requests, texts and files; status 1 where it broke a promise."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, help="of hostile texts: naughty_strings, xss, xxe, ...")
        parser.add_argument("--number", type=int, default=20_000, help="of requests, about")
        parser.add_argument("--orders", type=int, default=300, help="planted in four places each")
        parser.add_argument("--data", type=Path, help="folder to keep the site in (default: a new one, thrown away)")

    def handle(self, *args: Any, **options: Any) -> None:
        texts, orders, xml = abuse.read_folder(options["folder"]) if options["folder"] else ([], [], [])
        orders = [*abuse.ORDERS, *orders][: options["orders"]]
        n_broken = 0
        self.stdout.write(f"{'kind':<25}{'requests':>9}{'2xx':>7}{'4xx':>7}{'503':>6}{'broken':>8}")
        with obedient_model.serving() as model:
            named = {"OPENAI_BASE_URL": model.base_url, "OPENAI_MODEL": "obeys", "OPENAI_API_KEY": "none"}
            with own_site(options["data"], **named) as site:
                for tally in abuse.sweep(site, options["number"], [*abuse.TEXTS, *texts], orders, xml):
                    n_broken += len(tally.broken)
                    of = {n: sum(v for k, v in tally.statuses.items() if k // 100 == n) for n in (2, 4)}
                    self.stdout.write(
                        f"{tally.kind:<25}{tally.statuses.total():>9}{of[2]:>7}{of[4]:>7}{tally.statuses[503]:>6}"
                        f"{len(tally.broken):>8}"
                    )
                    self.stdout.flush()
                    for broken in tally.broken[:SHOWN]:
                        self.stderr.write(f"{tally.kind}: {broken}")
            asked = model.n_asked
        self.stdout.write(f"requests to the model that obeys: {asked}")
        if n_broken:
            raise CommandError(f"{n_broken} promises were broken.")
