"""Turn the HTML of a page, chapter or Markdown text into the tree of an article: parts under headings, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from lxml import etree, html

from corpus_app.sources.files import Refused
from corpus_app.sources.jats_text import Article, read_parts
from corpus_app.sources.trees import MAX_NODES, Node

MAX_CHARACTERS = 4_000_000  # of one page; the longest chapters and pages have below one million
_FURNITURE = {
    "script": "scripts", "style": "scripts", "noscript": "scripts", "template": "scripts", "nav": "navigation",
    "aside": "asides", "footer": "footers", "form": "forms", "button": "forms", "select": "forms", "dialog": "dialogs",
    "iframe": "embedded pages", "object": "embedded pages", "svg": "pictures", "canvas": "pictures",
    "video": "pictures", "audio": "pictures", "img": "pictures", "picture": "pictures", "head": "scripts",
}  # fmt: skip
"""Elements that are no text of a page, and how they are called when they are reported."""
_ROLES = {
    "navigation": "navigation", "banner": "page headers", "contentinfo": "footers", "complementary": "asides",
    "search": "forms", "dialog": "dialogs", "alertdialog": "dialogs", "form": "forms", "menu": "navigation",
}  # fmt: skip
_NOTICES = {
    "cookie": "cookie notices", "cookies": "cookie notices", "consent": "cookie notices", "gdpr": "cookie notices",
    "breadcrumb": "navigation", "breadcrumbs": "navigation", "pagination": "navigation", "sidebar": "asides",
}  # fmt: skip
"""Words of the class or id of an element that is no text."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    "address article blockquote body center dd details div dl dt fieldset figcaption figure header hgroup html li main "
    "menu ol p pre section summary ul table hr".split()
)
_LINK_SHARE = 0.8  # of the letters of a list: with more it is a menu
_LINK_WORDS = 8  # of an entry of a menu, at most on average


