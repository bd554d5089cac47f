"""Follow a question by e-mail, webhook or feed; confirm an address; stop. One transaction each."""

from __future__ import annotations

import base64
import secrets
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_noop as N_

from common.encryption import encrypt
from common.waking import wake
from qa_app import hooks
from qa_app.answers import answering, payload, study_filters
from qa_app.answers.asking import BadInput, is_storable
from qa_app.following import webhooks
from qa_app.models import Answer, AnswerChange, Delivery, FollowedQuestion, Follower, question_key

TASK = "qa_app.tasks.notify_followers"
PURPOSE = "qa_app.following"
UNCONFIRMED_FOR = timedelta(days=3)
FEED_READ_WITHIN = timedelta(days=60)  # a feed that nobody reads for so long is no longer made
FEED_READ_TO = timedelta(days=1)  # how exactly the last reading is recorded
MAX_ADDRESS_LENGTH = 254  # characters (RFC 5321)
MAX_WEBHOOKS = 1_000  # of one API key
SECRET_BYTES = 24
_is_address = EmailValidator()


class BadFollow(BadInput):
    """A question that cannot be followed, or not in this way."""


def follow_by_email(answer_id: str, address: str, *, language: str, now: datetime | None = None) -> bool:
    """Send an address a request to confirm; False where there is no such answer. Raises BadFollow.

    The caller cannot tell whether the address is known, follows already, or was sent too many requests today.
    """
    now, address = now or timezone.now(), address.strip()
    if not settings.FOLLOW_BY_EMAIL:
        raise BadFollow("email", "off", N_("This site sends no e-mail. Follow the question by its feed instead."))
    if not _is_email(address):
        raise BadFollow("email", "malformed", N_("Please type an e-mail address, such as name@example.org."))
    answer = _find_answer(answer_id)
    if answer is None:
        return False
    key = hash_address(address)
    with transaction.atomic():
        question = _lock_question(answer, now)
        follower = question.followers.filter(address_key=key).first()
        if (follower and follower.confirmed_at) or (hooks.count_mail and not hooks.count_mail(key)):
            return True
        if follower is None:
            follower = question.followers.create(
                answer=answer, channel=Follower.Channel.EMAIL, address=encrypt(address, purpose=PURPOSE),
                address_key=key, language=language, created_at=now,
            )  # fmt: skip
        request = {"status": Delivery.Status.WAITING, "attempts": 0, "due_at": now}
        Delivery.objects.update_or_create(follower=follower, change=None, defaults=request)
        transaction.on_commit(partial(wake, TASK))
    return True


def follow_by_webhook(
    answer_id: str, url: str, *, client: str, now: datetime | None = None
) -> tuple[Follower, str] | None:
    """Add a webhook of an API key; return it with its secret, None where there is no such answer. Raises BadFollow.

    A webhook that follows the question already gets a new secret.
    """
    now = now or timezone.now()
    try:
        webhooks.check(url)
    except webhooks.BadAddress as bad:
        raise BadFollow("url", "refused", str(bad)) from bad
    answer = _find_answer(answer_id)
    if answer is None:
        return None
    secret = webhooks.PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
    own = {"answer": answer, "client": client, "secret": encrypt(secret, purpose=PURPOSE), "confirmed_at": now}
    with transaction.atomic():
        question = _lock_question(answer, now)
        key = hash_address(url, client)
        others = Follower.objects.filter(client=client).exclude(question=question, address_key=key)
        if others.count() >= MAX_WEBHOOKS:
            raise BadFollow(
                "url", "too_many", "This key follows %(most)s questions, the most that it may.", most=MAX_WEBHOOKS
            )
        follower, _ = question.followers.update_or_create(
            address_key=key,
            defaults=own,
            create_defaults=own
            | {"channel": Follower.Channel.WEBHOOK, "address": encrypt(url, purpose=PURPOSE), "created_at": now},
        )
        _notify_since(follower, now)
    return follower, secret


def follow_by_feed(answer_id: str, *, now: datetime | None = None) -> FollowedQuestion | None:
    """Keep a feed of the changes of an answer; None where there is no such answer. Raises BadFollow."""
    now = now or timezone.now()
    answer = _find_answer(answer_id)
    if answer is None:
        return None
    with transaction.atomic():
        question = _lock_question(answer, now)
        note_feed_reading(question, now)
    return question


def find_question(question_id: str) -> FollowedQuestion | None:
    """Return a followed question with its current answer."""
    return FollowedQuestion.objects.filter(pk=question_id).select_related("answer").first()


def note_feed_reading(question: FollowedQuestion, now: datetime) -> None:
    """Record, to the day, that the feed was read."""
    if question.feed_read_at is None or question.feed_read_at < now - FEED_READ_TO:
        FollowedQuestion.objects.filter(pk=question.pk).update(feed_read_at=now)


