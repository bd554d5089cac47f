"""Previews and reports of an import, item by item, for the desk's pages and the API."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from common.dois import normal_doi
from corpus_app import curation, sources
from corpus_app.appraisal import RiskOfBias
from corpus_app.curation import effects, importing
from corpus_app.curation.history import as_text
from corpus_app.models import ImportItem, ImportJob, Study
from corpus_app.records import Status
from corpus_app.sources import Known, Problem, serialization, sheets
from corpus_app.sources.values import safe_cell

PASSAGES_SHOWN = 3  # of each new study: enough to see whether its text was read completely
AUTHORS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field whose value would change, before and after as text."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class NewContent:
    """The content of a new item: its source in one line, and its first passages with their sections."""

    source: str
    passages: tuple[tuple[str, str], ...]
    n_passages: int
    """Of all of it."""


@dataclass(frozen=True, slots=True)
class FieldOffer:
    """A field that is filled here and in the file; the value here stays unless `is_taken`."""

    field: str
    here: str
    in_file: str
    is_taken: bool


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """An import item with everything that its preview shows."""

    item: ImportItem
    study_pk: int | None
    other_pk: int | None
    differences: tuple[FieldDifference, ...]
    offers: tuple[FieldOffer, ...]
    new_content: NewContent | None
    problems: tuple[Problem, ...]
    is_published: bool = False
    """Whether readers see the study now, so that the import changes it only where it publishes."""

    @property
    def can_be_chosen(self) -> bool:
        return self.item.effect in effects.CHOOSABLE


def lines(
    items: Sequence[ImportItem], problems: Sequence[Mapping[str, Any]], *, with_differences: bool
) -> Iterator[PreviewLine]:
    """Yield a preview line for each item; `problems` are those stored with the job."""
    keys = {key for item in items for key in (item.study_key, item.other_key) if key}
    found = Study.objects.filter(study_id__in=keys)
    if with_differences:
        found = found.prefetch_related("passages", "findings", "studyconcept_set")
    present = {study.study_id: study for study in found}
    by_place: dict[tuple[str, int], list[Problem]] = {}
    for stored in problems:
        if stored["line"] is not None:
            by_place.setdefault((stored["file"], stored["line"]), []).append(serialization.problem_of(stored))
    known = importing.known_ids() if any(item.kind == ImportItem.Kind.ROW for item in items) else Known()
    for item in items:
        study, other = present.get(item.study_key), present.get(item.other_key)
        shown: tuple[FieldDifference, ...] = ()
        offers: tuple[FieldOffer, ...] = ()
        if with_differences and item.kind == ImportItem.Kind.STUDY:
            shown = tuple(_differences(item, study or other))
            offers = tuple(_offers(item, study)) if study and item.effect == ImportItem.Effect.JOINS else ()
        elif with_differences and item.kind == ImportItem.Kind.ROW and study:
            shown = tuple(_cell_differences(item, study, known))
        yield PreviewLine(
            item,
            study.pk if study else None,
            other.pk if other else None,
            shown,
            offers,
            _new_content(item, study) if with_differences else None,
            tuple(by_place.get((item.draft.get("origin", ""), item.line or -1), ())),
            is_published=study is not None and study.status == Status.PUBLISHED,
        )


def _new_content(item: ImportItem, study: Study | None) -> NewContent | None:
    """Return the content of a new item, or the passages that it adds; None where it adds none."""
    if item.kind == ImportItem.Kind.PASSAGES:
        draft: Any = serialization.added_passages(item.draft)
        source = ""
    elif item.kind == ImportItem.Kind.STUDY and (
        item.effect == ImportItem.Effect.NEW or (item.effect == ImportItem.Effect.JOINS and study is None)
    ):
        draft = serialization.study_draft(item.draft)
        if item.effect == ImportItem.Effect.JOINS and not item.n_passages:
            draft = replace(draft, passages=())
        authors = "; ".join(draft.authors[:AUTHORS_SHOWN])
        source = ", ".join(filter(None, (authors, draft.journal, str(draft.year or ""), draft.doi)))
    elif study and item.kind == ImportItem.Kind.STUDY and item.effect == ImportItem.Effect.JOINS:
        present = curation.draft_of(study)
        wanted = effects.join(present, serialization.study_draft(item.draft))
        draft = replace(wanted, passages=wanted.passages[len(present.passages) :])
        source = ""
    else:
        return None
    first = tuple((str(passage.section), passage.text) for passage in draft.passages[:PASSAGES_SHOWN])
    return NewContent(source, first, len(draft.passages))


def _differences(item: ImportItem, study: Study | None) -> Iterator[FieldDifference]:
    if study is None or item.effect not in effects.CHOOSABLE - {ImportItem.Effect.NEW}:
        return
    present, draft = curation.draft_of(study), serialization.study_draft(item.draft)
    wanted = draft
    if item.effect == ImportItem.Effect.CHANGES:
        wanted = effects.combine(present, draft)
    elif item.effect == ImportItem.Effect.JOINS:
        wanted = replace(effects.join(present, draft, item.taken), passages=present.passages)
    for name, ours, theirs in sources.differences(present, wanted):
        yield FieldDifference(name, _words(ours), _words(theirs))


def _offers(item: ImportItem, study: Study) -> Iterator[FieldOffer]:
    present, draft = curation.draft_of(study), serialization.study_draft(item.draft)
    joined = effects.join(present, draft)
    for name, ours, theirs in sources.differences(joined, draft):
        is_spelling = name == "doi" and normal_doi(ours or "") == normal_doi(theirs or "")
        if name in effects.OFFERED and theirs and theirs != "other" and not is_spelling:
            yield FieldOffer(name, _words(ours), _words(theirs), name in item.taken)


def _cell_differences(item: ImportItem, study: Study, known: Known) -> Iterator[FieldDifference]:
    present = curation.draft_of(study)
    changes, _ = sheets.read_changes(present, serialization.sheet_row(item.draft), known)
    for name, value in changes.items():
        yield FieldDifference(name, _words(getattr(present, name)), _words(value))


def _words(value: Any) -> str:
    if isinstance(value, tuple):
        return "\n".join(getattr(part, "text", None) or getattr(part, "words", None) or str(part) for part in value)
    if isinstance(value, RiskOfBias):
        return value.words
    return str(value) if isinstance(value, bool) else as_text(value)


def report(job: ImportJob) -> bytes:
    """Return all items and problems as CSV, with cells that no spreadsheet runs as formulas."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(
        [
            "line",
            "what",
            "study",
            "title",
            "would be",
            "other study",
            "broken text",
            "outcome",
            "reason",
            "found",
            "in doubt",
        ]
    )
    for item in job.items.all():
        writer.writerow(
            safe_cell(str(cell))
            for cell in (
                item.line or "", item.kind, item.study_key, item.title, item.get_effect_display(), item.other_key,
                item.n_blocking or "", item.get_outcome_display(), item.outcome_reason, item.note, item.doubt,
            )
        )  # fmt: skip
    for stored in job.problems:
        problem = serialization.problem_of(stored)
        reason = f"{problem.field} {problem.reason}".strip()
        cells = [problem.line or "", "problem", "", problem.file, "", "", "", problem.weight.value, reason]
        writer.writerow(safe_cell(str(cell)) for cell in cells)
    return b"\xef\xbb\xbf" + out.getvalue().encode()
