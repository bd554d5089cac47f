"""Read BibTeX and BibLaTeX, with macros and LaTeX accents; a broken entry does not affect the next one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from corpus_app.sources.abstracts import split_abstract
from corpus_app.sources.bibliography import Intake, Item, Record, encoding_note, items_of, unread_note
from corpus_app.sources.decisions import note_labels
from corpus_app.sources.drafts import Problem, Weight
from corpus_app.sources.files import Refused
from corpus_app.sources.intake import Source, encoding_of, text_of
from corpus_app.sources.markup import decode_latex

_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*([{(])")
_MONTHS = {name: name for name in "jan feb mar apr may jun jul aug sep oct nov dec".split()}
_REVIEWED = frozenset(
    "article inproceedings conference proceedings incollection review suppperiodical periodical".split()
)
_NO_RECORDS = frozenset({"comment", "preamble", "string", "set", "xdata"})
LONGEST_MACRO = 1_000  # characters; macros are made of macros, and would grow without end
MAX_TIMES_READ = 20  # how often a text may be read again because of entries that do not end


@dataclass(frozen=True, slots=True)
class Entry:
    kind: str
    key: str
    line: int
    fields: dict[str, str]
    """Values with their LaTeX still in them, by name in small letters."""
    lines: dict[str, int]


class _Broken(Refused):
    """An entry that cannot be read; `at` is how far it was read."""

    def __init__(self, reason: str, at: int, line: int | None = None) -> None:
        super().__init__(reason, line)
        self.at = at


def is_bibtex(head: str) -> bool:
    return bool(
        re.search(
            r"^[^\S\n]*@\s*+[A-Za-z]++\s*+[{(]\s*+[^@\s,={}]*+\s*+,"
            r"|^[^\S\n]*@(?:string|comment|preamble)\s*+[{(]|\A\s*+% Encoding:",
            head,
            re.MULTILINE | re.IGNORECASE,
        )
    )


def items(source: Source, intake: Intake) -> Iterator[Item]:
    encoding = encoding_of(source)
    yield from encoding_note(source, encoding)
    entries: dict[str, Entry] = {}
    found: list[Entry | Problem] = [*read_entries(text_of(source, encoding), source.name)]
    entries = {entry.key.lower(): entry for entry in reversed(found) if isinstance(entry, Entry) and entry.key}
    volumes = {entry.fields.get("crossref", "").strip().lower() for entry in found if isinstance(entry, Entry)} - {""}
    if not any(isinstance(entry, Entry) for entry in found):
        found.append(
            Problem(
                source.name,
                None,
                "",
                "holds no entry that can be imported. An entry looks like “@article{key, title = {…}}”.",
            )
        )
    for entry in found:
        if isinstance(entry, Problem):
            yield entry
        elif entry.key.lower() in volumes and "author" not in entry.fields:
            reason = f"“{entry.key}” is the volume of other entries and no study: it hands down its year and name."
            yield Problem(source.name, entry.line, "", reason, Weight.REPORTED)
        else:
            yield from items_of(_record(entry, entries, source.name), intake)
    fields = [entry.fields.keys() for entry in found if isinstance(entry, Entry)]
    keywords, notes = sum("keywords" in names for names in fields), sum("annote" in names for names in fields)
    yield from unread_note(source.name, keywords, notes)


def read_entries(text: str, file: str) -> Iterator[Entry | Problem]:
    """Yield entries and problems in order, in time linear in the length of the text."""
    macros = dict(_MONTHS)
    at, line, counted, in_vain = 0, 1, 0, 0
    while match := _ENTRY.search(text, at):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        kind = match[1].lower()
        if kind == "comment":
            at = match.end()
            continue
        try:
            entry, at = _entry(text, match, line, macros, kind)
        except _Broken as refused:
            yield Problem(
                file, refused.line or line, "", f"the entry that begins on line {line} cannot be read: {refused.reason}"
            )
            at = _next_line_with_at(text, match.end())
            in_vain += max(0, refused.at - at)  # characters that the next entries read again
            if in_vain > MAX_TIMES_READ * len(text):
                yield Problem(file, line, "", "too many entries have no end; the rest was left unread.")
                return
            continue
        if kind == "string":
            macros |= {name: value[:LONGEST_MACRO] for name, value in entry.fields.items()}
        elif kind not in _NO_RECORDS:
            yield entry


def _next_line_with_at(text: str, at: int) -> int:
    found = re.compile(r"^[^\S\n]*@", re.MULTILINE).search(text, at)
    return found.start() if found else len(text)


_KEY = re.compile(r"\s*+([^\s,={}()\"]*+)\s*+,")
_NAME = re.compile(r"([A-Za-z][\w:.+/-]*)\s*=\s*")
_BARE = re.compile(r"[^\s,#{}()\"]+")


def _entry(text: str, match: re.Match[str], line: int, macros: dict[str, str], kind: str) -> tuple[Entry, int]:
    close = "}" if match[2] == "{" else ")"
    at, key = match.end(), ""
    here, counted = line, match.start()
    if kind == "preamble":
        _, at = _value(text, at, macros, line)
        return Entry(kind, "", line, {}, {}), at
    if kind != "string" and (found := _KEY.match(text, at)):
        key, at = found[1], found.end()
    elif kind != "string" and (bare := re.compile(rf"\s*+([^\s,={{}}]*)\s*+{re.escape(close)}").match(text, at)):
        return Entry(kind, bare[1], line, {}, {}), bare.end()
    fields: dict[str, str] = {}
    lines: dict[str, int] = {}
    while True:
        at = _blank(text, at)
        if at >= len(text):
            raise _Broken("it has no end; a brace is missing.", at)
        if text[at] == close:
            return Entry(kind, key, line, fields, lines), at + 1
        if text[at] == ",":
            at += 1
            continue
        found = _NAME.match(text, at)
        here, counted = here + text.count("\n", counted, at), at
        if not found:
            raise _Broken(
                f"“{text[at : at + 30].splitlines()[0]}” is no field; a field looks like “title = {{…}},”.", at, here
            )
        name = found[1].lower()
        value, at = _value(text, found.end(), macros, here)
        fields.setdefault(name, value)
        lines.setdefault(name, here)


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _value(text: str, at: int, macros: dict[str, str], line: int) -> tuple[str, int]:
    """Parse a value: parts in braces or quotes, numbers or macros, joined by #."""
    parts: list[str] = []
    while True:
        at = _blank(text, at)
        if text[at : at + 1] == "{" or text[at : at + 1] == '"':
            end = _closing(text, at, line)
            parts.append(text[at + 1 : end])
            at = end + 1
        elif found := _BARE.match(text, at):
            parts.append(macros.get(found[0].lower(), found[0]))
            at = found.end()
        else:
            return "".join(parts), at
        at = _blank(text, at)
        if text[at : at + 1] != "#":
            return "".join(parts), at
        at += 1


