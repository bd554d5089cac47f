"""Read an EPUB as one source: its chapters in the order of its spine, each under its headings.

An EPUB is a zip of XHTML, which the standard library and our XML and HTML readers open; ebooklib is under the AGPL.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

from corpus_app.sources import archives
from corpus_app.sources.bibliography import Intake, Item, Record
from corpus_app.sources.files import Refused
from corpus_app.sources.intake import Source, encoding_of, text_of
from corpus_app.sources.page_text import article_text, body_of, parse_html, remove_furniture
from corpus_app.sources.trees import Node, root_of
from corpus_app.sources.web_pages import page_items

_MARK = b"mimetypeapplication/epub+zip"
_CONTAINER = "META-INF/container.xml"
_CHAPTERS = frozenset({"application/xhtml+xml", "text/html"})


def is_epub(head: bytes) -> bool:
    """Return whether the first file of a zip says that it is an EPUB, as its standard asks."""
    return archives.is_zip(head) and head[30:58] == _MARK


def items(source: Source, intake: Intake) -> Iterator[Item]:
    files = {member.name: member for member in archives.members(source, is_book=True)}
    if "META-INF/encryption.xml" in files and "META-INF/rights.xml" in files:
        raise Refused("is locked by its seller; only books without a lock can be read.")
    path = next((node.get("full-path") for node in _root(files, _CONTAINER).walk() if node.tag == "rootfile"), "")
    package = _root(files, path)
    record = _record(source.name, package)
    left_out: Counter[str] = Counter()
    chapters: list[Node] = []
    for name in _spine(package, posixpath.dirname(path)):
        if (member := files.get(name)) is None:
            record.report("passages", f"the chapter {name[:80]!r} is named in the book and is not in it.")
            continue
        root = parse_html(text_of(member, encoding_of(member)))
        left_out += remove_furniture(root)
        chapters.append(body_of(root, title=record.title))
    article = article_text(chapters)
    article.left_out.update(left_out)
    yield from page_items(record, article, intake)


def _root(files: dict[str, Source], name: str) -> Node:
    """Parse one of the files that say what the book holds. Raises Refused when it is missing or broken."""
    if name not in files:
        raise Refused(f"is no sound EPUB: it holds no {name[:80] or 'list of its parts'}.")
    return root_of(files[name])


def _record(name: str, package: Node) -> Record:
    said = package.find("metadata") or Node("metadata", {}, 1)
    record = Record(name, 1, title=said.text("title"), kinds=["book"], is_reviewed=False)
    record.authors = [node.text() for node in said.all("creator")]
    record.journal = said.text("publisher")
    dates = [node.text() for node in said.all("date")]
    record.year = dates[0] if dates else ""
    identifiers = (node.text() for node in (*said.all("source"), *said.all("identifier")))
    record.urls = [value for value in identifiers if value.startswith(("http://", "https://"))][:1]
    record.licence = said.text("rights")[:200]
    return record


def _spine(package: Node, folder: str) -> Iterator[str]:
    """Yield the names of the chapters in the order of reading, without the table of contents."""
    parts = {node.get("id"): node for node in package.all("manifest/item")}
    for reference in package.all("spine/itemref"):
        part = parts.get(reference.get("idref"))
        if part is None or part.get("media-type") not in _CHAPTERS or "nav" in part.get("properties").split():
            continue
        yield posixpath.normpath(posixpath.join(folder, unquote(part.get("href"))))
