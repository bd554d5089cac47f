"""`manage.py index_corpus`: embed stale passages in the foreground."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from corpus_app import embedding, indexing, search
from corpus_app.embedding import EncoderUnavailable

BAR_WIDTH = 30


class Command(BaseCommand):
    help = "Embed the passages that wait to be indexed, with progress. Does what the worker does in the background."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--all", action="store_true", help="embed every passage anew, and drop the vectors of other encoders"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._shown = -1
        try:
            index = indexing.index_all if options["all"] else indexing.index_stale
            indexed = index(on_progress=self._show)
        except EncoderUnavailable as error:
            raise CommandError(str(error)) from error
        progress = indexing.progress()
        self.stdout.write(
            f"Indexed now: {indexed.count}. Indexed in all: {progress.done} of {progress.total} passages."
        )
        given_up = progress.missing
        if given_up:
            raise CommandError(f"Not indexed: {given_up}. `manage.py check_corpus` says which, and why.")

        self._build_ann()

    def _build_ann(self) -> None:
        """Build the approximate indexes that a large corpus lacks, as the worker does."""
        started = time.monotonic()
        built = indexing.maintain_ann([search.encoder_name(), embedding.active_name()])
        for row in built:
            self.stdout.write(f"Approximate index of {row}: recall@20 {row.recall:.1%} with ef_search {row.ef_search}.")
        if built:
            self.stdout.write(f"Built in {time.monotonic() - started:.1f} s.")

    def _show(self, progress: indexing.Progress) -> None:
        """Print progress with the pace of all workers: a bar on a terminal, else a line per tenth."""
        share = progress.done / progress.total if progress.total else 1.0
        if sys.stdout.isatty() and self.stdout._out is sys.stdout:
            filled = round(share * BAR_WIDTH)
            end = "\n" if progress.done == progress.total else ""
            bar = "#" * filled + "." * (BAR_WIDTH - filled)
            self.stdout.write(f"\r[{bar}] {_in_words(progress)}", ending=end)
            self.stdout.flush()
        elif int(share * 10) > self._shown:
            self._shown = int(share * 10)
            self.stdout.write(_in_words(progress))


def _in_words(progress: indexing.Progress) -> str:
    """Return the progress in words, with the pace and the remaining time where they are known."""
    words = f"{progress.done} of {progress.total} passages"
    pace = indexing.pace()
    if not pace or not progress.missing:
        return words
    return f"{words}, {pace:.1f} a second, {progress.missing / pace / 60:.0f} minutes left"
