"""Frequent words and phrases that belong to no concept yet, counted in passages and in what was asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import snowballstemmer

LONGEST = 3  # words of a phrase
FEWEST_PASSAGES, FEWEST_ASKED = 3, 2
COMMON = 0.10  # a single word that more of the passages hold says nothing of its own
WITHIN = 0.7  # a word that stands in a longer phrase so often is shown with that phrase only
IN_NAMES = 2  # a single word that is part of so many names is known here well enough
ASKED_COUNTS = 5  # a question tells more of what readers call things than a passage does

_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*|[^\s]")
_stemmer = snowballstemmer.stemmer("english")


@dataclass(frozen=True, slots=True)
class Term:
    words: str
    passages: int
    """In how many of the passages it stands."""
    asked: int
    """How often it was asked with."""

    @property
    def weight(self) -> int:
        """A phrase is rarer than a word, and says more."""
        return len(self.words.split()) * (self.passages + ASKED_COUNTS * self.asked)


def unmapped(
    passages: Iterable[str],
    asked: Iterable[tuple[str, int]],
    known: Iterable[str],
    *,
    people: Iterable[str] = (),
    limit: int = 60,
) -> tuple[Term, ...]:
    """The terms that weigh most. `asked` are questions and how often each was asked, `known` the names of all concepts,
    `people` the families of authors.

    Where a known name stands, its words count for nothing else; of two the longer one holds. A term begins and ends with a word
    of the subject: neither general (general_words.txt) nor somebody's name.
    """
    names = frozenset(tuple(_words(name)) for name in known) - {()}
    families = frozenset(family.lower() for family in people)
    parts = _parts_of_many(names)
    longest = max((len(name) for name in names), default=0)
    in_passages: Counter[tuple[str, ...]] = Counter()
    in_questions: Counter[tuple[str, ...]] = Counter()
    written: dict[tuple[str, ...], str] = {}
    small: set[str] = set()  # words that are written small, or wholly in capitals: not the name of somebody cited
    read = 0
    for text in passages:
        read += 1
        small.update(word.lower() for word in _WORD.findall(text) if not word.istitle())
        in_passages.update(set(_phrases(text, names, longest, families, written)))
    for question, times in asked:
        small.update(word.lower() for word in _WORD.findall(question))
        for phrase in set(_phrases(question, names, longest, families, written)):
            in_questions[phrase] += times
    found = {
        phrase: Term(written[phrase], in_passages[phrase], in_questions[phrase])
        for phrase in {*in_passages, *in_questions}
        if (in_passages[phrase] >= FEWEST_PASSAGES or in_questions[phrase] >= FEWEST_ASKED)
        and not (len(phrase) == 1 and (phrase[0] in parts or written[phrase] not in small))
        and (len(phrase) > 1 or in_passages[phrase] <= max(FEWEST_PASSAGES, COMMON * read))
    }
    hidden = {
        part
        for phrase, term in found.items()
        for n in range(1, len(phrase))
        for start in range(len(phrase) - n + 1)
        if (part := phrase[start : start + n]) in found and term.weight >= WITHIN * found[part].weight
    }
    told = (term for phrase, term in found.items() if phrase not in hidden)
    return tuple(sorted(told, key=lambda term: (-term.weight, term.words))[:limit])


@cache
def is_general(word: str) -> bool:
    """Whether a word (lower case) is one of any subject, in whatever form."""
    if word in _general_words() or word.endswith("ly"):
        return True
    if word != _bare(word):
        return is_general(_bare(word))
    if "-" in word:
        return all(is_general(part) for part in word.split("-") if part)
    return len(word) > 3 and bool(_stemmer.stemWord(word) in _general_stems())


def _bare(word: str) -> str:
    """Without the possessive's s."""
    return word[:-2] if word.endswith(("’s", "'s")) else word


@cache
def _general_words() -> frozenset[str]:
    lines = Path(__file__).with_name("general_words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def _general_stems() -> frozenset[str]:
    return frozenset(_stemmer.stemWords([word for word in _general_words() if len(word) > 2]))


def _parts_of_many(names: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """Words that are part of several names."""
    counts = Counter(word for name in names for word in set(name))
    return frozenset(word for word, n in counts.items() if n >= IN_NAMES)


def _words(text: str) -> list[str]:
    """Lower case, without the plural's s: names are compared so."""
    return [_singular(word.lower()) for word in _WORD.findall(text)]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _phrases(
    text: str,
    names: frozenset[tuple[str, ...]],
    longest: int,
    families: frozenset[str],
    written: dict[tuple[str, ...], str],
) -> Iterator[tuple[str, ...]]:
    tokens = [word.lower() for word in _WORD.findall(text)]
    for stretch in _free(tokens, names, longest, families):
        for start in range(len(stretch)):
            for end in range(start + 1, min(start + LONGEST, len(stretch)) + 1):
                phrase = tuple(_singular(word) for word in stretch[start:end])
                written.setdefault(phrase, " ".join(stretch[start:end]))
                yield phrase


def _free(
    tokens: Sequence[str], names: frozenset[tuple[str, ...]], longest: int, families: frozenset[str]
) -> Iterator[list[str]]:
    """Runs of words that say something and are of no known name."""
    singular = [_singular(token) for token in tokens]
    run: list[str] = []
    place = 0
    while place < len(tokens):
        of_name = next(
            (n for n in range(min(longest, len(tokens) - place), 0, -1) if tuple(singular[place : place + n]) in names),
            0,
        )
        if of_name or _bare(tokens[place]) in families or len(tokens[place]) < 3 or is_general(tokens[place]):
            yield run
            run = []
        else:
            run.append(tokens[place])
        place += of_name or 1
    yield run
