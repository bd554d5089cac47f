"""The effect of each import item, found by comparing it with the corpus before the import is confirmed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Lower

from corpus_app import sources
from corpus_app.curation import distinctions, gate
from corpus_app.curation.acts import CurationError
from corpus_app.curation.distinctions import distinct_pairs, pair_of
from corpus_app.curation.exporting import draft_of
from corpus_app.curation.studies import merge_labels
from corpus_app.models import ImportItem, ImportJob, Study
from corpus_app.records import Notice
from corpus_app.sources import (
    AddedPassages,
    Duplicate,
    Known,
    NoticeDraft,
    PassageDraft,
    Problem,
    Sameness,
    SheetRow,
    StudyDraft,
    Weight,
    serialization,
    sheets,
)
from corpus_app.sources.decisions import exclusions
from corpus_app.sources.duplicates import DuplicateFinder, KnownStudy
from corpus_app.sources.joining import (
    EarlierRecord,
    is_bibliographic,
    join_passages,
    joined_words,
    newer_passages,
)


@dataclass(frozen=True, slots=True)
class JoiningRecord:
    """A further record of a study that stands earlier in the same file."""

    draft: StudyDraft
    earlier: EarlierRecord


class EarlierStudy(NamedTuple):
    """A study that stands earlier in the same source, and where."""

    study_id: str
    title: str
    year: int
    origin: str
    line: int | None


Draft = StudyDraft | AddedPassages | NoticeDraft | JoiningRecord | SheetRow

CHOSEN = frozenset({ImportItem.Effect.NEW, ImportItem.Effect.CHANGES, ImportItem.Effect.JOINS})
CHOOSABLE = CHOSEN | {ImportItem.Effect.ALIKE}
OFFERED = frozenset({"title", "authors", "year", "journal", "doi", "pmid", "url", "licence", "design"})
"""Fields of which a curator may take the file's value when it joins a stored study."""
RELATED = ("passages", "findings", "studyconcept_set")
ROWS_AT_ONCE = 200  # studies compared with rows of a spreadsheet at once
_NOTICE = frozenset({"notice", "notice_reason"})  # set separately, by `set_notice`
_DECIDED_HERE = frozenset({"design", "peer_reviewed", "collection", "curator_notes", "licence"})


def combine(present: StudyDraft, draft: StudyDraft) -> StudyDraft:
    """Merge a draft into the stored study: the file's values where it has any, else the stored ones.

    A bibliographic record carries no curation decisions, so design, peer review and the like keep their values.
    """
    keeps = _NOTICE | (_DECIDED_HERE if is_bibliographic(draft) else frozenset())
    take = [
        name
        for name, _, theirs in sources.differences(present, draft)
        if name not in keeps and theirs not in (None, "", (), "not_reported", "other", "none")
    ]
    merged = sources.merge_drafts(present, draft, take)
    if is_bibliographic(draft):
        merged = replace(merged, passages=newer_passages(present.passages, draft.passages))
    return replace(
        merged,
        status=present.status,
        status_reason=present.status_reason,
        labels=tuple(merge_labels(present.labels, draft.labels)),
        origin=draft.origin,
        line=draft.line,
    )


def join(present: StudyDraft, draft: StudyDraft, take: Collection[str] = ()) -> StudyDraft:
    """Join a record to the stored study of the same DOI or PMID.

    Stored values stay except those in `take`; empty fields are filled, and new passages are added.
    """
    merged = sources.merge_drafts(present, draft, frozenset(take) & OFFERED)
    return replace(
        merged,
        notice=present.notice,
        notice_reason=present.notice_reason,
        passages=join_passages(present.passages, draft.passages),
        labels=tuple(merge_labels(present.labels, draft.labels)),
        origin=draft.origin,
        line=draft.line,
    )


