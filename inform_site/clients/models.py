"""API keys and the counters of their quotas."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class Scope(models.TextChoices):
    ASK = "ask", "ask: questions and feedback"
    READ = "read", "read: the corpus and answers"
    CURATE = "curate", "curate: change the corpus and look after gaps, as its owner"
    EVALUATE = "evaluate", "evaluate: golden questions and their runs, as its owner"


class ApiKey(models.Model):
    """An API key, stored as the hash of its secret. People tell keys apart by the prefix, a part of the secret."""

    name = models.CharField(max_length=100, help_text="What uses it, such as “Clinic website”.")
    prefix = models.CharField(max_length=20, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    earlier_prefix = models.CharField(max_length=20, unique=True, null=True, editable=False)
    earlier_digest = models.CharField(max_length=64, blank=True, editable=False)
    earlier_until = models.DateTimeField(
        "earlier secret valid until", null=True, editable=False, help_text="After a rotation."
    )
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope.choices), help_text="What it may do.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="api_keys",
        help_text="Whose permissions it has; needed to curate and to evaluate.",
    )
    created_at = models.DateTimeField(editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty for never.")
    revoked_at = models.DateTimeField(null=True, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False, help_text="To the minute.")

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name = "API key"
        verbose_name_plural = "API keys"
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=[scope.value for scope in Scope]) & ~Q(scopes=[]),
                name="key_scopes_known",
            ),
            models.CheckConstraint(
                condition=Q(owner__isnull=False) | ~Q(scopes__overlap=[Scope.CURATE.value, Scope.EVALUATE.value]),
                name="key_that_acts_has_owner",
                violation_error_message="A key that may curate or evaluate needs an owner, whose permissions it has.",
            ),
            models.CheckConstraint(
                condition=Q(earlier_prefix__isnull=True, earlier_digest="", earlier_until__isnull=True)
                | (Q(earlier_prefix__isnull=False, earlier_until__isnull=False) & ~Q(earlier_digest="")),
                name="key_earlier_whole_or_absent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def client_id(self) -> str:
        """Return the id under which data of this client is stored; a rotation does not change it."""
        return f"key-{self.pk}"

    def state(self, now: datetime) -> str:
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"


class QuotaCounter(models.Model):
    """The use of one quota by one client in the current minute and on the current day (UTC)."""

    client = models.CharField(max_length=64, help_text="A key's id, or the keyed hash of an address.")
    quota = models.CharField(max_length=20)
    minute = models.DateTimeField()
    used_in_minute = models.PositiveIntegerField()
    day = models.DateTimeField()
    used_in_day = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "quota"], name="counter_once")]
        indexes = [models.Index(fields=["day"], name="counter_by_day")]

    def __str__(self) -> str:
        return f"{self.client} {self.quota}"
