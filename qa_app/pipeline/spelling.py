"""Correct slips of one letter in words that matter much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SHORTEST = 5  # letters; shorter words are a letter away from too many others


@dataclass(frozen=True, slots=True)
class Spelling:
    """Words that are often misspelt, by what is left of each without one letter (symmetric deletes, Garbe 2012)."""

    meant: Mapping[str, str]
    known: frozenset[str]

    @classmethod
    def build(cls, words: Iterable[str], known: Iterable[str]) -> Spelling:
        """Index the words; `known` words are never corrected."""
        rows = sorted(words, reverse=True)
        return cls({short: word for word in rows for short in _deletes(word)}, frozenset((*rows, *known)))

    def corrected(self, word: str) -> str:
        """Return the listed word that is one letter too many, too few, wrong or swapped away; else the word itself."""
        if len(word) < SHORTEST or word in self.known:
            return word
        near = (self.meant.get(short) for short in _deletes(word))
        return next((m for m in near if m and m[0] == word[0] and abs(len(m) - len(word)) < 2), word)


def _deletes(word: str) -> list[str]:
    return [word, *(word[:n] + word[n + 1 :] for n in range(len(word)))]
