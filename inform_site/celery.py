"""The Celery application. Messages only wake the worker; the rows describe the work."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready
from django.conf import settings

from common.waking import wake
from inform_site import heartbeats as heartbeats  # connects its signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")

app = Celery("inform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def sweep(**details: Any) -> None:
    """Look for the work that a killed worker left, which would otherwise wait for the first sweep."""
    consumed = app.amqp.queues.consume_from
    for entry in app.conf.beat_schedule.values():
        queue = settings.CELERY_TASK_ROUTES.get(entry["task"], {}).get("queue", settings.CELERY_TASK_DEFAULT_QUEUE)
        if entry["schedule"] == settings.INDEX_SWEEP_SECONDS and queue in consumed:
            wake(entry["task"])
