"""The parts of `manage.py up`: what it refuses, what it announces, what it makes on the way."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import OperationalError

from corpus_app.indexing import Progress
from inform_site import queue
from inform_site.curator import ensure_development_curator
from inform_site.management.commands import up
from tests.cluster import SERVER

ROOT = Path(__file__).resolve().parents[2]


class Lines:
    """Stands in for the supervisor: keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def arrival(monkeypatch: pytest.MonkeyPatch) -> up.Arrival:
    """Looks at once, at a site whose port answers."""
    monkeypatch.setattr(up, "POLL_SECONDS", 0)
    monkeypatch.setattr(up, "DATABASE_POLL_SECONDS", 0)
    monkeypatch.setattr(up, "answers", lambda port: True)
    return up.Arrival(Lines(), 8123)  # type: ignore[arg-type]


def look(arrival: up.Arrival, monkeypatch: pytest.MonkeyPatch, *states: Progress) -> list[str]:
    for state in states:
        monkeypatch.setattr(up.indexing, "progress", lambda state=state: state)
        monkeypatch.setattr(up.indexing, "has_work", lambda state=state: state.done < state.total)
        arrival.look()
    return arrival._supervisor.said  # type: ignore[attr-defined,no-any-return]


@pytest.mark.django_db
def test_progress_is_said_when_it_changes(arrival: up.Arrival, monkeypatch: pytest.MonkeyPatch) -> None:
    said = look(arrival, monkeypatch, Progress(0, 822), Progress(320, 822), Progress(320, 822))

    assert [line for line in said if "Indexing" in line] == ["Indexing passages 0/822", "Indexing passages 320/822"]
    assert any(line.startswith("The site is up at http://127.0.0.1:8123") for line in said)


@pytest.mark.django_db
def test_readiness_is_announced_once_with_the_curator(arrival: up.Arrival, monkeypatch: pytest.MonkeyPatch) -> None:
    said = look(arrival, monkeypatch, Progress(822, 822), Progress(822, 822))

    assert said.count("Ready: http://127.0.0.1:8123  (curators: /admin/)") == 1
    assert len([line for line in said if line.startswith("Curator's name: curator  password: ")]) == 1


@pytest.mark.django_db
def test_site_that_does_not_answer_is_not_ready(arrival: up.Arrival, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(up, "answers", lambda port: False)

    assert look(arrival, monkeypatch, Progress(822, 822)) == []
    assert not User.objects.exists()


@pytest.mark.django_db
def test_database_that_is_away_for_a_moment_is_asked_again(
    arrival: up.Arrival, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> Progress:
        raise OperationalError("restarting")

    monkeypatch.setattr(up.connection, "close", lambda: None)
    monkeypatch.setattr(up.indexing, "progress", fail)

    arrival.look()

    assert "Ready: http://127.0.0.1:8123  (curators: /admin/)" in look(arrival, monkeypatch, Progress(1, 1))


@pytest.mark.django_db
def test_development_curator_is_made_once_with_a_password_that_works() -> None:
    name, password = ensure_development_curator() or ("", "")

    curator = User.objects.get(username=name)
    assert curator.check_password(password)
    assert curator.is_staff
    assert not curator.is_superuser
    assert [group.name for group in curator.groups.all()] == ["Curators"]
    assert ensure_development_curator() is None


@pytest.mark.django_db
def test_production_has_no_development_curator(settings: object) -> None:
    settings.PRODUCTION = True  # type: ignore[attr-defined]

    assert ensure_development_curator() is None
    assert not User.objects.exists()


def test_port_in_use_is_one_sentence_and_starts_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "manage.py", "up", "--port", str(port)],
            cwd=ROOT,
            env=os.environ | {"INFORM_DATA_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr == f"CommandError: Port {port} is in use: choose another one with PORT=<number> make run.\n"
    assert not (tmp_path / "postgres").exists()


@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", ""])
def test_port_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(up.argparse.ArgumentTypeError, match="is not a port"):
        up.port_number(text)


def test_too_little_space_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(up, "MIN_FREE_MEGABYTES", 10**12)

    with pytest.raises(CommandError, match=r"has \d+ MB left, and InForm needs"):
        up.require_free_space()


def test_children_inherit_the_environment_and_stay_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")

    environment = up.environment(threads=1, DATABASE_POOL_SIZE="8")

    assert environment["HF_HUB_OFFLINE"] == "1"
    assert environment["OMP_NUM_THREADS"] == "7"
    assert environment["DATABASE_POOL_SIZE"] == "8"


def test_queue_in_the_database_is_installed_once(settings: object) -> None:
    name = f"queue_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    SERVER.create_database(name)
    where = f"host='{SERVER.socket_dir}' user=postgres dbname={name}"
    settings.QUEUE_IN_DATABASE = True  # type: ignore[attr-defined]
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"conn_string": where}  # type: ignore[attr-defined]

    assert [queue.install(), queue.install()] == [True, False]
    with psycopg.connect(where) as connection:
        assert connection.execute("SELECT pgmq.create('celery')")


def test_queue_elsewhere_needs_nothing() -> None:
    assert not queue.install()


@pytest.mark.django_db
def test_a_site_whose_indexing_stands_still_says_what_is_missing(
    arrival: up.Arrival, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(up, "INDEXING_STALLED_SECONDS", -1.0)

    said = look(arrival, monkeypatch, Progress(800, 822), Progress(800, 822))

    assert any(line.startswith("Ready: ") for line in said)
    assert any(line.startswith("Not indexed: 22,") for line in said)


@pytest.mark.django_db
def test_a_worker_that_is_slow_to_begin_is_told_from_one_that_does_nothing(
    arrival: up.Arrival, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(up, "INDEXING_STALLED_SECONDS", -1.0)
    monkeypatch.setattr(up.indexing, "is_under_way", lambda: True)
    monkeypatch.setattr(up.connection, "close", lambda: None)

    said = look(arrival, monkeypatch, Progress(0, 822), Progress(0, 822))
    assert any(line.startswith("Still to be indexed: 822,") for line in said)
    assert not any("Not indexed" in line for line in said)

    said = look(arrival, monkeypatch, Progress(320, 822), Progress(822, 822), Progress(822, 822))
    assert said.count("Indexed: 822 of 822 passages") == 1
    assert said.count("Ready: http://127.0.0.1:8123  (curators: /admin/)") == 1


def test_numpy_leaves_the_processors_to_the_database_and_the_encoder() -> None:
    """Threads of its own would spin after each product; whoever wants them says so."""
    told = "import inform_site, numpy, threadpoolctl as t; print({b['num_threads'] for b in t.threadpool_info()})"
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}

    def threads(**names: str) -> str:
        whole = environment | {"DJANGO_SETTINGS_MODULE": "inform_site.settings"} | names
        return subprocess.run(
            [sys.executable, "-c", told], env=whole, capture_output=True, text=True, check=True
        ).stdout.strip()

    assert threads() == "{1}"
    if (os.cpu_count() or 1) > 1:
        assert threads(OPENBLAS_NUM_THREADS="2") == "{2}"
