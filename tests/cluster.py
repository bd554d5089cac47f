"""A throw-away PostgreSQL for each test run, loaded before Django's settings are (`-p tests.cluster` in pyproject.toml).

The settings read the environment once, so it is prepared here: nothing of the machine's own, no `.env`, no network.
With pytest-xdist the workers inherit the environment that names the server. `tests/run.py` gives its parts one folder, and
so one server. A database is migrated once; those of all processes are copies of it.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from inform_site.postgres import EmbeddedPostgres

UNSET = """DATABASE_URL REDIS_URL INFORM_PRODUCTION ALLOWED_HOSTS CSRF_TRUSTED_ORIGINS DEBUG INFORM_ENCODER INFORM_POLICY
    INFORM_PROXIES INFORM_CORS_ORIGINS INFORM_RERANKER OPENAI_API_KEY OPENAI_BASE_URL OPENAI_MODEL
    EMAIL_URL INFORM_SITE_URL INFORM_MAIL_FROM INFORM_WEBHOOK_NETWORKS"""
QUOTAS = """INFORM_ANONYMOUS_ASKS INFORM_ANONYMOUS_MODEL_ANSWERS INFORM_ANONYMOUS_READS INFORM_ANONYMOUS_SUGGESTIONS
    INFORM_ANONYMOUS_FOLLOWS INFORM_KEY_WRITES INFORM_KEY_READS"""  # all tests ask from one address
NEUTRAL = dict.fromkeys(UNSET.split(), "") | dict.fromkeys(QUOTAS.split(), "1000000/minute") | {
    "CELERY_BROKER_URL": "memory://",
    "SECRET_KEY": "only for tests",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "DJANGO_SETTINGS_MODULE": "lab.settings",
}  # fmt: skip
GIVEN = "INFORM_TESTS_DIR"
"""The folder of a run in several parts, whose server outlives each of them."""
IS_XDIST_WORKER = "PYTEST_XDIST_WORKER" in os.environ

if not IS_XDIST_WORKER:
    _folder = Path(os.environ.get(GIVEN) or tempfile.mkdtemp(prefix="inform-tests-"))
    _folder.chmod(0o711)  # as root the server runs as another user, who must get through
    (_folder / "static").mkdir(exist_ok=True)  # whitenoise warns of a missing one in each test
    os.environ.update(NEUTRAL, INFORM_DATA_DIR=str(_folder))

DATA_DIR = Path(os.environ["INFORM_DATA_DIR"])
SERVER = EmbeddedPostgres(DATA_DIR / "postgres")
NEED_SERVICES = {"db", "transactional_db", "django_db_setup", "postgres", "live_server", "page", "browser"}
TEMPLATE = "migrated"
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "250"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pure", action="store_true", help="only tests that need neither a database nor a browser")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--pure"):
        return
    chosen = [item for item in items if _is_pure(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


def _is_pure(item: pytest.Item) -> bool:
    names = set(getattr(item, "fixturenames", ()))
    return not names & NEED_SERVICES and item.get_closest_marker("django_db") is None


def start() -> EmbeddedPostgres:
    """Start the server of this run, unless another process of it already has."""
    server = EmbeddedPostgres(SERVER.root, FAST)
    server.ensure()
    return server


def make_template(server: EmbeddedPostgres) -> str:
    """Migrate the database that others are copied from, unless another process has; return its name."""
    from django.core.management import call_command
    from django.db import connection

    with (DATA_DIR / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if server.create_database(TEMPLATE):
            usual, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], TEMPLATE
            call_command("migrate", verbosity=0)
            connection.close()
            connection.settings_dict["NAME"] = usual
    return TEMPLATE


def pytest_unconfigure(config: pytest.Config) -> None:
    if not IS_XDIST_WORKER and GIVEN not in os.environ:
        SERVER.stop("immediate")
        shutil.rmtree(DATA_DIR, ignore_errors=True)
