"""Backups of a real database: restored elsewhere whole, refused where they would do harm."""

import io
import json
import tarfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from corpus_app.models import Study
from inform_site import tasks
from inform_site.backups import archive, making, records
from inform_site.postgres import EmbeddedPostgres
from tests import cluster
from tests.builders import make_study, run_command

Enter = Callable[[str], None]


@pytest.fixture
def enter(postgres: EmbeddedPostgres, django_db_blocker: Any, settings: Any, tmp_path: Path) -> Iterator[Enter]:
    """Makes a database of the site's server the site's own; `site_full` is migrated and holds a study, `site_bare` is new."""
    with django_db_blocker.unblock():
        cluster.make_template(postgres)
        usual, made = connection.settings_dict["NAME"], {"site_full": "TEMPLATE migrated", "site_bare": ""}
        server = psycopg.connect(host=str(postgres.socket_dir), user="postgres", dbname="postgres", autocommit=True)
        server.execute(
            "SELECT pg_advisory_lock(hashtext('backups'))"
        )  # one at a time, also where tests run in parallel
        for name, source in made.items():
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")  # of a run that was killed
            server.execute(f"CREATE DATABASE {name} {source}")
        settings.DATA_DIR = tmp_path / "data"
        settings.DATA_DIR.mkdir()

        def enter(name: str) -> None:
            connection.close()
            connection.settings_dict["NAME"] = name

        enter("site_full")
        make_study(study_id="T-1", title="Größer, \\ “schwerer”; 💪")
        yield enter
        enter(usual)
        for name in made:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
        assert not server.execute("SELECT FROM pg_database WHERE datname LIKE 'inform_backup_%'").fetchall()
        server.close()


def back_up(target: Path) -> Path:
    run_command("backup", target)
    return max(target.iterdir()) if target.is_dir() else target


def titles() -> list[str]:
    return list(Study.objects.values_list("title", flat=True))


def test_a_backup_moves_a_site_to_another_server_with_its_key(enter: Enter, settings: Any, tmp_path: Path) -> None:
    own = settings.DATA_DIR / "secret_key"
    own.write_text(settings.SECRET_KEY, encoding="utf-8")
    settings.CALIBRATIONS = str(tmp_path / "fitted")
    (tmp_path / "fitted").mkdir()
    (tmp_path / "fitted" / "relevance.json").write_text("{}", encoding="utf-8")
    before, applied = titles(), MigrationRecorder(connection).applied_migrations().keys()

    said = run_command("backup", tmp_path / "site.tar")
    file = tmp_path / "site.tar"
    settings.SECRET_KEY = "the key that the new machine made for itself"
    own.write_text(settings.SECRET_KEY, encoding="utf-8")
    settings.CALIBRATIONS = ""
    enter("site_bare")
    run_command("restore", file)

    assert "1 studies" in said
    assert "restored on trial, all counts equal" in said
    assert file.stat().st_mode & 0o077 == 0
    assert titles() == before
    assert MigrationRecorder(connection).applied_migrations().keys() == applied
    assert own.read_text(encoding="utf-8") == "only for tests"
    assert (settings.DATA_DIR / "calibrations" / "relevance.json").read_text(encoding="utf-8") == "{}"


def test_a_restore_deletes_nothing_unasked_and_everything_when_asked(enter: Enter, tmp_path: Path) -> None:
    file = back_up(tmp_path / "site.tar")
    Study.objects.update(title="Changed since")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE of_a_newer_release (id int)")

    with pytest.raises(CommandError, match=r"not empty.* restore with --replace"):
        run_command("restore", file)
    assert titles() == ["Changed since"]

    said = run_command("restore", file, "--replace")
    assert titles() == ["Größer, \\ “schwerer”; 💪"]
    assert "of_a_newer_release" not in connection.introspection.table_names()
    assert "does not hold SECRET_KEY" not in said


def test_a_backup_that_fails_on_the_way_changes_nothing(enter: Enter, tmp_path: Path) -> None:
    file = back_up(tmp_path / "site.tar")
    manifest = archive.read(file)
    with tarfile.open(file) as whole:
        dump = whole.extractfile(archive.DUMP)
        assert dump
        (tmp_path / archive.DUMP).write_bytes(dump.read())

    def forge(name: str, dump: bytes, **changes: Any) -> Path:
        (tmp_path / name).mkdir()
        (tmp_path / name / archive.DUMP).write_bytes(dump)
        fields = {field: getattr(manifest, field) for field in manifest.__slots__} | changes
        sums = {archive.DUMP: archive.digest_of(tmp_path / name / archive.DUMP)}
        forged = tmp_path / name / "forged.tar"
        archive.write(forged, archive.Manifest(**fields | {"checksums": sums} | changes),
                      {archive.DUMP: tmp_path / name / archive.DUMP})  # fmt: skip
        return forged

    good = (tmp_path / archive.DUMP).read_bytes()
    cases = (
        (forge("cut", good[: len(good) // 2]), "failed"),
        (forge("counts", good, counts=dict(manifest.counts) | {"corpus_app_study": 2}), "corpus_app_study has other"),
        (forge("newer", good, migrations=(*manifest.migrations, "qa_app 9999_later")), r"newer release .*9999_later"),
        (forge("sums", good, checksums={archive.DUMP: "0"}), "damaged"),
        (forge("server", good, postgresql=99), "comes from PostgreSQL 99|PostgreSQL 99 or newer"),
        (tmp_path / archive.DUMP, "not a whole backup"),
    )
    for forged, reason in cases:
        with pytest.raises(CommandError, match=reason):
            run_command("restore", forged, "--replace")
        assert titles() == ["Größer, \\ “schwerer”; 💪"]


def test_a_running_site_and_another_programs_database_are_left_alone(
    enter: Enter, postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    file = back_up(tmp_path / "site.tar")
    enter("site_bare")
    with psycopg.connect(host=str(postgres.socket_dir), user="postgres", dbname="site_bare", autocommit=True) as other:
        with pytest.raises(CommandError, match="1 other connections use the database: stop the site first"):
            run_command("restore", file)
        other.execute("CREATE TABLE orders (id int)")
    for options in ((), ("--replace",)):
        with pytest.raises(CommandError, match="belongs to another program"):
            run_command("restore", file, *options)


def test_backups_are_made_when_they_are_due_and_the_newest_are_kept(
    enter: Enter, settings: Any, tmp_path: Path
) -> None:
    settings.BACKUP_FOLDER, settings.BACKUP_HOURS, settings.BACKUPS_KEPT = str(tmp_path), 24, 2
    ages = {making.NAME.format(datetime.now(UTC) - timedelta(hours=hours)) for hours in (25, 49, 73)}
    for name in (*ages, "mine.tar"):
        (tmp_path / name).touch()

    tasks.back_up()
    tasks.back_up()

    found = [path.name for _, path in making.list_backups(tmp_path)]
    assert len(found) == 2
    assert found[1] == max(ages)
    assert json.loads(run_tar(tmp_path / found[0], archive.MANIFEST))["counts"]["corpus_app_study"] == 1
    assert (tmp_path / "mine.tar").exists()
    assert not records.state().is_late
    assert not list(tmp_path.glob(".backup-*"))


def run_tar(path: Path, member: str) -> str:
    with tarfile.open(path) as whole:
        return io.TextIOWrapper(whole.extractfile(member) or io.BytesIO(), encoding="utf-8").read()
