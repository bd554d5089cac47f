"""Read PubMed XML: articles and books, with structured abstracts and notices."""

from __future__ import annotations

from collections.abc import Iterator

from corpus_app.records import Notice
from corpus_app.sources.bibliography import Intake, Item, Record, items_of
from corpus_app.sources.drafts import Problem
from corpus_app.sources.intake import Source
from corpus_app.sources.jats_text import plain
from corpus_app.sources.tagged import mark_by_kind, set_reviewed
from corpus_app.sources.trees import Node, elements

_RECORDS = frozenset({"PubmedArticle", "PubmedBookArticle"})
_NOTICE_OF = {
    "RetractionOf": Notice.RETRACTED, "ErratumFor": Notice.CORRECTED,
    "ExpressionOfConcernFor": Notice.EXPRESSION_OF_CONCERN,
}  # fmt: skip
_NOTICE_IN = {
    "RetractionIn": (Notice.RETRACTED, "Retracted"),
    "ExpressionOfConcernIn": (Notice.EXPRESSION_OF_CONCERN, "Expression of concern"),
    "ErratumIn": (Notice.CORRECTED, "Erratum"),
}  # fmt: skip


def items(source: Source, intake: Intake) -> Iterator[Item]:
    is_empty = True
    for node in elements(source, _RECORDS):
        is_empty = False
        yield from items_of(record_of(node, source.name), intake)
    if is_empty:
        yield Problem(source.name, 1, "", "holds no <PubmedArticle>; fetch the records from PubMed as XML once more.")


def record_of(node: Node, file: str) -> Record:
    if node.tag == "PubmedBookArticle":
        return _book(node, file)
    citation = node.find("MedlineCitation") or Node("MedlineCitation", {}, node.line)
    article = citation.find("Article") or Node("Article", {}, node.line)
    title = article.find("ArticleTitle") or article.find("VernacularTitle")
    record = Record(
        file,
        node.line,
        title=plain(title) if title else "",
        authors=_authors(article),
        year=_year(article),
        journal=article.text("Journal/Title"),
        dois=[place.text() for place in article.all("ELocationID") if place.get("EIdType") == "doi"]
        + [place.text() for place in node.all("PubmedData/ArticleIdList/ArticleId") if place.get("IdType") == "doi"],
        pmid=([""] + [found.text() for found in citation.all("PMID")])[-1],
        abstract=_abstract(article),
        kinds=[kind.text() for kind in article.all("PublicationTypeList/PublicationType")],
    )
    record.lines = {"title": title.line} if title else {}
    _finish(record)
    for link in citation.all("CommentsCorrectionsList/CommentsCorrections"):
        pmid, words = link.text("PMID"), link.text("RefSource")
        if (notice := _NOTICE_OF.get(link.get("RefType"))) and pmid:
            record.notices_of.append((notice, "", pmid))
        elif link.get("RefType") in _NOTICE_IN and record.notice is not Notice.RETRACTED:
            found, name = _NOTICE_IN[link.get("RefType")]
            record.notice, record.notice_reason = found, f"{name}: {words}{f' (PMID {pmid})' if pmid else ''}"
    mark_by_kind(record)
    return record


def _book(node: Node, file: str) -> Record:
    document = node.find("BookDocument") or Node("BookDocument", {}, node.line)
    title = document.find("ArticleTitle") or document.find("Book/BookTitle")
    record = Record(
        file,
        node.line,
        title=plain(title) if title else "",
        authors=_authors(document) or _authors(document.find("Book") or document),
        year=document.text("Book/PubDate/Year") or document.text("ContributionDate/Year"),
        journal=document.text("Book/BookTitle")
        if document.find("ArticleTitle")
        else document.text("Book/CollectionTitle"),
        pmid=document.text("PMID"),
        abstract=_abstract(document),
        kinds=[kind.text() for kind in document.all("PublicationType")] + ["book"],
    )
    record.lines = {"title": title.line} if title else {}
    _finish(record)
    return record


def _finish(record: Record) -> None:
    record.urls = (
        [f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}/"] if record.pmid.isdigit() and not record.dois else []
    )
    set_reviewed(record)


def _authors(node: Node) -> list[str]:
    lists = [found for found in node.all("AuthorList") if found.get("Type") != "editors"]
    names = []
    for author in (author for found in lists[:1] for author in found.all("Author")):
        if body := author.text("CollectiveName"):
            names.append("{" + body + "}")
        elif family := author.text("LastName"):
            given = author.text("Initials") or author.text("ForeName")
            names.append(f"{family}, {given}" if given else family)
    return names


def _year(article: Node) -> str:
    date = article.find("Journal/JournalIssue/PubDate")
    return (date.text("Year") or date.text("MedlineDate")) if date else article.text("ArticleDate/Year")


def _abstract(node: Node) -> list[tuple[str, str]]:
    parts = []
    for part in node.all("Abstract/AbstractText"):
        label = part.get("Label") or part.get("NlmCategory")
        if label.lower() not in {"funding", "trial registration", "unassigned", "unlabelled"}:
            parts.append((label.capitalize(), plain(part)))
        elif label.lower() in {"unassigned", "unlabelled"}:
            parts.append(("", plain(part)))
    return parts
