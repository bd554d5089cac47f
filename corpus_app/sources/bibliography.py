"""Turn a bibliographic record from any exporter into a study draft, and report what was left out."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from common.dois import find_doi, normal_doi
from corpus_app.facets import COLUMNS, Facet, facets_from_json
from corpus_app.passages import SectionText, cut
from corpus_app.records import Design, Notice, Section, Status
from corpus_app.sources.decisions import clean_labels
from corpus_app.sources.drafts import NoticeDraft, PassageDraft, Problem, StudyDraft, Weight
from corpus_app.sources.headings import section_of
from corpus_app.sources.intake import Encoding, Source
from corpus_app.sources.markup import HOLE, decode, unknown_marks
from corpus_app.sources.names import ascii_letters, author_name, split_names
from corpus_app.sources.title_notices import is_unsure, kind_of_notice, notice_of_title
from corpus_app.sources.values import doi_fault, shown, text_fault, url_fault

Item = StudyDraft | NoticeDraft | Problem

LONGEST_TITLE, LONGEST_JOURNAL, LONGEST_NAME, LONGEST_URL = 1000, 500, 200, 1000


NO_STUDIES = frozenset({"note", "attachment", "annotation", "computer program", "software", "dataset"})
"""Item types of reference managers that are no publications."""
UNREVIEWED = re.compile(
    r"preprint|editorial|letter|comment|news|book|biography|thesis|dissertation|interview|address|webcast|patient "
    r"education|report|web ?page|website|post\b|magazine|manuscript|presentation|blog|podcast|video|film|encyclopedia",
    re.IGNORECASE,
)
"""Kinds of publication that no peers review."""


@dataclass(frozen=True, slots=True)
class Intake:
    """Settings of an import for all its studies, which no export file contains."""

    collection: str = ""
    status_reason: str = "Imported, not yet reviewed."
    licence: str = ""
    facets: Mapping[str, Facet] = field(default_factory=dict)
    """The facets that the corpus declares, which a column of a table may give."""


@dataclass(slots=True)
class Record:
    """A bibliographic record before validation; names are `Family, Given`, `Given Family`, or an organisation's."""

    file: str
    line: int
    title: str = ""
    authors: list[str] = field(default_factory=list)
    year: str = ""
    other_years: list[str] = field(default_factory=list)
    """Further dates of publication, for a record whose first one holds no year."""
    journal: str = ""
    dois: list[str] = field(default_factory=list)
    pmid: str = ""
    urls: list[str] = field(default_factory=list)
    abstract: list[tuple[str, str]] = field(default_factory=list)
    """Heading (empty where there is none) and words of each part."""
    kinds: list[str] = field(default_factory=list)
    """What the source calls this kind of publication."""
    is_reviewed: bool = True
    """False for kinds that no peers review: theses, preprints, books, web pages."""
    licence: str = ""
    notice: Notice = Notice.NONE
    notice_reason: str = ""
    notices_of: list[tuple[Notice, str, str]] = field(default_factory=list)
    """Studies that this record corrects or retracts: kind, DOI, PMID."""
    passages: tuple[PassageDraft, ...] = ()
    labels: list[str] = field(default_factory=list)
    """Decisions, tags and collections of the tool that it comes from; keywords are none."""
    facets: dict[str, list[str]] = field(default_factory=dict)
    """Declared values by facet."""
    notes: list[tuple[int | None, str, str, Weight]] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    """The lines of fields that differ from the record's line."""

    def report(self, name: str, reason: str, weight: Weight = Weight.REPORTED, line: int | None = None) -> None:
        self.notes.append((line or self.lines.get(name), name, reason, weight))


def encoding_note(source: Source, encoding: Encoding) -> Iterator[Problem]:
    """Yield what a curator should know about how a file's encoding was read, if anything."""
    if encoding.note:
        yield Problem(source.name, None, "", encoding.note, Weight.REPORTED)


def unread_note(file: str, keywords: int, notes: int) -> Iterator[Problem]:
    """Yield how many records of a file have keywords and notes, which become neither labels nor text."""
    if keywords or notes:
        reason = (
            f"keywords of {keywords:,} and notes of {notes:,} records were left unread, but for what screening tools "
            "write there. Zotero's CSV brings its tags as labels."
        )
        yield Problem(file, None, "", reason, Weight.REPORTED)


