"""Import of single items (a study, passages or a notice), and publication of the imported studies."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, transaction

from corpus_app import sources
from corpus_app.curation import creating, importing, rows, studies
from corpus_app.curation.acts import Act, CurationError, act, error_text
from corpus_app.curation.effects import combine, find_study, has_notice, join
from corpus_app.curation.exporting import draft_of
from corpus_app.facets import facets_to_json
from corpus_app.models import Collection, ImportItem, ImportJob, Study
from corpus_app.records import Design, Notice, Status
from corpus_app.sources import AddedPassages, NoticeDraft, PassageDraft, SheetRow, StudyDraft, serialization, sheets

PUBLISHED_AT_ONCE = 50  # studies of one act
REFUSALS = (CurationError, IntegrityError, DataError, ValidationError)
NOT_PUBLISHED = "Not published:"  # prefix of the outcome reason of an imported but unpublished study


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of an import that its file does not hold."""

    collection: str = ""
    """For studies whose file names none."""
    design: str = ""
    """For studies whose source names none."""
    submit: bool = False
    """Submit imported studies for review."""
    publish: bool = False
    title: str = ""
    """The title of a pasted text."""


def options_of(job: ImportJob) -> Options:
    return Options(**job.options)


class Importer:
    """The import of a job's items, with the permissions of the person who confirmed it."""

    def __init__(self, job: ImportJob) -> None:
        self._job = job
        self._options = options_of(job)
        self._by, self._by_name = job.asked_by, job.asked_by_name

    def import_items(self, keys: Sequence[int]) -> None:
        """Import these items and store their outcomes in one transaction; skip items that have an outcome."""
        try:
            with transaction.atomic(), act(by=self._by, by_name=self._by_name, wake=False, job=self._job) as current:
                found = ImportItem.objects.select_for_update().filter(pk__in=keys, outcome="").order_by("position")
                waiting = list(found)
                self._create_studies(current, [item for item in waiting if _is_new_study(item)])
                for item in waiting:
                    if not item.outcome:
                        self._import_and_note(current, item)
                ImportItem.objects.bulk_update(waiting, ["outcome", "outcome_reason", "study_key"])
        except REFUSALS as error:  # what only the end of the act finds, of whichever item
            for key in keys if len(keys) > 1 else ():
                self.import_items([key])
            if len(keys) == 1:
                ImportItem.objects.filter(pk=keys[0], outcome="").update(
                    outcome=ImportItem.Outcome.REFUSED, outcome_reason=error_text(error)
                )

    def _create_studies(self, current: Act, new: Sequence[ImportItem]) -> None:
        """Create the studies of new items at once; leave those without outcome where anything stands in the way."""
        read = [serialization.study_draft(item.draft) for item in new]
        drafts = [self._completed(draft) for draft in read]
        places = list(creating.without_obstacle(drafts))
        with suppress(*REFUSALS), current.savepoint():
            creating.create_studies(current, [(drafts[place], sources.digest(read[place])) for place in places])
            connection.check_constraints()
            reasons = [self._submit(drafts[place].study_id) if self._options.submit else "" for place in places]
            for place, reason in zip(places, reasons, strict=True):
                new[place].outcome, new[place].outcome_reason = ImportItem.Outcome.CREATED, reason

    def _completed(self, draft: StudyDraft) -> StudyDraft:
        """Return the draft of a new study with the collection and design that the file does not name."""
        draft = replace(draft, collection=draft.collection or self._options.collection)
        is_unnamed = self._options.design and draft.design == Design.OTHER
        return replace(draft, design=self._options.design) if is_unnamed else draft

    def _import_and_note(self, current: Act, item: ImportItem) -> None:
        try:
            with current.savepoint():
                outcome, reason = self._import_item(item)
                connection.check_constraints()
        except REFUSALS as error:
            outcome, reason = ImportItem.Outcome.REFUSED, error_text(error)
        item.outcome, item.outcome_reason = outcome, reason

    def publish_batch(self) -> list[str] | None:
        """Publish the next of the imported studies and return their ids; None when there is none left to look at.

        Raises CurationError.
        """
        if not self._options.publish:
            return None
        if self._by is not None and not self._by.has_perm("corpus_app.publish_study"):
            raise CurationError("You may not publish.")
        came = ImportItem.objects.filter(job=self._job, outcome__in=["created", "updated"]).exclude(kind="notice")
        unseen = came.exclude(outcome_reason__startswith=NOT_PUBLISHED)
        found = Study.objects.filter(
            study_id__in=unseen.values("study_key"), status__in=[Status.DRAFT, Status.IN_REVIEW]
        ).order_by("study_id")[:PUBLISHED_AT_ONCE]
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
        if not found:
            return None
        with act(by=self._by, by_name=self._by_name, job=self._job):
            return list(studies.publish(ready, by=self._by, by_name=self._by_name))

    def _import_item(self, item: ImportItem) -> tuple[str, str]:
        if item.kind == ImportItem.Kind.NOTICE:
            return self._set_notice(serialization.notice_draft(item.draft))
        if item.kind == ImportItem.Kind.PASSAGES:
            return self._add_passages(item, serialization.added_passages(item.draft))
        if item.kind == ImportItem.Kind.ROW:
            return self._mend(serialization.sheet_row(item.draft))
        draft = serialization.study_draft(item.draft)
        if item.effect == ImportItem.Effect.JOINS:
            return self._join_study(draft, item)
        return self._import_study(draft)

    def _join_study(self, draft: StudyDraft, item: ImportItem) -> tuple[str, str]:
        stored = Study.objects.filter(study_id=item.other_key).first()
        if stored is None:
            return ImportItem.Outcome.REFUSED, f"{item.other_key}, which it joins, is not here."
        marked = self._raise_notice(stored, draft.notice, draft.notice_reason)
        present = draft_of(stored)
        wanted = join(present, draft, item.taken)
        if clash := importing.find_clash(wanted):
            return ImportItem.Outcome.REFUSED, clash.reason
        if not sources.differences(present, wanted):
            return (ImportItem.Outcome.UPDATED, marked) if marked else (ImportItem.Outcome.UNCHANGED, "")
        if obstacle := self._find_change_obstacle(stored):
            return ImportItem.Outcome.REFUSED, obstacle
        importing.import_study(wanted, by=self._by, by_name=self._by_name, digest_of=None)
        reason = self._submit(stored.study_id) if self._options.submit else ""
        added = len(wanted.passages) - len(present.passages)
        passages = f", {added} passage{'' if added == 1 else 's'} added" if added else ""
        joined = f"Joined to {stored.study_id}{passages}."
        return ImportItem.Outcome.UPDATED, f"{joined} {marked} {reason}".strip()

    def _import_study(self, draft: StudyDraft) -> tuple[str, str]:
        if clash := importing.find_clash(draft):
            return ImportItem.Outcome.REFUSED, clash.reason
        as_read = draft
        stored = Study.objects.filter(study_id=draft.study_id).first()
        if stored is None:
            studies.check_new_study_id(draft.study_id)
            draft = self._completed(draft)
        wanted = combine(draft_of(stored), draft) if stored else draft
        marked = self._raise_notice(stored, draft.notice, draft.notice_reason) if stored else ""
        if stored and not sources.differences(draft_of(stored), wanted):
            return (ImportItem.Outcome.UPDATED, marked) if marked else (ImportItem.Outcome.UNCHANGED, "")
        if stored and (obstacle := self._find_change_obstacle(stored)):
            return ImportItem.Outcome.REFUSED, obstacle
        if not importing.import_study(wanted, by=self._by, by_name=self._by_name, digest_of=as_read):
            return ImportItem.Outcome.UNCHANGED, ""
        reason = self._submit(draft.study_id) if self._options.submit else ""
        outcome = ImportItem.Outcome.UPDATED if stored else ImportItem.Outcome.CREATED
        return outcome, f"{marked} {reason}".strip()

    def _mend(self, row: SheetRow) -> tuple[str, str]:
        """Change a study as its row of a spreadsheet says, unless somebody was quicker."""
        study = studies.expect_version(row.study_id, str(row.version), by=self._by)
        changes, _ = sheets.read_changes(draft_of(study), row, importing.known_ids())
        if not changes:
            return ImportItem.Outcome.UNCHANGED, ""
        if not studies.INTERNAL_FIELDS.issuperset(changes) and (obstacle := self._find_mending_obstacle(study)):
            return ImportItem.Outcome.REFUSED, obstacle
        concepts = changes.pop("concepts", None)
        values = {name: rows.to_json(value) for name, value in changes.items()}
        if "facets" in values:
            values["facets"] = facets_to_json(changes["facets"])
        if "collection" in values:
            values["collection"] = Collection.objects.get(pk=values["collection"])
        if values:
            studies.revise_study(row.study_id, by=self._by, by_name=self._by_name, **values)
        if concepts is not None:
            studies.set_concepts(row.study_id, concepts, by=self._by, by_name=self._by_name)
        return ImportItem.Outcome.UPDATED, self._submit(row.study_id) if self._options.submit else ""

    def _find_mending_obstacle(self, study: Study) -> str | None:
        """Return why a spreadsheet may not change what readers see of this study; None if it may."""
        if study.status != Status.PUBLISHED or self._options.publish:
            return None
        return "it is published, and the import was not to publish anything. Choose so, or change it at the desk."

    def _find_change_obstacle(self, study: Study) -> str | None:
        """Return why an import may not change this published study; None if it may."""
        if study.status != Status.PUBLISHED:
            return None
        if not self._options.publish:
            return "it is published, and the import was not to publish anything. Change it at the desk."
        if self._by is not None and not self._by.has_perm("corpus_app.publish_study"):
            return "it is published, and you may not publish."
        if settings.REVIEW_REQUIRED and self._by is not None:
            return "it is published, and a second person has to read what readers see. Change it at the desk."
        return None

    def _submit(self, study_id: str) -> str:
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
        if obstacle := self._find_change_obstacle(study):
            return ImportItem.Outcome.REFUSED, obstacle
        for passage in new:
            studies.add_passage(study.study_id, by=self._by, by_name=self._by_name, **_passage_values(passage))
        reason = self._submit(study.study_id) if self._options.submit else ""
        return ImportItem.Outcome.UPDATED, f"{len(new)} passages added. {reason}".strip()

    def _set_notice(self, draft: NoticeDraft) -> tuple[str, str]:
        study = find_study("", draft.doi, draft.pmid)
        if study is None:
            return ImportItem.Outcome.REFUSED, "The study of this notice is not in the corpus."
        if has_notice(study, draft.notice):
            return ImportItem.Outcome.UNCHANGED, "It has this notice already, or a graver one."
        if marked := self._raise_notice(study, draft.notice, draft.reason):
            return ImportItem.Outcome.UPDATED, marked
        return ImportItem.Outcome.REFUSED, "You may not set notices."

    def _raise_notice(self, study: Study, notice: Notice, reason: str) -> str:
        """Set a notice that is graver than the study's; return a message, empty if nothing was set."""
        if has_notice(study, notice):
            return ""
        if self._by is not None and not self._by.has_perm("corpus_app.set_notice_study"):
            return ""
        studies.set_notice([study.study_id], notice, reason=reason, by=self._by, by_name=self._by_name)
        study.refresh_from_db()
        return f"Marked as {notice.replace('_', ' ')}."


def _is_new_study(item: ImportItem) -> bool:
    return item.kind == ImportItem.Kind.STUDY and item.effect == ImportItem.Effect.NEW


def _passage_values(passage: PassageDraft) -> dict[str, Any]:
    return {
        "text": passage.text,
        "section": passage.section.value,
        "page": passage.page,
        "kind": passage.kind.value,
        "asked_as": passage.asked_as or "",
    } | rows.origin_of(passage)
