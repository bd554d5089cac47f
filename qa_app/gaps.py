"""Questions that the corpus does not answer: gathered by meaning, and asked again when there is newer evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from corpus_app import search
from qa_app import answering
from qa_app.models import Answer, Gap
from qa_app.pipeline.records import Mode, Outcome, Question
from qa_app.pipeline.text import clean, stem, words

SAME_MEANING = 0.75  # cosine from which two questions count as one; paraphrases of a question lie above .8 mostly
AT_ONCE = 200  # gaps that one turn embeds or asks again
ASKED_WITHIN = timedelta(days=180)
MOST_ASKED = 2_000
NOT_OURS = (Outcome.GUARDRAIL.value, Outcome.OUT_OF_SCOPE.value)
WORTH_ASKING = (Outcome.INSUFFICIENT_EVIDENCE.value, Outcome.PARTIAL.value, Outcome.OUT_OF_SCOPE.value)


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
    return len(waiting)


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
    evidence = answer.payload["evidence"]
    public = search.study_states([row["study_id"] for row in evidence])
    return [row for row in evidence if row["study_id"] in public and public[row["study_id"]].status == "published"][
        :most
    ]


def search_string(gap: Gap) -> str:
    """What a curator could type into a literature search: the question's concepts by all their names, and its other words."""
    understood = gap.last_answer.payload.get("understood", {}) if gap.last_answer else {}
    by_id = {concept.concept_id: concept for concept in search.concepts()}
    named = [by_id[key] for key in understood.get("concepts", ()) if key in by_id]
    parts = ["(" + " OR ".join(f'"{name}"' for name in dict.fromkeys((c.name, *c.aliases[:3]))) + ")" for c in named]
    covered = {stem(word) for c in named for name in (c.name, *c.aliases) for word in words(name)}
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
