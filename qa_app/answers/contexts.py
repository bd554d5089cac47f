"""Evidence frozen under a request id, from which summary and answer can be written later."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import perf_counter
from typing import Literal

from django.conf import settings
from django.db import transaction

from corpus_app import search
from corpus_app.records import Notice, Status
from qa_app.answers import answering, payload
from qa_app.answers.serialization import NotReadable, freeze, thaw
from qa_app.answers.time_limit import TimeLimit
from qa_app.models import EvidenceContext
from qa_app.pipeline import citations, writing
from qa_app.pipeline.attribution import attributed
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Candidate, Evidence, InsufficientEvidence, Outcome, Question
from qa_app.writers.rationed import Allowance

Part = Literal["summary", "answer"]


class UnknownContext(LookupError):
    """The request id has no frozen evidence, or its evidence was deleted."""


class ExpiredContext(LookupError):
    """The frozen evidence has expired; the question has to be asked again."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The evidence found for a question, before anything is written."""

    request_id: str
    outcome: str
    message: str | None
    evidence: list[payload.Payload]
    """Passages as documented in the contract; for a refusal, the nearest ones."""
    expires_at: datetime
    timings_ms: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """One verified part with its own citation numbers."""

    question: str
    part: payload.Payload
    citations: list[payload.Payload]
    generator: payload.Payload
    evidence: list[payload.Payload]
    timings_ms: Mapping[str, float | None]


def open_context(question: Question, *, now: datetime) -> Opened:
    """Retrieve and freeze the evidence for a question, and return its request id."""
    composed: list[Evidence] = []
    answered = answering.make(question, writer="extractive", keep=composed.append)
    outcome = Outcome.ANSWERED if answered.outcome.is_answer else answered.outcome
    row = _freeze_evidence(
        uuid.uuid4(), question, composed[0] if composed and answered.outcome.is_answer else None, answered.policy, now,
        outcome=outcome.value, message=answered.message, corpus_version=answered.corpus_version,
    )  # fmt: skip
    return Opened(
        request_id=str(row.request_id),
        outcome=outcome.value,
        message=None if answered.outcome.is_answer else answered.message,
        evidence=payload.evidence_rows(answered.evidence, answered.query),
        expires_at=row.expires_at,
        timings_ms=answered.timings_ms,
    )


def answer(
    question: Question,
    *,
    writer: str,
    parent: str | None,
    now: datetime,
    policy: Policy = answering.POLICY,
    allowance: Allowance | None = None,
    limit: TimeLimit | None = None,
) -> payload.Payload:
    """Answer a question as `answering.answer` does, and freeze its evidence under the answer's request id."""
    start = perf_counter()
    evidence: list[Evidence] = []
    answered = answering.make(
        question, writer=writer, policy=policy, keep=evidence.append, allowance=allowance, limit=limit
    )
    with transaction.atomic():
        body = answering.store(answered, parent=parent, now=now, started=start, limit=limit)
        _freeze_evidence(
            uuid.UUID(body["request_id"]),
            question,
            evidence[0] if evidence and answered.outcome.is_answer else None,
            answered.policy,
            now,
            outcome=Outcome.ANSWERED.value if answered.outcome.is_answer else answered.outcome.value,
            message=answered.message,
            corpus_version=answered.corpus_version,
        )
    return body


def _freeze_evidence(
    request_id: uuid.UUID, question: Question, evidence: Evidence | None, policy: Policy, now: datetime, *,
    outcome: str, message: str | None, corpus_version: int,
) -> EvidenceContext:  # fmt: skip
    return EvidenceContext.objects.create(
        request_id=request_id,
        question=question.text,
        outcome=outcome,
        message=message or "",
        evidence=None if evidence is None else freeze(evidence),
        corpus_version=corpus_version,
        policy=policy.values(),
        created_at=now,
        expires_at=now + timedelta(seconds=settings.CONTEXT_SECONDS),
    )


def write_part(
    request_id: str,
    part: Part,
    *,
    writer: str,
    now: datetime,
    allowance: Allowance | None = None,
    limit: TimeLimit | None = None,
) -> WrittenPart:
    """Write one part from the frozen evidence, without sources that have been withdrawn since.

    Raises UnknownContext, ExpiredContext, InsufficientEvidence, ModelQuotaUsedUp and OutOfTime.
    """
    row = _find(request_id, now)
    if row.evidence is None:
        raise InsufficientEvidence(row.message or "The studies kept here do not answer this question.")
    try:
        evidence, policy = thaw(Evidence, row.evidence), thaw(Policy, row.policy)
    except NotReadable as error:  # frozen by another release
        raise ExpiredContext from error
    evidence = _still_public(evidence)
    clock = Clock(limit=limit)
    writers = answering.writers(writer, (part,), allowance=allowance)
    written = writing.write(writers, evidence, policy, clock, (part,))
    sentences = written.summary if part == "summary" else written.answer
    numbers = citations.number_studies(sentences, evidence)
    if not numbers:
        raise InsufficientEvidence("No sentence could be verified.")
    return WrittenPart(
        question=row.question,
        part=payload.part(attributed(citations.numbered(sentences, numbers), evidence)),
        citations=payload.citation_rows(citations.citations(numbers, evidence)),
        generator=payload.generator_row(written.generator),
        evidence=payload.evidence_rows(evidence.passages, evidence.query),
        timings_ms=clock.spent,
    )


def _find(request_id: str, now: datetime) -> EvidenceContext:
    try:
        key = uuid.UUID(request_id)
    except (ValueError, AttributeError, TypeError) as error:
        raise UnknownContext from error
    row = EvidenceContext.objects.filter(pk=key).first()
    if row is None:
        raise UnknownContext
    if row.expires_at <= now:
        raise ExpiredContext
    return row


def _still_public(evidence: Evidence) -> Evidence:
    """Drop passages that were edited, and those of studies that were withdrawn, retracted or deleted."""
    studies, passages = search.states(
        [study.study_id for study in evidence.studies], [c.passage.passage_id for c in evidence.passages]
    )

    def is_unchanged(candidate: Candidate) -> bool:
        study, passage = studies.get(candidate.passage.study.study_id), passages.get(candidate.passage.passage_id)
        return (
            study is not None
            and study.status is Status.PUBLISHED
            and study.notice is not Notice.RETRACTED
            and passage is not None
            and passage.version == candidate.passage.version
        )

    public = tuple(candidate for candidate in evidence.passages if is_unchanged(candidate))
    return replace(
        evidence,
        passages=public,
        agreement=evidence.agreement if len(public) == len(evidence.passages) else None,
    )


def forget(now: datetime) -> int:
    """Delete contexts that expired a day ago or earlier and return their number.

    Until then their id is reported as expired, not as unknown.
    """
    deleted, _ = EvidenceContext.objects.filter(expires_at__lt=now - timedelta(days=1)).delete()
    return deleted
