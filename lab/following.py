"""Measure labelled follow-ups: is the subject kept, and does the right study lead? Docs: docs/evaluation.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from qa_app.answers import asking

FILE = Path(__file__).parent / "follow_ups.jsonl"
SETS = ("first", "second")
"""The rules were written with the first set in sight; the second was written afterwards and changed none of them."""


def measure(path: Path = FILE, *, on_progress: Callable[[int, int], None] = lambda done, total: None) -> dict[str, Any]:
    """Ask every first question and its follow-up, and return the figures of each set and a row for each question."""
    labels = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows = []
    for label in labels:
        rows.append(_ask(label))
        on_progress(len(rows), len(labels))
    return {name: _figures([row for row in rows if row["set"] == name]) for name in SETS} | {"rows": rows}


SCORES = ("subject_kept", "right_lead")


def _figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "n": len(rows),
        **{name: round(sum(row[name] for row in rows) / max(1, len(rows)), 3) for name in SCORES},
    }


def _ask(label: Mapping[str, Any]) -> dict[str, Any]:
    """Ask both questions and take the stored answers back."""
    with transaction.atomic():
        first = asking.ask(question=label["first"], writer="extractive")
        body = asking.ask(question=label["follow_up"], parent=first["id"], writer="extractive")
        transaction.set_rollback(True)
    meant = body["understood_as"] or body["question"]
    lead = _lead(body)
    return {
        "id": label["id"], "set": label["set"], "kind": label["kind"], "meant": meant,
        "subject_kept": has_subject(meant, label["subject"], label["gone"]),
        "right_lead": lead in label["lead"] if label["lead"] else lead is None, "lead": lead,
        "outcome": body["outcome"],
    }  # fmt: skip


def has_subject(meant: str, subject: list[list[str]], gone: list[str]) -> bool:
    """Tell whether a text names one word of every group, and none of the words that must be gone."""
    text = meant.casefold()
    return all(any(word in text for word in group) for group in subject) and not any(word in text for word in gone)


def _lead(body: Mapping[str, Any]) -> str | None:
    study_of = {citation["index"]: citation["study_id"] for citation in body["citations"]}
    sentences = [s for part in ("summary", "answer") for s in (body[part] or {}).get("sentences") or []]
    return next((study_of[s["citations"][0]] for s in sentences if s["citations"]), None)
