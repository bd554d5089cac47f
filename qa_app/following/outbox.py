"""Send what is in the outbox. Mails are sent at most once, webhooks at least once and always with the same id.

A delivery is claimed and prepared in a transaction of its own, which ends before the message leaves the site: its words
are written, and the mail server or the name of the receiver is looked up. A worker that is killed before loses nothing.
If it is killed after, nobody knows whether the message left: a webhook is sent again, since its receiver knows the id;
a mail is not, and the desk shows it.
"""

from __future__ import annotations

import logging
import smtplib
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.utils import timezone

from common.encryption import CannotDecrypt, decrypt
from qa_app import hooks
from qa_app.following import followers, messages, webhooks
from qa_app.models import Delivery, Follower

logger = logging.getLogger(__name__)

RETRIES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 480, 1440))
"""Waiting times before each further attempt: a receiver may be down for more than a day."""
CLAIM_TIMEOUT = timedelta(minutes=5)  # after which the worker is taken for dead; no attempt lasts so long
MAX_ERROR_LENGTH = 200  # characters


class Undelivered(Exception):
    """An attempt that certainly delivered nothing."""


class Uncertain(Exception):
    """An attempt that ended without a reply."""


def send_due(*, seconds: float, now: datetime | None = None) -> bool:
    """Send what is due for at most this long; return whether some is left."""
    ends = time.monotonic() + seconds
    _release_claims(now or timezone.now())
    while time.monotonic() < ends:
        claimed = _claim(now or timezone.now())
        if claimed is None:
            return False
        delivery, send = claimed
        if send is not None:
            _attempt(delivery, send, now or timezone.now())
    return True


def _claim(now: datetime) -> tuple[Delivery, Callable[[], None] | None] | None:
    """Take the next delivery and prepare all that can fail without harm; None where nothing is due.

    The function that sends is None where the preparation failed, which is recorded.
    """
    with transaction.atomic():
        due = Delivery.objects.due(now).select_for_update(of=("self",), skip_locked=True)
        delivery = due.select_related("follower__answer", "change__before", "change__after").first()
        if delivery is None:
            return None
        delivery.attempts += 1
        try:
            with transaction.atomic():
                send = _PREPARE[delivery.follower.channel](delivery, now)
        except Exception as error:  # one that cannot be written must not keep the others from being sent
            if not isinstance(error, Undelivered):
                logger.exception("Delivery %s could not be written.", delivery.pk)
            _postpone(delivery, str(error) if isinstance(error, Undelivered) else "It could not be written.", now)
            return delivery, None
        delivery.status, delivery.claimed_at = Delivery.Status.SENDING, now
        delivery.save(update_fields=["status", "attempts", "claimed_at"])
    return delivery, send


def _attempt(delivery: Delivery, send: Callable[[], None], now: datetime) -> None:
    """Send a claimed delivery and record what came of it."""
    try:
        send()
    except webhooks.Unwanted:
        followers.stop(delivery.follower_id)
    except Undelivered as error:
        _postpone(delivery, str(error), now)
    except Uncertain as error:
        _record(delivery, status=Delivery.Status.UNCERTAIN, error=str(error)[:MAX_ERROR_LENGTH])
    else:
        _record(delivery, status=Delivery.Status.SENT, sent_at=now, error="")


def _postpone(delivery: Delivery, error: str, now: datetime) -> None:
    """Record a failed attempt; after the last one nothing is sent until a curator says so."""
    logger.warning("Delivery %s was not taken: %s", delivery.pk, error)
    is_last = delivery.attempts > len(RETRIES)
    status = Delivery.Status.FAILED if is_last else Delivery.Status.WAITING
    due_at = now + (timedelta() if is_last else RETRIES[delivery.attempts - 1])
    _record(delivery, status=status, attempts=delivery.attempts, due_at=due_at, error=error[:MAX_ERROR_LENGTH])


def _record(delivery: Delivery, **changes: Any) -> None:
    """Update a delivery, unless its follower has stopped meanwhile."""
    Delivery.objects.filter(pk=delivery.pk).update(**changes)


def _release_claims(now: datetime) -> None:
    """Settle what killed workers had claimed: webhooks are sent again, mails are left to the curators."""
    live = (now - CLAIM_TIMEOUT, now + CLAIM_TIMEOUT)  # one further ahead is of a clock that was wrong
    left = Delivery.objects.filter(status=Delivery.Status.SENDING).exclude(claimed_at__range=live)
    left.filter(follower__channel=Follower.Channel.WEBHOOK).update(status=Delivery.Status.WAITING)
    left.filter(follower__channel=Follower.Channel.EMAIL).update(
        status=Delivery.Status.UNCERTAIN, error="The worker ended while it was being sent."
    )


# --- Channels ---


def _prepare_mail(delivery: Delivery, now: datetime) -> Callable[[], None]:
    """Write a mail and connect to the mail server, and return a function that sends it. Raises Undelivered."""
    try:
        mail = messages.write_mail(delivery)
        connection = get_connection()
        connection.open()
    except (OSError, smtplib.SMTPException, CannotDecrypt) as error:
        raise Undelivered(f"The mail server cannot be reached ({type(error).__name__}).") from None
    return partial(_send_mail, mail, connection)


def _send_mail(mail: EmailMessage, connection: Any) -> None:
    try:
        connection.send_messages([mail])
    except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:  # the server has said no
        raise Undelivered(f"The mail server refused it ({type(error).__name__}).") from None
    except (OSError, smtplib.SMTPException) as error:
        raise Uncertain(f"The mail server did not reply ({type(error).__name__}).") from None
    finally:
        connection.close()


def _prepare_event(delivery: Delivery, now: datetime) -> Callable[[], None]:
    """Write an event, and return a function that posts it to its webhook. Raises Undelivered."""
    follower = delivery.follower
    if hooks.is_client_active and not hooks.is_client_active(follower.client):
        raise Undelivered("Its API key is not valid.")
    try:
        secret = decrypt(follower.secret, purpose=followers.PURPOSE)
        send = webhooks.prepare(
            messages.url_of(follower),
            messages.write_event(delivery),
            secret=secret,
            message_id=f"delivery-{delivery.pk}",
            now=now,
        )
    except (webhooks.BadAddress, CannotDecrypt) as error:
        raise Undelivered(str(error) or "It was encrypted under another SECRET_KEY.") from None
    return partial(_send_event, send)


def _send_event(send: Callable[[], None]) -> None:
    try:
        send()
    except webhooks.NotTaken as error:  # perhaps taken without a reply: its id tells the receiver
        raise Undelivered(str(error)) from None


_PREPARE = {Follower.Channel.EMAIL.value: _prepare_mail, Follower.Channel.WEBHOOK.value: _prepare_event}
