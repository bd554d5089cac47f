"""Import jobs: a file is read in the background, previewed, confirmed, and imported item by item.

The job's rows hold its progress. Each item and its outcome share one transaction, so that a killed worker
can be replaced at any moment and nothing is imported twice.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, F, FloatField, Func, Q, When
from django.db.models.functions import Cast
from django.utils import timezone

from common.pipelining import execute_binary
from common.postgresql.locks import work_lock
from common.waking import wake
from corpus_app import search, sources
from corpus_app.curation import effects, items, lookup, running, zotero
from corpus_app.curation.acts import CurationError, wake_indexing
from corpus_app.curation.acts import NotReady as NotReady
from corpus_app.curation.effects import CHOOSABLE as CHOOSABLE
from corpus_app.curation.effects import CHOSEN
from corpus_app.curation.entries import create_first_collection
from corpus_app.curation.items import Options as Options
from corpus_app.curation.items import options_of
from corpus_app.curation.listed_lookups import ListedLookup, title_of
from corpus_app.curation.reading import Reading
from corpus_app.curation.running import JobRun, lock_job
from corpus_app.models import Collection, ImportItem, ImportJob
from corpus_app.sources import Intake, Item, Source, serialization
from corpus_app.sources.bibliography import Record, items_of
from corpus_app.sources.identifier_lists import MAX_IDENTIFIERS, identifiers_in, is_identifier_list, list_text

TASK = "corpus_app.tasks.carry_on_imports"
LOCK_KEY = 7_301_005  # of advisory locks: one process runs an import at a time
BATCH = 50  # items written at once while reading a file
IMPORTED_AT_ONCE = 50  # items of one transaction
PASSAGES_AT_ONCE = 500  # of the items of one transaction, the last excepted: about a second
MOST_OPENED = 3  # sources that a process keeps open between their turns
READ_PER_SECOND = 1_500_000  # bytes parsed, and items carried out: what a job may still take, to do short ones first
CARRIED_OUT_PER_SECOND = 30
LOOKED_UP_PER_SECOND = 4

TO_READ = frozenset({ImportJob.Status.WAITING, ImportJob.Status.READING})
TO_DO = frozenset({ImportJob.Status.CONFIRMED, ImportJob.Status.RUNNING})

Progress = Callable[[ImportJob], None]


def create_job(
    content: bytes,
    *,
    file_name: str,
    by: User | None,
    by_name: str = "",
    way: str = ImportJob.Way.FILE,
    options: Mapping[str, Any] | None = None,
) -> ImportJob:
    """Create a job for a worker; the bytes are stored unchanged. A file of identifiers alone is looked up."""
    if way != ImportJob.Way.ZOTERO and not (options or {}).get("title") and is_identifier_list(content):
        way = ImportJob.Way.LOOKUP
    total = 0
    if way == ImportJob.Way.LOOKUP:
        named = identifiers_in(list_text(content))[:MAX_IDENTIFIERS]
        file_name, total = (file_name or title_of(named)), len(named)
    job = ImportJob(
        asked_by=by,
        asked_by_name=by.get_username() if by else by_name,
        asked_at=timezone.now(),
        way=way,
        file_name=file_name[:300],
        content=b"",
        content_hash=hashlib.sha256(content).hexdigest(),
        options=dict(options or {}),
        total=total,
    )
    with transaction.atomic():
        job.save()
        _store_content(job, content)
    return job


def _store_content(job: ImportJob, content: bytes) -> None:
    """Store the bytes as a binary parameter, which takes a fifth of the time of Django's literal for a large file."""
    execute_binary("UPDATE corpus_app_importjob SET content = %s WHERE id = %s", [content, job.pk])
    del job.content  # loaded when it is wanted


def wake_worker() -> None:
    """Ask a worker to run the waiting jobs. Never blocks; a periodic task catches lost requests."""
    wake(TASK)


def choose_items(job: ImportJob, *, among: Iterable[int], chosen: Iterable[int]) -> None:
    """Select exactly the items `chosen` from the items `among`, both by key. Raises NotReady."""
    with transaction.atomic():
        _lock_job(job, ImportJob.Status.PREVIEWED)
        choosable = ImportItem.objects.filter(job=job, effect__in=CHOOSABLE)
        choosable.filter(pk__in=list(among)).update(chosen=False)
        choosable.filter(pk__in=list(chosen)).update(chosen=True)


