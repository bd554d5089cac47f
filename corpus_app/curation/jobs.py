"""Files on their way in: read in the background, shown, chosen from, carried out study by study.

A job's rows say how far it is. Each item is one transaction together with its outcome, so that a worker killed at any moment is
followed by one that goes on, and nothing comes in twice.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import DataError, Error, IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models import Count, Q
from django.db.models.functions import Lower
from django.utils import timezone

from corpus_app import gate, lookup, sources
from corpus_app.curation import importing, studies
from corpus_app.curation.acts import CurationError, act, wake_indexing
from corpus_app.curation.exporting import draft_of
from corpus_app.models import Collection, Concept, ImportItem, ImportJob, Study
from corpus_app.records import Design, Notice, Status
from corpus_app.sources import (
    AddedPassages,
    Duplicate,
    Intake,
    Item,
    NoticeDraft,
    PassageDraft,
    Problem,
    Reading,
    Sameness,
    Source,
    StudyDraft,
    Weight,
    keeping,
)
from corpus_app.sources.bibliography import Record, items_of, study_id_of
from corpus_app.sources.duplicates import Known
from corpus_app.waking import wake

TASK = "corpus_app.tasks.carry_on_imports"
TURN = 7_301_005  # an advisory lock: one process carries imports on at a time
BATCH = 50  # items written at once while a file is read
BEAT_SECONDS = 0.5  # how often a job says how far it is
MAX_PROBLEMS = 2_000  # of a file; the rest is counted
NOT_PUBLISHED = "Not published:"  # how the reason of an item begins that came in and waits

TO_READ = frozenset({ImportJob.Status.WAITING, ImportJob.Status.READING})
TO_DO = frozenset({ImportJob.Status.CONFIRMED, ImportJob.Status.RUNNING})
CHOOSABLE = frozenset({ImportItem.Effect.NEW, ImportItem.Effect.CHANGES, ImportItem.Effect.ALIKE})
CHOSEN = frozenset({ImportItem.Effect.NEW, ImportItem.Effect.CHANGES})

Progress = Callable[[ImportJob], None]


class NotReady(CurationError):
    """The job is not where the caller thought it is."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked of an import beyond its file."""

    collection: str = ""
    """For those that name none."""
    design: str = ""
    """For those whose source tells none."""
    submit: bool = False
    """Hand over for review what came in."""
    publish: bool = False
    title: str = ""
    """Of a pasted text."""


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


def options_of(job: ImportJob) -> Options:
    return Options(**job.options)


def choose(job: ImportJob, *, among: Iterable[int], chosen: Iterable[int]) -> None:
    """Of the items `among` (by key), exactly those chosen are to be brought in."""
    with transaction.atomic():
        _still(job, ImportJob.Status.PREVIEWED)
        items = ImportItem.objects.filter(job=job, effect__in=CHOOSABLE)
        items.filter(pk__in=list(among)).update(chosen=False)
        items.filter(pk__in=list(chosen)).update(chosen=True)


def choose_all(job: ImportJob, *, is_chosen: bool) -> None:
    """All that are new or changed, or none. What resembles another study is chosen by itself only."""
    with transaction.atomic():
        _still(job, ImportJob.Status.PREVIEWED)
        effects = CHOSEN if is_chosen else CHOOSABLE
        ImportItem.objects.filter(job=job, effect__in=effects).update(chosen=is_chosen)


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
    """Ends an import that waits for a choice without bringing anything in. Raises NotReady."""
    with transaction.atomic():
        stored = _still(job, ImportJob.Status.PREVIEWED)
        left = ImportItem.objects.filter(job=job).update(chosen=False, outcome=ImportItem.Outcome.LEFT)
        stored.status, stored.finished_at = ImportJob.Status.DONE, timezone.now()
        stored.report |= {"outcomes": {ImportItem.Outcome.LEFT.value: left}}
        stored.save(update_fields=["status", "finished_at", "report"])
    job.refresh_from_db()


