"""What an import would do and what it did, item by item: for the desk's pages and for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_app import curation, sources
from corpus_app.curation import effects
from corpus_app.curation.history import as_text
from corpus_app.models import ImportItem, ImportJob, Study
from corpus_app.sources import Problem, keeping
from corpus_app.sources.values import safe_cell

PASSAGES_SHOWN = 3  # of each new study in a preview: enough to see whether the text came whole
AUTHORS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Changed:
    """A field of the study here and what it would be, as text; of one that resembles it, what the file says."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Brings:
    """What would come in with an item: the study in a line, and its first passages with their sections."""

    source: str
    passages: tuple[tuple[str, str], ...]
    others: int
    """How many passages come beside those."""


@dataclass(frozen=True, slots=True)
class Line:
    """An item as the preview and the report show it."""

    item: ImportItem
    study_pk: int | None
    other_pk: int | None
    differences: tuple[Changed, ...]
    brings: Brings | None
    problems: tuple[Problem, ...]

    @property
    def can_be_chosen(self) -> bool:
        return self.item.effect in effects.CHOOSABLE


def lines(
    items: Sequence[ImportItem], problems: Sequence[Mapping[str, Any]], *, with_differences: bool
) -> Iterator[Line]:
    """`problems` as the job keeps them."""
    keys = {key for item in items for key in (item.study_key, item.other_key) if key}
    found = Study.objects.filter(study_id__in=keys)
    if with_differences:
        found = found.prefetch_related("passages", "findings", "studyconcept_set")
    there = {study.study_id: study for study in found}
    by_line: dict[int, list[Problem]] = {}
    for kept in problems:
        if kept["line"] is not None:
            by_line.setdefault(kept["line"], []).append(keeping.problem_of(kept))
    for item in items:
        study, other = there.get(item.study_key), there.get(item.other_key)
        shown: tuple[Changed, ...] = ()
        if with_differences and item.kind == ImportItem.Kind.STUDY:
            shown = tuple(_differences(item, study or other))
        yield Line(
            item,
            study.pk if study else None,
            other.pk if other else None,
            shown,
            _brings(item) if with_differences else None,
            tuple(by_line.get(item.line or -1, ())),
        )


def _brings(item: ImportItem) -> Brings | None:
    """Of what is new here; what is compared with a study here shows its differences instead."""
    if item.kind == ImportItem.Kind.PASSAGES:
        draft: Any = keeping.added_passages(item.draft)
        source = ""
    elif item.kind == ImportItem.Kind.STUDY and item.effect == ImportItem.Effect.NEW:
        draft = keeping.study_draft(item.draft)
        source = ", ".join(filter(None, ("; ".join(draft.authors[:AUTHORS_SHOWN]), draft.journal, str(draft.year or ""), draft.doi)))  # fmt: skip
    else:
        return None
    first = tuple((str(passage.section), passage.text) for passage in draft.passages[:PASSAGES_SHOWN])
    return Brings(source, first, len(draft.passages) - len(first))


def _differences(item: ImportItem, study: Study | None) -> Iterator[Changed]:
    if study is None or item.effect not in {ImportItem.Effect.CHANGES, ImportItem.Effect.ALIKE}:
        return
    present, draft = curation.draft_of(study), keeping.study_draft(item.draft)
    wanted = effects.combined(present, draft) if item.effect == ImportItem.Effect.CHANGES else draft
    for name, ours, theirs in sources.differences(present, wanted):
        yield Changed(name, _words(ours), _words(theirs))


def _words(value: Any) -> str:
    if isinstance(value, tuple):
        return "\n".join(getattr(part, "text", None) or getattr(part, "words", None) or str(part) for part in value)
    return str(value) if isinstance(value, bool) else as_text(value)


def report(job: ImportJob) -> bytes:
    """All items and problems as CSV that a spreadsheet opens and runs nothing of."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["line", "what", "study", "title", "would be", "other study", "broken text", "outcome", "reason"])
    for item in job.items.all():
        writer.writerow(
            safe_cell(str(cell))
            for cell in (
                item.line or "", item.kind, item.study_key, item.title, item.get_effect_display(), item.other_key,
                item.n_blocking or "", item.get_outcome_display(), item.outcome_reason,
            )
        )  # fmt: skip
    for kept in job.problems:
        problem = keeping.problem_of(kept)
        cells = [problem.line or "", "problem", "", problem.file, "", "", "", problem.weight.value, f"{problem.field} {problem.reason}".strip()]  # fmt: skip
        writer.writerow(safe_cell(str(cell)) for cell in cells)
    return b"\xef\xbb\xbf" + out.getvalue().encode()
