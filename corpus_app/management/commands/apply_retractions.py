"""`manage.py apply_retractions`: set notices from a retraction list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from corpus_app import curation
from corpus_app.models import Study
from corpus_app.sources import retractions


class Command(BaseCommand):
    help = (
        "Sets notices from a list of retracted, corrected and doubted papers "
        "(CSV by DOI or PMID, as Retraction Watch's)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--dry-run", action="store_true", help="show what would be marked, and mark nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            reading = retractions.read(options["file"].read_bytes())
        except (OSError, retractions.BadList) as error:
            raise CommandError(str(error)) from error
        studies = Study.objects.values_list("study_id", "doi", "pmid")
        matches = tuple(retractions.match(reading.entries, studies))
        for problem in reading.problems[:20]:
            self.stderr.write(problem)
        for match in matches:
            self.stdout.write(f"{match.study_id}: {match.entry.notice.replace('_', ' ')} ({match.entry.reason})")
        if options["dry_run"]:
            self.stdout.write(
                f"{len(matches)} sources are named among {len(reading.entries):,} papers; nothing was marked."
            )
            return
        done = curation.apply_retractions(matches, by=None, by_name="apply_retractions")
        self.stdout.write(f"{len(done)} sources were marked; {len(matches) - len(done)} were already.")
