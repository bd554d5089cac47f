"""A site of its own for sweeps that hurt it: `manage.py up` with a small corpus, in a folder that is thrown away."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2
import psycopg
from django.conf import settings

from inform_site.postgres import SUPERUSER, EmbeddedPostgres

CORPUS = "garden"  # of examples/: twelve studies
START_SECONDS = 600.0  # on a busy machine; half a minute on a quiet one
END_SECONDS = 60.0
PATIENCE_SECONDS = 120.0
PROBED = ("/readyz", "/api/v1/collections", "/api/v1/studies")
QUOTAS = (
    "ANONYMOUS_ASKS ANONYMOUS_MODEL_ANSWERS ANONYMOUS_READS ANONYMOUS_SUGGESTIONS ANONYMOUS_FOLLOWS "
    "KEY_ASKS KEY_MODEL_ANSWERS KEY_READS KEY_WRITES"
)
UNSET = ("DATABASE_URL", "CELERY_BROKER_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")


@dataclass
class OwnSite:
    """A running site, its processes, its database, and a key that may do everything."""

    address: str
    data: Path
    pid: int
    secret: str = ""
    collection: str = ""
    server_errors: list[str] = field(default_factory=list)
    _auditor: subprocess.Popen[str] | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"} if self.secret else {}

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send one request with the key, and note any 5xx other than 503."""
        headers = self.headers | options.pop("headers", {})
        response = httpx2.request(method, self.address + path, headers=headers, timeout=30, **options)
        if response.is_server_error and response.status_code != httpx2.codes.SERVICE_UNAVAILABLE:
            self.server_errors.append(f"{response.status_code} for {method} {path}")
        return response

    def persist(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send a request again until it is neither lost nor put off. Raises TimeoutError after two minutes."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            with suppress(httpx2.TransportError):
                response = self.request(method, path, **options)
                is_under_way = response.status_code == httpx2.codes.CONFLICT and "still-answering" in response.text
                if not (response.is_server_error or is_under_way or response.status_code == 429):
                    return response
            time.sleep(0.2)
        raise TimeoutError(f"{method} {path} was not answered within {PATIENCE_SECONDS:g} s")

    def seconds_until_well(self) -> float:
        """Wait until every probed page is served. Raises TimeoutError after two minutes."""
        started = time.monotonic()
        while time.monotonic() - started < PATIENCE_SECONDS:
            with suppress(httpx2.TransportError):
                if all(self.request("GET", path).is_success for path in PROBED):
                    return time.monotonic() - started
            time.sleep(0.05)
        raise TimeoutError(f"the site did not serve again within {PATIENCE_SECONDS:g} s")

    def processes(self) -> dict[str, list[int]]:
        """Return the ids of the processes, `web` or by the name of the worker's queue."""
        found: dict[str, list[int]] = {}
        for pid, command in children(self.pid):
            words = command.split()
            if "--queues" in words:
                found.setdefault(words[words.index("--queues") + 1], []).append(pid)
            elif "inform_site.web" in words:
                found.setdefault("web", []).append(pid)
        return found

    def database_processes(self) -> list[int]:
        """Return the ids of PostgreSQL's processes, the server's first; empty while it does not run."""
        with suppress(OSError, ValueError):
            server = int((self._server.data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
            return [server, *(pid for pid, _ in children(server))]
        return []

    def connect(self) -> psycopg.Connection:
        """Connect to the database of the site, waiting for a server that is away."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return psycopg.connect(
                    host=str(self._server.socket_dir), user=SUPERUSER, dbname=settings.EMBEDDED_DATABASE_NAME,
                    autocommit=True, connect_timeout=5,
                )  # fmt: skip
            except psycopg.OperationalError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def count(self, query: str, *parameters: object) -> int:
        """Run a query for one number, again where the connection is lost meanwhile."""
        for _ in range(3):
            with suppress(psycopg.OperationalError), self.connect() as connection:
                row = connection.execute(cast(Any, query), parameters).fetchone()
                return int(row[0]) if row else 0
        raise TimeoutError("the database lost three connections")

    def audit(self, patience_seconds: float = PATIENCE_SECONDS) -> list[str]:
        """Return the faults of the index, as `manage.py check_corpus` does, after waiting for what is only late."""
        end, faults = time.monotonic() + patience_seconds, ["not looked at"]
        while faults and time.monotonic() < end:
            faults = self._ask_auditor()
            if faults:
                time.sleep(0.5)
        return faults

    @property
    def _server(self) -> EmbeddedPostgres:
        return EmbeddedPostgres(self.data / "postgres")

    def _ask_auditor(self) -> list[str]:
        auditor = cast(subprocess.Popen[str], self._auditor)
        if auditor.stdin is None or auditor.stdout is None:
            raise TypeError("the auditor has no pipes")
        auditor.stdin.write("\n")
        auditor.stdin.flush()
        return cast(list[str], json.loads(auditor.stdout.readline()))


@contextmanager
def own_site(data: Path | None = None, **variables: str) -> Iterator[OwnSite]:
    """Run a site until the block ends, in a new folder, or in `data`, which is kept. Raises TimeoutError."""
    folder = data or Path(tempfile.mkdtemp(prefix="inform-sweep-"))
    folder.chmod(0o755)  # as root PostgreSQL runs as another user, who must get through
    models = settings.BASE_DIR / ".data" / "models"
    if models.is_dir() and not (folder / "models").exists():
        (folder / "models").symlink_to(models)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    quotas = {f"INFORM_{name}": "1000000/minute" for name in QUOTAS.split()}
    named = {"INFORM_DATA_DIR": str(folder), "CORPUS": CORPUS, "WEB_PROCESSES": "2", "SECRET_KEY": "only for sweeps"}
    whole = {k: v for k, v in os.environ.items() if k not in UNSET} | dict.fromkeys(UNSET[:-1], "")
    whole |= quotas | named | variables
    log = (folder / "site.log").open("wb")
    command = [sys.executable, "manage.py", "up", "--port", str(port)]
    site = OwnSite(f"http://127.0.0.1:{port}", folder, 0)
    process = subprocess.Popen(command, cwd=settings.BASE_DIR, env=whole, stdout=log, stderr=log)
    site.pid = process.pid
    try:
        _wait_for_start(site, process)
        site._auditor = subprocess.Popen(
            [sys.executable, "-m", "lab.auditing"], cwd=settings.BASE_DIR, env=whole,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        site.secret = json.loads(site._auditor.stdout.readline() if site._auditor.stdout else "")
        with site.connect() as connection:
            [[site.collection], *_] = connection.execute("SELECT slug FROM corpus_app_collection ORDER BY 1").fetchall()
        if faults := site.audit(START_SECONDS):  # the first vectors wait for the encoder
            raise TimeoutError(f"the site was not indexed: {faults[:3]}")
        yield site
    finally:
        if site._auditor is not None:
            _end(site._auditor)
        _end(process)
        log.close()
        if data is None:
            shutil.rmtree(folder, ignore_errors=True)


def children(pid: int) -> list[tuple[int, str]]:
    """Return the processes that a process has started, with their commands."""
    asked = ["/bin/ps", "ww", "--ppid", str(pid), "-o", "pid=,args="]
    lines = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.splitlines()
    return [(int(number), command) for number, _, command in (line.strip().partition(" ") for line in lines)]


def megabytes(pid: int) -> float:
    """Return the resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1_000


def _wait_for_start(site: OwnSite, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with suppress(httpx2.TransportError):
            if all(site.request("GET", path).is_success for path in PROBED):
                return
        time.sleep(0.2)
    said = (site.data / "site.log").read_text(encoding="utf-8", errors="replace")[-2_000:]
    raise TimeoutError(f"the site did not start: {said}")


def _end(process: subprocess.Popen[Any]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
