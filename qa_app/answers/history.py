"""Summaries of stored answers for lists, and the questions that a follow-up builds on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models.fields.json import KeyTextTransform
from django.urls import reverse

from qa_app.models import Answer

MAX_PARENTS = 4  # questions before a follow-up that its page shows


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """A stored answer as a list shows it."""

    answer_id: str
    address: str
    question: str
    understood_as: str | None
    outcome: str
    mode: str
    created_at: datetime


def summarize_answers(answer_ids: Sequence[str]) -> list[AnswerSummary]:
    """Return summaries of these answers in the order given; skip unknown ids."""
    rows = Answer.objects.filter(pk__in=answer_ids).annotate(understood_as=KeyTextTransform("understood_as", "payload"))
    fields = ("question", "understood_as", "outcome", "mode", "created_at")
    found = {row["pk"]: row for row in rows.values("pk", *fields)}
    return [
        AnswerSummary(key, reverse("answer", args=[key]), **{field: found[key][field] for field in fields})
        for key in answer_ids
        if key in found
    ]


def list_parents(answer_id: str) -> list[tuple[str, str]]:
    """Return address and question of the answers before this follow-up, oldest first."""
    found: list[tuple[str, str]] = []
    row = Answer.objects.filter(pk=answer_id).select_related("__".join(["parent"] * MAX_PARENTS))
    before = row.only(*(f"{'__'.join(['parent'] * n)}__question" for n in range(1, MAX_PARENTS + 1))).first()
    while before and len(found) < MAX_PARENTS and (before := before.parent):
        found.append((before.get_absolute_url(), before.question))
    return found[::-1]
