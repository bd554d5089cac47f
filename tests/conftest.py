"""What every test finds: plain static files, quick passwords, generated cases that are the same in every run.

The database comes from `tests/cluster.py`.
"""

import json
import time
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import translation

from corpus_app.embedding import chosen
from inform_site.postgres import EmbeddedPostgres
from lab import scratch_corpus
from qa_app.pipeline.question.safety import SafetyLexicon
from tests import cluster

hypothesis.settings.register_profile("steady", deadline=None, derandomize=True, database=None, max_examples=60)
hypothesis.settings.load_profile("steady")


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Changes the settings before anything has read them."""
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--scripted-replies", type=int, default=80, help="replies of a scripted model to try (80)")


@pytest.fixture(autouse=True, scope="session")
def signed_in_a_moment_ago() -> Iterator[None]:
    """Let `force_login` leave a session like that of a login by password: dangerous acts ask for a recent one."""
    force_login = Client.force_login

    def log_in(client: Client, user: Any, backend: str | None = None) -> None:
        force_login(client, user, backend)
        session = client.session
        session["account_authentication_methods"] = [{"method": "password", "at": time.time()}]
        session["account_authentication_methods_user"] = str(user.pk)
        session["began_at"] = session["seen_at"] = time.time()  # noted once a minute, with some queries
        session.save()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Client, "force_login", log_in)
        yield


@pytest.fixture(scope="session")
def postgres() -> EmbeddedPostgres:
    """The server of this run, started by whichever process needs it first."""
    return cluster.start()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    postgres: EmbeddedPostgres, django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: Any
) -> None:
    """Before pytest-django makes its database: start the server, and migrate what that database is copied from."""
    with django_db_blocker.unblock():
        connection.settings_dict["TEST"]["TEMPLATE"] = scratch_corpus.TEMPLATE = cluster.make_template(postgres)


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """The language that a page or command leaves behind in this thread is not the next test's."""
    yield
    translation.activate(settings.LANGUAGE_CODE)


@pytest.fixture(autouse=True)
def no_known_encoder() -> None:
    """The choice of an encoder that a rolled back test made is not the next test's."""
    chosen.forget_known()


@pytest.fixture(autouse=True, scope="session")
def compiled_word_lists() -> Iterator[None]:
    """Parse and compile equal word lists once in a process: most of the first answer to a changed corpus (0.5 s)."""
    build, loads = SafetyLexicon.build, tomllib.loads
    compiled: dict[str, SafetyLexicon] = {}

    def build_once(corpus: Mapping[str, Any] | None = None) -> SafetyLexicon:
        key = json.dumps((corpus or {}).get("safety", {}))
        if key not in compiled:
            compiled[key] = build(corpus)
        return compiled[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SafetyLexicon, "build", staticmethod(build_once))
        patched.setattr(tomllib, "loads", cache(loads))
        yield
