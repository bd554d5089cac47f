"""Questions offered while one is typed: answered before, about a topic, or about a study. Only what readers may see is offered.

What the corpus has is put in an index once for each of its versions. The curators' test questions are not offered: some
have no answer, and nobody approved them for readers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus_app import search
from qa_app.answers import examples, listed
from qa_app.pipeline.text import EMPTY_WORDS, clean, stem, words

MOST = 6
MOST_OF_A_KIND = 3
LONGEST_TYPED = 200  # characters; more is a question of its own, and no beginning of another
FEWEST_LETTERS = 2  # of the word that is being typed


class Kind(StrEnum):
    QUESTION = "question"
    TOPIC = "topic"
    STUDY = "study"


@dataclass(frozen=True, slots=True)
class Suggestion:
    kind: Kind
    question: str
    also: str = ""
    """The other name by which a topic was found."""


@dataclass(frozen=True, slots=True)
class _Entry:
    suggestion: Suggestion
    roots: frozenset[str]
    order: tuple[int | float | str, ...]
    """Among those of its kind that fit."""


@dataclass(frozen=True, slots=True)
class _Index:
    entries: tuple[_Entry, ...]
    """By kind, the first to be offered first."""
    places: Mapping[str, frozenset[int]]
    """Of each word and each stem, the entries that have it."""
    spelt: tuple[str, ...]
    """The keys of `places`, in order."""

    def find(self, roots: Sequence[str], beginning: str) -> Iterator[Suggestion]:
        """What has all these stems, and a word that begins so."""
        if not (found := self._begun(beginning)):
            return
        for root in roots:
            found &= self.places.get(root, frozenset())
        for place in sorted(found):
            yield self.entries[place].suggestion

    def _begun(self, beginning: str) -> set[int]:
        found = set(self.places.get(stem(beginning), ()))
        place = bisect_left(self.spelt, beginning)
        while place < len(self.spelt) and self.spelt[place].startswith(beginning):
            found |= self.places[self.spelt[place]]
            place += 1
        return found


def suggest(typed: str) -> tuple[Suggestion, ...]:
    """At most MOST questions that have every content word typed, the last one perhaps unfinished; none for none."""
    if len(typed) > LONGEST_TYPED:
        return ()
    said = [word for word in words(clean(typed)) if word not in EMPTY_WORDS]
    if said and len(said[-1]) < FEWEST_LETTERS:
        said.pop()
    if not said:
        return ()
    *before, beginning = said
    roots = [stem(word) for word in before]
    offered: dict[str, Suggestion] = {}
    counts: dict[Kind, int] = defaultdict(int)
    for one in (*_answered(roots, beginning), *search.once_per_version(_read).find(roots, beginning)):
        if one.question not in offered and counts[one.kind] < MOST_OF_A_KIND:
            offered[one.question] = one
            counts[one.kind] += 1
    return tuple(offered.values())[:MOST]


def _answered(roots: Sequence[str], beginning: str) -> Iterator[Suggestion]:
    """Return listed questions; they change between versions of the corpus."""

    def fits(one: listed.ListedQuestion) -> bool:
        said = words(one.question)
        has = {stem(word) for word in said}
        return has.issuperset(roots) and (stem(beginning) in has or any(word.startswith(beginning) for word in said))

    for one in listed.questions(fits):
        yield Suggestion(Kind.QUESTION, one.question)


def _read() -> _Index:
    entries = tuple(sorted((*_topics(), *_studies()), key=lambda entry: entry.order))
    places: dict[str, set[int]] = defaultdict(set)
    for place, entry in enumerate(entries):
        for root in entry.roots:
            places[root].add(place)
    return _Index(entries, {root: frozenset(found) for root, found in places.items()}, tuple(sorted(places)))


def _topics() -> Iterator[_Entry]:
    """Each name of a topic for itself, those of many studies and short names first."""
    for concept in examples.topics():
        question = examples.question_about(concept)
        for name in (concept.name, *concept.aliases):
            also = "" if name == concept.name else name
            order = (0, concept.rarity, concept.concept_id, bool(also), len(name), name)
            yield _Entry(Suggestion(Kind.TOPIC, question, also), _roots(name), order)


def _studies() -> Iterator[_Entry]:
    """By their titles, the newest first."""
    for study in examples.citable_studies():
        question = f"What did “{study.title}” find?"
        yield _Entry(Suggestion(Kind.STUDY, question), _roots(study.title), (1, -(study.year or 0), study.study_id))


def _roots(text: str) -> frozenset[str]:
    """Its words, each as it stands and as its stem."""
    said = words(text)
    return frozenset((*said, *(stem(word) for word in said)))
