"""Read the text of a JATS article by section and paragraph, with its tables and figures under their section.

Displayed formulas, references, footnotes and boilerplate are left out, and their numbers counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from corpus_app.passages import SectionText
from corpus_app.records import CitedWork, PassageKind, Section
from corpus_app.sources.headings import is_boilerplate, plain_heading, section_of
from corpus_app.sources.jats_references import (
    RAISED_MARK,
    CitedText,
    Mark,
    joined,
    mark_of,
    raised_marks,
    references_of,
    without_marks,
)
from corpus_app.sources.jats_tables import FIGURES, TABLES, display_item
from corpus_app.sources.markup import HOLE, lowered, raised
from corpus_app.sources.mathml import formula_text
from corpus_app.sources.trees import Node

# What is left out wherever it stands, and how it is called when it is told.
_LEFT_OUT = {
    "table": "tables without a caption", "graphic": "figures", "media": "figures",
    "disp-formula": "displayed formulas", "disp-formula-group": "displayed formulas",
    "fn": "footnotes", "fn-group": "footnotes", "ref-list": "reference lists", "supplementary-material": "supplements",
    "glossary": "glossaries", "def-list": "glossaries", "ack": "acknowledgements", "code": "listings",
    "preformat": "listings", "app-group": "appendices", "sub-article": "reviews and replies", "response": "responses",
}  # fmt: skip
_SILENT = frozenset(
    "label object-id private-char inline-supplementary-material permissions floats-group annotation".split()
)
_PARAGRAPHS = frozenset("p disp-quote boxed-text list statement verse-group speech attrib".split())
_DISPLAYED = TABLES | FIGURES
_APART = frozenset({"supplementary-material", "display-objects", "additional-information"})
_OWN_DOI = re.compile(r"(?:DOI:?\s*)?(?:https?://(?:dx\.)?doi\.org/)?10\.\d{4,9}/\S+")
"""A paragraph that names the part that it stands in, as eLife has them."""
_OPENING = frozenset({Section.INTRODUCTION, Section.BACKGROUND, Section.ABSTRACT})
_CLOSING = frozenset({Section.LIMITATIONS, Section.CONCLUSION, Section.PRACTICAL_APPLICATIONS})


@dataclass(frozen=True, slots=True)
class _Place:
    """The part of an article that is being read."""

    headings: tuple[str, ...] = ()
    section: Section | None = None

    @property
    def stored(self) -> Section:
        return self.section or (Section.RESULTS if self.headings else Section.INTRODUCTION)


@dataclass(slots=True)
class Article:
    """The text of an article; offsets of its passages refer to `text`."""

    works: Mapping[str, CitedWork] = field(default_factory=dict)
    """The works of its reference list by their ids."""
    is_paper: bool = True
    """False for pages and books, whose parts on funding, notes or contacts are text like any other."""
    sections: list[SectionText] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unplaced: list[str] = field(default_factory=list)
    """Headings that name no section of ours: their text went by the headings around them, or to the results."""
    displayed: list[Node] = field(default_factory=list)
    """Tables and figures met in the part that is being read."""
    mentioned: dict[str, _Place] = field(default_factory=dict)
    """Where each table and figure is first spoken of, by its id."""
    place: _Place = field(default_factory=_Place)
    at: int = 0

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.sections)

    def add(
        self,
        section: Section,
        heading: str,
        paragraphs: Sequence[CitedText],
        kind: PassageKind = PassageKind.EXCERPT,
    ) -> None:
        kept = [paragraph for paragraph in paragraphs if paragraph.text]
        if kept:
            whole = joined(kept, "\n" if kind is PassageKind.TABLE else "\n\n")
            self.sections.append(SectionText(section, heading, whole.text, self.at, kind, whole.cited))
            self.at += len(whole.text) + 2

    def add_displayed(self, place: _Place, nodes: Sequence[Node]) -> None:
        """Add tables and figures under the headings of a part."""
        for node in nodes:
            inner = [part for part in node if part.tag in _DISPLAYED]
            if inner:
                self.add_displayed(place, inner)
                continue
            item = display_item(node, lambda parts: _words(parts, self))
            self.left_out.update(item.left_out)
            heading = " > ".join(filter(None, (*place.headings, item.label)))
            self.add(place.stored, heading, item.prose)
            self.add(place.stored, heading, item.rows, PassageKind.TABLE)


def article_of(root: Node) -> Article:
    """Return the text of an article: abstracts, body, and the tables and figures that stand behind it."""
    article = Article(references_of(root))
    for abstract in root.all("front/article-meta/abstract"):
        _read_abstract(abstract, article)
    article.left_out["figures of the abstract"] += len(article.displayed)
    article.displayed = []
    apart: list[Node] = [*root.all("floats-group")]
    for body in root.all("body"):
        apart += _Body(article).read(body)
    for back in root.all("back"):
        for part in back:
            if part.tag == "sec" and section_of(part.text("title"), part.get("sec-type")):
                apart += _Body(article).read(Node("body", {}, part.line, [part]))
            else:
                article.left_out[_LEFT_OUT.get(part.tag, "parts after the text")] += part.tag != "title"
    for group in apart:
        for node in _outermost(group):
            article.add_displayed(article.mentioned.get(node.get("id"), _Place(section=Section.RESULTS)), [node])
    for part in root:
        if part.tag in {"sub-article", "response"}:
            article.left_out[_LEFT_OUT[part.tag]] += 1
    return article


def read_parts(body: Node, *, is_paper: bool = True) -> Article:
    """Return the text of parts under headings that belong to no article with front and back."""
    article = Article(is_paper=is_paper)
    _Body(article).read(body)
    return article


def plain(node: Node) -> str:
    """Return the text of an element without its citation marks."""
    return _words(node.parts, Article()).text


def _outermost(node: Node) -> Iterator[Node]:
    """Yield the tables and figures of a part that stand in no other."""
    for part in node:
        if part.tag in _DISPLAYED:
            yield part
        else:
            yield from _outermost(part)


def _read_abstract(abstract: Node, article: Article) -> None:
    kind = abstract.get("abstract-type")
    if kind in {"graphical", "toc", "teaser", "web-summary", "key-points", "precis"}:
        article.left_out["further abstracts"] += 1
        return
    name = abstract.text("title") or "Abstract"
    paragraphs: list[CitedText] = []
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
    apart: list[Node] = field(default_factory=list)
    """Parts that hold tables and figures only."""

    def read(self, body: Node) -> list[Node]:
        """Add the text of a body; return the parts whose tables and figures belong to other parts."""
        self.level(body, _Place())
        return self.apart

    def level(self, node: Node, place: _Place) -> None:
        """Add the text of a part and its subparts; one without a section heading belongs to the enclosing section."""
        self.article.place = place
        paragraphs = [*_paragraphs(node, self.article)]
        if paragraphs and place.section is None:
            self.article.unplaced += place.headings[-1:]
        self.article.add(place.stored, " > ".join(place.headings), paragraphs)
        displayed, self.article.displayed = self.article.displayed, []
        self.article.add_displayed(place, displayed)
        for part in node:
            if part.tag == "sec":
                self.part(part, place)
            elif part.tag == "boxed-text":
                self.box(part, place)

    def part(self, part: Node, place: _Place) -> None:
        heading = plain(part.find("title") or part).rstrip(":. ") if part.find("title") else ""
        if (self.article.is_paper and is_boilerplate(heading)) or part.get("sec-type") in _APART:
            self.article.left_out["parts without findings"] += 1
            if part.get("sec-type") == "display-objects" or plain_heading(heading).startswith(("figure", "table")):
                self.apart.append(part)
            return
        section = self.section(heading, part.get("sec-type"), place.section)
        self.level(part, _Place((*place.headings, heading) if heading else place.headings, section))

    def box(self, box: Node, place: _Place) -> None:
        """Add the text of a box under its own title."""
        title = box.text("caption/title") or box.text("title") or box.text("label")
        heading = title.rstrip(":. ")
        if heading and is_boilerplate(heading):
            self.article.left_out["parts without findings"] += 1
            return
        headings = (*place.headings, heading) if heading else place.headings
        self.level(box, _Place(headings, self.section(heading, "", place.section)))

    def section(self, heading: str, kind: str, outer: Section | None) -> Section | None:
        own = section_of(heading, kind)
        if own is None or outer is None:
            return own or outer
        # "Participants" inside the results belongs to the results; limitations and conclusions are sections anywhere.
        return own if outer in _OPENING or own in _CLOSING else outer


def _paragraphs(node: Node, article: Article) -> Iterator[CitedText]:
    """Yield the paragraphs directly in a part, in order, with list items and quotations."""
    for part in node:
        if part.tag in _DISPLAYED:
            article.displayed.append(part)
        elif part.tag in _LEFT_OUT:
            article.left_out[_LEFT_OUT[part.tag]] += 1
        elif part.tag == "list":
            for item in part.all("list-item"):
                yield from _paragraphs(item, article)
        elif part.tag in {"disp-quote", "statement", "speech", "verse-group"}:
            yield from _paragraphs(part, article)
            for inner in part.all("sec"):
                yield from _paragraphs(inner, article)
        elif part.tag in _PARAGRAPHS and part.tag != "boxed-text":
            yield from _split_paragraph(part, article)


def _split_paragraph(node: Node, article: Article) -> Iterator[CitedText]:
    """Split a paragraph at lists inside it, and count what is left out."""
    held: list[str | Node] = []
    for part in [*node.parts, None]:
        if part is not None and (isinstance(part, str) or part.tag not in {"list", "boxed-text", "disp-quote"}):
            held.append(part)
            continue
        words = _words(held, article)
        if words.text and not _OWN_DOI.fullmatch(words.text):
            yield words
        held = []
        if part is not None:
            inner = part if part.tag == "boxed-text" else Node("p", {}, part.line, [part])
            yield from _paragraphs(inner, article)
            for section in part.all("sec"):
                yield from _paragraphs(section, article)


def _words(parts: Sequence[str | Node], article: Article) -> CitedText:
    run = _Run(article)
    run.read(parts)
    text = _EMPTY_BRACKETS.sub("", " ".join("".join(run.words).split()))
    return without_marks(text, run.marks, article.works) if run.marks else CitedText(text)


_EMPTY_BRACKETS = re.compile(r" ?[(\[][\s,;–-]*[)\]]")


@dataclass(slots=True)
class _Run:
    """A builder of a paragraph's text."""

    article: Article
    words: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    """Of the citation marks in the words, in their order."""

    def read(self, parts: Sequence[str | Node]) -> None:
        for part in parts:
            if isinstance(part, str):
                self.words.append(part)
            elif part.tag in _DISPLAYED:
                self.article.displayed.append(part)
                self.words.append(" ")
            elif part.tag in _LEFT_OUT:
                self.article.left_out[_LEFT_OUT[part.tag]] += 1
                self.words.append(" ")
            elif part.tag not in _SILENT:
                self.element(part)

    def element(self, node: Node) -> None:
        match node.tag:
            case "sup":
                self.script(node.parts, is_raised=True)
            case "sub":
                self.script(node.parts, is_raised=False)
            case "break" | "hr":
                self.words.append(" ")
            case "xref":
                self.reference(node)
            case "inline-formula" | "alternatives" | "math" | "tex-math":
                self.formula(node)
            case "inline-graphic":
                self.words.append(HOLE)
            case _:
                self.read(node.parts)

    def reference(self, node: Node) -> None:
        if node.get("ref-type") == "bibr" and (found := mark_of(node)):
            mark, text = found
            self.marks.append(mark)
            self.words.append(text)
            return
        for name in node.get("rid").split() if node.get("ref-type") in {"table", "fig"} else ():
            self.article.mentioned.setdefault(name, self.article.place)
        self.read(node.parts)

    def formula(self, node: Node) -> None:
        """Add one reading of a formula: MathML, else TeX, else its letters; a picture alone is a hole."""
        if (text := formula_text(node)) is not None:
            self.words.append(text)
            return
        pictures = {"graphic", "inline-graphic", "media"}
        texts = [part for part in node.parts if isinstance(part, str) or part.tag not in _SILENT | pictures]
        has_words = any(part.strip() if isinstance(part, str) else part.text() for part in texts)
        self.read(texts if has_words else [HOLE] if len(texts) < len(node.parts) else [])

    def script(self, parts: Sequence[str | Node], *, is_raised: bool) -> None:
        inner = _Run(self.article)
        inner.read(parts)
        written = "".join(inner.words)
        rest, number = raised_marks(written)
        blank = " " if written[-1:].isspace() else ""
        self.words.append(f"{raised(rest) if is_raised else lowered(rest)}{blank}")
        self.words.append(RAISED_MARK * number)
        self.marks += inner.marks