def choose_all_items(job: ImportJob, *, is_chosen: bool) -> None:
    """Select all new, changed and joining items, or none. Doubtful and alike ones are only selected singly."""
    with transaction.atomic():
        _lock_job(job, ImportJob.Status.PREVIEWED)
        which = ImportItem.objects.filter(job=job, effect__in=CHOSEN if is_chosen else CHOOSABLE)
        (which.filter(doubt="") if is_chosen else which).update(chosen=is_chosen)


def confirm(job: ImportJob, options: Options, *, by: User | None) -> None:
    """Release the selected items to a worker. Raises NotReady, and CurationError when the options are not permitted."""
    if options.publish and by is not None and not by.has_perm("corpus_app.publish_study"):
        raise CurationError("You may not publish: leave the studies as drafts, or hand them over for review.")
    check_collection(options.collection)
    with transaction.atomic():
        stored = _lock_job(job, ImportJob.Status.PREVIEWED)
        chosen = ImportItem.objects.filter(job=job, chosen=True)
        if not chosen.exists():
            raise CurationError("Nothing is chosen: choose at least one study, or leave all out.")
        if (
            not options.collection
            and chosen.filter(kind="study", effect__in=["new", "alike"], draft__collection="").exists()
        ):
            if Collection.objects.exists():
                raise CurationError("Choose the collection: the file names none.")
            options = replace(options, collection=create_first_collection(by=by).pk)
        ImportItem.objects.filter(job=job, chosen=False, outcome="").update(outcome=ImportItem.Outcome.LEFT)
        stored.options = {name: getattr(options, name) for name in Options.__slots__}
        stored.status = ImportJob.Status.CONFIRMED
        stored.done, stored.total = 0, chosen.count()
        stored.asked_by, stored.asked_by_name = by, by.get_username() if by else stored.asked_by_name
        stored.save(update_fields=["options", "status", "done", "total", "asked_by", "asked_by_name"])
    job.refresh_from_db()


def check_collection(slug: str) -> None:
    """Raise CurationError, listing the collections, when the slug names none. An empty slug is accepted."""
    present = list(Collection.objects.values_list("pk", flat=True)) if slug else []
    if slug not in ["", *present]:
        raise CurationError(f"There is no collection {slug!r}. There are: {', '.join(present) or 'none yet'}.")


def cancel_job(job: ImportJob) -> None:
    """End a job that has not ended, whether it is read, previewed or carried out. What came in stays. Raises NotReady.

    A worker that is at it stops at its next item.
    """
    with transaction.atomic():
        stored = _lock_job(job, *TO_READ, *TO_DO, ImportJob.Status.PREVIEWED, ImportJob.Status.FAILED)
        was_at_work = stored.status in TO_READ | TO_DO
        without = ImportItem.objects.filter(job=job, outcome="")
        without.update(chosen=False, outcome=ImportItem.Outcome.LEFT)
        stored.status, stored.finished_at = ImportJob.Status.DONE, timezone.now()
        stored.report |= {"outcomes": _outcomes(job), "cancelled": was_at_work}
        stored.save(update_fields=["status", "finished_at", "report"])
    job.refresh_from_db()


def try_again(job: ImportJob) -> None:
    """Have a worker take up a failed job where it failed. Raises NotReady."""
    begin: dict[str, str] = {str(stage): str(ImportJob.Status.CONFIRMED) for stage in TO_DO}
    running.try_again(ImportJob.objects.defer("content").filter(pk=job.pk), begin, otherwise=ImportJob.Status.WAITING)
    job.refresh_from_db()


def _outcomes(job: ImportJob) -> dict[str, int]:
    return dict(Counter(ImportItem.objects.filter(job=job).values_list("outcome", flat=True)))


def _lock_job(job: ImportJob, *statuses: str) -> ImportJob:
    return lock_job(ImportJob.objects.defer("content").filter(pk=job.pk), *statuses, what="This import")


def prune(*, before: datetime) -> int:
    """Delete the file contents of jobs that ended, or were never confirmed, before that time; return how many.

    Drafts, problems, the report and the file's hash remain.
    """
    ended = Q(finished_at__lt=before) | Q(status=ImportJob.Status.PREVIEWED, asked_at__lt=before)
    return ImportJob.objects.filter(ended).exclude(content=b"").update(content=b"")


# --- Running a job


def import_lock(job: ImportJob) -> AbstractContextManager[bool]:
    """Try to take the lock of a job; the context says whether it was free.

    Look-ups share one, since the services that they ask bound the requests of a site.
    """
    return work_lock(LOCK_KEY, 0 if job.way == ImportJob.Way.LOOKUP else job.pk)


