"""Read files with tagged lines: RIS and NBIB (the MEDLINE format of PubMed).

rispy is not used: a broken record must be reported by its line while the others are imported, and real exporters omit
spaces, wrap values and write lines between records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from common.dois import find_doi
from corpus_app.records import Notice
from corpus_app.sources.abstracts import split_abstract
from corpus_app.sources.bibliography import UNREVIEWED, Intake, Item, Record, encoding_note, items_of, unread_note
from corpus_app.sources.decisions import note_labels
from corpus_app.sources.drafts import Problem, Weight
from corpus_app.sources.intake import Encoding, Source, encoding_of, lines_of
from corpus_app.sources.values import shown

MAX_RECORD_LINES = 20_000


@dataclass(slots=True)
class Tagged:
    """A record: its values by tag, each with its line, in the order of the file."""

    line: int
    values: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    last: str = ""
    count: int = 0
    like_tags: list[int] = field(default_factory=list)
    """Lines that look like tags and are none."""

    def add(self, tag: str, value: str, line: int) -> None:
        self.values.setdefault(tag, []).append((line, value))
        self.last = tag
        self.count += 1

    def go_on(self, words: str, *, joint: str = " ") -> None:
        line, value = self.values[self.last][-1]
        self.values[self.last][-1] = (line, f"{value}{joint}{words}" if value else words)
        self.count += 1

    def all(self, *tags: str) -> list[str]:
        return [value.strip() for tag in tags for _, value in self.values.get(tag, []) if value.strip()]

    def first(self, *tags: str) -> str:
        return next(iter(self.all(*tags)), "")

    def line_of(self, *tags: str) -> int:
        return next((self.values[tag][0][0] for tag in tags if tag in self.values), self.line)


# --- RIS --------------------------------------------------------------------------------------------------------------

_RIS_LINE = re.compile(r"\s?(?P<tag>[A-Z][A-Z0-9])(?P<blanks> {1,2})-(?:[ \t]|$|(?<=  -))(?P<value>.*)")
_RIS_TAGS = frozenset(
    "TY ER TI T1 T2 T3 ST BT CT TT AU A1 A2 A3 A4 ED PY Y1 Y2 DA AB N1 N2 JF JO JA J1 J2 VL IS SP EP SE SV ET NV CP M1 "
    "M2 M3 C1 C2 C3 C4 C5 C6 C7 C8 U1 U2 U3 U4 U5 L1 L2 L3 L4 LK UR DO SN PB PP CY KW AD AN AV CA CN CR DB DP ID LA OP "
    "RI RN RP SB TA VO VN PT PM NR LB".split()
)
"""All that the format and its exporters use: any other is text that looks like a tag, such as a wrapped “CI  - 3”."""
_BEGINS = frozenset("TI T1 AU A1 A2 CT BT T2 JF JO JA PY Y1 DO SN".split())
"""Tags that begin a record whose line TY is missing."""
_RIS_END = re.compile(r"\s?ER\s*+-?\s*+")
_REVIEWED = frozenset("JOUR JFULL MGZN EJOU ABST INPR CPAPER CONF SER".split())
_RIS_KINDS = {
    "THES": "thesis", "UNPB": "unpublished work", "STAND": "standard", "RPRT": "report", "NEWS": "news", "BOOK": "book",
    "CHAP": "book chapter", "CPAPER": "conference paper", "CONF": "conference", "ELEC": "web page", "ICOMM": "web page",
}  # fmt: skip


def is_ris(head: str) -> bool:
    return bool(re.search(r"^\s?(?:TY  ?-|(?:T1|TI|AU|A1|JF|DO) {2}- ).*$", head, re.MULTILINE) and not is_nbib(head))


def ris_items(source: Source, intake: Intake) -> Iterator[Item]:
    form = "A RIS record begins with “TY  - ” and ends with “ER  - ”."
    return _items(source, intake, _ris_records, _from_ris, form)


def _items(
    source: Source,
    intake: Intake,
    records: Callable[[Source, Encoding], Iterator[Tagged | Problem]],
    from_record: Callable[[Tagged, str], Record],
    form: str,
) -> Iterator[Item]:
    """Yield the items and problems of each record; for a file without records, a problem that shows an example."""
    encoding = encoding_of(source)
    yield from encoding_note(source, encoding)
    is_empty, keywords, notes = True, 0, 0
    for found in records(source, encoding):
        if isinstance(found, Problem):
            yield found
            continue
        is_empty = False
        keywords, notes = keywords + ("KW" in found.values), notes + ("N1" in found.values)
        yield from items_of(from_record(found, source.name), intake)
    yield from unread_note(source.name, keywords, notes)
    if is_empty:
        yield Problem(source.name, None, "", f"holds no record that can be imported. {form}")


def _ris_records(source: Source, encoding: Encoding) -> Iterator[Tagged | Problem]:
    record: Tagged | None = None
    blanks = ""  # between tag and dash, as in the first line of the record
    outside: list[int] = []
    for number, line in lines_of(source, encoding):
        if record is not None and _RIS_END.fullmatch(line):
            yield from _as_text(source, record)
            yield record
            record = None
            continue
        match = _RIS_LINE.match(line)
        if match and match["tag"] != "TY" and not _is_tag(match, blanks if record else ""):
            if record is not None:
                record.like_tags.append(number)
            match = None
        if match and match["tag"] == "TY":
            blanks = match["blanks"]
            if record is not None:
                reason = f"this record has no end: another begins on line {number}. Close it with “ER  - ”."
                yield Problem(source.name, record.line, "ER", reason, Weight.REPORTED)
                yield record
            record = Tagged(number)
        elif record is None:
            if match is None or match["tag"] not in _BEGINS:
                if match:
                    outside.append(number)
                continue  # headings of the exporter, numbers between records, blank lines
            reason = "this record does not begin with “TY  - ”; it was taken as a journal article."
            yield Problem(source.name, number, "TY", reason, Weight.REPORTED)
            record, blanks = Tagged(number), match["blanks"]
            record.add("TY", "JOUR", number)
        if match:
            record.add(match["tag"], match["value"].strip(), number)
        elif line.strip() and record.last:
            record.go_on(
                line.strip(), joint="\n" if record.last in {"AB", "N2", "N1"} and line.startswith((" ", "\t")) else " "
            )
        if record.count > MAX_RECORD_LINES:
            reason = f"has more than {MAX_RECORD_LINES:,} lines in one record; it is no list of studies."
            yield Problem(source.name, record.line, "", reason)
            return
    if record is not None:
        reason = "this record has no end before the file ends. Close it with “ER  - ”."
        yield Problem(source.name, record.line, "ER", reason, Weight.REPORTED)
        yield record
    if outside:
        reason = f"lines between the records were passed over: {', '.join(map(str, outside[:20]))}."
        yield Problem(source.name, outside[0], "", reason, Weight.REPORTED)


def _is_tag(match: re.Match[str], blanks: str) -> bool:
    """Tell a tag from text that looks like one: by the closed list, and by the blanks of the record's first line."""
    return match["tag"] in _RIS_TAGS and blanks in {"", match["blanks"]}


