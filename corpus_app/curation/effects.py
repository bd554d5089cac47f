"""The effect of each import item, found by comparing it with the corpus before the import is confirmed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from django.db.models import Count
from django.db.models.functions import Lower

from corpus_app import sources
from corpus_app.curation import gate
from corpus_app.curation.exporting import draft_of
from corpus_app.curation.studies import merge_labels
from corpus_app.models import ImportItem, ImportJob, Study
from corpus_app.records import Notice
from corpus_app.sources import (
    AddedPassages,
    Duplicate,
    Known,
    NoticeDraft,
    Problem,
    Sameness,
    SheetRow,
    StudyDraft,
    Weight,
    serialization,
    sheets,
)
from corpus_app.sources.bibliography import study_id_of
from corpus_app.sources.duplicates import KnownStudy

Draft = StudyDraft | AddedPassages | NoticeDraft | SheetRow

CHOOSABLE = frozenset({ImportItem.Effect.NEW, ImportItem.Effect.CHANGES, ImportItem.Effect.ALIKE})
CHOSEN = frozenset({ImportItem.Effect.NEW, ImportItem.Effect.CHANGES})
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
    return replace(
        merged,
        status=present.status,
        status_reason=present.status_reason,
        labels=tuple(merge_labels(present.labels, draft.labels)),
        origin=draft.origin,
        line=draft.line,
    )


def is_bibliographic(draft: StudyDraft) -> bool:
    """Return whether the draft holds only what a reference manager exports."""
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

    def __init__(self, own: Set[str] = frozenset(), known: Known | None = None) -> None:
        """Take the ids, DOIs and PMIDs of the studies of the same import, which may still grow."""
        self._own = own
        self._known = known or Known()
        self._among = [
            KnownStudy(study_id, title, year, authors[0] if authors else "", doi or "", pmid or "")
            for study_id, title, year, authors, doi, pmid in Study.objects.values_list(
                "study_id", "title", "year", "authors", "doi", "pmid"
            )
        ]
        self._by_case = {known.study_id.lower(): known.study_id for known in self._among}

    def items(self, drafts: Sequence[Draft]) -> Iterator[ImportItem]:
        found = [draft for draft in drafts if isinstance(draft, StudyDraft)]
        twins: dict[str, Duplicate] = {}
        for twin in sources.duplicates([sources.known_of(draft) for draft in found], self._among):
            twins.setdefault(twin.new, twin)
        ids = [draft.study_id for draft in drafts if isinstance(draft, StudyDraft | SheetRow)]
        stored = {study.study_id: study for study in Study.objects.filter(study_id__in=ids).prefetch_related(*RELATED)}
        for draft in drafts:
            match draft:
                case StudyDraft():
                    yield self._study(draft, stored.get(draft.study_id), twins.get(draft.study_id))
                case SheetRow():
                    yield self._row(draft, stored.get(draft.study_id))
                case AddedPassages():
                    yield self._passages(draft)
                case NoticeDraft():
                    yield self._notice(draft)

    def _study(self, draft: StudyDraft, stored: Study | None, twin: Duplicate | None) -> ImportItem:
        other = ""
        by_case = self._by_case.get(draft.study_id.lower(), draft.study_id)
        if stored:
            wanted = combine(draft_of(stored), draft)
            says_same = stored.import_hash == sources.digest(draft) or not sources.differences(draft_of(stored), wanted)
            is_same = says_same and has_notice(stored, draft.notice)
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
    draft: Draft,
    effect: str,
    other: str,
    texts: Sequence[str],
) -> ImportItem:
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
        chosen=effect in CHOSEN,
    )


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
