"""Read studies or passages from CSV, JSON, JSON Lines and CSL-JSON, with common column names."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from common.dois import find_doi
from corpus_app.passages import SectionText
from corpus_app.records import ORDINARY_KINDS, Design, PassageKind, Section
from corpus_app.sources.abstracts import split_abstract
from corpus_app.sources.bibliography import (
    UNREVIEWED,
    Intake,
    Item,
    Record,
    clean_text,
    drafted,
    encoding_note,
    items_of,
)
from corpus_app.sources.decisions import column_labels, note_labels, tag_labels
from corpus_app.sources.drafts import AddedPassages, PassageDraft, Problem, Weight
from corpus_app.sources.facet_columns import facet_column, take_facets
from corpus_app.sources.files import (
    MAX_FILE_BYTES,
    Refused,
    line_numbers,
    line_of,
    no_constant,
    parse_json,
    without_twins,
)
from corpus_app.sources.headings import section_of
from corpus_app.sources.intake import Encoding, Source, encoding_of, lines_of, text_of
from corpus_app.sources.studies import study_from
from corpus_app.sources.values import STUDY_ID, bare_cell, kind_of, shown, text_fault

MAX_COLUMNS = 200
MAX_CELL = 200_000  # characters
MAX_JSON_BYTES = 20_000_000  # JSON is read whole; lines of JSON are not

# The names that exporters give their columns, in small letters without blanks and marks.
_NAMES: dict[str, tuple[str, ...]] = {
    "study_id": ("study_id", "studyid", "study"),
    "title": ("title", "articletitle", "documenttitle", "papertitle", "primarytitle"),
    "authors": ("authors", "author", "authorfullnames", "authornames", "creators", "author(s)"),
    "year": ("year", "publicationyear", "publishedyear", "pubyear", "py"),
    "journal": ("journal", "sourcetitle", "journaltitle", "publicationtitle", "journal/book", "secondarytitle",
    "containertitle", "publicationname", "source"),
    "doi": ("doi", "digitalobjectidentifier", "doilink"),
    "pmid": ("pmid", "pubmedid", "medlineid", "pubmed_id"),
    "accession": ("accessionnumber",),
    "extra": ("extra",),
    "date": ("date", "publicationdate", "issued"),
    "url": ("url", "link", "urls", "articleurl"),
    "abstract": ("abstract", "abstractnote", "abstracttext"),
    "kind_of_study": ("documenttype", "publicationtype", "itemtype", "type", "articletype", "design"),
    "section": ("section", "heading", "part"),
    "text": ("text", "passage", "passagetext", "content"),
    "page": ("page", "pageno", "pagenumber"),
    "kind": ("kind", "passagekind"),
    "licence": ("licence", "license"),
    "notes": ("notes", "note", "researchnotes"),
    "tags": ("tags", "manualtags", "labels"),
    "collections": ("collectionnames",),
    "decision": ("decision", "inclusion", "screeningdecision"),
    "reasons": ("exclusionreason", "exclusionreasons", "reasonforexclusion"),
    "covidence": ("covidence#",),
    "zotero": ("automatictags",),
}  # fmt: skip
_KNOWN = {alias: name for name, aliases in _NAMES.items() for alias in (name, *aliases)}


def _column(name: str) -> str:
    return _KNOWN.get(_alias(name), "")


def _alias(name: str) -> str:
    """Return the spelling of a column's name in `_NAMES`."""
    plain = name.strip().lower().lstrip("\ufeff")
    return plain if plain in _KNOWN else re.sub(r"[\s_-]+", "", plain)


# --- CSV --------------------------------------------------------------------------------------------------------------


def delimiter_of(line: str) -> str:
    return max(",;\t", key=lambda mark: (line.count(mark), mark == ","))


def is_retraction_list(head: str) -> bool:
    first = re.sub(r"[\s_-]", "", head.lstrip("\ufeff\n ").split("\n", 1)[0].lower())
    return "originalpaperdoi" in first or "retractionnature" in first


def is_csv(head: str) -> bool:
    first = head.lstrip("\ufeff\n ").split("\n", 1)[0]
    names = {_column(cell.strip('" ')) for cell in first.split(delimiter_of(first))}
    return bool(names & {"title", "text"}) and len(names - {""}) > 1


