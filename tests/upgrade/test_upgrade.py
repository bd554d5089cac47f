"""Every release's backup, restored by this one: the tables are brought up to date, and the site answers from them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client

from corpus_app.models import Study
from inform_site.backups import archive, restoring
from inform_site.clients.models import ApiKey
from inform_site.postgres import EmbeddedPostgres
from qa_app.models import Answer, FollowedQuestion
from tests.upgrade.make import QUESTION

RELEASES = sorted(Path(__file__).parent.glob("*.tar"), key=lambda path: [int(part) for part in path.stem.split(".")])


@pytest.fixture
def empty_database(postgres: EmbeddedPostgres, django_db_blocker: Any) -> Iterator[None]:
    """An empty database as the site's own."""
    usual, name = connection.settings_dict["NAME"], f"upgraded_from_{id(object())}"
    connection.close()
    with (
        django_db_blocker.unblock(),
        psycopg.connect(host=str(postgres.socket_dir), user="postgres", dbname="postgres", autocommit=True) as server,
    ):
        server.execute(f"CREATE DATABASE {name}")
        connection.settings_dict["NAME"] = name
        yield
        connection.close()
        connection.settings_dict["NAME"] = usual
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.usefixtures("empty_database")
@pytest.mark.parametrize("backup", RELEASES, ids=[path.stem for path in RELEASES])
def test_a_site_of_an_earlier_release_is_whole_after_the_upgrade(backup: Path) -> None:
    manifest = archive.read(backup)

    restoring.restore(backup, say=lambda words: None)

    assert manifest.release == backup.stem
    call_command("migrate", check_unapplied=True, verbosity=0)  # exits where one is missing
    assert Study.objects.filter(status="published").count() == manifest.counts["corpus_app_study"]
    assert User.objects.get().check_password("tomatoes-and-beans") is not None
    assert (ApiKey.objects.count(), FollowedQuestion.objects.count()) == (1, 1)
    client, answer = Client(), Answer.objects.get(question=QUESTION)
    stored = client.get(f"/answers/{answer.pk}/")
    assert stored.status_code == 200
    assert QUESTION in stored.content.decode()
    assert answer.outcome == "answered"
    found = client.get("/api/v1/search", {"q": QUESTION}).json()["passages"]
    assert found
