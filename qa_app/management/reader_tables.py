"""Reports on reader questions and on corpus folders, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qa_app.reader_figures import FIGURES

COUNTS = frozenset({"summary_words", "near_confidence"} | {figure.name for figure in FIGURES if figure.is_count})
COLUMNS = {"figures": "English", "follow_ups": "of them follow-ups", "other_languages": "other languages"}


def readers_text(report: Mapping[str, Any]) -> str:
    """Print each figure with the number of questions behind it; the blocks stand side by side."""
    lines = [f"\n{_source(report)}", f"{'':22}" + "".join(f"{title:>22}{'n':>5}" for title in COLUMNS.values())]
    for name in report["figures"]:
        cells = (report[block][name] for block in COLUMNS)
        lines.append(f"{name:22}" + "".join(f"{_value(name, cell):>22}{cell['n']:>5}" for cell in cells))
    lines += ["", "Outcomes by what was expected", *_counts(report["outcomes"])]
    if report["verdicts"]:
        lines += ["", "Headline verdicts by the labelled verdict", *_counts(report["verdicts"])]
    return "\n".join([*lines, *_last_lines(report), _milliseconds(report)])


def corpus_text(report: Mapping[str, Any]) -> str:
    """Print each figure of a corpus folder as a count of questions."""
    lines = [f"\n{_source(report)}"]
    for name, row in report["figures"].items():
        if "count" in row:
            lines.append(f"{name:22}{row['count']:>6} of {row['n']}")
        else:
            lines.append(f"{name:22}{_value(name, row):>6}")
    lines += ["", "Outcomes by what was expected", *_counts(report["outcomes"])]
    return "\n".join([*lines, *_last_lines(report)])


def _source(report: Mapping[str, Any]) -> str:
    return (
        f"{report['source']}: {report['questions']} questions, corpus version {report['corpus_version']}, "
        f"{report['encoder']}, policy {report['policy']}."
    )


def _value(name: str, row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return "-"
    return f"{row['value']:g}" if name in COUNTS else f"{row['value']:.3f}"


def _counts(rows: Mapping[str, Mapping[str, int]]) -> list[str]:
    return [f"  {name:20}{', '.join(f'{key} {n}' for key, n in counts.items())}" for name, counts in rows.items()]


def _last_lines(report: Mapping[str, Any]) -> list[str]:
    rejected = report["not_accepted"]
    return ["", f"{rejected} questions were not accepted; the table of --json says why."] if rejected else []


def _milliseconds(report: Mapping[str, Any]) -> str:
    times = report["milliseconds"]
    return f"\nMilliseconds an answer: p50 {times['p50']:.1f}, p95 {times['p95']:.1f}."
