"""A real web process whose database is away, frozen, or has one frozen backend."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx2
import psycopg
import pytest

from inform_site.postgres import EmbeddedPostgres
from tests import cluster

ROOT = Path(__file__).resolve().parents[2]
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


class Site:
    def __init__(self, port: int, wire: Wire) -> None:
        self.wire = wire
        self._client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=30)

    def get(self, path: str) -> tuple[httpx2.Response, float]:
        started = time.monotonic()
        response = self._client.get(path)
        return response, time.monotonic() - started

    def seconds_until_well(self) -> float:
        started = time.monotonic()
        while time.monotonic() - started < 60:
            with suppress(httpx2.TransportError):
                if {
                    self.get(path)[0].status_code for path in ("/readyz", "/api/v1/collections", "/api/v1/studies")
                } == {200}:
                    return time.monotonic() - started
            time.sleep(0.05)
        raise AssertionError("the site never came back")


@pytest.fixture(scope="module")
def site(postgres: EmbeddedPostgres, django_db_setup: None) -> Iterator[Site]:
    with psycopg.connect(host=str(postgres.socket_dir), user="postgres", dbname="postgres", autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {NAME} TEMPLATE {cluster.TEMPLATE}")
    wire = Wire(postgres)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {
        "DATABASE_URL": f"postgresql://postgres@/{NAME}?host={wire.folder}",
        "DATABASE_POOL_SIZE": "4",
        "DJANGO_SETTINGS_MODULE": "inform_site.settings",
    }
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "inform_site.asgi:application",
        "--port",
        str(port),
        "--log-level",
        "warning",
    ]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        site = Site(port, wire)
        site.seconds_until_well()
        yield site
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(wire.folder)


def require_refusals(site: Site, *, within: float) -> None:
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


def test_a_frozen_database_is_told_within_three_seconds_and_its_return_is_noticed(site: Site) -> None:
    site.wire.freeze()
    try:
        require_refusals(site, within=3.5)
        time.sleep(3)  # long enough for retries to slow down, if they did
        require_refusals(site, within=0.5)
    finally:
        site.wire.thaw()

    assert site.seconds_until_well() < BACK_WITHIN


def test_a_database_that_is_away_is_told_at_once_and_its_return_is_noticed(site: Site) -> None:
    site.wire.cut()
    try:
        require_refusals(site, within=3.5)
        time.sleep(3)
    finally:
        site.wire.mend()

    assert site.seconds_until_well() < BACK_WITHIN


def test_frozen_backends_cost_one_reader_each_three_seconds(site: Site, postgres: EmbeddedPostgres) -> None:
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
