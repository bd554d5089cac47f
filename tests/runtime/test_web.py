"""Two web processes on one socket: what is counted, refused and read is the same through both."""

import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from django.db import connection

from corpus_app import curation
from tests.qa.conftest import ASKED
from tests.runtime.web_site import WebSite, web_site

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("library_of_words")]
QUESTION = {"question": ASKED}


@pytest.fixture
def site() -> Iterator[WebSite]:
    of = connection.settings_dict
    database = f"postgresql://{of['USER']}@/{of['NAME']}?host={of['HOST']}"
    limits = {"INFORM_ANONYMOUS_ASKS": "1000/minute, 10/day", "DATABASE_SECONDS": "30"}
    with web_site(database=database, WEB_PROCESSES="2", INFORM_METRICS="true", **limits) as site:
        yield site


def test_quotas_metrics_and_retractions_are_those_of_the_site(site: WebSite) -> None:
    both = site.processes()

    def ask(number: int) -> tuple[int, str]:
        while True:
            response = httpx2.post(f"{site.address}/api/v1/answers", json=QUESTION, timeout=60)
            if response.status_code != 503:  # the machine is busy
                return response.status_code, response.text

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(40)))
    curation.withdraw(["T-SETS"], by=None, by_name="test", reason="Retracted.")
    reads = [httpx2.get(f"{site.address}/api/v1/studies/T-SETS").status_code for _ in range(20)]

    assert Counter(status for status, _ in answers) == {201: 10, 429: 30}
    assert any("T-SETS" in text for _, text in answers)
    assert set(reads) <= {404, 410}
    counted = httpx2.get(f"{site.address}/metrics").text
    assert 'inform_answers_total{outcome="insufficient_evidence",writer="extractive"} 10.0' in counted
    assert 'inform_request_seconds_count{kind="api",status="429"} 30.0' in counted
    counting = {int(path.stem.rpartition("_")[2]) for path in (site.data / "metrics").glob("histogram_*.db")}
    assert len(both) == 2
    assert both <= counting, "one process served them all"


def test_a_killed_process_is_brought_back_while_the_other_serves(site: WebSite) -> None:
    killed, left = sorted(site.processes())
    os.kill(killed, signal.SIGKILL)
    deadline, statuses = time.monotonic() + 60, Counter[int]()

    while not (len(site.processes()) == 2 and statuses[200] > 20):
        assert time.monotonic() < deadline
        statuses[site.get("/api/v1/collections")[0].status_code] += 1

    assert set(statuses) == {200}
    assert killed not in site.processes()
    assert left in site.processes()


def test_connections_that_come_at_once_are_shared(site: WebSite) -> None:
    port = urlsplit(site.address).port
    assert port
    deadline = time.monotonic() + 60
    with ExitStack() as stack:
        for _ in range(64):
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))

        while sum(kept := [n_connections(process, port) for process in site.processes()]) < 64:
            assert time.monotonic() < deadline

    assert min(kept) >= 3


def n_connections(process: int, port: int) -> int:
    """Return how many connections to the port a process has accepted."""
    opened = set()
    for path in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            opened.add(str(path.readlink()))
    rows = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    established = [row[9] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "01"]
    return sum(f"socket:[{inode}]" in opened for inode in established)
