"""A real web process whose database is away, frozen, or has one frozen backend."""

import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from inform_site.postgres import EmbeddedPostgres
from tests import cluster
from tests.runtime.web_site import WebSite, web_site

SOCKET = ".s.PGSQL.5432"
NAME = f"outages_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
BACK_WITHIN = 5.0


class Wire:
    """The way to the database, which can be frozen or cut without touching the server of other tests."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="inform-wire-"))
        self._target = str(server.socket_dir / SOCKET)
        self._flows = threading.Event()
        self._ends: list[socket.socket] = []
        self.mend()

    def freeze(self) -> None:
        self._flows.clear()

    def thaw(self) -> None:
        self._flows.set()

    def cut(self) -> None:
        (self.folder / SOCKET).unlink()
        for end in [self._listening, *self._ends]:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def mend(self) -> None:
        self._flows.set()
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.folder / SOCKET))
        self._listening.listen(50)
        threading.Thread(target=self._accept, args=[self._listening], daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                self._ends += [client, server]
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=self._carry, args=[source, sink], daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError), closing(source), closing(sink):
            while data := source.recv(65_536):
                self._flows.wait()
                sink.sendall(data)


@pytest.fixture(scope="module")
def wire(postgres: EmbeddedPostgres, django_db_setup: None) -> Iterator[Wire]:
    with psycopg.connect(host=str(postgres.socket_dir), user="postgres", dbname="postgres", autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {NAME} TEMPLATE {cluster.TEMPLATE}")
    wire = Wire(postgres)
    yield wire
    shutil.rmtree(wire.folder)


@pytest.fixture(scope="module")
def site(wire: Wire) -> Iterator[WebSite]:
    database = f"postgresql://postgres@/{NAME}?host={wire.folder}"
    with web_site(database=database, WEB_PROCESSES="1", DATABASE_POOL_SIZE="4") as site:
        yield site


def require_refusals(site: WebSite, *, within: float) -> None:
    page, seconds = site.get("/")
    assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "Back in a moment" in page.text
    assert seconds < within
    program, seconds = site.get("/api/v1/studies")
    assert (program.status_code, program.headers["content-type"]) == (503, "application/problem+json")
    assert program.json()["type"] == "urn:inform:problem:unavailable"
    assert seconds < within
    for refused in (page, program):
        assert int(refused.headers["retry-after"]) > 0
    ready, seconds = site.get("/readyz")
    assert (ready.status_code, ready.json()["database"]) == (503, False)
    assert seconds < 1.5
    assert site.get("/livez")[0].json() == {"ok": True}


def test_a_frozen_database_is_told_within_three_seconds_and_its_return_is_noticed(site: WebSite, wire: Wire) -> None:
    wire.freeze()
    try:
        require_refusals(site, within=3.5)
        time.sleep(3)  # long enough for retries to slow down, if they did
        require_refusals(site, within=0.5)
    finally:
        wire.thaw()

    assert site.seconds_until_well() < BACK_WITHIN


def test_a_database_that_is_away_is_told_at_once_and_its_return_is_noticed(site: WebSite, wire: Wire) -> None:
    wire.cut()
    try:
        require_refusals(site, within=3.5)
        time.sleep(3)
    finally:
        wire.mend()

    assert site.seconds_until_well() < BACK_WITHIN


def test_frozen_backends_cost_one_reader_each_three_seconds(site: WebSite, postgres: EmbeddedPostgres) -> None:
    site.seconds_until_well()
    with psycopg.connect(host=str(postgres.socket_dir), user="postgres", dbname=NAME, autocommit=True) as admin:
        query = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
        pids = [pid for (pid,) in admin.execute(query, [NAME]).fetchall()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            answers = [site.get("/api/v1/studies") for _ in range(len(pids) + 1)]
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    assert pids
    assert max(seconds for _, seconds in answers) < 3.5
    assert answers[-1][0].status_code == 200
