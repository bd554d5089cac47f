"""A throw-away PostgreSQL for each test run, loaded before Django's settings are (`-p tests.cluster` in pyproject.toml).

The settings read the environment once, so it is prepared here: nothing of the machine's own, no `.env`, no network.
With pytest-xdist the controller starts the server, and the workers inherit the environment that names it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from inform_site.postgres import EmbeddedPostgres

NEUTRAL = {
    "DATABASE_URL": "",
    "REDIS_URL": "",
    "CELERY_BROKER_URL": "memory://",
    "INFORM_PRODUCTION": "",
    "ALLOWED_HOSTS": "",
    "CSRF_TRUSTED_ORIGINS": "",
    "DEBUG": "",
    "SECRET_KEY": "only for tests",
    "INFORM_ENCODER": "",
    "INFORM_POLICY": "",
    "INFORM_PROXIES": "",
    "INFORM_CORS_ORIGINS": "",
    "INFORM_ANONYMOUS_ASKS": "1000000/minute",  # all tests ask from one address
    "INFORM_ANONYMOUS_MODEL_ANSWERS": "1000000/minute",
    "INFORM_ANONYMOUS_READS": "1000000/minute",
    "INFORM_ANONYMOUS_SUGGESTIONS": "1000000/minute",
    "INFORM_KEY_WRITES": "1000000/minute",
    "INFORM_KEY_READS": "1000000/minute",
    "INFORM_RERANKER": "",
    "OPENAI_API_KEY": "",
    "OPENAI_BASE_URL": "",
    "OPENAI_MODEL": "",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "DJANGO_SETTINGS_MODULE": "lab.settings",
}
IS_XDIST_WORKER = "PYTEST_XDIST_WORKER" in os.environ

if not IS_XDIST_WORKER:
    _folder = Path(tempfile.mkdtemp(prefix="inform-tests-"))
    _folder.chmod(0o711)  # as root the server runs as another user, who must get through
    (_folder / "static").mkdir()  # whitenoise warns of a missing one in each test
    os.environ.update(NEUTRAL, INFORM_DATA_DIR=str(_folder))

DATA_DIR = Path(os.environ["INFORM_DATA_DIR"])
SERVER = EmbeddedPostgres(DATA_DIR / "postgres")
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "250"}


def pytest_configure(config: pytest.Config) -> None:
    if not IS_XDIST_WORKER and not config.option.collectonly:
        EmbeddedPostgres(SERVER.root, FAST).ensure()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not IS_XDIST_WORKER:
        SERVER.stop("immediate")
        shutil.rmtree(DATA_DIR, ignore_errors=True)