def items_of(record: Record, intake: Intake) -> Iterator[Item]:
    """Yield the draft or the notices of a record, then its problems in the order of the fields."""
    item: Item | None = None
    if record.notices_of:
        yield from _notices(record)
        return
    kind = next((kind for kind in record.kinds if kind.lower() in NO_STUDIES), "")
    if kind:
        reason = f"is called “{kind.lower()}” and is no study: it was left out."
        yield Problem(record.file, record.line, "", reason, Weight.DROPPED)
        return
    title = clean_title(record.title)
    if not title:
        yield Problem(record.file, record.line, "title", "is missing: a record without a title is no study.")
        return
    if record.notice is Notice.NONE and (notice := kind_of_notice(title)):
        reason = (
            f"“{shown(title)}” is no study but a notice ({notice.value.replace('_', ' ')}) that does not name its "
            "study: set the notice by hand, at the study that it is about."
        )
        yield Problem(record.file, record.lines.get("title") or record.line, "title", reason, Weight.DROPPED)
        return
    _take_title_notice(record, title)
    item = _draft(record, intake, title)
    yield item
    for line, name, reason, weight in record.notes:
        yield Problem(record.file, line or record.line, name, reason, weight)


def _take_title_notice(record: Record, title: str) -> None:
    """Take the notice that the title carries, and tell it."""
    notice = notice_of_title(title)
    if notice is Notice.NONE or record.notice is not Notice.NONE:
        return
    record.notice, record.notice_reason = notice, f"The title says so: {title}"[:2_000]
    reason = f"the title says so: taken as {notice.value.replace('_', ' ')}."
    if is_unsure(title):
        reason += " Is this the study, or the notice about it? Settle the title before you publish."
    record.report("notice", reason)


def _draft(record: Record, intake: Intake, title: str) -> StudyDraft:
    if len(title) > LONGEST_TITLE:
        record.report("title", f"has {len(title):,} characters; it was cut to {LONGEST_TITLE:,}.", Weight.DROPPED)
        title = title[:LONGEST_TITLE].rstrip()
    marks = unknown_marks("\n".join([title, *(words for _, words in record.abstract)]))
    if marks:
        record.report("passages", f"not known, kept as written: {shown(', '.join(marks))}. Look at the words.")
    if any(HOLE in words for _, words in record.abstract) or any(HOLE in part.text for part in record.passages):
        record.report("passages", "a formula or sign is a picture in the source; its place is marked. Type it in.")
    authors = _authors(record)
    doi, pmid, year = _doi(record), _pmid(record), _year(record)
    passages = record.passages or _abstract_passages(record)
    design = design_of(record.kinds, title)
    if design in {Design.PREPRINT, Design.THESIS} and record.is_reviewed:
        record.is_reviewed = False
        record.report("peer_reviewed", f"a {design.value}: taken as not peer reviewed. Correct it where it is.")
    return StudyDraft(
        study_id=study_id_of(
            doi=doi,
            pmid=pmid,
            title=title,
            year=year,
            first_author=authors[0] if authors else "",
            words=passages[0].text if passages else "",
        ),
        title=title,
        authors=authors,
        design=design,
        peer_reviewed=record.is_reviewed,
        collection=intake.collection,
        status=Status.DRAFT,
        status_reason=intake.status_reason,
        year=year,
        journal=_one_line(record, "journal", record.journal, LONGEST_JOURNAL) or None,
        doi=doi,
        pmid=pmid,
        url=_url(record, doi),
        licence=_one_line(record, "licence", record.licence or intake.licence, 200),
        notice=record.notice,
        notice_reason=record.notice_reason,
        passages=passages,
        labels=clean_labels(record.labels),
        **_facet_fields(record.facets),
        origin=record.file,
        line=record.line,
    )


