"""Correct misspelt words of a question by the words of the corpus."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import UNIT_OF
from qa_app.pipeline.question.numbers import AMOUNT
from qa_app.pipeline.text import EMPTY_WORDS, words

SHORTEST = 5  # letters: shorter words have too many neighbours
AMBIGUOUS_UNITS = frozenset("dhlmsy")
"""Letters that mean something else after a number: "70s", "20m"."""
INFLECTIONS = ("ed", "er", "en", "es", "ly")
LONG = 9  # letters, from which two slips are allowed
_BRITISH = (("ae", "e"), ("oe", "e"), ("our", "or"), ("yse", "yze"), ("is", "iz"), ("tre", "ter"), ("bre", "ber"))


def find_corrections(
    text: str, *, concepts: ConceptIndex, vocabulary: Mapping[str, int], is_word: Callable[[str], bool]
) -> tuple[tuple[str, str], ...]:
    """Return words that neither the corpus nor the language knows, each with the word nearest to it.

    Amounts in one word ("30secs") are written in two. Nothing is corrected without a vocabulary.
    """
    return tuple(_corrections(text, concepts, vocabulary, is_word)) if vocabulary else ()


def _corrections(
    text: str, concepts: ConceptIndex, vocabulary: Mapping[str, int], is_word: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    for word in dict.fromkeys(words(text)):
        if (amount := AMOUNT.fullmatch(word)) and amount[2] not in AMBIGUOUS_UNITS:
            yield word, f"{amount[1]} {_unit(amount[2], vocabulary)}"
        elif _is_short_unit(word, vocabulary) and not is_word(word):
            yield word, UNIT_OF[word]
        elif _is_unknown(word, concepts, vocabulary):
            meant = _nearest(word, [*_near(word, vocabulary), *_near(word, concepts.words)], concepts, vocabulary)
            if meant and (not is_word(word) or _american(word) == _american(meant)):
                yield word, meant


def _is_unknown(word: str, concepts: ConceptIndex, vocabulary: Mapping[str, int]) -> bool:
    is_plain = len(word) >= SHORTEST and word.isascii() and word.isalpha() and word not in EMPTY_WORDS
    return is_plain and not any(form in vocabulary or form in concepts.words for form in (word, word.removesuffix("s")))


def _unit(written: str, vocabulary: Mapping[str, int]) -> str:
    """Return the plain name of a unit where the corpus has that alone: minutes for mins."""
    plain = UNIT_OF[written]
    return written if written in vocabulary or (plain not in vocabulary and written != "x") else plain


def _is_short_unit(word: str, vocabulary: Mapping[str, int]) -> bool:
    plain = UNIT_OF.get(word, "")
    return 1 < len(word) < len(plain) and word not in vocabulary and plain in vocabulary


def _slips(word: str) -> int:
    return 1 if len(word) < LONG else 2


def _near(word: str, known: Mapping[str, int] | frozenset[str]) -> list[str]:
    """Return known words of about the same length with the same first letter."""
    first, size, slips = word[0], len(word), _slips(word)
    return [k for k in known if k[0] == first and len(k) >= SHORTEST and abs(len(k) - size) <= slips]


def _nearest(word: str, known: Sequence[str], concepts: ConceptIndex, vocabulary: Mapping[str, int]) -> str | None:
    """Return the nearest word; of several a word of a concept's name, then the most frequent one.

    Other words of the corpus have too many neighbours: they need the same letters, one missing, doubled or swapped.
    """
    near = process.extract(word, known, scorer=OSA.distance, score_cutoff=_slips(word), limit=None)
    near = [row for row in near if _is_slip(word, row[0], row[0] in concepts.words)]
    if not near:
        return None
    return min(near, key=lambda row: (row[1], row[0] not in concepts.words, -vocabulary.get(row[0], 0), row[0]))[0]


def _is_slip(word: str, known: str, is_name: bool) -> bool:
    """Return whether a word may be a slip of the pen for a known one, not another form or a word of its own."""
    is_inflection = word == known[:-1] or (word[:-1] == known[:-1] and word.endswith(INFLECTIONS))
    has_same_letters = len(word) != len(known) or sorted(word) == sorted(known)
    return not is_inflection and (is_name or (has_same_letters and OSA.distance(word, known) == 1))


def _american(word: str) -> str:
    """Spell a word as Americans do: one spelling for fibre and fiber, tumour and tumor."""
    for british, american in _BRITISH:
        word = re.sub(british, american, word)
    return word
