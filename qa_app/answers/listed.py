"""Questions that a curator approved for the public list. No other question is shown to other readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.urls import reverse

from corpus_app import search
from corpus_app.records import AnsweredQuestion
from qa_app.models import Answer, Listing, question_key
from qa_app.pipeline.records import Outcome
from qa_app.pipeline.text import jaccard

SHOWN = 8
MAX_LISTINGS = 1_000  # that one page reads, the newest
SIMILAR = 0.3  # least Jaccard index of concepts and content words
ANSWERS = tuple(outcome.value for outcome in Outcome if outcome.is_answer)


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """A listed question with its search keys."""

    answer_id: str
    question: str
    answered_at: datetime
    key: str
    concepts: frozenset[str]
    terms: frozenset[str]
    studies: frozenset[str]

    @property
    def address(self) -> str:
        return reverse("answer", args=[self.answer_id])

    @property
    def traits(self) -> frozenset[str]:
        """Return concepts and content words; a prefix tells a concept from a word spelt alike."""
        return self.terms | {f"concept {concept}" for concept in self.concepts}


# --- Queries ---


def questions(is_wanted: Callable[[ListedQuestion], bool] = lambda _: True) -> tuple[ListedQuestion, ...]:
    """Return distinct listed questions whose cited studies are all public and not retracted, newest first."""
    with connection.cursor() as cursor:
        cursor.execute(_LISTED, [list(ANSWERS), MAX_LISTINGS])
        wanted = [one for row in cursor.fetchall() if is_wanted(one := _listed(*row))]
    if not wanted:
        return ()
    states = search.study_states({study for one in wanted for study in one.studies})
    citable = {study for study, state in states.items() if state.is_searched}
    newest: dict[str, ListedQuestion] = {}
    for one in wanted:
        if one.studies <= citable:
            newest.setdefault(one.key, one)
    return tuple(newest.values())


_LISTED = """
    SELECT l.answer_id, l.question, a.created_at, l.question_key, l.concept_ids, l.terms, l.study_ids
    FROM qa_app_listing l JOIN qa_app_answer a ON a.id = l.answer_id
    WHERE l.taken_off_at IS NULL AND a.outcome = ANY(%s)
    ORDER BY a.created_at DESC, l.answer_id LIMIT %s
"""


def _listed(
    answer_id: str,
    question: str,
    answered_at: datetime,
    key: str,
    concepts: list[str],
    terms: list[str],
    studies: list[str],
) -> ListedQuestion:
    return ListedQuestion(
        answer_id=answer_id,
        question=question,
        answered_at=answered_at,
        key=key,
        concepts=frozenset(concepts),
        terms=frozenset(terms),
        studies=frozenset(studies),
    )


def questions_about(concept_id: str) -> Sequence[AnsweredQuestion]:
    """Return the newest listed questions that name this concept."""
    return _to_records(questions(lambda one: concept_id in one.concepts))


def questions_citing(study_id: str) -> Sequence[AnsweredQuestion]:
    """Return the newest listed questions whose answers cite this study."""
    return _to_records(questions(lambda one: study_id in one.studies))


def _to_records(found: Iterable[ListedQuestion]) -> Sequence[AnsweredQuestion]:
    return [AnsweredQuestion(one.question, one.address, one.answered_at) for one in found][:SHOWN]


def similar_to(body: Mapping[str, Any], most: int = 5) -> tuple[ListedQuestion, ...]:
    """Return listed questions similar to that of an answer's payload, nearest first, without the same question."""
    understood = body.get("understood") or {}
    traits = frozenset(understood.get("terms", ())) | {f"concept {key}" for key in understood.get("concepts", ())}
    return _nearest(traits, except_key=question_key(body.get("understood_as") or body["question"]), most=most)


def _nearest(traits: frozenset[str], *, except_key: str, most: int) -> tuple[ListedQuestion, ...]:
    if not traits:
        return ()
    scored = {one: jaccard(traits, one.traits) for one in questions(lambda one: one.key != except_key)}
    near = [one for one, score in scored.items() if score >= SIMILAR]
    return tuple(sorted(near, key=lambda one: (-scored[one], one.question, one.answer_id))[:most])


def is_listed(answer_id: str) -> bool:
    return Listing.objects.filter(answer=answer_id, taken_off_at=None).exists()


# --- Changes ---


def list_publicly(answer_ids: Iterable[str], *, by: User, now: datetime) -> list[Answer]:
    """Publish the questions of these answers and return the newly listed ones; refusals are skipped."""
    with transaction.atomic():
        rows = Answer.objects.select_for_update().filter(pk__in=list(answer_ids), outcome__in=ANSWERS)
        fresh = list(rows.exclude(listings__in=Listing.objects.filter(taken_off_at=None)).order_by("pk"))
        Listing.objects.bulk_create(_listing(answer, by=by, now=now) for answer in fresh)
    return fresh


def _listing(answer: Answer, *, by: User, now: datetime) -> Listing:
    understood = answer.payload.get("understood") or {}
    return Listing(
        answer=answer,
        question=answer.meant,
        question_key=question_key(answer.meant),
        study_ids=[citation["study_id"] for citation in answer.payload["citations"]],
        concept_ids=list(understood.get("concepts", ())),
        terms=[term for term in understood.get("terms", ()) if len(term) <= 100],
        listed_by=by,
        listed_at=now,
    )


def unlist(answer_ids: Iterable[str], *, by: User, now: datetime) -> list[Answer]:
    """Remove the questions of these answers from the public list and return those that were on it."""
    with transaction.atomic():
        rows = Listing.objects.select_for_update().filter(answer__in=list(answer_ids), taken_off_at=None)
        gone = list(rows.select_related("answer").order_by("answer_id"))
        Listing.objects.filter(pk__in=[row.pk for row in gone]).update(taken_off_by=by, taken_off_at=now)
    return [row.answer for row in gone]
