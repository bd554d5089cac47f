"""Unanswered questions (gaps), grouped by meaning and asked again when the corpus changes."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from enum import Enum
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from corpus_app import search
from qa_app.answers import answering, storing
from qa_app.models import Answer, Gap
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.records import Mode, Outcome, Question
from qa_app.pipeline.text import searchable, stem, words

logger = logging.getLogger(__name__)

MIN_COSINE = 0.75  # of two questions with the same meaning; most paraphrases are above 0.8
BATCH_SIZE = 200  # gaps that a task embeds or asks again
ASKED_WITHIN = timedelta(days=180)
MAX_QUESTIONS = 2_000
EXCLUDED_OUTCOMES = (Outcome.GUARDRAIL.value, Outcome.OUT_OF_SCOPE.value)
RETRIED_OUTCOMES = (Outcome.INSUFFICIENT_EVIDENCE.value, Outcome.PARTIAL.value, Outcome.OUT_OF_SCOPE.value)


class Unset(Enum):
    UNSET = "unset"


UNSET = Unset.UNSET
"""Leaves the assignee unchanged; None removes it."""


def group_by_meaning() -> int:
    """Group new gaps with the oldest one of the same meaning and return their number.

    Raises search.EncoderUnavailable.
    """
    encoder = search.encoder_name()
    waiting = list(Gap.objects.exclude(encoder=encoder).order_by("first_asked_at", "pk")[:BATCH_SIZE])
    for gap in waiting:
        is_new = not gap.encoder
        gap.vector, gap.encoder = list(search.encode_question(searchable(gap.question))), encoder
        gap.leader = _find_leader(gap)
        gap.save(update_fields=["vector", "encoder", "leader"])
        if is_new and gap.leader:
            Gap.objects.reopen(gap.leader)
        if gap.leader:
            _merge_into(gap, gap.leader)
    return len(waiting)


def _merge_into(gap: Gap, leader: Gap) -> None:
    """Copy assignee and note of a gap to its group's leader."""
    if not (gap.assigned_to_id or gap.note):
        return
    with transaction.atomic():
        stored = Gap.objects.select_for_update(of=("self",), no_key=True).defer("vector").get(pk=leader.pk)
        stored.assigned_to_id = stored.assigned_to_id or gap.assigned_to_id
        stored.note = "\n".join(dict.fromkeys(filter(None, (stored.note, gap.note))))
        stored.save(update_fields=["assigned_to", "note"])


def missing_words(gap: Gap) -> tuple[str, ...]:
    """Return the words that the nearest passages lack, as the question spells them."""
    asked = {stem(word): word for word in reversed(words(gap.question))}
    return tuple(asked.get(term, term) for term in gap.missing)


def _find_leader(gap: Gap) -> Gap | None:
    """Return the nearest older leader of the same collection, if it is similar enough."""
    leaders = list(
        Gap.objects.filter(encoder=gap.encoder, leader=None, collection=gap.collection)
        .exclude(pk=gap.pk)
        .filter(Q(first_asked_at__lt=gap.first_asked_at) | Q(first_asked_at=gap.first_asked_at, pk__lt=gap.pk))
    )
    if not leaders:
        return None
    cosines = np.asarray([leader.vector for leader in leaders], dtype=np.float32) @ np.asarray(gap.vector, np.float32)
    best = int(np.argmax(cosines))
    return leaders[best] if cosines[best] >= MIN_COSINE else None


def ask_again() -> int:
    """Ask open gaps again that were last asked of an older corpus; return how many are answered now.

    Only answers are stored: a repeated refusal is no news, and these questions are no demand. One that fails waits for
    the next corpus version. Raises search.EncoderUnavailable.
    """
    version = search.corpus_version()
    older = Q(asked_again_version=None) | Q(asked_again_version__lt=version)
    answered = 0
    for gap in Gap.objects.filter(older, status=Gap.Status.OPEN, outcome__in=RETRIED_OUTCOMES, leader=None)[
        :BATCH_SIZE
    ]:
        try:
            answered += _ask_again(gap)
        except search.EncoderUnavailable:
            raise
        except Exception:  # one question must not keep the others from being asked
            logger.exception("Gap %s could not be asked again.", gap.pk)
            Gap.objects.filter(pk=gap.pk).update(asked_again_version=version)
    return answered


