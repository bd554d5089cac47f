"""Find and export the data of one person: a client, an e-mail address, or a browser with its own questions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from qa_app.answers import storing
from qa_app.feedback import ratings
from qa_app.following.followers import hash_address
from qa_app.models import Answer, Feedback, FeedbackQuerySet, Follower, SentQuestion


@dataclass(frozen=True, slots=True)
class PersonalData:
    """The keys of the rows that belong to one person."""

    answers: tuple[str, ...]
    sent: tuple[int, ...]
    ratings: tuple[int, ...]
    followers: tuple[int, ...]


def find(*, now: datetime, client: str = "", email: str = "", answer_ids: Iterable[str] = ()) -> PersonalData:
    """Return what is stored of a client (a key's id, or the hash of an address), an e-mail address, and these answers.

    Unknown answers are left out.
    """
    sent = SentQuestion.objects.filter(client=client) if client else SentQuestion.objects.none()
    rated = Feedback.objects.filter(visitor__in=_visitors(client, now)) if client else Feedback.objects.none()
    follows = (Q(client=client) if client else Q(pk=None)) | (
        Q(address_key=hash_address(email)) if email else Q(pk=None)
    )
    asked = Answer.objects.filter(Q(pk__in=list(answer_ids)) | Q(sent_questions__in=sent))
    return PersonalData(
        answers=tuple(asked.order_by("created_at", "pk").values_list("pk", flat=True).distinct()),
        sent=tuple(sent.values_list("pk", flat=True)),
        ratings=tuple(rated.values_list("pk", flat=True)),
        followers=tuple(Follower.objects.filter(follows).values_list("pk", flat=True)),
    )


def export(data: PersonalData) -> dict[str, list[dict[str, Any]]]:
    """Return the data of a person as JSON can hold it; moments are ISO 8601."""
    followers = Follower.objects.filter(pk__in=data.followers).select_related("question__answer")
    return {
        "answers": [_answer(key) for key in data.answers],
        "sent_questions": [
            {"answer": row.answer_id, "sent_at": row.sent_at.isoformat(), "idempotency_key": row.idempotency_key}
            for row in SentQuestion.objects.filter(pk__in=data.sent)
        ],
        "ratings": [
            {"answer": row.answer_id, "is_helpful": row.is_helpful, "reasons": row.reasons, "words": row.words,
             "given_at": row.given_at.isoformat()}
            for row in Feedback.objects.filter(pk__in=data.ratings)
        ],
        "followed_questions": [
            {"question": row.question.answer.meant, "channel": row.channel, "language": row.language,
             "created_at": row.created_at.isoformat(),
             "confirmed_at": row.confirmed_at.isoformat() if row.confirmed_at else None}
            for row in followers
        ],
    }  # fmt: skip


def _answer(key: str) -> dict[str, Any]:
    row = Answer.objects.get(pk=key)
    return {"question": row.question, "asked_at": row.created_at.isoformat(),
            "answer": storing.restore_payload(row.payload)}  # fmt: skip


def _visitors(client: str, now: datetime) -> set[str]:
    """Return what a client was called in ratings, in each month whose names are not emptied yet."""
    days = FeedbackQuerySet.VISITORS_KEPT_FOR.days + 1
    return {ratings.visitor_of(client, now - timedelta(days=ago)) for ago in range(days)}
