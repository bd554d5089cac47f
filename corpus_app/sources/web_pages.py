"""Read a web page (HTML) or a Markdown text as one source: its title, address, date, and its text under headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from markdown_it import MarkdownIt
from readability import Document

from corpus_app.sources.bibliography import Intake, Item, Record, drafted, encoding_note, items_of
from corpus_app.sources.files import Refused
from corpus_app.sources.intake import Source, encoding_of, text_of
from corpus_app.sources.jats_text import Article
from corpus_app.sources.page_text import MAX_CHARACTERS, article_text, body_of, parse_html, plain_text, remove_furniture

_HTML = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body|main|title|meta|h1)\b",
    re.IGNORECASE | re.DOTALL,
)
_MARKDOWN = re.compile(r"^(?:#{1,6} \S.*|\S.*\n(?:={3,}|-{3,}) *)$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)\n", re.DOTALL)
_ENTRY = re.compile(r"^([A-Za-z_-]{1,30}): *(.+)$", re.MULTILINE)
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")
_FEWEST_LETTERS = 200  # of the text that readability finds; with less, the whole page is read


def is_html(text: str) -> bool:
    return _HTML.match(text) is not None


def is_markdown(text: str) -> bool:
    """Return whether a text has front matter, or a heading as Markdown writes it."""
    return _FRONT_MATTER.match(text) is not None or _MARKDOWN.search(text) is not None


# --- HTML -------------------------------------------------------------------------------------------------------------


def html_items(source: Source, intake: Intake) -> Iterator[Item]:
    encoding = encoding_of(source)
    yield from encoding_note(source, encoding)
    root = parse_html(text_of(source, encoding))
    record = Record(source.name, 1, kinds=["web page"], is_reviewed=False)
    _take_metadata(record, root)
    left_out = remove_furniture(root)
    main = _main_part(root)
    heading = next(main.iter("h1"), None)
    if heading is not None and (words := plain_text(heading)):
        record.title = words
    article = article_text([body_of(main, title=record.title)])
    article.left_out.update(left_out)
    yield from page_items(record, article, intake)


def _take_metadata(record: Record, root: Any) -> None:
    """Take title, address, date and author from the head of a page."""
    named: dict[str, str] = {}
    for meta in root.iter("meta"):
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower()
        named.setdefault(name, meta.get("content") or "")
    title = root.find(".//title")
    record.title = named.get("og:title", "") or ("".join(title.itertext()) if title is not None else "")
    links = [link.get("href") or "" for link in root.iter("link") if (link.get("rel") or "").lower() == "canonical"]
    record.urls = [url for url in (*links, named.get("og:url", "")) if url.startswith(("http://", "https://"))][:1]
    times = [time.get("datetime") or "" for time in root.iter("time")]
    dates = [named.get(name, "") for name in ("article:published_time", "date", "dc.date", "dcterms.date")]
    record.year = next((found[0] for date in (*dates, *times) if (found := _YEAR.search(date))), "")
    record.authors = [named["author"]] if named.get("author") else _organisation(named.get("og:site_name", ""))


def _organisation(name: str) -> list[str]:
    return ["{" + name + "}"] if name else []


def _main_part(root: Any) -> Any:
    """Return the element with the text of a page: what the page calls its main part, else what readability finds."""
    marked = [*root.iter("main"), *root.xpath("//*[@role='main']")] or [*root.iter("article")]
    if len(marked) == 1:
        return marked[0]
    found = parse_html(Document(_as_html(root)).summary())
    if len("".join(found.itertext())) >= _FEWEST_LETTERS:
        return found
    body = root.find("body")
    return root if body is None else body


def _as_html(root: Any) -> str:
    from lxml import html

    return str(html.tostring(root, encoding="unicode"))


def page_items(record: Record, article: Article, intake: Intake) -> Iterator[Item]:
    """Yield the source that a record and its text make, and what was left out of it."""
    if not record.title.strip():
        record.title = next((part.heading for part in article.sections if part.heading), "")
        if not record.title:
            record.title = PurePosixPath(record.file).stem.replace("-", " ").replace("_", " ")
            record.report("title", f"is missing: it is called “{record.title}”, after its file. Give it a heading.")
    record.passages = drafted(article.sections)
    if parts := [f"{name} ({count})" for name, count in sorted(article.left_out.items()) if count]:
        record.report("passages", f"left out of the text: {', '.join(parts)}.")
    if not article.sections:
        raise Refused("holds no text under its headings: perhaps a script writes it. Save the page as it is shown.", 1)
    yield from items_of(record, intake)


# --- Markdown ---------------------------------------------------------------------------------------------------------


def markdown_items(source: Source, intake: Intake) -> Iterator[Item]:
    encoding = encoding_of(source)
    yield from encoding_note(source, encoding)
    text = text_of(source, encoding)
    if len(text) > MAX_CHARACTERS:
        raise Refused(f"has more than {MAX_CHARACTERS:,} characters; split it into pages or chapters.")
    said, text = _front_matter(text)
    rendered = MarkdownIt("commonmark").enable("table").render(text)
    root = parse_html(f"<main>{rendered}</main>")
    heading = next(root.iter("h1"), None)
    title = said.get("title") or (plain_text(heading) if heading is not None else "")
    record = Record(source.name, 1, title=title, kinds=["web page"], is_reviewed=False)
    record.year = said.get("date") or said.get("year") or ""
    record.urls = [url for url in (said.get("url") or said.get("source") or "",) if url]
    record.authors = [name for name in (said.get("author") or said.get("authors") or "",) if name]
    left_out = remove_furniture(root)
    article = article_text([body_of(root, title=title)])
    article.left_out.update(left_out)
    yield from page_items(record, article, intake)


def _front_matter(text: str) -> tuple[Mapping[str, str], str]:
    """Return the lines of the form `key: value` at the head of a text, and the text without them."""
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    entries = {key.lower(): value.strip().strip("\"'") for key, value in _ENTRY.findall(found[1])}
    return entries, text[found.end() :]
