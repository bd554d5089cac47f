"""The services of docker-compose.yml without Docker: their own commands and environment, with ports and folders of a test."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import yaml

from inform_site.postgres import EmbeddedPostgres
from tests.cluster import FAST

ROOT = Path(__file__).resolve().parents[2]
DOTENV = {
    "SECRET_KEY": "a-long-key-for-this-test-alone-0123456789-abcdefghijklmnopqrstuvwxyz", "POSTGRES_PASSWORD": "s3cret0",
    "ALLOWED_HOSTS": "localhost",
}  # fmt: skip
PROGRAMS = ("redis-server", "nginx", "openssl")
END_SECONDS = 30


def missing_programs() -> list[str]:
    """Debian's packages put nginx where only root looks."""
    return [name for name in PROGRAMS if find(name) is None]


def find(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def interpolate(text: str) -> str:
    """Compose's own substitution, with DOTENV as the file beside it."""
    value = re.sub(
        r"\$\{(\w+)(?::?([-?])([^}]*))?\}",
        lambda found: DOTENV.get(found[1], found[3] if found[2] == "-" else ""),
        text,
    )
    return value.replace("$$", "$")


class Deployment:
    """Starts and ends the processes; `folder` holds what volumes hold."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.services: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
        self._dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
        self.web, self.database, self.redis, self.http, self.https = (free_port() for _ in range(5))
        for name in ("data/models", "backups", "beat", "redis", "proxy"):
            (folder / name).mkdir(parents=True)
        self._moved = {
            "@database:5432": f"@127.0.0.1:{self.database}", "redis:6379": f"127.0.0.1:{self.redis}",
            "/srv/inform/.data": f"{folder}/data", "/var/backups/inform": f"{folder}/backups",
            "/var/lib/inform": f"{folder}/beat", "127.0.0.1:8000": f"127.0.0.1:{self.web}", "0.0.0.0": "127.0.0.1",
        }  # fmt: skip

    def environment(self, service: str) -> dict[str, str]:
        """What a container would see: the file's variables, the image's and its own; nothing of ours."""
        image = dict(re.findall(r"^(?:ENV|   ) ([A-Z_]+)=(\S+)", self._dockerfile, re.MULTILINE))
        own = {name: self._here(interpolate(str(value))) for name, value in self._of(service, "environment").items()}
        path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
        return {"HOSTNAME": socket.gethostname()} | DOTENV | image | own | {"PATH": path}

    def command(self, service: str) -> list[str]:
        command = self._of(service, "command") or json.loads(
            re.findall(r"^CMD (.*)$", self._dockerfile, re.MULTILINE)[0]
        )
        return [self._here(str(self.web) if part == "8000" else part) for part in command]

    def is_healthy(self, service: str) -> bool:
        kind, *test = self.services[service]["healthcheck"]["test"]
        command = [self._here(interpolate(part)) for part in test]
        shell = ["sh", "-c", *command] if kind == "CMD-SHELL" else command
        done = subprocess.run(shell, cwd=ROOT, env=self.environment(service), capture_output=True, check=False)
        return done.returncode == 0

    def run(self, *command: str, service: str = "web", **environment: str) -> str:
        """What `docker compose run SERVICE COMMAND` prints."""
        whole = self.environment(service) | environment
        done = subprocess.run(command, cwd=ROOT, env=whole, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def running(self) -> Iterator[None]:
        """Everything in order: database and Redis, the tables, our processes, nginx."""
        with ExitStack() as stack:
            stack.enter_context(self._database())
            redis = [
                *self.command("redis"),
                "--port",
                str(self.redis),
                "--bind",
                "127.0.0.1",
                "--dir",
                f"{self.folder}/redis",
            ]
            stack.enter_context(self._process("redis", redis, os.environ))
            self.run(*self.command("migrate"), service="migrate")
            few = "--ignore admin --ignore drf_spectacular_sidecar"  # which take most of the time to compress
            self.run("python", "manage.py", "collectstatic", "--no-input", *few.split())  # as the image's build does
            for service in self.services:
                if service not in {"database", "redis", "migrate"}:
                    stack.enter_context(self._process(service, self.command(service), self.environment(service)))
            stack.enter_context(self.proxy())
            yield

    @contextmanager
    def proxy(self) -> Iterator[None]:
        """nginx alone, whatever is behind it."""
        with self._process("nginx", self._nginx(), os.environ):
            yield

    def said(self, service: str) -> str:
        return (self.folder / f"{service}.log").read_text("utf-8", errors="replace")

    def _of(self, service: str, key: str) -> Any:
        return self.services[service].get(key) or {}

    def _here(self, text: str) -> str:
        for there, here in self._moved.items():
            text = text.replace(there, here)
        return text

    @contextmanager
    def _process(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], **options: Any
    ) -> Iterator[None]:
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True, **options
            )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @contextmanager
    def _database(self) -> Iterator[None]:
        """A server that listens on TCP alone is asked for, and wants a password; its first user is the image's superuser."""
        server = EmbeddedPostgres(self.folder / "postgres", FAST)
        server.ensure()
        with psycopg.connect(host=str(server.socket_dir), user="postgres", dbname="postgres", autocommit=True) as first:
            first.execute(f"CREATE ROLE inform SUPERUSER LOGIN PASSWORD '{DOTENV['POSTGRES_PASSWORD']}'")
            first.execute("CREATE DATABASE inform OWNER inform")
        data = server.data.resolve()
        program = Path("/proc", (data / "postmaster.pid").read_text().split()[0], "exe").readlink()
        server.stop()
        (data / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n", encoding="utf-8")
        owner = {"user": data.stat().st_uid, "group": data.stat().st_gid} if os.geteuid() == 0 else {}
        command = [str(program), "-D", str(data), "-c", "listen_addresses=127.0.0.1", "-c", f"port={self.database}"]
        clean = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
        try:
            with self._process("database", command, clean, **owner):
                yield
        finally:
            for place in {data.parent, server.socket_dir} - {server.root}:
                shutil.rmtree(place, ignore_errors=True)

    def _nginx(self) -> list[str]:
        """The example of deploy/nginx, with a certificate of its own."""
        place = self.folder / "proxy"
        request = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout {place}/key.pem -out {place}/cert.pem"
        subprocess.run(["openssl", *request.split()], check=True, capture_output=True)
        site = (ROOT / "deploy/nginx/inform.conf").read_text("utf-8").replace("inform.example", "localhost")
        for there, here in {
            "listen 80;": f"listen 127.0.0.1:{self.http};", "listen 443 ": f"listen 127.0.0.1:{self.https} ",
            "/etc/letsencrypt/live/localhost/fullchain.pem": f"{place}/cert.pem",
            "/etc/letsencrypt/live/localhost/privkey.pem": f"{place}/key.pem",
        }.items():  # fmt: skip
            assert there in site, there
            site = site.replace(there, here)
        folders = " ".join(
            f"{kind}_temp_path {place}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;" if os.geteuid() == 0 else ""
        main = f"{user} daemon off; pid {place}/pid; error_log stderr; events {{}}\nhttp {{ access_log off; {folders}\n{self._here(site)}}}"
        (place / "nginx.conf").write_text(main, encoding="utf-8")
        return [str(find("nginx")), "-e", "stderr", "-c", f"{place}/nginx.conf", "-p", str(place)]
