"""Idempotent questions of API clients, and the list of a client's own answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import Error, connection
from django.db.models import QuerySet
from django.utils import timezone

from qa_app.answers import asking
from qa_app.answers.payload import Payload
from qa_app.models import Answer, SentQuestion


class KeyReused(Exception):
    """The client has used this key for another question."""


class AnswerInProgress(Exception):
    """Another request with this key is in progress."""


def ask(
    arguments: Mapping[str, Any],
    *,
    client: str,
    is_listed: bool,
    idempotency_key: str | None = None,
    allowance: asking.Allowance | None = None,
    now: datetime | None = None,
) -> tuple[Payload, bool]:
    """Return the answer and whether it is new; `arguments` are those of `asking.ask`.

    A repeated `idempotency_key` returns the client's first answer for a day. `is_listed` adds it to the client's list.
    Raises BadQuestion, ModelQuotaUsedUp, KeyReused and AnswerInProgress.
    """
    now = now or timezone.now()
    if idempotency_key is None:
        when_stored = partial(note, client=client, now=now) if is_listed else None
        return asking.ask(**arguments, allowance=allowance, when_stored=when_stored), True
    digest = hashlib.sha256(json.dumps(dict(arguments), sort_keys=True).encode()).hexdigest()
    claim = _claim(client, idempotency_key, digest, is_listed, now)
    if claim.answer_id is not None and (stored := asking.find_answer(claim.answer_id)) is not None:
        return stored, False

    def finish(answer_id: str) -> None:
        if not _unfinished(claim).update(answer_id=answer_id):
            raise AnswerInProgress  # another request has taken the claim over: store no second answer

    try:
        return asking.ask(**arguments, allowance=allowance, when_stored=finish), True
    except BaseException:
        _release(claim)
        raise


def note(answer_id: str, *, client: str, now: datetime | None = None) -> None:
    """Add an answer to the client's list."""
    SentQuestion.objects.create(client=client, answer_id=answer_id, is_listed=True, sent_at=now or timezone.now())


def _claim(client: str, key: str, digest: str, is_listed: bool, now: datetime) -> SentQuestion:
    """Return the row of this key, new or finished; the database grants it to one of several requests."""
    SentQuestion.objects.filter(client=client).forget(now)
    row, is_new = SentQuestion.objects.get_or_create(
        client=client,
        idempotency_key=key,
        defaults={"idempotency_digest": digest, "is_listed": is_listed, "sent_at": now},
    )
    if is_new:
        return row
    if row.idempotency_digest != digest:
        raise KeyReused
    if row.answer_id is None:
        longest = timedelta(seconds=settings.ANSWER_SECONDS)  # an answer that takes longer has failed
        is_live = abs(now - row.sent_at) < longest  # a claim of a clock that was ahead blocks nobody for hours
        if is_live or not _unfinished(row).update(sent_at=now):
            raise AnswerInProgress
        row.sent_at = now
    return row


def _release(claim: SentQuestion) -> None:
    """Let the client retry at once, also where the connection was lost; else the claim ends by itself."""
    with suppress(Error):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        _unfinished(claim).delete()


def _unfinished(claim: SentQuestion) -> QuerySet[SentQuestion]:
    """Return the row, unless another request has taken it over."""
    return SentQuestion.objects.filter(pk=claim.pk, answer=None, sent_at=claim.sent_at)


def own(client: str) -> QuerySet[Answer]:
    """Return the answers that a client has asked for, without payloads and drafts."""
    rows = Answer.objects.filter(sent_questions__client=client, sent_questions__is_listed=True)
    return rows.defer("payload", "drafts")
