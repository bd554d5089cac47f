"""Ask followed questions again when the corpus has changed, and record what is news."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone

from corpus_app import search
from qa_app.answers import answering, asking, payload, redaction, retracted
from qa_app.following import followers
from qa_app.following.difference import compare
from qa_app.models import AnswerChange, FollowedQuestion, Follower
from qa_app.pipeline.records import Ending

logger = logging.getLogger(__name__)


def ask_due(*, seconds: float, now: datetime | None = None) -> bool:
    """Ask the followed questions of an older corpus version again; return whether some are left after this time.

    Raises search.EncoderUnavailable. A question that fails is left for the next call.
    """
    ends, failed = time.monotonic() + seconds, set[str]()
    while (question := _find_due(now or timezone.now(), excluding=failed)) is not None:
        if time.monotonic() > ends:
            return True
        try:
            _renew(question, now or timezone.now())
        except search.EncoderUnavailable:
            raise
        except Exception:  # one question must not keep the others from being asked
            logger.exception("The followed question %s could not be asked again.", question.pk)
            failed.add(question.pk)
    return False


def _find_due(now: datetime, *, excluding: Collection[str]) -> FollowedQuestion | None:
    """Return the question to ask next: first those whose answer lost a source."""
    lost = retracted.with_lost_sources().filter(pk=OuterRef("answer"))
    read = FollowedQuestion.objects.with_readers(feed_read_since=now - followers.FEED_READ_WITHIN)
    due = read.filter(asked_version__lt=search.corpus_version()).exclude(pk__in=excluding)
    return due.select_related("answer").order_by(Exists(lost).desc(), "asked_version", "pk").first()


def _renew(question: FollowedQuestion, now: datetime) -> None:
    """Ask a question again; store the answer, the change and the deliveries in one transaction where it is news."""
    before, writer = question.answer, question.writer
    arguments = asking.repeat(before)
    ending = answering.make(asking.check(**arguments, writer=writer), writer=writer)
    is_news = compare(before, redaction.redact(_preview(ending, arguments["parent"], now))).is_news
    with transaction.atomic():
        stored = FollowedQuestion.objects.select_for_update().filter(pk=question.pk, answer=before).first()
        if stored is None or stored.asked_version >= ending.corpus_version:
            return  # another worker was quicker, or nobody follows it any longer
        stored.asked_version = ending.corpus_version
        if is_news:
            body = answering.store(ending, parent=arguments["parent"], now=now, files_gap=False)
            stored.answer_id = body["id"]
            change = AnswerChange.objects.create(question=stored, before=before, after_id=body["id"], at=now)
            told = Follower.objects.filter(
                question=stored, confirmed_at__isnull=False, answer__corpus_version__lt=ending.corpus_version
            )
            followers.file_deliveries(list(told), [change], now)
        stored.save(update_fields=["asked_version", "answer"])


def _preview(ending: Ending, parent: str | None, now: datetime) -> payload.Payload:
    """Return the payload of an answer that is not stored."""
    answer_id = answering.new_id()
    return payload.build_payload(
        ending, answer_id=answer_id, url=reverse("answer", args=[answer_id]), request_id="", parent=parent,
        encoder=search.encoder_name(), created_at=now.isoformat(timespec="seconds"),
    )  # fmt: skip
