"""Read JATS XML (PMC, PLOS, eLife): the bibliography, and the text by section and paragraph.

Tables, figures, displayed formulas, references, footnotes and boilerplate are left out, and their numbers reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from common.dois import find_doi
from corpus_app.passages import SectionText
from corpus_app.records import Notice, Section
from corpus_app.sources.bibliography import Intake, Item, Record, drafted, items_of
from corpus_app.sources.drafts import Problem
from corpus_app.sources.headings import is_boilerplate, section_of
from corpus_app.sources.intake import Source
from corpus_app.sources.markup import HOLE, lowered, raised
from corpus_app.sources.trees import Node, elements

ROOTS = frozenset({"article", "pmc-articleset"})

# What is left out wherever it stands, and how it is called when it is told.
_LEFT_OUT = {
    "table-wrap": "tables", "table-wrap-group": "tables", "table": "tables", "fig": "figures", "fig-group": "figures",
    "graphic": "figures", "media": "figures", "disp-formula": "displayed formulas",
    "disp-formula-group": "displayed formulas",
    "fn": "footnotes", "fn-group": "footnotes", "ref-list": "reference lists", "supplementary-material": "supplements",
    "glossary": "glossaries", "def-list": "glossaries", "ack": "acknowledgements", "code": "listings",
    "preformat": "listings",
}  # fmt: skip
_SILENT = frozenset(
    "label object-id tex-math private-char inline-supplementary-material permissions floats-group annotation".split()
)
_PARAGRAPHS = frozenset("p disp-quote boxed-text list statement verse-group speech attrib".split())
_NOTICES = {
    "retraction": Notice.RETRACTED, "retracted-article": Notice.RETRACTED, "correction": Notice.CORRECTED,
    "corrected-article": Notice.CORRECTED, "erratum": Notice.CORRECTED,
    "expression-of-concern": Notice.EXPRESSION_OF_CONCERN,
    "object-of-concern": Notice.EXPRESSION_OF_CONCERN,
}  # fmt: skip
_NO_STUDY = frozenset(
    "editorial article-commentary book-review letter discussion news obituary announcement introduction calendar "
    "abstract "
    "meeting-report product-review reply other in-brief oration collection".split()
)


_OPENING = frozenset({Section.INTRODUCTION, Section.BACKGROUND, Section.ABSTRACT})
_CLOSING = frozenset({Section.LIMITATIONS, Section.CONCLUSION, Section.PRACTICAL_APPLICATIONS})


@dataclass(slots=True)
class Article:
    """The text of an article; offsets of its passages refer to `text`."""

    sections: list[SectionText] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unplaced: list[str] = field(default_factory=list)
    """Headings that name no section of ours: their text went by the headings around them, or to the results."""
    at: int = 0

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.sections)

    def add(self, section: Section, heading: str, paragraphs: list[str]) -> None:
        if text := "\n\n".join(paragraph for paragraph in paragraphs if paragraph):
            self.sections.append(SectionText(section, heading, text, self.at))
            self.at += len(text) + 2


def items(source: Source, intake: Intake) -> Iterator[Item]:
    is_empty = True
    for root in elements(source, frozenset({"article"})):
        is_empty = False
        record, _ = read_article(root, source.name)
        yield from items_of(record, intake)
    if is_empty:
        yield Problem(source.name, 1, "", "holds no <article>; it is no JATS file.")


def read_article(root: Node, file: str) -> tuple[Record, Article]:
    """Return the record with its passages, and the text that they were cut from."""
    record = Record(file, root.line, kinds=[root.get("article-type")])
    meta = root.find("front/article-meta") or Node("article-meta", {}, root.line)
    _bibliography(record, root, meta)
    article = Article()
    for abstract in meta.all("abstract"):
        _read_abstract(abstract, article)
    if body := root.find("body"):
        _Body(article).read(body)
    for back in root.all("back"):
        for part in back:
            article.left_out[_LEFT_OUT.get(part.tag, "parts after the text")] += part.tag != "title"
    record.passages = drafted(article.sections)
    _report_omissions(record, root, article)
    return record, article


# --- Bibliography -----------------------------------------------------------------------------------------------------


def _bibliography(record: Record, root: Node, meta: Node) -> None:
    title = meta.find("title-group/article-title")
    record.title = plain(title) if title else ""
    if title and (subtitle := meta.find("title-group/subtitle")):
        record.title = f"{record.title.rstrip(':')}: {plain(subtitle)}"
    record.lines = {"title": title.line} if title else {}
    record.journal = root.text("front/journal-meta/journal-title-group/journal-title") or root.text(
        "front/journal-meta/journal-title"
    )
    for node in meta.all("article-id"):
        kind = node.get("pub-id-type")
        if kind == "doi":
            record.dois.append(node.text())
            record.lines["doi"] = node.line
        elif kind == "pmid":
            record.pmid = node.text()
            record.lines["pmid"] = node.line
        elif kind in {"pmc", "pmcid"}:
            record.urls.append(
                f"https://www.ncbi.nlm.nih.gov/pmc/articles/PMC{node.text().upper().removeprefix('PMC')}/"
            )
    if record.dois:
        record.urls = []
    record.authors = [name for group in meta.all("contrib-group") for name in _names(group)]
    record.year = _year(meta)
    licence = meta.find("permissions/license")
    record.licence = _licence(licence) if licence else ""
    kind = root.get("article-type").lower()
    record.is_reviewed = kind not in _NO_STUDY and not kind.startswith("preprint")
    record.kinds += [node.text() for node in meta.all("article-categories/subj-group/subject")]
    for node in meta.all("related-article"):
        notice = _NOTICES.get(node.get("related-article-type"))
        if notice and kind in {"retraction", "correction", "erratum", "expression-of-concern"}:
            doi = find_doi(node.get("href"))
            pmid = node.get("href") if node.get("ext-link-type") == "pubmed" and node.get("href").isdigit() else ""
            if doi or pmid:
                record.notices_of.append((_NOTICES.get(kind, notice), doi, pmid))
    if kind in {"retraction", "correction", "erratum", "expression-of-concern"} and not record.notices_of:
        record.report("", f"is a notice ({kind}) that does not name its study by DOI or PMID; set the notice by hand.")
    elif kind in _NO_STUDY:
        record.report(
            "design",
            f"is called “{kind}” by its journal: no study of its own, and perhaps not peer reviewed. Look before "
            f"you publish.",
        )


def _names(group: Node) -> Iterator[str]:
    for contrib in group.all("contrib"):
        if contrib.get("contrib-type") not in {"", "author"}:
            continue
        for name in (*contrib.all("name"), *contrib.all("name-alternatives/name")):
            given = " ".join(part for part in (name.text("given-names"), name.text("suffix")) if part)
            yield f"{name.text('surname')}, {given}" if given else name.text("surname")
            break
        else:
            if body := contrib.find("collab"):
                own = Node(
                    "collab",
                    {},
                    body.line,
                    [part for part in body.parts if isinstance(part, str) or part.tag != "contrib-group"],
                )
                yield "{" + own.text() + "}"
            elif words := contrib.text("string-name"):
                yield words


def _year(meta: Node) -> str:
    """Return the year of publication: the earliest of the dates, because journals print different ones."""
    years = [
        node.text("year")
        for node in meta.all("pub-date")
        if node.get("pub-type") != "pmc-release" and node.get("date-type") != "pmc-release"
    ]
    return min((year for year in years if year), default="")


_CC = re.compile(
    r"creativecommons\.org/(?:licenses/(?P<kind>[a-z-]+)/(?P<version>[\d.]+)|publicdomain/(?P<zero>zero|mark))",
    re.IGNORECASE,
)


def _licence(node: Node) -> str:
    words = " ".join([node.get("href"), *(link.get("href") for link in node.walk() if link.get("href")), node.text()])
    if match := _CC.search(words):
        return (
            "CC0 1.0"
            if match["zero"] == "zero"
            else "public domain"
            if match["zero"]
            else f"CC {match['kind'].upper()} {match['version']}"
        )
    if "Creative Commons Attribution License" in words or "Creative Commons Attribution Licence" in words:
        return "CC BY"
    return ""


def _report_omissions(record: Record, root: Node, article: Article) -> None:
    body = root.find("body")
    line = body.line if body else root.line
    if parts := [f"{name} ({count})" for name, count in sorted(article.left_out.items()) if count]:
        record.report("passages", f"left out of the text: {', '.join(parts)}.", line=line)
    if article.unplaced:
        named = ", ".join(f"“{heading}”" for heading in dict.fromkeys(article.unplaced))
        record.report(
            "section",
            f"no section of ours is meant by {named[:300]}; the text stands under results. Correct it where it is "
            f"wrong.",
            line=line,
        )
    if not article.sections:
        record.report("passages", "there is no text in it that could become passages.")


# --- Text -------------------------------------------------------------------------------------------------------------


def _read_abstract(abstract: Node, article: Article) -> None:
    kind = abstract.get("abstract-type")
    if kind in {"graphical", "toc", "teaser", "web-summary", "key-points", "precis"}:
        article.left_out["further abstracts"] += 1
        return
    name = abstract.text("title") or "Abstract"
    paragraphs: list[str] = []
    for part in abstract:
        if part.tag == "sec":
            article.add(Section.ABSTRACT, name, paragraphs)
            paragraphs = []
            heading = part.text("title")
            if is_boilerplate(heading):
                article.left_out["parts without findings"] += 1
                continue
            article.add(
                section_of(heading) or Section.ABSTRACT,
                f"{name} > {heading.rstrip(':. ')}",
                [*_paragraphs(part, article)],
            )
        elif part.tag in _PARAGRAPHS:
            paragraphs += _paragraphs(Node("sec", {}, part.line, [part]), article)
    article.add(Section.ABSTRACT, name, paragraphs)


@dataclass(slots=True)
class _Body:
    article: Article

    def read(self, body: Node) -> None:
        self.level(body, (), None)

    def level(self, node: Node, headings: tuple[str, ...], section: Section | None) -> None:
        """Add the text of a part and its subparts; one without a section heading belongs to the enclosing section."""
        paragraphs = [*_paragraphs(node, self.article)]
        if paragraphs and section is None:
            self.article.unplaced += headings[-1:]
        self.article.add(
            section or (Section.RESULTS if headings else Section.INTRODUCTION), " > ".join(headings), paragraphs
        )
        for part in node.all("sec"):
            heading = part.text("title").rstrip(":. ")
            if is_boilerplate(heading) or part.get("sec-type") in {
                "supplementary-material",
                "display-objects",
                "additional-information",
            }:
                self.article.left_out["parts without findings"] += 1
                continue
            self.level(
                part,
                (*headings, heading) if heading else headings,
                self.section(heading, part.get("sec-type"), section),
            )

    def section(self, heading: str, kind: str, outer: Section | None) -> Section | None:
        own = section_of(heading, kind)
        if own is None or outer is None:
            return own or outer
        # "Participants" inside the results belongs to the results; limitations and conclusions are sections anywhere.
        return own if outer in _OPENING or own in _CLOSING else outer


def _paragraphs(node: Node, article: Article) -> Iterator[str]:
    """Yield the paragraphs directly in a part, in order, with list items and boxed text."""
    for part in node:
        if part.tag in {"sec", "title", "label"}:
            continue
        if part.tag in _LEFT_OUT:
            article.left_out[_LEFT_OUT[part.tag]] += 1
        elif part.tag == "list":
            for item in part.all("list-item"):
                yield from _paragraphs(item, article)
        elif part.tag in {"disp-quote", "boxed-text", "statement", "speech", "verse-group"}:
            yield from _paragraphs(part, article)
            for inner in part.all("sec"):
                yield from _paragraphs(inner, article)
        elif part.tag in _PARAGRAPHS:
            yield from _split_paragraph(part, article)


def _split_paragraph(node: Node, article: Article) -> Iterator[str]:
    """Split a paragraph at lists inside it, and count what is left out."""
    held: list[str | Node] = []
    for part in node.parts:
        if isinstance(part, Node) and part.tag in {"list", "boxed-text", "disp-quote"}:
            if words := _words(held, article):
                yield words
            held = []
            yield from _paragraphs(Node("p", {}, part.line, [part]), article)
        else:
            held.append(part)
    if words := _words(held, article):
        yield words


def plain(node: Node) -> str:
    return _words(node.parts, Article())


def _words(parts: list[str | Node], article: Article) -> str:
    run = _Run(article)
    run.read(parts)
    return _EMPTY_BRACKETS.sub("", " ".join("".join(run.words).split()))


_EMPTY_BRACKETS = re.compile(r" ?[(\[][\s,;–-]*[)\]]")


@dataclass(slots=True)
class _Run:
    """A builder of a paragraph's text."""

    article: Article
    words: list[str] = field(default_factory=list)

    def read(self, parts: Sequence[str | Node]) -> None:
        for part in parts:
            if isinstance(part, str):
                self.words.append(part)
            elif part.tag in _LEFT_OUT:
                self.article.left_out[_LEFT_OUT[part.tag]] += 1
                self.words.append(" ")
            elif part.tag not in _SILENT:
                self.element(part)

    def element(self, node: Node) -> None:
        if node.tag == "sup":
            self.raised(node.parts)
        elif node.tag == "sub":
            inner = _Run(self.article)
            inner.read(node.parts)
            self.words.append(lowered("".join(inner.words)))
        elif node.tag in {"break", "hr", "mspace"}:
            self.words.append(" ")
        elif node.tag == "alternatives":
            texts = [part for part in node if part.tag not in _SILENT | {"graphic", "inline-graphic", "media"}]
            self.read(texts[:1] or [HOLE])
        elif node.tag == "inline-graphic":
            self.words.append(HOLE)
        elif node.tag in {"msup", "msubsup"} and len([*node]) > 1:
            *base, power = node
            self.read([*base])
            self.raised([power])
        elif node.tag == "mfrac" and len([*node]) == 2:
            over, under = node
            self.read([over, "/", under])
        else:
            self.read(node.parts)

    def raised(self, parts: Sequence[str | Node]) -> None:
        inner = _Run(self.article)
        inner.read(parts)
        self.words.append(raised("".join(inner.words)))
