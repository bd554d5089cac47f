"""A replica in streaming replication and a PgBouncer in transaction mode: real servers, real web processes."""

import getpass
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import psycopg
import pytest
from django.db import connection

from common.postgresql.locks import work_lock
from corpus_app import curation
from inform_site.postgres import OS_USER, EmbeddedPostgres, _make_private, installed_programs
from tests.cluster import FAST
from tests.qa.conftest import ASKED
from tests.runtime.web_site import WebSite, web_site

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("library_of_words")]
CLIENTS = 8
ROOMY = {"WEB_PROCESSES": "2", "INFORM_REQUESTS_AT_ONCE": str(CLIENTS + 1), "DATABASE_SECONDS": "60"}
TAKEN_BACK = "T-SETS"


def copy_of(server: EmbeddedPostgres, root: Path, *options: str) -> EmbeddedPostgres:
    """Start a copy of a running cluster, made as an operator would."""
    copy = EmbeddedPostgres(root, FAST)
    with copy._start_lock():
        copy._open_shelter()
        _make_private(copy._shelter / "data", copy._account())
        copy._run(
            "pg_basebackup", "--host", str(server.socket_dir), "--username", "postgres", "--checkpoint", "fast",
            "--wal-method", "stream", "--pgdata", str(copy._shelter / "data"), *options,
        )  # fmt: skip
    copy.ensure()
    return copy


def url_of(server: EmbeddedPostgres) -> str:
    return f"postgresql://postgres@/{connection.settings_dict['NAME']}?host={server.socket_dir}"


@contextmanager
def connected_to(host: str, port: str = "") -> Iterator[None]:
    """Let the curation of this process write elsewhere."""
    usual = {key: connection.settings_dict[key] for key in ("HOST", "PORT", "OPTIONS")}
    connection.close()
    without_limits = {key: value for key, value in usual["OPTIONS"].items() if key != "options"}
    connection.settings_dict.update(HOST=host, PORT=port, OPTIONS=without_limits)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(usual)


@pytest.fixture
def servers(postgres: EmbeddedPostgres, folder: Path) -> Iterator[tuple[EmbeddedPostgres, EmbeddedPostgres]]:
    """A primary with the library, and its replica."""
    if not (installed_programs() / "pg_basebackup").exists():
        pytest.skip("pg_basebackup does not come with the binaries")
    made: list[EmbeddedPostgres] = []
    try:
        made.append(copy_of(postgres, folder / "primary"))
        made.append(copy_of(made[0], folder / "replica", "--write-recovery-conf"))
        yield made[0], made[1]
    finally:
        for server in reversed(made):
            server.stop("immediate")


@pytest.fixture
def site(servers: tuple[EmbeddedPostgres, EmbeddedPostgres]) -> Iterator[WebSite]:
    primary, replica = map(url_of, servers)
    with web_site(database=primary, DATABASE_REPLICA_URLS=replica, **ROOMY) as site:
        yield site


def ask(site: WebSite) -> httpx2.Response:
    return httpx2.post(f"{site.address}/api/v1/answers", json={"question": ASKED}, timeout=60)


def found(response: httpx2.Response) -> set[str]:
    """The studies that the search of an answer has found."""
    assert response.status_code == 201, response.text
    return {row["study_id"] for row in response.json()["evidence"]}


def searches(server: EmbeddedPostgres) -> int:
    """How often this server has read the postings, as far as its backends have reported."""
    with psycopg.connect(url_of(server)) as asked:
        row = asked.execute(
            "SELECT seq_scan + idx_scan FROM pg_stat_user_tables WHERE relname = 'corpus_app_passageterm'"
        ).fetchone()
    return int(row[0]) if row else 0


def take_back() -> None:
    curation.withdraw([TAKEN_BACK], by=None, by_name="test", reason="Retracted.")


