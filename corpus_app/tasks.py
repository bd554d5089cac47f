"""Background work of the corpus. Each task is a wake-up call: what there is to do, the rows say."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from corpus_app import indexing
from corpus_app.curation import gate, jobs
from corpus_app.embedding import EncoderUnavailable

logger = logging.getLogger(__name__)

LONGEST_TURN_SECONDS = 10  # a worker that is asked to stop waits for the turn to end; the rest is queued again


MOST_CHECKED = 2_000  # passages: some seconds


@shared_task(name="corpus_app.tasks.index_stale_passages")
def index_stale_passages() -> None:
    """Indexes what waits. Safe to run twice: a second one returns while the first is at work."""
    failed: tuple[int, ...] = ()
    did_work = False
    while indexing.has_work(but=failed):  # asked again after our turn: a call that came during it was turned away
        with indexing.turn() as ours:
            if not ours:
                return
            try:
                indexed = indexing.index_stale(seconds=LONGEST_TURN_SECONDS, but=failed)
            except EncoderUnavailable as error:
                logger.error("%s", error)
                return
        if indexed.is_cut_short:
            index_stale_passages.delay()
            return
        failed += indexed.failed
        did_work = True
    if not did_work:
        indexing.drop_superseded()


@shared_task(name=jobs.TASK)
def carry_on_imports() -> None:
    """Reads and carries out the imports that wait, from where they are. Safe to run twice: a second one returns."""
    while jobs.find_work():  # asked again after our turn: a call that came during it was turned away
        with jobs.import_lock() as ours:
            if not ours:
                return
            job = jobs.find_work()
            is_cut_short = job is not None and not jobs.run_job(job, seconds=LONGEST_TURN_SECONDS)
        if is_cut_short:
            carry_on_imports.delay()
            return


@shared_task(name="corpus_app.tasks.prune_imports")
def prune_imports() -> None:
    """Forgets the files of imports that ended long ago, as settings say."""
    jobs.prune(before=timezone.now() - timedelta(days=settings.IMPORT_FILES_DAYS))


@shared_task(name="corpus_app.tasks.check_texts")
def check_texts() -> None:
    """Looks at the passages whose words the text-quality gate has not seen yet."""
    gate.refresh(limit=MOST_CHECKED)
