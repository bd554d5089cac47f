"""The web processes of a site in processes of their own, as they run in life, on a free port of the loopback."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import httpx2

from corpus_app.embedding import compressed

ENCODER = "missing"
ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120  # on a busy machine; a few seconds on a quiet one
PAGES = ("/readyz", "/api/v1/collections", "/api/v1/studies")


class WebSite:
    """A supervisor with its web processes, and a client that makes a connection for each request."""

    def __init__(self, port: int, process: subprocess.Popen[bytes], data: Path) -> None:
        self.data = data
        self.address = f"http://127.0.0.1:{port}"
        self._process = process

    def get(self, path: str) -> tuple[httpx2.Response, float]:
        started = time.monotonic()
        response = httpx2.get(self.address + path, timeout=30)
        return response, time.monotonic() - started

    def seconds_until_well(self) -> float:
        started = time.monotonic()
        while time.monotonic() - started < START_SECONDS:
            with suppress(httpx2.TransportError):
                if {self.get(path)[0].status_code for path in PAGES} == {200}:
                    return time.monotonic() - started
            time.sleep(0.05)
        raise AssertionError("the site never came back")

    def processes(self) -> set[int]:
        """The ids of the web processes that run."""
        asked = ["ps", "--ppid", str(self._process.pid), "-o", "pid="]
        return {int(pid) for pid in subprocess.run(asked, capture_output=True, text=True).stdout.split()}


@contextmanager
def web_site(*, database: str, **settings: str) -> Iterator[WebSite]:
    """Run the web processes on this database. They search by words alone: the files of their encoder are missing."""
    data = Path(tempfile.mkdtemp(prefix="inform-web-"))
    encoder = data / "models" / f"{ENCODER}@{compressed.FORMAT}"
    encoder.mkdir(parents=True)
    check = compressed.Check(model=ENCODER, accepted=True, reason="", versions={})
    (encoder / compressed.CHECK).write_text(json.dumps(asdict(check)), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    named = {
        "DATABASE_URL": database,
        "DJANGO_SETTINGS_MODULE": "inform_site.settings",
        "INFORM_ENCODER": ENCODER,
        "INFORM_DATA_DIR": str(data),
    }
    command = [sys.executable, "-m", "inform_site.web", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | named | settings)
    try:
        site = WebSite(port, process, data)
        site.seconds_until_well()
        yield site
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(data)
