"""Questions that the corpus does not answer: gathered by meaning, and asked again when there is newer evidence."""

from __future__ import annotations

import hashlib
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
from qa_app.pipeline.text import clean, stem, words

SAME_MEANING = 0.75  # cosine from which two questions count as one; paraphrases of a question lie above .8 mostly
AT_ONCE = 200  # gaps that one turn embeds or asks again
ASKED_WITHIN = timedelta(days=180)
MOST_ASKED = 2_000
NOT_OURS = (Outcome.GUARDRAIL.value, Outcome.OUT_OF_SCOPE.value)
WORTH_ASKING = (Outcome.INSUFFICIENT_EVIDENCE.value, Outcome.PARTIAL.value, Outcome.OUT_OF_SCOPE.value)


class Unset(Enum):
    UNSET = "unset"


UNSET = Unset.UNSET
"""Left as it is, where None means nobody."""


def gather() -> int:
    """Puts new gaps beside the older one that means the same; how many. Raises search.EncoderUnavailable."""
    encoder = search.encoder_name()
    waiting = list(Gap.objects.exclude(encoder=encoder).order_by("first_asked_at", "pk")[:AT_ONCE])
    for gap in waiting:
        is_new = not gap.encoder
        gap.vector, gap.encoder = list(search.encode_question(clean(gap.question)[:2_000])), encoder
        gap.leader = _find_leader(gap)
        gap.save(update_fields=["vector", "encoder", "leader"])
        if is_new and gap.leader:
            Gap.objects.reopen(gap.leader)
        if gap.leader:
            _hand_on(gap, gap.leader)
    return len(waiting)


def _hand_on(gap: Gap, leader: Gap) -> None:
    """Whoever looked after a question looks after the one that it is put beside, and what was noted stands there too."""
    if not (gap.assigned_to_id or gap.note):
        return
    with transaction.atomic():
        stored = Gap.objects.select_for_update(of=("self",), no_key=True).defer("vector").get(pk=leader.pk)
        stored.assigned_to_id = stored.assigned_to_id or gap.assigned_to_id
        stored.note = "\n".join(dict.fromkeys(filter(None, (stored.note, gap.note))))
        stored.save(update_fields=["assigned_to", "note"])


def missing_words(gap: Gap) -> tuple[str, ...]:
    """What the nearest passages do not hold, as the question has it; a term of it alone is only its stem."""
    asked = {stem(word): word for word in reversed(words(gap.question))}
    return tuple(asked.get(term, term) for term in gap.missing)


def _find_leader(gap: Gap) -> Gap | None:
    """The nearest of the first questions, where it is near enough and of the same collection."""
    leaders = list(
        Gap.objects.filter(encoder=gap.encoder, leader=None, collection=gap.collection)
        .exclude(pk=gap.pk)
        .filter(Q(first_asked_at__lt=gap.first_asked_at) | Q(first_asked_at=gap.first_asked_at, pk__lt=gap.pk))
    )
    if not leaders:
        return None
    cosines = np.asarray([leader.vector for leader in leaders], dtype=np.float32) @ np.asarray(gap.vector, np.float32)
    best = int(np.argmax(cosines))
    return leaders[best] if cosines[best] >= SAME_MEANING else None


def ask_again() -> int:
    """Asks open gaps again that were last asked of an older corpus; how many of them are answered now.

    Only an answer is kept: a refusal that stays one says nothing new, and our asking is no demand.
    """
    version = search.corpus_version()
    older = Q(asked_again_version=None) | Q(asked_again_version__lt=version)
    answered = 0
    for gap in Gap.objects.filter(older, status=Gap.Status.OPEN, outcome__in=WORTH_ASKING, leader=None)[:AT_ONCE]:
        answered += _ask_again(gap)
    return answered


def _ask_again(gap: Gap) -> bool:
    text = gap.question
    question = Question(text, clean(text)[:2_000], Mode.INTERMEDIATE, gap.collection or None)
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
    """The evidence that came nearest, as the answer's payload holds it; none of studies that have left the public."""
    if answer is None:
        return ()
    evidence = storing.whole(answer.payload)["evidence"]
    public = search.study_states([row["study_id"] for row in evidence])
    return [row for row in evidence if row["study_id"] in public and public[row["study_id"]].status == "published"][
        :most
    ]


def search_string(gap: Gap) -> str:
    """What a curator could type into a literature search: the question's concepts by all their names, and its other words."""
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


def members(leader: Gap) -> Iterator[Gap]:
    """The questions that mean the same, the most asked first."""
    yield from Gap.objects.filter(Q(pk=leader.pk) | Q(leader=leader)).order_by("-asked", "pk")


def asked() -> Iterator[tuple[str, int]]:
    """Questions of the last months and how often each was asked, so that curators learn what readers call things."""
    rows = Answer.objects.filter(created_at__gte=timezone.now() - ASKED_WITHIN).exclude(outcome__in=NOT_OURS)
    counted = rows.order_by().values_list("question").annotate(times=Count("pk")).order_by("-times", "question")
    yield from counted[:MOST_ASKED]


# --- Looking after them -------------------------------------------------------------------------------------------------


class ChangedSince(Exception):
    """Somebody else has saved the gap since the caller read it."""

    def __init__(self, version: str) -> None:
        super().__init__(f"The gap is at version {version} now.")
        self.version = version


class NotAtTheDesk(Exception):
    """The person named may not be given a gap."""


def listed() -> QuerySet[Any]:
    """The first questions of each meaning, `demanded` times in all: the most asked first."""
    leaders: QuerySet[Any] = Gap.objects.filter(leader=None).defer("vector")
    demanded: QuerySet[Any] = leaders.annotate(demanded=F("asked") + Coalesce(Sum("followers__asked"), 0))
    return demanded


def version_of(gap: Gap) -> str:
    """Changes with whatever a person may change of a gap; readers who ask again do not change it."""
    return hashlib.sha256(repr([gap.status, gap.assigned_to_id, gap.note]).encode()).hexdigest()[:16]


def look_after(
    gap_id: int,
    *,
    seen: str,
    status: str | None = None,
    note: str | None = None,
    assigned_to: str | Unset | None = UNSET,
) -> None:
    """Sets what is given; `assigned_to` is a username at the desk, or None for nobody.

    Raises Gap.DoesNotExist, ChangedSince, NotAtTheDesk.
    """
    with transaction.atomic():
        gap = Gap.objects.select_for_update(of=("self",), no_key=True).defer("vector").get(pk=gap_id, leader=None)
        if version_of(gap) != seen:
            raise ChangedSince(version_of(gap))
        if status is not None:
            gap.status = status
        if note is not None:
            gap.note = note
        if not isinstance(assigned_to, Unset):
            gap.assigned_to = _at_the_desk(assigned_to)
        gap.save(update_fields=["status", "note", "assigned_to"])


def _at_the_desk(username: str | None) -> User | None:
    if username is None:
        return None
    found = User.objects.filter(username=username, is_staff=True, is_active=True).first()
    if found is None:
        raise NotAtTheDesk(f"Nobody at the desk is called {username}.")
    return found
