"""The service that answers questions, searches passages and finds stored answers."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from django.db import IntegrityError
from django.utils import timezone
from django.utils.translation import gettext_noop as N_

from corpus_app import hooks, search
from qa_app.answers import answering, contexts, passage_search, redaction, storing, study_filters
from qa_app.answers.changes import Changes, changes_between
from qa_app.answers.contexts import ExpiredContext as ExpiredContext
from qa_app.answers.contexts import Opened, WrittenPart
from qa_app.answers.contexts import UnknownContext as UnknownContext
from qa_app.answers.payload import Payload
from qa_app.answers.time_limit import limited
from qa_app.models import Answer, CorpusCalibration, question_key
from qa_app.pipeline.policy import BadPolicy as BadPolicy
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.policy import read as read_policy
from qa_app.pipeline.ports import OutOfTime as OutOfTime
from qa_app.pipeline.question import follow_up
from qa_app.pipeline.records import InsufficientEvidence as InsufficientEvidence
from qa_app.pipeline.records import Mode, Outcome, Question
from qa_app.pipeline.study_filters import StudyFilters
from qa_app.pipeline.text import MAX_QUESTION_LENGTH as MAX_QUESTION_LENGTH
from qa_app.pipeline.text import clean, searchable
from qa_app.writers.rationed import Allowance as Allowance
from qa_app.writers.rationed import ModelQuotaUsedUp as ModelQuotaUsedUp

MAX_PASSAGES = 12  # that a client may request as evidence
MAX_STUDIES = 12
MAX_PARENTS = 5  # visited to find the subject of a follow-up
MAX_SEARCH_RESULTS = 50  # passages, as many as fusion returns
WRITERS = ("auto", "extractive", "llm")
REPLACEMENT_CHARACTER = "\ufffd"  # Django decodes invalid UTF-8 to it
snapshot = search.snapshot  # a consistent read of the corpus
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadInput(ValueError):
    """A rejected input: the field, a short code and a message for the reader."""

    def __init__(self, field: str, code: str, message: str, **params: int | str) -> None:
        """Fill `message` (which a page may translate) with `params`, its `%(name)s` placeholders."""
        self.field, self.code, self.message, self.params = field, code, message, params
        shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in params.items()}
        self.detail = message % shown if shown else message
        super().__init__(self.detail)


class BadQuestion(BadInput):
    """A question that cannot be asked."""


def ask(
    *,
    question: str,
    mode: str | None = None,
    collection: str | None = None,
    writer: str = "auto",
    parent: str | None = None,
    filters: object = None,
    now: datetime | None = None,
    preset: str | None = None,
    most_passages: object = None,
    most_studies: object = None,
    keeps_evidence: bool = False,
    allowance: Allowance | None = None,
    when_stored: Callable[[str], None] | None = None,
) -> Payload:
    """Answer a question and store the answer.

    A follow-up (`parent`) inherits the subject, mode, collection and filters of its parent unless they are given.
    `preset` replaces the site's policy; `most_passages` and `most_studies` limit the evidence for this question.
    With `keeps_evidence`, `write_part` can write from the same evidence later, by the answer's request id.
    `allowance` decides whether a language model may write; otherwise the extractive writer does.
    `when_stored` is called with the answer's id in the transaction that stores it.
    Raises BadQuestion (before any model runs), BadPolicy, ModelQuotaUsedUp and OutOfTime.
    """
    policy = answering.POLICY if preset is None else read_policy(preset)
    policy = _limit_evidence(policy, most_passages=most_passages, most_studies=most_studies)
    checked = check(question=question, mode=mode, collection=collection, writer=writer, parent=parent, filters=filters)
    answer = partial(
        contexts.answer,
        checked,
        writer=writer,
        parent=parent,
        now=now or timezone.now(),
        policy=policy,
        freezes_evidence=keeps_evidence,
        allowance=allowance,
        when_stored=when_stored,
    )
    with limited() as limit:
        try:
            return answer(limit=limit)
        except IntegrityError:  # a source was deleted between reading and storing: answer again, without it
            return answer(limit=limit)


def _limit_evidence(policy: Policy, *, most_passages: object, most_studies: object) -> Policy:
    """Return the policy with these limits; None leaves a limit unchanged. Raises BadQuestion."""
    if most_passages is None and most_studies is None:
        return policy
    return replace(
        policy,
        evidence_passages=_check_limit("most_passages", most_passages, policy.evidence_passages, MAX_PASSAGES),
        cited_studies=_check_limit("most_studies", most_studies, policy.cited_studies, MAX_STUDIES),
    )


def _check_limit(field: str, wanted: object, usual: int, most: int) -> int:
    if wanted is None:
        return usual
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 1 <= wanted <= most:
        raise BadQuestion(field, "out_of_range", f"Send a whole number from 1 to {most}.")
    return wanted


def ask_again(answer_id: str, *, now: datetime | None = None, allowance: Allowance | None = None) -> Payload | None:
    """Ask a stored answer's question again, of the present corpus; None where there is no such answer.

    Raises BadQuestion and OutOfTime.
    """
    row = Answer.objects.filter(pk=answer_id).first() if is_storable(answer_id) else None
    if row is None:
        return None
    return ask(**repeat(row), now=now, allowance=allowance)


def repeat(row: Answer) -> dict[str, Any]:
    """Return the arguments that ask a stored answer's question again; a collection that is gone is left out."""
    collection = row.collection if row.collection in {c.slug for c in search.collections()} else None
    parent = row.parent_id if row.payload.get("understood_as") else None  # a question that needed no context had none
    filters = study_filters.read_stored(row.payload.get("filters")).to_json()
    return {
        "question": row.question, "mode": row.mode, "collection": collection, "parent": parent, "filters": filters
    }  # fmt: skip


