"""Questions as programs send them: the same one sent twice is answered once, and a client finds its own again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from qa_app.answers import asking
from qa_app.answers.payload import Payload
from qa_app.models import Answer, SentQuestion

PATIENCE = timedelta(minutes=5)  # an answer that takes longer was broken off


class OtherQuestion(Exception):
    """The client has sent another question with this key."""


class StillAnswering(Exception):
    """The same question came with the same key a moment ago, and its answer is being made."""


def ask(
    arguments: Mapping[str, Any],
    *,
    client: str,
    is_listed: bool,
    idempotency_key: str | None = None,
    allowance: asking.Allowance | None = None,
    now: datetime | None = None,
) -> tuple[Payload, bool]:
    """The answer, and whether it was made now; `arguments` are those of `asking.ask`.

    With an `idempotency_key` the same client gets the same answer for a day, as it reads beside the present corpus. Of a
    client that is not `is_listed` nothing is kept longer. Raises BadQuestion, ModelQuotaUsedUp, OtherQuestion,
    StillAnswering.
    """
    now = now or timezone.now()
    if idempotency_key is None:
        payload = asking.ask(**arguments, allowance=allowance)
        if is_listed:
            note(payload["id"], client=client, now=now)
        return payload, True
    digest = hashlib.sha256(json.dumps(dict(arguments), sort_keys=True).encode()).hexdigest()
    claim = _claim(client, idempotency_key, digest, is_listed, now)
    if claim.answer_id is not None and (kept := asking.find_answer(claim.answer_id)) is not None:
        return kept, False
    try:
        payload = asking.ask(**arguments, allowance=allowance)
    except BaseException:
        _mine(claim).delete()  # it may be sent again at once
        raise
    _mine(claim).update(answer_id=payload["id"])
    return payload, True


def note(answer_id: str, *, client: str, now: datetime | None = None) -> None:
    """Puts an answer on the client's list."""
    SentQuestion.objects.create(client=client, answer_id=answer_id, is_listed=True, sent_at=now or timezone.now())


def _claim(client: str, key: str, digest: str, is_listed: bool, now: datetime) -> SentQuestion:
    """The row of this key: a new one, or a finished one. Of several at once one gets it; the database sees to that."""
    SentQuestion.objects.filter(client=client).forget(now)
    row, is_new = SentQuestion.objects.get_or_create(
        client=client,
        idempotency_key=key,
        defaults={"idempotency_digest": digest, "is_listed": is_listed, "sent_at": now},
    )
    if is_new:
        return row
    if row.idempotency_digest != digest:
        raise OtherQuestion
    if row.answer_id is None:
        if row.sent_at > now - PATIENCE or not _mine(row).update(sent_at=now):
            raise StillAnswering
        row.sent_at = now
    return row


def _mine(claim: SentQuestion) -> QuerySet[SentQuestion]:
    """The row, unless another request has taken it over."""
    return SentQuestion.objects.filter(pk=claim.pk, answer=None, sent_at=claim.sent_at)


def own(client: str) -> QuerySet[Answer]:
    """The answers that a client has asked for, without what they hold."""
    mine = Answer.objects.filter(sent_questions__client=client, sent_questions__is_listed=True)
    return mine.defer("payload", "drafts")
