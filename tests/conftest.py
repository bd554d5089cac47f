"""What every test finds: plain static files and quick passwords. The database comes from `tests/cluster.py`."""

from __future__ import annotations

import pytest
from django.conf import settings

from inform_site.postgres import EmbeddedPostgres
from tests import cluster


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Changes the settings before anything has read them."""
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--scripted-replies", type=int, default=300, help="how many replies of a scripted language model to try (300)"
    )


@pytest.fixture(scope="session")
def postgres() -> EmbeddedPostgres:
    """The server of this run, started by whichever process needs it first."""
    return cluster.start()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    postgres: EmbeddedPostgres, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """Start the server before pytest-django makes its database."""
