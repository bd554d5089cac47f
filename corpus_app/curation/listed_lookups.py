"""Lookups of whole lists: each identifier gets an item that says what came of it, stored as it is answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from corpus_app.curation import effects, lookup
from corpus_app.curation.lookup import Answer
from corpus_app.curation.running import lock_job
from corpus_app.models import ImportItem, ImportJob
from corpus_app.sources import Intake, NoticeDraft, Problem, StudyDraft, Weight, serialization
from corpus_app.sources.identifier_lists import MAX_IDENTIFIERS, Identifier, Scheme, identifiers_in, list_text

ITEMS_EACH = 100  # positions kept free for one identifier: a notice may name many studies
FETCHED = (ImportJob.Way.LOOKUP, ImportJob.Way.ZOTERO)
_ORDER = [Scheme.UNKNOWN, Scheme.PMCID, Scheme.PMID, Scheme.DOI]  # the fullest records first


class ListedLookup:
    """A job's list; what is answered is stored at once, so that another worker goes on where this one ended."""

    def __init__(self, job: ImportJob, intake: Intake) -> None:
        self._job = job
        named = identifiers_in(list_text(bytes(job.content)))
        self._identifiers = dict(enumerate(named[:MAX_IDENTIFIERS], start=1))
        self._left_out = len(named) - len(self._identifiers)
        self._asker = lookup.Asker(intake, lookup.services())
        self._comparer = effects.DraftComparer()
        self._first: dict[tuple[Scheme, str], int] = {}
        for number, one in self._identifiers.items():
            self._first.setdefault((one.scheme, one.value), number)
        self._seen: dict[str, int] = {}
        found = job.items.filter(kind=ImportItem.Kind.STUDY).exclude(effect=ImportItem.Effect.DUPLICATE)
        for line, doi, pmid in found.values_list("line", "draft__doi", "draft__pmid"):
            self._seen |= {value: line for value in (doi, pmid) if value}
        answered = set(job.items.values_list("line", flat=True))
        self._open = [number for number in self._identifiers if number not in answered]
        self._open.sort(key=lambda number: _ORDER.index(self._identifiers[number].scheme))

    @property
    def total(self) -> int:
        return len(self._identifiers)

    @property
    def done(self) -> int:
        return self.total - len(self._open)

    def look_up_next(self) -> bool:
        """Ask for the next identifiers and store the answers; return whether the lookup should go on."""
        if not self._open:
            return False
        scheme = self._identifiers[self._open[0]].scheme
        batch = [number for number in self._open if self._identifiers[number].scheme is scheme][: lookup.BATCH[scheme]]
        new = [number for number in batch if self._first[scheme, self._identifiers[number].value] == number]
        asked = self._asker.answers([self._identifiers[number] for number in new]) if new else ()
        answers = dict(zip(new, asked, strict=True))
        with transaction.atomic():
            stored = ImportJob.objects.select_for_update().only("status", "problems").get(pk=self._job.pk)
            if stored.status != ImportJob.Status.READING:
                return False  # stopped by a curator
            problems: list[Problem] = []
            for number in batch:
                answer = answers.get(number)
                items = list(self._items(number, answer, problems)) if answer else [self._repeated(number)]
                for place, item in enumerate(items[:ITEMS_EACH]):
                    item.job, item.line, item.position = self._job, number, number * ITEMS_EACH + place
                ImportItem.objects.bulk_create(items[:ITEMS_EACH])
            if problems:
                stored.problems = [*stored.problems, *map(serialization.values_of, problems)]
                stored.save(update_fields=["problems"])
        self._open = [number for number in self._open if number not in set(batch)]
        return bool(self._open)

    def finish(self) -> None:
        """End the reading: wait for a choice, or for another try where a service failed."""
        job = self._job
        with transaction.atomic():
            stored = ImportJob.objects.select_for_update().defer("content").get(pk=job.pk)
            if stored.status != ImportJob.Status.READING:
                return
            finish_list(stored, self._left_out)
        job.refresh_from_db()

    def _items(self, number: int, answer: Answer, problems: list[Problem]) -> Iterator[ImportItem]:
        one = answer.identifier
        service = lookup.SERVICE_NAMES.get(one.scheme, "")
        problems += [replace(item, line=number) for item in answer.items if isinstance(item, Problem)]
        drafts = [item for item in answer.items if not isinstance(item, Problem)]
        if not drafts:
            reasons = answer.reason or " ".join(str(item.reason) for item in answer.items if isinstance(item, Problem))
            failed = ImportItem.Effect.FAILED if answer.can_retry else ImportItem.Effect.NOT_FOUND
            yield _identifier_item(one, failed, reasons)
            return
        for draft in drafts:
            if isinstance(draft, StudyDraft) and (first := self._number_of(draft)):
                note = f"{one.written} is the study of number {first} of the list."
                yield _identifier_item(one, ImportItem.Effect.DUPLICATE, note)
                continue
            (item,) = self._comparer.items([draft])
            item.note = f"{one.written}: {_found_words(item, draft, service)} {item.note}".strip()
            if isinstance(draft, StudyDraft):
                self._seen |= {value: number for value in (draft.doi, draft.pmid) if value}
            yield item

    def _number_of(self, draft: StudyDraft) -> int | None:
        return next((self._seen[value] for value in (draft.doi, draft.pmid) if value and value in self._seen), None)

    def _repeated(self, number: int) -> ImportItem:
        one = self._identifiers[number]
        note = f"{one.written} stands at number {self._first[one.scheme, one.value]} of the list already."
        return _identifier_item(one, ImportItem.Effect.DUPLICATE, note)


