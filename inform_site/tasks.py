"""Background tasks of the whole site."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

import psycopg
from celery import shared_task
from django.conf import settings
from django.db import DatabaseError

from inform_site.accounts import audit, sessions, throttle
from inform_site.backups import making, programs, records

logger = logging.getLogger(__name__)


@shared_task(name="inform_site.tasks.back_up")
def back_up() -> None:
    """Make a backup in INFORM_BACKUP_FOLDER where one is due, and delete the oldest beyond the number kept."""
    try:
        made = making.make_due(
            Path(settings.BACKUP_FOLDER),
            every=timedelta(hours=settings.BACKUP_HOURS),
            most=settings.BACKUPS_KEPT,
            say=logger.debug,
        )
    except (programs.BackupError, OSError, DatabaseError, psycopg.Error) as error:
        records.note_failure(str(error))
        logger.error("The backup was not made: %s", error)
        return
    if made:
        logger.info("Backed up to %s", made.path)


@shared_task(name="inform_site.tasks.prune_accounts")
def prune_accounts() -> None:
    """Delete failed logins that no longer count, sessions that have ended, and old entries of the audit log."""
    throttle.prune()
    sessions.prune()
    audit.prune()
