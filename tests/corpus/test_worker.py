"""A real worker on the real queue, killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from corpus_app import indexing
from corpus_app.curation import jobs
from corpus_app.models import CorpusEvent, ImportItem, ImportJob, PassageVector, Study
from tests.builders import make_curator, make_study
from tests.fakes import WordHashEncoder

PATIENCE_SECONDS = 300  # a worker starts in three; only a failure waits for so long
WORKER = "-A tests.corpus.slow_worker worker -B --concurrency 1 --without-gossip --without-mingle --without-heartbeat"
INSTALL_QUEUE = "import django; django.setup(); from inform_site import queue; queue.install()"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """That of a process which uses this test's database, with the queue in it."""
    database = connection.settings_dict
    return os.environ | {
        "DATABASE_URL": f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}",
        "PGHOST": database["HOST"], "CELERY_BROKER_URL": "pgmq://", "INFORM_DATA_DIR": str(tmp_path),
        "INDEX_SWEEP_SECONDS": "1",
    }  # fmt: skip


@pytest.fixture
def start_worker(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    subprocess.run([sys.executable, "-c", INSTALL_QUEUE], env=environment, cwd=settings.BASE_DIR, check=True)
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        with (tmp_path / "worker.log").open("ab") as log:
            started.append(
                subprocess.Popen([sys.executable, "-m", "celery", "--quiet", *WORKER.split()], env=environment,
                 cwd=settings.BASE_DIR, stdout=log, stderr=log, start_new_session=True),
            )  # fmt: skip
        return started[-1]

    yield start
    for worker in started:
        kill(worker)


def kill(worker: subprocess.Popen[bytes]) -> None:
    if worker.poll() is None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def wait_for(truth: Callable[[], bool], tmp_path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not truth():
        assert time.monotonic() < deadline, (tmp_path / "worker.log").read_text()[-3000:]
        time.sleep(0.02)


@pytest.mark.django_db(transaction=True)
def test_work_outlives_killed_workers_and_nothing_is_imported_twice(
    start_worker: Callable[[], subprocess.Popen[bytes]], encoder: WordHashEncoder, tmp_path: Path
) -> None:
    passages, total = 4 * indexing.BATCH, 40
    make_study(texts=tuple(f"Text number {number}. It has two sentences." for number in range(passages)))
    lines = [
        {"_id": f"d{number}", "title": f"Study {number}", "text": f"Study {number} looked at squats. They helped."}
        for number in range(total)
    ]
    curator = make_curator()
    content = "\n".join(map(json.dumps, lines)).encode()
    job = jobs.create_job(content, file_name="corpus.jsonl", by=curator)

    first = start_worker()
    wait_for(PassageVector.objects.exists, tmp_path)
    kill(first)
    assert 0 < indexing.progress().done < passages

    second = start_worker()
    wait_for(lambda: ImportJob.objects.get().status == ImportJob.Status.PREVIEWED, tmp_path)
    assert ImportItem.objects.count() == total
    jobs.confirm(job, jobs.Options(collection="training"), by=curator)
    wait_for(ImportItem.objects.exclude(outcome="").exists, tmp_path)
    kill(second)
    done = ImportItem.objects.filter(outcome="created").count()
    assert 0 < done < total
    assert Study.objects.count() == 1 + done

    start_worker()
    wait_for(lambda: ImportJob.objects.get().status == ImportJob.Status.DONE, tmp_path)
    wait_for(lambda: not indexing.has_work(), tmp_path)

    assert ImportItem.objects.filter(outcome="created").count() == total
    assert Study.objects.count() == 1 + total
    assert CorpusEvent.objects.filter(action="import_study").count() == total
    assert ImportJob.objects.get().report["outcomes"] == {"created": total}
    assert indexing.progress() == indexing.Progress(passages + total, passages + total)
    assert indexing.audit() == []
