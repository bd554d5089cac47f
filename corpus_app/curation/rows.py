"""Writes to a study's rows; each returns what it changed, field by field, before and after."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from corpus_app import passages
from corpus_app.appraisal import EFFECT_FIELDS, effect_columns, effect_of
from corpus_app.models import Finding, Passage, Study, StudyConcept
from corpus_app.records import CitedWork, Direction, Lean
from corpus_app.sources import FindingDraft, PassageDraft, is_paper_section, text_fault, with_questions

Changes = dict[str, dict[str, Any]]

ONE_LINE = {"title", "journal", "doi", "pmid", "url", "licence", "study_id", "name"}


def change(row: models.Model, values: Mapping[str, Any]) -> Changes:
    """Set the values that differ and return the changes; the caller saves the row."""
    changes: Changes = {}
    for name, value in values.items():
        before = getattr(row, name)
        if before != value:
            changes[name] = {"before": to_json(before), "after": to_json(value)}
            setattr(row, name, value)
    return changes


def to_json(value: Any) -> Any:
    """Return a value as JSON can store it."""
    if isinstance(value, models.Model):
        return value.pk
    if isinstance(value, list | tuple):
        return [to_json(part) for part in value]
    if isinstance(value, dict):
        return {name: to_json(part) for name, part in value.items()}
    return value if isinstance(value, int | float | str | bool | None) else str(value)


def find_text_fault(name: str, text: str, *, may_be_invisible: bool = False) -> str | None:
    """Return in a sentence why this text cannot be stored in the field of this name; None if it can, even empty."""
    if fault := text_fault(text, one_line=name in ONE_LINE):
        return f"This text {fault}"
    if not may_be_invisible and text.strip() and not _has_visible_character(text):
        return "This text holds nothing that can be seen: write words, or leave the field empty."
    return None


_BLANK_CHARACTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and symbols by category, yet blank


def _has_visible_character(text: str) -> bool:
    """Return whether the text has more than spaces, control characters and combining marks."""
    return any(unicodedata.category(char)[0] not in "ZCM" and char not in _BLANK_CHARACTERS for char in text)


def check_texts(values: Mapping[str, Any], *, may_be_invisible: bool = False) -> None:
    """Raise ValidationError for text with characters that PostgreSQL or a web page cannot handle."""
    faults = {}
    for name, value in values.items():
        for text in value if isinstance(value, list | tuple) else [value]:
            if isinstance(text, str) and (fault := find_text_fault(name, text, may_be_invisible=may_be_invisible)):
                faults[name] = fault
    if faults:
        raise ValidationError(faults)


def save_study(study: Study, changes: Changes) -> None:
    """Save a study, and copy a changed title into the headings of its passages."""
    study.save()
    if "title" in changes:
        update_headings(study)


def update_headings(study: Study) -> None:
    """Copy a study's title into the headings of its passages."""
    for passage in study.passages.all():
        passage.heading = _heading(study, passage.source_heading)
        passage.content_hash = passages.content_hash(heading=passage.heading, text=passage.text)
        passage.save(update_fields=["heading", "content_hash"])


def _heading(study: Study, own: str) -> str:
    """Return the heading that a passage is found by: its study's title, and its section unless that is one of papers.

    "Prices" says what the passage is about, "Results" does not.
    """
    return study.title if not own or is_paper_section(own) else f"{study.title}: {own}"[:1000]


def change_passage(
    passage: Passage, values: Mapping[str, Any], *, at: datetime, cited: Sequence[CitedWork] | None = None
) -> Changes:
    """Update a passage. New text raises its version; another section or page does not.

    `cited` are the works that new text cites; without it they move with the words that stay.
    """
    before = passage.text
    changes = change(passage, values)
    passage.heading = _heading(passage.study, passage.source_heading)
    if "text" in changes:
        works = passages.moved_works(works_of(passage), before, passage.text) if cited is None else cited
        passage.cited_works = [asdict(work) for work in works]
        passage.version += 1
        passage.text_changed_at = at
    passage.content_hash = passages.content_hash(heading=passage.heading, text=passage.text)
    if changes:
        _check_passage(passage)
        passage.save()
    return changes


def works_of(passage: Passage) -> tuple[CitedWork, ...]:
    """Return the works that the source cites in a passage."""
    return tuple(CitedWork(**work) for work in passage.cited_works)


def origin_of(draft: PassageDraft) -> dict[str, Any]:
    """Return what a draft says of its passage's place in the source, and of the works cited there."""
    heading = "".join(char for char in draft.heading if char.isprintable())
    return {"source_heading": heading[:1000], "cited_works": [asdict(work) for work in draft.cited]}


