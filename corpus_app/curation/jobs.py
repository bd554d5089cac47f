"""Import jobs: a file is read in the background, previewed, confirmed, and imported item by item.

The job's rows hold its progress. Each item and its outcome share one transaction, so that a killed worker
can be replaced at any moment and nothing is imported twice.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from common.waking import wake
from corpus_app import sources
from corpus_app.curation import effects, importing, items, lookup
from corpus_app.curation.acts import CurationError, wake_indexing
from corpus_app.curation.effects import CHOOSABLE as CHOOSABLE
from corpus_app.curation.effects import CHOSEN
from corpus_app.curation.items import Options as Options
from corpus_app.curation.items import options_of
from corpus_app.curation.running import JobRun, job_lock
from corpus_app.curation.running import NotReady as NotReady
from corpus_app.models import Collection, ImportItem, ImportJob
from corpus_app.sources import Intake, Item, ReadResult, Source, Weight, serialization
from corpus_app.sources.bibliography import Record, items_of

TASK = "corpus_app.tasks.carry_on_imports"
LOCK_KEY = 7_301_005  # of an advisory lock: one process runs import jobs at a time
BATCH = 50  # items written at once while reading a file
MAX_PROBLEMS = 2_000  # stored for a file; the others are only counted

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
    """Create a job for a worker; the bytes are stored unchanged."""
    return ImportJob.objects.create(
        asked_by=by,
        asked_by_name=by.get_username() if by else by_name,
        asked_at=timezone.now(),
        way=way,
        file_name=file_name[:300],
        content=content,
        content_hash=hashlib.sha256(content).hexdigest(),
        options=dict(options or {}),
    )


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
    """Select all new and changed items, or none. Items that resemble another study are only selected singly."""
    with transaction.atomic():
        _lock_job(job, ImportJob.Status.PREVIEWED)
        which = CHOSEN if is_chosen else CHOOSABLE
        ImportItem.objects.filter(job=job, effect__in=which).update(chosen=is_chosen)


def confirm(job: ImportJob, options: Options, *, by: User | None) -> None:
    """Release the selected items to a worker. Raises NotReady, and CurationError when the options are not permitted."""
    if options.publish and by is not None and not by.has_perm("corpus_app.publish_study"):
        raise CurationError("You may not publish: leave the studies as drafts, or hand them over for review.")
    check_collection(options.collection)
    with transaction.atomic():
        stored = _lock_job(job, ImportJob.Status.PREVIEWED)
        chosen = ImportItem.objects.filter(job=job, chosen=True)
        if not chosen.exists():
            raise CurationError("Nothing is chosen: choose at least one study, or leave the import.")
        if (
            not options.collection
            and chosen.filter(kind="study", effect__in=["new", "alike"], draft__collection="").exists()
        ):
            raise CurationError("Choose the collection: the file names none.")
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


def close_job(job: ImportJob) -> None:
    """End a previewed or failed job without importing anything more. Raises NotReady."""
    with transaction.atomic():
        stored = _lock_job(job, ImportJob.Status.PREVIEWED, ImportJob.Status.FAILED)
        without = ImportItem.objects.filter(job=job, outcome="")
        without.update(chosen=False, outcome=ImportItem.Outcome.LEFT)
        stored.status, stored.finished_at = ImportJob.Status.DONE, timezone.now()
        stored.report |= {"outcomes": _outcomes(job)}
        stored.save(update_fields=["status", "finished_at", "report"])
    job.refresh_from_db()


def _outcomes(job: ImportJob) -> dict[str, int]:
    return dict(Counter(ImportItem.objects.filter(job=job).values_list("outcome", flat=True)))


def _lock_job(job: ImportJob, *statuses: str) -> ImportJob:
    stored = ImportJob.objects.select_for_update(of=("self",)).defer("content").filter(pk=job.pk).first()
    if stored is None or stored.status not in statuses:
        raise NotReady("This import has gone on in the meantime: look at its page again.")
    return stored


def prune(*, before: datetime) -> int:
    """Delete the file contents of jobs that ended, or were never confirmed, before that time; return how many.

    Drafts, problems, the report and the file's hash remain.
    """
    ended = Q(finished_at__lt=before) | Q(status=ImportJob.Status.PREVIEWED, asked_at__lt=before)
    return ImportJob.objects.filter(ended).exclude(content=b"").update(content=b"")


# --- Running a job


def import_lock() -> AbstractContextManager[bool]:
    """Try to take the import lock; the context says whether it was free."""
    return job_lock(LOCK_KEY)


def find_work() -> ImportJob | None:
    """Return the next job; reading comes first, because somebody waits for the preview. None if all are done."""
    jobs = ImportJob.objects.defer("content", "problems").order_by("pk")
    return jobs.filter(status__in=TO_READ).first() or jobs.filter(status__in=TO_DO).first()


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
        reading = self._read_content()
        found, lost = effects.drop_unknown_concepts(reading.studies)
        drafts: list[effects.Draft] = [*found, *reading.passages, *reading.notices, *reading.rows]
        known = importing.known_ids()
        comparer = effects.DraftComparer(reading, known)
        self.start_clock()
        done = ImportItem.objects.filter(job=self.job).count()
        while done < len(drafts):
            batch = drafts[done : done + BATCH]
            compared = list(comparer.items(batch))
            for position, item in enumerate(compared, start=done):
                item.job, item.position = self.job, position
            ImportItem.objects.bulk_create(compared)
            done += len(batch)
            self.report_progress(done=done, total=len(drafts), at_once=done == len(drafts))
            if done < len(drafts) and self.is_over():
                self.report_progress(done=done, total=len(drafts), at_once=True)
                return False
        problems = [*reading.problems, *lost, *effects.row_problems(reading.rows, known)]
        stored = [serialization.values_of(problem) for problem in problems[:MAX_PROBLEMS]]
        report = {"problems": len(problems), "broken": sum(p.weight is Weight.BROKEN for p in problems)}
        can_choose = ImportItem.objects.filter(job=self.job, effect__in=CHOOSABLE).exists()
        self.set(
            status=ImportJob.Status.PREVIEWED if can_choose else ImportJob.Status.DONE,  # nothing to wait for
            finished_at=None if can_choose else timezone.now(),
            problems=stored,
            report=report,
            format=reading.reader,
            total=len(drafts),
        )
        return True

    def _read_content(self) -> ReadResult:
        options, content = options_of(self.job), bytes(self.job.content)
        intake = Intake(collection="", status_reason=f"Imported from {self.job.file_name}, not yet reviewed.")
        if self.job.way == ImportJob.Way.LOOKUP:
            return lookup.look_up(content.decode(), intake, lookup.services())
        source = Source(self.job.file_name, content)
        if self.job.way == ImportJob.Way.TEXT and options.title:
            return _read_pasted_text(content.decode(), options.title, self.job.file_name, intake)
        found = self._count_items(sources.stream(source, intake))
        return sources.collect_items(sources.name_of(source), found, known=importing.known_ids())

    def _count_items(self, found: Iterable[Item]) -> Iterator[Item]:
        for number, item in enumerate(found, start=1):
            self.report_progress(done=0, total=number)
            yield item

    # --- Importing

    def carry_out(self) -> bool:
        if self.job.status != ImportJob.Status.RUNNING:
            self.set(status=ImportJob.Status.RUNNING, beat_at=timezone.now())
        importer = items.Importer(self.job)
        self.start_clock()
        waiting = ImportItem.objects.filter(job=self.job, chosen=True, outcome="").order_by("position")
        keys = list(waiting.values_list("pk", flat=True))
        total = self.job.total
        for left, key in zip(range(len(keys) - 1, -1, -1), keys, strict=True):
            importer.import_item(key)
            self.report_progress(done=total - left, total=total, at_once=not left)
            if left and self.is_over():
                self.report_progress(done=total - left, total=total, at_once=True)
                wake_indexing()
                return False
        published, refusal = importer.publish()
        report = self.job.report | {"outcomes": _outcomes(self.job), "published": published, "not_published": refusal}
        self.set(status=ImportJob.Status.DONE, report=report, done=total, finished_at=timezone.now())
        wake_indexing()
        return True


def _read_pasted_text(text: str, title: str, name: str, intake: Intake) -> ReadResult:
    passages, problems = sources.passages_of(text, name=name)
    record = Record(name, 1, title=title, is_reviewed=False)
    record.passages = passages
    return sources.collect_items("Pasted text", [*items_of(record, intake), *problems])