def _as_text(source: Source, record: Tagged) -> Iterator[Problem]:
    if record.like_tags:
        lines = ", ".join(map(str, record.like_tags[:20]))
        reason = f"lines that look like tags and are none were read as text: {lines}."
        yield Problem(source.name, record.like_tags[0], "", reason, Weight.REPORTED)


def _from_ris(found: Tagged, file: str) -> Record:
    kind = found.first("TY").upper()
    record = Record(
        file,
        found.line,
        title=found.first("TI", "T1") or (found.first("BT", "CT") if kind in {"BOOK", "CHAP"} else ""),
        authors=found.all("AU", "A1") or found.all("A2", "ED", "A3") if kind == "BOOK" else found.all("AU", "A1"),
        year=found.first("PY", "Y1", "DA"),
        other_years=found.all("Y1", "DA"),
        journal=found.first("JF", "T2", "JO", "JA", "J2", "J1"),
        dois=[
            *found.all("DO"),
            *(value for value in found.all("M3", "N1", "L3") if find_doi(value) and len(value) < 100),
        ],
        urls=found.all("UR", "L2"),
        kinds=[_RIS_KINDS.get(kind, ""), *found.all("M3")],
        is_reviewed=kind in _REVIEWED,
    )
    record.pmid = _ris_pmid(found)
    record.labels = note_labels(found.all("N1", "RN"))
    if abstract := "\n".join(found.all("AB") or found.all("N2")):
        record.abstract = split_abstract(abstract)
    record.lines = {
        "title": found.line_of("TI", "T1"),
        "year": found.line_of("PY", "Y1", "DA"),
        "doi": found.line_of("DO", "M3", "N1"),
        "authors": found.line_of("AU", "A1", "A2"),
        "url": found.line_of("UR"),
        "journal": found.line_of("JF", "T2", "JO"),
    }
    if kind and kind not in _REVIEWED:
        record.report(
            "peer_reviewed",
            f"the type {shown(kind)} is no journal article: taken as not peer reviewed. Correct it where it is.",
        )
    return record


def _ris_pmid(found: Tagged) -> str:
    for value in found.all("U1", "U2", "C2", "AN", "M1", "C7"):
        if match := re.fullmatch(r"(?:PMID:?\s*)?(\d{1,12})\s*\[pmid\]|PMID:?\s*(\d{1,12})", value, re.IGNORECASE):
            return match[1] or match[2]
    if found.first("DB", "DP").lower() in {"pubmed", "medline", "nlm"} and found.first("AN").isdigit():
        return found.first("AN")
    for url in found.all("UR", "L2"):
        if match := re.search(r"(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/(\d{1,12})", url):
            return match[1]
    return ""


# --- NBIB -------------------------------------------------------------------------------------------------------------

