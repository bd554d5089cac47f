"""The filters of the corpus page, parsed from a query string and written back into one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

FIRST, LAST = ("collection", "design"), ("topic", "notice")
"""The filters of every corpus; those of declared facets stand between them."""
SORTS = ("relevance", "newest", "title")
LONGEST_WORDS = 200  # characters
FIRST_YEAR, LAST_YEAR = 1000, 2999
_YEAR = re.compile(r"[0-9]{4}")
_PAGE = re.compile(r"[1-9][0-9]{0,3}")


@dataclass(frozen=True, slots=True)
class Selection:
    """Filters on studies; values of one facet are alternatives, and different facets must all match."""

    words: str = ""
    chosen: frozenset[tuple[str, str]] = frozenset()
    """Pairs of facet and value."""
    first_year: int | None = None
    last_year: int | None = None
    order: str = ""
    """One of SORTS; empty for the default: relevance if there are words, else newest."""
    page: int = 1

    def values(self, facet: str) -> frozenset[str]:
        return frozenset(value for name, value in self.chosen if name == facet)

    @property
    def has_years(self) -> bool:
        return self.first_year is not None or self.last_year is not None

    @property
    def narrows(self) -> bool:
        return bool(self.words or self.chosen or self.has_years)

    @property
    def sort(self) -> str:
        if self.order and not (self.order == "relevance" and not self.words):
            return self.order
        return "relevance" if self.words else "newest"

    def toggled(self, facet: str, value: str) -> Selection:
        return replace(self, chosen=self.chosen ^ {(facet, value)}, page=1)

    def without_words(self) -> Selection:
        return replace(self, words="", page=1)

    def in_years(self, first: int | None, last: int | None) -> Selection:
        return replace(self, first_year=first, last_year=last, page=1)

    def sorted_by(self, order: str) -> Selection:
        return replace(self, order=order, page=1)

    def on_page(self, page: int) -> Selection:
        return replace(self, page=page)

    def parameters(self) -> list[tuple[str, str]]:
        """Return the query parameters in a fixed order, without default values."""
        found = [("q", self.words)] if self.words else []
        found += sorted(self.chosen, key=_place)
        found += [("from", str(self.first_year))] if self.first_year is not None else []
        found += [("to", str(self.last_year))] if self.last_year is not None else []
        found += [("sort", self.order)] if self.order else []
        found += [("page", str(self.page))] if self.page > 1 else []
        return found

    @property
    def query(self) -> str:
        """Return `?name=value&…`; a bare `?` for no filters, so that a link drops the current query."""
        return "?" + urlencode(self.parameters())


def read(
    parameters: Mapping[str, list[str]], *, known: Mapping[str, Collection[str]]
) -> tuple[Selection, tuple[str, ...]]:
    """Parse query parameters into a selection and the names of those with unusable values; never raises.

    `known` are the valid values of each facet.
    """
    ignored: list[str] = []

    def last(name: str, fits: Callable[[str], bool]) -> str:
        value = (parameters.get(name) or [""])[-1].strip()
        if value and not fits(value):
            ignored.append(name)
            return ""
        return value

    asked = (parameters.get("q") or [""])[-1]
    words = _normalise_words(asked)
    if words != " ".join(asked.split()):
        ignored.append("q")
    chosen = set()
    for facet in known:
        for value in parameters.get(facet) or []:
            if value in known[facet]:
                chosen.add((facet, value))
            elif value.strip() and facet not in ignored:
                ignored.append(facet)
    first, final = (last(name, _is_year) for name in ("from", "to"))
    years = sorted(int(year) for year in (first, final) if year)
    selection = Selection(
        words=words,
        chosen=frozenset(chosen),
        first_year=years[0] if first else None,
        last_year=years[-1] if final else None,
        order=last("sort", lambda value: value in SORTS),
        page=int(last("page", lambda value: _PAGE.fullmatch(value) is not None) or 1),
    )
    return selection, tuple(ignored)


def _place(pair: tuple[str, str]) -> tuple[int, str, str]:
    """Return the place of a facet and value in an address."""
    fixed = {name: number for number, name in enumerate((*FIRST, "", *LAST))}
    return fixed.get(pair[0], len(FIRST)), *pair


def _is_year(value: str) -> bool:
    return _YEAR.fullmatch(value) is not None and FIRST_YEAR <= int(value) <= LAST_YEAR


def _normalise_words(text: str) -> str:
    """Return the words on one line, without control characters, at most LONGEST_WORDS characters."""
    cleaned = "".join(" " if unicodedata.category(char) in {"Cc", "Cs", "Cn"} else char for char in text[:4_000])
    return " ".join(cleaned.replace("\ufffd", " ").split())[:LONGEST_WORDS].strip()