def row_problems(rows: Sequence[SheetRow], known: Known) -> Iterator[Problem]:
    """Yield what was left as it is of the cells of a spreadsheet, and the rows that belong to no study here."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        batch = rows[start : start + ROWS_AT_ONCE]
        found = Study.objects.filter(study_id__in=[row.study_id for row in batch])
        stored = {study.study_id: study for study in found.prefetch_related(*RELATED)}
        for row in batch:
            if study := stored.get(row.study_id):
                _, notes = sheets.read_changes(draft_of(study), row, known)
                yield from (row.problem(column, reason) for column, reason in notes)
            else:
                yield row.problem("study_id", f"is {row.study_id}: there is no such study here.", Weight.BROKEN)


class DraftComparer:
    """A comparison of an import's drafts with the corpus, one batch at a time."""

    def __init__(
        self, own: Set[str] = frozenset(), known: Known | None = None, *, job: ImportJob | None = None
    ) -> None:
        """Take the ids, DOIs and PMIDs of the studies of the same import, which may still grow.

        The stored items of `job` say what further records of their studies add.
        """
        self._own = own
        self._known = known or Known()
        self._job = job
        self._earlier: dict[str, EarlierStudy] = {}
        self._earlier_finder = DuplicateFinder()
        among = [
            KnownStudy(study_id, title, year, authors[0] if authors else "", doi or "", pmid or "")
            for study_id, title, year, authors, doi, pmid in Study.objects.values_list(
                "study_id", "title", "year", "authors", "doi", "pmid"
            )
        ]
        self._finder = DuplicateFinder(among)
        self._distinct = distinct_pairs()
        self._by_case = {known.study_id.lower(): known.study_id for known in among}

    def items(self, drafts: Sequence[Draft]) -> Iterator[ImportItem]:
        studies = (draft.draft if isinstance(draft, JoiningRecord) else draft for draft in drafts)
        found = [draft for draft in studies if isinstance(draft, StudyDraft)]
        twins = {draft.study_id: twin for draft in found if (twin := self._twin(draft))}
        ids = [*(draft.study_id for draft in found), *(twin.known for twin in twins.values())]
        ids += [draft.earlier.study_id for draft in drafts if isinstance(draft, JoiningRecord)]
        ids += [draft.study_id for draft in drafts if isinstance(draft, SheetRow)]
        stored = {study.study_id: study for study in Study.objects.filter(study_id__in=ids).prefetch_related(*RELATED)}
        joined = self._passages_so_far(drafts)
        for draft in drafts:
            match draft:
                case StudyDraft():
                    if draft.study_id in joined:
                        joined[draft.study_id] = draft.passages
                    twin = twins.get(draft.study_id)
                    if twin and twin.by is not Sameness.ALIKE and draft.study_id not in stored:
                        yield self._joining(draft, stored[twin.known])
                    else:
                        yield self._study(draft, stored.get(draft.study_id), twin)
                    self.remember([draft])
                case JoiningRecord():
                    twin = twins.get(draft.draft.study_id)
                    key = twin.known if twin and twin.by is not Sameness.ALIKE else draft.earlier.study_id
                    before = joined[draft.earlier.study_id]
                    yield self._joining_record(draft, stored.get(key), before)
                    joined[draft.earlier.study_id] = join_passages(before, draft.draft.passages)
                case SheetRow():
                    yield self._row(draft, stored.get(draft.study_id))
                case AddedPassages():
                    yield self._passages(draft)
                case NoticeDraft():
                    yield self._notice(draft)

    def remember(self, drafts: Iterable[Draft]) -> None:
        """Note the studies of drafts that came, so that later ones of the same source are compared with them."""
        for draft in drafts:
            if isinstance(draft, StudyDraft) and draft.year:
                place = EarlierStudy(draft.study_id, draft.title, draft.year, draft.origin, draft.line)
                self._earlier[draft.study_id] = place
                self._earlier_finder.add(sources.known_of(draft))

    def _passages_so_far(self, drafts: Sequence[Draft]) -> dict[str, tuple[PassageDraft, ...]]:
        """Return the passages that the stored items bring to studies which further records join, by id."""
        keys = {draft.earlier.study_id for draft in drafts if isinstance(draft, JoiningRecord)}
        found: dict[str, tuple[PassageDraft, ...]] = dict.fromkeys(keys, ())
        items = ImportItem.objects.filter(job=self._job, kind=ImportItem.Kind.STUDY, draft__study_id__in=keys)
        for item in items.order_by("position") if keys else ():
            draft = serialization.study_draft(item.draft)
            found[draft.study_id] = join_passages(found[draft.study_id], draft.passages)
        return found

    def _twin(self, draft: StudyDraft) -> Duplicate | None:
        """Return the most certain twin that no curator has told apart; None if there is none."""
        for twin in self._finder.find(sources.known_of(draft)):
            if twin.by is not Sameness.ALIKE or pair_of(twin.new, twin.known) not in self._distinct:
                return twin
        return None

    def _find_alike(self, draft: StudyDraft) -> EarlierStudy | None:
        """Return the earlier study of the source, of the same year, that is most alike; None if there is none."""
        twins = self._earlier_finder.find(sources.known_of(draft))
        found = (self._earlier[twin.known] for twin in twins if pair_of(twin.new, twin.known) not in self._distinct)
        return next((study for study in found if study.year == draft.year), None)

    def _joining(self, draft: StudyDraft, stored: Study, before: tuple[PassageDraft, ...] = ()) -> ImportItem:
        """Return the item of a record that joins a stored study, to which the file has brought passages `before`."""
        present = draft_of(stored)
        wanted = join(present, draft)
        is_same = not sources.differences(present, wanted) and has_notice(stored, draft.notice)
        effect = ImportItem.Effect.SAME if is_same else ImportItem.Effect.JOINS
        known = join_passages(present.passages, before)
        texts = [passage.text for passage in join_passages(known, draft.passages)[len(known) :]]
        item = _item(ImportItem.Kind.STUDY, stored.study_id, draft.title, draft, effect, stored.study_id, texts)
        item.doubt = "" if is_same else f"{self._finder.find_doubts(sources.known_of(draft))} {item.doubt}".strip()
        item.chosen = item.chosen and not item.doubt
        return item

    def _joining_record(
        self, record: JoiningRecord, stored: Study | None, before: tuple[PassageDraft, ...]
    ) -> ImportItem:
        draft, earlier = record.draft, record.earlier
        if stored:
            item = self._joining(draft, stored, before)
        else:
            key = earlier.study_id
            texts = [passage.text for passage in join_passages(before, draft.passages)[len(before) :]]
            item = _item(ImportItem.Kind.STUDY, key, draft.title, draft, ImportItem.Effect.JOINS, key, texts)
            filled = (name for name in sorted(OFFERED) if getattr(draft, name) not in (None, "", (), "other"))
            item.taken = list(filled) if earlier.is_led_by(draft) else []
        words = joined_words(earlier, draft)
        item.note = words[:1].upper() + words[1:]
        return item

    def _study(self, draft: StudyDraft, stored: Study | None, twin: Duplicate | None) -> ImportItem:
        other = note = ""
        by_case = self._by_case.get(draft.study_id.lower(), draft.study_id)
        if stored:
            wanted = combine(draft_of(stored), draft)
            says_same = stored.import_hash == sources.digest(draft) or not sources.differences(draft_of(stored), wanted)
            is_same = says_same and has_notice(stored, draft.notice)
            effect = ImportItem.Effect.SAME if is_same else ImportItem.Effect.CHANGES
        elif by_case != draft.study_id:
            effect, other = ImportItem.Effect.DUPLICATE, by_case
        elif twin:
            effect, other = ImportItem.Effect.ALIKE, twin.known
        elif first := self._find_alike(draft):
            effect, other = ImportItem.Effect.ALIKE, first.study_id
            note = f"It may be the same as {first.origin}, line {first.line}: “{first.title}”."
        else:
            effect = ImportItem.Effect.NEW
        texts = [passage.text for passage in draft.passages]
        item = _item(ImportItem.Kind.STUDY, draft.study_id, draft.title, draft, effect, other, texts)
        item.note = note
        return item

    def _row(self, row: SheetRow, study: Study | None) -> ImportItem:
        if study is None:
            other = sheets.find_similar_id(row.study_id, self._known.studies)
            title = row.cells.get("title", "")
            return _item(ImportItem.Kind.ROW, row.study_id, title, row, ImportItem.Effect.UNMATCHED, other, [])
        changes, _ = sheets.read_changes(draft_of(study), row, self._known)
        if not changes:
            effect = ImportItem.Effect.SAME
        elif row.version == study.version:
            effect = ImportItem.Effect.CHANGES
        else:
            effect = ImportItem.Effect.CONFLICT
        return _item(ImportItem.Kind.ROW, row.study_id, study.title, row, effect, "", [])

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
            is_known = has_notice(study, draft.notice)
            effect = ImportItem.Effect.SAME if is_known else ImportItem.Effect.CHANGES
        key, title = (study.study_id, study.title) if study else ("", draft.doi or f"PMID {draft.pmid}")
        return _item(ImportItem.Kind.NOTICE, key, title, draft, effect, "", [])


