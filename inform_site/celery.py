"""The Celery application. Messages only wake the worker; the rows describe the work."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready
from django.conf import settings

from common.waking import wake

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")

app = Celery("inform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def sweep(**details: Any) -> None:
    """Look for the work that a killed worker left, which would otherwise wait for the first sweep."""
    for entry in app.conf.beat_schedule.values():
        if entry["schedule"] == settings.INDEX_SWEEP_SECONDS:
            wake(entry["task"])