def parse_html(text: str) -> Any:
    """Return the root element of a page. Raises Refused when it is too large or nested too deeply."""
    if len(text) > MAX_CHARACTERS:
        raise Refused(f"has more than {MAX_CHARACTERS:,} characters; split it into pages or chapters.")
    parser = html.HTMLParser(remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(_without_declaration(text), parser=parser)
    except (etree.ParserError, ValueError) as error:
        raise Refused(f"cannot be read as HTML: {error}.") from None
    if any("Excessive depth" in entry.message for entry in parser.error_log):
        raise Refused("is nested deeper than 255 elements; it is no page of text.")
    if sum(1 for _ in root.iter()) > MAX_NODES:
        raise Refused(f"has more than {MAX_NODES:,} elements; split it into pages or chapters.")
    return root


def _without_declaration(text: str) -> str:
    """Return the page without an XML declaration: the text is decoded already."""
    bare = text.lstrip("\ufeff \t\r\n")
    return bare.partition("?>")[2] if bare.startswith("<?xml") else bare


def remove_furniture(root: Any) -> Counter[str]:
    """Take out of a page what is no text of it; return how often each kind stood there."""
    left_out: Counter[str] = Counter()
    waiting = [root]
    while waiting:
        for element in [*waiting.pop()]:
            if kind := _furniture(element):
                left_out[kind] += 1
                element.drop_tree()
            else:
                waiting.append(element)
    left_out.pop("scripts", None)
    return left_out


def _furniture(element: Any) -> str:
    """Return what kind of furniture an element is; empty when it is text."""
    tag = element.tag
    if tag == "header" and next(element.iterancestors("main", "article"), None) is None:
        return "page headers"
    if found := _FURNITURE.get(tag) or _ROLES.get(element.get("role", "")):
        return found
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return "hidden parts"
    if tag in {"html", "body", "main", "article"}:
        return ""
    names = f"{element.get('id', '')} {element.get('class', '')}".lower().replace("_", " ").replace("-", " ")
    if found := next((_NOTICES[name] for name in names.split() if name in _NOTICES), ""):
        return found
    return "lists of links" if tag in {"ul", "ol", "menu"} and _is_menu(element) else ""


def _is_menu(element: Any) -> bool:
    """Return whether a list has several short entries that are links and little else."""
    letters = len("".join("".join(element.itertext()).split()))
    links = ["".join(link.itertext()).split() for link in element.iter("a") if link.get("href")]
    linked = sum(len("".join(words)) for words in links)
    n_words = sum(map(len, links))
    return len(links) > 1 and linked > _LINK_SHARE * letters and n_words <= _LINK_WORDS * len(links)


def plain_text(element: Any) -> str:
    """Return the words of an element, with raised and lowered characters kept."""
    return " ".join(" ".join(part.text for part in article_text([body_of(element)]).sections).split())


def article_text(bodies: Iterable[Node]) -> Article:
    """Return the text of pages or chapters by section and paragraph; offsets refer to the whole."""
    parts = [part for body in bodies for part in body.parts]
    return read_parts(Node("body", {}, 1, parts), is_paper=False)


def body_of(element: Any, *, title: str = "") -> Node:
    """Return the tree of the text below an element; a heading that repeats the title is left out."""
    tree = _Tree(title=" ".join(title.split()).casefold())
    tree.read(element)
    tree.close()
    return tree.body


@dataclass(slots=True)
class _Tree:
    """A builder of parts under headings, from HTML in which headings and text stand side by side."""

    title: str
    body: Node = field(default_factory=lambda: Node("body", {}, 1))
    open: list[tuple[int, Node]] = field(default_factory=list)
    """The parts that are open, with the level of their headings, outermost first."""
    held: list[str | Node] = field(default_factory=list)
    """Words and inline elements of the paragraph that is being read."""

    @property
    def part(self) -> Node:
        return self.open[-1][1] if self.open else self.body

    def close(self) -> None:
        """End the paragraph."""
        if any(part.strip() if isinstance(part, str) else True for part in self.held):
            self.part.parts.append(Node("p", {}, 1, self.held))
        self.held = []

    def read(self, element: Any) -> None:
        self.words(element.text)
        for child in element:
            self.child(child)
            self.words(child.tail)

    def words(self, text: str | None) -> None:
        if text:
            self.held.append(text)

    def child(self, element: Any) -> None:
        tag = element.tag
        if tag in _HEADINGS:
            self.close()
            self.heading(element, _HEADINGS[tag])
        elif tag == "table" and not _is_layout(element):
            self.table(element)
        elif tag in _BLOCKS or tag in {"tr", "td", "th"}:
            self.block(element)
        elif any(inner.tag in _BLOCKS or inner.tag in _HEADINGS for inner in element.iterdescendants()):
            self.read(element)
        else:
            self.held.append(_inline(element))

    def block(self, element: Any) -> None:
        self.close()
        self.read(element)
        self.close()

    def heading(self, element: Any, level: int) -> None:
        """Open the part of a heading, and close those of its level and below."""
        words = " ".join("".join(element.itertext()).split())
        if not words or (words.casefold() == self.title and not self.open):
            return
        while self.open and self.open[-1][0] >= level:
            self.open.pop()
        part = Node("sec", {}, element.sourceline or 1, [Node("title", {}, 1, [_inline(element)])])
        self.part.parts.append(part)
        self.open.append((level, part))

    def table(self, element: Any) -> None:
        """Add a table with its caption, to be read by rows."""
        self.close()
        rows = Node("table", {}, element.sourceline or 1)
        wrap = Node("table-wrap", {}, element.sourceline or 1, [rows])
        for part in element:
            if part.tag == "caption":
                wrap.parts.insert(0, Node("caption", {}, 1, [Node("p", {}, 1, [_inline(part)])]))
            else:
                rows.parts.append(_inline(part))
        heading = self.part.find("title")
        if heading and not wrap.find("caption"):  # a row has to say what it is of
            wrap.parts.insert(0, Node("caption", {}, 1, [Node("p", {}, 1, heading.parts)]))
        self.part.parts.append(wrap)


def _is_layout(table: Any) -> bool:
    """Return whether a table only arranges a page: it holds headings or tables."""
    return any(inner is not table for inner in table.iter("table", *_HEADINGS))


def _inline(element: Any) -> Node:
    """Return an element with its words and descendants, as the reader of articles knows them."""
    tag = "break" if element.tag in {"br", "hr"} else str(element.tag).rpartition("}")[2]
    node = Node(tag, dict(element.attrib), element.sourceline or 1)
    if element.text:
        node.parts.append(element.text)
    for child in element:
        if child.tag in _BLOCKS:
            node.parts.append(" ")
        node.parts.append(_inline(child))
        if child.tag in _BLOCKS:
            node.parts.append(" ")
        if child.tail:
            node.parts.append(child.tail)
    return node