def _item(
    kind: str,
    key: str,
    title: str,
    draft: StudyDraft | AddedPassages | NoticeDraft | SheetRow,
    effect: str,
    other: str,
    texts: Sequence[str],
) -> ImportItem:
    excluded = exclusions(draft.labels) if isinstance(draft, StudyDraft) else ()
    doubt = f"It is marked there as {', '.join(excluded)}." if excluded else ""
    return ImportItem(
        kind=kind,
        study_key=key[:40],
        title=title[:1000],
        line=draft.line,
        draft=serialization.values_of(draft),
        effect=effect,
        other_key=other,
        n_passages=len(texts),
        n_blocking=gate.count_blocking(texts),
        doubt=doubt,
        chosen=effect in CHOSEN and not doubt,
    )


SEARCHED = (
    "title__icontains", "study_key__istartswith", "other_key__istartswith", "draft__doi__icontains",
    "draft__pmid__istartswith", "draft__authors__icontains",
)  # fmt: skip


def search_items(items: QuerySet[ImportItem], words: str) -> QuerySet[ImportItem]:
    """Return the items that have each of these words in title, ids, identifiers or authors."""
    for word in words.split():
        items = items.filter(reduce(or_, (Q(**{name: word}) for name in SEARCHED)))
    return items


def choose_fields(job: ImportJob, among: Collection[int], named: Iterable[str]) -> None:
    """Have joining items replace the stored values of the fields `named`, each as `item:field`."""
    chosen = {tuple(name.split(":", 1)) for name in named}
    for item in ImportItem.objects.filter(job=job, pk__in=list(among), effect=ImportItem.Effect.JOINS):
        taken = [name for name in sorted(OFFERED) if (str(item.pk), name) in chosen]
        if taken != item.taken:
            ImportItem.objects.filter(pk=item.pk, outcome="").update(taken=taken)


