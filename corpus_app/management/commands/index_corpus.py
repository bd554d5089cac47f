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
WAIT_SECONDS = 0.5


class Command(BaseCommand):
    help = "Embed the passages that wait to be indexed, with progress. Does what the worker does in the background."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--all", action="store_true", help="embed every passage anew, and drop the vectors of other encoders"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._shown = -1
        try:
            indexed = self._index(options["all"])
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

    def _index(self, everything: bool) -> indexing.Indexed:
        has_announced = False
        while True:
            with indexing.index_lock() as is_ours:
                if is_ours:
                    index = indexing.index_all if everything else indexing.index_stale
                    return index(on_progress=self._show)
            if not has_announced:
                self.stdout.write("A worker is indexing already; waiting for it.")
                has_announced = True
            time.sleep(WAIT_SECONDS)

    def _show(self, progress: indexing.Progress) -> None:
        """Print progress: a bar on a terminal, else a line per tenth."""
        share = progress.done / progress.total if progress.total else 1.0
        if sys.stdout.isatty() and self.stdout._out is sys.stdout:
            filled = round(share * BAR_WIDTH)
            end = "\n" if progress.done == progress.total else ""
            bar = "#" * filled + "." * (BAR_WIDTH - filled)
            self.stdout.write(f"\r[{bar}] {progress.done} of {progress.total} passages", ending=end)
            self.stdout.flush()
        elif int(share * 10) > self._shown:
            self._shown = int(share * 10)
            self.stdout.write(f"{progress.done} of {progress.total} passages")