def webhooks_of(client: str) -> QuerySet[Follower]:
    """Return the webhooks of an API key."""
    return Follower.objects.filter(client=client, channel=Follower.Channel.WEBHOOK).select_related("answer")


# --- Confirming and stopping, by the signed links of the mails ---


def sign(follower: Follower) -> str:
    """Return what stands for a follower in the links of its mails."""
    return signing.Signer(salt=PURPOSE).sign(str(follower.pk))


def read_token(token: str) -> int | None:
    """Return the follower's key; None for a link that we did not write. The follower may be gone."""
    try:
        return int(signing.Signer(salt=PURPOSE).unsign(token))
    except (signing.BadSignature, ValueError):
        return None


def find_follower(pk: int) -> Follower | None:
    """Return a follower with the answer that it follows; None once it has stopped."""
    return Follower.objects.filter(pk=pk).select_related("question__answer").first()


def confirm(pk: int, *, now: datetime | None = None) -> Follower | None:
    """Confirm an address; None where it was erased meanwhile. It is told of what has changed since it was typed."""
    now = now or timezone.now()
    with transaction.atomic():
        follower = _lock_follower(pk)
        if follower is not None and follower.confirmed_at is None:
            follower.confirmed_at = now
            follower.save(update_fields=["confirmed_at"])
            _notify_since(follower, now)
    return follower


def stop(pk: int, *, client: str | None = None) -> bool:
    """Erase a follower with its address and all its deliveries; False where it was gone, or is another client's."""
    with transaction.atomic():
        follower = _lock_follower(pk)
        if follower is None or (client is not None and follower.client != client):
            return False
        follower.delete()
        return True


def prune(now: datetime) -> None:
    """Erase the addresses that nobody confirmed, then the questions that nobody follows."""
    Follower.objects.filter(confirmed_at=None, created_at__lt=now - UNCONFIRMED_FOR).delete()
    followed = Follower.objects.values("question")
    unread = FollowedQuestion.objects.exclude(feed_read_at__gte=now - FEED_READ_WITHIN)
    unread.filter(created_at__lt=now - FEED_READ_TO).exclude(pk__in=followed).delete()


# --- Rows ---


def hash_address(address: str, client: str = "") -> str:
    """Return a keyed hash of a mail address, or of a client's webhook, which finds it again without decrypting all."""
    return salted_hmac(PURPOSE, f"{client} {address if client else address.casefold()}", algorithm="sha256").hexdigest()


def _is_email(address: str) -> bool:
    try:
        _is_address(address)
    except ValidationError:
        return False
    return len(address) <= MAX_ADDRESS_LENGTH


def _find_answer(answer_id: str) -> Answer | None:
    """Return an answer; None where there is none. Raises BadFollow where it cannot be followed."""
    answer = Answer.objects.filter(pk=answer_id).first() if is_storable(answer_id) else None
    if answer is not None and not payload.is_from_studies(answer.payload | {"outcome": answer.outcome}):
        raise BadFollow("answer", "fixed", N_("This reply does not change with the studies, so it cannot be followed."))
    return answer


def _lock_question(answer: Answer, now: datetime) -> FollowedQuestion:
    """Return the followed question of an answer, locked; made on first use."""
    generator = answer.payload["generator"]
    writer = "auto" if "llm" in {generator["name"], generator["fallback_from"]} else "extractive"
    filters = study_filters.to_words(answer.payload.get("filters"))
    key = question_key(" ".join(filter(None, (answer.meant, answer.mode, answer.collection or "", writer, filters))))
    made = {
        "id": answering.new_id(), "answer": answer, "writer": writer, "asked_version": answer.corpus_version,
        "created_at": now,
    }  # fmt: skip
    question, is_new = FollowedQuestion.objects.select_for_update(of=("self",)).get_or_create(key=key, defaults=made)
    return FollowedQuestion.objects.select_for_update(of=("self",)).get(pk=question.pk) if is_new else question


def _lock_follower(pk: int) -> Follower | None:
    """Return a follower after locking its question, as everybody does who changes followers or deliveries."""
    question = FollowedQuestion.objects.filter(followers=pk).values_list("pk", flat=True).first()
    list(FollowedQuestion.objects.select_for_update().filter(pk=question))
    return find_follower(pk)


def _notify_since(follower: Follower, now: datetime) -> None:
    """File the changes that are news to whoever followed this answer."""
    newer = AnswerChange.objects.filter(
        question=follower.question, after__corpus_version__gt=follower.answer.corpus_version
    )
    if file_deliveries([follower], list(newer.order_by("pk")), now):
        transaction.on_commit(partial(wake, TASK))


def file_deliveries(followers: list[Follower], changes: list[AnswerChange], now: datetime) -> int:
    """Put a message for each follower and change into the outbox, once; return how many there are."""
    rows = [Delivery(follower=one, change=change, due_at=now) for change in changes for one in followers]
    return len(Delivery.objects.bulk_create(rows, ignore_conflicts=True))
