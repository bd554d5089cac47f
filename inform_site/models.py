"""The signs of life of the workers, and the last backup."""

from __future__ import annotations

from django.db import models


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
