"""Detect the format of a file, and read it with the matching reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from corpus_app.sources import (
    archives,
    beir_folder,
    bibtex,
    endnote,
    epub,
    jats,
    pdf_source,
    pubmed,
    sheets,
    tables,
    tagged,
    web_pages,
)
from corpus_app.sources.bibliography import Intake
from corpus_app.sources.bibliography import Item as DraftItem
from corpus_app.sources.drafts import (
    AddedPassages,
    Known,
    NoticeDraft,
    Problem,
    SheetRow,
    StudyDraft,
    Unreadable,
    Weight,
)
from corpus_app.sources.duplicates import find_conflict, known_of
from corpus_app.sources.files import Refused
from corpus_app.sources.intake import Source, encoding_of
from corpus_app.sources.joining import EarlierRecord, join_records, joined_words, names_of, record_of
from corpus_app.sources.layout import CONCEPTS, RECORDS
from corpus_app.sources.values import listed

Item = DraftItem | AddedPassages | SheetRow

MOST_BROKEN = 1_000  # broken records one after the other
_HEAD_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class Reader:
    name: str
    items: Callable[[Source, Intake], Iterator[Item]]


RIS = Reader("RIS", tagged.ris_items)
NBIB = Reader("NBIB (PubMed)", tagged.nbib_items)
BIBTEX = Reader("BibTeX", bibtex.items)
ENDNOTE = Reader("EndNote XML", endnote.items)
PUBMED = Reader("PubMed XML", pubmed.items)
JATS = Reader("JATS XML (PMC, PLOS, eLife)", jats.items)
CSV = Reader("CSV of sources or passages", tables.csv_items)
SHEET = Reader("CSV exported here to be mended", sheets.items)
JSON = Reader("JSON of sources or passages", tables.json_items)
BEIR = Reader("BEIR documents", beir_folder.items)
HTML = Reader("web page (HTML)", web_pages.html_items)
MARKDOWN = Reader("Markdown with headings", web_pages.markdown_items)
EPUB = Reader("EPUB", epub.items)
PDF = Reader("PDF", pdf_source.items)
READERS = (RIS, NBIB, BIBTEX, ENDNOTE, PUBMED, JATS, CSV, SHEET, JSON, BEIR, HTML, MARKDOWN, EPUB, PDF)


def _listed(readers: Iterable[Reader]) -> str:
    return ", ".join(dict.fromkeys(reader.name for reader in readers))


FORMAT_NAMES = f"{_listed(READERS)}, or a zip of these"
"""The formats as people who choose a file are told."""

_ROOTS = {
    "PubmedArticleSet": PUBMED, "PubmedArticle": PUBMED, "PubmedBookArticle": PUBMED, "article": JATS,
    "pmc-articleset": JATS,
    "records": ENDNOTE, "xml": ENDNOTE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The content of a file; `problems` is everything that a curator should see, in the order of the file."""

    reader: str
    studies: tuple[StudyDraft, ...]
    passages: tuple[AddedPassages, ...]
    notices: tuple[NoticeDraft, ...]
    problems: tuple[Problem, ...]
    rows: tuple[SheetRow, ...] = ()

    @property
    def broken(self) -> int:
        return sum(problem.weight is Weight.BROKEN for problem in self.problems)


def detect(source: Source) -> Reader:
    """Return the reader for a file's content, whatever its name. Raises Refused when none fits."""
    head = source.head(_HEAD_BYTES)
    if not head.strip():
        raise Refused("is empty; fill it, or leave it out.")
    if head[:1024].lstrip().startswith(b"%PDF-"):
        return PDF
    if epub.is_epub(head):
        return EPUB
    if archives.is_zip(head):
        raise Refused("is a zip file; it is read file by file.")
    if (root := _xml_root(head)) is not None:
        if root in _ROOTS:
            return _ROOTS[root]
        if web_pages.is_html(_decoded(source, head)):
            return HTML
        raise Refused(
            f"is XML of a kind that is not known (<{root[:40]}>); known are {_listed(_ROOTS.values())}. "
            "From a reference manager, export as RIS, BibTeX or CSV.",
            1,
        )
    text = _decoded(source, head)
    if tables.is_json(text):
        return BEIR if beir_folder.is_beir(text) else JSON
    for is_format, reader in (
        (tagged.is_nbib, NBIB),
        (tagged.is_ris, RIS),
        (bibtex.is_bibtex, BIBTEX),
        (sheets.is_sheet, SHEET),
        (tables.is_csv, CSV),
        (web_pages.is_markdown, MARKDOWN),
    ):
        if is_format(text):
            return reader
    if tables.is_retraction_list(text):
        raise Refused("is a retraction list and brings in no study: load it on the page for retractions.", 1)
    if re.match(r"FN [A-Z]|VR 1\.0|PT [JBSP]\n", text):
        raise Refused("is in the tagged format of Web of Science; export it once more as RIS.", 1)
    raise Refused(
        f"is none of the formats that can be read ({_listed(READERS)}). Plain text is "
        f"pasted into the form, or given headings as Markdown has them (# Heading).",
        1,
    )