def _facet_fields(facets: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    columns = {key: COLUMNS[key](values[0]) for key, values in facets.items() if key in COLUMNS}
    others = {key: values for key, values in facets.items() if key not in COLUMNS}
    return columns | {"facets": facets_from_json(others)}


def _notices(record: Record) -> Iterator[Item]:
    words = clean_title(record.title) or "A notice without a title"
    doi = next((normal_doi(value) for value in record.dois if not doi_fault(normal_doi(value))), "")
    for notice, of_doi, of_pmid in record.notices_of:
        reason = f"{words}{f' ({record.year})' if record.year else ''}{f', https://doi.org/{doi}' if doi else ''}"
        yield NoticeDraft(notice, normal_doi(of_doi), of_pmid, reason, record.file, record.line)
    named = ", ".join(of_doi or f"PMID {of_pmid}" for _, of_doi, of_pmid in record.notices_of)
    reason = f"“{shown(words)}” is no study but a notice about {named}: nothing was taken as a study."
    yield Problem(record.file, record.line, "", reason, Weight.REPORTED)


# --- Single fields ----------------------------------------------------------------------------------------------------


def _authors(record: Record) -> tuple[str, ...]:
    written, goes_on = split_names(record.authors)
    if len(written) > len(record.authors):
        record.report("authors", f"{len(written)} names stood in {len(record.authors)} fields, and were told apart.")
    if goes_on:
        record.report("authors", "the list of authors goes on (et al.): the others are not in the file.")
    names = [name for name in (author_name(author) for author in written) if name]
    kept = tuple(name for name in names if len(name) <= LONGEST_NAME and not text_fault(name, one_line=True))
    if len(kept) < len(names):
        record.report(
            "authors",
            f"{len(names) - len(kept)} of {len(names)} names are no names; they were left out.",
            Weight.DROPPED,
        )
    return kept


def clean_title(title: str) -> str:
    """Return a title as one line without mark-up."""
    title = " ".join(_visible(decode(title)).split())
    return title[1:-1].strip() if re.fullmatch(r"\[[^\[\]]*\]\.?", title) and not title.endswith(".") else title


def clean_text(text: str) -> str:
    """Return an abstract without mark-up and control characters, with line breaks between paragraphs."""
    paragraphs = [" ".join(_visible(part).split()) for part in re.split(r"\n\s*\n", decode(text))]
    return "\n\n".join(part for part in paragraphs if part)


def _visible(text: str) -> str:
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", " ", text)


def _one_line(record: Record, name: str, value: str, limit: int) -> str:
    value = clean_title(value)
    if len(value) > limit:
        record.report(name, f"has {len(value):,} characters; it was cut to {limit:,}.", Weight.DROPPED)
    return value[:limit].strip()


def _doi(record: Record) -> str | None:
    for value in record.dois:
        if doi := find_doi(value):
            return doi[:255]
    if wrong := next((value for value in record.dois if value.strip()), ""):
        record.report("doi", f"{doi_fault(wrong.strip())} It was left out.", Weight.DROPPED)
    return next((doi for url in record.urls if "doi.org/" in url and (doi := find_doi(url))), None)


def _pmid(record: Record) -> str | None:
    value = record.pmid.strip()
    if not value:
        return None
    if match := re.match(r"(?:PMID:?\s*)?([0-9]{1,12})\b", value, re.IGNORECASE):
        if match[0] != value:
            record.report("pmid", f"is {shown(value)}; {match[1]} was taken.")
        return match[1]
    record.report("pmid", f"is {shown(value)}; a PMID has digits only. It was left out.", Weight.DROPPED)
    return None


_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)")


def _year(record: Record) -> int | None:
    for value in (record.year, *record.other_years):
        if match := _YEAR.search(value):
            if value != record.year and record.year.strip(" /-"):
                record.report("year", f"is {shown(record.year)}; {match[1]} was taken from {shown(value)}.")
            return int(match[1])
    if record.year.strip(" /-"):
        record.report(
            "year",
            f"is {shown(record.year)}; there is no year between 1800 and 2099 in it. It was left out.",
            Weight.DROPPED,
        )
    return None


def _url(record: Record, doi: str | None) -> str | None:
    for url in record.urls:
        url = url.strip()
        url = f"https:{url}" if url.startswith("//") else url
        if len(url) <= LONGEST_URL and not url_fault(url) and not text_fault(url, one_line=True):
            return url
    if record.urls and any(url.strip() for url in record.urls):
        record.report(
            "url",
            f"{shown(record.urls[0])} is not an address that starts with http:// or https://; it was left out.",
            Weight.DROPPED,
        )
    return f"https://doi.org/{doi}" if doi else None


