"""Suggest questions while one is typed: curated ones first, then answered ones, and ones about topics and studies.

Topics are indexed once for each corpus version. Golden questions are never suggested: some have no
answer, and no curator approved them for readers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus_app import search
from qa_app.answers import examples, listed, offered
from qa_app.pipeline.text import EMPTY_WORDS, clean, stem, words

MAX_SUGGESTIONS = 6
MAX_PER_KIND = 3
MAX_INPUT_LENGTH = 200  # characters; longer input is a complete question
MIN_PREFIX_LENGTH = 2  # letters


class SuggestionKind(StrEnum):
    CURATED = "curated"
    QUESTION = "question"
    TOPIC = "topic"
    STUDY = "study"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested question."""

    kind: SuggestionKind
    question: str
    also: str = ""
    """The alias by which a topic was found."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """An indexed suggestion."""

    suggestion: Suggestion
    stems: frozenset[str]
    order: tuple[int | float | str, ...]
    """Rank among the entries of its kind."""


@dataclass(frozen=True, slots=True)
class _Index:
    """An index of topics by word and stem."""

    entries: tuple[_Entry, ...]
    """In the order in which they are suggested."""
    places: Mapping[str, frozenset[int]]
    """Entries by word and by stem."""
    spelt: tuple[str, ...]
    """The sorted keys of `places`."""

    def find(self, stems: Sequence[str], prefix: str) -> Iterator[Suggestion]:
        """Yield the suggestions that have all these stems and a word with this prefix."""
        if not (found := self._find_prefix(prefix)):
            return
        for one_stem in stems:
            found &= self.places.get(one_stem, frozenset())
        for place in sorted(found):
            yield self.entries[place].suggestion

    def _find_prefix(self, prefix: str) -> set[int]:
        found = set(self.places.get(stem(prefix), ()))
        place = bisect_left(self.spelt, prefix)
        while place < len(self.spelt) and self.spelt[place].startswith(prefix):
            found |= self.places[self.spelt[place]]
            place += 1
        return found


def suggest(typed: str) -> tuple[Suggestion, ...]:
    """Return at most MAX_SUGGESTIONS questions with every content word typed; the last word may be a prefix."""
    if len(typed) > MAX_INPUT_LENGTH:
        return ()
    typed_words = [word for word in words(clean(typed)) if word not in EMPTY_WORDS]
    if typed_words and len(typed_words[-1]) < MIN_PREFIX_LENGTH:
        typed_words.pop()
    if not typed_words:
        return ()
    *before, prefix = typed_words
    stems = [stem(word) for word in before]
    found: dict[str, Suggestion] = {}
    counts: dict[SuggestionKind, int] = defaultdict(int)
    curated = offered.questions_typed(before, prefix, most=MAX_PER_KIND)
    first = (Suggestion(SuggestionKind.CURATED, question) for question in curated)
    named = search.once_per_version(_read).find(stems, prefix)
    for one in (*first, *_answered(stems, prefix), *named, *_studies(before, prefix)):
        if one.question not in found and counts[one.kind] < MAX_PER_KIND:
            found[one.question] = one
            counts[one.kind] += 1
    return tuple(found.values())[:MAX_SUGGESTIONS]


def _answered(stems: Sequence[str], prefix: str) -> Iterator[Suggestion]:
    """Yield listed questions; these are not indexed, since they change between corpus versions."""

    def fits(one: listed.ListedQuestion) -> bool:
        typed_words = words(one.question)
        has = {stem(word) for word in typed_words}
        return has.issuperset(stems) and (stem(prefix) in has or any(word.startswith(prefix) for word in typed_words))

    for one in listed.questions(fits):
        yield Suggestion(SuggestionKind.QUESTION, one.question)


def _read() -> _Index:
    entries = tuple(sorted(_topics(), key=lambda entry: entry.order))
    places: dict[str, set[int]] = defaultdict(set)
    for place, entry in enumerate(entries):
        for one_stem in entry.stems:
            places[one_stem].add(place)
    return _Index(entries, {one_stem: frozenset(found) for one_stem, found in places.items()}, tuple(sorted(places)))


def _topics() -> Iterator[_Entry]:
    """Yield an entry for each name of a topic: frequent topics first, then short names."""
    for concept in examples.topics():
        question = examples.question_about(concept)
        for name in (concept.name, *concept.aliases):
            also = "" if name == concept.name else name
            order = (concept.rarity, concept.concept_id, bool(also), len(name), name)
            yield _Entry(Suggestion(SuggestionKind.TOPIC, question, also), _words_and_stems(name), order)


def _studies(before: Sequence[str], prefix: str) -> Iterator[Suggestion]:
    """Yield questions about the studies whose titles have the words, newest first."""
    for title in search.titles_typed(before, prefix):
        own = _words_and_stems(title)
        if own.issuperset(map(stem, before)) and (stem(prefix) in own or any(word.startswith(prefix) for word in own)):
            yield Suggestion(SuggestionKind.STUDY, f"What did “{title}” find?")


def _words_and_stems(text: str) -> frozenset[str]:
    """Return the words of a text and their stems."""
    typed_words = words(text)
    return frozenset((*typed_words, *(stem(word) for word in typed_words)))
