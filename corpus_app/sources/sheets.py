"""Spreadsheets of studies: written to be mended, and read back cell by cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from corpus_app.facets import COLUMNS as COLUMNS_OF_FACETS
from corpus_app.facets import facets_to_json, find_fault, from_pairs, to_pairs
from corpus_app.sources.bibliography import Intake, Item, encoding_note
from corpus_app.sources.citing import spreadsheet_pieces
from corpus_app.sources.drafts import Known, Problem, SheetRow, StudyDraft, Weight
from corpus_app.sources.files import Refused
from corpus_app.sources.intake import Source, encoding_of, is_ascii
from corpus_app.sources.studies import study_from
from corpus_app.sources.tables import csv_rows, delimiter_of
from corpus_app.sources.values import STUDY_ID, listed, plain_number, shown

LISTS = frozenset({"authors", "concepts", "labels", "facets"})
NUMBERS = frozenset({"year", "n_studies", "n_participants", "source_ref"})
WEEKS = frozenset({"duration_weeks_min", "duration_weeks_max"})
PROSE = frozenset({"title", "population", "takeaway", "asked_as", "curator_notes"})
READ_ONLY = frozenset({"study_id", "version", "status", "status_reason", "notice", "n_passages"})
"""Columns that tell a curator where a study stands; acts of their own change them."""
COLUMNS = (
    "study_id", "version", "title", "authors", "year", "journal", "doi", "pmid", "url", "design", "peer_reviewed",
    "collection", "population", "training_status", "age_group", "sex", "facets", "n_studies", "n_participants",
    "duration_weeks_min", "duration_weeks_max", "concepts", "takeaway", "asked_as", "licence", "labels",
    "curator_notes", "source_ref", "status", "status_reason", "notice", "n_passages",
)  # fmt: skip
"""The last one is never empty, so that a row which a spreadsheet cut short is noticed."""
LONGEST_CELL = 32_767  # characters: what a cell of a spreadsheet holds


# --- Writing


def sheet_pieces(rows: Iterable[tuple[int, StudyDraft]], facets: Collection[str] = ()) -> Iterator[bytes]:
    """Yield a CSV of studies to be mended, piece by piece; `facets` without a column of their own share one."""
    columns = [column for column in COLUMNS if column != "facets" or not COLUMNS_OF_FACETS.keys() >= set(facets)]
    cells = (cells_of(draft) | {"version": str(version)} for version, draft in rows)
    return spreadsheet_pieces(columns, ([row[column] for column in columns] for row in cells))


def cells_of(draft: StudyDraft) -> dict[str, str]:
    """Return the cells of a study without its version; entries of a list are parted by semicolons."""
    values = {column: getattr(draft, column, None) for column in COLUMNS if column != "version"}
    values["facets"] = to_pairs(draft.facets)
    values |= {column: "; ".join(entry.replace(";", ";;") for entry in values[column] or ()) for column in LISTS}
    values |= {"peer_reviewed": "true" if draft.peer_reviewed else "false", "n_passages": len(draft.passages)}
    return {column: "" if value is None else str(value) for column, value in values.items()}


# --- Reading


def is_sheet(head: str) -> bool:
    names = _names(head.lstrip("\ufeff\n ").split("\n", 1)[0])
    return {"study_id", "version"} <= names and len(names & set(COLUMNS)) > 2


def _names(line: str) -> set[str]:
    return {cell.strip().strip('"').strip().lower() for cell in line.split(delimiter_of(line))}


def items(source: Source, intake: Intake) -> Iterator[Item | SheetRow]:
    """Yield the rows of an exported spreadsheet; a column that was left out changes nothing."""
    encoding = encoding_of(source)
    yield from encoding_note(source, encoding)
    rows = csv_rows(source, encoding)
    line, header = next(rows, (1, []))
    names = [cell.strip().lower() for cell in header]
    if twins := sorted({name for name in names if name and names.count(name) > 1}):
        raise Refused(f"has the column {shown(', '.join(twins))} twice; keep one.", line)
    if unknown := [name for name in names if name and name not in COLUMNS]:
        reason = f"the columns {shown(', '.join(unknown))} are not known and were left unread."
        yield Problem(source.name, line, "", reason, Weight.REPORTED)
    is_lossy = not encoding.codec.startswith("utf") or is_ascii(source)
    for line, row in rows:
        if len(row) != len(names):
            reason = f"has {len(row)} cells; the first line names {len(names)}. Nothing of this row was read."
            yield Problem(source.name, line, "", reason)
            continue
        cells = {name: cell for name, cell in zip(names, row, strict=True) if name in COLUMNS}
        study_id, version = cells["study_id"].strip(), _without_fraction(cells["version"].strip())
        if not STUDY_ID.fullmatch(study_id):
            yield Problem(source.name, line, "study_id", f"is {shown(study_id) or 'empty'}; it names no study.")
            continue
        seen = int(version) if re.fullmatch(r"[0-9]{1,9}", version) else None
        yield SheetRow(study_id, seen, cells, is_lossy, source.name, line)


# --- Comparing


def read_changes(present: StudyDraft, row: SheetRow, known: Known) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the values that a row changes by field, and by column what was left as it is and why."""
    stored = cells_of(present)
    notes: list[tuple[str, str]] = []
    wanted: dict[str, str] = {}
    for column, cell in row.cells.items():
        before, after = stored.get(column, ""), _plain(cell)
        if column in {"study_id", "version"} or _is_same(_plain(before), after):
            continue
        if column in READ_ONLY:
            notes.append((column, "is not changed by a spreadsheet; it was left as it is."))
        elif damage := _find_damage(column, _plain(before), after, is_lossy=row.is_lossy):
            notes.append((column, f"{damage}; it was left as it is."))
        else:
            wanted[column] = after
    draft, found = _parse(present, wanted, known)
    if draft is None:  # once more, without what was wrong
        notes += found
        wrong = {column for column, _ in found}
        wanted = {column: cell for column, cell in wanted.items() if column not in wrong}
        draft, found = _parse(present, wanted, known)
        if draft is None:
            return {}, notes + found
    changes = {column: getattr(draft, column) for column in wanted}
    return {name: value for name, value in changes.items() if value != getattr(present, name)}, notes


