"""What screening tools and reference managers say of a record besides its bibliography, as labels of its draft."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from corpus_app.records import LABEL_LETTERS

EXCLUDED = ": excluded"
_RAYYAN = re.compile(r"RAYYAN-([A-Z-]{1,40}):|USER-NOTES:")
_VERDICT = re.compile(r"(?:=>|:)\s*[\"']?(included|excluded|maybe)\b", re.IGNORECASE)
_REASON = re.compile(r"Exclusion reason:\s*([^;|\n]+)", re.IGNORECASE)
_LIST = re.compile(r"[;,|\n]")


def exclusions(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the labels that say that a study was excluded where it comes from."""
    return tuple(label for label in labels if label.endswith(EXCLUDED))


def note_labels(notes: Sequence[str]) -> list[str]:
    """Return the decisions, exclusion reasons and labels that Rayyan and Covidence write into notes."""
    found: list[str] = []
    for note in notes:
        found += _rayyan_labels(note)
        if reasons := [match[1].strip() for match in _REASON.finditer(note)]:
            found += [f"Covidence{EXCLUDED}", *(f"Covidence: {reason}" for reason in reasons)]
    return found


def _rayyan_labels(note: str) -> Iterator[str]:
    marks = [*_RAYYAN.finditer(note)]
    for mark, following in zip_longest(marks, marks[1:]):
        key, value = mark[1], note[mark.end() : following.start() if following else len(note)].strip(" |\n\t")
        if key == "INCLUSION":
            verdicts = {verdict.lower() for verdict in _VERDICT.findall(value)}
            if verdicts:
                yield f"Rayyan: {verdicts.pop() if len(verdicts) == 1 else 'conflict'}"
        elif key in {"LABELS", "EXCLUSION-REASONS"}:
            yield from (f"Rayyan: {part}" for part in _parts(value))


def tag_labels(tags: str, tool: str) -> list[str]:
    """Return the tags of a cell, each with the name of the tool where one is known."""
    return [f"{tool}: {part}" if tool else part for part in _parts(tags)]


def column_labels(decision: str, reasons: str, tool: str) -> list[str]:
    """Return the labels of a column with a decision and one with exclusion reasons."""
    named = tool or "Screening"
    verdict = re.match(r"\s*(includ|exclud|maybe|conflict)", decision, re.IGNORECASE)
    word = verdict[1].lower() if verdict else ""
    word += "ed" if word in {"includ", "exclud"} else ""
    if not word and _parts(reasons):
        word = "excluded"
    return ([f"{named}: {word}"] if word else []) + [f"{named}: {part}" for part in _parts(reasons)]


def clean_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels of one line and bounded length, each once."""
    lines = (" ".join(label.split())[:LABEL_LETTERS].strip() for label in labels)
    return tuple(dict.fromkeys(line for line in lines if line and not re.search(r"[\x00-\x1f\x7f-\x9f]", line)))


def _parts(value: str) -> list[str]:
    return [part.strip() for part in _LIST.split(value.strip(" {}[]\"'")) if part.strip()]
