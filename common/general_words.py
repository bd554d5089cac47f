"""Words that are common to all subjects, and so name none."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

import snowballstemmer

_stemmer = snowballstemmer.stemmer("english")


@lru_cache(50_000)  # a desk page reads each word of the corpus
def is_general(word: str) -> bool:
    """Return whether a lower-case word, in any inflection, is common to all subjects."""
    words, stems = _general()
    if word in words or word.endswith("ly"):
        return True
    if word != without_possessive(word):
        return is_general(without_possessive(word))
    if "-" in word:
        return all(is_general(part) for part in word.split("-") if part)
    return len(word) > 3 and _stemmer.stemWord(word) in stems


def without_possessive(word: str) -> str:
    """Return a word without a possessive ending."""
    return word[:-2] if word.endswith(("’s", "'s")) else word


@cache
def _general() -> tuple[frozenset[str], frozenset[str]]:
    """Return the general words and the stems of the longer ones."""
    lines = Path(__file__).with_name("general_words.txt").read_text(encoding="utf-8").splitlines()
    words = frozenset(word for line in lines if not line.startswith("#") for word in line.split())
    return words, frozenset(_stemmer.stemWords([word for word in words if len(word) > 2]))
