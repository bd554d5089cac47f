"""Frequent words and phrases that belong to no concept yet, counted in passages and in what was asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

LONGEST = 3  # words of a phrase
FEWEST_PASSAGES, FEWEST_ASKED = 3, 2
COMMON = 0.10  # a single word that more of the passages hold says nothing of its own
WITHIN = 0.7  # a word that stands in a longer phrase so often is shown with that phrase only
ASKED_COUNTS = 5  # a question tells more of what readers call things than a passage does

_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*|[^\s]")
_STOP = frozenset(
    """a about above across after again against all almost along already also although always am among an and another any
    are as at based be became because been before being below best better between both but by can compared could did do
    does doing done during each effect effects either else even ever every few fewer first for found four from further good
    group groups had has have having he help her here high higher his how however i if in included including increase
    increased increases into is it its itself just keep kg know large least less like likely low lower made make many may me
    mean means might more most much must my need needs neither no none nor not now of off often on once one ones only or
    other others our out over own people per participants please rather reported results same second see several she should
    show showed shown significant significantly similar since small so some still studies study such than that the their them
    then there these they this those three through thus to together too toward trial trials two under until up upon us use
    used using versus very via vs was way we week weeks well were what when where whether which while who whose why will with
    within without would yet you your""".split()
)


@dataclass(frozen=True, slots=True)
class Term:
    words: str
    passages: int
    """In how many of the passages it stands."""
    asked: int
    """How often it was asked with."""

    @property
    def weight(self) -> int:
        return self.passages + ASKED_COUNTS * self.asked


def unmapped(
    passages: Iterable[str], asked: Iterable[tuple[str, int]], known: Iterable[str], *, limit: int = 60
) -> tuple[Term, ...]:
    """The terms that weigh most. `asked` are questions and how often each was asked, `known` the names of all concepts.

    Where a known name stands, its words count for nothing else; of two the longer one holds.
    """
    names = frozenset(tuple(_words(name)) for name in known) - {()}
    longest = max((len(name) for name in names), default=0)
    in_passages: Counter[tuple[str, ...]] = Counter()
    in_questions: Counter[tuple[str, ...]] = Counter()
    written: dict[tuple[str, ...], str] = {}
    read = 0
    for text in passages:
        read += 1
        in_passages.update(set(_phrases(text, names, longest, written)))
    for question, times in asked:
        for phrase in set(_phrases(question, names, longest, written)):
            in_questions[phrase] += times
    found = {
        phrase: Term(written[phrase], in_passages[phrase], in_questions[phrase])
        for phrase in {*in_passages, *in_questions}
        if (in_passages[phrase] >= FEWEST_PASSAGES or in_questions[phrase] >= FEWEST_ASKED)
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


def _words(text: str) -> list[str]:
    """Lower case, without the plural's s: names are compared so."""
    return [_singular(word.lower()) for word in _WORD.findall(text)]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _phrases(
    text: str, names: frozenset[tuple[str, ...]], longest: int, written: dict[tuple[str, ...], str]
) -> Iterator[tuple[str, ...]]:
    tokens = [word.lower() for word in _WORD.findall(text)]
    for stretch in _free(tokens, names, longest):
        for start in range(len(stretch)):
            for end in range(start + 1, min(start + LONGEST, len(stretch)) + 1):
                phrase = tuple(_singular(word) for word in stretch[start:end])
                written.setdefault(phrase, " ".join(stretch[start:end]))
                yield phrase


def _free(tokens: Sequence[str], names: frozenset[tuple[str, ...]], longest: int) -> Iterator[list[str]]:
    """Runs of words that say something and are of no known name."""
    singular = [_singular(token) for token in tokens]
    run: list[str] = []
    place = 0
    while place < len(tokens):
        of_name = next(
            (n for n in range(min(longest, len(tokens) - place), 0, -1) if tuple(singular[place : place + n]) in names),
            0,
        )
        if of_name or tokens[place] in _STOP or len(tokens[place]) < 3:
            yield run
            run = []
        else:
            run.append(tokens[place])
        place += of_name or 1
    yield run
