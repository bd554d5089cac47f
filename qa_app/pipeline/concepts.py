"""Find the concepts of the knowledge graph that a text names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from corpus_app.records import Concept, ConceptRole
from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, SENTENCE_END, Word, placed_words
from qa_app.pipeline.text import EMPTY_WORDS, stem, stem_set

MOST_FILLERS = 3  # words in a row
SHORT_NAME = 2  # letters: such a name in capitals ("RT") is found in capitals only
SLOTS: Mapping[ConceptRole, str] = {
    ConceptRole.THING: "intervention",
    ConceptRole.PARAMETER: "intervention",
    ConceptRole.OUTCOME: "outcome",
    ConceptRole.MEASURE: "outcome",
    ConceptRole.CONDITION: "condition",
    ConceptRole.GROUP: "people",
    ConceptRole.NONE: "",
}
"""Slot of a question that a concept of each role fills; an empty one fills none."""
FILLERS = frozenset(tomllib.loads((LANGUAGE_FOLDER / "slots.toml").read_text("utf-8"))["fillers"]["words"])
"""Words that may occur inside a name of several words: "grow more roses"."""


def slot_of(concept: Concept) -> str:
    """Return the slot that the concept fills: people, intervention, outcome, condition or none (empty)."""
    return SLOTS[concept.role]


def names_of(concept: Concept) -> tuple[str, ...]:
    """Return the name of a concept, then its aliases."""
    return (concept.name, *concept.aliases)


def name_stems(concept: Concept) -> tuple[frozenset[str], ...]:
    """Return the stems of each name of a concept that has words."""
    return tuple(stems for name in (concept.name, *concept.aliases) if (stems := stem_set(name)))


def neighbours(concepts: Sequence[Concept], by_id: Mapping[str, Concept]) -> tuple[Concept, ...]:
    """Return the concepts one hop from these in the concept graph, without themselves."""
    own = {concept.concept_id for concept in concepts}
    near = dict.fromkeys(n for concept in concepts for n in concept.neighbours if n in by_id and n not in own)
    return tuple(by_id[n] for n in near)


@dataclass(frozen=True, slots=True)
class Mention:
    """A concept and where a text names it: code points, `end` exclusive."""

    start: int
    end: int
    concept: Concept

    @property
    def slot(self) -> str:
        return slot_of(self.concept)


@dataclass(frozen=True, slots=True)
class _Name:
    words: tuple[str, ...]
    concept: Concept
    is_capital: bool
    """Whether only its capitals distinguish it from an ordinary word."""


@dataclass(slots=True)
class _NameNode:
    children: dict[str, _NameNode] = field(default_factory=dict)
    names: list[_Name] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Match:
    first: int
    last: int
    """The last word itself."""
    is_exact: bool
    concept: Concept

    @property
    def rank(self) -> tuple[int, bool, int]:
        return (self.first - self.last, not self.is_exact, self.first)


@dataclass(frozen=True, slots=True)
class ConceptIndex:
    """Names of concepts by the stems of their words; build it once per corpus version."""

    root: _NameNode
    by_id: dict[str, Concept]
    words: frozenset[str]
    """Words of all names, folded."""

    @classmethod
    def build(cls, concepts: Iterable[Concept]) -> ConceptIndex:
        """Index all names and aliases."""
        root, words = _NameNode(), set[str]()
        by_id = {concept.concept_id: concept for concept in concepts}
        for concept in by_id.values():
            for name in dict.fromkeys((concept.name, *concept.aliases)):
                own = tuple(word.text for word in placed_words(name) if word.text != SENTENCE_END)
                if not own:
                    continue
                words.update(own)
                node = root
                for word in own:
                    node = node.children.setdefault(stem(word), _NameNode())
                node.names.append(_Name(own, concept, _needs_capitals(name, own)))
        return cls(root, by_id, frozenset(words))

    def find(self, text: str) -> tuple[Mention, ...]:
        """Return the concepts that the text names, in order; the longest name wins, and no word counts twice."""
        words = placed_words(text)
        stems = [stem(word.text) for word in words]
        matches = [match for first in range(len(words)) for match in self._matches(text, words, stems, first)]
        taken: set[int] = set()
        found = []
        for match in sorted(matches, key=lambda match: match.rank):
            places = range(match.first, match.last + 1)
            if taken.isdisjoint(places):
                taken.update(places)
                found.append(Mention(words[match.first].start, words[match.last].end, match.concept))
        return tuple(sorted(found, key=lambda mention: mention.start))

    def _matches(self, text: str, words: Sequence[Word], stems: Sequence[str], first: int) -> Iterable[_Match]:
        reached: list[tuple[_NameNode, int, tuple[int, ...]]] = [(self.root, first, ())]
        while reached:
            node, place, path = reached.pop()
            if node.names and (match := _match(node.names, text, words, path)):
                yield match
            if place == len(words):
                continue
            child = node.children.get(stems[place])
            if child is not None:
                reached.append((child, place + 1, (*path, place)))
            if path and words[place].text in FILLERS and place - path[-1] <= MOST_FILLERS:
                reached.append((node, place + 1, path))


def _match(names: Sequence[_Name], text: str, words: Sequence[Word], path: Sequence[int]) -> _Match | None:
    """Prefer the name as it is written; else take the name of this stem where only one concept has it."""
    own = tuple(words[place].text for place in path)
    written = text[words[path[0]].start : words[path[-1]].end]
    fitting = [name for name in names if not name.is_capital or written.isupper()]
    exact = [name for name in fitting if name.words == own]
    if not exact and (len({name.concept.concept_id for name in fitting}) != 1 or not _is_same_word(fitting, own)):
        return None
    return _Match(path[0], path[-1], bool(exact), (exact or fitting)[0].concept)


def _is_same_word(names: Sequence[_Name], own: tuple[str, ...]) -> bool:
    """Tell whether a single word is the plural of the name; other inflections are too ambiguous."""
    return len(own) > 1 or any(own[0] in {f"{name.words[0]}s", f"{name.words[0]}es"} for name in names)


def _needs_capitals(name: str, own: tuple[str, ...]) -> bool:
    return name.isupper() and name.isalpha() and (len(name) <= SHORT_NAME or own[0] in EMPTY_WORDS)
