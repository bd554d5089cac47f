"""A lexicon of scientific English with word frequencies, to tell one word from two."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from importlib import resources

UNKNOWN = -99.0


class Lexicon:
    """A list of words, most frequent first."""

    def __init__(self, words: Iterable[str]) -> None:
        self._ranks: dict[str, int] = {}
        for word in words:
            self._ranks.setdefault(word, len(self._ranks) + 1)

    def __contains__(self, word: str) -> bool:
        return self.rank(word) is not None

    def rank(self, word: str) -> int | None:
        return self._ranks.get(word.lower())

    def weight(self, word: str) -> float:
        """Return the logarithm of a word's relative frequency by Zipf's law; UNKNOWN for other words."""
        rank = self.rank(word)
        return UNKNOWN if rank is None else -math.log(rank * 11)  # the harmonic number of some 25,000 words

    def knows(self, word: str) -> bool:
        """Return whether the word is listed, or derived from a listed one by common prefixes and suffixes."""
        word = word.lower()
        return word in self._ranks or any(stem in self._ranks for stem in _stems(word))


_ENDINGS = (
    ("ies", "y"), ("es", ""), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"), ("ly", ""), ("ally", ""),
    ("er", ""), ("ers", ""), ("ness", ""),
    ("ity", ""), ("ity", "e"), ("al", ""), ("ic", ""), ("ation", "e"), ("ization", "ize"), ("isation", "ise"),
    ("able", ""), ("like", ""), ("less", ""), ("ly", "le"),
    ("ised", "ized"), ("ise", "ize"), ("ising", "izing"), ("our", "or"), ("ours", "ors"), ("aemia", "emia"),
    ("aemic", "emic"), ("ist", ""), ("ists", ""), ("ally", "al"),
)  # fmt: skip
_BEGINNINGS = (
    "non", "un", "anti", "pre", "post", "re", "sub", "super", "inter", "intra", "multi", "over", "under", "hyper",
    "hypo", "micro", "macro", "neuro", "cardio",
    "bio", "auto", "co", "counter", "dis", "electro", "endo", "extra", "immuno", "mis", "mono", "myo", "para", "peri",
    "poly", "pseudo", "psycho",
    "semi", "supra", "tele", "trans", "tri", "ultra", "uni", "bi", "iso", "photo", "thermo", "gluco", "lipo", "nano",
    "radio",
)  # fmt: skip


def _stems(word: str) -> Iterable[str]:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 3:
            yield word[: len(word) - len(ending)] + instead
    for beginning in _BEGINNINGS:
        if word.startswith(beginning) and len(word) - len(beginning) > 3:
            rest = word[len(beginning) :]
            yield rest
            for ending, instead in _ENDINGS[:8]:
                if rest.endswith(ending) and len(rest) - len(ending) > 3:
                    yield rest[: len(rest) - len(ending)] + instead


@cache
def standard() -> Lexicon:
    """Return the bundled lexicon, made from some thousand open abstracts and articles (docs/importing.md)."""
    return Lexicon(resources.files("corpus_app.quality").joinpath("words.txt").read_text(encoding="utf-8").split())
