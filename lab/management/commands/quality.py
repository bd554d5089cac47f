"""`python -m lab quality`: measure the text-quality gate on planted defects."""

from __future__ import annotations

import json
import random
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from corpus_app import sources
from lab import planting


class Command(BaseCommand):
    help = (
        "Plants defects in clean passages, one at a time, and says how many of them the text-quality gate finds and "
        "in how many "
        "clean passages it finds something. Reads files only; the corpus in the database is not touched."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", type=Path, default=settings.BASE_DIR / "corpus", help="a folder of study files")
        parser.add_argument(
            "--articles", type=Path, help="a folder of articles in any format that can be imported, added to it"
        )
        parser.add_argument(
            "--sample", type=int, default=2_000, help="at most so many passages of the articles, drawn by lot"
        )
        parser.add_argument("--plants", type=int, default=1_000, help="how many defects are planted")
        parser.add_argument("--seed", type=int, default=1, help="another seed plants other defects in other places")
        parser.add_argument(
            "--json", type=Path, dest="out", help="write the figures, the misses and the false alarms here"
        )

    def handle(
        self, *, corpus: Path, articles: Path | None, sample: int, plants: int, seed: int, out: Path | None,
        **options: Any,
    ) -> None:  # fmt: skip
        try:
            texts = [passage.text for study in sources.read(corpus).studies for passage in study.passages]
            texts += _of_articles(articles, sample, seed) if articles else []
        except (sources.Unreadable, OSError) as error:
            raise CommandError(str(error)) from error
        if not texts or plants < 1:
            raise CommandError("There is no passage to plant a defect in, or no defect to plant.")
        measured = planting.measure(texts, plants=plants, seed=seed)
        figures = _figures(measured, seed)
        for kind, row in figures["by_kind"].items():
            self.stdout.write(f"{kind:16} {row['found']:>5} of {row['planted']:>5} found")
        self.stdout.write(
            f"Found {measured.found} of {measured.planted} planted defects ({figures['found']:.1%}); "
            f"something was found in {measured.flagged} of {measured.clean} clean passages ({figures['flagged']:.1%})."
        )
        if out:
            out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _of_articles(folder: Path, sample: int, seed: int) -> list[str]:
    texts = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        reading = sources.read_file(sources.source_of(path), sources.Intake())
        texts += [passage.text for study in reading.studies for passage in study.passages]
    return random.Random(seed).sample(texts, min(sample, len(texts)))  # noqa: S311  repeatable on purpose


def _figures(measured: planting.Measured, seed: int) -> dict[str, Any]:
    return {
        "seed": seed,
        "planted": measured.planted,
        "found": measured.found / max(1, measured.planted),
        "clean_passages": measured.clean,
        "flagged": measured.flagged / max(1, measured.clean),
        "by_kind": {kind: {"found": found, "planted": planted} for kind, (found, planted) in measured.by_kind.items()},
        "missed": [
            {"kind": missed.kind, "around": missed.text[max(0, missed.start - 40) : missed.end + 40]}
            for missed in measured.missed
        ],
        "false_alarms": [
            {"kind": fault.kind, "words": fault.words, "mend": fault.mend} for _, fault in measured.wrongly
        ],
    }
