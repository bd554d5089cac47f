"""`manage.py replace_corpus DIR`: swap the whole corpus for that of another folder, in one act."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from corpus_app import curation, sources
from corpus_app.curation import CannotReplace, CurationError, Replacement
from corpus_app.management.commands.import_corpus import find_user


class Command(BaseCommand):
    help = (
        "Replaces the corpus by a folder: sources, concepts, site file and word lists, all or nothing. Sources that "
        "the folder does not have are archived: no question finds them, and stored answers keep their words."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--dry-run", action="store_true", help="say what would happen, and change nothing")
        parser.add_argument("--yes", action="store_true", help="do not ask whether to go on")
        parser.add_argument("--by", metavar="USER", help="whose act this is in the history (a user name)")

    def handle(self, *, folder: Path, dry_run: bool, yes: bool, by: str | None, **options: Any) -> None:
        self._options: dict[str, Any] = {"by": find_user(by) if by else None, "by_name": "replace_corpus"}
        if not (dry_run or yes or sys.stdin.isatty()):
            raise CommandError("Nothing was changed. Look with --dry-run, then go on with --yes.")
        try:
            corpus = sources.read(folder)
        except sources.Unreadable as error:
            raise CommandError(str(error)) from None
        for note in corpus.notes:
            self.stdout.write(str(note))
        if dry_run or not yes:
            self._print(self._replace(corpus, folder, dry_run=True), was="would be")
        if dry_run or not (yes or self._is_confirmed()):
            self.stdout.write("Nothing was changed.")
            return
        done = self._replace(corpus, folder, dry_run=False)
        self._print(done, was="were")
        if not done.is_embedded:
            self.stdout.write("Some passages are found by their words alone until a worker has embedded them.")

    def _replace(self, corpus: sources.CorpusDraft, folder: Path, *, dry_run: bool) -> Replacement:
        try:
            return curation.replace_corpus(corpus, name=folder.resolve().name, dry_run=dry_run, **self._options)
        except CannotReplace as error:
            for problem in error.problems:
                self.stderr.write(problem)
            raise CommandError("Nothing was changed. Correct these and repeat.") from None
        except CurationError as error:
            raise CommandError(f"Nothing was changed. {error}") from None

    def _is_confirmed(self) -> bool:
        return input("Replace the corpus? Type yes: ").strip().lower() == "yes"

    def _print(self, done: Replacement, *, was: str) -> None:
        for note in (*done.notes, *done.imported.notes):
            self.stdout.write(note)
        report = done.imported
        self.stdout.write(
            f"Archived {was} {len(done.archived)} sources and removed {done.concepts} concepts. "
            f"Brought in {was} {report.created} new sources and {report.updated} changed ones, {report.unchanged} "
            f"stay; {report.published} {was} published."
        )
