"""Correct misspelt words: of a question by the words of the corpus, of the safety lists by one letter."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from rapidfuzz import process
from rapidfuzz.distance import OSA

from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import UNIT_OF
from qa_app.pipeline.question.numbers import AMOUNT
from qa_app.pipeline.text import EMPTY_WORDS, words

SHORTEST = 5  # letters: shorter words have too many neighbours
LONGEST = 40  # letters: no word of a language is longer
MOST_UNKNOWN = 20  # words that are compared with those of the corpus; a text with more is no English
AMBIGUOUS_UNITS = frozenset("dhlmsy")
"""Letters that mean something else after a number: "70s", "20m"."""
INFLECTIONS = ("ed", "er", "en", "es", "ly")
LONG = 9  # letters, from which two slips are allowed
WordCounts = Callable[[Collection[str]], Mapping[str, int]]
"""Returns the number of passages that contain each of some words."""

_BRITISH = (("ae", "e"), ("oe", "e"), ("our", "or"), ("yse", "yze"), ("is", "iz"), ("tre", "ter"), ("bre", "ber"))


def find_corrections(
    text: str,
    *,
    vocabulary: Mapping[str, int],
    concepts: ConceptIndex,
    word_counts: WordCounts,
    is_word: Callable[[str], bool],
) -> tuple[tuple[str, str], ...]:
    """Return words that neither the corpus nor the language knows, each with the word nearest to it.

    Amounts in one word ("30secs") are written in two. `vocabulary` counts the known forms of the text.
    """
    return tuple(_corrections(text, vocabulary, concepts, word_counts, is_word))


def known_forms(text: str) -> frozenset[str]:
    """Return the forms of a text's words by which they may be known: themselves, in the singular, as units."""
    found = set(words(text))
    written = {amount[2] for word in found if (amount := AMOUNT.fullmatch(word))} | found
    return frozenset(written | {word.removesuffix("s") for word in found} | {UNIT_OF.get(word, "") for word in written})


def _corrections(
    text: str,
    vocabulary: Mapping[str, int],
    concepts: ConceptIndex,
    word_counts: WordCounts,
    is_word: Callable[[str], bool],
) -> Iterator[tuple[str, str]]:
    compared = 0
    for word in dict.fromkeys(words(text)):
        if (amount := AMOUNT.fullmatch(word)) and amount[2] not in AMBIGUOUS_UNITS:
            yield word, f"{amount[1]} {_unit(amount[2], vocabulary)}"
        elif _is_short_unit(word, vocabulary) and not is_word(word):
            yield word, UNIT_OF[word]
        elif compared < MOST_UNKNOWN and _is_unknown(word, concepts, vocabulary):
            compared += 1
            meant = _nearest(word, concepts, word_counts)
            if meant and (not is_word(word) or _american(word) == _american(meant)):
                yield word, meant


def _is_unknown(word: str, concepts: ConceptIndex, vocabulary: Mapping[str, int]) -> bool:
    is_plain = SHORTEST <= len(word) <= LONGEST and word.isascii() and word.isalpha() and word not in EMPTY_WORDS
    return is_plain and not any(form in vocabulary or form in concepts.words for form in (word, word.removesuffix("s")))


def _unit(written: str, vocabulary: Mapping[str, int]) -> str:
    """Return the plain name of a unit where the corpus has that alone: minutes for mins."""
    plain = UNIT_OF[written]
    return written if written in vocabulary or (plain not in vocabulary and written != "x") else plain


def _is_short_unit(word: str, vocabulary: Mapping[str, int]) -> bool:
    plain = UNIT_OF.get(word, "")
    return 1 < len(word) < len(plain) and word not in vocabulary and plain in vocabulary


def _nearest(word: str, concepts: ConceptIndex, word_counts: WordCounts) -> str | None:
    """Return the nearest known word; of several a word of a concept's name, then the most frequent one.

    Other words of the corpus have too many neighbours: they need the same letters, one missing, doubled or swapped.
    """
    slips = 1 if len(word) < LONG else 2
    alike = [
        known
        for known in concepts.words
        if known[0] == word[0] and len(known) >= SHORTEST and abs(len(known) - len(word)) <= slips
    ]
    named = [known for known, _, _ in process.extract(word, alike, scorer=OSA.distance, score_cutoff=slips, limit=None)]
    counts = word_counts({*named, *_slips(word)})
    fitting = [
        (OSA.distance(word, known), known not in concepts.words, -counts.get(known, 0), known)
        for known in {*named, *counts}
        if len(known) >= SHORTEST and _is_slip(word, known, concepts)
    ]
    return min(fitting)[-1] if fitting else None


def _slips(word: str) -> Iterator[str]:
    """Yield the words with the same first letter that have one letter more, one less, or two swapped."""
    for n in range(1, len(word) + 1):
        yield word[:n] + word[n + 1 :]
        yield word[:n] + word[n + 1 : n + 2] + word[n : n + 1] + word[n + 2 :]
        yield from (f"{word[:n]}{letter}{word[n:]}" for letter in ascii_lowercase)


def _is_slip(word: str, known: str, concepts: ConceptIndex) -> bool:
    """Tell whether a word may be a slip of the pen for a known one, not another form or a word of its own."""
    is_inflection = word == known[:-1] or (word[:-1] == known[:-1] and word.endswith(INFLECTIONS))
    has_same_letters = len(word) != len(known) or sorted(word) == sorted(known)
    is_close = known in concepts.words or (has_same_letters and OSA.distance(word, known) == 1)
    return is_close and not is_inflection


def _american(word: str) -> str:
    """Spell a word as Americans do: one spelling for fibre and fiber, tumour and tumor."""
    for british, american in _BRITISH:
        word = re.sub(british, american, word)
    return word


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


def _deletes(word: str) -> Sequence[str]:
    return [word, *(word[:n] + word[n + 1 :] for n in range(len(word)))]