def csv_items(source: Source, intake: Intake) -> Iterator[Item | AddedPassages]:
    encoding = encoding_of(source)
    yield from encoding_note(source, encoding)
    rows = csv_rows(source, encoding)
    header_line, header = next(rows, (1, []))
    names = _header(header, header_line, intake)
    if unknown := [cell for cell, name in zip(header, names, strict=True) if not name and cell.strip()]:
        yield Problem(
            source.name,
            header_line,
            "",
            f"the columns {shown(', '.join(unknown))} are not known and were left unread.",
            Weight.REPORTED,
        )
    if "notes" in names:
        reason = (
            "of this column the decisions, exclusion reasons and labels of screening tools were read, no other words."
        )
        yield Problem(source.name, header_line, header[names.index("notes")], reason, Weight.REPORTED)
    yield from _objects_to_items(_cells(rows, names, source.name), source.name, intake)


def _header(header: list[str], line: int, intake: Intake) -> list[str]:
    names = [_column(cell) or facet_column(cell, intake) for cell in header]
    if len(header) > MAX_COLUMNS:
        raise Refused(f"has {len(header)} columns; it is no table of studies.", line)
    if not {"title", "text"} & set(names):
        raise Refused("has neither a column title nor a column text; the first line names the columns.", line)
    return [name if index == _best(header, names, name) else "" for index, name in enumerate(names)]


def _best(header: list[str], names: list[str], name: str) -> int:
    """Return which of several columns of one meaning serves: Document Type before Publication Type."""
    places = [index for index, other in enumerate(names) if other == name]
    order = [*_KNOWN]
    return min(places, key=lambda index: (order.index(_alias(header[index])) if name in _NAMES else 0, index))


