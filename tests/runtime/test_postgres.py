"""The embedded server, with real clusters in throw-away folders."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from inform_site import postgres
from inform_site.postgres import EmbeddedPostgres, PostgresError
from tests.runtime.conftest import ServerIn

ROOT = Path(__file__).resolve().parents[2]
IS_ROOT = os.geteuid() == 0
ORDINARY_USER = 65534  # nobody

HOLD = """
import sys
from pathlib import Path
from inform_site.postgres import EmbeddedPostgres, PostgresError

try:
    with EmbeddedPostgres(Path(sys.argv[1]), {"fsync": "off"}).hold(database="shelf"):
        print("held", flush=True)
        sys.stdin.readline()
except PostgresError as error:
    sys.exit(str(error))
"""


class Holder:
    """Another process that uses the server until it is told to leave."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        command = [sys.executable, "-c", HOLD, str(server.root)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=ROOT, text=True, **pipes)
        assert self.process.stdout
        assert self.process.stdout.readline() == "held\n"


def connect(server: EmbeddedPostgres, database: str = "postgres") -> psycopg.Connection:
    return psycopg.connect(host=str(server.socket_dir), user="postgres", dbname=database, autocommit=True)


def pretend(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str, script: str) -> None:
    """Puts a script in the place of a program of PostgreSQL."""
    folder.mkdir(mode=0o755)
    (folder / program).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / program).chmod(0o755)
    monkeypatch.setattr(postgres, "installed_programs", lambda: folder)


def test_server_runs_while_it_is_held_and_keeps_its_rows(server: EmbeddedPostgres) -> None:
    with server.hold(database="shelf"):
        connect(server, "shelf").execute("CREATE TABLE book AS SELECT 'Iron' AS title")
    assert not server.is_ready()

    with server.hold(database="shelf"):
        assert connect(server, "shelf").execute("SELECT title FROM book").fetchall() == [("Iron",)]


def test_server_says_what_is_new_and_knows_vectors_and_english_words(server: EmbeddedPostgres) -> None:
    assert [server.ensure(), server.ensure()] == [True, False]
    assert [server.create_database("new"), server.create_database("new")] == [True, False]

    connection = connect(server, "new")
    connection.execute("CREATE EXTENSION vector")
    assert connection.execute("SELECT to_tsvector('lifted weights')::text").fetchone() == ("'lift':1 'weight':2",)
    assert connection.execute("SHOW fsync").fetchone() == ("off",)  # as it was told
    assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_last_one_out_stops_the_server(server: EmbeddedPostgres) -> None:
    with server.hold():
        other = Holder(server)
    assert server.is_ready()

    other.process.communicate("\n", timeout=30)

    assert not server.is_ready()


def test_killed_user_has_let_go(server: EmbeddedPostgres) -> None:
    with server.hold():
        other = Holder(server)
        other.process.kill()
        other.process.communicate()

    assert not server.is_ready()


def test_killed_server_comes_back_with_every_committed_row(server: EmbeddedPostgres) -> None:
    server.ensure()
    connection = connect(server)
    connection.execute("SET synchronous_commit = on")  # the tests' servers are hastier than the site's
    connection.execute("CREATE TABLE book AS SELECT generate_series(1, 100)")
    os.kill(int((server.data / "postmaster.pid").read_text(encoding="utf-8").split()[0]), signal.SIGKILL)

    assert server.ensure()
    assert connect(server).execute("SELECT count(*) FROM book").fetchone() == (100,)


def test_a_killed_server_is_waited_for(server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes of a killed server hold its memory for a moment, and speak into the log of the next one."""
    server.ensure()
    server.stop()
    programs, tries, said = postgres.installed_programs(), server.root / "tries", server.root / "said"
    said.write_text(
        "FATAL:  terminating connection due to unexpected postmaster exit\n"
        "FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use\n",
        encoding="utf-8",
    )
    tries.touch()
    tries.chmod(0o666)
    twice = f"""echo "$1" >> '{tries}'; [ "$(wc -l < '{tries}')" -lt 3 ] && {{ cat '{said}'; exit 1; }}"""
    pretend(monkeypatch, server.root / "pretender", "pg_ctl", f"""{twice}; exec '{programs / "pg_ctl"}' "$@\"""")

    assert server.ensure()
    assert tries.read_text(encoding="utf-8").split() == ["start"] * 3


