"""Background tasks for API clients."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from inform_site.clients import quotas


@shared_task(name="inform_site.clients.tasks.prune_counters")
def prune_counters() -> None:
    """Delete the counters of past days."""
    quotas.prune(now=timezone.now())
