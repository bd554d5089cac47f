"""Back the whole site up into one file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from inform_site.backups import making, programs

SHOWN = {"corpus_app_study": "studies", "corpus_app_passage": "passages", "qa_app_answer": "answers"}


class Command(BaseCommand):
    help = "Backs the site up into one file, and tries the file by restoring it into a scratch database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("target", type=Path, metavar="FILE_OR_FOLDER", help="a new file, or a folder for one")
        parser.add_argument("--untried", action="store_true", help="do not restore it into a scratch database")

    def handle(self, *, target: Path, untried: bool, **options: Any) -> None:
        started = time.monotonic()
        try:
            made = making.make(target, say=self.stdout.write, is_tried=not untried)
        except programs.BackupError as error:
            raise CommandError(str(error)) from error
        counts = ", ".join(f"{made.manifest.counts.get(table, 0):,} {word}" for table, word in SHOWN.items())
        how = "restored on trial, all counts equal" if made.is_tried else "not tried"
        seconds = time.monotonic() - started
        size = programs.size_of(made.path)
        self.stdout.write(self.style.SUCCESS(f"{made.path}: {size}, {counts}; {how}; {seconds:.1f} s"))
        if made.holds_key:
            self.stdout.write("It holds the site's secret key: whoever has the file can read what the site encrypts.")
        else:
            self.stdout.write("It does not hold SECRET_KEY: keep that elsewhere. Without it, signed-in people sign in "
                              "again, and followers' addresses and stored keys are lost.")  # fmt: skip