def csv_rows(source: Source, encoding: Encoding) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each row that is not blank."""
    lines = lines_of(source, encoding)
    first = next(lines, (1, ""))
    at = [first[0]]

    def text() -> Iterator[str]:
        yield first[1] + "\n"
        for number, line in lines:
            at[0] = number
            yield line + "\n"

    csv.field_size_limit(MAX_CELL)
    rows = csv.reader(text(), delimiter=delimiter_of(first[1]), strict=True)
    begins = 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise Refused(f"is not sound CSV from here on: {error}.", begins) from None
        if row is None:
            return
        if any(cell.strip() for cell in row):
            yield begins, [bare_cell(cell) for cell in row]
        begins = at[0] + 1


def _cells(
    rows: Iterator[tuple[int, list[str]]], names: list[str], file: str
) -> Iterator[tuple[int, dict[str, Any]] | Problem]:
    for line, row in rows:
        if len(row) > len(names) and any(cell.strip() for cell in row[len(names) :]):
            yield Problem(
                file, line, "", f"has {len(row)} cells; the first line names {len(names)}. Is a quote missing?"
            )
            continue
        cells = zip(names, row, strict=False)
        yield line, {name: cell for name, cell in cells if name and (cell.strip() or _column(name) == "zotero")}


# --- JSON -------------------------------------------------------------------------------------------------------------


def is_json(head: str) -> bool:
    return head.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}


def json_items(source: Source, intake: Intake) -> Iterator[Item | AddedPassages]:
    encoding = encoding_of(source)
    yield from encoding_note(source, encoding)
    if _is_lines(source, encoding):
        yield from _objects_to_items(_json_lines(source, encoding), source.name, intake)
        return
    if source.size > MAX_JSON_BYTES:
        raise Refused(
            f"is larger than {MAX_JSON_BYTES // 1_000_000} MB; write one object a line (JSON Lines) or split it."
        )
    text = text_of(source, encoding)
    found = (
        _in_object(text, source.name)
        if text.lstrip().startswith("{")
        else _in_list(text, text.index("[") + 1, 1, source.name)
    )
    yield from _objects_to_items(found, source.name, intake)


def _in_object(text: str, file: str) -> Iterator[tuple[int, dict[str, Any]] | Problem]:
    """Yield one study, or the studies or passages listed under the usual keys."""
    if len(text) > MAX_FILE_BYTES:
        raise Refused("is one object of more than 5 MB; write a list, or one object a line (JSON Lines).")
    value = parse_json(text)
    key = next(
        (key for key in ("studies", "passages", "items", "records", "references") if isinstance(value.get(key), list)),
        "",
    )
    if not key or "study_id" in value:
        yield 1, value | {"\0text": text}
        return
    at = re.search(rf'"{key}"\s*:\s*\[', text)
    start = at.end() if at else 0
    yield from _in_list(text, start, text.count("\n", 0, start) + 1, file)


_DECODER = json.JSONDecoder(object_pairs_hook=without_twins, parse_constant=no_constant)
MAX_WRONG = 100  # entries of a list that are no objects; more of them is another kind of file


def _in_list(text: str, at: int, line: int, file: str) -> Iterator[tuple[int, dict[str, Any]] | Problem]:
    """Yield the objects of a list with their lines, up to the first syntax error."""
    counted = 0 if line == 1 else at
    wrong = 0
    while True:
        at = _after(text, at)
        line += text.count("\n", counted, at)
        counted = at
        if text[at : at + 1] in {"]", ""}:
            if not text[at:]:
                yield Problem(file, line, "", "is not sound JSON: the list has no end.")
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            yield Problem(file, error.lineno, "", f"is not JSON from here on: {error.msg} at column {error.colno}.")
            return
        except RecursionError:
            raise Refused("is nested too deeply.", line) from None
        except ValueError as error:
            raise Refused(f"is not sound JSON: {error}.", line) from None
        if isinstance(value, dict):
            yield line, value | {"\0text": text[at:end]}
        else:
            wrong += 1
            yield Problem(file, line, "", f"is {kind_of(value)}; it should be an object.")
            if wrong >= MAX_WRONG:
                raise Refused("is no list of sources or passages.", line)
        at = _after(text, end)
        if text[at : at + 1] == ",":
            at += 1


def _after(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


_SPACE = re.compile(r"\s*")


def _is_lines(source: Source, encoding: Encoding) -> bool:
    """Return whether each line is a JSON object, judging by the first two lines."""
    first = [line for _, line in _take(lines_of(source, encoding), 2)]
    try:
        return len(first) == 2 and all(isinstance(json.loads(line), dict) for line in first if line.strip())
    except (ValueError, RecursionError):
        return False


def _take(lines: Iterator[tuple[int, str]], count: int) -> Iterator[tuple[int, str]]:
    for _, line in zip(range(count), lines, strict=False):
        yield line


def _json_lines(source: Source, encoding: Encoding) -> Iterator[tuple[int, dict[str, Any]] | Problem]:
    for number, line in lines_of(source, encoding):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except Refused as refused:
            yield Problem(source.name, number, "", refused.reason)
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            yield Problem(source.name, number, "", f"is {kind_of(value)}; it should be an object.")


# --- Objects to items -------------------------------------------------------------------------------------------------


def _objects_to_items(
    found: Iterator[tuple[int, dict[str, Any]] | Problem], file: str, intake: Intake
) -> Iterator[Item | AddedPassages]:
    """Yield studies as they are read, then passages grouped by study."""
    groups: dict[tuple[str, str, str], tuple[int, list[PassageDraft]]] = {}
    is_empty = True
    for entry in found:
        is_empty = False
        if isinstance(entry, Problem):
            yield entry
            continue
        line, values = entry
        if isinstance(values.get("data"), dict) and "itemType" in values["data"]:
            values = values["data"]  # of Zotero's API
        if "passages" in values or {"study_id", "design", "collection"} <= values.keys():
            yield from _own_study(values, line, file, intake)
        elif "text" in values and not values.get("title"):
            yield from _passage(values, line, file, groups)
        else:
            record = _record(values, line, file)
            take_facets(record, values, intake)
            yield from items_of(record, intake)
    if is_empty:
        yield Problem(file, None, "", "holds no study and no passage.")
    for (study_id, doi, pmid), (line, passages) in groups.items():
        yield AddedPassages(study_id, doi, pmid, tuple(passages), file, line)


def _own_study(values: dict[str, Any], line: int, file: str, intake: Intake) -> Iterator[Item]:
    """Yield a study with the keys of the corpus folder; the import's settings fill missing values."""
    text = values.pop("\0text", "")
    defaults: dict[str, Any] = {
        "design": Design.OTHER.value,
        "peer_reviewed": False,
        "collection": intake.collection,
        "status": "draft",
        "passages": [],
    }
    stated = {key: value for key, value in values.items() if value is not None}
    merged = defaults | stated
    if merged["status"] == "draft":
        merged.setdefault("status_reason", intake.status_reason)
    draft, notes = study_from(merged)
    if draft is None:
        lines = line_numbers(text) if text else {}
        for name, reason in notes:
            yield Problem(file, line + (line_of(name, lines) or 1) - 1 if lines else line, name, reason)
        return
    yield replace(draft, origin=file, line=line)


