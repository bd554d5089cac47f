"""Read retraction lists: papers that were retracted, corrected or questioned, by DOI or PMID.

A list is a CSV with a header line. Column names are those of Retraction Watch (OriginalPaperDOI, OriginalPaperPubMedID,
RetractionNature, RetractionDate, Reason) or plain ones (doi, pmid, notice, date, reason), in any case.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from common.dois import normal_doi
from corpus_app.records import Notice
from corpus_app.sources import pmid_fault

DOI = ("originalpaperdoi", "doi")
PMID = ("originalpaperpubmedid", "pmid", "pubmedid")
NATURE = ("retractionnature", "notice", "nature")
DATE = ("retractiondate", "date")
REASON = ("reason", "reasons")
NATURES = {
    "retraction": Notice.RETRACTED,
    "retracted": Notice.RETRACTED,
    "correction": Notice.CORRECTED,
    "corrected": Notice.CORRECTED,
    "expression of concern": Notice.EXPRESSION_OF_CONCERN,
    "expression_of_concern": Notice.EXPRESSION_OF_CONCERN,
    "reinstatement": Notice.NONE,
    "none": Notice.NONE,
}
GRAVITY = {Notice.NONE: 0, Notice.CORRECTED: 1, Notice.EXPRESSION_OF_CONCERN: 2, Notice.RETRACTED: 3}
# 2024-01-31, or 1/31/2024 as Retraction Watch has it
_DAY = re.compile(r"(?:(\d{4})-(\d\d)-(\d\d)|(\d{1,2})/(\d{1,2})/(\d{4}))\b")
LONGEST_FIELD = 1_000_000  # characters; Python's own limit of a CSV field is smaller


class BadList(ValueError):
    """A file that is no retraction list; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class RetractionEntry:
    """A line of a retraction list."""

    line: int
    doi: str | None
    pmid: str | None
    notice: Notice
    reason: str
    day: date | None = None
    """None where the list names none that can be read."""


@dataclass(frozen=True, slots=True)
class RetractionList:
    entries: tuple[RetractionEntry, ...]
    problems: tuple[str, ...]
    """Lines that could not be used, and why."""


@dataclass(frozen=True, slots=True)
class Match:
    """A study named by a retraction list, and the notice that it should have."""

    study_id: str
    entry: RetractionEntry


def read(data: bytes) -> RetractionList:
    """Return the entries of all lines that name a paper. Raises BadList when the file is no retraction list."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if "\0" in text:
        raise BadList("This is no CSV file: it holds bytes that no text has.")
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    columns = {(name or "").strip().lower().replace(" ", ""): name for name in reader.fieldnames or ()}
    doi, pmid = _column(columns, DOI), _column(columns, PMID)
    if doi is None and pmid is None:
        raise BadList("The first line names neither a DOI column (OriginalPaperDOI or doi) nor a PMID column.")
    entries, problems = [], []
    try:
        for row in reader:
            entry = _entry(row, reader.line_num, columns, doi, pmid)
            if isinstance(entry, RetractionEntry):
                entries.append(entry)
            elif entry:
                problems.append(entry)
    except csv.Error as error:
        raise BadList(f"Line {reader.line_num} cannot be read as CSV: {error}.") from error
    return RetractionList(tuple(entries), tuple(problems))


def _column(columns: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((columns[name] for name in names if name in columns), None)


def _entry(
    row: Mapping[str, str | None], line: int, columns: Mapping[str, str], doi: str | None, pmid: str | None
) -> RetractionEntry | str | None:
    """Return a line's entry, or why it cannot be used; None when it names no paper."""

    def value(names: Iterable[str]) -> str:
        name = _column(columns, names)
        return (row.get(name) or "").strip() if name else ""

    found_doi = normal_doi((row.get(doi) or "").strip()) if doi else None
    found_pmid = (row.get(pmid) or "").strip() if pmid else ""
    if pmid_fault(found_pmid) or found_pmid == "0":
        found_pmid = ""
    if not found_doi and not found_pmid:
        return None if not any(row.values()) else f"Line {line} names neither a DOI nor a PMID."
    nature = value(NATURE).lower()
    notice = NATURES.get(nature) if nature else Notice.RETRACTED
    if notice is None:
        return f"Line {line}: “{value(NATURE)[:40]}” is no kind of notice that is known here."
    reasons = "; ".join(part.strip(" +") for part in value(REASON).split(";") if part.strip(" +"))
    told = [value(NATURE).capitalize() or "Retraction", value(DATE), reasons]
    return RetractionEntry(
        line,
        found_doi or None,
        found_pmid or None,
        notice,
        ", ".join(part for part in told if part)[:2_000],
        _day(value(DATE)),
    )


def _day(text: str) -> date | None:
    found = _DAY.match(text)
    if found is None:
        return None
    year, month, day = (found[1], found[2], found[3]) if found[1] else (found[6], found[4], found[5])
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def match(entries: Iterable[RetractionEntry], studies: Iterable[tuple[str, str | None, str | None]]) -> Iterator[Match]:
    """Yield the studies (id, DOI, PMID) that a list names, each with its gravest notice not since reinstated.

    Lists come in any order: entries are ordered by day when all have one, else by line.
    """
    by_doi: dict[str, str] = {}
    by_pmid: dict[str, str] = {}
    for study_id, doi, pmid in studies:
        if doi:
            by_doi[doi.lower()] = study_id
        if pmid:
            by_pmid[pmid] = study_id
    named: dict[str, list[RetractionEntry]] = {}
    for entry in entries:
        study = by_doi.get((entry.doi or "").lower()) or by_pmid.get(entry.pmid or "")
        if study:
            named.setdefault(study, []).append(entry)
    for study_id in sorted(named):
        yield Match(study_id, _current_notice(named[study_id]))


def is_news(carried: Notice | str, entry: RetractionEntry) -> bool:
    """Return whether an entry is graver than a study's notice: a correction leaves a retraction in place."""
    return entry.notice != carried and (entry.notice is Notice.NONE or GRAVITY[entry.notice] > GRAVITY[Notice(carried)])


def _current_notice(entries: Sequence[RetractionEntry]) -> RetractionEntry:
    """Return the gravest of a paper's entries; a reinstatement supersedes those before it."""
    given = all(entry.day for entry in entries)
    in_time = sorted(entries, key=lambda entry: ((entry.day or date.min) if given else date.min, entry.line))
    standing = in_time[0]
    for entry in in_time[1:]:
        if entry.notice is Notice.NONE or GRAVITY[entry.notice] >= GRAVITY[standing.notice]:
            standing = entry
    return standing
