"""Followed questions: their versions, their followers, and the outbox of what followers are to be sent."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Count, Exists, Max, OuterRef, Q

WRITERS = ("auto", "extractive")


class FollowedQuestionQuerySet(models.QuerySet["FollowedQuestion"]):
    def with_readers(self, *, feed_read_since: datetime) -> FollowedQuestionQuerySet:
        """Return the questions that have a confirmed follower, or whose feed was read since this moment."""
        confirmed = Follower.objects.filter(question=OuterRef("pk"), confirmed_at__isnull=False)
        return self.filter(Exists(confirmed) | Q(feed_read_at__gte=feed_read_since))

    def with_figures(self) -> models.QuerySet[Any]:
        """Annotate `confirmed`, `unconfirmed`, `n_changes`, `failed` and `notified_at`, as the desk lists them."""
        deliveries = "followers__deliveries"
        failed = Q(**{f"{deliveries}__status__in": Delivery.NEEDS_CARE})
        return self.annotate(
            confirmed=Count("followers", filter=Q(followers__confirmed_at__isnull=False), distinct=True),
            unconfirmed=Count("followers", filter=Q(followers__confirmed_at=None), distinct=True),
            failed=Count(deliveries, filter=failed, distinct=True),
            n_changes=Count("changes", distinct=True),
            notified_at=Max(f"{deliveries}__sent_at", filter=Q(**{f"{deliveries}__change__isnull": False})),
        )


class FollowedQuestion(models.Model):
    """A question that is asked again when the corpus changes. Its current answer says how it is asked."""

    id = models.CharField(primary_key=True, max_length=40, help_text="128 random bits, url-safe.")
    key = models.CharField(max_length=64, unique=True, help_text="Hash of what is asked, and of how it is asked.")
    answer = models.ForeignKey("qa_app.Answer", on_delete=models.CASCADE, related_name="+")
    writer = models.CharField(max_length=20, choices=[(name, name) for name in WRITERS])
    asked_version = models.PositiveIntegerField(help_text="The corpus version that it was last asked of.")
    feed_read_at = models.DateTimeField(null=True, blank=True, help_text="To the day; empty where nobody has the feed.")
    created_at = models.DateTimeField()

    objects = FollowedQuestionQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "id"]

    def __str__(self) -> str:
        return str(self.answer)


class AnswerChange(models.Model):
    """A new answer to a followed question, which differs from the one before in what readers rely on."""

    question = models.ForeignKey(FollowedQuestion, on_delete=models.CASCADE, related_name="changes")
    before = models.ForeignKey("qa_app.Answer", on_delete=models.CASCADE, related_name="+")
    after = models.ForeignKey("qa_app.Answer", on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [models.UniqueConstraint(fields=["question", "after"], name="answer_change_once")]

    def __str__(self) -> str:
        return f"{self.before_id} to {self.after_id}"


class Follower(models.Model):
    """Somebody who is told when an answer changes. The row and its address are deleted when they stop."""

    class Channel(models.TextChoices):
        EMAIL = "email", "E-mail"
        WEBHOOK = "webhook", "Webhook"

    question = models.ForeignKey(FollowedQuestion, on_delete=models.CASCADE, related_name="followers")
    answer = models.ForeignKey(
        "qa_app.Answer", on_delete=models.CASCADE, related_name="+", help_text="The answer that was followed."
    )
    channel = models.CharField(max_length=10, choices=Channel)
    address = models.TextField(editable=False, help_text="Encrypted under the site's SECRET_KEY.")
    address_key = models.CharField(max_length=64, editable=False, help_text="Keyed hash of client and address.")
    secret = models.TextField(blank=True, editable=False, help_text="Encrypted; signs what a webhook is sent.")
    client = models.CharField(max_length=64, blank=True, help_text="The API key that a webhook belongs to.")
    language = models.CharField(max_length=10, help_text="The language of the mails.")
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["question", "address_key"], name="follower_once"),
            models.CheckConstraint(
                condition=Q(channel="email") | ~(Q(secret="") | Q(client="")), name="follower_webhook_signed"
            ),
        ]
        indexes = [models.Index(fields=["client"], condition=~Q(client=""), name="follower_by_client")]

    def __str__(self) -> str:
        return f"{self.get_channel_display()} {self.pk}"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def due(self, now: datetime) -> DeliveryQuerySet:
        """Return what waits to be sent, longest first."""
        return self.filter(status=Delivery.Status.WAITING, due_at__lte=now).order_by("due_at", "pk")

    def send_again(self, now: datetime) -> int:
        """Have what failed or is uncertain sent once more; return how many."""
        return self.filter(status__in=Delivery.NEEDS_CARE).update(
            status=Delivery.Status.WAITING, attempts=0, due_at=now, error=""
        )


class Delivery(models.Model):
    """A message to a follower: about one change, or (without a change) the request to confirm an address."""

    class Status(models.TextChoices):
        WAITING = "waiting", "Waiting"
        SENDING = "sending", "Being sent"
        SENT = "sent", "Sent"
        UNCERTAIN = "uncertain", "Perhaps sent"
        FAILED = "failed", "Failed"

    NEEDS_CARE = (Status.UNCERTAIN, Status.FAILED)

    follower = models.ForeignKey(Follower, on_delete=models.CASCADE, related_name="deliveries")
    change = models.ForeignKey(AnswerChange, on_delete=models.CASCADE, null=True, related_name="deliveries")
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=200, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["follower", "change"], nulls_distinct=False, name="delivery_once"),
            models.CheckConstraint(condition=~Q(status="sent") | Q(sent_at__isnull=False), name="delivery_sent_when"),
            models.CheckConstraint(
                condition=~Q(status="sending") | Q(claimed_at__isnull=False), name="delivery_claimed_when"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(status__in=["waiting", "sending"]), name="delivery_to_send")
        ]

    def __str__(self) -> str:
        return f"{self.get_status_display()}: {self.change or 'request to confirm'}"