def _found_words(item: ImportItem, draft: object, service: str) -> str:
    if isinstance(draft, NoticeDraft):
        return f"found at {service}, a notice."
    is_here = item.effect in {ImportItem.Effect.SAME, ImportItem.Effect.CHANGES, ImportItem.Effect.JOINS}
    return f"found at {service}{', and here already' if is_here else ''}."


def _identifier_item(one: Identifier, effect: str, note: str) -> ImportItem:
    return ImportItem(
        kind=ImportItem.Kind.IDENTIFIER, title=one.written[:1000], draft={}, effect=effect, note=note, chosen=False
    )


def finish_list(job: ImportJob, left_out: int = 0) -> None:
    """Show the preview of a list, whose row is locked; end the job where nothing can be chosen or tried again."""
    problems = list(job.problems)
    if left_out:
        reason = f"only the first {MAX_IDENTIFIERS:,} are looked up; send the other {left_out:,} once more."
        problems.append(serialization.values_of(Problem(job.file_name, None, "", reason, Weight.DROPPED)))
    waits = effects.CHOOSABLE | {ImportItem.Effect.FAILED}
    waits_for_somebody = job.items.filter(effect__in=waits).exists() or count_unasked(job)
    job.status = ImportJob.Status.PREVIEWED if waits_for_somebody else ImportJob.Status.DONE
    job.finished_at = None if waits_for_somebody else timezone.now()
    job.problems = problems
    job.report = {"problems": len(problems), "broken": sum(row["weight"] == Weight.BROKEN for row in problems)}
    job.format = "List of identifiers"
    job.save(update_fields=["status", "finished_at", "problems", "report", "format"])


def count_unasked(job: ImportJob) -> int:
    """Return how many identifiers of a stopped list were not asked for."""
    answered = job.items.order_by().values("line").distinct().count()
    return max(0, job.total - answered) if job.way == ImportJob.Way.LOOKUP else 0


def stop(job: ImportJob) -> None:
    """Stop looking up a list; what was found is shown. Raises NotReady."""
    with transaction.atomic():
        finish_list(_locked(job, [ImportJob.Status.WAITING, ImportJob.Status.READING], ImportJob.Way.LOOKUP))
    job.refresh_from_db()


def ask_again(job: ImportJob) -> None:
    """Have what failed or was not asked fetched by a worker. Raises NotReady."""
    with transaction.atomic():
        stored = _locked(job, [ImportJob.Status.PREVIEWED, ImportJob.Status.FAILED], *FETCHED)
        stored.items.filter(effect=ImportItem.Effect.FAILED).delete()
        stored.status, stored.error, stored.finished_at = ImportJob.Status.WAITING, "", None
        stored.save(update_fields=["status", "error", "finished_at"])
    job.refresh_from_db()


def _locked(job: ImportJob, statuses: Sequence[str], *ways: str) -> ImportJob:
    return lock_job(ImportJob.objects.defer("content").filter(pk=job.pk, way__in=ways), *statuses, what="This import")


def title_of(identifiers: Sequence[Identifier]) -> str:
    """Return the name of a list: its first entry, and how many follow."""
    more = len(identifiers) - 1
    return identifiers[0].written[:250] + (f" and {more:,} more" if more else "") if identifiers else "Look-up"
