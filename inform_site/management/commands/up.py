"""Run the whole site in the foreground until Ctrl-C; `make run` ends here."""

from __future__ import annotations

import argparse
import contextlib
import errno
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection

from corpus_app import indexing
from inform_site import web
from inform_site.curator import ensure_development_curator
from inform_site.environment import cores
from inform_site.postgres import EmbeddedPostgres, PostgresError
from inform_site.queues import INDEX, UPKEEP
from inform_site.supervisor import MAX_BACKOFF_SECONDS, Supervisor

HOST = "127.0.0.1"
MIN_FREE_MEGABYTES = 200
POLL_SECONDS = 0.5
INDEX_POLL_SECONDS = 5.0
DATABASE_POLL_SECONDS = 0.5
ANSWER_SECONDS = 0.5
INDEXING_STALLED_SECONDS = 180.0  # perhaps the encoder fails to load: the site is usable without it


class Command(BaseCommand):
    help = "Starts database, web server, worker and schedule in the foreground; Ctrl-C stops them all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=port_number, default=settings.PORT, help="default: PORT, or 8000")

    def handle(self, *, port: int, **options: Any) -> None:
        with bind(port) as bound:
            require_free_space()
            with embedded_database():
                call_command("prepare")
                status = serve(bound, port)
        if status:
            sys.exit(status)


class Arrival:
    """The start of the site: report indexing, and announce once that the site is ready.

    If the site was ready before indexing ended, report the end of indexing too.
    """

    def __init__(self, supervisor: Supervisor, port: int) -> None:
        self._supervisor = supervisor
        self._port = port
        self._look_at = 0.0
        self._said: indexing.Progress | None = None
        self._moved_at = time.monotonic()
        self._is_serving = False
        self._is_ready = False
        self._is_waiting = False

    def look(self) -> None:
        if time.monotonic() < self._look_at:
            return
        if self._is_ready:
            self._look_at = time.monotonic() + INDEX_POLL_SECONDS
            if self._is_waiting:
                self._report_end()
            return
        self._look_at = time.monotonic() + POLL_SECONDS
        try:
            self._report()
        except DatabaseError:  # restarting, perhaps; asked again at the next look
            connection.close()

    def _report(self) -> None:
        progress = indexing.progress()
        is_indexed = not indexing.has_work()
        if progress != self._said:
            if not is_indexed:
                self._supervisor.say(f"Indexing passages {progress.done}/{progress.total}")
            self._said, self._moved_at = progress, time.monotonic()
        if not self._is_serving and answers(self._port):
            self._is_serving = True
            if not is_indexed:
                self._supervisor.say(
                    f"The site is up at http://{HOST}:{self._port}; until all is indexed it finds by words alone"
                )
        is_stalled = time.monotonic() - self._moved_at > INDEXING_STALLED_SECONDS
        if self._is_serving and (is_indexed or is_stalled):
            self._announce(missing=progress.missing)

    def _announce(self, *, missing: int) -> None:
        """Announce that the site is ready. Create the curator here, where the password is certain to be shown."""
        self._is_ready = True
        lines = [f"Ready: http://{HOST}:{self._port}  (curators: /admin/)"]
        if missing:
            lines.append(describe_unindexed(missing, is_under_way=indexing.is_under_way()))
            self._is_waiting = True
        if credentials := ensure_development_curator():
            lines.append("Curator's name: {}  password: {}  (shown only this once)".format(*credentials))
        lines.append("Ctrl-C stops everything.")
        connection.close()
        rule = "-" * max(map(len, lines))
        for line in (rule, *lines, rule):
            self._supervisor.say(line)

    def _report_end(self) -> None:
        with contextlib.suppress(DatabaseError):  # restarting, perhaps; asked again at the next look
            if not indexing.has_work() and not (progress := indexing.progress()).missing:
                self._is_waiting = False
                self._supervisor.say(f"Indexed: {progress.total} of {progress.total} passages")
        connection.close()


