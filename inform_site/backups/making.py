"""Make a backup, try it by restoring it into a scratch database, and keep the newest ones of a folder."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils.crypto import salted_hmac
from psycopg import sql

from inform_site import __version__
from inform_site.backups import archive, loading, programs, records
from inform_site.backups.archive import Manifest
from inform_site.backups.loading import Say
from inform_site.backups.programs import BackupError
from qa_app.answers import answering

NAME = "inform-{:%Y%m%dT%H%M%SZ}.tar"
_NAMED = re.compile(r"inform-(\d{8}T\d{6}Z)\.tar")
DUMP_OPTIONS = ("--format=custom", "--no-owner", "--no-acl", "--no-comments", "--exclude-schema=pgmq", "--verbose")


@dataclass(frozen=True, slots=True)
class Backup:
    """A new backup."""

    path: Path
    manifest: Manifest
    holds_key: bool
    is_tried: bool


def make(target: Path, *, say: Say, is_tried: bool = True, now: datetime | None = None) -> Backup:
    """Write a backup to a file, or to a new file of a folder. The file appears when it is whole. Raises BackupError.

    `is_tried` restores it into a scratch database, whose counts must be those of the backup.
    """
    path = target / NAME.format(now or datetime.now(UTC)) if target.is_dir() else target
    if path.exists():
        raise BackupError(f"{path} exists already: name another file, or remove it.")
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".backup-") as folder:
            made = Path(folder)
            files = {archive.DUMP: made / archive.DUMP}
            moment, counts = _dump(files[archive.DUMP], say)
            files |= _files_outside()
            manifest = _describe(moment, counts, files)
            draft = made / path.name
            archive.write(draft, manifest, files)
            files[archive.DUMP].unlink()
            if is_tried:
                _try(draft, say)
            with draft.open("rb") as whole:
                os.fsync(whole.fileno())
            os.link(draft, path)  # never over another file
    except FileNotFoundError as error:
        raise BackupError(f"{path.parent} is not a folder: make it first.") from error
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror}.") from error
    records.note_made(moment, path.stat().st_size)
    return Backup(path, manifest, holds_key=archive.KEY in files, is_tried=is_tried)


def make_due(folder: Path, *, every: timedelta, most: int, say: Say, now: datetime | None = None) -> Backup | None:
    """Make a backup where the newest in a folder is old enough, then delete all but the newest `most`."""
    now = now or datetime.now(UTC)
    times = [moment for moment, _ in list_backups(folder) if moment <= now]
    if times and now - times[0] < every:
        return None
    made = make(folder, say=say, now=now)
    for _, old in list_backups(folder)[most:]:
        old.unlink()
    return made


def list_backups(folder: Path) -> list[tuple[datetime, Path]]:
    """Return the backups of a folder that bear the name we give them, newest first."""
    named = [(found[1], path) for path in folder.iterdir() if (found := _NAMED.fullmatch(path.name))]
    moments = [(datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC), path) for text, path in named]
    return sorted(moments, reverse=True)


def own_key_file() -> Path | None:
    """Return the file of the SECRET_KEY that the site made for itself; None where the operator gave it one."""
    file: Path = settings.DATA_DIR / "secret_key"
    if file.is_file() and file.read_text(encoding="utf-8").strip() == settings.SECRET_KEY:
        return file
    return None


def fingerprint(key: str | None = None) -> str:
    """Return a hash that tells keys apart; of the site's own where none is given."""
    return salted_hmac("inform.backup", "SECRET_KEY", secret=key, algorithm="sha256").hexdigest()[:16]


def _files_outside() -> dict[str, Path]:
    """Return the files that the database does not hold and that cannot be made again, by their names in an archive."""
    key = own_key_file()
    models = sorted(Path(settings.CALIBRATIONS).glob("*.json")) if settings.CALIBRATIONS else ()
    own = {archive.KEY: key} if key else {}
    return own | {archive.CALIBRATIONS + file.name: file for file in models}


def _dump(path: Path, say: Say) -> tuple[datetime, Mapping[str, int]]:
    """Dump the database to a file; return its moment and the counts of the same snapshot."""
    info, environment = programs.connection_info()
    path.touch(mode=0o600)
    with programs.connect() as snapshot, snapshot.cursor() as cursor:
        cursor.execute("SET idle_in_transaction_session_timeout = 0")
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        exported = cursor.execute("SELECT pg_export_snapshot(), now()").fetchone()
        if exported is None:
            raise BackupError("The database exports no snapshot.")
        counts = loading.count_rows(cursor)
        if not counts:
            raise BackupError("The database is empty: there is nothing to back up.")
        program = programs.find_program("pg_dump", server=server_version(snapshot))
        say(f"Dumping {len(counts)} tables, {sum(counts.values()):,} rows")
        command = [program, *DUMP_OPTIONS, f"--snapshot={exported[0]}", f"--file={path}", f"--dbname={info}"]
        progress, lines = loading.TableProgress("dumped", len(counts), say), []
        with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True, errors="replace") as dump:
            for line in dump.stderr or ():
                lines.append(line)
                progress.look(line)
        if dump.returncode:
            raise programs.reason("pg_dump", lines)
        cursor.execute("ROLLBACK")
    return exported[1], counts


def server_version(server: psycopg.Connection[Any]) -> int:
    """Return the major version of a server."""
    return server.info.server_version // 10_000


def _describe(moment: datetime, counts: Mapping[str, int], files: Mapping[str, Path]) -> Manifest:
    applied = MigrationRecorder(connection).applied_migrations()
    with programs.connect() as server:
        version = server_version(server)
    return Manifest(
        made_at=moment.astimezone(UTC).isoformat(timespec="seconds"),
        release=__version__,
        engine=answering.engine(),
        postgresql=version,
        migrations=tuple(sorted(f"{app} {name}" for app, name in applied)),
        counts=counts,
        key=fingerprint(),
        checksums={name: archive.digest_of(file) for name, file in files.items()},
    )


def _try(path: Path, say: Say) -> None:
    """Restore an archive into a scratch database and drop it again. Raises BackupError."""
    say(f"Trying the backup ({programs.size_of(path)}) in a scratch database")
    manifest = archive.read(path)
    with _scratch_database() as (name, server):
        loading.load(path, manifest, database=name, server=server, say=say)


@contextmanager
def _scratch_database() -> Iterator[tuple[str, int]]:
    """Make a database for the block; yield its name and the major version of its server."""
    name = f"inform_backup_{uuid4().hex[:12]}"
    with programs.connect() as server:
        try:
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        except psycopg.errors.InsufficientPrivilege as error:
            raise BackupError(
                "The database role may not make a scratch database, so the backup cannot be tried: "
                "ALTER ROLE … CREATEDB, or make it with --untried."
            ) from error
        try:
            yield name, server_version(server)
        finally:
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
