"""The search of the log for secrets: it finds them, and what it finds fails the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import unlogged

ROOT = Path(__file__).resolve().parents[1]
SECRET = "inform_abcdefgh_" + "x" * 43
RUN = """
import logging, sys
from tests import unlogged

def test_uses_a_secret():
    unlogged.note("key", "{secret}")
    {say}
"""


@pytest.mark.parametrize(("say", "more", "fails"), [
    ("logging.getLogger('a').warning('key %s', '{secret}')", ("-n", "1"), True),
    ("print('{secret}', file=sys.stderr)", ("-n", "1"), True),
    ("logging.getLogger('a').debug('{secret}')", (), False),
], ids=["logged by a worker", "on a worker's stderr", "at a level that is not kept"])  # fmt: skip
def test_a_secret_in_the_log_fails_the_run(tmp_path: Path, say: str, more: tuple[str, ...], fails: bool) -> None:
    (tmp_path / "test_one.py").write_text(RUN.format(secret=SECRET, say=say.format(secret=SECRET)))
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    own |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-p", "tests.unlogged", *more]
    command += ["--rootdir", str(tmp_path), str(tmp_path)]

    run = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=120, check=False)

    assert run.returncode == int(fails), run.stdout + run.stderr
    assert ("a key stands in the log: " in run.stdout) == fails
    assert SECRET not in run.stdout.partition("secrets in the log")[2]


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