def _still(job: ImportJob, status: str) -> ImportJob:
    stored = ImportJob.objects.select_for_update(of=("self",)).defer("content").filter(pk=job.pk).first()
    if stored is None or stored.status != status:
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
        self.by = job.asked_by
        self.by_name = job.asked_by_name
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
        found, lost = _with_known_concepts(reading.studies)
        drafts: list[StudyDraft | AddedPassages | NoticeDraft] = [*found, *reading.passages, *reading.notices]
        judge = _Judge(reading)
        self._start_clock()
        done = ImportItem.objects.filter(job=self.job).count()
        while done < len(drafts):
            batch = drafts[done : done + BATCH]
            items = list(judge.items(batch))
            for position, item in enumerate(items, start=done):
                item.job, item.position = self.job, position
            ImportItem.objects.bulk_create(items)
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
        items = self._counted(sources.stream(source, intake))
        return sources.reading_of(sources.name_of(source), items, known=importing.known())

    def _counted(self, items: Iterable[Item]) -> Iterator[Item]:
        for number, item in enumerate(items, start=1):
            self._tell(done=0, total=number)
            yield item

    # --- Carrying out

    def carry_out(self) -> bool:
        if self.job.status != ImportJob.Status.RUNNING:
            self._set(status=ImportJob.Status.RUNNING, beat_at=timezone.now())
        self._start_clock()
        waiting = ImportItem.objects.filter(job=self.job, chosen=True, outcome="").order_by("position")
        keys = list(waiting.values_list("pk", flat=True))
        total = self.job.total
        for left, key in zip(range(len(keys) - 1, -1, -1), keys, strict=True):
            self._do(key)
            self._tell(done=total - left, total=total, at_once=not left)
            if left and self._is_over():
                self._tell(done=total - left, total=total, at_once=True)
                wake_indexing()
                return False
        published, refusal = self._publish()
        counts = Counter(ImportItem.objects.filter(job=self.job).values_list("outcome", flat=True))
        report = self.job.report | {"outcomes": dict(counts), "published": published, "not_published": refusal}
        self._set(status=ImportJob.Status.DONE, report=report, done=total, finished_at=timezone.now())
        wake_indexing()
        return True

    def _do(self, key: int) -> None:
        """One item and its outcome, in one transaction."""
        with transaction.atomic():
            item = ImportItem.objects.select_for_update().get(pk=key)
            if item.outcome:
                return
            try:
                with transaction.atomic(), act(by=self.by, by_name=self.by_name, wake=False):
                    outcome, reason = self._bring_in(item)
                    connection.check_constraints()
            except (CurationError, IntegrityError, DataError, ValidationError) as error:
                outcome, reason = ImportItem.Outcome.REFUSED, _words(error)
            item.outcome, item.outcome_reason = outcome, reason
            item.save(update_fields=["outcome", "outcome_reason", "study_key"])

    def _bring_in(self, item: ImportItem) -> tuple[str, str]:
        if item.kind == ImportItem.Kind.NOTICE:
            return self._set_notice(keeping.notice_draft(item.draft))
        if item.kind == ImportItem.Kind.PASSAGES:
            return self._add_passages(item, keeping.added_passages(item.draft))
        return self._bring_in_study(keeping.study_draft(item.draft))

    def _bring_in_study(self, draft: StudyDraft) -> tuple[str, str]:
        if clash := importing.find_clash(draft):
            return ImportItem.Outcome.REFUSED, clash.reason
        options, as_read = options_of(self.job), draft
        stored = Study.objects.filter(study_id=draft.study_id).first()
        if stored is None:
            studies.check_new_study_id(draft.study_id)
            draft = replace(draft, collection=draft.collection or options.collection)
            if options.design and draft.design is Design.OTHER:
                draft = replace(draft, design=Design(options.design))
        wanted = combined(draft_of(stored), draft) if stored else draft
        marked = self._mark(stored, draft.notice, draft.notice_reason) if stored else ""
        if stored and not sources.differences(draft_of(stored), wanted):
            return (ImportItem.Outcome.UPDATED, marked) if marked else (ImportItem.Outcome.UNCHANGED, "")
        if stored and (obstacle := self._may_change(stored)):
            return ImportItem.Outcome.REFUSED, obstacle
        if not importing.bring_in(wanted, by=self.by, by_name=self.by_name, digest_of=as_read):
            return ImportItem.Outcome.UNCHANGED, ""
        reason = self._hand_over(draft.study_id) if options.submit else ""
        outcome = ImportItem.Outcome.UPDATED if stored else ImportItem.Outcome.CREATED
        return outcome, f"{marked} {reason}".strip()

    def _may_change(self, study: Study) -> str | None:
        """Why an import may not change this study: readers would see the change at once."""
        if study.status != Status.PUBLISHED:
            return None
        if not options_of(self.job).publish:
            return "it is published, and the import was not to publish anything. Change it at the desk."
        if self.by is not None and not self.by.has_perm("corpus_app.publish_study"):
            return "it is published, and you may not publish."
        if settings.REVIEW_REQUIRED and self.by is not None:
            return "it is published, and a second person has to read what readers see. Change it at the desk."
        return None

    def _hand_over(self, study_id: str) -> str:
        study = Study.objects.get(study_id=study_id)
        if study.status != Status.DRAFT:
            return ""
        if obstacle := studies.find_obstacle(study):
            return f"Not handed over: {obstacle}"
        studies.submit([study_id], by=self.by, by_name=self.by_name)
        return "Handed over for review."

    def _add_passages(self, item: ImportItem, draft: AddedPassages) -> tuple[str, str]:
        study = find_study(draft.study_id, draft.doi, draft.pmid)
        if study is None:
            return ImportItem.Outcome.REFUSED, "The study of these passages is not in the corpus."
        item.study_key = study.study_id
        present = set(study.passages.values_list("text", flat=True))
        new = [passage for passage in draft.passages if passage.text not in present]
        if not new:
            return ImportItem.Outcome.UNCHANGED, "All of them are there already."
        if obstacle := self._may_change(study):
            return ImportItem.Outcome.REFUSED, obstacle
        for passage in new:
            studies.add_passage(study.study_id, by=self.by, by_name=self.by_name, **_passage_values(passage))
        reason = self._hand_over(study.study_id) if options_of(self.job).submit else ""
        return ImportItem.Outcome.UPDATED, f"{len(new)} passages added. {reason}".strip()

    def _set_notice(self, draft: NoticeDraft) -> tuple[str, str]:
        study = find_study("", draft.doi, draft.pmid)
        if study is None:
            return ImportItem.Outcome.REFUSED, "The study of this notice is not in the corpus."
        if _has_notice(study, draft.notice):
            return ImportItem.Outcome.UNCHANGED, "It has this notice already, or a graver one."
        if marked := self._mark(study, draft.notice, draft.reason):
            return ImportItem.Outcome.UPDATED, marked
        return ImportItem.Outcome.REFUSED, "You may not set notices."

    def _mark(self, study: Study, notice: Notice, reason: str) -> str:
        """Sets a notice that is graver than the study's; what was done, in words."""
        if _has_notice(study, notice):
            return ""
        if self.by is not None and not self.by.has_perm("corpus_app.set_notice_study"):
            return ""
        studies.set_notice([study.study_id], notice, reason=reason, by=self.by, by_name=self.by_name)
        study.refresh_from_db()
        return f"Marked as {notice.replace('_', ' ')}."

    def _publish(self) -> tuple[list[str], str]:
        """Publishes what came in, where that was asked and is permitted. Its ids, and why others were not."""
        if not options_of(self.job).publish:
            return [], ""
        if self.by is not None and not self.by.has_perm("corpus_app.publish_study"):
            return [], "You may not publish."
        came = ImportItem.objects.filter(job=self.job, outcome__in=["created", "updated"]).exclude(kind="notice")
        found = Study.objects.filter(study_id__in=came.values("study_key"), status__in=[Status.DRAFT, Status.IN_REVIEW])
        ready: list[str] = []
        for study in found:
            if obstacle := (
                studies.find_obstacle(study)
                or studies.find_quality_obstacle(study)
                or studies.find_review_obstacle(study, self.by)
            ):
                came.filter(study_key=study.study_id).update(outcome_reason=f"{NOT_PUBLISHED} {obstacle}")
            else:
                ready.append(study.study_id)
        try:
            return list(studies.publish(ready, by=self.by, by_name=self.by_name)), ""
        except CurationError as error:
            return [], str(error)