_MARKS = re.compile(r'[{}"\\]')


def _closing(text: str, at: int, line: int) -> int:
    """Return the position of the brace or quote that closes the one at `at`."""
    quoted, depth, place = text[at] == '"', 0, at + 1
    while match := _MARKS.search(text, place):
        mark = match[0]
        place = match.end()
        if mark == "\\":
            place += 1
        elif mark == "{":
            depth += 1
        elif mark == "}":
            if depth == 0 and not quoted:
                return match.start()
            depth -= 1
        elif quoted and depth == 0:
            return match.start()
    raise _Broken("its value has no end; a brace or quote is missing.", len(text), line)


# --- Entry to record --------------------------------------------------------------------------------------------------


def _record(entry: Entry, entries: dict[str, Entry], file: str) -> Record:
    fields = dict(entry.fields)
    parent = entries.get(fields.get("crossref", "").strip().lower())
    if parent and parent is not entry:
        fields = (
            {"booktitle": parent.fields.get("title", "")}
            | {key: value for key, value in parent.fields.items() if key != "title"}
            | fields
        )

    def value(*names: str) -> str:
        return next((text for name in names if (text := decode_latex(fields.get(name, "")).strip())), "")

    record = Record(
        file,
        entry.line,
        title=value("title"),
        authors=names_of(fields.get("author", "")),
        year=value("year", "date"),
        other_years=[value("date")],
        journal=value("journal", "journaltitle", "booktitle", "journal-abbreviation"),
        dois=[
            text for text in (value("doi", "article-doi"), value("note") if "doi.org" in value("note") else "") if text
        ],
        pmid=value("pmid") or (value("eprint") if value("eprinttype", "archiveprefix").lower() == "pubmed" else ""),
        urls=[found for name in ("url", "howpublished") if (found := _address(fields.get(name, "")))],
        kinds=[
            {
                "phdthesis": "thesis",
                "mastersthesis": "thesis",
                "thesis": "thesis",
                "unpublished": "unpublished work",
            }.get(entry.kind, ""),
            value("type", "pubtype"),
        ],
        is_reviewed=entry.kind in _REVIEWED,
        labels=note_labels([fields.get("note", "").replace("\\", ""), fields.get("annote", "").replace("\\", "")]),
        lines=entry.lines,
    )
    if not record.authors and fields.get("editor") and entry.kind in {"book", "proceedings", "collection"}:
        record.authors = names_of(fields["editor"])
        record.report("authors", "no author is named: the editors were taken.")
    if subtitle := value("subtitle"):
        record.title = f"{record.title}: {subtitle}"
    if abstract := value("abstract"):
        record.abstract = split_abstract(abstract)
    record.lines = {"authors": entry.lines.get("author", entry.line), **entry.lines}
    if not record.is_reviewed:
        record.report(
            "peer_reviewed",
            f"an entry @{entry.kind} is no journal article: taken as not peer reviewed. Correct it where it is.",
        )
    return record


def _address(written: str) -> str:
    """Return the address in a field; LaTeX escapes some of its characters."""
    found = re.search(r"(?:https?:)?//[^\s{}<>]+", re.sub(r"\\([%&_#~])", r"\1", written))
    return found[0] if found else ""


def names_of(field: str) -> list[str]:
    """Split names at `and` outside braces."""
    names: list[str] = []
    depth = start = 0
    for match in re.finditer(r"[{}]|(?<!\s)\s+and\s+", field, re.IGNORECASE):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
        elif depth <= 0:
            names.append(field[start : match.start()])
            start = match.end()
    names.append(field[start:])
    return [_name(name.strip()) for name in names if name.strip()]


def _name(name: str) -> str:
    whole = re.fullmatch(r"\{((?:[^{}]|\{[^{}]*\})*)\}", name)
    text = " ".join(decode_latex(whole[1] if whole else name).split())
    return "{" + text + "}" if whole and " " in text else text
