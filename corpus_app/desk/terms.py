"""Frequent words and phrases of passages and questions that belong to no concept yet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from common.general_words import is_general, without_possessive

MAX_PHRASE_WORDS = 3
MIN_PASSAGES, MIN_QUESTIONS = 3, 2
MAX_PASSAGE_SHARE = 0.10  # a single word in a larger share of the passages is too general
HIDING_SHARE = 0.7  # a term is hidden if a longer phrase around it has at least this share of its weight
MIN_NAMES = 2  # a single word that is part of so many concept names is known already
QUESTION_WEIGHT = 5  # passages that a question counts for: it shows the words that readers use

_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*|[^\s]")


@dataclass(frozen=True, slots=True)
class Term:
    words: str
    passages: int
    """Number of passages with the term."""
    asked: int
    """Number of questions asked with the term."""

    @property
    def weight(self) -> int:
        """Return the weighted frequency; it grows with the length, as longer phrases are rarer and more specific."""
        return len(self.words.split()) * (self.passages + QUESTION_WEIGHT * self.asked)


def find_unmapped(
    passages: Iterable[str],
    asked: Iterable[tuple[str, int]],
    known: Iterable[str],
    *,
    people: Iterable[str] = (),
    limit: int = 60,
) -> tuple[Term, ...]:
    """Return the unmapped terms with the largest weights.

    `asked` are questions with their counts, `known` the names of all concepts, `people` the family names of authors.
    Words of a known name (the longest that matches) count for no other term. A term contains neither
    general words (common/general_words.txt) nor family names.
    """
    names = frozenset(tuple(_words(name)) for name in known) - {()}
    families = frozenset(family.lower() for family in people)
    parts = _frequent_name_parts(names)
    longest = max((len(name) for name in names), default=0)
    in_passages: Counter[tuple[str, ...]] = Counter()
    in_questions: Counter[tuple[str, ...]] = Counter()
    written: dict[tuple[str, ...], str] = {}
    not_names: set[str] = set()  # words also written in lower case or in capitals, so no names of cited people
    read = 0
    for text in passages:
        read += 1
        not_names.update(word.lower() for word in _WORD.findall(text) if not word.istitle())
        in_passages.update(set(_phrases(text, names, longest, families, written)))
    for question, times in asked:
        not_names.update(word.lower() for word in _WORD.findall(question))
        for phrase in set(_phrases(question, names, longest, families, written)):
            in_questions[phrase] += times
    found = {
        phrase: Term(written[phrase], in_passages[phrase], in_questions[phrase])
        for phrase in {*in_passages, *in_questions}
        if (in_passages[phrase] >= MIN_PASSAGES or in_questions[phrase] >= MIN_QUESTIONS)
        and not (len(phrase) == 1 and (phrase[0] in parts or written[phrase] not in not_names))
        and (len(phrase) > 1 or in_passages[phrase] <= max(MIN_PASSAGES, MAX_PASSAGE_SHARE * read))
    }
    hidden = {
        part
        for phrase, term in found.items()
        for n in range(1, len(phrase))
        for start in range(len(phrase) - n + 1)
        if (part := phrase[start : start + n]) in found and term.weight >= HIDING_SHARE * found[part].weight
    }
    shown = (term for phrase, term in found.items() if phrase not in hidden)
    return tuple(sorted(shown, key=lambda term: (-term.weight, term.words))[:limit])


def _frequent_name_parts(names: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """Return the words that occur in several names."""
    counts = Counter(word for name in names for word in set(name))
    return frozenset(word for word, n in counts.items() if n >= MIN_NAMES)


def _words(text: str) -> list[str]:
    """Return the words in lower case and in the singular."""
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
    for stretch in _runs(tokens, names, longest, families):
        for start in range(len(stretch)):
            for end in range(start + 1, min(start + MAX_PHRASE_WORDS, len(stretch)) + 1):
                phrase = tuple(_singular(word) for word in stretch[start:end])
                written.setdefault(phrase, " ".join(stretch[start:end]))
                yield phrase


def _runs(
    tokens: Sequence[str], names: frozenset[tuple[str, ...]], longest: int, families: frozenset[str]
) -> Iterator[list[str]]:
    """Yield the runs of specific words that belong to no known name."""
    singular = [_singular(token) for token in tokens]
    run: list[str] = []
    place = 0
    while place < len(tokens):
        of_name = next(
            (n for n in range(min(longest, len(tokens) - place), 0, -1) if tuple(singular[place : place + n]) in names),
            0,
        )
        if (
            of_name
            or without_possessive(tokens[place]) in families
            or len(tokens[place]) < 3
            or is_general(tokens[place])
        ):
            yield run
            run = []
        else:
            run.append(tokens[place])
        place += of_name or 1
    yield run