def has_one_engine(*answer_ids: str) -> bool:
    """Return whether one engine version made all of these stored answers."""
    return Answer.objects.filter(pk__in=answer_ids).values("engine").distinct().count() <= 1


def find_changes(payload: Payload, since: str) -> Changes | None:
    """Compare an answer with an earlier one; None unless both exist and answer the same question."""
    before = find_answer(since) if since != payload["id"] else None
    if before is None or _question_key(before) != _question_key(payload):
        return None
    return changes_between(before, payload)


def _question_key(body: Payload) -> str:
    """Return a key that answers to the same question under the same filters share."""
    filters = study_filters.to_words(body.get("filters"))
    return question_key(f"{body.get('understood_as') or body['question']} {filters}")


def find_passages(
    *, question: str, mode: str = Mode.BEGINNER.value, collection: str | None = None, limit: object = 20
) -> Payload:
    """Return the passages most relevant to a question, without an answer.

    Raises BadQuestion (before any model runs) and OutOfTime.
    """
    checked = check(question=question, mode=mode, collection=collection, writer="auto", parent=None)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_SEARCH_RESULTS:
        raise BadQuestion("limit", "unknown", f"Send a whole number from 1 to {MAX_SEARCH_RESULTS}.")
    with limited() as time_limit:
        return passage_search.find(checked, limit=limit, time_limit=time_limit)


def open_context(
    *, question: str, mode: str = Mode.BEGINNER.value, collection: str | None = None, now: datetime | None = None
) -> Opened:
    """Retrieve and freeze the evidence for a question, so that its parts can be written later. Raises BadQuestion."""
    checked = check(question=question, mode=mode, collection=collection, writer="auto", parent=None)
    return contexts.open_context(checked, now=now or timezone.now())


def write_part(
    request_id: str,
    part: contexts.Part,
    *,
    writer: str = "auto",
    now: datetime | None = None,
    allowance: Allowance | None = None,
) -> WrittenPart:
    """Write the summary or the answer from frozen evidence.

    Raises UnknownContext, ExpiredContext, InsufficientEvidence, ModelQuotaUsedUp and OutOfTime.
    """
    now = now or timezone.now()
    with limited() as limit:
        return contexts.write_part(request_id, part, writer=writer, now=now, allowance=allowance, limit=limit)


def check(
    *, question: object, mode: object, collection: object, writer: object, parent: object, filters: object = None
) -> Question:
    """Validate the arguments and return the question; a follow-up inherits what it omits. Raises BadQuestion."""
    text = _checked_text(question)
    before = _find_parent(parent)
    if mode is None:
        mode = before.mode if before else Mode.BEGINNER.value
    if mode not in [m.value for m in Mode]:
        modes = " or ".join(m.value for m in Mode)
        raise BadQuestion("mode", "unknown", N_("Choose a mode: %(modes)s."), modes=modes)
    if writer not in WRITERS:
        raise BadQuestion("writer", "unknown", f"Choose a writer: {', '.join(WRITERS)}.")
    chosen = before.collection if collection is None and before else collection
    check_collection(collection)
    if collection is None and chosen is not None and chosen in {c.slug for c in search.collections()}:
        collection = chosen
    if filters is None and before is not None:
        narrowed = study_filters.read_stored(before.payload.get("filters"))
    else:
        narrowed = _check_filters(filters)
    asked = searchable(text)
    meant = _resolve_follow_up(asked, before) if before else None
    return Question(
        text=text,
        searched=searchable(meant) if meant else asked,
        mode=Mode(mode),
        collection=collection if isinstance(collection, str) else None,
        understood_as=meant,
        filters=narrowed,
    )


