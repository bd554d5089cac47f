"""Restore a backup into the site's database, embedded or external."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connections

from inform_site import queue_setup
from inform_site.backups import archive, loading, making, programs
from inform_site.backups.archive import Manifest
from inform_site.backups.loading import Say
from inform_site.backups.programs import BackupError
from inform_site.releases import unknown_among

CONTENT = ("corpus_app_study", "qa_app_answer", "auth_user")
"""A database that has rows of none of these was only prepared."""
OTHERS = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored backup."""

    manifest: Manifest
    has_key: bool
    """Whether the site has the SECRET_KEY of the backup."""
    holds_key: bool
    """Whether the archive has it."""
    calibrations: Path | None
    """Where the fitted models of the backup are now; None where it holds none."""


def restore(path: Path, *, say: Say, is_replaced: bool = False) -> Restored:
    """Load a backup into the site's database, wholly or not at all, and bring its tables up to date.

    Raises BackupError for a damaged or newer backup, a site that runs, and a database with contents unless
    `is_replaced`.
    """
    say(f"Checking {path.name}")
    manifest = archive.read(path)
    if newer := unknown_among(manifest.migrations):
        raise BackupError(
            f"{path.name} was made by a newer release of InForm ({manifest.release}; {', '.join(newer[:3])}). Install "
            "that release, or a newer one, and restore it there."
        )
    connections.close_all()  # our own must not count as the site's
    with programs.connect() as server:
        _require_stopped(server)
        _require_empty(server, is_replaced)
        version = making.server_version(server)
    if version < manifest.postgresql:
        raise BackupError(
            f"{path.name} comes from PostgreSQL {manifest.postgresql}, and this server is {version}: use a newer one."
        )
    say(f"Restoring {sum(manifest.counts.values()):,} rows of {manifest.made_at}")
    loading.load(path, manifest, database=None, server=version, say=say)
    say("Bringing the tables up to date")
    call_command("migrate", interactive=False, verbosity=0)
    queue_setup.install()
    with programs.connect() as server:
        server.execute("VACUUM ANALYZE")
    key = archive.read_key(path)
    return Restored(
        manifest,
        has_key=_take_key(manifest, key),
        holds_key=key is not None,
        calibrations=_write_calibrations(archive.read_calibrations(path)),
    )


def _require_stopped(server: psycopg.Connection[Any]) -> None:
    found = server.execute(OTHERS).fetchone()
    if found and found[0]:
        raise BackupError(
            f"{found[0]} other connections use the database: stop the site first (web, worker and beat; Ctrl-C at "
            "make run)."
        )


def _require_empty(server: psycopg.Connection[Any], is_replaced: bool) -> None:
    """Raise BackupError where the database holds what must not be lost."""
    rows = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    tables = {name for (name,) in rows}
    if tables and "django_migrations" not in tables:
        raise BackupError("The database belongs to another program: name an empty one in DATABASE_URL.")
    if is_replaced or not any(_has_rows(server, name) for name in CONTENT if name in tables):
        return
    raise BackupError(
        "The database is not empty. Back it up if you need it, then restore with --replace; or name an empty database "
        "in DATABASE_URL."
    )


def _has_rows(server: psycopg.Connection[Any], table: str) -> bool:
    found = server.execute(psycopg.sql.SQL("SELECT EXISTS (SELECT FROM {})").format(psycopg.sql.Identifier(table)))
    row = found.fetchone()
    return bool(row and row[0])


def _write_calibrations(files: dict[str, bytes]) -> Path | None:
    """Write the fitted models to the folder that the settings name, or else below the data folder."""
    if not files:
        return None
    folder = Path(settings.CALIBRATIONS or settings.DATA_DIR / "calibrations")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def _take_key(manifest: Manifest, key: str | None) -> bool:
    """Put the key of a backup where the site keeps its own, unless the operator gave it another."""
    if making.fingerprint() == manifest.key:
        return True
    if key is None or making.own_key_file() is None:
        return False
    file: Path = settings.DATA_DIR / archive.KEY
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(key, encoding="utf-8")
    draft.replace(file)
    return True
