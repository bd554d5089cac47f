"""Celery tasks of the corpus. They take no arguments: the database rows show the work to do."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from corpus_app import embedding, hooks, indexing, search
from corpus_app.curation import bulk, gate, jobs
from corpus_app.embedding import EncoderUnavailable

logger = logging.getLogger(__name__)

MAX_RUN_SECONDS = 10  # a stopping worker waits for the run to end; the rest is queued again
MAX_IMPORT_SECONDS = 4  # of one import: then another one may have its turn
MAX_CHECKED = 2_000  # passages: some seconds


@shared_task(name="corpus_app.tasks.index_stale_passages")
def index_stale_passages() -> None:
    """Index stale passages, beside any other worker that does.

    Drafts wait until no import does: nobody searches them, and the end of the import wakes this task again.
    """
    try:
        indexed = indexing.index_stale(seconds=MAX_RUN_SECONDS, only_published=jobs.find_work() is not None)
    except EncoderUnavailable as error:
        logger.error("%s", error)
        return
    if indexed.is_cut_short:
        index_stale_passages.delay()
    elif indexed.count or indexed.texts:
        for start in hooks.after_indexing:
            start()
    else:
        indexing.drop_superseded(once=True)


@shared_task(name="corpus_app.tasks.maintain_ann")
def maintain_ann() -> None:
    """Build the approximate indexes that a large corpus lacks. Safe to run concurrently: a second run returns at once.

    The encoder that new vectors come from gets them once it has embedded everything.
    """
    used, active = search.encoder_name(), embedding.active_name()
    indexing.maintain_ann([used, *([] if used == active or indexing.has_work(only_published=True) else [active])])


@shared_task(name=jobs.TASK)
def carry_on_imports() -> None:
    """Continue waiting imports. Safe to run concurrently: each run takes an import that no other one is at."""
    while True:
        with jobs.next_job() as job:
            if job is None:
                return
            has_ended = jobs.run_job(job, seconds=MAX_IMPORT_SECONDS)
        if not has_ended:
            carry_on_imports.delay()
            return


@shared_task(name=bulk.TASK)
def carry_on_bulk_edits() -> None:
    """Continue waiting bulk edits, as `carry_on_imports` continues imports."""
    while bulk.find_work():
        with bulk.bulk_lock() as is_acquired:
            if not is_acquired:
                return
            edit = bulk.find_work()
            is_cut_short = edit is not None and not bulk.run_job(edit, seconds=MAX_RUN_SECONDS)
        if is_cut_short:
            carry_on_bulk_edits.delay()
            return


@shared_task(name="corpus_app.tasks.prune_imports")
def prune_imports() -> None:
    """Delete the file contents of imports that ended long ago, as configured."""
    jobs.prune(before=timezone.now() - timedelta(days=settings.IMPORT_FILES_DAYS))


@shared_task(name="corpus_app.tasks.check_texts")
def check_texts() -> None:
    """Check passages whose current text the text-quality gate has not checked."""
    gate.refresh(limit=MAX_CHECKED)
