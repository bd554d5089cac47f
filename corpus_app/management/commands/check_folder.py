"""`manage.py check_folder DIR`: report what an import of a corpus folder would report, without a database."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from corpus_app import curation, sources


class Command(BaseCommand):
    help = "Checks a corpus folder before anything is imported: files, keys, references, and the text of each passage."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *, folder: Path, **options: Any) -> None:
        try:
            corpus = sources.read(folder)
        except sources.Unreadable as error:
            raise CommandError(str(error)) from None
        lines = [*map(str, corpus.problems), *curation.find_faults(corpus)]
        if not lines and not corpus.studies:
            lines.append(f"{folder / sources.STUDIES}: holds no file yet; put your pages, books and JSON files there.")
        for line in lines:
            self.stderr.write(line)
        for note in corpus.notes:
            self.stdout.write(f"Note: {note}")
        passages = sum(len(study.passages) for study in corpus.studies)
        self.stdout.write(
            f"Sound sources: {len(corpus.studies)}, with {passages} passages; broken: {corpus.broken}. "
            f"Concepts: {len(corpus.vocabulary.concepts)}. Problems: {len(lines)}."
        )
        if lines:
            raise CommandError(
                "Correct these, or import what is sound: a published source with broken text stays a draft."
            )