_NBIB_LINE = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,3}- ?(.*)")
_NBIB_NOTICES = {
    "ROF": Notice.RETRACTED, "EFR": Notice.CORRECTED, "ECF": Notice.EXPRESSION_OF_CONCERN, "CRF": Notice.CORRECTED,
}  # fmt: skip
_NBIB_NOTED = {
    "RIN": (Notice.RETRACTED, "Retracted"), "ECI": (Notice.EXPRESSION_OF_CONCERN, "Expression of concern"),
    "EIN": (Notice.CORRECTED, "Erratum"), "CRI": (Notice.CORRECTED, "Corrected and republished"),
}  # fmt: skip


def is_nbib(head: str) -> bool:
    return bool(
        re.search(r"^(?:PMID|OWN |STAT|DCOM|PMC |MHDA|FAU|JT  |TA  |LID |AID )\s?- ?", head, re.MULTILINE)
    ) or bool(re.search(r"^TI  - .*\n(?:      |FAU |PMID)", head, re.MULTILINE))


def nbib_items(source: Source, intake: Intake) -> Iterator[Item]:
    form = "A record has a line “PMID- ” and a line “TI  - ”."
    return _items(source, intake, _nbib_records, _from_nbib, form)


def _nbib_records(source: Source, encoding: Encoding) -> Iterator[Tagged | Problem]:
    record: Tagged | None = None
    for number, line in lines_of(source, encoding):
        if not line.strip():
            if record is not None and record.last != "AB":
                yield record
                record = None
            continue
        match = _NBIB_LINE.match(line)
        if match and not line.startswith(" "):
            if record is not None and match[1] == "PMID" and "PMID" in record.values:
                yield record
                record = None
            record = record or Tagged(number)
            record.add(match[1], match[2].strip(), number)
        elif record is not None and record.last and line.startswith(" "):
            record.go_on(line.strip())
        elif record is not None:
            yield Problem(
                source.name,
                number,
                "",
                f"{shown(line)} has no tag, and was left out. A line begins with a tag or with six blanks.",
                Weight.DROPPED,
            )
        elif not line.strip().rstrip(".").isdigit():
            yield Problem(
                source.name, number, "", f"{shown(line)} stands outside any record, and was left out.", Weight.REPORTED
            )
        if record is not None and record.count > MAX_RECORD_LINES:
            yield Problem(
                source.name,
                record.line,
                "",
                f"has more than {MAX_RECORD_LINES:,} lines in one record; it is no list of studies.",
            )
            return
    if record is not None:
        yield record


def _from_nbib(found: Tagged, file: str) -> Record:
    record = Record(
        file,
        found.line,
        title=found.first("TI", "TT", "BTI", "CTI"),
        authors=found.all("FAU") or found.all("AU"),
        year=found.first("DP", "DEP", "EDAT", "DA"),
        other_years=found.all("DEP", "EDAT", "DA"),
        journal=found.first("JT", "TA"),
        dois=[
            value
            for value in found.all("LID", "AID", "SO", "DOI")
            if "[doi]" in value or "doi:" in value.lower() or value.startswith("10.")
        ],
        pmid=found.first("PMID"),
        kinds=found.all("PT"),
    )
    record.authors += ["{" + body + "}" for body in found.all("CN")]
    if abstract := "\n\n".join(found.all("AB", "OAB")):
        record.abstract = split_abstract(abstract)
    record.urls = (
        [f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}/"] if record.pmid.isdigit() and not record.dois else []
    )
    record.lines = {
        "title": found.line_of("TI", "BTI"),
        "pmid": found.line_of("PMID"),
        "year": found.line_of("DP"),
        "doi": found.line_of("LID", "AID"),
        "authors": found.line_of("FAU", "AU"),
    }
    set_reviewed(record)
    for tag, notice in _NBIB_NOTICES.items():
        for value in found.all(tag):
            pmid = re.search(r"PMID:\s*(\d+)", value)
            if doi := find_doi(value):
                record.notices_of.append((notice, doi, pmid[1] if pmid else ""))
            elif pmid:
                record.notices_of.append((notice, "", pmid[1]))
    for tag, (notice, words) in _NBIB_NOTED.items():
        if record.notice is Notice.NONE and (value := found.first(tag)):
            record.notice, record.notice_reason = notice, f"{words}: {value}"
    mark_by_kind(record)
    return record


# --- What both, and PubMed's XML, share -------------------------------------------------------------------------------


def set_reviewed(record: Record) -> None:
    record.is_reviewed = not any(UNREVIEWED.search(kind) for kind in record.kinds)
    if not record.is_reviewed:
        record.report(
            "peer_reviewed",
            f"is called {', '.join(record.kinds)[:100]}: taken as not peer reviewed. Correct it where it is.",
        )


def mark_by_kind(record: Record) -> None:
    kinds = {kind.lower() for kind in record.kinds}
    if record.notice is Notice.NONE and "retracted publication" in kinds:
        record.notice, record.notice_reason = Notice.RETRACTED, "PubMed marks it as a retracted publication."
    if not record.notices_of and kinds & {
        "retraction of publication",
        "retraction notice",
        "published erratum",
        "expression of concern",
    }:
        record.report("", "is a notice that does not name its study; set the notice by hand.")