def mark_distinct(job: ImportJob, key: str, *, by: User | None) -> None:
    """Remember that an alike item is another study, and choose it as a new one."""
    item = job.items.filter(pk=key if key.isdecimal() else 0, effect=ImportItem.Effect.ALIKE, outcome="").first()
    if item is None:
        raise CurationError("This study is told apart already: look at the page again.")
    with transaction.atomic():
        distinctions.mark_distinct(item.study_key, item.other_key, by=by)
        values = {"effect": ImportItem.Effect.NEW, "other_key": "", "chosen": not item.doubt}
        ImportItem.objects.filter(pk=item.pk).update(**values)


def count_effects(job: ImportJob) -> dict[ImportItem.Effect, int]:
    """Count the job's items by effect, in the order of the enum."""
    counts = dict(ImportItem.objects.filter(job=job).order_by().values_list("effect").annotate(n=Count("pk")))
    return {effect: counts[effect.value] for effect in ImportItem.Effect if counts.get(effect.value)}


def find_study(study_id: str, doi: str, pmid: str) -> Study | None:
    """Return the study with this id, else this DOI, else this PMID; None if there is none."""
    if study_id:
        return Study.objects.filter(study_id=study_id).first()
    if doi and (study := Study.objects.annotate(low=Lower("doi")).filter(low=doi.lower()).first()):
        return study
    return Study.objects.filter(pmid=pmid).first() if pmid else None


def has_notice(study: Study, notice: Notice) -> bool:
    """Return whether the study carries this notice or a graver one."""
    gravity = [Notice.NONE, Notice.CORRECTED, Notice.EXPRESSION_OF_CONCERN, Notice.RETRACTED]
    return gravity.index(Notice(study.notice)) >= gravity.index(notice)
