"""Read the master CSV, with one row of metadata per study."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from corpus_app.facets import facets_to_json, from_pairs
from corpus_app.sources.drafts import Problem, StudyDraft
from corpus_app.sources.files import Refused, read_text
from corpus_app.sources.layout import MASTER_COLUMNS, MASTER_REQUIRED, STUDIES
from corpus_app.sources.studies import study_from
from corpus_app.sources.values import bare_cell, plain_number, shown
from corpus_app.sources.writing import master_row


@dataclass(slots=True)
class Master:
    rows: dict[str, StudyDraft] = field(default_factory=dict)
    n_passages: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    broken: int = 0


def read_master(path: Path) -> Master:
    master = Master()
    try:
        text = read_text(path)
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = next(rows, [])
        _check_header(header)
        master.problems += _unknown_columns(path.name, header)
        _read_rows(path.name, header, rows, master)
    except Refused as refused:
        master.problems.append(Problem(path.name, refused.line, "", refused.reason))
    except csv.Error as error:
        master.problems.append(Problem(path.name, rows.line_num, "", f"is not sound CSV from here on: {error}."))
    return master


def _check_header(header: Sequence[str]) -> None:
    if not any(header):
        raise Refused("is empty.")
    if missing := [column for column in MASTER_REQUIRED if column not in header]:
        raise Refused(f"has no column {', '.join(missing)}; the first line names the columns.", 1)
    if twins := sorted({column for column in header if header.count(column) > 1}):
        raise Refused(f"has the column {shown(', '.join(twins))} twice; keep one.", 1)


def _unknown_columns(name: str, header: Sequence[str]) -> Iterator[Problem]:
    for column in header:
        if column not in MASTER_COLUMNS:
            yield Problem(name, 1, shown(column), "is not a column of the format; it was left unread.")


def _read_rows(name: str, header: Sequence[str], rows: Any, master: Master) -> None:
    while True:
        line = rows.line_num + 1
        row = next(rows, None)
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            master.problems.append(
                Problem(name, line, "", f"has {len(row)} cells; the first line names {len(header)}.")
            )
            master.broken += 1
            continue
        cells = dict(zip(header, map(bare_cell, row), strict=True))
        draft, notes = _from_cells(cells)
        study_id = cells["study_id"]
        if study_id in master.rows:
            notes, draft = [*notes, ("study_id", f"{shown(study_id)} has a row already.")], None
        master.problems += [Problem(name, line, place, f"{shown(study_id)}: {reason}") for place, reason in notes]
        if draft is None:
            master.broken += 1
            continue
        columns = tuple(column for column in header if column in MASTER_COLUMNS)
        master.rows[study_id] = replace(draft, origin=name, line=line, columns=columns)
        if cells.get("n_passages"):
            master.n_passages[study_id] = int(cells["n_passages"])


_COLUMN_OF = {
    "population.training_status": "training_status",
    "population.age_group": "age_group",
    "population.sex": "sex",
    "duration_weeks": "duration_weeks_min",
    "duration_weeks.min": "duration_weeks_min",
    "duration_weeks.max": "duration_weeks_max",
}


def _from_cells(cells: Mapping[str, str]) -> tuple[StudyDraft | None, list[tuple[str, str]]]:
    notes: list[tuple[str, str]] = []

    def cell(column: str, convert: Callable[[str], Any] = str) -> Any:
        text = cells.get(column, "")
        if not text.strip():
            return None
        try:
            return convert(text.strip()) if convert is not str else text
        except (KeyError, ValueError):
            notes.append((column, f"is {shown(text)}; it should be {_EXPECTED[convert]}."))
            return None

    cell("n_passages", _whole)
    values = {
        **{key: cell(key) for key in ("study_id", "title", "journal", "doi", "url", "design", "collection", "status")},
        **{key: cell(key) for key in ("status_reason", "curator_notes")},
        **{key: cell(key, _whole) for key in ("year", "n_studies", "n_participants")},
        "peer_reviewed": cell("peer_reviewed", _truth),
        "authors": _parts(cells.get("authors", "")),
        "concepts": _parts(cells.get("concepts", "")),
        "facets": facets_to_json(from_pairs(_parts(cells.get("facets", "")))),
        "population": {key: cell(key) for key in ("training_status", "age_group", "sex")},
        "duration_weeks": {key: cell(f"duration_weeks_{key}", _decimal) for key in ("min", "max")},
        "passages": [],
    }
    draft, found = study_from({key: value for key, value in values.items() if value is not None})
    told = {column for column, _ in notes}  # a cell that could not be read is not missing as well
    notes += [(place, reason) for place, reason in _by_column(found) if place not in told]
    if draft is None or notes:
        return None, notes
    return replace(draft, empty_keys=()), []


def _by_column(notes: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for place, reason in notes:
        yield _COLUMN_OF.get(place, place), reason


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(text)
    return int(text)


def _decimal(text: str) -> float:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        raise ValueError(text)
    return plain_number(float(text)) if "." in text else int(text)


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


_EXPECTED: dict[Callable[[str], Any], str] = {_whole: "a whole number", _decimal: "a number", _truth: "true or false"}


def _parts(text: str) -> list[str]:
    return [part for part in text.split(";") if part.strip()]


def compare(master: Master, drafts: Sequence[StudyDraft], broken_ids: Collection[str]) -> Iterator[Problem]:
    """Report where a row differs from the study's file, which takes precedence."""
    files = {draft.study_id: draft for draft in drafts}
    for study_id, row in master.rows.items():
        draft = files.get(study_id)
        if draft is None:
            if study_id not in broken_ids:
                yield row.problem("study_id", f"{study_id} has no file in {STUDIES}/, so nothing was imported of it.")
            continue
        said = master_row(row) | {"n_passages": str(master.n_passages.get(study_id, len(draft.passages)))}
        for column, value in master_row(draft).items():
            if column in (row.columns or ()) and said[column] != value:
                reason = f"{study_id}: says {_quoted(said[column])}, its file says {_quoted(value)}; the file was used."
                yield row.problem(column, reason)


def _quoted(value: str) -> str:
    return f"\u201c{shown(value)}\u201d" if value else "nothing"
