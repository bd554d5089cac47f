"""Write drafts back to files, byte for byte as they were read."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from corpus_app.appraisal import bias_to_json, effect_to_json
from corpus_app.facets import facets_to_json, to_pairs
from corpus_app.records import Notice, PassageKind, Wanted, question_lines
from corpus_app.sources.drafts import CertaintyDraft, FindingDraft, PassageDraft, StudyDraft, Vocabulary
from corpus_app.sources.layout import (
    CERTAINTY_KEYS,
    FINDING_SAID,
    MASTER_COLUMNS,
    OF_PEOPLE,
    POPULATION_KEYS,
    RELATION_KEYS,
    REQUIRED_KEYS,
    STUDY_KEYS,
)
from corpus_app.sources.values import safe_cell


def study_json(draft: StudyDraft) -> bytes:
    """Return a study's file; keys without a value appear only if the imported file had them."""
    return (json.dumps(study_values(draft), indent=2, ensure_ascii=False) + "\n").encode()


def study_values(draft: StudyDraft) -> dict[str, Any]:
    empty = dict(key.split("=", 1) for key in draft.empty_keys)
    weeks = {"min": draft.duration_weeks_min, "max": draft.duration_weeks_max}
    values: dict[str, Any] = {key: getattr(draft, key) for key in STUDY_KEYS if hasattr(draft, key)}
    values |= {
        "population": _population(draft) if draft.has_people else None,
        "facets": facets_to_json(draft.facets),
        "duration_weeks": {
            key: value for key, value in weeks.items() if value is not None or f"duration_weeks.{key}" in empty
        },
        "asked_as": question_lines(draft.asked_as or ""),
        "findings": [_finding_values(finding) for finding in draft.findings],
        "risk_of_bias": bias_to_json(draft.risk_of_bias),
        "passages": [_passage_values(passage) for passage in draft.passages],
        "notice": None if draft.notice is Notice.NONE else draft.notice,
    }
    kept: dict[str, Any] = {}
    for key in STUDY_KEYS:
        if key in REQUIRED_KEYS or not _is_empty(values[key]):
            kept[key] = values[key]
        elif key in empty:
            kept[key] = json.loads(empty[key])
    return kept


def _population(draft: StudyDraft) -> dict[str, Any]:
    return {"description": draft.population} | {key: getattr(draft, key) for key in POPULATION_KEYS[1:]}


def _finding_values(finding: FindingDraft) -> dict[str, Any]:
    said = dict(zip(FINDING_SAID, finding.said, strict=True))
    beside = {
        "plain": finding.plain,
        "lean": finding.lean,
        "unconfirmed": finding.is_unconfirmed,
        "asked_as": question_lines(finding.asked_as or ""),
        "effect": finding.effect and effect_to_json(finding.effect),
    }
    return said | {key: value for key, value in beside.items() if value}


def _passage_values(passage: PassageDraft) -> dict[str, Any]:
    values: dict[str, Any] = {"section": passage.section, "text": passage.text}
    if passage.page is not None:
        values["page"] = passage.page
    if passage.kind is not PassageKind.SUMMARY:
        values["kind"] = passage.kind
    if passage.heading:
        values["heading"] = passage.heading
    if passage.cited:
        values["cites"] = [{key: value for key, value in asdict(work).items() if value != ""} for work in passage.cited]
    if questions := question_lines(passage.asked_as or ""):
        values["asked_as"] = questions
    return values


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], (), {})


def digest(draft: StudyDraft) -> str:
    """Return the SHA-256 of a draft's content, equal for files that differ only in layout."""
    stated = ",".join(draft.columns) if draft.columns is not None else "*"
    return hashlib.sha256(stated.encode() + b"\0" + study_json(draft)).hexdigest()


def master_row(draft: StudyDraft) -> dict[str, str]:
    cells: dict[str, Any] = {column: getattr(draft, column) for column in MASTER_COLUMNS if column != "n_passages"}
    cells |= {
        "authors": ";".join(draft.authors),
        "concepts": ";".join(draft.concepts),
        "facets": ";".join(to_pairs(draft.facets)),
        "peer_reviewed": "true" if draft.peer_reviewed else "false",
        "n_passages": len(draft.passages),
    }
    return {column: "" if cells[column] is None else str(cells[column]) for column in MASTER_COLUMNS}


def master_csv(drafts: Iterable[StudyDraft]) -> bytes:
    out = io.StringIO(newline="")
    rows = list(drafts)
    has_people = any(draft.has_people for draft in rows)
    has_facets = any(draft.facets for draft in rows)
    absent = {*(() if has_people else OF_PEOPLE), *(() if has_facets else ("facets",))}
    columns = [column for column in MASTER_COLUMNS if column not in absent]
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for cells in map(master_row, rows):
        writer.writerow({column: safe_cell(cells[column]) for column in columns})
    return out.getvalue().encode()


def concepts_json(vocabulary: Vocabulary) -> bytes:
    """Return concepts.json with one object per line, for readable diffs."""
    concepts = [
        {
            "id": draft.concept_id,
            "name": draft.name,
            "kind": draft.kind,
            "aliases": draft.aliases,
            "definition": draft.definition,
            "collections": draft.collections,
        }
        | ({} if draft.wanted is Wanted.NEITHER else {"wanted": draft.wanted.value})
        for draft in vocabulary.concepts
    ]
    relations = [{key: getattr(draft, key) for key in RELATION_KEYS} for draft in vocabulary.relations]
    collections = [
        {"id": draft.slug, "name": draft.name, "description": draft.description, "keywords": draft.keywords}
        for draft in vocabulary.collections
    ]
    parts: dict[str, Sequence[Mapping[str, Any]]] = {
        "concepts": concepts,
        "relations": relations,
        "collections": collections,
    }
    if vocabulary.certainties:
        parts["certainties"] = [_certainty_values(draft) for draft in vocabulary.certainties]
    body = ",\n".join(f'"{name}": {_one_a_line(objects)}' for name, objects in parts.items())
    return f"{{\n{body}\n}}\n".encode()


def _certainty_values(draft: CertaintyDraft) -> dict[str, Any]:
    values = {key: getattr(draft, key) for key in CERTAINTY_KEYS} | {"facets": facets_to_json(draft.facets)}
    return {key: value for key, value in values.items() if value}


def _one_a_line(objects: Sequence[Mapping[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(found, ensure_ascii=False) for found in objects) + "\n]"
