"""Lists of DOIs, PMIDs and PMC ids, as people paste them or keep them in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from common.dois import find_doi
from corpus_app.sources.files import Refused
from corpus_app.sources.intake import Source, encoding_of, text_of
from corpus_app.sources.values import doi_fault, pmid_fault

MAX_IDENTIFIERS = 5_000  # of one list; Crossref answers about ten a second
MAX_LIST_BYTES = 1_000_000


class Scheme(StrEnum):
    DOI = "DOI"
    PMID = "PMID"
    PMCID = "PMC id"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Identifier:
    scheme: Scheme
    value: str
    """In normal form; as written where the scheme is unknown."""
    written: str


_LABEL = re.compile(r"\b(pmid|pmcid|doi)\s*+(?::\s++|(?<=\s))(?=(?:10\.|pmc|https?:|\d))", re.IGNORECASE)
_BETWEEN = re.compile(
    r"\s+|(?<![,;|])[,;|]++(?=10\.\d{4}|https?://|doi:|pmc(?:id:)?|pmid:|\d{1,9}(?:[,;|\s\"]|$)|\"|$|\s)", re.IGNORECASE
)
"""Marks between identifiers; a comma or semicolon within a DOI is none."""
_PMC = re.compile(
    r"(?:https?://(?:www\.ncbi\.nlm\.nih\.gov/pmc|pmc\.ncbi\.nlm\.nih\.gov)/articles/)?"
    r"(?:pmcid:)?PMC(\d{1,9})(?:\.\d+)?/?",
    re.IGNORECASE,
)
_PMID = re.compile(
    r"^(?:pmid:?\s*|https?://(?:pubmed\.ncbi\.nlm\.nih\.gov|www\.ncbi\.nlm\.nih\.gov/pubmed)/)|/$", re.IGNORECASE
)
_HEADINGS = frozenset("doi dois pmid pmids pmcid pmcids pmc id ids identifier identifiers".split())


def identifier_of(written: str) -> Identifier:
    """Return the identifier in a word or an address."""
    text = written.strip().strip("\"'")
    if found := _PMC.fullmatch(text):
        return Identifier(Scheme.PMCID, found[1].lstrip("0"), text)
    bare = _PMID.sub("", text)
    if not pmid_fault(bare):
        return Identifier(Scheme.PMID, bare, text)
    doi = find_doi(text)
    if doi and not doi_fault(doi):
        return Identifier(Scheme.DOI, doi, text)
    return Identifier(Scheme.UNKNOWN, text, text)


def identifiers_in(text: str) -> list[Identifier]:
    """Return what a list names, one entry a line or between commas, semicolons or blanks; headings are left out."""
    glued = _LABEL.sub(lambda match: f"{match[1]}:", text.lstrip("\ufeff"))
    words = [word.strip("\"',;|") for word in _BETWEEN.split(glued)]
    found = [identifier_of(word) for word in words if word]
    heads = 0
    while heads < len(found) and found[heads].value.strip(":").lower() in _HEADINGS:
        heads += 1
    return found[heads:]


def is_identifier_list(content: bytes) -> bool:
    """Return whether a file holds identifiers and nothing else."""
    if not content.strip() or len(content) > MAX_LIST_BYTES:
        return False
    try:
        found = identifiers_in(list_text(content))
    except (Refused, UnicodeError):
        return False
    return bool(found) and all(one.scheme is not Scheme.UNKNOWN for one in found)


def list_text(content: bytes) -> str:
    """Return the text of a list in any encoding. Raises Refused when it is no text."""
    source = Source("list", content)
    return text_of(source, encoding_of(source))
