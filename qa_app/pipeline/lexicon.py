"""Read word lists and find their phrases in the words of a text.

A list is a TOML table `[lists.NAME]` with `phrases` and, where a longer phrase means something else, `except`: an
exception covers the whole longer phrase ("nearly fainted"), and takes away the phrases inside it. A phrase is words in
lower case, without apostrophes and hyphens. Inside a phrase:

    faint*      a word that begins so; `*pril` one that ends so; `*` alone is any one word
    just?       a word that may be missing
    #  #8-17    a figure, in digits or spelt out; one of a range
    {kin}       any phrase of the list "kin", which must be plain phrases alone
    .           where a sentence begins or ends

An entry may also be a table `{all = ["chest", "pain"], within = 6}`: phrases of one sentence with at most so many words
between them, in either order. Only whole words match, and of the phrases that begin at one word the longest.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from corpus_app.facets import PHRASE
from qa_app.pipeline.text import folded

LANGUAGE_FOLDER = Path(__file__).parents[1] / "lexicon"
SENTENCE_END = "."
SENTENCE_MARKS = frozenset(".?!;\n")

Table = Mapping[str, Any]
"""A parsed lexicon file."""
Tables = Mapping[str, Table]
"""Parsed lexicon files by name."""
Span = tuple[int, int]
"""The first word and the one after the last."""

_TOKENS_OF_PHRASE = re.compile(r"\{[^{}]*\}\??|\S+")
_PLACED = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|[.?!;\n]")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[.?!;\n]")


class LexiconError(ValueError):
    """A word list that cannot be compiled; the message names the list."""


def read_tables(folder: Path) -> dict[str, Table]:
    """Parse every TOML file of a folder, by file name without its ending; a missing folder gives none."""
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.toml"))}


def language_table(name: str) -> Table:
    """Parse one file of the language's lexicon."""
    return tomllib.loads((LANGUAGE_FOLDER / f"{name}.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word, figure or sentence end, and its code points in the text (`end` exclusive)."""

    text: str
    start: int
    end: int


def words_of(text: str) -> tuple[str, ...]:
    """Split a text into folded words, figures and sentence ends (first and last, too), without apostrophes."""
    found = _TOKEN.findall(folded(text).replace("'", ""))
    return (SENTENCE_END, *(SENTENCE_END if word in SENTENCE_MARKS else word for word in found), SENTENCE_END)


def placed_words(text: str) -> tuple[Word, ...]:
    """Split a text as `words_of` does, with the place of each word; the outer sentence ends are empty."""
    found = ((folded(match[0]).replace("'", ""), match.span()) for match in _PLACED.finditer(text))
    words = (Word(SENTENCE_END if word in SENTENCE_MARKS else word, *span) for word, span in found)
    return (Word(SENTENCE_END, 0, 0), *words, Word(SENTENCE_END, len(text), len(text)))


NUMERALS: Mapping[str, int] = language_table("numerals")["numerals"]
UNITS: Mapping[str, Sequence[str]] = language_table("units")["units"]
UNIT_OF = {
    folded(f"{written}{ending}"): unit
    for unit, spellings in UNITS.items()
    for written in spellings
    for ending in (("", "s") if len(written) > 1 else ("",))
}
"""The plain name of each way to write a unit, also in the plural."""


def value_of(word: str) -> float | None:
    """Return the number that a word means, in digits or spelt out; None for any other word."""
    if word in NUMERALS:
        return NUMERALS[word]
    if not word[:1].isdigit():
        return None
    digits = word.replace(",", "" if re.fullmatch(r"\d{1,3}(?:,\d{3})+", word) else ".")
    try:
        return float(digits)
    except ValueError:
        return None


# --- Matching ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Node:
    words: dict[str, _Node] = field(default_factory=dict)
    patterns: dict[str, dict[str, _Node]] = field(default_factory=dict)
    """By their first character, which is `*` for an ending and `#` for a number."""
    lists: dict[str, _Node] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def add(self, phrase: str, name: str) -> None:
        nodes = [self]
        for token in _TOKENS_OF_PHRASE.findall(phrase):
            after = [node.child(token.removesuffix("?")) for node in nodes]
            nodes = list({id(node): node for node in (nodes + after if token.endswith("?") else after)}.values())
        for node in nodes:
            node.names.add(name)

    def child(self, token: str) -> _Node:
        if token[0] == "{":
            return self.lists.setdefault(token[1:-1], _Node())
        is_pattern = "*" in token or token[0] == "#"
        children = self.patterns.setdefault(token[0], {}) if is_pattern else self.words
        return children.setdefault(token, _Node())

    def add_first_tokens(self, other: _Node, name: str) -> None:
        """Add the name to the first words and patterns of another node; where that begins with a list, to this node."""
        patterns = (token for tokens in other.patterns.values() for token in tokens)
        for token in (*other.words, *patterns):
            self.child(token).names.add(name)
        if other.lists:
            self.names.add(name)

    def after(self, word: str) -> list[_Node]:
        """Return the nodes that are reached by this word."""
        reached = [self.words[word]] if word in self.words else []
        for first in {word[:1], "*", "#"} & self.patterns.keys():
            reached += [node for pattern, node in self.patterns[first].items() if _fits(pattern, word)]
        return reached


def _fits(pattern: str, word: str) -> bool:
    if pattern[0] == "#":
        value = value_of(word)
        low, _, high = pattern[1:].partition("-")
        return value is not None and (not low or float(low) <= value <= float(high or low))
    if pattern[0] == "*":
        return word != SENTENCE_END and word.endswith(pattern[1:])
    return word.startswith(pattern[:-1])


@dataclass(frozen=True, slots=True)
class PhraseIndex:
    """Compiled word lists; `find` reads a text once for all of them."""

    root: _Node
    parts: Mapping[str, _Node]
    """The phrases of each list that others refer to."""
    openers: _Node
    """The words and patterns that such lists begin with, each with the names of the lists."""
    nears: tuple[tuple[str, tuple[str, ...], int], ...]
    """Name, names of the parts, and the most words between them, of each entry with several phrases."""
    names: frozenset[str]
    vocabulary: frozenset[str]

    @classmethod
    def of_language(cls, *names: str, corpus: Tables | None = None) -> PhraseIndex:
        """Compile files of the language's lexicon with a corpus's files of the same names. Raises LexiconError."""
        return cls.compile([*map(language_table, names), *((corpus or {}).get(name, {}) for name in names)])

    @classmethod
    def compile(cls, tables: Iterable[Table]) -> PhraseIndex:
        """Compile the lists of all tables; lists of one name are joined. Raises LexiconError."""
        lists = _joined(tables)
        root, parts, nears, vocabulary = _Node(), dict[str, _Node](), [], set[str]()
        for name, rows in lists.items():
            for number, entry in enumerate(rows["phrases"]):
                phrases = _phrases(entry)
                keys = [name] if isinstance(entry, str) else [f"{name}/{number}/{n}" for n in range(len(phrases))]
                for key, phrase in zip(keys, phrases, strict=True):
                    root.add(phrase, key)
                    vocabulary.update(phrase.split())
                if not isinstance(entry, str):
                    nears.append((name, tuple(keys), entry["within"]))
            for phrase in rows["except"]:
                root.add(phrase, f"{name}/except")
        openers = _Node()
        for name in _referred(lists):
            parts[name] = _Node()
            for phrase in lists[name]["phrases"]:
                parts[name].add(phrase, name)
            openers.add_first_tokens(parts[name], name)
        return cls(root, parts, openers, tuple(nears), frozenset(lists), frozenset(vocabulary))

    def find(self, words: Sequence[str]) -> dict[str, tuple[Span, ...]]:
        """Return the spans of each list that occurs in the words, in order."""
        found: dict[str, dict[int, int]] = {}
        text = _Text(words, self.parts, [self._lists_opened_by(word) for word in words])
        for start in range(len(words)):
            for name, end in text.walk(self.root, start):
                longest = found.setdefault(name, {})
                longest[start] = max(end, longest.get(start, 0))
        spans = {name: list(longest.items()) for name, longest in found.items()}
        for name, keys, within in self.nears:
            near = near_spans(words, [spans.get(key, ()) for key in keys], within)
            spans.setdefault(name, []).extend(near)
        uncovered = {name: _uncovered(spans[name], spans.get(f"{name}/except", ())) for name in spans}
        return {name: own for name, own in uncovered.items() if own and name in self.names}

    def _lists_opened_by(self, word: str) -> frozenset[str]:
        """Return the lists that have a phrase which may begin with this word."""
        return frozenset(name for opener in (self.openers, *self.openers.after(word)) for name in opener.names)


@dataclass(frozen=True, slots=True)
class _Text:
    """One text during matching; the matches of each list at each place are found once."""

    words: Sequence[str]
    parts: Mapping[str, _Node]
    opened: Sequence[frozenset[str]]
    """The lists that may begin at each place."""
    ends: dict[tuple[str, int], set[int]] = field(default_factory=dict)

    def walk(self, root: _Node, start: int) -> Iterator[tuple[str, int]]:
        """Yield the names of the phrases that begin here, each with where it ends."""
        reached = [(root, start)]
        while reached:
            node, position = reached.pop()
            yield from ((name, position) for name in node.names)
            if position == len(self.words):
                continue
            reached += [(after, position + 1) for after in node.after(self.words[position])]
            if node.lists:
                for name in node.lists.keys() & self.opened[position]:
                    reached += [(node.lists[name], end) for end in self._ends(name, position)]

    def _ends(self, name: str, position: int) -> set[int]:
        """Return where the phrases of this list end that begin here."""
        key = (name, position)
        if key not in self.ends:
            self.ends[key] = {end for _, end in self.walk(self.parts[name], position)}
        return self.ends[key]


def _uncovered(spans: Iterable[Span], covers: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(sorted({(s, e) for s, e in spans if not any(a <= s and e <= b for a, b in covers)}))


def near_spans(words: Sequence[str], parts: Sequence[Sequence[Span]], within: int) -> list[Span]:
    """Return the spans that hold one span of each part, in one sentence, at most `within` words apart."""
    if len(parts) == 1:
        return list(parts[0])
    joined = []
    for first in near_spans(words, parts[:-1], within):
        for second in parts[-1]:
            (_, end), (start, _) = sorted((first, second))
            if 0 <= start - end <= within and SENTENCE_END not in words[end:start]:
                joined.append((min(first[0], second[0]), max(first[1], second[1])))
    return joined


# --- Reading lists ----------------------------------------------------------------------------------------------------


def _joined(tables: Iterable[Table]) -> dict[str, dict[str, list[Any]]]:
    lists: dict[str, dict[str, list[Any]]] = {}
    for name, rows in (item for table in tables for item in table.get("lists", {}).items()):
        if unknown := set(rows) - {"phrases", "except"}:
            raise LexiconError(f"The list {name!r} has unknown keys: {', '.join(sorted(unknown))}")
        joined = lists.setdefault(name, {"phrases": [], "except": []})
        joined["phrases"] += rows.get("phrases", [])
        joined["except"] += rows.get("except", [])
    return lists


def _phrases(entry: str | Table) -> Sequence[str]:
    return (entry,) if isinstance(entry, str) else entry["all"]


def _referred(lists: Mapping[str, Mapping[str, list[Any]]]) -> list[str]:
    """Return the lists that phrases refer to, after checking every phrase. Raises LexiconError."""
    references: dict[str, set[str]] = {name: set() for name in lists}
    for name, rows in lists.items():
        for phrase in (phrase for entry in (*rows["phrases"], *rows["except"]) for phrase in _phrases(entry)):
            if not PHRASE.fullmatch(phrase) or phrase != folded(phrase):
                raise LexiconError(f"The list {name!r} has a phrase that cannot be read: {phrase!r}")
            tokens = [token.removesuffix("?") for token in _TOKENS_OF_PHRASE.findall(phrase)]
            references[name].update(token[1:-1] for token in tokens if token[0] == "{")
    for name, other in ((name, other) for name, others in references.items() for other in others):
        rows = lists.get(other, {"phrases": [None], "except": []})
        if rows["except"] or not all(isinstance(phrase, str) for phrase in rows["phrases"]):
            raise LexiconError(
                f"The list {name!r} refers to {other!r}, which is missing or has more than plain phrases"
            )
    try:
        named = set().union(*references.values())
        return list(TopologicalSorter({name: references[name] for name in named}).static_order())
    except CycleError as error:
        raise LexiconError(f"Lists refer to each other in a circle: {error.args[1]}") from error