def _check_filters(given: object) -> StudyFilters:
    try:
        return StudyFilters() if given is None else study_filters.read(given)
    except study_filters.BadFilters as bad:
        raise BadQuestion("filters", "unknown", str(bad)) from bad


def check_collection(collection: object) -> None:
    """Validate the slug of a collection; None stands for the whole corpus. Raises BadQuestion."""
    slugs = [c.slug for c in search.collections()] if collection is not None else []
    if collection is not None and collection not in slugs:
        raise BadQuestion(
            "collection",
            "unknown",
            N_("There is no such collection. Choose one of %(slugs)s, or none."),
            slugs=", ".join(slugs),
        )


def _find_parent(parent: object) -> Answer | None:
    if parent is None:
        return None
    row = Answer.objects.filter(pk=parent).first() if isinstance(parent, str) and is_storable(parent) else None
    if row is None:
        raise BadQuestion("parent", "unknown", N_("There is no answer with this id to follow."))
    return row


def _resolve_follow_up(asked: str, before: Answer) -> str | None:
    """Return the follow-up as a full question; None where it needs no context or gets a fixed reply."""
    if answering.is_declined(asked):
        return None
    before = _find_subject(before)
    subject = follow_up.standalone(clean(before.question), before.payload.get("understood_as"))
    return answering.follow(asked, subject)


def _find_subject(before: Answer) -> Answer:
    """Return the nearest answer in the chain of parents whose question has a subject or an answer."""
    for _ in range(MAX_PARENTS):
        is_joined = before.parent_id is None or before.payload.get("understood_as") is not None
        if is_joined or Outcome(before.outcome).is_answer or not answering.is_fragment(clean(before.question)):
            break
        before = before.parent or before
    return before


def _checked_text(question: object) -> str:
    if not isinstance(question, str):
        raise BadQuestion("question", "not_text", N_("Send the question as text."))
    if len(question) > 4 * MAX_QUESTION_LENGTH or len(text := question.strip()) > MAX_QUESTION_LENGTH:
        raise BadQuestion(
            "question",
            "too_long",
            N_("The question is longer than %(most)s characters. Please shorten it."),
            most=MAX_QUESTION_LENGTH,
        )
    if not is_storable(text) or REPLACEMENT_CHARACTER in text:
        raise BadQuestion(
            "question", "not_text", N_("The question contains characters that are not text. Please type it again.")
        )
    if not clean(text):
        raise BadQuestion("question", "blank", N_("Please type a question."))
    return text


def is_storable(text: str) -> bool:
    return "\0" not in text and _SURROGATE.search(text) is None


def describe_writer() -> dict[str, str | None]:
    """Return the default writer's `name`, and a language model's `model` and `circuit` (closed, open, half_open)."""
    server = answering.model_server()
    if server is None:
        return {"name": "extractive", "model": None, "circuit": None}
    return {"name": "llm", "model": server.model, "circuit": server.breaker.state}


def corpus_figures() -> dict[str, Any]:
    """Return `studies`, `passages`, counted `collections`, `corpus_version`, and how far the corpus is prepared."""
    return search.corpus_figures() | _preparation()


def collection_choices() -> dict[str, Any]:
    """Return the `collections` that a question can be limited to, and how far the corpus is prepared."""
    rows = search.collections()
    collections = [{"slug": c.slug, "name": c.name, "description": c.description} for c in rows]
    return {"collections": collections, **_preparation()}


def _preparation() -> dict[str, bool]:
    """Return whether the corpus `is_uncalibrated`, and whether it is so because the worker `is_indexing` it still."""
    is_uncalibrated = CorpusCalibration.is_missing()
    return {
        "is_uncalibrated": is_uncalibrated,
        "is_indexing": is_uncalibrated and any(waits() for waits in hooks.indexing_checks),
    }


def find_answer(answer_id: str) -> Payload | None:
    """Return a stored answer with the present state of its sources; None where there is none.

    A withdrawn study's words are replaced by "A source was withdrawn."
    """
    if not is_storable(answer_id):
        return None
    with search.snapshot():
        found = Answer.objects.filter(pk=answer_id).order_by().values_list("payload", flat=True)
        return next((redaction.redact_now(storing.restore_payload(stored)) for stored in found), None)


def find_by_request(request_id: uuid.UUID) -> Payload | None:
    """Return a stored answer by its request id, redacted; None where there is none."""
    row = Answer.objects.filter(request_id=request_id).first()
    return None if row is None else redaction.redact(storing.restore_payload(row.payload))
