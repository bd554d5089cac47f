"""One item of an import brought in: a study, passages of one, or a notice; and the publishing of what came."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, transaction

from corpus_app import sources
from corpus_app.curation import importing, studies
from corpus_app.curation.acts import CurationError, act
from corpus_app.curation.effects import combined, find_study, has_notice
from corpus_app.curation.exporting import draft_of
from corpus_app.models import ImportItem, ImportJob, Study
from corpus_app.records import Design, Notice, Status
from corpus_app.sources import AddedPassages, NoticeDraft, PassageDraft, StudyDraft, keeping

NOT_PUBLISHED = "Not published:"  # how the reason of an item begins that came in and waits


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


def options_of(job: ImportJob) -> Options:
    return Options(**job.options)


class Importer:
    """Brings in the items of a job, as far as whoever confirmed it may."""

    def __init__(self, job: ImportJob) -> None:
        self._job = job
        self._options = options_of(job)
        self._by, self._by_name = job.asked_by, job.asked_by_name

    def do(self, key: int) -> None:
        """One item and its outcome, in one transaction; nothing where it was done already."""
        with transaction.atomic():
            item = ImportItem.objects.select_for_update().get(pk=key)
            if item.outcome:
                return
            try:
                with transaction.atomic(), act(by=self._by, by_name=self._by_name, wake=False):
                    outcome, reason = self._bring_in(item)
                    connection.check_constraints()
            except (CurationError, IntegrityError, DataError, ValidationError) as error:
                outcome, reason = ImportItem.Outcome.REFUSED, _words(error)
            item.outcome, item.outcome_reason = outcome, reason
            item.save(update_fields=["outcome", "outcome_reason", "study_key"])

    def publish(self) -> tuple[list[str], str]:
        """Publishes what came in, where that was asked and is permitted. Its ids, and why others were not."""
        if not self._options.publish:
            return [], ""
        if self._by is not None and not self._by.has_perm("corpus_app.publish_study"):
            return [], "You may not publish."
        came = ImportItem.objects.filter(job=self._job, outcome__in=["created", "updated"]).exclude(kind="notice")
        found = Study.objects.filter(study_id__in=came.values("study_key"), status__in=[Status.DRAFT, Status.IN_REVIEW])
        ready: list[str] = []
        for study in found:
            if obstacle := (
                studies.find_obstacle(study)
                or studies.find_quality_obstacle(study)
                or studies.find_review_obstacle(study, self._by)
            ):
                came.filter(study_key=study.study_id).update(outcome_reason=f"{NOT_PUBLISHED} {obstacle}")
            else:
                ready.append(study.study_id)
        try:
            return list(studies.publish(ready, by=self._by, by_name=self._by_name)), ""
        except CurationError as error:
            return [], str(error)

    def _bring_in(self, item: ImportItem) -> tuple[str, str]:
        if item.kind == ImportItem.Kind.NOTICE:
            return self._set_notice(keeping.notice_draft(item.draft))
        if item.kind == ImportItem.Kind.PASSAGES:
            return self._add_passages(item, keeping.added_passages(item.draft))
        return self._bring_in_study(keeping.study_draft(item.draft))

    def _bring_in_study(self, draft: StudyDraft) -> tuple[str, str]:
        if clash := importing.find_clash(draft):
            return ImportItem.Outcome.REFUSED, clash.reason
        as_read = draft
        stored = Study.objects.filter(study_id=draft.study_id).first()
        if stored is None:
            studies.check_new_study_id(draft.study_id)
            draft = replace(draft, collection=draft.collection or self._options.collection)
            if self._options.design and draft.design is Design.OTHER:
                draft = replace(draft, design=Design(self._options.design))
        wanted = combined(draft_of(stored), draft) if stored else draft
        marked = self._mark(stored, draft.notice, draft.notice_reason) if stored else ""
        if stored and not sources.differences(draft_of(stored), wanted):
            return (ImportItem.Outcome.UPDATED, marked) if marked else (ImportItem.Outcome.UNCHANGED, "")
        if stored and (obstacle := self._may_change(stored)):
            return ImportItem.Outcome.REFUSED, obstacle
        if not importing.bring_in(wanted, by=self._by, by_name=self._by_name, digest_of=as_read):
            return ImportItem.Outcome.UNCHANGED, ""
        reason = self._hand_over(draft.study_id) if self._options.submit else ""
        outcome = ImportItem.Outcome.UPDATED if stored else ImportItem.Outcome.CREATED
        return outcome, f"{marked} {reason}".strip()

    def _may_change(self, study: Study) -> str | None:
        """Why an import may not change this study: readers would see the change at once."""
        if study.status != Status.PUBLISHED:
            return None
        if not self._options.publish:
            return "it is published, and the import was not to publish anything. Change it at the desk."
        if self._by is not None and not self._by.has_perm("corpus_app.publish_study"):
            return "it is published, and you may not publish."
        if settings.REVIEW_REQUIRED and self._by is not None:
            return "it is published, and a second person has to read what readers see. Change it at the desk."
        return None

    def _hand_over(self, study_id: str) -> str:
        study = Study.objects.get(study_id=study_id)
        if study.status != Status.DRAFT:
            return ""
        if obstacle := studies.find_obstacle(study):
            return f"Not handed over: {obstacle}"
        studies.submit([study_id], by=self._by, by_name=self._by_name)
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
            studies.add_passage(study.study_id, by=self._by, by_name=self._by_name, **_passage_values(passage))
        reason = self._hand_over(study.study_id) if self._options.submit else ""
        return ImportItem.Outcome.UPDATED, f"{len(new)} passages added. {reason}".strip()

    def _set_notice(self, draft: NoticeDraft) -> tuple[str, str]:
        study = find_study("", draft.doi, draft.pmid)
        if study is None:
            return ImportItem.Outcome.REFUSED, "The study of this notice is not in the corpus."
        if has_notice(study, draft.notice):
            return ImportItem.Outcome.UNCHANGED, "It has this notice already, or a graver one."
        if marked := self._mark(study, draft.notice, draft.reason):
            return ImportItem.Outcome.UPDATED, marked
        return ImportItem.Outcome.REFUSED, "You may not set notices."

    def _mark(self, study: Study, notice: Notice, reason: str) -> str:
        """Sets a notice that is graver than the study's; what was done, in words."""
        if has_notice(study, notice):
            return ""
        if self._by is not None and not self._by.has_perm("corpus_app.set_notice_study"):
            return ""
        studies.set_notice([study.study_id], notice, reason=reason, by=self._by, by_name=self._by_name)
        study.refresh_from_db()
        return f"Marked as {notice.replace('_', ' ')}."


def _passage_values(passage: PassageDraft) -> dict[str, Any]:
    return {
        "text": passage.text,
        "section": passage.section.value,
        "page": passage.page,
        "kind": passage.kind.value,
        "asked_as": passage.asked_as or "",
    }


def _words(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return " ".join(error.messages)
    return str(error).splitlines()[0]
