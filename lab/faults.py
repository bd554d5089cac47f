"""Hurt a site in the middle of its work, and check afterwards that nothing is lost, doubled or inconsistent."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast

import psycopg

from lab.own_site import PATIENCE_SECONDS, OwnSite

RECOVERY_SECONDS = 5.0
STUDIES_OF_A_FILE = 4
TABLES = {
    "answer": "qa_app_answer", "publish": "corpus_app_study", "import": "corpus_app_importjob",
    "index": "corpus_app_passagevector",
}  # fmt: skip
PROCESSES = {"answer": "web", "publish": "web", "import": "imports", "index": "index"}
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aeiou"]


@dataclass(frozen=True)
class Outcome:
    """The effect of one fault; `recovery` is in seconds from the end of the fault."""

    stage: str
    fault: str
    recovery: float
    broken: tuple[str, ...]


# --- The work ---------------------------------------------------------------------------------------------------------


def new_word() -> str:
    """Return a made-up word that no corpus holds."""
    return "".join(random.choices(_SYLLABLES, k=8))  # noqa: S311  # no secret


def ask(site: OwnSite, word: str) -> list[str]:
    """Ask about a study that was published before the fault, and require one stored answer, which quotes it."""
    question = f"Do seeds of {word} germinate earlier in warm soil than in cold soil?"
    headers = {"Idempotency-Key": word}
    first = site.persist("POST", "/api/v1/answers", json={"question": question}, headers=headers)
    if not first.is_success:
        return [f"the question was refused: {first.status_code} {first.text[:200]}"]
    again = site.persist("POST", "/api/v1/answers", json={"question": question}, headers=headers).json()
    stored = site.persist("GET", f"/api/v1/answers/{first.json()['id']}")
    n = site.count("SELECT count(*) FROM qa_app_answer WHERE question = %s", question)
    broken = [] if n == 1 else [f"{n} answers to one question"]
    if not any(word in str(sentence["support"]) for sentence in first.json()["answer"]["sentences"]):
        broken.append(f"the answer does not quote the study: {first.json()['outcome']}")
    if again["id"] != first.json()["id"]:
        broken.append("the same key was answered twice")
    if not stored.is_success or stored.json()["answer"] != first.json()["answer"]:
        broken.append("an answer that was sent is lost")
    return broken


def publish(site: OwnSite, word: str) -> list[str]:
    """Make a draft and publish it, and require that it is there once and found."""
    _draft(site, word)
    return _publish(site, word)


def index(site: OwnSite, word: str) -> list[str]:
    """Wait until a study that was published before the fault has its vectors."""
    return _require_found(site, word, title=f"Study of {word}", n=1)


def import_file(site: OwnSite, word: str) -> list[str]:
    """Send a file and bring it in, and require that each of its studies is there once and found."""
    sent = site.persist("POST", "/api/v1/desk/imports?name=sweep.ris", content=_ris(word).encode(), headers=_BINARY)
    if not sent.is_success:
        return [f"the file was refused: {sent.status_code} {sent.text[:200]}"]
    path = f"/api/v1/desk/imports/{sent.json()['import_id']}"
    _await_import(site, path, {"previewed"})
    options = {"collection": site.collection, "design": "other", "publish": True}
    site.persist("POST", f"{path}/confirm", json=options)
    done = _await_import(site, path, {"done", "failed"})
    broken = [] if done["status"] == "done" else [f"the import failed: {done['error']}"]
    return broken + _require_found(site, word, title=f"Study of {word}", n=STUDIES_OF_A_FILE)


STAGES: dict[str, Callable[[OwnSite, str], list[str]]] = {
    "answer": ask, "publish": publish, "import": import_file, "index": index,
}  # fmt: skip
_BINARY = {"Content-Type": "application/octet-stream"}


def _draft(site: OwnSite, word: str) -> None:
    texts = [f"Seeds of {word} germinated earlier in warm soil than in cold soil, in bed {n}." for n in range(3)]
    study = {
        "study_id": word, "title": f"Study of {word}", "authors": ["Example AB"], "year": 2024,
        "design": "randomized_controlled_trial", "collection": site.collection,
        "passages": [{"section": "results", "text": text} for text in texts],
    }  # fmt: skip
    site.persist("POST", "/api/v1/desk/studies", json=study)


def _publish(site: OwnSite, word: str) -> list[str]:
    path = f"/api/v1/desk/studies/{word}"
    version = site.persist("GET", path).headers.get("etag", "")
    site.persist("POST", f"{path}/publish", json={}, headers={"If-Match": version})
    return _require_found(site, word, title=f"Study of {word}", n=1)


def _ris(word: str) -> str:
    return "\n".join(
        f"TY  - JOUR\nTI  - Study of {word}, part {n}\nAU  - Alpha, Anna\nPY  - 2021\nDO  - 10.1000/{word}.{n}\n"
        f"AB  - Seeds of {word} germinated earlier in warm soil than in cold soil, in garden {n}.\nER  -\n"
        for n in range(STUDIES_OF_A_FILE)
    )


def _await_import(site: OwnSite, path: str, statuses: set[str]) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        job = cast(dict[str, Any], site.persist("GET", path).json())
        if job["status"] in statuses or time.monotonic() > end:
            return job
        time.sleep(0.2)


def _require_found(site: OwnSite, word: str, *, title: str, n: int) -> list[str]:
    """Require that the published studies of this word are there once each, and that search finds every one."""
    counted = site.count("SELECT count(*) FROM corpus_app_study WHERE starts_with(title, %s)", title)
    found = site.persist("GET", "/api/v1/search", params={"q": f"{word} seeds in warm soil", "limit": 50})
    studies = {row["study_id"] for row in found.json()["passages"] if word in str(row)} if found.is_success else set()
    broken = [] if counted == n else [f"{counted} studies instead of {n}"]
    return broken if len(studies) == n else [*broken, f"search finds {len(studies)} of {n} studies"]


# --- The faults -------------------------------------------------------------------------------------------------------


@contextmanager
def killed(site: OwnSite, stage: str) -> Iterator[None]:
    for pid in _targets(site, stage):
        os.kill(pid, signal.SIGKILL)
    yield


@contextmanager
def frozen(site: OwnSite, stage: str) -> Iterator[None]:
    with _stopped(_targets(site, stage)):
        yield


@contextmanager
def database_killed(site: OwnSite, stage: str) -> Iterator[None]:
    for pid in site.database_processes()[:1]:
        os.kill(pid, signal.SIGKILL)
    yield
    site.connect().close()


@contextmanager
def database_frozen(site: OwnSite, stage: str) -> Iterator[None]:
    with _stopped(site.database_processes()):
        yield


@contextmanager
def disk_full(site: OwnSite, stage: str) -> Iterator[None]:
    """Let PostgreSQL write no byte more: it treats the limit of a file's size as a full disk."""
    _limit_files(site, "0")
    yield
    _limit_files(site, "unlimited")
    site.connect().close()


