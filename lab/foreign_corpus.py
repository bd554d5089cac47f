"""Measure how a corpus folder answers its own labelled questions, in a temporary database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from corpus_app import search
from lab import scratch_corpus
from qa_app.evaluation import reader_figures, reader_tables, readers
from qa_app.evaluation.reader_labels import read_labels

QUESTIONS = "questions.jsonl"  # of a corpus folder


class BadFolder(ValueError):
    """A corpus folder that cannot be imported; the message names the command that lists its errors."""


def evaluate_corpus(
    folder: Path, *, preset: str | None = None, changes: Sequence[str] = (), cache: Path, report: readers.Progress
) -> dict[str, Any]:
    """Measure how a corpus folder answers its own questions, in a temporary database.

    Raises BadLabels, BadPolicy and BadFolder.
    """
    policy = readers.policy_of(preset, changes)
    questions = read_labels(folder / QUESTIONS)
    try:
        with scratch_corpus.library(folder, search.encoder_name(), cache=cache, report=report):
            results = readers.ask_all(questions, policy=policy, report=report)
            described = readers.describe_run(folder, policy)
    except CommandError as error:
        raise BadFolder(f"{folder}: {error} `manage.py import_corpus {folder} --dry-run` lists the faults.") from error
    return described | reader_figures.corpus_report(results)


def corpus_text(report: Mapping[str, Any]) -> str:
    """Print each figure of a corpus folder as a count of questions."""
    lines = [f"\n{reader_tables.source_line(report)}"]
    for name, row in report["figures"].items():
        if "count" in row:
            lines.append(f"{name:22}{row['count']:>6} of {row['n']}")
        else:
            lines.append(f"{name:22}{reader_tables.format_value(name, row):>6}")
    lines += ["", "Outcomes by what was expected", *reader_tables.count_lines(report["outcomes"])]
    return "\n".join([*lines, *reader_tables.last_lines(report)])