def _abstract_passages(record: Record) -> tuple[PassageDraft, ...]:
    sections: list[SectionText] = []
    at = 0
    for heading, words in record.abstract:
        text = clean_text(words)
        if text:
            section = section_of(heading) if heading else Section.ABSTRACT
            sections.append(SectionText(section or Section.ABSTRACT, heading or "Abstract", text, at))
            at += len(text) + 2
    return drafted(sections)


def drafted(sections: Sequence[SectionText]) -> tuple[PassageDraft, ...]:
    """Return drafts of passages that quote the source."""
    return tuple(
        PassageDraft(
            section=piece.section,
            text=piece.text,
            kind=piece.kind,
            heading=piece.heading,
            start=piece.start,
            end=piece.end,
            cited=piece.cited,
        )
        for piece in cut(sections)
    )


# --- Identity and design ----------------------------------------------------------------------------------------------

MOST_TELLING = 200  # characters of a text that tell it from another of the same title


def study_id_of(
    *, doi: str | None, pmid: str | None, title: str, year: int | None, first_author: str, words: str
) -> str:
    """Return a stable id of a record, such as `Schoenfeld2015-3fa9c1`.

    A title without an author is ambiguous ("Opening hours", each year), so there the first of its `words` count too.
    """
    identity = doi or (f"pmid:{pmid}" if pmid else f"{plain_words(title)}|{year}|{plain_words(first_author)}")
    if not (doi or pmid or first_author) and words:
        identity += f"|{plain_words(words)[:MOST_TELLING]}"
    mark = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    family = first_author.rsplit(" ", 1)[0] if " " in first_author else first_author
    name = ascii_letters(family)[:20] or "Study"
    return f"{name}{year or ''}-{mark}"


def plain_words(text: str) -> str:
    """Return only lower-case letters and digits, without accents, for comparing titles and names."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return " ".join(re.findall(r"[^\W_]+", "".join(char for char in folded if not unicodedata.combining(char))))


_DESIGNS: tuple[tuple[str, Design], ...] = (
    (r"umbrella review|overview of (?:systematic )?reviews", Design.UMBRELLA_REVIEW),
    (r"meta-? ?analy(?:sis|ses|tic)|meta-? ?regression", Design.META_ANALYSIS),
    (r"scoping review", Design.SCOPING_REVIEW),
    (r"systematic review", Design.SYSTEMATIC_REVIEW),
    (r"position (?:stand|statement|paper)|consensus statement", Design.POSITION_STAND),
    (r"(?:practice )?guidelines?\b", Design.GUIDELINE),
    (r"cross-?over", Design.CROSSOVER_TRIAL),
    (r"non-?randomi[sz]ed|quasi-?experiment", Design.NONRANDOMIZED_TRIAL),
    (r"randomi[sz]ed|randomi[sz]ed controlled trial|^rct$", Design.RANDOMIZED_CONTROLLED_TRIAL),
    (r"cohort|longitudinal|prospective study", Design.COHORT_STUDY),
    (r"cross-?sectional", Design.CROSS_SECTIONAL_STUDY),
    (r"\bthesis\b|dissertation", Design.THESIS),
    (r"preprint|unpublished work", Design.PREPRINT),
    (r"narrative review|literature review|: a (?:brief |critical )?review\b", Design.NARRATIVE_REVIEW),
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), design) for pattern, design in _DESIGNS)
_NO_DESIGN = re.compile(
    r"editorial|commentary|comment\b|letter|news|book-?review|correction|retraction|erratum|discussion|protocol",
    re.IGNORECASE,
)


def design_of(kinds: Sequence[str], title: str) -> Design:
    """Return the design named by the source, else by the title, else OTHER; a curator confirms it.

    Databases call every review a review. PubMed, whose records are journal articles too, tells systematic ones apart.
    """
    if any(_NO_DESIGN.search(kind) for kind in kinds):
        return Design.OTHER
    for words in (" | ".join(kinds), title):
        for pattern, design in _PATTERNS:
            if any(pattern.search(word) for word in words.split(" | ")):
                return design
    said = {kind.lower().replace("-", " ") for kind in kinds}
    if {"journal article", "review"} <= said or "review article" in said or "review article" in title.lower():
        return Design.NARRATIVE_REVIEW
    return Design.OTHER
