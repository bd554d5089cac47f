"""The unit of work of all writes: one transaction with its audit events and its corpus version."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from enum import IntEnum
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone

from common.waking import wake
from corpus_app import hooks, indexing, search
from corpus_app.curation import broken, doubts
from corpus_app.models import (
    BulkEdit,
    CorpusEvent,
    CorpusVersion,
    Finding,
    ImportJob,
    Job,
    Passage,
    QualityWaiver,
    Study,
)
from corpus_app.quality import TextFault
from corpus_app.records import Status

INDEX_TASK = "corpus_app.tasks.index_stale_passages"
UNLOCKED_CHECKS = 2  # attempts to run the publish checks without the lock before they run under it
VERSION_LOCK = 7_301_002  # key of an advisory lock: version numbers rise in commit order


class CurationError(Exception):
    """A refused write; the message says why and what to do."""


class NotReady(CurationError):
    """A job that is in another status than the caller expects."""


class UnknownStudy(CurationError):
    def __init__(self, study_id: str) -> None:
        super().__init__(f"There is no study {study_id}.")
        self.study_id = study_id


class NotPublishable(CurationError):
    def __init__(self, study_id: str, reason: str) -> None:
        super().__init__(f"{study_id} cannot be published: {reason}")
        self.study_id = study_id
        self.reason = reason


class LastPassage(CurationError):
    """A change that would leave a published study without a passage."""

    def __init__(self) -> None:
        super().__init__("A published study keeps at least one passage: withdraw it first, or add another passage.")


class BrokenText(CurationError):
    """An edit that would publish text which the text-quality gate blocks."""

    def __init__(self, study_id: str, faults: tuple[broken.NewFault, ...]) -> None:
        super().__init__(
            f"{study_id} is published, and its new text looks broken: {broken.describe_faults(faults)}. "
            "Nothing was saved. Correct it, or say why it can stay as it is."
        )
        self.study_id = study_id
        self.faults = faults


class NotConfirmed(CurationError):
    """A change that would take the mark `unconfirmed` from a finding without naming its source."""

    def __init__(self) -> None:
        super().__init__(
            "This finding is unconfirmed: confirm it with the passage and the words in which its figures stand."
        )


class NotAllowed(CurationError):
    """A change of what readers see, by somebody who may not make it where a second person reviews."""

    def __init__(self, name: str, advice: str) -> None:
        super().__init__(f"{name}, and here only reviewers change what readers see: {advice}")


def not_allowed(study_id: str) -> NotAllowed:
    advice = "ask one of them, or withdraw it, change it, and hand it over for review."
    return NotAllowed(f"{study_id} is published", advice)


class NotDeletable(CurationError):
    def __init__(self, study_id: str, reason: str) -> None:
        super().__init__(f"{study_id} cannot be deleted: {reason}")
        self.study_id = study_id
        self.reason = reason


class EditConflict(CurationError):
    """A write based on an outdated version of a row."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Someone else has saved {name} in the meantime. Open it again to see their changes, then make yours."
        )
        self.name = name


class ReasonMissing(CurationError):
    def __init__(self) -> None:
        super().__init__("Give the reason: it is kept with the study and in its history.")


def needs_reviewer(by: User | None) -> bool:
    """Return whether published content may only be changed by somebody else, a reviewer."""
    return settings.REVIEW_REQUIRED and by is not None and not by.has_perm("corpus_app.review_study")


def error_text(error: Exception) -> str:
    """Return an expected error in one line for a report."""
    if isinstance(error, ValidationError):
        return " ".join(error.messages)
    return str(error).splitlines()[0]


class _VersionConflict(Exception):
    """Another transaction created a version while the publish checks ran."""


class Scope(IntEnum):
    """The part of the index that a change of a study derives anew."""

    NOTHING = 0
    STATE = 1
    """The part that depends on its status, notice and collection."""
    TEXTS = 2
    """All of it."""