def _plain(cell: str) -> str:
    return cell.replace("\r\n", "\n").replace("\r", "\n").strip()


def _is_same(before: str, after: str) -> bool:
    return after == before or (before.isdecimal() and _without_fraction(after) == before)


def _without_fraction(cell: str) -> str:
    """Return a whole number without the `.0` that some programs write after it."""
    return re.sub(r"^([0-9]+)[.,]0+$", r"\1", cell)


_COLUMN_OF = {"population.description": "population"} | {
    f"population.{name}": name for name in ("training_status", "age_group", "sex")
}
_WEEKS_OF = {"duration_weeks_min": "min", "duration_weeks_max": "max"}


_UNCHANGED: dict[str, Any] = {
    "title": "-", "authors": [], "design": "other", "peer_reviewed": True, "collection": "-", "status": "published",
    "passages": [],
}  # fmt: skip
"""What stands for the cells that did not change."""


def _parse(
    present: StudyDraft, wanted: Mapping[str, str], known: Known
) -> tuple[StudyDraft | None, list[tuple[str, str]]]:
    """Return a draft that holds these cells; None, with the faults by column, when some cannot be read.

    Cells that did not change are not judged once more.
    """
    values: dict[str, Any] = _UNCHANGED | {"study_id": present.study_id}
    if wanted.keys() & WEEKS:
        values["duration_weeks"] = {"min": present.duration_weeks_min, "max": present.duration_weeks_max}
    faults: list[tuple[str, str]] = []
    for column, cell in wanted.items():
        try:
            _put(values, column, _value(column, cell))
        except ValueError as error:
            faults.append((column, f"is {shown(cell)}; it should be {error}."))
    told = {column for column, _ in faults}
    draft, notes = study_from(values)
    faults += [(column, reason) for place, reason in notes if (column := _column(place, wanted)) not in told]
    if draft is not None:
        faults += _find_unknown(draft, wanted, known)
    return (None, faults) if faults else (draft, [])


def _put(values: dict[str, Any], column: str, value: Any) -> None:
    if column in _WEEKS_OF:
        values["duration_weeks"] = {**values.get("duration_weeks", {}), _WEEKS_OF[column]: value}
    elif column == "facets":
        values[column] = facets_to_json(from_pairs(value))
    elif column in _COLUMN_OF.values():
        key = "description" if column == "population" else column
        values["population"] = {**values.get("population", {}), key: value}
    else:
        values[column] = value


def _column(place: str, wanted: Mapping[str, str]) -> str:
    """Return the column that a fault is reported at."""
    place = re.sub(r"\[\d+\]", "", place)
    if place.startswith("duration_weeks"):
        return next((column for column in _WEEKS_OF if column in wanted), "duration_weeks_min")
    return _COLUMN_OF.get(place, place)


def _find_unknown(draft: StudyDraft, wanted: Mapping[str, str], known: Known) -> Iterator[tuple[str, str]]:
    if "collection" in wanted and draft.collection not in known.collections:
        yield "collection", f"is {shown(draft.collection)}; known are {listed(known.collections)}."
    if "concepts" in wanted and (unknown := [name for name in draft.concepts if name not in known.concepts]):
        yield "concepts", f"names {shown(', '.join(unknown))}: no such concept here."
    if "facets" in wanted and (fault := find_fault(facets_to_json(draft.facets), known.facets)):
        yield "facets", fault