@contextmanager
def connection_lost(site: OwnSite, stage: str) -> Iterator[None]:
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = %s"
    with site.connect() as connection:
        connection.execute(query, [connection.info.dbname])
        yield
        connection.execute(query, [connection.info.dbname])


@contextmanager
def slow_lock(site: OwnSite, stage: str) -> Iterator[None]:
    with site.connect() as connection, connection.transaction():
        with suppress(psycopg.errors.LockNotAvailable):
            connection.execute("SET LOCAL lock_timeout = '5s'")
            connection.execute(cast(Any, f"LOCK TABLE {TABLES[stage]} IN ACCESS EXCLUSIVE MODE"))
        yield


FAULTS = {
    "process killed": killed, "process frozen": frozen, "database killed": database_killed,
    "database frozen": database_frozen, "disk full": disk_full, "connection lost": connection_lost,
    "slow lock": slow_lock,
}  # fmt: skip
OF_DATABASE = {*FAULTS} - {"process killed", "process frozen"}


def _targets(site: OwnSite, stage: str) -> list[int]:
    return site.processes().get(PROCESSES[stage], [])


@contextmanager
def _stopped(pids: Iterable[int]) -> Iterator[None]:
    stopped = list(pids)
    _signal(stopped, signal.SIGSTOP)
    try:
        yield
    finally:
        _signal(stopped, signal.SIGCONT)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _limit_files(site: OwnSite, size: str) -> None:
    """Change the soft limit as the server's own user, whom the system lets do so without further rights."""
    for pid in site.database_processes():
        with suppress(FileNotFoundError):
            owner = Path(f"/proc/{pid}").stat().st_uid
            command = ["/usr/bin/prlimit", "--pid", str(pid), f"--fsize={size}:"]
            subprocess.run(command, user=owner, check=False, capture_output=True)


# --- The sweep --------------------------------------------------------------------------------------------------------


def sweep(
    site: OwnSite, n: int, *, recovery_seconds: float = RECOVERY_SECONDS, hold_seconds: float = 3.0
) -> Iterator[Outcome]:
    """Try `n` faults, each stage with each fault in turn, and yield what became of each."""
    pairs = random.sample(list(product(FAULTS, STAGES)), len(FAULTS) * len(STAGES))
    for number in range(n):
        fault, stage = pairs[number % len(pairs)]
        yield inflict(site, stage, fault, recovery_seconds=recovery_seconds, hold_seconds=hold_seconds)


def inflict(site: OwnSite, stage: str, fault: str, *, recovery_seconds: float, hold_seconds: float) -> Outcome:
    """Do the work of a stage, inflict the fault meanwhile for at most `hold_seconds`, and check every promise."""
    word = new_word()
    site.server_errors.clear()
    if stage in {"answer", "index"}:
        publish(site, word)
    if stage == "answer":
        site.audit()  # until the study has its vectors
    recovery, broken = 0.0, list[str]()
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(STAGES[stage], site, word)
        time.sleep(random.uniform(0, 0.5))  # noqa: S311  # no secret
        try:
            with FAULTS[fault](site, stage):
                time.sleep(random.uniform(0.3, hold_seconds))  # noqa: S311  # no secret
            recovery = site.seconds_until_well()
            broken += working.result()
        except (TimeoutError, psycopg.Error) as error:
            broken.append(f"{type(error).__name__}: {error}")
    broken += site.audit() + site.server_errors
    if fault in OF_DATABASE and recovery > recovery_seconds:
        broken.append(f"served again after {recovery:.1f} s")
    return Outcome(stage, fault, recovery, tuple(broken))
