"""Measure how corpus folders answer their own labelled questions, each in a temporary database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from corpus_app import search
from lab import scratch_corpus
from qa_app.evaluation import corpus_calibration, reader_figures, reader_tables, readers
from qa_app.evaluation.reader_figures import ReaderResult
from qa_app.evaluation.reader_labels import read_labels

QUESTIONS = "questions.jsonl"  # of a corpus folder


class BadFolder(ValueError):
    """A corpus folder that cannot be imported; the message names the command that lists its errors."""


def evaluate_corpora(
    folders: Sequence[Path], *, preset: str | None = None, changes: Sequence[str] = (), cache: Path,
    report: readers.Progress,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield how each corpus folder answers its own questions, calibrated as its site would be, and then all together.

    Raises BadLabels, BadPolicy and BadFolder.
    """
    policy = readers.policy_of(preset, changes)
    labelled = [(folder, read_labels(folder / QUESTIONS)) for folder in folders]
    pooled: list[ReaderResult] = []
    described: dict[str, Any] = {}
    for folder, questions in labelled:
        try:
            with scratch_corpus.library(folder, search.encoder_name(), cache=cache, report=report) as faults:
                corpus_calibration.calibrate()
                results = readers.ask_all(questions, policy=policy, report=report)
                described = readers.describe_run(folder, policy) | {"faults": faults}
        except CommandError as error:
            raise BadFolder(f"{folder}: {error} `manage.py check_folder {folder}` lists the faults.") from error
        pooled += results
        yield described | reader_figures.corpus_report(results)
    if len(folders) > 1:
        yield described | {"source": "all of them", "faults": ""} | reader_figures.corpus_report(pooled)


def corpus_text(report: Mapping[str, Any]) -> str:
    """Print each figure of a corpus folder as a count of questions."""
    lines = [f"\n{reader_tables.source_line(report)}", *filter(None, [report["faults"]])]
    for name, row in report["figures"].items():
        if "count" in row:
            lines.append(f"{name:22}{row['count']:>6} of {row['n']}")
        else:
            lines.append(f"{name:22}{reader_tables.format_value(name, row):>6}")
    lines += ["", "Outcomes by what was expected", *reader_tables.count_lines(report["outcomes"])]
    return "\n".join([*lines, *reader_tables.last_lines(report)])
