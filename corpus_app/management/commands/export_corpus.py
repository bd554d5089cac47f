"""`manage.py export_corpus DIR [--everything] [--golden] [--force]`: write the corpus as a folder of files."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from corpus_app import curation


class Command(BaseCommand):
    help = "Writes the whole corpus, drafts too, as the folder that import_corpus reads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", type=Path, metavar="DIR", help="an empty folder, or one to be made")
        parser.add_argument(
            "--everything", action="store_true", help="with comments, history and waivers, in the folder records"
        )
        parser.add_argument("--golden", action="store_true", help="with --everything: the golden questions, too")
        parser.add_argument("--force", action="store_true", help="write into a folder that holds files already")

    def handle(self, *, directory: Path | str, everything: bool, golden: bool, force: bool, **options: Any) -> None:
        folder = Path(directory)
        if folder.exists() and not folder.is_dir():
            raise CommandError(f"{folder} is a file. Name a folder.")
        if not force and folder.is_dir() and any(folder.iterdir()):
            raise CommandError(f"{folder} is not empty. Name another folder, or overwrite its files with --force.")
        if golden and not everything:
            raise CommandError("The golden questions come with --everything: add it, or leave --golden out.")
        try:
            write = partial(curation.export_everything, with_golden=golden) if everything else curation.export_corpus
            exported = write(folder)
        except OSError as error:
            raise CommandError(f"{folder} cannot be written: {error.strerror}.") from None
        self.stdout.write(
            f"{exported.studies} sources with {exported.passages} passages "
            f"and {exported.concepts} concepts in {folder}."
        )
