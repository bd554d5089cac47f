"""Find and normalise DOIs: the one reading of them for imports, forms, look-ups, retraction lists and questions."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

DOI = re.compile(r"\b10\.\d{4,9}(?:/|%2f)(?:[^\s\"“”<>{}|\\^`]|<\w+:[^<>\s]*>)+", re.IGNORECASE)
"""A DOI within other text, its slash perhaps percent-coded. A SICI holds `<50::AID-X>`, which is no tag."""
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_PREFIX = re.compile(r"^\s*(?:https?://(?:dx\.|www\.)?doi\.org/|doi:?\s*)", re.IGNORECASE)


def trimmed(doi: str) -> str:
    """Return a DOI without the punctuation and the closing brackets of the sentence around it."""
    doi = doi.rstrip(".,;:'?!*")
    while doi.endswith((")", "]")) and doi.count(doi[-1]) > doi.count({")": "(", "]": "["}[doi[-1]]):
        doi = doi[:-1].rstrip(".,;:'?!*")
    return doi


def find_doi(text: str) -> str:
    """Return the DOI in a field, an address or a sentence, in normal form; empty when there is none.

    Entities are resolved and percent codes decoded, once.
    """
    text = html.unescape(text) if "&" in text else text
    text = unquote(text) if _ESCAPE.search(text) else text
    match = DOI.search(text)
    return trimmed(match[0]).lower() if match else ""


def normal_doi(value: str) -> str:
    """Return a DOI in lower case, without an address around it; a value without a DOI is returned as written."""
    return find_doi(value) or _PREFIX.sub("", value).strip().lower()


def is_cut(doi: str) -> bool:
    """Tell whether a stored DOI looks like a part of one: a SICI without its end, or percent codes."""
    return bool(_ESCAPE.search(doi)) or ("(sici)" in doi.lower() and "<" not in doi)
