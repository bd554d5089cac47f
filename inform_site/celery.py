"""The Celery application. Messages only wake the worker; the rows describe the work."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_ready
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection
from kombu.transport import pgmq
from psycopg_pool.base import AttemptWithBackoff

from common.waking import wake
from inform_site import heartbeats as heartbeats  # connects its signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")

# The pool of the queue tries again every second. psycopg doubles the pause, so a long outage would last minutes longer.
AttemptWithBackoff.DELAY_BACKOFF = 1.0

_acknowledge: Any = pgmq.Channel.basic_ack


def acknowledge(channel: Any, delivery_tag: str, multiple: bool = False) -> None:
    """Acknowledge a message, and free its slot even where the connection is lost meanwhile.

    kombu only logs the loss. The worker's one slot would stay taken, so it would never ask the queue again.
    """
    try:
        _acknowledge(channel, delivery_tag, multiple)
    except Exception:
        channel.qos.ack(delivery_tag)
        raise


pgmq.Channel.basic_ack = acknowledge  # type: ignore[method-assign]

app = Celery("inform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def refuse_newer_database(**details: Any) -> None:
    """Exit where a newer release has changed the database."""
    from inform_site.releases import require_known_database

    try:
        require_known_database()
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from None
    except DatabaseError:
        return  # away for the moment: the queue is waited for as well
    finally:
        connection.close()


@worker_ready.connect
def sweep(**details: Any) -> None:
    """Look for the work that a killed worker left, which would otherwise wait for the first sweep."""
    consumed = app.amqp.queues.consume_from
    for entry in app.conf.beat_schedule.values():
        queue = settings.CELERY_TASK_ROUTES.get(entry["task"], {}).get("queue", settings.CELERY_TASK_DEFAULT_QUEUE)
        if entry["schedule"] == settings.INDEX_SWEEP_SECONDS and queue in consumed:
            wake(entry["task"])
