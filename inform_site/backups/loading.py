"""Load the dump of an archive into a database, in one transaction that also compares the counts."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from psycopg import sql

from inform_site.backups import archive, programs
from inform_site.backups.archive import Manifest

Say = Callable[[str], None]
PROGRESS_SECONDS = 2.0
NO_EXTENSION = "permission denied to create extension"

# Everything in `public` that belongs to no extension, and the queue, which is made anew.
CLEAR = """
SET lock_timeout = '10s';
DROP SCHEMA IF EXISTS pgmq CASCADE;
DO $clear$ DECLARE act text; BEGIN
  FOR act IN
    SELECT format('DROP %s IF EXISTS %s CASCADE', CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
                  WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass)
    FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e', 'i'))
    UNION ALL
    SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', p.oid::regprocedure)
    FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  LOOP EXECUTE act; END LOOP;
END $clear$;
"""

CHECK = """DO $check$ BEGIN
  IF (SELECT count(*) FROM {table}) <> {count} THEN RAISE EXCEPTION USING MESSAGE = {wrong}; END IF;
END $check$;
"""


def load(path: Path, manifest: Manifest, *, database: str | None, server: int, say: Say) -> None:
    """Replace the contents of a database by those of an archive, wholly or not at all. Raises BackupError.

    `database` is a name on the site's server; None is the site's own. `server` is that server's major version.
    """
    info, environment = programs.connection_info(database)
    reader = programs.find_program("pg_restore", server=max(server, manifest.postgresql))
    writer = programs.find_program("psql", server=server)
    reading = [reader, "--format=custom", "--file=-", "--no-owner", "--no-acl", "--no-comments", "--verbose"]
    writing = [writer, "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file=-", f"--dbname={info}"]
    with (
        subprocess.Popen(reading, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as source,
        subprocess.Popen(
            writing, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
        ) as target,
    ):
        progress = TableProgress("restored", len(manifest.counts), say)
        read_lines = _gather(_pipe(source.stderr), progress.look)
        write_lines = _gather(_pipe(target.stderr))
        feeding = threading.Thread(target=_feed, args=(path, _pipe(source.stdin)))
        feeding.start()
        try:
            with _pipe(target.stdin) as out:
                out.write(b"BEGIN;\n" + CLEAR.encode())
                shutil.copyfileobj(_pipe(source.stdout), out, archive.CHUNK_BYTES)
                is_read = source.wait() == 0
                if is_read:
                    out.write("".join(_checks(manifest)).encode() + b"COMMIT;\n")
        except BrokenPipeError:  # psql has ended, and says why
            is_read = True
            source.kill()
        failed = target.wait() != 0
        feeding.join()
    if failed:
        lines = write_lines()
        if any(NO_EXTENSION in line for line in lines):
            raise programs.BackupError(
                "Only a superuser of the server may add pgvector: have one run CREATE EXTENSION vector in this "
                "database (for trials of backups in template1), then begin again."
            )
        raise programs.reason("The restore", lines)
    if not is_read:
        raise programs.reason("pg_restore", read_lines())


def count_rows(cursor: Any) -> dict[str, int]:
    """Return the number of rows of each table of the site, in the transaction of the cursor."""
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
    counts: dict[str, int] = {}
    for (name,) in cursor.execute(tables).fetchall():
        counted = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier("public", name))
        counts[name] = cursor.execute(counted).fetchone()[0]
    return counts


class TableProgress:
    """Say now and then how many tables a program has read or written, from the lines that it logs."""

    def __init__(self, act: str, total: int, say: Say) -> None:
        self._act, self._total, self._say = act, total, say
        self._done = 0
        self._said_at = time.monotonic()

    def look(self, line: str) -> None:
        if "contents of table" not in line and "data for table" not in line:
            return
        self._done += 1
        if time.monotonic() - self._said_at >= PROGRESS_SECONDS:
            self._said_at = time.monotonic()
            self._say(f"  {self._act} {min(self._done, self._total)} of {self._total} tables")


def _checks(manifest: Manifest) -> Iterator[str]:
    """Yield statements that break the transaction off where a table has another number of rows than the backup."""
    for name, count in manifest.counts.items():
        table = sql.Identifier("public", name).as_string()
        wrong = sql.Literal(f"{name} has other rows than the backup").as_string()
        yield CHECK.format(table=table, count=int(count), wrong=wrong)


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    """Return a stream that Popen was asked for."""
    if stream is None:
        raise ValueError("This process has no such pipe.")
    return stream


def _feed(path: Path, out: IO[bytes]) -> None:
    try:
        with out:
            archive.copy_dump(path, out)
    except BrokenPipeError:
        return  # the program has ended, and says why


def _gather(stream: IO[bytes], look: Callable[[str], None] = lambda line: None) -> Callable[[], list[str]]:
    """Read the lines of a stream in a thread; return a function that waits for all of them."""
    lines: list[str] = []

    def pump() -> None:
        for raw in stream:
            line = raw.decode(errors="replace")
            lines.append(line)
            look(line)

    thread = threading.Thread(target=pump)
    thread.start()

    def wait() -> list[str]:
        thread.join()
        return lines

    return wait
