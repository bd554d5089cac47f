"""The tasks of indexing, and a real worker on the real queue, killed in the middle."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from celery import current_app
from django.conf import settings
from django.db import connection
from django.utils import timezone

from corpus_app import indexing, tasks
from corpus_app.curation import jobs
from corpus_app.models import CorpusEvent, ImportItem, ImportJob, IndexBatch, PassageVector, Study
from corpus_app.records import Status
from inform_site import queue_setup
from inform_site.models import QueueBeat
from tests.builders import make_curator, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db

PATIENCE_SECONDS = 300  # a worker starts in three; only a failure waits for so long
WORKER = "worker --concurrency 1 --without-gossip --without-mingle --without-heartbeat"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """That of a process which uses this test's database, with the queue in it."""
    database = connection.settings_dict
    return os.environ | {
        "DATABASE_URL": f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}",
        "PGHOST": database["HOST"], "CELERY_BROKER_URL": "pgmq://", "INFORM_DATA_DIR": str(tmp_path),
        "INDEX_SWEEP_SECONDS": "600",  # a worker looks for work when it starts
    }  # fmt: skip


@pytest.fixture
def start_worker(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    monkeypatch.setattr(settings, "QUEUE_IN_DATABASE", True)
    options = {"conn_string": environment["DATABASE_URL"]}
    monkeypatch.setattr(settings, "CELERY_BROKER_TRANSPORT_OPTIONS", options)
    queue_setup.install()
    started: list[subprocess.Popen[bytes]] = []

    def start(*options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "celery", "--quiet", "-A", "tests.corpus.slow_worker", *WORKER.split()]
        with (tmp_path / "worker.log").open("ab") as log:
            started.append(
                subprocess.Popen([*command, *(options or ["-B"])],
                 env=environment, cwd=settings.BASE_DIR, stdout=log, stderr=log, start_new_session=True),
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
    start_worker: Callable[..., subprocess.Popen[bytes]], encoder: WordHashEncoder, tmp_path: Path
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


@pytest.mark.django_db(transaction=True)
def test_an_import_that_never_ends_is_set_aside_and_holds_nothing_up(
    start_worker: Callable[..., subprocess.Popen[bytes]],
    environment: dict[str, str],
    encoder: WordHashEncoder,
    tmp_path: Path,
) -> None:
    environment |= {"INFORM_TASK_SECONDS": "2", "INDEX_SWEEP_SECONDS": "1"}
    content = b"TY  - JOUR\nTI  - Squats\nER  - \n"
    endless = jobs.create_job(content, file_name="endless.ris", by=None)
    start_worker("--queues", "imports", "-B", "--hostname", "imports@%h")
    start_worker("--queues", "index", "--hostname", "index@%h")
    wait_for(lambda: ImportJob.objects.get(pk=endless.pk).attempts > 0, tmp_path)

    passage = make_study().passages.get()
    wait_for(PassageVector.objects.filter(passage=passage).exists, tmp_path)
    assert ImportJob.objects.get(pk=endless.pk).status == ImportJob.Status.READING
    after = jobs.create_job(content, file_name="after.ris", by=None)
    wait_for(lambda: ImportJob.objects.get(pk=after.pk).status == ImportJob.Status.PREVIEWED, tmp_path)

    wait_for(lambda: ImportJob.objects.get(pk=endless.pk).status == ImportJob.Status.FAILED, tmp_path)
    stopped = ImportJob.objects.get(pk=endless.pk)
    assert stopped.error.startswith("It was tried 3 times. Each time it took longer than one step may take.")
    assert QueueBeat.objects.get(queue="index").unindexed == 0
    assert jobs.find_work() is None

    jobs.try_again(stopped)
    assert (stopped.status, stopped.attempts, stopped.error) == (ImportJob.Status.WAITING, 0, "")


def in_threads(work, count: int = 1) -> None:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_the_schedule_names_a_task_that_exists() -> None:
    current_app.loader.import_default_modules()

    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= set(current_app.tasks)


@pytest.mark.django_db(transaction=True)
def test_delivered_eight_times_at_once_every_text_is_encoded_once(encoder: WordHashEncoder) -> None:
    make_study(texts=tuple(f"Text number {number}." for number in range(40)))

    in_threads(tasks.index_stale_passages, count=8)

    encoded = [text for call in encoder.calls for text in call]
    assert len(encoded) == len(set(encoded)) == 2 * 40 + 1  # the passage with its heading, its sentence, and the title
    encoder.calls.clear()
    tasks.index_stale_passages()
    assert encoder.calls == []
    assert indexing.audit() == []


@pytest.mark.django_db(transaction=True)
def test_two_workers_share_the_work_and_one_that_is_killed_is_made_good(
    start_worker: Callable[..., subprocess.Popen[bytes]], encoder: WordHashEncoder, tmp_path: Path
) -> None:
    workers = IndexBatch.objects.exclude(done_at=None).order_by().values("worker").distinct()
    first, _ = [start_worker("--queues", "index", "--hostname", f"index-{name}@%h") for name in "ab"]

    def are_both_at_it() -> bool:
        make_study(texts=tuple(f"Squats and set {place}. They helped." for place in range(indexing.BATCH)))
        tasks.index_stale_passages.delay()
        return workers.count() == 2

    wait_for(are_both_at_it, tmp_path)
    kill(first)
    tasks.index_stale_passages.delay()

    wait_for(lambda: not indexing.has_work(), tmp_path)
    assert indexing.progress().missing == 0
    assert indexing.audit() == []
    assert not indexing.is_under_way()


@pytest.mark.django_db(transaction=True)
def test_what_was_just_written_comes_before_the_backlog(
    encoder: WordHashEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        make_study(texts=tuple(f"Old {number} {place}." for place in range(indexing.BATCH)))
    late = make_study(texts=("Just written.",))
    CorpusEvent.objects.all().delete()
    CorpusEvent.objects.create(at=timezone.now(), actor_name="c", action="publish", study_key=late.study_id)
    monkeypatch.setattr(tasks, "MAX_RUN_SECONDS", 0)
    monkeypatch.setattr(tasks.index_stale_passages, "delay", lambda: None)

    tasks.index_stale_passages()

    assert PassageVector.objects.get().passage.study == late
    assert indexing.pace() > 0


def test_out_of_time_it_calls_itself_again(encoder: WordHashEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    make_study(texts=tuple(f"Text number {number}." for number in range(indexing.BATCH + 1)))
    calls: list[bool] = []
    monkeypatch.setattr(tasks, "MAX_RUN_SECONDS", 0)
    monkeypatch.setattr(tasks.index_stale_passages, "delay", lambda: calls.append(indexing.has_work()))

    tasks.index_stale_passages()

    assert calls == [True]
    assert indexing.progress().done == indexing.BATCH


def test_drafts_wait_for_an_import_and_what_readers_search_does_not(encoder: WordHashEncoder) -> None:
    published = make_study().passages.get()
    draft = make_study(title="Another", status=Status.DRAFT).passages.get()
    job = jobs.create_job(b"TY  - JOUR\nTI  - Squats\nER  -\n", file_name="one.ris", by=None)

    tasks.index_stale_passages()
    assert list(PassageVector.objects.values_list("passage", flat=True)) == [published.pk]

    jobs.cancel_job(job)
    tasks.index_stale_passages()
    assert PassageVector.objects.filter(passage=draft).exists()


def test_without_an_encoder_the_work_waits(settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.ENCODER = "/nowhere/at-all"
    make_study()

    tasks.index_stale_passages()

    assert "could not be loaded" in caplog.text
    assert indexing.has_work()
