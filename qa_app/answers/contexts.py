"""Evidence frozen under a request id, from which summary and answer can be written later."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import perf_counter
from typing import Literal

from django.conf import settings

from common import tracing
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
from qa_app.pipeline.records import (
    Answered,
    Candidate,
    Counted,
    Ending,
    Evidence,
    InsufficientEvidence,
    Outcome,
    Question,
    Refused,
)
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
    ending = answering.make(question, writer="extractive")
    row = _freeze(uuid.uuid4(), ending, now)
    return Opened(
        request_id=str(row.request_id),
        outcome=row.outcome,
        message=ending.message if isinstance(ending, Refused) else None,
        evidence=payload.evidence_rows(ending.passages, ending.query),
        expires_at=row.expires_at,
        timings_ms=ending.timings_ms,
    )


def answer(
    question: Question,
    *,
    writer: str,
    parent: str | None,
    now: datetime,
    policy: Policy = answering.POLICY,
    freezes_evidence: bool = False,
    allowance: Allowance | None = None,
    limit: TimeLimit | None = None,
    when_stored: Callable[[str], None] | None = None,
) -> payload.Payload:
    """Answer a question, store the answer and return its payload; freeze its evidence under its request id on request.

    `when_stored` is called with the answer's id in the transaction that stores it.
    Raises ModelQuotaUsedUp and OutOfTime.
    """
    start = perf_counter()
    ending = answering.make(question, writer=writer, policy=policy, allowance=allowance, limit=limit)

    def finish(body: payload.Payload) -> None:
        if freezes_evidence:
            _freeze(uuid.UUID(body["request_id"]), ending, now)
        if when_stored:
            when_stored(body["id"])

    return answering.store(ending, parent=parent, now=now, started=start, limit=limit, when_stored=finish)


def _freeze(request_id: uuid.UUID, ending: Ending, now: datetime) -> EvidenceContext:
    return EvidenceContext.objects.create(
        request_id=request_id,
        question=ending.question.text,
        outcome=(ending.outcome if isinstance(ending, Refused) else Outcome.ANSWERED).value,
        message="" if isinstance(ending, Counted) else ending.message or "",
        evidence=freeze(ending.evidence) if isinstance(ending, Answered) else None,
        corpus_version=ending.corpus_version,
        policy=ending.policy.values(),
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
        raise InsufficientEvidence(row.message or "The studies here do not answer this question.")
    try:
        evidence, policy = thaw(Evidence, row.evidence), thaw(Policy, row.policy)
    except NotReadable as error:  # frozen by another release
        raise ExpiredContext from error
    evidence = _still_public(evidence)
    clock = Clock(limit=limit, span=tracing.span)
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
