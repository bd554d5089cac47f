"""Django's command line with a running database, and one clear sentence for each expected failure."""

from __future__ import annotations

import contextlib
import errno
import getpass
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from inform_site import __version__
from inform_site.postgres import PostgresError

# `up` has an order of its own; the others touch no rows. Anything not named here gets a running database.
WITHOUT_DATABASE = frozenset(
    "check collectstatic compilemessages diffsettings findstatic help load makemessages makemigrations "
    "spectacular startapp startproject up version".split()
)
# A shell needs no login; what these did stands in the audit log all the same, without their arguments.
AUDITED = frozenset("changepassword createsuperuser erase import_corpus replace_corpus restore".split())
WITHOUT_COMMAND = frozenset({"-h", "--help", "--version"})

INTERRUPTED = 128 + signal.SIGINT


def execute(argv: Sequence[str]) -> None:
    """Run a management command; exit with a sentence and a status when it fails in an expected way.

    `--traceback` lets the exception through.
    """
    if list(argv[1:]) in (["version"], ["--version"]):
        print(f"InForm {__version__}")
        return
    if needs_database(argv):
        os.environ["DATABASE_POOL_SIZE"] = "0"  # pool and limits are those of web processes
    try:
        with _database(argv):
            execute_from_command_line(list(argv))
            if argv[1:2] and argv[1] in AUDITED:
                _record(argv[1])
    except KeyboardInterrupt:
        _end("Stopped.", INTERRUPTED)
    except Exception as error:
        if "--traceback" in argv or (failure := _expected(error)) is None:
            raise
        _end(*failure)


def _record(command: str) -> None:
    from inform_site.accounts import audit

    audit.record(audit.Kind.COMMAND, actor=getpass.getuser(), what=command)


def needs_database(argv: Sequence[str]) -> bool:
    if len(argv) < 2 or WITHOUT_COMMAND & set(argv):
        return False
    return argv[1] not in WITHOUT_DATABASE or "--database" in argv


@contextlib.contextmanager
def _database(argv: Sequence[str]) -> Iterator[None]:
    """Run the embedded server for the commands that need it; do nothing where DATABASE_URL names another."""
    if not needs_database(argv):
        yield
        return
    from django.conf import settings

    if settings.EMBEDDED_POSTGRES is None:
        _require_known_database(argv)
        yield
        return
    signal.signal(signal.SIGTERM, _leave_in_order)
    with settings.EMBEDDED_POSTGRES.hold(database=settings.EMBEDDED_DATABASE_NAME):
        _require_known_database(argv)
        yield


def _require_known_database(argv: Sequence[str]) -> None:
    if argv[1] == "restore":  # which replaces the database, perhaps to go back to this release
        return
    import django

    from inform_site.releases import require_known_database

    django.setup()
    require_known_database()


def _leave_in_order(number: int, frame: object) -> NoReturn:
    """Exit through the open `with` blocks, so that the last user stops the server."""
    sys.exit(128 + number)


def _expected(error: Exception) -> tuple[str, int] | None:
    """Return the sentence and exit status of a failure that the user can fix, None for a bug."""
    import psycopg
    from kombu.exceptions import OperationalError as QueueError

    causes = list(_causes(error))
    if any(isinstance(cause, psycopg.errors.DiskFull) or _errno(cause) == errno.ENOSPC for cause in causes):
        return "The disk is full: free some space and start again; nothing that was saved is lost.", os.EX_IOERR
    for cause in causes:
        if isinstance(cause, ImproperlyConfigured):
            return str(cause), os.EX_CONFIG
        if isinstance(cause, PostgresError):
            return str(cause), os.EX_UNAVAILABLE
        if isinstance(cause, psycopg.errors.UndefinedTable):
            return (
                "The database is not prepared yet: run `manage.py prepare` (or `make run`) first. "
                "The site of another corpus is named by CORPUS, as in `CORPUS=garden manage.py …`."
            ), os.EX_CONFIG
        if isinstance(cause, QueueError):
            return f"The queue cannot be reached: {_one_line(cause)}.", os.EX_UNAVAILABLE
        if isinstance(cause, psycopg.OperationalError) and cause.sqlstate is None:
            return f"The database cannot be reached: {_one_line(cause)}.", os.EX_UNAVAILABLE
    return None


def _errno(error: BaseException) -> int | None:
    return error.errno if isinstance(error, OSError) else None


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _end(sentence: str, status: int) -> NoReturn:
    print(sentence, file=sys.stderr)
    sys.exit(status)
