"""Read JATS XML (PMC, PLOS, eLife): the bibliography, and the text by section and paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator

from common.dois import find_doi
from corpus_app.records import Notice
from corpus_app.sources.bibliography import Intake, Item, Record, drafted, items_of
from corpus_app.sources.drafts import Problem
from corpus_app.sources.intake import Source
from corpus_app.sources.jats_text import Article, article_of, plain
from corpus_app.sources.trees import Node, elements

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
_PMC_ID = re.compile(r"(?:PMC)?(\d{1,9})", re.IGNORECASE)


def items(source: Source, intake: Intake) -> Iterator[Item]:
    is_empty = True
    for _, record in records(source):
        is_empty = False
        yield from items_of(record, intake)
    if is_empty:
        yield Problem(source.name, 1, "", "holds no <article>; it is no JATS file.")


def records(source: Source) -> Iterator[tuple[str, Record]]:
    """Yield the PMC id, digits only and empty where there is none, and the record of each article."""
    for root in elements(source, frozenset({"article"})):
        ids = root.all("front/article-meta/article-id")
        named = [node.text() for node in ids if node.get("pub-id-type") in {"pmc", "pmcid"}]
        digits = next((found[1] for value in named if (found := _PMC_ID.fullmatch(value.strip()))), "")
        yield digits, read_article(root, source.name)[0]


def read_article(root: Node, file: str) -> tuple[Record, Article]:
    """Return the record with its passages, and the text that they were cut from."""
    record = Record(file, root.line, kinds=[root.get("article-type")])
    meta = root.find("front/article-meta") or Node("article-meta", {}, root.line)
    _bibliography(record, root, meta)
    article = article_of(root)
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
