"""Files on their way in: read in the background, shown, chosen from, carried out study by study.

A job's rows say how far it is. Each item is one transaction together with its outcome, so that a worker killed at any moment is
followed by one that goes on, and nothing comes in twice.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import Error, InterfaceError, OperationalError, connection, transaction
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
from corpus_app.models import Collection, ImportItem, ImportJob
from corpus_app.sources import Intake, Item, Reading, Source, Weight, keeping
from corpus_app.sources.bibliography import Record, items_of

TASK = "corpus_app.tasks.carry_on_imports"
TURN = 7_301_005  # an advisory lock: one process carries imports on at a time
BATCH = 50  # items written at once while a file is read
BEAT_SECONDS = 0.5  # how often a job says how far it is
MAX_PROBLEMS = 2_000  # of a file; the rest is counted

TO_READ = frozenset({ImportJob.Status.WAITING, ImportJob.Status.READING})
TO_DO = frozenset({ImportJob.Status.CONFIRMED, ImportJob.Status.RUNNING})

Progress = Callable[[ImportJob], None]


class NotReady(CurationError):
    """The job is not where the caller thought it is."""


def order(
    content: bytes,
    *,
    file_name: str,
    by: User | None,
    by_name: str = "",
    way: str = ImportJob.Way.FILE,
    options: Mapping[str, Any] | None = None,
) -> ImportJob:
    """A job that a worker will take up; the bytes are kept as they came."""
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
    """Asks a worker to carry on. Never holds a page up; the schedule finds what is not asked for."""
    wake(TASK)


def choose(job: ImportJob, *, among: Iterable[int], chosen: Iterable[int]) -> None:
    """Of the items `among` (by key), exactly those chosen are to be brought in."""
    with transaction.atomic():
        _still(job, ImportJob.Status.PREVIEWED)
        choosable = ImportItem.objects.filter(job=job, effect__in=CHOOSABLE)
        choosable.filter(pk__in=list(among)).update(chosen=False)
        choosable.filter(pk__in=list(chosen)).update(chosen=True)


def choose_all(job: ImportJob, *, is_chosen: bool) -> None:
    """All that are new or changed, or none. What resembles another study is chosen by itself only."""
    with transaction.atomic():
        _still(job, ImportJob.Status.PREVIEWED)
        which = CHOSEN if is_chosen else CHOOSABLE
        ImportItem.objects.filter(job=job, effect__in=which).update(chosen=is_chosen)


def confirm(job: ImportJob, options: Options, *, by: User | None) -> None:
    """Lets a worker carry out what was chosen. Raises NotReady, and CurationError for what is not permitted."""
    if options.publish and by is not None and not by.has_perm("corpus_app.publish_study"):
        raise CurationError("You may not publish: leave the studies as drafts, or hand them over for review.")
    check_collection(options.collection)
    with transaction.atomic():
        stored = _still(job, ImportJob.Status.PREVIEWED)
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
    """Raises CurationError, with the collections that there are, for one that there is not; none asked for is fine."""
    there = list(Collection.objects.values_list("pk", flat=True)) if slug else []
    if slug not in ["", *there]:
        raise CurationError(f"There is no collection {slug!r}. There are: {', '.join(there) or 'none yet'}.")


def leave(job: ImportJob) -> None:
    """Ends an import that waits for a choice, or has failed, without bringing in anything more. Raises NotReady."""
    with transaction.atomic():
        stored = _still(job, ImportJob.Status.PREVIEWED, ImportJob.Status.FAILED)
        without = ImportItem.objects.filter(job=job, outcome="")
        without.update(chosen=False, outcome=ImportItem.Outcome.LEFT)
        stored.status, stored.finished_at = ImportJob.Status.DONE, timezone.now()
        stored.report |= {"outcomes": _outcomes(job)}
        stored.save(update_fields=["status", "finished_at", "report"])
    job.refresh_from_db()


def _outcomes(job: ImportJob) -> dict[str, int]:
    return dict(Counter(ImportItem.objects.filter(job=job).values_list("outcome", flat=True)))


def _still(job: ImportJob, *statuses: str) -> ImportJob:
    stored = ImportJob.objects.select_for_update(of=("self",)).defer("content").filter(pk=job.pk).first()
    if stored is None or stored.status not in statuses:
        raise NotReady("This import has gone on in the meantime: look at its page again.")
    return stored


def prune(*, before: datetime) -> int:
    """Forgets the files of imports that ended, or were asked for and left, before that time; how many.

    What was read from them stays: drafts, problems, the report, the hash of the file. So the gate can still be shown the words of
    passages as they came.
    """
    ended = Q(finished_at__lt=before) | Q(status=ImportJob.Status.PREVIEWED, asked_at__lt=before)
    return ImportJob.objects.filter(ended).exclude(content=b"").update(content=b"")


# --- Carrying on --------------------------------------------------------------------------------------------------------


@contextmanager
def turn() -> Iterator[bool]:
    """Whether it is our turn. The lock ends with the connection, so a killed process holds up nobody."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [TURN])
        ours = bool(cursor.fetchone()[0])
    try:
        yield ours
    finally:
        if ours:
            with suppress(Error), connection.cursor() as cursor:  # a lost connection has given the lock back
                cursor.execute("SELECT pg_advisory_unlock(%s)", [TURN])


def find_work() -> ImportJob | None:
    """The job to carry on with: somebody waits for a preview, so reading comes first."""
    jobs = ImportJob.objects.defer("content", "problems").order_by("pk")
    return jobs.filter(status__in=TO_READ).first() or jobs.filter(status__in=TO_DO).first()


