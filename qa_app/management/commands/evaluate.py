"""Measure the running system on questions with labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from qa_app.answers import asking
from qa_app.evaluation import golden_set, reader_figures, reader_tables, readers
from qa_app.pipeline.policy import PRESETS

TOLERANCE = 0.005  # a figure counts as worse when it falls by more than this


class Command(BaseCommand):
    help = "Measures answers on golden or on readers' questions, and prints the figures."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        golden = kinds.add_parser("golden", help="questions with labels, against the live corpus")
        golden.add_argument("file", type=Path, help="questions with labels, one JSON object a line")
        golden.add_argument("--baseline", type=Path, help="exit 1 when a figure is worse than in this file")
        readers = kinds.add_parser("readers", help="labelled questions as readers type them, against the live corpus")
        readers.add_argument("file", type=Path, help="labelled questions, one JSON object a line (docs/evaluation.md)")
        readers.add_argument("--baseline", type=Path, help="exit 1 when a figure is worse than in this file")
        for parser in (golden, readers):
            parser.add_argument("--json", type=Path, dest="out", help="write the figures and a row a question here")
            parser.add_argument("--preset", help=f"instead of the site's policy: {', '.join(PRESETS)}")
            parser.add_argument(
                "--set", action="append", default=[], metavar="NAME=VALUE", dest="changes", help="another figure in it"
            )

    def handle(self, *args: Any, **options: Any) -> None:
        measure = {"golden": self.golden, "readers": self.readers}[options["what"]]
        measure(**{name: options[name] for name in ("file", "out", "baseline", "preset", "changes")})

    # --- Golden questions ---

    def golden(
        self, *, file: Path, out: Path | None, baseline: Path | None, preset: str | None, changes: list[str]
    ) -> None:
        try:
            before = self.read_baseline(baseline)
            figures = golden_set.evaluate_file(
                file, on_progress=lambda done: self.progress("questions", done), preset=preset, changes=changes
            )
        except (OSError, golden_set.BadGolden, asking.BadPolicy) as error:
            raise CommandError(str(error)) from error
        self.show(figures)
        write(figures, out)
        if before is not None:
            self.compare(figures, before)

    def read_baseline(self, path: Path | None) -> dict[str, Any] | None:
        """Read the figures of an earlier run, so that a bad file fails before the evaluation."""
        if path is None:
            return None
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise CommandError(f"{path} holds no figures of an earlier run: {error}") from error

    def progress(self, what: str, done: int, total: int = 0) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r\033[K{what} {done}{f' of {total}' if total else ''} ", ending="")
            self.stderr.flush()

    def show(self, figures: dict[str, Any]) -> None:
        columns = ("n", "ndcg@10", "recall@10", "main recall@5", "section hit", "answered", "refused", "guardrail")
        self.stdout.write(f"\n{'':22}" + "".join(f"{column:>{len(column) + 2}}" for column in columns))
        for kind, row in {**figures["by_kind"], "all answerable": figures["answerable"]}.items():
            self.stdout.write(
                f"{kind:22}" + "".join(f"{format_figure(row.get(column)):>{len(column) + 2}}" for column in columns)
            )
        answered = figures["answered"]
        self.stdout.write(
            f"\nOf {answered['n']} answers, {answered['cites a main study']:.1%} cite a main study; "
            f"{answered['cited studies relevant']:.1%} of the studies cited are relevant."
        )
        final, abstention = figures["final passages"], figures["abstention"]
        self.stdout.write(
            f"Of {final['n']} final passages, {final['distinct places']:.1%} stand at a place of their own;\n"
            f"{final['near duplicates']:.1%} of the pairs are near duplicates."
        )
        self.stdout.write(f"Questions that came to the search without candidates: {figures['without candidates']}.")
        self.stdout.write(f"Sentences without exact words behind them: {figures['unsupported sentences']}.")
        self.stdout.write("\nAbstention")
        for name in ("precision", "recall", "refused near", "refused far", "wrongly refused"):
            self.stdout.write(f"  {name:22}{format_share(abstention[name])}")
        self.stdout.write(f"  {'not guarded wrongly':22}{format_share(figures['no false guardrail'])}")
        self.stdout.write(f"\n{'Milliseconds':18}{'p50':>8}{'p95':>8}")
        for stage, spent in {"a whole answer": figures["milliseconds"], **figures["stages"]}.items():
            self.stdout.write(f"  {stage:16}{spent['p50']:>8.1f}{spent['p95']:>8.1f}")

    def compare(self, figures: dict[str, Any], baseline: dict[str, Any]) -> None:
        worse = golden_set.worse(figures, baseline, tolerance=TOLERANCE)
        if worse:
            raise CommandError("Worse than the baseline:\n" + "\n".join(worse))
        self.stdout.write(self.style.SUCCESS("No figure is worse than the baseline."))

    # --- Readers' questions ---

    def readers(
        self, *, file: Path, out: Path | None, baseline: Path | None, preset: str | None, changes: list[str]
    ) -> None:
        try:
            before = self.read_baseline(baseline)
            report = readers.evaluate_readers(file, preset=preset, changes=changes, report=self.progress)
            worse = reader_figures.worse(report, before) if before is not None else []
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(reader_tables.readers_text(report))
        write(report, out)
        if worse:
            raise CommandError("Worse than the baseline:\n" + "\n".join(worse))
        if before is not None:
            self.stdout.write(self.style.SUCCESS("No figure is worse than the baseline."))


def format_figure(value: float | None) -> str:
    """Format a figure for a column of a table."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def format_share(figure: dict[str, Any]) -> str:
    if not figure["n"]:
        return "none asked"
    low, high = figure["interval"]
    return f"{figure['share']:.1%} of {figure['n']} (95 %: {low:.0%} to {high:.0%})"


def write(figures: dict[str, Any], path: Path | None) -> None:
    if path:
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
