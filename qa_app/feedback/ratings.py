"""Store readers' feedback on answers."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_noop as N_

from qa_app import hooks
from qa_app.answers.asking import REPLACEMENT_CHARACTER, BadInput, is_storable
from qa_app.models import Answer, Feedback

MAX_FEEDBACK_LENGTH = 1_000
MAX_FEEDBACK_PER_DAY = 50  # for an answer, from new browsers


class BadFeedback(BadInput):
    """Feedback that was rejected."""


def give_feedback(
    answer_id: str,
    *,
    is_helpful: object,
    reasons: object = (),
    words: object = "",
    amends: int | None = None,
    client: str = "",
    now: datetime | None = None,
) -> Feedback | None:
    """Store a reader's feedback; None where there is no such answer. Raises BadFeedback.

    `amends` is the key of earlier feedback of the same reader, which is replaced. `client` identifies the reader, who
    counts once; only its hash for this month is stored.
    """
    if not isinstance(is_helpful, bool):
        raise BadFeedback("helpful", "not_boolean", N_("Say whether the answer helped: true or false."))
    known = list(Feedback.Reason.values)
    if not isinstance(reasons, list | tuple) or any(reason not in known for reason in reasons):
        raise BadFeedback(
            "reasons", "unknown", N_("Choose reasons from this list, or none: %(known)s."), known=", ".join(known)
        )
    if not isinstance(words, str) or not is_storable(words) or REPLACEMENT_CHARACTER in words:
        raise BadFeedback("words", "not_text", N_("Send your words as text."))
    if len(words.strip()) > MAX_FEEDBACK_LENGTH:
        raise BadFeedback("words", "too_long", N_("Please keep it to %(most)s characters."), most=MAX_FEEDBACK_LENGTH)
    answer = Answer.objects.filter(pk=answer_id).first() if is_storable(answer_id) else None
    if answer is None:
        return None
    now = now or timezone.now()
    given = Feedback.objects.filter(pk=amends, answer=answer).first() if amends else None
    if given is None:
        if Feedback.objects.filter(answer=answer, given_at__gt=now - timedelta(days=1)).count() >= MAX_FEEDBACK_PER_DAY:
            raise BadFeedback("answer", "too_many", N_("Many readers have told us about this answer today. Thank you."))
        given = Feedback(answer=answer)
    given.is_helpful = is_helpful
    given.reasons = [reason for reason in known if reason in reasons]
    given.words = words.strip()
    given.visitor = visitor_of(client, now) if client else ""
    given.given_at = now
    given.save()
    return given


def visitor_of(client: str, now: datetime) -> str:
    """Return a keyed hash of a client and the month, so that ratings of two months cannot be joined."""
    return salted_hmac("qa_app.feedback", f"{now:%Y-%m} {client}").hexdigest()[:40]


def identify(request: HttpRequest) -> str:
    """Return what identifies the client of a request; empty where the site does not say."""
    return hooks.identify_client(request) if hooks.identify_client else ""


def find_feedback(answer_id: str, key: int) -> Feedback | None:
    """Return the feedback with this key on this answer."""
    return Feedback.objects.filter(pk=key, answer=answer_id).first()


def feedback_reasons() -> list[tuple[str, str]]:
    """Return codes and labels of the reasons."""
    return [(code, str(words)) for code, words in Feedback.Reason.choices]
