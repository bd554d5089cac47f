from __future__ import annotations

import threading

import pytest
from celery import current_app
from django.conf import settings
from django.db import connection

from corpus_app import indexing, tasks
from corpus_app.curation import jobs
from corpus_app.models import Passage, PassageVector
from corpus_app.records import Status
from tests.builders import make_passage, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db


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
def test_a_call_while_another_ends_is_not_lost(encoder: WordHashEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    make_study()
    index_stale = indexing.index_stale
    turned_away: list[Passage] = []

    def publish_and_call() -> None:
        turned_away.append(make_passage())
        tasks.index_stale_passages()

    def index_then_be_called(**options: object) -> indexing.Indexed:
        done = index_stale(**options)
        if not turned_away:
            in_threads(publish_and_call)
        return done

    monkeypatch.setattr(indexing, "index_stale", index_then_be_called)
    tasks.index_stale_passages()

    assert PassageVector.objects.filter(passage=turned_away[0]).exists()
    assert indexing.audit() == []


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
