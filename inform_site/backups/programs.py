"""PostgreSQL's own programs, and the connection that they are given."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection
from psycopg.conninfo import make_conninfo

from inform_site import postgres


class BackupError(Exception):
    """A backup cannot be made or restored; the message tells the operator why, and what to do."""


def find_program(name: str, *, server: int) -> str:
    """Return the path of a program that understands a server of this major version: ours, or one on the PATH."""
    ours = _ours(name)
    if ours and server <= int(postgres.MAJOR_VERSION):
        return ours
    found = shutil.which(name)
    if found and _major_version(found) >= server:
        return found
    raise BackupError(
        f"{name} of PostgreSQL {server} or newer is not here: install PostgreSQL's client programs of that version."
    )


def connection_info(database: str | None = None) -> tuple[str, dict[str, str]]:
    """Return the connection string of the site's server, and an environment with its password.

    Arguments of programs can be read by everybody on the machine, and so never hold the password.
    """
    config = connection.settings_dict
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()} - {"options"}
    parts: dict[str, Any] = {key: value for key, value in config["OPTIONS"].items() if key in known}
    parts |= {"host": config["HOST"], "port": config["PORT"], "user": config["USER"]}
    parts["dbname"] = database or config["NAME"]
    environment = dict(os.environ)
    if password := parts.pop("password", "") or config["PASSWORD"]:
        environment["PGPASSWORD"] = str(password)
    return make_conninfo(**{key: value for key, value in parts.items() if value not in ("", None)}), environment


def connect(database: str | None = None) -> psycopg.Connection[tuple[Any, ...]]:
    """Open a connection of our own, without the limits of the site's work."""
    info, environment = connection_info(database)
    password = environment.get("PGPASSWORD")
    return psycopg.connect(make_conninfo(info, password=password) if password else info, autocommit=True)


def reason(name: str, said: Iterable[str]) -> BackupError:
    """Return the error of a program that failed, with the line that tells why."""
    lines = [line.strip() for line in said if line.strip()]
    telling = [line for line in lines if re.search(r"(?i)\b(error|fatal|failed|could not)\b", line)]
    return BackupError(f"{name} failed: {(telling or lines or ['it gave no reason'])[0].rstrip('.')}.")


def _ours(name: str) -> str | None:
    try:
        path = postgres.installed_programs() / name
    except postgres.PostgresError:
        return None
    return str(path) if path.exists() else None


def _major_version(program: str) -> int:
    said = subprocess.run([program, "--version"], check=False, capture_output=True, text=True).stdout
    found = re.search(r"\s(\d+)", said)
    return int(found[1]) if found else 0


def size_of(path: Path) -> str:
    """Return the size of a file in words."""
    megabytes = path.stat().st_size / 1e6
    return f"{megabytes:,.1f} MB"
