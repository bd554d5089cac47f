"""Read EndNote XML, as written by EndNote, Bookends, Zotero and databases."""

from __future__ import annotations

from collections.abc import Iterator

from corpus_app.sources.abstracts import split_abstract
from corpus_app.sources.bibliography import Intake, Item, Record, items_of
from corpus_app.sources.decisions import note_labels
from corpus_app.sources.drafts import Problem
from corpus_app.sources.intake import Source
from corpus_app.sources.markup import lowered, raised
from corpus_app.sources.trees import Node, elements

_REVIEWED = frozenset(
    {"17", "47", "10", "43", "19"}
)  # journal, conference paper and proceedings, electronic and magazine article
_KINDS = {"32": "thesis", "34": "unpublished work"}


def items(source: Source, intake: Intake) -> Iterator[Item]:
    is_empty = True
    for node in elements(source, frozenset({"record"})):
        is_empty = False
        yield from items_of(_record(node, source.name), intake)
    if is_empty:
        yield Problem(source.name, 1, "", "holds no <record>; export the references from EndNote as XML once more.")


def _styled(node: Node | None) -> str:
    """Return the text of an element whose parts carry a style: raised, lowered or plain."""
    if node is None:
        return ""
    parts = []
    for part in node.parts:
        if isinstance(part, str):
            parts.append(part)
        else:
            face, inner = part.get("face"), _styled(part)
            parts.append(raised(inner) if "superscript" in face else lowered(inner) if "subscript" in face else inner)
    return "".join(parts).replace("\r\n", "\n").replace("\r", "\n")


def _record(node: Node, file: str) -> Record:
    kind = node.find("ref-type")
    number = kind.text() if kind else ""
    contributors = [author.text() for author in node.all("contributors/authors/author")]
    if not contributors:
        contributors = (
            [author.text() for author in node.all("contributors/secondary-authors/author")] if number == "6" else []
        )
    record = Record(
        file,
        node.line,
        title=_styled(node.find("titles/title")),
        authors=contributors,
        year=node.text("dates/year") or next((date.text() for date in node.all("dates/pub-dates/date")), ""),
        journal=node.text("periodical/full-title")
        or node.text("titles/secondary-title")
        or node.text("titles/alt-title"),
        dois=[doi.text() for doi in node.all("electronic-resource-num")],
        urls=[url.text() for group in ("related-urls", "web-urls") for url in node.all(f"urls/{group}/url")],
        kinds=[_KINDS.get(number, ""), node.text("work-type")],
        is_reviewed=number in _REVIEWED or not number,
        labels=note_labels([_styled(node.find(name)) for name in ("notes", "research-notes")]),
    )
    if "pubmed" in node.text("remote-database-name").lower() or "nlm" in node.text("remote-database-provider").lower():
        record.pmid = node.text("accession-num")
    if abstract := _styled(node.find("abstract")):
        record.abstract = split_abstract(abstract)
    record.lines = {
        name: found.line
        for name, path in {"title": "titles/title", "authors": "contributors/authors", "year": "dates",
        "doi": "electronic-resource-num", "url": "urls"}.items()
        if (found := node.find(path))
    }  # fmt: skip
    if not record.is_reviewed:
        name = kind.get("name") if kind else ""
        record.report(
            "peer_reviewed",
            f"the type “{name}” is no journal article: taken as not peer reviewed. Correct it where it is.",
        )
    return record