_TRUE = frozenset({"true", "yes", "1", "wahr", "ja", "vrai", "oui"})
_FALSE = frozenset({"false", "no", "0", "falsch", "nein", "faux", "non"})


def _value(column: str, cell: str) -> Any:
    """Return a cell's value as a study file holds it. Raises ValueError, which says what it should be."""
    if column in LISTS:
        return _entries(cell)
    if column == "asked_as":
        return [line.strip() for line in cell.split("\n") if line.strip()]
    if not cell:
        return None
    if column in NUMBERS:
        return _number(_without_fraction(cell), r"[0-9]{1,12}", int, "a whole number")
    if column in WEEKS:
        return plain_number(_number(cell.replace(",", "."), r"[0-9]{1,12}(\.[0-9]+)?", float, "a number"))
    if column == "peer_reviewed":
        if cell.lower() not in _TRUE | _FALSE:
            raise ValueError("true or false")
        return cell.lower() in _TRUE
    return cell


def _number(cell: str, pattern: str, convert: Callable[[str], Any], expected: str) -> Any:
    if not re.fullmatch(pattern, cell):
        raise ValueError(expected)
    return convert(cell)


def _entries(cell: str) -> list[str]:
    """Return the entries of a list: a semicolon parts them, a double one is a semicolon of an entry."""
    entries = [""]
    for piece in re.split(r"(;;|;|\n)", cell):
        if piece in {";", "\n"}:
            entries.append("")
        else:
            entries[-1] += ";" if piece == ";;" else piece
    return [entry.strip() for entry in entries if entry.strip()]


# --- What spreadsheets do to cells

_ROUNDED = re.compile(r"[+-]?\d+([.,]\d+)?E[+-]?\d+", re.IGNORECASE)
_ERROR = re.compile(r"#[A-ZÄÖÜÉ/0-9?!]{2,12}[!?]?|#{3,}")
_LIKE_DATE = re.compile(r"\d{1,4}([-/.]\d{1,4}){1,2}")  # what spreadsheets take for a date: 3-5, 2026-11, 1/2/2020
_WHOLE_DATE = re.compile(r"(\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}-\d\d-\d\d)( \d\d?:\d\d(:\d\d)?)?")
_NAMED_DATE = re.compile(r"\d{1,2}[-. ]+[^\W\d]{3,9}\.?([-. ]+\d{2,4})?|[^\W\d]{3,9}\.?[-. ]\d{2,4}")


def _find_damage(column: str, before: str, after: str, *, is_lossy: bool) -> str:
    """Return what a spreadsheet seems to have done to a cell; empty when the change is a person's."""
    if _ROUNDED.fullmatch(after) and not _ROUNDED.fullmatch(before):
        return f"is {shown(after)}, a number that a spreadsheet has rounded"
    if _ERROR.fullmatch(after):
        return f"is {shown(after)}, which a spreadsheet shows in place of a value"
    is_named = _NAMED_DATE.fullmatch(after) and _LIKE_DATE.fullmatch(before)
    if is_named or (_WHOLE_DATE.fullmatch(after) and (column not in PROSE or _LIKE_DATE.fullmatch(before))):
        return f"is {shown(after)}, a date that a spreadsheet made of it"
    if before.isdecimal() and before.startswith("0") and after == before.lstrip("0"):
        return f"is {shown(after)} without the zeros before it, which a spreadsheet has dropped"
    if len(before) > LONGEST_CELL and before.startswith(after) and len(after) >= LONGEST_CELL - 1:
        return f"is cut after {len(after):,} characters, as much as a cell of a spreadsheet holds"
    if is_lossy and _lost_characters(before, after):
        return "has lost characters that the file's encoding does not have. Save it as CSV UTF-8"
    return ""


def _lost_characters(before: str, after: str) -> bool:
    """Return whether the text only differs in characters that Windows-1252 lacks."""
    if len(before) != len(after) or before == after:
        return False
    return all(old == new or not _fits(old) for old, new in zip(before, after, strict=True))


def _fits(character: str) -> bool:
    try:
        character.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


def find_similar_id(study_id: str, known: Sequence[str] | frozenset[str]) -> str:
    """Return the id that differs only by leading zeros, which spreadsheets drop; empty if there is none."""
    if not study_id.isdecimal():
        return ""
    return next((other for other in known if other.isdecimal() and other.lstrip("0") == study_id.lstrip("0")), "")
