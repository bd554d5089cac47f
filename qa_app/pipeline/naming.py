"""Which concepts of the knowledge graph a text names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from corpus_app.records import Concept
from qa_app.pipeline.text import WORD, folded, stem, words

T = TypeVar("T")

_ByWords = dict[tuple[str, ...], Concept]

# Kinds of concepts.
CONDITION = "condition"
NUTRIENT = "nutrient"  # what people eat or take
VARIABLE = "training_variable"  # how the training is done
MEASURED = frozenset({"outcome", "measure"})
DONE = frozenset({"intervention", NUTRIENT, VARIABLE})  # what people do or take, of which something is asked
MOST_NEIGHBOURS = 12  # of a concept; one with more is next to so much that being about it says little

MAKES = frozenset({"make", "makes", "making", "made"})
LONGEST_MADE = 4  # words for who is made so
SOMEBODY = frozenset(
    """me you him her us them people someone somebody anyone person man men woman women adults mum mom mother dad father gran grandma granny
    nan grandad grandpa grandmother grandfather wife husband client clients patient patients kid kids son daughter legs arms body muscles""".split()
)

AMOUNTS = frozenset(
    """more less much some any enough lots plenty loads of a lot bit little as most least same extra further additional really
    actually significantly noticeably visibly considerably""".split()
)
"""Words that say how much or how far, between the words of a name: "grow more muscle", "get any bigger"."""
HOW_MUCH = frozenset({"much", "many"})
LONGEST_WITH_AMOUNT = 3  # words of such a name, without the amount
OF_AN_AMOUNT = frozenset("more extra additional of kilos kilograms kg pounds lbs grams new".split())
ASKING = frozenset("does do did can could will would should might may i you we he she is are has have".split())
BEGINS_ANOTHER = frozenset("if who that which when while and or but because".split())
HOPES = frozenset("hope expect expected able going likely realistic aim used possible".split())
FARTHEST = 12  # words from what is asked how much of to what is done with it
LONGEST_ASKED, LONGEST_DONE = 2, 2  # words of both

MOST_KEPT = 20_000  # texts
PLACES_KEPT = 200  # questions, which are let go of soon
TUPLES_KEPT = 32  # all of the corpus, and those that a sentence or a question names


def find_concepts(said: str, concepts: Sequence[Concept]) -> tuple[Concept, ...]:
    """Concepts named in the text, in order: the longest alias first, whole words but for apostrophes, no word counted twice."""
    found = _find(words(said), concepts)
    return tuple({concept.concept_id: concept for _, _, concept in found}.values())


def find_name_spans(text: str, concepts: Sequence[Concept]) -> tuple[tuple[int, int, Concept], ...]:
    """Where a text names concepts, as `find_concepts` finds them: code points, end exclusive, in order."""
    return _places_of(concepts).spans_in(text)


def _find(tokens: Sequence[str], concepts: Sequence[Concept]) -> list[tuple[int, int, Concept]]:
    """Places among the words, end exclusive, and the concept that they name; in order."""
    by_name, by_base, lengths = _names(concepts)
    tokens = [_plain(token) for token in tokens]
    bases = [_base(token) for token in tokens]
    taken = [False] * len(tokens)
    found: list[tuple[int, int, Concept]] = []
    for length in lengths:
        for start in range(len(tokens) - length + 1):
            concept = by_name.get(tuple(tokens[start : start + length])) or by_base.get(
                (bases[start], *tokens[start + 1 : start + length])
            )
            if concept is not None and not any(taken[start : start + length]):
                taken[start : start + length] = [True] * length
                found.append((start, start + length, concept))
    found += _with_amounts(tokens, taken, by_name)
    found += _asked_how_much(tokens, taken, by_name)
    found += _made_so(tokens, taken, by_name)
    return sorted(found, key=lambda place: place[0])


def _with_amounts(
    tokens: Sequence[str], taken: list[bool], by_name: Mapping[tuple[str, ...], Concept]
) -> Iterator[tuple[int, int, Concept]]:
    """Names of several words with an amount between them: "grow more muscle", "get any bigger"."""
    if AMOUNTS.isdisjoint(tokens):
        return
    places = [place for place, token in enumerate(tokens) if token not in AMOUNTS]
    for length in range(LONGEST_WITH_AMOUNT, 1, -1):
        for begin in range(len(places) - length + 1):
            own = places[begin : begin + length]
            first, end = own[0], own[-1] + 1
            if end - first == length or any(taken[first:end]):
                continue
            concept = by_name.get(tuple(tokens[place] for place in own))
            if concept is not None:
                taken[first:end] = [True] * (end - first)
                yield first, end, concept


def _asked_how_much(
    tokens: Sequence[str], taken: list[bool], by_name: Mapping[tuple[str, ...], Concept]
) -> Iterator[tuple[int, int, Concept]]:
    """A name whose end stands first, since it is asked how much of it: "how much muscle does a woman put on", for "put on muscle"."""
    for place, token in enumerate(tokens[:-1]):
        if token not in HOW_MUCH or place == 0 or tokens[place - 1] != "how":
            continue
        first = place + 1
        while first < len(tokens) and tokens[first] in OF_AN_AMOUNT:
            first += 1
        for asked in range(LONGEST_ASKED, 0, -1):
            last = first + asked
            if last >= len(tokens) or tokens[last] not in ASKING or any(taken[first:last]):
                continue
            done = _done_with(tokens, last, tuple(tokens[first:last]), by_name)
            if done is not None:
                taken[first:last] = [True] * asked
                yield first, last, done
                break


def _done_with(
    tokens: Sequence[str], start: int, asked: tuple[str, ...], by_name: Mapping[tuple[str, ...], Concept]
) -> Concept | None:
    """The concept of what is done with that which is asked how much of, in the same clause; not what it is done for: "to lose fat"."""
    for place in range(start, min(start + FARTHEST, len(tokens))):
        if tokens[place] in BEGINS_ANOTHER or (tokens[place - 1] == "to" and tokens[place - 2] not in HOPES):
            return None
        for length in range(LONGEST_DONE, 0, -1):
            if concept := by_name.get((*tokens[place : place + length], *asked)):
                return concept
    return None


def _made_so(
    tokens: Sequence[str], taken: Sequence[bool], by_name: Mapping[tuple[str, ...], Concept]
) -> Iterator[tuple[int, int, Concept]]:
    """What somebody is made, where to get it is a name: "make my mother stronger", for "get stronger"; and what else besides."""
    may_follow = False
    for place, token in enumerate(tokens):
        concept = by_name.get(("get", token)) if token.endswith("er") else None
        whom = tokens[max(0, place - 1 - LONGEST_MADE) : place]
        is_made = bool(whom) and whom[-1] in SOMEBODY and not MAKES.isdisjoint(whom[:-1])
        if concept is not None and not taken[place] and (is_made or may_follow):
            yield place, place + 1, concept
        may_follow = is_made or (may_follow and (token in {"and", "or"} or token.endswith("er")))


def _plain(word: str) -> str:
    """Without its apostrophe, which people leave out: "parkinsons", "cant"."""
    return word.replace("'", "").replace("’", "")


ALSO_OTHERWISE = frozenset(
    "lower box start drive throw ring warm cool dry clean heat time space".split()
)  # no doing alone


def _base(word: str) -> str:
    """What is done, whether somebody does it or the doing is named: "train" for "training"."""
    base = stem(word) if word.endswith("ing") else word
    return word if base in ALSO_OTHERWISE else base


def once_for_these(work: Callable[[tuple[Concept, ...]], T]) -> Callable[[Sequence[Concept]], T]:
    """`work`, done once for a tuple of concepts, which the corpus hands out anew when one of them has changed.

    The tuples of last time are known by themselves: to look one up by what is in it is to go through hundreds of concepts.
    """
    by_content = lru_cache(maxsize=TUPLES_KEPT)(work)
    last: list[tuple[tuple[Concept, ...], T]] = []

    def of(concepts: Sequence[Concept]) -> T:
        kept = tuple(last)  # threads put others in its place meanwhile
        for place, (known, value) in enumerate(kept):
            if known is concepts:
                if place:  # so that those of the corpus, asked for again and again, never fall out
                    last[:] = [kept[place], *kept[:place], *kept[place + 1 :]]
                return value
        these = tuple(concepts)
        value = by_content(these)
        last[:] = [(these, value), *kept[: TUPLES_KEPT - 1]]
        return value

    return of


@once_for_these
def by_id(concepts: tuple[Concept, ...]) -> dict[str, Concept]:
    """The concepts by their ids."""
    return {concept.concept_id: concept for concept in concepts}


@once_for_these
def _names(concepts: tuple[Concept, ...]) -> tuple[_ByWords, _ByWords, tuple[int, ...]]:
    """Every name as its words, and the lengths that occur, longest first. A name claimed twice stays with the first.

    Names of several words also by the base of the first one ("train in the morning" for "training in the morning"), but for those
    that two concepts would claim: one word alone may be a name in one form only.
    """
    by_name = {name: concept for concept in reversed(concepts) for name in reversed(_in_words(concept))}
    by_name.pop((), None)
    claims: dict[tuple[str, ...], dict[str, Concept]] = {}
    for name, concept in by_name.items():
        if len(name) > 1:
            claims.setdefault((_base(name[0]), *name[1:]), {})[concept.concept_id] = concept
    by_base = {name: concept for name, claim in claims.items() if len(claim) == 1 for concept in claim.values()}
    return by_name, by_base, tuple(sorted({len(name) for name in by_name}, reverse=True))


@lru_cache(maxsize=65_536)
def names(text: str, concept: Concept) -> bool:
    """Whether the text names this concept, by any of its names, whole words."""
    spaced = _spaced(text)
    return any(name in spaced for name in _spelt(concept))


@lru_cache(maxsize=8_192)
def _spaced(text: str) -> str:
    return f" {' '.join(map(_plain, words(text)))} "


def names_in(text: str, concept: Concept) -> tuple[str, ...]:
    """Those of its names that a text holds, whole words."""
    spaced = _spaced(text)
    written = zip((concept.name, *concept.aliases), _spelt(concept), strict=True)
    return tuple(name for name, spelt in written if spelt in spaced)


class Names:
    """All names of a set of concepts, to look for in many texts."""

    def __init__(self, concepts: tuple[Concept, ...]) -> None:
        self._concepts = concepts
        self._kept: dict[str, frozenset[str]] = {}
        self.hard = {c.concept_id: c for c in concepts if c.kind in HARD and c.definition and c.is_studied}
        """Terms of the field that a reader may want explained, by their ids: what no study is about is there to be told from what is, and
        one of its names need not be what it defines.
        """

    def ids_in(self, text: str) -> frozenset[str]:
        """Ids of the concepts that a text names, the longest name first. Kept: the same findings are read again and again."""
        if text not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[text] = frozenset(c.concept_id for c in find_concepts(folded(text), self._concepts))
        return self._kept[text]


names_of = once_for_these(Names)


class _Places:
    """Where texts name some of a set of concepts. By itself, for the few that a question names make way for those of the next."""

    def __init__(self, concepts: tuple[Concept, ...]) -> None:
        self._concepts = concepts
        self._kept: dict[str, tuple[tuple[int, int, Concept], ...]] = {}

    def spans_in(self, text: str) -> tuple[tuple[int, int, Concept], ...]:
        """As `find_name_spans` says. Kept: every stage asks it of the same question."""
        found = self._kept.get(text)
        if found is None:
            matches = list(WORD.finditer(text))
            places = _find([folded(match.group()) for match in matches], self._concepts)
            found = tuple((matches[start].start(), matches[end - 1].end(), concept) for start, end, concept in places)
            while len(self._kept) >= PLACES_KEPT:
                self._kept.pop(next(iter(self._kept), ""), None)
            self._kept[text] = found
        return found


_places_of = once_for_these(_Places)
_NUMBER = r"(?:\d{1,2}[a-z]?|iii|ii|iv|i|[b-hj-z]\d{0,2})(?![\w%])"
_HEAD = r"\b(type|subtype|grade|stage|class|phase|category|zone|factor|vitamin|omega|hepatitis|interleukin|coenzyme)s?[\s-]+"
_AND = r"(?:\s*(?:,|/|and|or|vs\.?|versus|&)\s*)"
_NUMBERED = re.compile(f"{_HEAD}({_NUMBER}(?:{_AND}{_NUMBER})*)")
_JOINED = re.compile(r"\b(?!pre-|post-|weeks?-|days?-|over-|under-)([a-z]{2,})-(\d{1,3})(?![\w%.-]|,\d)")
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4"}


@lru_cache(maxsize=4_096)
def find_numbered(text: str) -> tuple[str, ...]:
    """Names that a number or a letter belongs to, each once: type 2, vitamin d, omega 3, GLP-1 as glp 1.

    Roman numbers count as the others; of "types 1 and 2" both are named, but of "vitamin D, I think" only the one.
    """
    said = _HYPHEN.sub("-", folded(text))
    found = []
    for match in _NUMBERED.finditer(said):
        first, *others = re.split(_AND, match[2])
        others = [number for number in others if number != "i" or first in _ROMAN]
        found += [f"{match[1]} {_ROMAN.get(number, number)}" for number in (first, *others)]
    return tuple(dict.fromkeys((*found, *(f"{match[1]} {match[2]}" for match in _JOINED.finditer(said)))))


_HYPHEN = re.compile("[\u2010\u2011\u2012\u2013]")


HARD = frozenset({"training_variable", "mechanism", "measure", "condition", "method", "nutrient", "intervention"})


def find_terms(texts: Sequence[str], concepts: Sequence[Concept], *, besides: Sequence[Concept]) -> tuple[Concept, ...]:
    """Terms of the field in these texts that have a definition, in order of appearance, but for those the reader used."""
    names, known = names_of(concepts), {concept.concept_id for concept in besides}
    found = dict.fromkeys(i for text in texts for i in sorted(names.ids_in(text)) if i in names.hard and i not in known)
    return tuple(names.hard[concept_id] for concept_id in found)


@lru_cache(maxsize=4_096)
def _spelt(concept: Concept) -> tuple[str, ...]:
    """Its names as `_spaced` has them."""
    return tuple(f" {' '.join(name)} " for name in _in_words(concept))


@lru_cache(maxsize=4_096)
def _in_words(concept: Concept) -> tuple[tuple[str, ...], ...]:
    """Its name and its aliases, each as its words."""
    return tuple(tuple(map(_plain, words(name))) for name in (concept.name, *concept.aliases))