def carry_on(job: ImportJob, *, seconds: float | None = None, on_progress: Progress | None = None) -> bool:
    """Reads or carries out a job, from where it is; whether it came to an end within the time. Call it in your turn.

    A fault that nobody foresaw ends the job with its words, and is raised.
    """
    run = _Run(job, seconds, on_progress)
    try:
        return run.read() if job.status in TO_READ else run.carry_out()
    except (OperationalError, InterfaceError):
        raise  # the database went away: the next worker goes on
    except lookup.LookupFailed as error:
        run.fail(str(error))
        return True
    except Exception as error:
        run.fail(f"{type(error).__name__}: {error}")
        raise


class _Run:
    def __init__(self, job: ImportJob, seconds: float | None, on_progress: Progress | None) -> None:
        self.job = job
        self._seconds = seconds
        self._ends: float | None = None
        self._on_progress = on_progress
        self._told = 0.0

    def fail(self, words: str) -> None:
        self._set(status=ImportJob.Status.FAILED, error=words[:2_000], finished_at=timezone.now())

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self.job, name, value)
        ImportJob.objects.filter(pk=self.job.pk).update(**values)

    def _start_clock(self) -> None:
        """A turn is counted from here, so that each one gets something done however long the file takes to open."""
        self._ends = None if self._seconds is None else time.monotonic() + self._seconds

    def _is_over(self) -> bool:
        return self._ends is not None and time.monotonic() >= self._ends

    def _tell(self, *, done: int, total: int, at_once: bool = False) -> None:
        now = time.monotonic()
        if not at_once and now - self._told < BEAT_SECONDS:
            return
        self._told = now
        self._set(done=done, total=total, beat_at=timezone.now())
        if self._on_progress:
            self._on_progress(self.job)

    # --- Reading

    def read(self) -> bool:
        if self.job.status != ImportJob.Status.READING:
            self._set(status=ImportJob.Status.READING, beat_at=timezone.now())
        reading = self._reading()
        found, lost = effects.with_known_concepts(reading.studies)
        drafts: list[effects.Draft] = [*found, *reading.passages, *reading.notices]
        judge = effects.Judge(reading)
        self._start_clock()
        done = ImportItem.objects.filter(job=self.job).count()
        while done < len(drafts):
            batch = drafts[done : done + BATCH]
            judged = list(judge.items(batch))
            for position, item in enumerate(judged, start=done):
                item.job, item.position = self.job, position
            ImportItem.objects.bulk_create(judged)
            done += len(batch)
            self._tell(done=done, total=len(drafts), at_once=done == len(drafts))
            if done < len(drafts) and self._is_over():
                self._tell(done=done, total=len(drafts), at_once=True)
                return False
        problems = [*reading.problems, *lost]
        kept = [keeping.values_of(problem) for problem in problems[:MAX_PROBLEMS]]
        report = {"problems": len(problems), "broken": sum(p.weight is Weight.BROKEN for p in problems)}
        can_choose = ImportItem.objects.filter(job=self.job, effect__in=CHOOSABLE).exists()
        self._set(
            status=ImportJob.Status.PREVIEWED if can_choose else ImportJob.Status.DONE,  # nothing to wait for
            finished_at=None if can_choose else timezone.now(),
            problems=kept,
            report=report,
            format=reading.reader,
            total=len(drafts),
        )
        return True

    def _reading(self) -> Reading:
        options, content = options_of(self.job), bytes(self.job.content)
        intake = Intake(collection="", status_reason=f"Imported from {self.job.file_name}, not yet reviewed.")
        if self.job.way == ImportJob.Way.LOOKUP:
            return lookup.look_up(content.decode(), intake, lookup.services())
        source = Source(self.job.file_name, content)
        if self.job.way == ImportJob.Way.TEXT and options.title:
            return _pasted(content.decode(), options.title, self.job.file_name, intake)
        found = self._counted(sources.stream(source, intake))
        return sources.reading_of(sources.name_of(source), found, known=importing.known())

    def _counted(self, found: Iterable[Item]) -> Iterator[Item]:
        for number, item in enumerate(found, start=1):
            self._tell(done=0, total=number)
            yield item

    # --- Carrying out

    def carry_out(self) -> bool:
        if self.job.status != ImportJob.Status.RUNNING:
            self._set(status=ImportJob.Status.RUNNING, beat_at=timezone.now())
        importer = items.Importer(self.job)
        self._start_clock()
        waiting = ImportItem.objects.filter(job=self.job, chosen=True, outcome="").order_by("position")
        keys = list(waiting.values_list("pk", flat=True))
        total = self.job.total
        for left, key in zip(range(len(keys) - 1, -1, -1), keys, strict=True):
            importer.do(key)
            self._tell(done=total - left, total=total, at_once=not left)
            if left and self._is_over():
                self._tell(done=total - left, total=total, at_once=True)
                wake_indexing()
                return False
        published, refusal = importer.publish()
        report = self.job.report | {"outcomes": _outcomes(self.job), "published": published, "not_published": refusal}
        self._set(status=ImportJob.Status.DONE, report=report, done=total, finished_at=timezone.now())
        wake_indexing()
        return True


def _pasted(text: str, title: str, name: str, intake: Intake) -> Reading:
    passages, problems = sources.passages_of(text, name=name)
    record = Record(name, 1, title=title, is_reviewed=False)
    record.passages = passages
    return sources.reading_of("Pasted text", [*items_of(record, intake), *problems])
