"""Turn a bibliographic record from any exporter into a study draft, and report what was left out."""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from corpus_app.passages import SectionText, cut
from corpus_app.records import Design, Notice, PassageKind, Section, Status
from corpus_app.sources.drafts import NoticeDraft, PassageDraft, Problem, StudyDraft, Weight
from corpus_app.sources.headings import section_of
from corpus_app.sources.values import doi_fault, normal_doi, shown, text_fault, url_fault

Item = StudyDraft | NoticeDraft | Problem

LONGEST_TITLE, LONGEST_JOURNAL, LONGEST_NAME, LONGEST_URL = 1000, 500, 200, 1000


@dataclass(frozen=True, slots=True)
class Intake:
    """Settings of an import for all its studies, which no export file contains."""

    collection: str = ""
    status_reason: str = "Imported, not yet reviewed."
    licence: str = ""


@dataclass(slots=True)
class Record:
    """A bibliographic record before validation; names are `Family, Given`, `Given Family`, or an organisation's."""

    file: str
    line: int
    title: str = ""
    authors: list[str] = field(default_factory=list)
    year: str = ""
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
    notes: list[tuple[int | None, str, str, Weight]] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    """The lines of fields that differ from the record's line."""

    def report(self, name: str, reason: str, weight: Weight = Weight.REPORTED, line: int | None = None) -> None:
        self.notes.append((line or self.lines.get(name), name, reason, weight))


def items_of(record: Record, intake: Intake) -> Iterator[Item]:
    """Yield the draft or the notices of a record, then its problems in the order of the fields."""
    item: Item | None = None
    if record.notices_of:
        yield from _notices(record)
        return
    title = clean_title(record.title)
    if not title:
        yield Problem(record.file, record.line, "title", "is missing: a record without a title is no study.")
        return
    item = _draft(record, intake, title)
    yield item
    for line, name, reason, weight in record.notes:
        yield Problem(record.file, line or record.line, name, reason, weight)


def _draft(record: Record, intake: Intake, title: str) -> StudyDraft:
    if len(title) > LONGEST_TITLE:
        record.report("title", f"has {len(title):,} characters; it was cut to {LONGEST_TITLE:,}.", Weight.DROPPED)
        title = title[:LONGEST_TITLE].rstrip()
    authors = _authors(record)
    doi, pmid, year = _doi(record), _pmid(record), _year(record)
    passages = record.passages or _abstract_passages(record)
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
        design=design_of(record.kinds, title),
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
        origin=record.file,
        line=record.line,
    )


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
    names = [name for name in (author_name(author) for author in record.authors) if name]
    kept = tuple(name for name in names if len(name) <= LONGEST_NAME and not text_fault(name, one_line=True))
    if len(kept) < len(names):
        record.report(
            "authors",
            f"{len(names) - len(kept)} of {len(names)} names are no names; they were left out.",
            Weight.DROPPED,
        )
    return kept


_SUFFIX = re.compile(r"(?:jr|sr|2nd|3rd|ii|iii|iv)\.?", re.IGNORECASE)
_INITIALS_LAST = re.compile(r"(?P<family>[^\d,]*[^\W\d_]{2}[^\d,]*?) (?P<initials>(?:[A-ZÀ-ÖØ-Þ]\.?-?){1,4})")
_PARTICLES = frozenset(
    "al da das de del della den der di do dos du el la le los ten ter van vande vanden vander von zu zur 't".split()
)
_BODY = re.compile(r"\b(?:group|consortium|committee|collaborat\w*|association|society|college|institute|university"
r"|centre|center|"
                   r"network|team|organi[sz]ation|investigators|initiative|council|agency|ministry|department"
                   r"|project)\b", re.I)  # fmt: skip


def author_name(name: str) -> str:
    """Return a name as `Family AB`, from any common form; return an organisation's name unchanged."""
    name = " ".join(html.unescape(name).replace("\u00a0", " ").split()).strip(" ,;")
    if name.startswith("{") and name.endswith("}"):
        return name[1:-1].strip()  # BibTeX's mark for a body
    name = name.replace("{", "").replace("}", "")
    if "," in name:
        family, *rest = [part.strip() for part in name.split(",")]
        if len(rest) > 1 and _SUFFIX.fullmatch(rest[0]):
            rest = [*rest[1:], rest[0]]
        given = (
            rest[0] if len(rest) == 1 else " ".join(part for part in rest if not _SUFFIX.fullmatch(part))
        )  # "Gray, SR" are initials
        return f"{family} {initials_of(given)}".strip()
    if _BODY.search(name) or " " not in name:
        return name
    if match := _INITIALS_LAST.fullmatch(name):
        return f"{match['family']} {match['initials'].replace('.', '').replace('-', '')}"
    words = name.split()
    if len(words) > 2 and _SUFFIX.fullmatch(words[-1]):
        words.pop()
    first = len(words) - 1
    while first > 1 and words[first - 1].lower() in _PARTICLES:
        first -= 1
    return f"{' '.join(words[first:])} {initials_of(' '.join(words[:first]))}".strip()