def _check_passage(passage: Passage) -> None:
    if not passage.text.strip():
        raise ValidationError({"text": "A passage has words."})
    passage.clean_fields(exclude=["study", "finding", "lexemes"])


def create_passage(study: Study, *, position: int, **values: Any) -> Passage:
    passage = _new_passage(study, position=position, **values)
    passage.save()
    return passage


def _new_passage(study: Study, *, position: int, **values: Any) -> Passage:
    heading = _heading(study, values.get("source_heading", ""))
    content_hash = passages.content_hash(heading=heading, text=values["text"])
    passage = Passage(study=study, position=position, heading=heading, content_hash=content_hash, **values)
    _check_passage(passage)
    return passage


def new_passages(study: Study, drafts: Sequence[PassageDraft]) -> list[Passage]:
    """Return the unsaved passages of a study that has none yet."""
    return [
        _new_passage(
            study,
            position=position,
            section=draft.section.value,
            text=draft.text,
            page=draft.page,
            kind=draft.kind.value,
            asked_as=draft.asked_as or "",
            **origin_of(draft),
        )
        for position, draft in enumerate(drafts)
    ]


def arrange(study: Study, passage_ids: Sequence[int]) -> bool:
    """Put the passages into this order, unnamed ones last; return whether any moved."""
    rows = list(study.passages.order_by("position", "pk"))
    order = {pk: index for index, pk in enumerate(passage_ids)}
    rows.sort(key=lambda row: order.get(row.pk, len(order)))
    moved = [row for index, row in enumerate(rows) if row.position != index]
    for index, row in enumerate(rows):
        row.position = index
    Passage.objects.bulk_update(moved, ["position"])
    return bool(moved)


def match_passages(rows: Sequence[Passage], drafts: Sequence[PassageDraft]) -> dict[int, Passage]:
    """Match each draft's index to the row that it updates.

    That is the row with the same text, else the one at the same position, else the next of the same section.
    """
    matched: dict[int, Passage] = {}
    free = list(rows)

    def take(index: int, candidates: Sequence[Passage]) -> None:
        if index not in matched and candidates:
            matched[index] = candidates[0]
            free.remove(candidates[0])

    for index, draft in enumerate(drafts):
        same = [row for row in free if row.text == draft.text]
        take(index, sorted(same, key=lambda row: abs(row.position - index)))
    for index in range(len(drafts)):
        take(index, [row for row in free if row.position == index])
    for index, draft in enumerate(drafts):
        take(index, [row for row in free if row.section == draft.section])
    return matched


PASSAGE_PLACE = ("position", "section", "page", "kind", "asked_as", "source_heading", "cited_works")
"""What the history keeps of a removed passage beside its text, so that it can be put back."""


def replace_passages(study: Study, drafts: Sequence[PassageDraft], *, at: datetime) -> list[dict[str, Any]]:
    """Replace a study's passages by drafts; return what was removed, revised and added.

    Unchanged passages keep their rows; a changed one becomes a new version of its row.
    """
    rows = list(study.passages.order_by("position"))
    matched = match_passages(rows, drafts)
    reused = {row.pk for row in matched.values()}
    done: list[dict[str, Any]] = [
        {"removed": row.pk, "text": row.text} | {name: getattr(row, name) for name in PASSAGE_PLACE}
        for row in rows
        if row.pk not in reused
    ]
    Passage.objects.filter(pk__in=[row.pk for row in rows if row.pk not in reused]).delete()
    new: list[Passage] = []
    for index, draft in enumerate(drafts):
        values = {"section": draft.section.value, "text": draft.text, "page": draft.page, "kind": draft.kind.value}
        row = matched.get(index)
        origin = origin_of(draft)
        if draft.asked_as is not None or row is None or row.text != draft.text:
            values["asked_as"] = draft.asked_as or ""
        if row:
            values |= {name: value for name, value in origin.items() if name == "source_heading" and value}
            changes = change_passage(row, values | {"position": index}, at=at, cited=draft.cited)
            if changes:
                done.append({"revised": row.pk, "changes": changes})
        else:
            new.append(_new_passage(study, position=index, **values, **origin))
    return done + [{"added": row.pk} for row in Passage.objects.bulk_create(new)]


