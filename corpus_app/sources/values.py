"""Validate and normalise single values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

MAX_TEXT = 20_000
MAX_INTEGER = 2_147_483_647  # the column's

STUDY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
SLUG = re.compile(r"[A-Za-z0-9_-]+")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_PMID = re.compile(r"[0-9]{1,12}")
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_BREAK = re.compile(r"[\t\n\r\u2028\u2029]")


def text_fault(value: str, *, limit: int = MAX_TEXT, one_line: bool = False) -> str | None:
    """Return why a text is invalid (too long, or control characters); None when it is valid."""
    if len(value) > limit:
        return f"has {len(value):,} characters; at most {limit:,} are kept."
    if found := _FORBIDDEN.search(value):
        return f"holds the character U+{ord(found[0]):04X} at position {found.start() + 1}; remove it."
    if one_line and (found := _LINE_BREAK.search(value)):
        return f"holds a line break or tab at position {found.start() + 1}; write it on one line."
    return None


def doi_fault(doi: str) -> str | None:
    if _DOI.fullmatch(doi):
        return None
    return f"{shown(doi)} is not a DOI; it should look like 10.1519/jsc.0000000000002776."


def url_fault(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return f"{shown(url)} is not an address."
    if parts.scheme not in {"http", "https"} or not host or " " in url:
        return f"{shown(url)} is not an address that starts with http:// or https://."
    return None


_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def safe_cell(cell: str) -> str:
    """Return a CSV cell that spreadsheets do not run as a formula; `bare_cell` reverses it."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def bare_cell(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def plain_number(value: float) -> float:
    """Return a whole number as an int, so that it is written without a decimal point."""
    return int(value) if value == int(value) else value


def pmid_fault(pmid: str) -> str | None:
    return None if _PMID.fullmatch(pmid) else f"is {shown(pmid)}; a PMID has digits only."


def listed(values: Iterable[str]) -> str:
    return ", ".join(sorted(values)) or "none"


def join(path: str, key: str) -> str:
    """Join parts to the path of a value in a file, such as `passages[2].text`."""
    return f"{path}.{key}" if path else key


def kind_of(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def shown(value: Any) -> str:
    """Return a value for a message: short, on one line, printable."""
    shown = ascii(value) if isinstance(value, str) and not value.isprintable() else str(value)
    return f"{shown[:80]}…" if len(shown) > 80 else shown