def _passage(
    values: Mapping[str, Any], line: int, file: str, groups: dict[tuple[str, str, str], tuple[int, list[PassageDraft]]]
) -> Iterator[Problem]:
    study = str(values.get("study_id") or "").strip()
    doi, pmid = find_doi(str(values.get("doi") or "")), str(values.get("pmid") or "").strip()
    if not (study or doi or pmid):
        yield Problem(file, line, "study_id", "is missing, and so are doi and pmid: the passage belongs to no study.")
        return
    if study and not STUDY_ID.fullmatch(study):
        yield Problem(file, line, "study_id", f"is {shown(study)}; an id has letters, digits, dots and dashes only.")
        return
    text, named = values["text"], str(values.get("section") or "").strip()
    if not isinstance(text, str) or not text.strip():
        yield Problem(
            file, line, "text", "is empty." if isinstance(text, str) else f"is {kind_of(text)}; it should be text."
        )
        return
    if fault := text_fault(text):
        yield Problem(file, line, "text", fault)
        return
    section = Section(named) if named in set(Section) else section_of(named)
    if section is None:
        reason = (
            f"is {shown(named)}; it should be one of {', '.join(Section)}."
            if named
            else f"is missing; it should be one of {', '.join(Section)}."
        )
        yield Problem(file, line, "section", reason)
        return
    page, kind = str(values.get("page") or "").strip(), str(values.get("kind") or PassageKind.EXCERPT)
    if page and not page.isdigit():
        yield Problem(
            file, line, "page", f"is {shown(page)}; it should be a whole number. It was left out.", Weight.DROPPED
        )
    if kind not in ORDINARY_KINDS:
        yield Problem(file, line, "kind", f"is {shown(kind)}; it should be one of {', '.join(ORDINARY_KINDS)}.")
        return
    draft = PassageDraft(
        section=section,
        text=text,
        page=int(page) if page.isdigit() else None,
        kind=PassageKind(kind),
        heading="" if named in set(Section) else named,
    )
    groups.setdefault((study, doi, pmid), (line, []))[1].append(draft)


def _record(values: Mapping[str, Any], line: int, file: str) -> Record:
    plain = {name: values[key] for key in values if key != "\0text" and (name := _column(key))}

    def text(name: str) -> str:
        value = plain.get(name, "")
        return (
            value
            if isinstance(value, str)
            else ""
            if isinstance(value, dict | list | bool) or value is None
            else str(value)
        )

    record = Record(
        file,
        line,
        title=text("title"),
        authors=_authors(plain.get("authors")),
        year=text("year") or _csl_year(values.get("issued")),
        other_years=[text("date")],
        journal=text("journal")
        or (values.get("container-title") if isinstance(values.get("container-title"), str) else "")
        or "",
        dois=[text("doi")] if text("doi") else [],
        pmid=text("pmid").removesuffix(".0") or _pmid_besides(text("extra"), text("accession")),
        urls=[text("url")] if text("url") else [],
        kinds=_kinds(text("kind_of_study")),
        licence=text("licence"),
        labels=_labels(plain, text),
    )
    if abstract := text("abstract"):
        record.abstract = split_abstract(abstract)
    if body := text("text"):
        record.passages = drafted([SectionText(Section.ABSTRACT, "", clean_text(body))])
    record.is_reviewed = not any(UNREVIEWED.search(kind) for kind in record.kinds)
    if not record.is_reviewed:
        kind = next(kind for kind in record.kinds if UNREVIEWED.search(kind))
        reason = f"the item type is {kind}: taken as not peer reviewed. Correct it where it is."
        record.report("peer_reviewed", reason)
    return record


