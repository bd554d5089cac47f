"""Find reference lists, and instructions to the reader or a language model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from common.orders import gives_orders
from corpus_app.passages import split_sentences
from corpus_app.quality.text_faults import Kind, TextFault

# --- Lists of references ----------------------------------------------------------------------------------------------

_PAGES = re.compile(
    r"(?:19|20)\d\d[a-z]?(?:\s[A-Z][a-z]{2}(?:\s\d{1,2})?)?\s?[;:]\s?\d{1,4}\s?"
    r"(?:\([^()]{1,15}\))?\s?[:,]\s?[A-Za-z]?\d+"
    r"|\b\d{1,4}\s?\(\d{1,3}(?:[–-]\d+|\sSuppl\.?(?:\s?\d+)?|\sPt\s\d)?\)\s?[:,]\s?"
    r"(?:pp?\.\s?)?[eES]?\d+\s?[–-]\s?[eES]?\d+"
    r"|,\s\d{1,4},\s(?:pp\.\s)?\d{1,5}[–-]\d{1,5}\b"
    r"|\b\d{1,4}\s?:\s?[eS]?\d{1,5}\s?[–-]\s?[eS]?\d{1,5}\b(?=[.,]?\s?\(?(?:19|20)\d\d|\.)|\bpp?\.\s?\d+[–-]\d+\b"
    r"|\bdoi:?\s?(?:https?://\S{1,200}/)?10\.\d{4}"
)  # fmt: skip
_NAMES = re.compile(
    r"(?:\b[A-Z][\w'’-]{1,60},?\s(?:[A-Z]\.?[ -]?){1,3}(?:,|;|\.|\band\b|&)\s?){1,}(?:\bet al\b\.?)?"
    r"|\b[A-Z][\w'’-]{1,60},\s[A-Z]\.(?:\s?[A-Z]\.)*,?\s(?:&|and)\s[A-Z]|\bet al\.?[,:]?\s?(?:\(?(?:19|20)\d\d\)?)?"
)
_YEAR = re.compile(r"\((?:19|20)\d\d[a-z]?\)\.?|\b(?:19|20)\d\d[a-z]?\b")
_HEAD = re.compile(
    r"(?:^|\n|\.\s)(?:References|REFERENCES|Bibliography|BIBLIOGRAPHY|Literature [Cc]ited|Works [Cc]ited|Reference "
    r"[Ll]ist|Further [Rr]eading)\s*(?::|\n|\s(?=(?:\[?1[\].]|[A-Z][\w-]+,? [A-Z])))"
)
_LISTED = re.compile(
    r"(?:^|(?<=\s))\[?\d{1,3}[\].]\s{1,3}[A-Z][\w'’-]+,?\s(?:[A-Z]\.?[- ]?){1,3}(?:,|;|\.|&|and\b|et al)"
)
_NEAR = 320  # characters in which the parts of one reference stand


def references(text: str) -> Iterator[TextFault]:
    """Yield reference lists: names, a year and pages close together."""
    spans: list[tuple[int, int]] = [match.span() for match in _HEAD.finditer(text)]
    for match in _PAGES.finditer(text):
        before = text[max(0, match.start() - _NEAR) : match.end() + 20]
        named = _NAMES.search(before)
        if named and _YEAR.search(before):
            spans.append((max(0, match.start() - _NEAR) + named.start(), match.end()))
    if len(listed := [*_LISTED.finditer(text)]) > 1:
        spans.append((listed[0].start(), listed[-1].end()))
    if spans:
        start, end = min(span[0] for span in spans), max(span[1] for span in spans)
        yield TextFault(start, end, Kind.REFERENCE_LIST, text[start:end], None)


# --- Instructions -----------------------------------------------------------------------------------------------------


def instructions(text: str) -> Iterator[TextFault]:
    """Yield sentences that give orders to a machine; a curator decides whether they belong to the study."""
    for start, end in split_sentences(text):
        if gives_orders(text[start:end], among=text[:start] + text[end:]):
            yield TextFault(start, end, Kind.INSTRUCTION, text[start:end], None)