def _ask_again(gap: Gap) -> bool:
    text = gap.question
    question = Question(text, searchable(text), Mode.INTERMEDIATE, gap.collection or None)
    made = answering.make(question, writer="extractive")
    gap.asked_again_version = made.corpus_version
    if made.outcome is Outcome.ANSWERED or (made.outcome.is_answer and gap.outcome != Outcome.PARTIAL):
        with transaction.atomic():
            body = answering.store(made, parent=None, now=timezone.now(), files_gap=False)
            gap.result_id = body["id"]
            gap.save(update_fields=["asked_again_version", "result"])
        return True
    gap.result = None
    gap.save(update_fields=["asked_again_version", "result"])
    return False


def nearest(answer: Answer | None, most: int = 3) -> Sequence[Mapping[str, Any]]:
    """Return the nearest evidence of an answer, of public studies only."""
    if answer is None:
        return ()
    evidence = storing.restore_payload(answer.payload)["evidence"]
    public = search.study_states([row["study_id"] for row in evidence])
    return [row for row in evidence if row["study_id"] in public and public[row["study_id"]].status == "published"][
        :most
    ]


def search_string(gap: Gap) -> str:
    """Return a boolean query for a literature search: concepts with their names, and other content words."""
    understood = gap.last_answer.payload.get("understood", {}) if gap.last_answer else {}
    by_id = {concept.concept_id: concept for concept in search.concepts()}
    asked = (*understood.get("unstudied", ()), *understood.get("concepts", ()))
    named = [by_id[key] for key in asked if key in by_id]
    mentions = ConceptIndex.build(named).find(gap.question)
    written = {c.concept_id: [gap.question[m.start : m.end] for m in mentions if m.concept is c] for c in named}
    printed = {c.concept_id: (*written[c.concept_id], c.name, *c.aliases[:3]) for c in named}
    parts = ["(" + " OR ".join(f'"{name}"' for name in dict.fromkeys(names)) + ")" for names in printed.values()]
    covered = {stem(word) for names in printed.values() for name in names for word in words(name)}
    terms = set(understood.get("terms", ()))
    parts += dict.fromkeys(w for w in words(gap.question) if stem(w) in terms and stem(w) not in covered)
    return " AND ".join(parts)


def list_members(leader: Gap) -> Iterator[Gap]:
    """Yield the gaps of a group, most asked first."""
    yield from Gap.objects.filter(Q(pk=leader.pk) | Q(leader=leader)).order_by("-asked", "pk")


def frequent_questions() -> Iterator[tuple[str, int]]:
    """Yield the questions of the last months with the number of times each was asked."""
    rows = Answer.objects.filter(created_at__gte=timezone.now() - ASKED_WITHIN).exclude(outcome__in=EXCLUDED_OUTCOMES)
    counted = rows.order_by().values_list("question").annotate(times=Count("pk")).order_by("-times", "question")
    yield from counted[:MAX_QUESTIONS]


# --- Managing gaps ---


class VersionConflict(Exception):
    """The gap was changed after the caller read it."""

    def __init__(self, version: str) -> None:
        super().__init__(f"The gap is at version {version} now.")
        self.version = version


class UnknownAssignee(Exception):
    """The person may not be assigned a gap."""


def list_leaders() -> QuerySet[Any]:
    """Return the leader of each group, with `demanded`, the times that its group was asked."""
    leaders: QuerySet[Any] = Gap.objects.filter(leader=None).defer("vector")
    demanded: QuerySet[Any] = leaders.annotate(demanded=F("asked") + Coalesce(Sum("followers__asked"), 0))
    return demanded


def version_of(gap: Gap) -> str:
    """Return a version that changes with the fields that curators edit, not when readers ask again."""
    return hashlib.sha256(repr([gap.status, gap.assigned_to_id, gap.note]).encode()).hexdigest()[:16]


def update_gap(
    gap_id: int,
    *,
    seen: str,
    status: str | None = None,
    note: str | None = None,
    assigned_to: str | Unset | None = UNSET,
) -> None:
    """Update a gap; `assigned_to` is a username at the desk, or None for nobody.

    Raises Gap.DoesNotExist, VersionConflict and UnknownAssignee.
    """
    with transaction.atomic():
        gap = Gap.objects.select_for_update(of=("self",), no_key=True).defer("vector").get(pk=gap_id, leader=None)
        if version_of(gap) != seen:
            raise VersionConflict(version_of(gap))
        if status is not None:
            gap.status = status
        if note is not None:
            gap.note = note
        if not isinstance(assigned_to, Unset):
            gap.assigned_to = _find_assignee(assigned_to)
        gap.save(update_fields=["status", "note", "assigned_to"])


def _find_assignee(username: str | None) -> User | None:
    if username is None:
        return None
    found = User.objects.filter(username=username, is_staff=True, is_active=True).first()
    if found is None:
        raise UnknownAssignee(f"Nobody at the desk is called {username}.")
    return found