def test_searches_read_the_replica_unless_it_lags_behind(
    site: WebSite, servers: tuple[EmbeddedPostgres, EmbeddedPostgres]
) -> None:
    primary, replica = servers
    before, deadline = searches(replica), time.monotonic() + 60
    while searches(replica) == before:
        assert time.monotonic() < deadline, "the replica has not been read"
        assert TAKEN_BACK in found(ask(site))

    with psycopg.connect(url_of(replica), autocommit=True) as paused, connected_to(str(primary.socket_dir)):
        paused.execute("SELECT pg_wal_replay_pause()")
        take_back()
        told = [found(ask(site)) for _ in range(10)]
        paused.execute("SELECT pg_wal_replay_resume()")
    assert [studies for studies in told if TAKEN_BACK in studies] == []


class Clients(threading.Thread):
    """Readers who ask without a pause: what each was told, when it had asked, and when it had the reply."""

    def __init__(self, site: WebSite) -> None:
        super().__init__()
        self.told: list[tuple[float, float, httpx2.Response]] = []
        self.is_over = False
        self._site = site

    def run(self) -> None:
        while not self.is_over:
            asked = time.monotonic()
            response = ask(self._site)
            self.told.append((asked, time.monotonic(), response))


def test_a_lost_replica_is_not_noticed_and_a_restart_of_the_primary_is_told_as_such(
    site: WebSite, servers: tuple[EmbeddedPostgres, EmbeddedPostgres]
) -> None:
    primary, replica = servers
    usual = found(ask(site))
    clients = [Clients(site) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        time.sleep(2)
        replica.stop("immediate")
        time.sleep(3)
        with connected_to(str(primary.socket_dir)):
            asked_before = time.monotonic()
            take_back()
        taken_back = time.monotonic()
        replica.ensure()
        time.sleep(3)
        away = time.monotonic()
        primary.stop("fast")
        primary.ensure()
        site.seconds_until_well()
        time.sleep(2)  # the other process may not have noticed yet
        back = time.monotonic()
        time.sleep(2)
    finally:
        for client in clients:
            client.is_over = True
        for client in clients:
            client.join(60)

    told = [one for client in clients for one in client.told]
    refused = [one for one in told if one[2].status_code != 201]
    assert {response.status_code for _, _, response in refused} <= {503}
    assert [response.headers for _, _, response in refused if not int(response.headers["retry-after"]) > 0] == []
    assert [asked for asked, ended, _ in refused if not (ended > away and asked < back)] == []
    answers = [(asked, ended, found(response)) for asked, ended, response in told if response.status_code == 201]
    assert [now for _, ended, now in answers if ended < asked_before and now != usual] == []
    assert [now for asked, _, now in answers if asked > taken_back and now != usual - {TAKEN_BACK}] == []
    assert min(sum(asked > back for asked, _, _ in client.told) for client in clients) > 0


@pytest.fixture
def bouncer(postgres: EmbeddedPostgres, folder: Path) -> Iterator[int]:
    """The port of a PgBouncer in transaction mode, with fewer connections than clients."""
    program = shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    user = OS_USER if os.geteuid() == 0 else getpass.getuser()
    configured = folder / "pgbouncer.ini"
    configured.write_text(
        f"[databases]\n* = host={postgres.socket_dir} port=5432 user=postgres\n[pgbouncer]\n"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        "pool_mode = transaction\ndefault_pool_size = 3\n"
    )
    process = subprocess.Popen([program, "--quiet", "--user", user, str(configured)])
    try:
        for _ in range(100):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield port
    finally:
        process.kill()
        process.wait()


def test_the_site_works_behind_pgbouncer_in_transaction_mode(bouncer: int) -> None:
    database = f"postgresql://postgres@127.0.0.1:{bouncer}/{connection.settings_dict['NAME']}"
    with web_site(database=database, DATABASE_PGBOUNCER="true", DATABASE_POOL_SIZE="6", **ROOMY) as site:
        clients = [Clients(site) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        time.sleep(5)
        for client in clients:
            client.is_over = True
        for client in clients:
            client.join(60)
        told = [response for client in clients for _, _, response in client.told]
        assert {response.status_code for response in told} == {201}
        assert len(told) > 2 * CLIENTS

        with connected_to("127.0.0.1", str(bouncer)):
            with work_lock(1) as is_free, work_lock(1) as is_free_again:
                assert TAKEN_BACK in found(ask(site))
                assert (is_free, is_free_again) == (True, False)
            with work_lock(1) as is_free:
                assert is_free
