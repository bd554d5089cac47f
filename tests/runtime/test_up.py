"""The parts of `manage.py up`: what it refuses, what it announces, what it makes on the way."""

import itertools
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import OperationalError

from corpus_app.indexing import Progress
from inform_site import queue_setup, web
from inform_site.curator import ensure_development_curator
from inform_site.management.commands import up
from inform_site.postgres import EmbeddedPostgres
from tests.cluster import SERVER

ROOT = Path(__file__).resolve().parents[2]
Look = Callable[..., list[str]]
READY = "Ready: http://127.0.0.1:8123  (curators: /admin/)"


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch, db: None) -> Look:
    """Looks at one state of the index after the other, at a site whose port answers; all that is said."""
    monkeypatch.setattr(up, "POLL_SECONDS", 0)
    monkeypatch.setattr(up, "INDEX_POLL_SECONDS", 0)
    monkeypatch.setattr(up, "answers", lambda port: True)
    monkeypatch.setattr(up.connection, "close", lambda: None)
    said: list[str] = []
    arrival = up.Arrival(SimpleNamespace(say=said.append), 8123)  # type: ignore[arg-type]

    def look(*states: Progress | Exception) -> list[str]:
        for state in states:
            monkeypatch.setattr(up.indexing, "progress", mock.Mock(side_effect=itertools.repeat(state)))
            monkeypatch.setattr(up.indexing, "has_work", lambda state=state: state.done < state.total)
            arrival.look()
        return said

    return look


def test_progress_and_readiness_are_said_when_they_change(look: Look) -> None:
    said = look(*(Progress(done, 822) for done in (0, 320, 320, 822, 822)))

    assert [line for line in said if "Indexing" in line] == ["Indexing passages 0/822", "Indexing passages 320/822"]
    assert any(line.startswith("The site is up at http://127.0.0.1:8123") for line in said)
    assert said.count(READY) == 1
    assert len([line for line in said if line.startswith("Curator's name: curator  password: ")]) == 1


def test_site_that_does_not_answer_is_not_ready(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(up, "answers", lambda port: False)

    assert look(Progress(822, 822)) == []
    assert not User.objects.exists()


def test_database_that_is_away_for_a_moment_is_asked_again(look: Look) -> None:
    assert READY in look(OperationalError("restarting"), Progress(1, 1))


def test_a_site_whose_indexing_stands_still_says_what_is_missing(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(up, "INDEXING_STALLED_SECONDS", -1.0)

    said = look(Progress(800, 822), Progress(800, 822))

    assert any(line.startswith("Ready: ") for line in said)
    assert any(line.startswith("Not indexed: 22,") for line in said)


def test_a_slow_worker_is_told_from_an_idle_one(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(up, "INDEXING_STALLED_SECONDS", -1.0)
    monkeypatch.setattr(up.indexing, "is_under_way", lambda: True)

    said = look(Progress(0, 822), Progress(0, 822))
    assert any(line.startswith("Still to be indexed: 822,") for line in said)
    assert not any("Not indexed" in line for line in said)

    look(Progress(320, 822), Progress(822, 822), Progress(822, 822))
    assert said.count("Indexed: 822 of 822 passages") == 1
    assert said.count(READY) == 1


@pytest.mark.django_db
def test_development_has_a_curator_and_production_none(settings: Any) -> None:
    settings.PRODUCTION = True
    assert ensure_development_curator() is None
    assert not User.objects.exists()

    settings.PRODUCTION = False
    name, password = ensure_development_curator() or ("", "")
    curator = User.objects.get(username=name)
    assert curator.check_password(password)
    assert (curator.is_staff, curator.is_superuser) == (True, False)
    assert [group.name for group in curator.groups.all()] == ["Curators"]
    assert ensure_development_curator() is None


def test_port_in_use_is_one_sentence_and_starts_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "manage.py", "up", "--port", str(port)]
        whole = os.environ | {"INFORM_DATA_DIR": str(tmp_path)}
        done = subprocess.run(command, cwd=ROOT, env=whole, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert (
        done.stderr
        == f"CommandError: Port {port} is in use: choose another one with PORT=<number> before the command.\n"
    )
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

    environment = web.environment(threads=1, DATABASE_POOL_SIZE="8")

    assert environment["HF_HUB_OFFLINE"] == "1"
    assert environment["OMP_NUM_THREADS"] == "7"
    assert environment["DATABASE_POOL_SIZE"] == "8"


def test_a_killed_database_is_started_again(server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(up, "DATABASE_POLL_SECONDS", 0.05)
    said = Queue[str]()
    server.ensure()
    with up.DatabaseGuard(SimpleNamespace(say=said.put), server):  # type: ignore[arg-type]
        os.kill(int((server.data / "postmaster.pid").read_text(encoding="utf-8").split()[0]), signal.SIGKILL)
        assert said.get(timeout=60) == "PostgreSQL had ended and was started again"
        assert server.is_ready()


def test_queue_in_the_database_is_installed_once(settings: Any) -> None:
    name = f"queue_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    SERVER.create_database(name)
    where = f"host='{SERVER.socket_dir}' user=postgres dbname={name}"
    assert not queue_setup.install()  # elsewhere it needs nothing
    settings.QUEUE_IN_DATABASE = True
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"conn_string": where}

    assert [queue_setup.install(), queue_setup.install()] == [True, False]
    with psycopg.connect(where) as connection:
        assert connection.execute("SELECT pgmq.create('celery')")