class Act:
    """The events and changed studies of one transaction; `act()` closes it."""

    def __init__(self, *, by: User | None, by_name: str, at: datetime, job: Job | None = None) -> None:
        self.by = by
        self.by_name = by.get_username() if by else by_name
        self.at = at
        self.is_noticeable = False
        self.has_work = False
        self._job = job
        self.doubted: list[Finding] = []
        """Findings that the act marked as unconfirmed when it closed, since no passage has their effect."""
        self._events: list[CorpusEvent] = []
        self._touched: dict[int, Study] = {}
        self._scopes: dict[int, Scope] = {}
        self._locked: dict[str, Study] = {}
        self._published_before: set[int] = set()
        self._texts_before: dict[int, broken.Texts] = {}
        self._waiver_reason = ""

    @property
    def may_change_published(self) -> bool:
        """Return whether the actor may change what readers see without a review; commands may."""
        return not needs_reviewer(self.by)

    def lock(self, study_ids: Collection[str]) -> None:
        """Lock many studies with one query, each for its next use in this act."""
        rows = Study.objects.select_for_update(of=("self",), no_key=True).filter(study_id__in=study_ids)
        rows = rows.select_related("collection", "assignee").order_by("study_id")
        self._locked = {study.study_id: study for study in rows}

    def study(self, study_id: str) -> Study:
        """Return a study, its row locked until the act ends. Raises UnknownStudy."""
        study = self._locked.pop(study_id, None)
        if study is None:
            rows = Study.objects.select_for_update(of=("self",), no_key=True)
            study = rows.filter(study_id=study_id).first()
        if study is None:
            raise UnknownStudy(study_id)
        if study.status == Status.PUBLISHED:
            self._published_before.add(study.pk)
        return study

    def passage(self, passage_id: int) -> Passage:
        """Return a passage, its study's row locked until the act ends. Raises CurationError."""
        study_id = Study.objects.filter(passages=passage_id).values_list("study_id", flat=True).first()
        if study_id is None:
            raise CurationError(f"There is no passage {passage_id} any more.")
        study = self.study(study_id)
        passage = Passage.objects.get(pk=passage_id)
        passage.study = study
        return passage

    def touch(
        self,
        study: Study,
        *,
        is_new: bool = False,
        noticeable: bool = True,
        is_content: bool = True,
        scope: Scope = Scope.TEXTS,
        unsaved: Iterable[str] = (),
    ) -> None:
        """Mark a study as changed: raise its version now and update its index when the act closes.

        The fields `unsaved` are saved with the version.

        Raises NotAllowed when the setting requires review and somebody who is no reviewer changes published content.
        """
        is_public = study.pk in self._published_before and noticeable and is_content
        if is_public and not self.may_change_published:
            raise not_allowed(study.study_id)
        if not is_new:
            study.version += 1
            study.save(update_fields=["version", "updated_at", *unsaved])
        self._touched[study.pk] = study
        self._scopes[study.pk] = max(scope, self._scopes.get(study.pk, scope))
        if noticeable and (study.pk in self._published_before or study.status == Status.PUBLISHED):
            self.is_noticeable = True

    def remember_texts(self, study: Study) -> None:
        """Remember a published study's texts before they change, so that `close` can check the new ones."""
        if study.pk in self._published_before and study.pk not in self._texts_before:
            self._texts_before[study.pk] = frozenset(study.passages.values_list("text", flat=True))

    def accept_broken_text(self, reason: str) -> None:
        """Waive whatever the text-quality gate would block in this act, with this reason."""
        self._waiver_reason = reason.strip()

    def request_indexing(self) -> None:
        """Wake the indexing worker when the act closes, even if no study changed."""
        self.has_work = True

    def forget(self, study: Study) -> None:
        """Drop a study that is about to be deleted from the changed studies."""
        self._touched.pop(study.pk, None)

    def record(
        self, action: str, *, study: str = "", passage: int | None = None, reason: str = "", **detail: Any
    ) -> None:
        self._events.append(
            CorpusEvent(
                at=self.at,
                actor=self.by,
                actor_name=self.by_name,
                action=action,
                study_key=study,
                passage_key=passage,
                detail=detail,
                reason=reason,
                import_job=self._job if isinstance(self._job, ImportJob) else None,
                bulk_edit=self._job if isinstance(self._job, BulkEdit) else None,
            )
        )

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Take back the rows and events of the block when it raises; the act goes on."""
        before = self.is_noticeable, len(self._events), dict(self._touched), dict(self._scopes)
        try:
            with transaction.atomic():
                yield
        except BaseException:
            self.is_noticeable, n_events, self._touched, self._scopes = before
            del self._events[n_events:]
            raise

    def close(self) -> None:
        published = [study.pk for study in self._touched.values() if study.status == Status.PUBLISHED]
        kept = set(Passage.objects.filter(study__in=published).values_list("study_id", flat=True).distinct().order_by())
        if set(published) - kept:
            raise LastPassage
        for study in self._touched.values():
            self._check_new_texts(study)
        rewritten = {pk: study for pk, study in self._touched.items() if self._scopes[pk] is Scope.TEXTS}
        for finding in doubts.mark_unsourced_effects(rewritten):
            self.doubted.append(finding)
            changes = {"is_unconfirmed": {"before": False, "after": True}}
            self.record("mark_unconfirmed", study=finding.study.study_id, entry=str(finding), changes=changes)
        indexing.sync_studies(rewritten)
        indexing.sync_states([pk for pk in self._touched if self._scopes[pk] is Scope.STATE])
        version = self._create_version() if self.is_noticeable else None
        for event in self._events:
            event.corpus_version = version
        CorpusEvent.objects.bulk_create(self._events)

    def _check_new_texts(self, study: Study) -> None:
        before = self._texts_before.get(study.pk)
        if before is None or study.status != Status.PUBLISHED:
            return
        faults = broken.find_new(study, before)
        if faults and not self._waiver_reason:
            raise BrokenText(study.study_id, faults)
        for new in faults:
            self.waive(study, new.passage_id, new.fault, new.key, reason=self._waiver_reason)

    def waive(self, study: Study, passage_id: int, fault: TextFault, key: str, *, reason: str) -> QualityWaiver:
        waiver, is_new = broken.get_or_create_waiver(
            passage_id, fault, key, reason=reason, by=self.by, by_name=self.by_name, at=self.at
        )
        if is_new:
            detail = {"kind": fault.kind.value, "words": fault.words}
            self.record("waive_finding", study=study.study_id, passage=passage_id, reason=reason, **detail)
        return waiver

    def _create_version(self) -> CorpusVersion:
        """Run the publish checks and create the next corpus version.

        The checks can take minutes, so they run before the version lock is taken. If another version appears
        meanwhile, they run again; the last time under the lock, so that the loop ends.
        """
        for _ in range(UNLOCKED_CHECKS if hooks.publish_checks else 0):
            seen = _last_version()
            self._check_published()
            with suppress(_VersionConflict), transaction.atomic():  # a savepoint: undone, it gives the lock back
                version = self._insert_version()
                if version.number != seen + 1:
                    raise _VersionConflict
                return version
        version = self._insert_version()
        self._check_published()
        return version

    def _check_published(self) -> None:
        """Raise NotPublishable when a publish check objects. The checks see the uncommitted corpus."""
        new = [
            study.study_id
            for study in self._touched.values()
            if study.status == Status.PUBLISHED and study.pk not in self._published_before
        ]
        with search.without_version():
            for check in hooks.publish_checks if new else ():
                for reason in check(new):
                    raise NotPublishable(", ".join(new), reason)

    def _insert_version(self) -> CorpusVersion:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [VERSION_LOCK])
        return CorpusVersion.objects.create(number=_last_version() + 1, at=self.at, summary=self._summary())

    def _summary(self) -> str:
        actions = list(dict.fromkeys(event.action for event in self._events))
        studies = list(dict.fromkeys(event.study_key for event in self._events if event.study_key))
        shown = ", ".join(studies[:5]) + (f" and {len(studies) - 5} more" if len(studies) > 5 else "")
        return f"{', '.join(actions)} {shown}".strip().replace("_", " ")[:300]


def _last_version() -> int:
    return CorpusVersion.objects.values_list("number", flat=True).first() or 0


_current: ContextVar[Act | None] = ContextVar("curation_act", default=None)


@contextmanager
def act(*, by: User | None, by_name: str = "", wake: bool = True, job: Job | None = None) -> Iterator[Act]:
    """Open a transaction and an act, or join the open act of the same person.

    The events of an act that belongs to a job name the job.
    """
    if (outer := _current.get()) is not None:
        if outer.by != by:
            raise CurationError("An act has one actor.")
        yield outer
        return
    if by is None and not by_name:
        raise CurationError("Say who does this: by, or by_name for a command.")
    with transaction.atomic():
        opened = Act(by=by, by_name=by_name, at=timezone.now(), job=job)
        mark = _current.set(opened)
        try:
            yield opened
        finally:
            _current.reset(mark)
        opened.close()
        if wake and (opened._touched or opened.has_work):
            transaction.on_commit(wake_indexing)


def wake_indexing() -> None:
    """Ask a worker to index stale passages; a periodic task catches lost requests."""
    wake(INDEX_TASK)
