"""Whether a database or a backup belongs to this release or to a newer one."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def unknown_migrations() -> list[str]:
    """Return the applied migrations of our apps that this release does not have."""
    applied = MigrationRecorder(connection).applied_migrations()
    return unknown_among(f"{app} {name}" for app, name in applied)


def unknown_among(applied: Iterable[str]) -> list[str]:
    """Return the migrations (`app name`) of our apps that this release does not have."""
    loader = MigrationLoader(None)  # from the files alone
    known = set(loader.disk_migrations)
    known |= {name for migration in loader.disk_migrations.values() for name in migration.replaces}
    names = {f"{app} {name}" for app, name in known}
    return sorted(one for one in set(applied) - names if one.partition(" ")[0] in loader.migrated_apps)


def require_known_database() -> None:
    """Raise ImproperlyConfigured where a newer release has changed the database."""
    if unknown := unknown_migrations():
        raise ImproperlyConfigured(
            f"The database belongs to a newer release of InForm ({', '.join(unknown[:3])}). Start that release again, "
            "or restore the backup that was made before the upgrade."
        )