def _decoded(source: Source, head: bytes) -> str:
    """Return the first bytes of a file as text with LF line ends."""
    text = head[: len(head) // 4 * 4].decode(encoding_of(source).codec, "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")


def _is_archive(source: Source) -> bool:
    """Return whether a file is a zip of files to import, and no book."""
    head = source.head(64)
    return archives.is_zip(head) and not epub.is_epub(head)


def stream(source: Source, intake: Intake, reader: Reader | None = None) -> Iterator[Item]:
    """Yield drafts and problems in the order of the file; a refused file ends with a problem that says why."""
    try:
        if reader is None and _is_archive(source):
            yield from _stream_zip(source, intake)
            return
        yield from _until_broken(source, (reader or detect(source)).items(source, intake))
    except Refused as refused:
        yield Problem(source.name, refused.line, "", refused.reason)
    except UnicodeError as error:
        yield Problem(source.name, None, "", f"cannot be read as text: {error}.")


def _until_broken(source: Source, items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items until too many broken records follow each other: then the file is none of records."""
    n_broken = 0
    for item in items:
        yield item
        if not isinstance(item, Problem):
            n_broken = 0
        elif item.weight is Weight.BROKEN:
            n_broken += 1
        if n_broken >= MOST_BROKEN:
            reason = f"{MOST_BROKEN:,} broken records follow each other; the rest was left unread."
            yield Problem(source.name, item.line, "", reason)
            return


def _stream_zip(source: Source, intake: Intake) -> Iterator[Item]:
    is_empty = True
    for member in archives.members(source):
        is_empty = False
        if PurePosixPath(member.name).name in {CONCEPTS, "studies_master.csv"}:
            yield Problem(
                member.name,
                None,
                "",
                "is read from a folder only: unpack the archive and use manage.py import_corpus.",
                Weight.REPORTED,
            )
        elif RECORDS in PurePosixPath(member.name).parts[:-1]:
            yield Problem(member.name, None, "", "is a record of another site, which no import takes.", Weight.REPORTED)
        elif _is_archive(member):
            yield Problem(member.name, None, "", "is a zip file inside a zip file; unpack it first.")
        else:
            yield from stream(member, intake)
    if is_empty:
        yield Problem(source.name, None, "", "holds no file.")


def read_file(
    source: Source, intake: Intake, *, known: Known | None = None, reader: Reader | None = None
) -> ReadResult:
    """Read a whole file that fits into memory: each study once, with an existing collection."""
    return collect_items(reader.name if reader else name_of(source), stream(source, intake, reader), known=known)


def collect_items(name: str, items: Iterable[Item], *, known: Known | None = None) -> ReadResult:
    """Collect the items of a reader, without duplicates."""
    studies: list[StudyDraft] = []
    collector = Collector(known)
    passages: list[AddedPassages] = []
    notices: list[NoticeDraft] = []
    problems: list[Problem] = []
    rows: dict[str, SheetRow] = {}
    for item in items:
        match item:
            case Problem():
                problems.append(item)
            case NoticeDraft():
                notices.append(item)
            case AddedPassages():
                passages.append(item)
            case SheetRow():
                if first := rows.get(item.study_id):
                    problems.append(item.twin_problem(first))
                else:
                    rows[item.study_id] = item
            case StudyDraft():
                if earlier := collector.find_earlier(item):
                    place = next(at for at, one in enumerate(studies) if one.study_id == earlier.study_id)
                    studies[place] = join_records(studies[place], item, draft_leads=earlier.is_led_by(item))
                    problems.append(replace(item.problem("", joined_words(earlier, item)), weight=Weight.REPORTED))
                    continue
                found = collector.problems_of(item)
                problems += found
                studies += [item] if not found else []
    return ReadResult(name, tuple(studies), tuple(passages), tuple(notices), tuple(problems), tuple(rows.values()))


class Collector:
    """The identities of the studies of a file, so that each of them comes once and in an existing collection."""

    def __init__(self, known: Known | None = None) -> None:
        self._known = known
        self._taken: dict[tuple[str, str], EarlierRecord] = {}

    def problems_of(self, draft: StudyDraft) -> list[Problem]:
        """Return why a study of the file cannot come in; remember it when there is nothing."""
        found = [*self._duplicates(draft), *(_unknown(draft, self._known) if self._known else ())]
        if not found:
            self._taken |= dict.fromkeys(names_of(draft), record_of(draft))
        return found

    def find_earlier(self, draft: StudyDraft) -> EarlierRecord | None:
        """Return the earlier record that a draft joins; None when none is surely the same study."""
        if any(_unknown(draft, self._known) if self._known else ()):
            return None
        found = (self._taken[name] for name in names_of(draft) if name in self._taken)
        earlier = next((record for record in found if record.is_joined_by(draft)), None)
        if earlier:
            for name in names_of(draft):
                self._taken.setdefault(name, earlier)
        return earlier

    def _duplicates(self, draft: StudyDraft) -> Iterator[Problem]:
        """Yield the problem of a duplicate draft; an exact copy, where nothing is lost, is only reported."""
        for name, value in draft.identities():
            if first := self._taken.get((name, value)):
                what = "the same record stands" if name == "study_id" else f"{value} stands"
                conflict = find_conflict(known_of(draft), first.known)
                words = f"{what} in {first.origin}, line {first.line}, already; this one was left out. {conflict}"
                found = draft.problem(name, words.strip())
                yield replace(found, weight=Weight.REPORTED) if first.content == hash(draft) else found
                return


def name_of(source: Source) -> str:
    """Return the name of a file's format; empty when it is refused."""
    try:
        return "Zip of files" if _is_archive(source) else detect(source).name
    except Refused:
        return ""


def source_of(path: Path, *, name: str = "") -> Source:
    """Return the source for a file or a BEIR folder. Raises Unreadable when there is nothing to read."""
    if path.is_dir():
        for member in ("corpus.jsonl", "corpus.jsonl.gz"):
            if (path / member).is_file():
                return Source(f"{path.name}/{member}", path / member)
        raise Unreadable(
            f"{path} is a folder without studies/, studies_master.csv or corpus.jsonl; there is nothing to import."
        )
    if not path.is_file():
        raise Unreadable(f"{path} does not exist.")
    return Source(name or path.name, path)


def _unknown(draft: StudyDraft, known: Known) -> Iterator[Problem]:
    if draft.collection and draft.collection not in known.collections:
        yield draft.problem("collection", f"{draft.collection!r} is no collection; known: {listed(known.collections)}.")


def _xml_root(head: bytes) -> str | None:
    """Return the root element of an XML file in any encoding; None when it is not XML."""
    text = head.replace(b"\0", b"").decode("latin-1").lstrip("\xef\xbb\xbf\xfe\xff \t\r\n")
    if not text.startswith("<"):
        return None
    at = 0
    while at < len(text) and text[at] == "<":
        if text.startswith("<?", at):
            end = text.find("?>", at) + 2
        elif text.startswith("<!--", at):
            end = text.find("-->", at) + 3
        elif text.startswith("<!", at):
            end = _after_doctype(text, at)
        else:
            name = text[at + 1 :].split(">", 1)[0].split("/", 1)[0].split(None, 1)[0:1]
            return name[0].rpartition(":")[2] if name else ""
        if end < 3:
            return ""
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return ""


def _after_doctype(text: str, at: int) -> int:
    """Return the position after `<!DOCTYPE …>`; the parser refuses entity declarations in it."""
    inner, close = text.find("[", at), text.find(">", at)
    if inner != -1 and inner < close:
        if "<!ENTITY" in text[inner:]:
            line = text.count("\n", 0, text.index("<!ENTITY", inner)) + 1
            raise Refused("declares entities of its own; such files are not read. Remove the declaration.", line)
        close = text.find(">", text.find("]", inner))
    return close + 1
