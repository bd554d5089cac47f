"""The signs of life of the workers."""

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
