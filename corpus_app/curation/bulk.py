"""Bulk edits: many studies are chosen, what would change is previewed, and a worker carries it out in batches.

Each batch is one act with one corpus version. A study that was changed since the preview is refused and told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection as Ids
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import Max, OuterRef, QuerySet, Subquery
from django.utils import timezone

from common.postgresql.locks import work_lock
from common.waking import wake
from corpus_app.curation import changing, merging, rows, running, undoing
from corpus_app.curation.acts import Act, CurationError, NotReady, act, error_text, wake_indexing
from corpus_app.curation.changing import Planned
from corpus_app.curation.history import as_text
from corpus_app.curation.running import JobRun, lock_job
from corpus_app.models import BulkEdit, BulkEditItem, CorpusEvent, ImportJob, Study

TASK = "corpus_app.tasks.carry_on_bulk_edits"
LOCK_KEY = 7_301_006  # of an advisory lock: one process runs bulk edits at a time
BATCH = 100  # studies of one act: a second or two, in which their rows are locked
MERGED_AT_ONCE = 20

TO_DO = frozenset({BulkEdit.Status.CONFIRMED, BulkEdit.Status.RUNNING})
OPEN = frozenset({BulkEdit.Status.CHOSEN, BulkEdit.Status.PREVIEWED})
_ENDED_WITHOUT = frozenset({BulkEdit.Status.CANCELLED, BulkEdit.Status.FAILED})
MERGED = "merged_into"  # of a bulk edit that merges: the id of the study to keep, by that of the other
HEADLINE = "bulk_edit"  # action of the entry that stands for all events of a bulk edit
_NOT_UNDONE = frozenset({HEADLINE, "restore", "waive_finding", "comment", "mark_unconfirmed"})


def choose(study_ids: Iterable[str], *, by: User | None, by_name: str = "", **values: Any) -> BulkEdit:
    """Create a bulk edit of these studies. Raises CurationError when there are none."""
    with transaction.atomic():
        edit = BulkEdit.objects.create(
            asked_by=by, asked_by_name=by.get_username() if by else by_name, asked_at=timezone.now(), **values
        )
        items = BulkEditItem.objects.bulk_create(
            BulkEditItem(bulk_edit=edit, position=position, study_key=study_id)
            for position, study_id in enumerate(dict.fromkeys(study_ids))
        )
        if not items:
            raise CurationError("Nothing is chosen: choose at least one study.")
        edit.total = len(items)
        edit.save(update_fields=["total"])
    return edit


def preview(edit: BulkEdit, changes: Mapping[str, Any], *, reason: str = "", by: User | None) -> None:
    """Store what is to change, and the versions that the preview shows.

    Raises NotReady, CurationError, and ValidationError by field.
    """
    changing.check(changes, reason=reason, by=by)
    with transaction.atomic():
        stored = _lock(edit, *OPEN)
        if not is_open(stored):
            raise NotReady("An undo or a merge is confirmed or cancelled as it is.")
        _freeze_versions(stored)
        stored.changes, stored.reason, stored.status = dict(changes), reason.strip(), BulkEdit.Status.PREVIEWED
        stored.save(update_fields=["changes", "reason", "status"])
    edit.refresh_from_db()


def preview_new(study_ids: Iterable[str], changes: Mapping[str, Any], *, reason: str = "", by: User | None) -> BulkEdit:
    """Create a bulk edit and preview it at once. Raises as `choose` and `preview` do."""
    with transaction.atomic():
        edit = choose(study_ids, by=by)
        preview(edit, changes, reason=reason, by=by)
    return edit


def preview_merges(*, reason: str = "", by: User | None, by_name: str = "") -> BulkEdit:
    """Create and preview a bulk edit that merges all pairs that are surely one study. Raises CurationError."""
    merging.check_may_merge(by)
    rows.check_texts({"reason": reason})
    with transaction.atomic():
        merges = merging.find_sure_merges()
        values = {"status": BulkEdit.Status.PREVIEWED, "changes": {MERGED: merges}, "reason": reason.strip()}
        edit = choose(merges, by=by, by_name=by_name, **values)
        _freeze_versions(edit)
    return edit


def is_merge(edit: BulkEdit) -> bool:
    return MERGED in edit.changes


def is_open(edit: BulkEdit) -> bool:
    """Return whether somebody may still say what a bulk edit is to change."""
    return edit.status in OPEN and not is_undo(edit) and not is_merge(edit)


def _freeze_versions(edit: BulkEdit) -> None:
    version = Study.objects.filter(study_id=OuterRef("study_key")).values("version")[:1]
    BulkEditItem.objects.filter(bulk_edit=edit).update(version=Subquery(version))


def confirm(edit: BulkEdit, *, by: User | None) -> None:
    """Release a previewed bulk edit to a worker, in the name of whoever confirms it. Raises NotReady."""
    with transaction.atomic():
        stored = _lock(edit, BulkEdit.Status.PREVIEWED)
        if is_merge(stored):
            merging.check_may_merge(by)
        elif not is_undo(stored):
            changing.check(stored.changes, reason=stored.reason, by=by)
        stored.status = BulkEdit.Status.CONFIRMED
        stored.asked_by, stored.asked_by_name = by, by.get_username() if by else stored.asked_by_name
        stored.save(update_fields=["status", "asked_by", "asked_by_name"])
    edit.refresh_from_db()


def cancel(edit: BulkEdit) -> None:
    """End a bulk edit that has not ended; what was carried out stays. Raises NotReady."""
    with transaction.atomic():
        stored = _lock(edit, *OPEN, *TO_DO)
        stored.status, stored.finished_at = BulkEdit.Status.CANCELLED, timezone.now()
        stored.report = _report(stored)
        stored.save(update_fields=["status", "finished_at", "report"])
    edit.refresh_from_db()


def _lock(edit: BulkEdit, *statuses: str) -> BulkEdit:
    return lock_job(BulkEdit.objects.filter(pk=edit.pk), *statuses)


# --- Undoing


def is_undo(edit: BulkEdit) -> bool:
    return bool(edit.undoes_id or edit.undoes_import_id)


def can_undo(job: BulkEdit | ImportJob) -> bool:
    """Return whether a job has changed something and has not been undone."""
    is_over = job.status not in {*TO_DO, ImportJob.Status.CONFIRMED, ImportJob.Status.RUNNING}
    return is_over and not _undo_of(job).exists() and _events_of(job).exists()


def _undo_of(job: BulkEdit | ImportJob) -> QuerySet[BulkEdit]:
    return BulkEdit.objects.filter(**_undoing(job)).exclude(status__in=_ENDED_WITHOUT)


def _undoing(job: BulkEdit | ImportJob) -> dict[str, Any]:
    return {"undoes": job} if isinstance(job, BulkEdit) else {"undoes_import": job}


def _events_of(job: BulkEdit | ImportJob) -> QuerySet[CorpusEvent]:
    events = CorpusEvent.objects.filter(**_of_job(job))
    return events.exclude(study_key="").exclude(action__in=_NOT_UNDONE)


def _of_job(job: BulkEdit | ImportJob) -> dict[str, Any]:
    return {"bulk_edit": job} if isinstance(job, BulkEdit) else {"import_job": job}


def undo(job: BulkEdit | ImportJob, *, by: User | None, by_name: str = "") -> BulkEdit:
    """Prepare the undo of a whole bulk edit or import, to be previewed and confirmed. Raises CurationError."""
    with transaction.atomic():
        type(job)._default_manager.select_for_update(of=("self",)).get(pk=job.pk)
        if waiting := _undo_of(job).filter(status__in=OPEN).first():
            return waiting
        if not can_undo(job):
            raise CurationError("There is nothing to undo here: it goes on, changed nothing, or is undone already.")
        last = _events_of(job).order_by().values("study_key").annotate(last=Max("pk"))
        ids = last.order_by("-last").values_list("study_key", flat=True)  # backwards: a DOI that moved moves back
        what = str(job) if isinstance(job, BulkEdit) else f"import of {job}"
        options = {"status": BulkEdit.Status.PREVIEWED, "changes": {"undone": what}}
        edit = choose(ids, by=by, by_name=by_name, **options, **_undoing(job))
        _freeze_versions(edit)
    return edit


# --- Planning


def plan(edit: BulkEdit, items: Sequence[BulkEditItem] | None = None, *, by: User | None) -> Iterator[Planned]:
    """Yield what each item of a bulk edit would change now, or why it is refused."""
    items = list(edit.items.all()) if items is None else items
    if is_undo(edit):
        yield from _plan_undo(edit, items, by)
        return
    related = ("passages", "findings", "studyconcept_set") if is_merge(edit) else ("studyconcept_set",)
    studies = _studies(
        [item.study_key for item in items], related if {"concepts", MERGED} & edit.changes.keys() else []
    )
    merges = edit.changes.get(MERGED, {})
    kept = _studies(list({merges[item.study_key] for item in items}), related) if merges else {}
    planner = changing.Planner({} if merges else edit.changes, studies.values(), by=by)
    for item in items:
        study = studies.get(item.study_key)
        if study is None:
            yield Planned(item.study_key, None, {}, "is no longer here")
        elif item.version != study.version:
            yield Planned(item.study_key, study, {}, "was changed since the preview")
        elif merges:
            yield merging.plan_merge(study, kept.get(merges[item.study_key]), reason=edit.reason)
        else:
            yield planner.plan(item.study_key, study)


def _plan_undo(edit: BulkEdit, items: Sequence[BulkEditItem], by: User | None) -> Iterator[Planned]:
    events, later = _events_by_study(edit, [item.study_key for item in items])
    changed = {field for own in events.values() for event in own for field in event.detail.get("changes", ())}
    related = {"studyconcept_set": {"concepts"}, "findings": {"findings", "asked_as"}}
    keys = [item.study_key for item in items]
    studies = _studies(keys, [name for name, fields in related.items() if fields & changed])
    for item in items:
        study, own = studies.get(item.study_key), events[item.study_key]
        refusal = undoing.find_refusal(study, own, later[item.study_key], by)
        changes = undoing.describe(study, own) if study and not refusal else {}
        yield Planned(item.study_key, study, changes, refusal, own)


def _studies(study_ids: Ids[str], related: Sequence[str]) -> dict[str, Study]:
    found = Study.objects.filter(study_id__in=study_ids).select_related("assignee")
    return {study.study_id: study for study in found.prefetch_related(*related)}


def _events_by_study(edit: BulkEdit, study_ids: Ids[str]) -> tuple[dict[str, list[CorpusEvent]], dict[str, list[str]]]:
    """Return the events that an undo takes back, newest first, and the actions after them, by study."""
    job: Any = edit.undoes or edit.undoes_import
    own: dict[str, list[CorpusEvent]] = defaultdict(list)
    later: dict[str, list[str]] = defaultdict(list)
    for event in _events_of(job).filter(study_key__in=study_ids).order_by("-pk"):
        own[event.study_key].append(event)
    first = min((events[0].pk for events in own.values()), default=0)
    others = CorpusEvent.objects.filter(study_key__in=study_ids, pk__gt=first).exclude(**_of_job(job))
    for study_id, pk, action in others.order_by().values_list("study_key", "pk", "action"):
        if own[study_id] and pk > own[study_id][0].pk:
            later[study_id].append(action)
    return own, later


@dataclass(frozen=True, slots=True)
class Summary:
    """A plan in short: how many studies change, by field and by change, and how many are refused and why."""

    changed: int
    unchanged: int
    counts: tuple[tuple[str, str, str, int], ...]
    """Field, before, after, and the number of studies; the most frequent first."""
    n_other: int
    """How many kinds of change are not in `counts`."""
    refusals: tuple[tuple[str, int], ...]
    first: tuple[Planned, ...]
    """The first changed and refused studies."""


def summarize(planned: Iterable[Planned], *, shown: int, most_counts: int = 20) -> Summary:
    counts: Counter[tuple[str, str, str]] = Counter()
    refusals: Counter[str] = Counter()
    changed = unchanged = 0
    first: list[Planned] = []
    for one in planned:
        if one.refusal:
            refusals[one.refusal.replace(one.study_id, "it")] += 1
        elif one.changes:
            changed += 1
            counts.update((field, as_text(old), as_text(new)) for field, (old, new) in one.changes.items())
        else:
            unchanged += 1
            continue
        if len(first) < shown:
            first.append(one)
    frequent = counts.most_common(most_counts)
    return Summary(
        changed=changed,
        unchanged=unchanged,
        counts=tuple((*key, number) for key, number in frequent),
        n_other=len(counts) - len(frequent),
        refusals=tuple(refusals.most_common()),
        first=tuple(first),
    )


# --- Carrying out


def bulk_lock() -> AbstractContextManager[bool]:
    """Try to take the lock of bulk edits; the context says whether it was free."""
    return work_lock(LOCK_KEY)


def find_work() -> BulkEdit | None:
    """Return the next bulk edit to carry out; None if all are done."""
    return BulkEdit.objects.filter(status__in=TO_DO).order_by("attempts", "pk").first()


def wake_worker() -> None:
    """Ask a worker to carry out what waits. Never blocks; a periodic task catches lost requests."""
    wake(TASK)


def try_again(edit: BulkEdit) -> None:
    """Have a worker carry on with a failed bulk edit. Raises NotReady."""
    running.try_again(BulkEdit.objects.filter(pk=edit.pk), {}, otherwise=BulkEdit.Status.CONFIRMED)
    edit.refresh_from_db()


def run_job(edit: BulkEdit, *, seconds: float | None = None) -> bool:
    """Carry on with a bulk edit; return whether it ended within the time. Call it under `bulk_lock`."""
    run = _BulkRun(edit, seconds)
    return run.run(run.carry_out)


class _BulkRun(JobRun[BulkEdit]):
    def carry_out(self) -> bool:
        if self.job.status == BulkEdit.Status.CONFIRMED:
            self.set(status=BulkEdit.Status.RUNNING, beat_at=timezone.now())
        self.start_clock()
        size = MERGED_AT_ONCE if is_merge(self.job) else BATCH
        while keys := list(self._left().values_list("pk", flat=True)[:size]):
            self._carry_out_batch(keys)
            left = self._left().count()
            self.report_progress(done=self.job.total - left, total=self.job.total, at_once=True)
            if left and self.is_over():
                wake_indexing()
                return False
        self.set(status=BulkEdit.Status.DONE, finished_at=timezone.now(), report=_report(self.job))
        wake_indexing()
        return True

    def _left(self) -> QuerySet[BulkEditItem]:
        return BulkEditItem.objects.filter(bulk_edit=self.job, outcome="").order_by("position")

    def _carry_out_batch(self, keys: Sequence[int]) -> None:
        """Change the studies of a batch and store the outcomes in one transaction.

        What the act refuses as a whole when it closes, such as a publish check, refuses the batch.
        """
        with transaction.atomic():
            _lock(self.job, *TO_DO)  # a cancellation waits for the batch, or ends the job here
            items = list(BulkEditItem.objects.select_for_update().filter(pk__in=keys, outcome="").order_by("position"))
            try:
                with (
                    transaction.atomic(),
                    act(by=self.job.asked_by, by_name=self.job.asked_by_name, wake=False, job=self.job) as current,
                ):
                    chosen = [item.study_key for item in items]
                    current.lock({*chosen, *(self.job.changes.get(MERGED, {}).get(key, key) for key in chosen)})
                    for item, planned in zip(items, plan(self.job, items, by=self.job.asked_by), strict=True):
                        self._carry_out_item(current, item, planned)
                    self._record_headline(current, items)
                    connection.check_constraints()
            except (CurationError, IntegrityError, DataError, ValidationError) as error:
                for item in items:
                    item.outcome, item.outcome_reason = BulkEditItem.Outcome.REFUSED, error_text(error)
            BulkEditItem.objects.bulk_update(items, ["outcome", "outcome_reason"])

    def _record_headline(self, current: Act, items: Sequence[BulkEditItem]) -> None:
        """Record the one entry under which the history lists the events of all studies."""
        is_new = any(item.outcome == BulkEditItem.Outcome.CHANGED for item in items)
        if is_new and not CorpusEvent.objects.filter(bulk_edit=self.job, action=HEADLINE).exists():
            current.record(HEADLINE, reason=self.job.reason, studies=self.job.total)

    def _carry_out_item(self, current: Act, item: BulkEditItem, planned: Planned) -> None:
        item.outcome, item.outcome_reason = BulkEditItem.Outcome.REFUSED, planned.refusal
        if planned.refusal:
            return
        if not planned.changes:
            item.outcome = BulkEditItem.Outcome.UNCHANGED
            return
        try:
            with current.savepoint():
                item.outcome_reason = self._change(planned)
                item.outcome = BulkEditItem.Outcome.CHANGED
        except (CurationError, IntegrityError, DataError, ValidationError) as error:
            item.outcome_reason = error_text(error)

    def _change(self, planned: Planned) -> str:
        """Change one study within the act of its batch; return a remark, often empty."""
        by, by_name, reason = self.job.asked_by, self.job.asked_by_name, self.job.reason
        if is_merge(self.job):
            keep = planned.changes[MERGED][1]
            merging.merge_pair(keep, planned.study_id, reason=reason, by=by, by_name=by_name)
            return ""
        if not is_undo(self.job):
            changing.apply(planned, by=by, by_name=by_name, reason=reason)
            return ""
        reason = f"Undone: {self.job.changes['undone']}."
        return undoing.undo(planned.study_id, planned.events, by=by, by_name=by_name, reason=reason)


def _report(edit: BulkEdit) -> dict[str, Any]:
    outcomes = BulkEditItem.objects.filter(bulk_edit=edit).exclude(outcome="").values_list("outcome", flat=True)
    return {**edit.report, "outcomes": dict(Counter(outcomes))}
