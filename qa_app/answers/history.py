"""Summaries of stored answers for lists, and the questions that a follow-up builds on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.urls import reverse

from qa_app.answers import asking, presentation
from qa_app.models import Answer

MAX_THREAD = 8  # answers before a follow-up that its page shows


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """A stored answer as a list shows it."""

    answer_id: str
    address: str
    question: str
    language: str | None
    understood_as: str | None
    outcome: str
    mode: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ThreadStep:
    """An answer before a follow-up: its question, and its headline where it has one."""

    answer_id: str
    address: str
    question: str
    language: str | None
    outcome: str
    headline: presentation.ShownHeadline | None


def summarize_answers(answer_ids: Sequence[str]) -> list[AnswerSummary]:
    """Return summaries of these answers in the order given; skip unknown ids."""
    rows = Answer.objects.filter(pk__in=answer_ids).annotate(
        understood_as=KeyTextTransform("understood_as", "payload"),
        language=KeyTextTransform("language", KeyTransform("understood", "payload")),
    )
    fields = ("question", "language", "understood_as", "outcome", "mode", "created_at")
    found = {row["pk"]: row for row in rows.values("pk", *fields)}
    return [
        AnswerSummary(key, reverse("answer", args=[key]), **{field: found[key][field] for field in fields})
        for key in answer_ids
        if key in found
    ]


def list_thread(parent: str | None) -> list[ThreadStep]:
    """Return the answers that lead to a follow-up, oldest first, as they are shown now."""
    steps: list[ThreadStep] = []
    while parent and len(steps) < MAX_THREAD and (payload := asking.find_answer(parent)):
        address = reverse("answer", args=[parent])
        opening = presentation.headline(payload)
        language = payload["understood"]["language"]
        steps.append(ThreadStep(parent, address, payload["question"], language, payload["outcome"], opening))
        parent = payload["parent"]
    return steps[::-1]
