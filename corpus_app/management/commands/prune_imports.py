"""`manage.py prune_imports`: delete the file contents of old import jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from corpus_app.curation import jobs


class Command(BaseCommand):
    help = "Forgets the files of imports that ended long ago; their drafts, problems and reports stay."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--days", type=int, default=settings.IMPORT_FILES_DAYS, help="keep those of the last DAYS days"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["days"] < 0:
            raise CommandError("--days is a number of days, 0 or more.")
        count = jobs.prune(before=timezone.now() - timedelta(days=options["days"]))
        self.stdout.write(f"Files forgotten: {count}.")