def test_lock_file_of_a_number_used_again_is_no_obstacle(server: EmbeddedPostgres) -> None:
    with server.hold():
        lines = (server.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    (server.data / "postmaster.pid").write_text("\n".join([str(os.getpid()), *lines[1:]]), encoding="utf-8")

    assert server.ensure()


@pytest.mark.parametrize("name", ["l" + 60 * "o" + "ng", "it's, odd; ünd 50%"])
def test_path_that_would_not_do_for_a_socket(folder: Path, server_in: ServerIn, name: str) -> None:
    server = server_in(folder / name / "postgres")

    with server.hold(database="shelf"):
        assert server.socket_dir.parent == Path("/tmp")
        assert server.socket_dir.stat().st_mode & 0o777 == 0o700
        assert connect(server, "shelf")


def test_foreign_environment_is_no_obstacle(server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("LC_ALL", "xx_XX.UTF-8")
    monkeypatch.setenv("PGDATA", "/nowhere")
    monkeypatch.setenv("PGPORT", "1")

    assert server.ensure()


def test_other_versions_and_paths_are_refused(new_server: EmbeddedPostgres, folder: Path, server_in: ServerIn) -> None:
    with pytest.raises(PostgresError, match="move InForm to a path without quotes"):
        server_in(folder / "$HOME" / "postgres").ensure()

    with new_server.hold():
        pass
    (new_server.data / "PG_VERSION").write_text("17\n", encoding="utf-8")
    with pytest.raises(PostgresError, match="was made by PostgreSQL 17, and this is 18"):
        new_server.ensure()


def test_failure_names_its_reason_and_the_log(server: EmbeddedPostgres) -> None:
    broken = EmbeddedPostgres(server.root, {"shared_buffers": "much"})

    with pytest.raises(PostgresError, match=r"pg_ctl failed: FATAL: .*contains errors.*postgres\.log"):
        broken.ensure()


def test_full_disk_is_one_sentence(new_server: EmbeddedPostgres, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, folder / "bin", "initdb", "echo 'could not write: No space left on device'; exit 1")

    with pytest.raises(PostgresError, match=r"^The disk that holds .* is full; free some space and start again\.$"):
        new_server.ensure()


def test_a_foreign_folder_is_left_alone(new_server: EmbeddedPostgres, folder: Path) -> None:
    new_server.root.mkdir()
    new_server.data.symlink_to(folder / "gone")
    with pytest.raises(PostgresError, match=r"There is no database in .*gone: put it back"):
        new_server.ensure()

    new_server.data.unlink()
    new_server.data.mkdir()
    (new_server.data / "precious").touch()
    with pytest.raises(PostgresError, match=r"There is no database in .* to begin anew"):
        new_server.ensure()
    assert (new_server.data / "precious").exists()

    shutil.rmtree(new_server.data)
    (new_server.root / "data.new" / "base").mkdir(parents=True)
    assert new_server.ensure()


class OrdinaryUser:
    """Somebody who is not root, with the first Python that they may run and the packages of this environment."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.python = next(filter(self._can_run, [sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"]), None)

    def hold(self) -> tuple[int, str]:
        done = self._run([str(self.python), "-c", HOLD, str(self.root)])
        return done.returncode, done.stdout

    def _can_run(self, python: str) -> bool:
        try:
            return self._run([python, "-c", "import psycopg, inform_site.postgres"]).returncode == 0
        except (PermissionError, FileNotFoundError):
            return False

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        packages = Path(psycopg.__file__).parents[1]
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{packages}"}
        who = {"user": ORDINARY_USER, "group": ORDINARY_USER, "extra_groups": []}
        said = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run(command, cwd="/", env=environment, text=True, check=False, **who, **said)


@pytest.mark.skipif(not IS_ROOT, reason="only root runs the server as somebody else")
class TestAsRoot:
    @pytest.fixture
    def closed(self, folder: Path) -> Path:
        """A folder that nobody else may enter, like /root."""
        path = folder / "closed"
        path.mkdir(mode=0o700)
        return path

    def test_server_has_a_user_of_its_own(self, server: EmbeddedPostgres) -> None:
        server.ensure()

        assert server.data.owner() == postgres.OS_USER

    def test_folder_out_of_its_reach_is_linked_to_a_shelter_of_its_own(self, closed: Path, server_in: ServerIn) -> None:
        former = server_in(closed / "postgres")
        with former.hold(database="shelf"):
            assert connect(former, "shelf")
        assert former.data.is_symlink()
        assert former.data.resolve().is_relative_to(postgres.SHELTERS)

        shutil.rmtree(former.root)  # as with a checkout
        server = server_in(closed / "postgres")
        server.ensure()
        assert server.create_database("shelf")

    def test_binaries_out_of_its_reach_are_copied(
        self, closed: Path, server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        installed = postgres.installed_programs()
        package = closed / installed.parents[1].name
        shutil.copytree(installed.parent, package / installed.parent.name, symlinks=True)
        shutil.copytree(installed.parents[1].with_name(f"{package.name}.libs"), closed / f"{package.name}.libs")
        monkeypatch.setattr(postgres, "installed_programs", lambda: package / installed.parent.name / "bin")

        assert server.ensure()

    @pytest.fixture
    def ordinary(self, folder: Path) -> OrdinaryUser:
        os.chown(folder, ORDINARY_USER, ORDINARY_USER)
        user = OrdinaryUser(folder / "postgres")
        if not user.python:
            pytest.skip("no Python here that an ordinary user can run")
        return user

    def test_an_ordinary_user_keeps_their_data(self, ordinary: OrdinaryUser, server_in: ServerIn) -> None:
        assert ordinary.hold() == (0, "held\n")
        with server_in(ordinary.root).hold():
            assert ordinary.root.joinpath("data").stat().st_uid == ORDINARY_USER

    def test_a_folder_of_others_is_refused(self, ordinary: OrdinaryUser, server_in: ServerIn) -> None:
        server_in(ordinary.root).ensure()

        status, said = ordinary.hold()

        assert status == 1
        assert "run as its owner, or set INFORM_DATA_DIR" in said
        assert said.count("\n") == 1