def _kinds(cell: str) -> list[str]:
    """Return the kinds of publication in a cell, in words: `journalArticle`, `Article; Early Access`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"[_-]", " ", cell)).lower()
    return [kind.strip() for kind in re.split(r"[;|]", words)]


def _labels(plain: Mapping[str, Any], text: Callable[[str], str]) -> list[str]:
    """Return the decisions, tags and collections of a record."""
    tool = "Covidence" if text("covidence") else "Zotero" if {"zotero", "extra"} & plain.keys() else ""
    tags, collections = plain.get("tags"), plain.get("collections")
    found = note_labels([text("notes")]) + column_labels(text("decision"), text("reasons"), tool)
    if isinstance(tags, list):  # of Zotero; the type 1 is set by a publisher's page, as keywords are
        own = [tag for tag in tags if not isinstance(tag, dict) or tag.get("type") != 1]
        found += [f"Zotero: {tag.get('tag') if isinstance(tag, dict) else tag}" for tag in own]
    else:
        found += tag_labels(text("tags"), tool)
    named = collections if isinstance(collections, list) else []
    return found + [f"Zotero: {name}" for name in named]


def _pmid_besides(extra: str, accession: str) -> str:
    """Return the PMID that Zotero keeps in Extra, and Covidence as the accession number."""
    if match := re.search(r"^[^\S\n]*PMID:\s*(\d{1,8})\b", extra, re.IGNORECASE | re.MULTILINE):
        return match[1]
    return accession.strip() if re.fullmatch(r"\d{5,8}", accession.strip()) else ""


def _authors(value: Any) -> list[str]:
    if isinstance(value, list):
        kinds = [entry.get("creatorType", "author") if isinstance(entry, dict) else "author" for entry in value]
        if "author" in kinds:
            value = [entry for entry, kind in zip(value, kinds, strict=True) if kind == "author"]
        return [name for entry in value if (name := _csl_name(entry) if isinstance(entry, dict) else str(entry))]
    if not isinstance(value, str):
        return []
    value = re.sub(r"(?<!\s)\s*\(\d{6,}\)", "", value)  # Scopus writes its ids behind the names
    if ";" in value:
        return [name.strip() for name in value.split(";") if name.strip()]
    if re.search(r"\band\b", value):
        return [name.strip() for name in re.split(r"(?<!\s)\s+and\s+", value) if name.strip()]
    parts = [part.strip(" .") for part in value.split(",") if part.strip(" .")]
    if len(parts) > 1 and all(map(_has_initials_last, parts)):
        return parts  # PubMed's own CSV: "Schoenfeld BJ, Ogborn D, Krieger JW."
    if (
        len(parts) > 2
        and len(parts) % 2 == 0
        and all(re.fullmatch(r"(?:[A-Z]\.?[ -]?){1,4}", part) for part in parts[1::2])
    ):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return parts if len(parts) > 2 else [value.strip()] if value.strip() else []


def _has_initials_last(name: str) -> bool:
    family, _, initials = name.rpartition(" ")
    return bool(re.search(r"[^\W\d_]{2}", family) and re.fullmatch("[A-Z]{1,4}", initials))


def _csl_name(entry: Mapping[str, Any]) -> str:
    if literal := str(entry.get("literal") or entry.get("name") or ""):
        return "{" + literal + "}"
    names = ("non-dropping-particle", "family", "lastName")
    family = " ".join(str(entry.get(key) or "") for key in names).strip()
    given = str(entry.get("given") or entry.get("firstName") or "")
    return f"{family}, {given}" if given else family


def _csl_year(issued: Any) -> str:
    try:
        return str(issued["date-parts"][0][0])
    except (KeyError, IndexError, TypeError):
        return str(issued.get("raw") or issued.get("literal") or "") if isinstance(issued, dict) else ""