class DatabaseGuard:
    """A thread that starts the embedded server again when it has ended; PostgreSQL recovers every committed row."""

    def __init__(self, supervisor: Supervisor, server: EmbeddedPostgres) -> None:
        self._supervisor = supervisor
        self._server = server
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="database-guard", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *exception: object) -> None:
        self._is_over.set()
        self._thread.join(5)

    def _watch(self) -> None:
        wait = DATABASE_POLL_SECONDS
        while not self._is_over.wait(wait):
            try:
                if not self._server.is_running() and self._server.ensure():
                    self._supervisor.say("PostgreSQL had ended and was started again")
                wait = DATABASE_POLL_SECONDS
            except PostgresError as error:
                self._supervisor.say(str(error))
                wait = min(MAX_BACKOFF_SECONDS, 2 * wait)


def describe_unindexed(number: int, *, is_under_way: bool) -> str:
    """Describe the passages without vectors at the time the site is ready."""
    if is_under_way:
        return f"Still to be indexed: {number}, found by words alone until then; the worker is at it."
    return f"Not indexed: {number}, found by words alone; `manage.py check_corpus` says which."


def serve(bound: socket.socket, port: int) -> int:
    """Run the web processes and the worker of each queue until they are asked to stop (0) or fail (1)."""
    server = settings.EMBEDDED_POSTGRES
    with Supervisor() as supervisor, DatabaseGuard(supervisor, server) if server else contextlib.nullcontext():
        web.start(supervisor, bound)
        for name, queue in workers():
            supervisor.start(
                name,
                worker_command(queue, name),
                environment=web.environment(threads=cores(), DATABASE_POOL_SIZE="0"),
                folder=settings.BASE_DIR,
                max_failures=web.MAX_FAILURES,
            )
        return supervisor.run(Arrival(supervisor, port).look)


def workers() -> Iterator[tuple[str, str]]:
    """Yield the name of each worker with its queue: one for each queue, WORKERS for that of vectors."""
    for queue in settings.QUEUES:
        yield queue.name, queue.name
        if queue.name == INDEX:
            yield from ((f"{INDEX}-{number}", INDEX) for number in range(2, settings.WORKERS + 1))


def worker_command(queue: str, name: str) -> list[str]:
    """Return the command of a worker of one queue; that of upkeep has the scheduler inside.

    Silence Celery's warning about root, which may be the only user in a container.
    """
    silence = ["-W", "ignore::UserWarning:celery.platforms"]
    options = "--concurrency 1 --without-gossip --without-mingle --without-heartbeat --loglevel warning"
    of_queue = ["--queues", queue, "--hostname", f"{name}@%h", *(["-B"] if queue == UPKEEP else [])]
    celery = [sys.executable, *silence, "-m", "celery", "--quiet", "-A", "inform_site"]
    return [*celery, "worker", *of_queue, *options.split()]


def embedded_database() -> contextlib.AbstractContextManager[None]:
    """Run the embedded server with its database during the block; do nothing where DATABASE_URL names another."""
    if settings.EMBEDDED_POSTGRES is None:
        return contextlib.nullcontext()
    return settings.EMBEDDED_POSTGRES.hold(database=settings.EMBEDDED_DATABASE_NAME)


def port_number(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= 65_535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port: it must be a number from 1 to 65535")


def bind(port: int) -> socket.socket:
    """Take the port of the web processes. Raises CommandError that names PORT where that fails."""
    try:
        return web.bind(HOST, port)
    except OSError as error:
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be listened on ({error.strerror})"
        raise CommandError(
            f"Port {port} {reason}: choose another one with PORT=<number> before the command."
        ) from error


def require_free_space() -> None:
    """Raise CommandError when the disk has no space for the starter corpus and its index."""
    free = shutil.disk_usage(settings.DATA_DIR).free // 1_000_000
    if free < MIN_FREE_MEGABYTES:
        raise CommandError(
            f"The disk that holds {settings.DATA_DIR} has {free} MB left, and InForm needs {MIN_FREE_MEGABYTES}: "
            "free some space, or set INFORM_DATA_DIR to a folder on another disk."
        )


def answers(port: int) -> bool:
    """Return whether a web process answers; the port alone is open before that."""
    asked = HTTPConnection(HOST, port, timeout=ANSWER_SECONDS)
    with contextlib.closing(asked), contextlib.suppress(OSError, HTTPException):
        asked.request("GET", "/livez")
        return asked.getresponse().status == HTTPStatus.OK
    return False
