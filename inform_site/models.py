"""The signs of life of the workers, the last backup, failed logins, initial passwords, and the audit log."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class QueueBeat(models.Model):
    """When a queue's worker last ended a task, and what it is at."""

    queue = models.CharField(max_length=20, primary_key=True)
    beat_at = models.DateTimeField(null=True, help_text="When a task last ended.")
    task = models.CharField(max_length=100, blank=True, help_text="What is being carried out; empty between tasks.")
    began_at = models.DateTimeField(null=True)
    unindexed = models.PositiveIntegerField(
        default=0, help_text="Of indexing: published passages that have been without a vector for too long."
    )

    def __str__(self) -> str:
        return self.queue


class BackupRecord(models.Model):
    """The one row that says when the newest backup was made, and why a later attempt failed."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    made_at = models.DateTimeField(null=True, help_text="The moment of the database that the newest backup holds.")
    size_bytes = models.PositiveBigIntegerField(default=0)
    failure = models.TextField(blank=True, help_text="Why the last attempt failed; empty when it did not.")

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_backup_record")]

    def __str__(self) -> str:
        return self.failure or f"{self.made_at}"


class LoginAttempt(models.Model):
    """A login that failed or is being tried, without the name or the address."""

    account = models.CharField(max_length=40, help_text="Keyed hash of the name that was typed.")
    address = models.CharField(max_length=40, help_text="Keyed hash of the client's address.")
    known_as = models.CharField(
        max_length=60, blank=True, help_text="The browser or network that signed in to this account before."
    )
    at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["account", "known_as", "at"], name="attempt_by_account"),
            models.Index(fields=["address", "at"], name="attempt_by_address"),
        ]

    def __str__(self) -> str:
        return f"{self.account[:8]} {self.at}"


class InitialPassword(models.Model):
    """A password that somebody else gave to a person, who replaces it at the first login."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+")
    given_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.user}"


class AuditEntry(models.Model):
    """A login or an act at the desk. Rows are never changed; the database refuses it."""

    class Kind(models.TextChoices):
        LOGIN = "login", "signed in"
        LOGIN_FAILED = "login_failed", "login failed"
        LOGIN_REFUSED = "login_refused", "login refused: too many attempts"
        LOGOUT = "logout", "signed out"
        SESSION_ENDED = "session_ended", "session ended"
        CONFIRMED = "confirmed", "confirmed that it is them"
        FACTOR_ADDED = "factor_added", "second factor added"
        FACTOR_REMOVED = "factor_removed", "second factor removed"
        FACTOR_FAILED = "factor_failed", "second factor failed"
        PASSWORD = "password", "password changed"
        ACT = "act", "act at the desk"
        DENIED = "denied", "not permitted"
        API = "api", "act by API key"
        COMMAND = "command", "command"

    at = models.DateTimeField("when", default=timezone.now, db_index=True)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    actor = models.CharField("who", max_length=150, blank=True, help_text="The name, as it was then.")
    address = models.GenericIPAddressField("from where", null=True)
    agent = models.CharField("browser", max_length=200, blank=True)
    what = models.CharField(max_length=200, blank=True)
    detail = models.CharField(max_length=500, blank=True)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-id"]
        default_permissions = ("view",)
        verbose_name = "audit entry"
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["actor", "kind", "address"], name="audit_by_actor")]

    def __str__(self) -> str:
        return f"{self.actor or 'somebody'}: {self.get_kind_display()}"
