"""The search of the log for secrets: it finds them, and what it finds fails the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import unlogged

ROOT = Path(__file__).resolve().parents[1]
SECRETS = ("inform_abcdefgh_" + "x" * 43, "inform_abcdefgh_" + "y" * 43, "inform_abcdefgh_" + "z" * 43)
RUN = """
import logging, sys
from tests import unlogged

def test_logs_a_secret():
    unlogged.note("key", "{0}")
    logging.getLogger("a").warning("key %s", "{0}")

def test_prints_another():
    unlogged.note("password", "{1}")
    print("{1}", file=sys.stderr)

def test_debugs_a_third():
    unlogged.note("question", "{2} of four words")
    logging.getLogger("a").debug("{2} of four words")
"""


@pytest.mark.parametrize("chosen", ["secret or another", "third"])
def test_a_secret_that_is_logged_or_on_stderr_fails_the_run(tmp_path: Path, chosen: str) -> None:
    (tmp_path / "test_one.py").write_text(RUN.format(*SECRETS))
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    own |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-p", "tests.unlogged", "-n", "1", "-k", chosen]
    command += ["--rootdir", str(tmp_path), str(tmp_path)]

    run = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=120, check=False)

    is_kept = chosen == "third"  # nothing below INFO is
    assert run.returncode == int(not is_kept), run.stdout + run.stderr
    for kind in ("key", "password"):
        assert (f"a {kind} stands in the log: " in run.stdout) is not is_kept
    assert not [secret for secret in SECRETS if secret in run.stdout.partition("secrets in the log")[2]]


@pytest.mark.django_db
def test_keys_passwords_and_questions_are_noted() -> None:
    from django.contrib.auth.models import User
    from django.utils import timezone

    from inform_site.clients import keys
    from qa_app.answers import asking

    User(username="a").set_password("quite-a-long-password")
    asking.check(question="How many noted sets per week?", mode="beginner", collection=None, writer="auto", parent=None)
    secret = keys.make(name="tests", scopes=("read",), owner=None, by=None, now=timezone.now()).secret

    assert unlogged.used["quite-a-long-password"] == "password"
    assert unlogged.used["How many noted sets per week?"] == "question"
    assert unlogged.used[secret] == "key"