@contextmanager
def next_job() -> Iterator[ImportJob | None]:
    """Yield the first waiting job that no other worker is at, for this one alone; None if there is none."""
    others: list[int] = []
    while job := find_work(excluding=others):
        others.append(job.pk)
        with import_lock(job) as is_acquired:
            if is_acquired and (present := find_work(among=[job.pk])):
                yield present
                return
    yield None


def find_work(*, excluding: Sequence[int] = (), among: Sequence[int] | None = None) -> ImportJob | None:
    """Return the job that should take the shortest, so that no small one waits for a large one; None if none waits.

    Jobs whose last turn came to nothing come after the others.
    """
    jobs = ImportJob.objects.defer("content", "problems")
    reading = Cast(Func("content", function="octet_length"), FloatField()) / READ_PER_SECOND
    carrying_out = Cast(F("total") - F("done"), FloatField()) / CARRIED_OUT_PER_SECOND
    looking_up = Cast(F("total") - F("done"), FloatField()) / LOOKED_UP_PER_SECOND
    listed = Q(status__in=TO_READ, way=ImportJob.Way.LOOKUP)
    seconds = Case(When(listed, then=looking_up), When(status__in=TO_READ, then=reading), default=carrying_out)
    jobs = jobs.filter(status__in=TO_READ | TO_DO).exclude(pk__in=excluding)
    if among is not None:
        jobs = jobs.filter(pk__in=among)
    return jobs.order_by("attempts", seconds, "pk").first()


def run_job(job: ImportJob, *, seconds: float | None = None, on_progress: Progress | None = None) -> bool:
    """Continue reading or importing a job; return whether it ended within the time. Call it under `import_lock`.

    An unexpected exception marks the job as failed and is raised again.
    """
    run = _ImportRun(job, seconds, on_progress)
    return run.run(run.read if job.status in TO_READ else run.carry_out)


class _ImportRun(JobRun[ImportJob]):
    expected = (lookup.LookupFailed,)

    # --- Reading

    def read(self) -> bool:
        if self.job.status != ImportJob.Status.READING:
            self.set(status=ImportJob.Status.READING, beat_at=timezone.now())
        if self.job.way == ImportJob.Way.LOOKUP:
            return self._look_up()
        if self.job.way == ImportJob.Way.ZOTERO and not self._fetch_from_zotero():
            return False
        stored = ImportItem.objects.filter(job=self.job).count()
        with _opened(self.job) as opened:
            self.start_clock()
            for batch in opened.batches():
                self._store(opened, batch, stored=stored)
                total = int(opened.n_read / opened.part_read) if opened.part_read else 0
                self.report_progress(done=opened.n_read, total=max(total, opened.n_read))
                if len(batch) == BATCH and self.is_over():
                    opened.is_wanted = True
                    return False
            self._finish_reading(opened)
        return True

    def _look_up(self) -> bool:
        listed = ListedLookup(self.job, intake_of(self.job))
        self.start_clock()
        while listed.look_up_next():
            self.report_progress(done=listed.done, total=listed.total)
            if self.is_over():
                self.report_progress(done=listed.done, total=listed.total, at_once=True)
                return False
        self.report_progress(done=listed.done, total=listed.total, at_once=True)
        listed.finish()
        return True

    def _fetch_from_zotero(self) -> bool:
        """Fetch the pages that are not stored yet; return whether all are, within the time."""
        self.start_clock()
        while not zotero.is_fetched(self.job) and zotero.fetch_page(self.job):
            self.report_progress(done=0, total=zotero.count_fetched(self.job))
            if self.is_over():
                return False
        return True

    def _store(self, opened: _OpenedSource, batch: Sequence[effects.Draft], *, stored: int) -> None:
        """Store a batch, without the first drafts of the source, which another worker has stored before."""
        first = opened.n_read - len(batch)
        n_stored = max(0, stored - first)
        opened.comparer.remember(batch[:n_stored])
        new = batch[n_stored:]
        if not new:
            return
        compared = list(opened.comparer.items(new))
        for position, item in enumerate(compared, start=max(first, stored)):
            item.job, item.position = self.job, position
        with transaction.atomic():
            _lock_job(self.job, ImportJob.Status.READING)
            ImportItem.objects.bulk_create(compared)

    def _finish_reading(self, opened: _OpenedSource) -> None:
        reading = opened.reading
        can_choose = ImportItem.objects.filter(job=self.job, effect__in=CHOOSABLE).exists()
        self.set(
            status=ImportJob.Status.PREVIEWED if can_choose else ImportJob.Status.DONE,  # nothing to wait for
            finished_at=None if can_choose else timezone.now(),
            problems=[serialization.values_of(problem) for problem in reading.problems],
            report={"problems": reading.n_problems, "broken": reading.n_broken},
            format=opened.format,
            done=opened.n_read,
            total=opened.n_read,
        )

    # --- Importing

    def carry_out(self) -> bool:
        if self.job.status != ImportJob.Status.RUNNING:
            self.set(status=ImportJob.Status.RUNNING, beat_at=timezone.now())
        importer = items.Importer(self.job)
        self.start_clock()
        waiting = ImportItem.objects.filter(job=self.job, chosen=True, outcome="").order_by("position")
        sizes = list(waiting.values_list("pk", "n_passages"))
        done = self.job.total - len(sizes)
        for batch in _batches(sizes):
            importer.import_items(batch)
            done += len(batch)
            is_over = done < self.job.total and self.is_over()
            self.report_progress(done=done, total=self.job.total, at_once=is_over or done == self.job.total)
            if is_over:
                wake_indexing()
                return False
        return self._publish(importer)

    def _publish(self, importer: items.Importer) -> bool:
        published, refusal = list(self.job.report.get("published", [])), ""
        self.start_clock()
        self.start_step()
        try:
            while (batch := importer.publish_batch()) is not None:
                published += batch
                self.job.report = self.job.report | {"published": published}
                self.report_progress(done=len(published), total=self.job.total, at_once=True)
                if self.is_over():
                    return False
        except CurationError as error:
            refusal = str(error)
        report = self.job.report | {"outcomes": _outcomes(self.job), "published": published, "not_published": refusal}
        self.set(status=ImportJob.Status.DONE, report=report, done=self.job.total, finished_at=timezone.now())
        wake_indexing()
        return True


