"""Restore a backup into the site's database."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from inform_site.backups import programs, restoring


class Command(BaseCommand):
    help = "Restores a backup into the site's database: the embedded one, or the one that DATABASE_URL names."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="delete what the database holds now")

    def handle(self, *, file: Path, replace: bool, **options: Any) -> None:
        started = time.monotonic()
        try:
            restored = restoring.restore(file, say=self.stdout.write, is_replaced=replace)
        except programs.BackupError as error:
            raise CommandError(str(error)) from error
        rows, seconds = sum(restored.manifest.counts.values()), time.monotonic() - started
        self.stdout.write(self.style.SUCCESS(f"Restored {rows:,} rows in {seconds:.1f} s; all counts are equal."))
        if restored.calibrations:
            self.stdout.write(f"The fitted models are in {restored.calibrations}: INFORM_CALIBRATIONS has to name it.")
        if restored.has_key:
            self.stdout.write("Start the site, and read /readyz.")
        elif restored.holds_key:
            self.stdout.write("SECRET_KEY is set, but not to that of the backup. Set it to what this prints: "
                              f"tar --extract --to-stdout --file {file} secret_key")  # fmt: skip
        else:
            self.stdout.write("Set SECRET_KEY to that of the site that was backed up. With another one, people sign in "
                              "again, and followers' addresses and stored keys cannot be read.")  # fmt: skip
