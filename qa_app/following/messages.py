"""Write what followers are sent: mails in their language, and the JSON of webhooks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson
from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.http import urlencode

from common.encryption import decrypt
from corpus_app import search
from qa_app.answers.changes import Payload
from qa_app.following import followers
from qa_app.following.difference import find_difference
from qa_app.models import AnswerChange, Delivery, Follower


def write_mail(delivery: Delivery) -> EmailMessage:
    """Return the mail about a change, or the request to confirm an address."""
    follower, change = delivery.follower, delivery.change
    token = followers.sign(follower)
    stop = address_of("unfollow", token)
    name = "changed" if change else "confirm"
    context: dict[str, Any] = {
        "question": follower.answer.meant,
        "site_name": search.site().texts_in(follower.language.partition("-")[0]).name or "InForm",
        "stop": stop,
        "confirm": address_of("confirm_follow", token),
        "days": followers.UNCONFIRMED_FOR.days,
    }
    with translation.override(follower.language):
        if change:
            context |= {"page": page_of(change), "difference": find_difference(change)}
        subject = render_to_string(f"qa/mail/{name}_subject.txt", context)
        body = render_to_string(f"qa/mail/{name}.txt", context)
    headers = {
        "Auto-Submitted": "auto-generated",
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    to = decrypt(follower.address, purpose=followers.PURPOSE)
    return EmailMessage(" ".join(subject.split()), body.strip() + "\n", to=[to], headers=headers)


def write_event(delivery: Delivery) -> bytes:
    """Return the JSON that a webhook is sent."""
    change = delivery.change
    if change is None:
        raise ValueError("A webhook is not asked to confirm.")
    difference = find_difference(change)
    changes = difference.changes
    data = {
        "follow": str(delivery.follower_id),
        "question": change.after.meant,
        "before": _summary(changes.before),
        "after": _summary(changes.after),
        "page": page_of(change),
        "studies_in": [asdict(study) for study in changes.studies_in],
        "studies_out": [asdict(study) for study in changes.studies_out],
        "studies_withdrawn": changes.studies_gone,
        "notices": [asdict(row.study) | {"kind": row.kind} for row in difference.notices],
        "sentences_in": [row.text for row in changes.sentences_in],
        "sentences_out": [row.text for row in changes.sentences_out],
    }
    return orjson.dumps({"type": "answer.changed", "timestamp": change.at.isoformat(timespec="seconds"), "data": data})


def describe(change: AnswerChange) -> str:
    """Return the differences of a change as lines of text, in the language in use."""
    return render_to_string("qa/mail/_difference.txt", {"difference": find_difference(change)}).strip()


def page_of(change: AnswerChange) -> str:
    """Return the address of the new answer's page, which shows what has changed."""
    return f"{address_of('answer', change.after_id)}?{urlencode({'since': change.before_id})}"


def url_of(follower: Follower) -> str:
    """Return the decrypted address of a webhook."""
    return decrypt(follower.address, purpose=followers.PURPOSE)


def address_of(name: str, *arguments: str) -> str:
    """Return the whole address of a page of this site."""
    return f"{settings.SITE_URL}{reverse(name, args=arguments)}"


def _summary(body: Payload) -> dict[str, Any]:
    return {
        "id": body["id"],
        "url": address_of("answer", body["id"]),
        "outcome": body["outcome"],
        "corpus_version": body["corpus_version"],
    }
