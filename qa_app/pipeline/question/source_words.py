"""Split a question into words that keep their capitals, and normalise names and titles for comparison."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus_app.records import Reference

_TABLES = tomllib.loads((Path(__file__).parents[2] / "lexicon" / "sources.toml").read_text("utf-8"))
WORDS: Mapping[str, frozenset[str]] = {name: frozenset(table["words"]) for name, table in _TABLES.items()}

YEAR = re.compile(r"(?:19|20)\d\d")
POSSESSIVE = re.compile(r"['’]s?$")
INITIALS = re.compile(r"\s+[A-Z][A-Z.\-]{0,5}$")
"""Of an author's given names, after the family name."""
ACRONYM = re.compile(r"[A-Z]{3,6}")
_TOKEN = re.compile(r"&|[^\W_]+(?:['’][^\W_]+)*['’]?")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    norm: str
    start: int
    end: int
    is_possessive: bool

    @property
    def is_capital(self) -> bool:
        return self.text[:1].isupper() and not ACRONYM.fullmatch(self.text)


def publication_years(tokens: Sequence[Token]) -> dict[int, int]:
    """Return publication years by their place; the ends of a range are none."""
    found = {}
    for place, token in enumerate(tokens):
        before = tokens[place - 1].norm if place else ""
        after = tokens[place + 1].norm if place + 1 < len(tokens) else ""
        is_end = before == "to" or after in {"to", "until", "onwards"}
        if YEAR.fullmatch(token.norm) and before not in WORDS["range"] and not is_end:
            found[place] = int(token.norm)
    return found


def tokenise(text: str, cuts: Sequence[Span]) -> list[Token]:
    found = []
    for match in _TOKEN.finditer(text):
        if any(start < match.end() and match.start() < end for start, end in cuts):
            continue
        word = match[0]
        bare = POSSESSIVE.sub("", word)
        is_possessive = bare != word
        found.append(Token(bare, _normal(bare), match.start(), match.end(), is_possessive))
    return found


def _normal(word: str) -> str:
    if word == "&":
        return "and"
    if word.isascii():
        return word.lower().replace("'", "")
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).replace("'", "").replace("’", "")


def normal_words(text: str) -> list[str]:
    return [_normal(POSSESSIVE.sub("", word)) for word in _TOKEN.findall(text)]


def is_in_titles(word: str, studies: Iterable[Reference]) -> bool:
    return any(word in study.title.casefold() and word in normal_words(study.title) for study in studies)
