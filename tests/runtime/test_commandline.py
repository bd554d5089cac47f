"""`manage.py` as people meet it: settings that cannot be read, servers out of reach, full disks."""

import errno
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from psycopg.errors import DiskFull

from inform_site import commandline, releases
from inform_site.commandline import execute, needs_database
from inform_site.postgres import PostgresError

ROOT = Path(__file__).resolve().parents[2]
Failing = Callable[..., None]
PRODUCTION = {"INFORM_PRODUCTION": "true", "SECRET_KEY": "long", "ALLOWED_HOSTS": "inform.example"}


def manage(*arguments: str, **environment: str) -> tuple[int, str]:
    """Exit status, and what was said on stderr."""
    command, whole = [sys.executable, "manage.py", *arguments], os.environ | environment
    done = subprocess.run(command, cwd=ROOT, env=whole, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(("environment", "named"), [
    ({"DEBUG": "perhaps"}, "DEBUG"), ({"PORT": "70000"}, "PORT"),
    ({"DATABASE_URL": "mysql://localhost/inform"}, "DATABASE_URL"), ({"REDIS_URL": "here"}, "REDIS_URL"),
    ({"OPENAI_TIMEOUT_SECONDS": "soon"}, "OPENAI_TIMEOUT_SECONDS"),
    ({"OPENAI_PRICE_REPLY": "-1"}, "OPENAI_PRICE_REPLY"),
    ({"OPENAI_MODEL": "a-model-without-a-server"}, "OPENAI_MODEL"),
    ({"OPENAI_DAILY_LIMIT": "5"}, "OPENAI_DAILY_LIMIT"), (PRODUCTION | {"SECRET_KEY": ""}, "SECRET_KEY"),
    (PRODUCTION | {"ALLOWED_HOSTS": ""}, "ALLOWED_HOSTS"), (PRODUCTION | {"DEBUG": "true"}, "DEBUG"),
])  # fmt: skip
def test_setting_that_will_not_do_stops_the_start_and_names_itself(environment: dict[str, str], named: str) -> None:
    status, said = manage("check", **environment)

    assert status == os.EX_CONFIG
    assert said.startswith(named)
    assert said.count("\n") == 1


def test_an_older_release_refuses_a_newer_database(db: None) -> None:
    assert releases.unknown_migrations() == []
    MigrationRecorder(connection).record_applied("corpus_app", "9999_of_the_future")

    with pytest.raises(
        ImproperlyConfigured, match=r"newer release of InForm .*9999_of_the_future.* restore the backup"
    ):
        releases.require_known_database()


def test_deployment_checks_name_what_an_operator_forgot() -> None:
    forgetful = PRODUCTION | {
        "SECRET_KEY": "0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ALLOWED_HOSTS": "*",
        "INFORM_SITE_URL": "http://inform.example", "INFORM_PROXY": "1", "INFORM_HSTS_SECONDS": "0",
    }  # fmt: skip

    said = manage("check", "--deploy", **forgetful)[1]

    assert set(re.findall(r"(?:inform|security)\.W\d+", said)) >= {
        "inform.W001", "inform.W002", "inform.W003", "inform.W004", "security.W004",
    }  # fmt: skip


def test_development_key_is_made_once_and_kept_private(tmp_path: Path) -> None:
    show, places = (
        "from inform_site import settings; print(settings.SECRET_KEY)",
        {"SECRET_KEY": "", "INFORM_DATA_DIR": str(tmp_path)},
    )

    first, second = (
        subprocess.check_output([sys.executable, "-c", show], cwd=ROOT, env=os.environ | places, text=True).strip()
        for _ in range(2)
    )

    assert first == second == (tmp_path / "secret_key").read_text(encoding="utf-8")
    assert len(first) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


def test_password_in_an_address_is_not_shown() -> None:
    said = manage("check", DATABASE_URL="inform:hunter2@localhost/inform")[1]

    assert "DATABASE_URL" in said
    assert "hunter2" not in said


def test_database_out_of_reach_is_one_sentence() -> None:
    status, said = manage("migrate", DATABASE_URL="postgresql://inform@127.0.0.1:1/inform")

    assert status == os.EX_UNAVAILABLE
    assert said.startswith("The database cannot be reached: ")
    assert said.count("\n") == 1


def test_commands_that_touch_rows_have_a_database_and_no_others() -> None:
    for command in ("migrate", "ask", "shell", "createsuperuser", "check --database default"):
        assert needs_database(["manage.py", *command.split()]), command
    for command in ("", "help", "check", "up", "collectstatic", "migrate --help", "--version"):
        assert not needs_database(["manage.py", *command.split()]), command


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Runs a command that fails like this."""

    def run(failure: BaseException, *options: str) -> None:
        monkeypatch.setattr(commandline, "execute_from_command_line", mock.Mock(side_effect=failure))
        execute(["manage.py", "check", *options])

    return run


@pytest.mark.parametrize(("failure", "status", "sentence"), [
    (OSError(errno.ENOSPC, "No space left on device"), os.EX_IOERR, "The disk is full: "),
    (DiskFull("could not extend file"), os.EX_IOERR, "The disk is full: "),
    (PostgresError("It would not start."), os.EX_UNAVAILABLE, "It would not start."),
    (KeyboardInterrupt(), commandline.INTERRUPTED, "Stopped."),
])  # fmt: skip
def test_a_failure_is_one_sentence(
    failure: BaseException, status: int, sentence: str, failing: Failing, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        failing(failure)

    said = capsys.readouterr().err
    assert end.value.code == status
    assert said.startswith(sentence)
    assert said.count("\n") == 1


def test_a_mistake_of_ours_keeps_its_traceback(failing: Failing) -> None:
    with pytest.raises(ValueError, match="a mistake"):
        failing(ValueError("a mistake"))
    with pytest.raises(PostgresError, match="asked for"):
        failing(PostgresError("asked for"), "--traceback")