def _batches(sizes: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Yield the keys of items for one transaction each, from pairs of key and number of passages."""
    batch: list[int] = []
    passages = 0
    for key, number in sizes:
        batch.append(key)
        passages += number
        if len(batch) >= IMPORTED_AT_ONCE or passages >= PASSAGES_AT_ONCE:
            yield batch
            batch, passages = [], 0
    if batch:
        yield batch


# --- Sources under way


class _OpenedSource:
    """A job's source under way: a process that reads it in several turns parses it once."""

    def __init__(self, job: ImportJob) -> None:
        self.part_read = 0.0
        """The part of a file that has been parsed, from 0 to 1; 0 when it is not known."""
        self.format, items = self._open(job)
        self.reading = Reading(items)
        self.comparer = effects.DraftComparer(self.reading.identities, self.reading.known, job=job)
        self.n_read = 0
        self.is_wanted = False
        """A further turn is to come."""

    def batches(self) -> Iterator[list[effects.Draft]]:
        """Yield the next drafts, a batch at a time."""
        while batch := list(islice(self.reading, BATCH)):
            self.n_read += len(batch)
            yield batch

    def _open(self, job: ImportJob) -> tuple[str, Iterable[Item]]:
        """Return the name of the format, and the items."""
        options, content = options_of(job), bytes(job.content)
        intake = intake_of(job)
        if job.way == ImportJob.Way.TEXT and options.title:
            return "Pasted text", _items_of_text(content.decode(), options.title, job.file_name, intake)
        source = Source(job.file_name, content, on_read=self._set_part_read)
        return sources.name_of(source), sources.stream(source, intake)

    def _set_part_read(self, part: float) -> None:
        self.part_read = part


opened_sources: dict[int, _OpenedSource] = {}
"""Of this process, by job: few, since a turn of another job ends those that nobody continues."""


@contextmanager
def _opened(job: ImportJob) -> Iterator[_OpenedSource]:
    """Open a job's source, or take the one that an earlier turn of this process has left open."""
    opened = opened_sources.pop(job.pk, None) or _OpenedSource(job)
    opened.is_wanted = False
    yield opened
    if opened.is_wanted:
        opened_sources[job.pk] = opened
        for former in list(opened_sources)[:-MOST_OPENED]:
            del opened_sources[former]


def intake_of(job: ImportJob) -> Intake:
    reason = f"Imported from {job.file_name}, not yet reviewed."
    return Intake(collection="", status_reason=reason, facets=search.site().facets)


def _items_of_text(text: str, title: str, name: str, intake: Intake) -> list[Item]:
    passages, problems = sources.passages_of(text, name=name)
    record = Record(name, 1, title=title, is_reviewed=False)
    record.passages = passages
    return [*items_of(record, intake), *problems]
