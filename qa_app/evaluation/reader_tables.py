"""Print the figures of reader questions as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qa_app.evaluation.reader_figures import FIGURES

COUNTS = frozenset({"summary_words", "near_confidence"} | {figure.name for figure in FIGURES if figure.is_count})
COLUMNS = {"figures": "English", "follow_ups": "of them follow-ups", "other_languages": "other languages"}


def readers_text(report: Mapping[str, Any]) -> str:
    """Return the figures as text, with the number of questions behind each."""
    lines = [f"\n{source_line(report)}", f"{'':22}" + "".join(f"{title:>22}{'n':>5}" for title in COLUMNS.values())]
    for name in report["figures"]:
        cells = (report[block][name] for block in COLUMNS)
        lines.append(f"{name:22}" + "".join(f"{format_value(name, cell):>22}{cell['n']:>5}" for cell in cells))
    lines += ["", "Outcomes by what was expected", *count_lines(report["outcomes"])]
    if report["verdicts"]:
        lines += ["", "Headline verdicts by the labelled verdict", *count_lines(report["verdicts"])]
    return "\n".join([*lines, *last_lines(report), _milliseconds(report)])


def source_line(report: Mapping[str, Any]) -> str:
    return (
        f"{report['source']}: {report['questions']} questions, corpus version {report['corpus_version']}, "
        f"{report['encoder']}, policy {report['policy']}."
    )


def format_value(name: str, row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return "-"
    return f"{row['value']:g}" if name in COUNTS else f"{row['value']:.3f}"


def count_lines(rows: Mapping[str, Mapping[str, int]]) -> list[str]:
    return [f"  {name:20}{', '.join(f'{key} {n}' for key, n in counts.items())}" for name, counts in rows.items()]


def last_lines(report: Mapping[str, Any]) -> list[str]:
    rejected = report["not_accepted"]
    return ["", f"{rejected} questions were not accepted; the table of --json says why."] if rejected else []


def _milliseconds(report: Mapping[str, Any]) -> str:
    times = report["milliseconds"]
    return f"\nMilliseconds an answer: p50 {times['p50']:.1f}, p95 {times['p95']:.1f}."