def _pasted(text: str, title: str, name: str, intake: Intake) -> Reading:
    passages, problems = sources.passages_of(text, name=name)
    record = Record(name, 1, title=title, is_reviewed=False)
    record.passages = passages
    return sources.reading_of("Pasted text", [*items_of(record, intake), *problems])


def _passage_values(passage: PassageDraft) -> dict[str, Any]:
    return {
        "text": passage.text,
        "section": passage.section.value,
        "page": passage.page,
        "kind": passage.kind.value,
    }


def _words(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return " ".join(error.messages)
    return str(error).splitlines()[0]


def find_study(study_id: str, doi: str, pmid: str) -> Study | None:
    """By the first of the three that is given."""
    if study_id:
        return Study.objects.filter(study_id=study_id).first()
    if doi and (study := Study.objects.annotate(low=Lower("doi")).filter(low=doi.lower()).first()):
        return study
    return Study.objects.filter(pmid=pmid).first() if pmid else None


def _has_notice(study: Study, notice: Notice) -> bool:
    gravity = [Notice.NONE, Notice.CORRECTED, Notice.EXPRESSION_OF_CONCERN, Notice.RETRACTED]
    return gravity.index(Notice(study.notice)) >= gravity.index(notice)


# --- What an item would do ----------------------------------------------------------------------------------------------

_NOTICE = frozenset({"notice", "notice_reason"})  # set by an act of its own
_DECIDED_HERE = frozenset({"design", "peer_reviewed", "collection", "curator_notes", "licence"})


def combined(present: StudyDraft, draft: StudyDraft) -> StudyDraft:
    """The study as it would be: what the file says, and what is there wherever the file says nothing.

    A bibliographic record knows nothing of what a curator decides, so design, peer review and the like stay.
    """
    keeps = _NOTICE | (_DECIDED_HERE if is_bibliographic(draft) else frozenset())
    take = [
        name
        for name, _, theirs in sources.differences(present, draft)
        if name not in keeps and theirs not in (None, "", (), "not_reported", "other", "none")
    ]
    merged = sources.merged(present, draft, take)
    return replace(
        merged, status=present.status, status_reason=present.status_reason, origin=draft.origin, line=draft.line
    )


def is_bibliographic(draft: StudyDraft) -> bool:
    """Whether it says no more than an exporter of references can."""
    first_author = draft.authors[0] if draft.authors else ""
    named = study_id_of(
        doi=draft.doi,
        pmid=draft.pmid,
        title=draft.title,
        year=draft.year,
        first_author=first_author,
        words=draft.passages[0].text if draft.passages else "",
    )
    says_more = draft.concepts or draft.findings or draft.population or draft.curator_notes or draft.n_participants
    return draft.study_id == named and not says_more


def _with_known_concepts(drafts: Sequence[StudyDraft]) -> tuple[list[StudyDraft], list[Problem]]:
    """The drafts without the concepts that nobody knows here, and what was left out."""
    known = set(Concept.objects.values_list("pk", flat=True))
    found: list[StudyDraft] = []
    problems: list[Problem] = []
    for draft in drafts:
        if unknown := [name for name in draft.concepts if name not in known]:
            reason = f"{', '.join(unknown)}: no such concept here; the study comes without."
            problems.append(replace(draft.problem("concepts", reason), weight=Weight.DROPPED))
            draft = replace(draft, concepts=tuple(name for name in draft.concepts if name in known))
        found.append(draft)
    return found, problems


class _Judge:
    """Compares drafts with the corpus, a batch at a time."""

    def __init__(self, reading: Reading) -> None:
        self._own = {draft.study_id for draft in reading.studies}
        self._own |= {value for draft in reading.studies for value in (draft.doi, draft.pmid) if value}
        self._among = [
            Known(study_id, title, year, authors[0] if authors else "", doi or "", pmid or "")
            for study_id, title, year, authors, doi, pmid in Study.objects.values_list(
                "study_id", "title", "year", "authors", "doi", "pmid"
            )
        ]
        self._by_case = {known.study_id.lower(): known.study_id for known in self._among}

    def items(self, drafts: Sequence[StudyDraft | AddedPassages | NoticeDraft]) -> Iterator[ImportItem]:
        found = [draft for draft in drafts if isinstance(draft, StudyDraft)]
        twins: dict[str, Duplicate] = {}
        for twin in sources.duplicates([sources.known_of(draft) for draft in found], self._among):
            twins.setdefault(twin.new, twin)
        ids = [draft.study_id for draft in found]
        stored = {
            study.study_id: study
            for study in Study.objects.filter(study_id__in=ids).prefetch_related(
                "passages", "findings", "studyconcept_set"
            )
        }
        for draft in drafts:
            match draft:
                case StudyDraft():
                    yield self._study(draft, stored.get(draft.study_id), twins.get(draft.study_id))
                case AddedPassages():
                    yield self._passages(draft)
                case NoticeDraft():
                    yield self._notice(draft)

    def _study(self, draft: StudyDraft, stored: Study | None, twin: Duplicate | None) -> ImportItem:
        other = ""
        by_case = self._by_case.get(draft.study_id.lower(), draft.study_id)
        if stored:
            wanted = combined(draft_of(stored), draft)
            says_same = stored.import_hash == sources.digest(draft) or not sources.differences(draft_of(stored), wanted)
            is_same = says_same and _has_notice(stored, draft.notice)
            effect = ImportItem.Effect.SAME if is_same else ImportItem.Effect.CHANGES
        elif by_case != draft.study_id:
            effect, other = ImportItem.Effect.DUPLICATE, by_case
        elif twin:
            is_alike = twin.by is Sameness.ALIKE
            effect, other = (ImportItem.Effect.ALIKE if is_alike else ImportItem.Effect.DUPLICATE), twin.known
        else:
            effect = ImportItem.Effect.NEW
        return _item(
            ImportItem.Kind.STUDY, draft.study_id, draft.title, draft, effect, other, [p.text for p in draft.passages]
        )

    def _passages(self, draft: AddedPassages) -> ImportItem:
        study = find_study(draft.study_id, draft.doi, draft.pmid)
        texts = [passage.text for passage in draft.passages]
        key, title = (study.study_id, study.title) if study else (draft.study_id, draft.doi or draft.pmid)
        if study:
            has_all = set(texts) <= set(study.passages.values_list("text", flat=True))
            effect = ImportItem.Effect.SAME if has_all else ImportItem.Effect.CHANGES
        else:
            comes_too = bool(self._own & {draft.study_id, draft.doi, draft.pmid} - {""})
            effect = ImportItem.Effect.CHANGES if comes_too else ImportItem.Effect.UNMATCHED
        return _item(ImportItem.Kind.PASSAGES, key, title, draft, effect, "", texts)

    def _notice(self, draft: NoticeDraft) -> ImportItem:
        study = find_study("", draft.doi, draft.pmid)
        if study is None:
            effect = ImportItem.Effect.UNMATCHED
        else:
            is_known = _has_notice(study, draft.notice)
            effect = ImportItem.Effect.SAME if is_known else ImportItem.Effect.CHANGES
        key, title = (study.study_id, study.title) if study else ("", draft.doi or f"PMID {draft.pmid}")
        return _item(ImportItem.Kind.NOTICE, key, title, draft, effect, "", [])


def _item(
    kind: str,
    key: str,
    title: str,
    draft: StudyDraft | AddedPassages | NoticeDraft,
    effect: str,
    other: str,
    texts: Sequence[str],
) -> ImportItem:
    return ImportItem(
        kind=kind,
        study_key=key[:40],
        title=title[:1000],
        line=draft.line,
        draft=keeping.values_of(draft),
        effect=effect,
        other_key=other,
        n_passages=len(texts),
        n_blocking=gate.blocking(texts),
        chosen=effect in CHOSEN,
    )


def effects(job: ImportJob) -> dict[ImportItem.Effect, int]:
    """How many items there are of each effect, in the order of the effects."""
    counts = dict(ImportItem.objects.filter(job=job).order_by().values_list("effect").annotate(n=Count("pk")))
    return {effect: counts[effect.value] for effect in ImportItem.Effect if counts.get(effect.value)}
