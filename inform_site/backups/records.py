"""The record of the newest backup and of a failed attempt, which pages, metrics and readiness read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import Error
from django.utils import timezone

HOUR = 3_600
LATE_AFTER = 1.5  # of the hours between two backups


@dataclass(frozen=True, slots=True)
class BackupState:
    """The age of the newest backup, by schedule or by hand, and why the last attempt failed."""

    is_scheduled: bool
    age_seconds: float | None
    """None where none was ever made."""
    size_bytes: int
    failure: str

    @property
    def is_late(self) -> bool:
        """Return whether a scheduled backup failed, or is older than it may be."""
        if not self.is_scheduled:
            return False
        limit = LATE_AFTER * settings.BACKUP_HOURS * HOUR
        return bool(self.failure) or self.age_seconds is None or self.age_seconds > limit


def note_made(moment: datetime, size_bytes: int) -> None:
    """Record a new backup of the database as it was at a moment."""
    _note(made_at=moment, size_bytes=size_bytes, failure="")


def note_failure(reason: str) -> None:
    """Record why no backup was made."""
    _note(failure=reason)


def state() -> BackupState:
    """Return the state of the backups. Raises DatabaseError."""
    from inform_site.models import BackupRecord

    found = BackupRecord.objects.first() or BackupRecord()
    age = max(0.0, (timezone.now() - found.made_at).total_seconds()) if found.made_at else None
    return BackupState(bool(settings.BACKUP_FOLDER), age, found.size_bytes, found.failure)


def delays() -> Iterator[str]:
    """Yield a sentence where a scheduled backup failed or is late; reasons, which name paths, are for the desk."""
    backups = state()
    if not backups.is_late:
        return
    if backups.age_seconds is None:
        made = "No backup has been made yet"
    else:
        made = f"The newest backup is {int(backups.age_seconds // HOUR)} hours old"
    yield f"{made}; the last attempt failed." if backups.failure else f"{made}."


def _note(**values: Any) -> None:
    from inform_site.models import BackupRecord

    with suppress(Error):  # a backup that was made counts, whatever becomes of its record
        BackupRecord.objects.update_or_create(pk=1, defaults=values)
