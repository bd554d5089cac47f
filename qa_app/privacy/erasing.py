"""Erase answers for good, in short transactions: those of one person, or the old ones that nobody keeps.

The corpus is not touched: a citation belongs to its answer and goes with it. Other answers keep theirs.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from qa_app.answers import answering, study_filters
from qa_app.models import (
    Answer,
    AnswerChange,
    Feedback,
    FollowedQuestion,
    Follower,
    Gap,
    Listing,
    SentQuestion,
    question_key,
)
from qa_app.pipeline.records import Outcome
from qa_app.privacy.finding import PersonalData

BATCH_SIZE = 50  # answers of one transaction: below 0.1 s; half a second on a busy machine


@dataclass(frozen=True, slots=True)
class Erased:
    """The number of rows erased, and the answers that had to stay."""

    answers: int
    ratings: int = 0
    followers: int = 0
    gaps: int = 0
    kept: tuple[str, ...] = ()
    """Other people follow them."""


def erase_old(
    before: datetime, *, seconds: float | None = None, look: Callable[[int], None] = lambda done: None
) -> Erased:
    """Erase the answers of before a moment that nobody keeps, and the gaps that nobody looks after; stop in time.

    Answers on the public list, of followed questions, and with follow-ups that stay, stay too.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    done = 0
    while deadline is None or time.monotonic() < deadline:
        with transaction.atomic():
            old = _unkept().filter(created_at__lt=before).order_by("created_at").values_list("pk", flat=True)
            ids = list(old.select_for_update(of=("self",), skip_locked=True)[:BATCH_SIZE])
            # again, under the locks: somebody may have listed or followed one meanwhile
            erased = _delete(_unkept().filter(pk__in=ids))
        if not erased:
            break
        done += erased
        look(done)
    return Erased(done, gaps=_erase_old_gaps(before))


def has_old(before: datetime) -> bool:
    """Return whether an answer of before a moment could be erased."""
    return _unkept().filter(created_at__lt=before).exists()


def erase(data: PersonalData) -> Erased:
    """Erase the data of one person; answers that others follow stay, and are named."""
    _, by_model = Follower.objects.filter(pk__in=data.followers).delete()
    ratings, _ = Feedback.objects.filter(pk__in=data.ratings).delete()
    SentQuestion.objects.filter(pk__in=data.sent).delete()
    # a feed has no reader that is known
    FollowedQuestion.objects.filter(answer__in=data.answers, followers=None, feed_read_at=None).delete()
    kept = set(Answer.objects.filter(_is_followed(), pk__in=data.answers).values_list("pk", flat=True))
    mine = [key for key in data.answers if key not in kept]
    done = gaps = 0
    for start in range(0, len(mine), BATCH_SIZE):
        with transaction.atomic():
            batch = list(Answer.objects.filter(pk__in=mine[start : start + BATCH_SIZE]).exclude(_is_followed()))
            filed = (row for row in batch if _is_filed(row))
            gaps += _uncount(Counter((question_key(row.meant), row.collection or "") for row in filed))
            done += _delete(Answer.objects.filter(pk__in=[row.pk for row in batch]))
    followers = by_model.get(Follower._meta.label, 0)
    return Erased(done, ratings=ratings, followers=followers, gaps=gaps, kept=tuple(sorted(kept)))


def _unkept() -> QuerySet[Answer]:
    listed = Exists(Listing.objects.filter(answer=OuterRef("pk"), taken_off_at=None))
    continued = Exists(Answer.objects.filter(parent=OuterRef("pk")))
    return Answer.objects.exclude(listed).exclude(_is_followed()).exclude(continued)


def _is_followed() -> Q:
    return Q(
        Exists(FollowedQuestion.objects.filter(answer=OuterRef("pk")))
        | Exists(Follower.objects.filter(answer=OuterRef("pk")))
        | Exists(AnswerChange.objects.filter(before=OuterRef("pk")))
        | Exists(AnswerChange.objects.filter(after=OuterRef("pk")))
    )


def _delete(rows: QuerySet[Answer]) -> int:
    _, by_model = rows.only("pk").delete()
    return by_model.get(Answer._meta.label, 0)


def _erase_old_gaps(before: datetime) -> int:
    """Delete the groups of gaps that were last asked before a moment and carry no curator's work."""
    group = Gap.objects.filter(Q(pk=OuterRef("pk")) | Q(leader=OuterRef("pk")))
    is_young = Exists(group.filter(last_asked_at__gte=before))
    is_tended = Exists(group.filter(Q(assigned_to__isnull=False) | ~Q(note="")))
    done = 0
    while True:
        leaders = Gap.objects.filter(leader=None, last_asked_at__lt=before).exclude(is_young).exclude(is_tended)
        ids = list(leaders.order_by("pk").values_list("pk", flat=True)[:BATCH_SIZE])
        if not ids:
            return done
        done += Gap.objects.filter(Q(pk__in=ids) | Q(leader__in=ids)).delete()[0]


def _is_filed(row: Answer) -> bool:
    is_whole = not study_filters.read_stored(row.payload.get("filters")).narrows
    return is_whole and Outcome(row.outcome) in answering.FILED


def _uncount(asked: Counter[tuple[str, str]]) -> int:
    """Take these questions off the counts of their gaps; delete a gap that nobody else asked for. Return how many."""
    deleted = 0
    for (key, collection), times in asked.items():
        gap = Gap.objects.select_for_update(of=("self",)).defer("vector").filter(key=key, collection=collection).first()
        if gap is None:
            continue
        if gap.asked > times:
            Gap.objects.filter(pk=gap.pk).update(asked=F("asked") - times)
            continue
        _promote_follower(gap)
        gap.delete()
        deleted += 1
    return deleted


def _promote_follower(leader: Gap) -> None:
    """Make the oldest follower of a gap the leader of its group."""
    heir = leader.followers.order_by("first_asked_at", "pk").defer("vector").first()
    if heir is None:
        return
    leader.followers.exclude(pk=heir.pk).update(leader=heir)
    work = {"assigned_to": leader.assigned_to_id or heir.assigned_to_id, "note": leader.note or heir.note}
    Gap.objects.filter(pk=heir.pk).update(leader=None, status=leader.status, **work)