def initials_of(given: str) -> str:
    """Return the initials of given names: MA for `Mary Ann`, `M.-A.` and `MA`."""
    given = given.strip()
    if re.fullmatch(r"[A-ZÀ-ÖØ-Þ]{1,5}", given):
        return given
    return "".join(part[0].upper() for part in re.split(r"[\s.\-‐–]+", given) if part and part[0].isalpha())


_TAG = re.compile(r"</?(?:i|b|em|strong|sub|sup|italic|bold|jats:\w+|p|span|scp|sc|u)\b[^<>]{0,80}>", re.IGNORECASE)


def clean_title(title: str) -> str:
    """Return a title as one line without mark-up."""
    title = _TAG.sub("", html.unescape(title) if "&" in title else title)
    title = " ".join(_visible(title).split())
    return title[1:-1].strip() if re.fullmatch(r"\[[^\[\]]*\]\.?", title) and not title.endswith(".") else title


def clean_text(text: str) -> str:
    """Return an abstract without mark-up and control characters, with line breaks between paragraphs."""
    text = _TAG.sub("", html.unescape(text) if "&" in text else text)
    paragraphs = [" ".join(_visible(part).split()) for part in re.split(r"\n\s*\n", text)]
    return "\n\n".join(part for part in paragraphs if part)


def _visible(text: str) -> str:
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", " ", text)


def _one_line(record: Record, name: str, value: str, limit: int) -> str:
    value = clean_title(value)
    if len(value) > limit:
        record.report(name, f"has {len(value):,} characters; it was cut to {limit:,}.", Weight.DROPPED)
    return value[:limit].strip()


_DOI_WITHIN = re.compile(r"10\.\d{4,9}/[^\s\"<>{}|\\^`]+", re.IGNORECASE)


def found_doi(value: str) -> str:
    """Return the DOI in a field with other text or a URL, in normal form; empty when there is none."""
    match = _DOI_WITHIN.search(value.replace("%2F", "/").replace("%2f", "/"))
    if not match:
        return ""
    doi = match[0].rstrip(".,;:'")
    while doi.endswith((")", "]")) and doi.count(doi[-1]) > doi.count({")": "(", "]": "["}[doi[-1]]):
        doi = doi[:-1]
    return normal_doi(doi)


def _doi(record: Record) -> str | None:
    for value in record.dois:
        if doi := found_doi(value):
            return doi[:255]
    if wrong := next((value for value in record.dois if value.strip()), ""):
        record.report("doi", f"{doi_fault(wrong.strip())} It was left out.", Weight.DROPPED)
    return next((doi for url in record.urls if "doi.org/" in url and (doi := found_doi(url))), None)


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
    if match := _YEAR.search(record.year):
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
        PassageDraft(piece.section, piece.text, None, PassageKind.EXCERPT, piece.heading, piece.start, piece.end)
        for piece in cut(sections)
    )


# --- Identity and design ----------------------------------------------------------------------------------------------

MOST_TELLING = 200  # characters of a text that tell it from another of the same title


def study_id_of(
    *, doi: str | None, pmid: str | None, title: str, year: int | None, first_author: str, words: str
) -> str:
    """Return a stable id of a record, such as `Schoenfeld2015-3fa9c1`.

    A title alone is ambiguous ("Summary"), so without year and author the first of its `words` count too.
    """
    identity = doi or (f"pmid:{pmid}" if pmid else f"{plain_words(title)}|{year}|{plain_words(first_author)}")
    if not (doi or pmid or year or first_author) and words:
        identity += f"|{plain_words(words)[:MOST_TELLING]}"
    mark = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    family = first_author.rsplit(" ", 1)[0] if " " in first_author else first_author
    name = re.sub(r"[^A-Za-z]", "", unicodedata.normalize("NFKD", family))[:20] or "Study"
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
    (r"randomi[sz]ed|randomi[sz]ed controlled trial", Design.RANDOMIZED_CONTROLLED_TRIAL),
    (r"cohort|longitudinal|prospective study", Design.COHORT_STUDY),
    (r"cross-?sectional", Design.CROSS_SECTIONAL_STUDY),
    (r"\bthesis\b|dissertation", Design.THESIS),
    (r"preprint|unpublished work", Design.PREPRINT),
    (
        r"^review$|review[- ]article|narrative review|literature review|: a (?:brief |critical )?review\b",
        Design.NARRATIVE_REVIEW,
    ),
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), design) for pattern, design in _DESIGNS)
_NO_DESIGN = re.compile(
    r"editorial|commentary|comment\b|letter|news|book-?review|correction|retraction|erratum|discussion|protocol",
    re.IGNORECASE,
)


def design_of(kinds: Sequence[str], title: str) -> Design:
    """Return the design named by the source, else by the title, else OTHER; a curator confirms it."""
    if any(_NO_DESIGN.search(kind) for kind in kinds):
        return Design.OTHER
    for words in (" | ".join(kinds), title):
        for pattern, design in _PATTERNS:
            if any(pattern.search(word) for word in words.split(" | ")):
                return design
    return Design.OTHER