def restore_passages(study: Study, done: Sequence[Mapping[str, Any]], *, at: datetime) -> list[dict[str, Any]]:
    """Undo what `replace_passages` returned; return what was removed, revised and added now."""
    rows = {row.pk: row for row in study.passages.all()}
    undone: list[dict[str, Any]] = []
    for entry in done:
        if "removed" in entry:
            values = {name: entry[name] for name in ("text", *PASSAGE_PLACE)}
            undone.append({"added": create_passage(study, **values).pk})
        elif row := rows.get(entry.get("added") or entry["revised"]):
            if "added" in entry:
                kept = {name: getattr(row, name) for name in PASSAGE_PLACE}
                undone.append({"removed": row.pk, "text": row.text} | kept)
                row.delete()
            else:
                values = {name: change["before"] for name, change in entry["changes"].items()}
                undone.append({"revised": row.pk, "changes": change_passage(row, values, at=at)})
    return undone


FINDING_IDENTITY = ("intervention", "comparator", "outcome", "direction", "statement")
FINDING_EXTRAS = ("plain", "lean", "is_unconfirmed", "asked_as", *EFFECT_FIELDS)
"""Curators' annotations of a finding; they can change while the finding stays the same."""
FINDING_FIELDS = (*FINDING_IDENTITY, *FINDING_EXTRAS)


def replace_findings(study: Study, drafts: Sequence[FindingDraft]) -> Changes:
    """Replace a study's findings by drafts; return the changes.

    They are named `asked_as` when only the questions changed, which readers never see, else `findings`.
    Annotations that a draft leaves out keep their values.
    """
    before = list(study.findings.order_by("position"))
    present = [{name: getattr(row, name) for name in FINDING_FIELDS} for row in before]
    values = [finding_values(draft) for draft in with_questions(drafts, [finding_draft(row) for row in present])]
    if present == values:
        return {}
    _write_findings(study, list(zip(before, present, strict=True)), values)
    is_unseen = [{**row, "asked_as": ""} for row in present] == [{**row, "asked_as": ""} for row in values]
    return {"asked_as" if is_unseen else "findings": {"before": present, "after": values}}


def finding_draft(row: Mapping[str, Any]) -> FindingDraft:
    """Return the draft of a finding; absent fields are None."""
    lean = row.get("lean")
    return FindingDraft(
        row["intervention"],
        row["comparator"],
        row["outcome"],
        Direction(row["direction"]),
        row["statement"],
        asked_as=row.get("asked_as"),
        plain=row.get("plain"),
        lean=Lean(lean) if lean else None,
        is_unconfirmed=row.get("is_unconfirmed"),
        effect=effect_of(*(row[name] for name in EFFECT_FIELDS)) if row.get("effect_measure") else None,
        is_without_effect=row.get("effect_measure") == "",
    )


def finding_values(draft: FindingDraft) -> dict[str, Any]:
    """Return the fields of a finding as its row and the history store them."""
    identity = dict(zip(FINDING_IDENTITY, map(str, draft.said), strict=True))
    return identity | {
        "plain": draft.plain or "",
        "lean": str(draft.lean or ""),
        "is_unconfirmed": bool(draft.is_unconfirmed),
        "asked_as": draft.asked_as or "",
        **effect_columns(draft.effect),
    }


def _write_findings(
    study: Study, before: Sequence[tuple[Finding, Mapping[str, Any]]], values: Sequence[Mapping[str, Any]]
) -> None:
    """Write findings; an unchanged one keeps its row, because answers link to it."""
    rows: dict[tuple[str, ...], list[Finding]] = defaultdict(list)
    for row, fields in reversed(before):
        rows[_identity(fields)].append(row)
    new = []
    for position, fields in enumerate(values):
        if not (same := rows[_identity(fields)]):
            new.append(Finding(study=study, position=position, **fields))
            continue
        row = same.pop()
        if change(row, {name: fields[name] for name in FINDING_EXTRAS} | {"position": position}):
            row.save(update_fields=["position", *FINDING_EXTRAS])
    study.findings.filter(pk__in=[row.pk for unused in rows.values() for row in unused]).delete()
    Finding.objects.bulk_create(new)


def _identity(fields: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(fields[name] for name in FINDING_IDENTITY)


def replace_concepts(study: Study, concept_ids: Sequence[str]) -> Changes:
    rows = StudyConcept.objects.filter(study=study).order_by("position")
    before = list(rows.values_list("concept_id", flat=True))
    if before == list(concept_ids):
        return {}
    rows.delete()
    StudyConcept.objects.bulk_create(
        StudyConcept(study=study, concept_id=concept_id, position=position)
        for position, concept_id in enumerate(concept_ids)
    )
    return {"concepts": {"before": before, "after": list(concept_ids)}}
