"""Read what a question and the one before it name, word by word, for completing follow-ups."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, PhraseIndex, Span, Word, placed_words
from qa_app.pipeline.question.people import PeopleIndex
from qa_app.pipeline.text import EMPTY_WORDS, stem

_TABLE = tomllib.loads((LANGUAGE_FOLDER / "follow_up.toml").read_text("utf-8"))
_PHRASES = PhraseIndex.compile([_TABLE])
GENERIC_STEMS = frozenset(map(stem, _TABLE["generic"]["words"]))
"""Stems of what may be asked of anything."""
_JOINT = re.compile(r"\s*(?:,|/|\b(?:and|or|vs\.?|versus)\b)?\s*", re.IGNORECASE)


def is_generic(word: str) -> bool:
    """Return whether a word carries no subject of its own."""
    return not word.isalpha() or len(word) == 1 or word in EMPTY_WORDS or stem(word) in GENERIC_STEMS


@dataclass(frozen=True, slots=True)
class Named:
    """What a text names for a slot: code points, `end` exclusive."""

    start: int
    end: int
    slot: str

    def text(self, question: str) -> str:
        return question[self.start : self.end]

    def trimmed(self, text: str, asking_end: int | None) -> Named:
        """Return the name without words that only ask ("how much protein") and without half a bracket."""
        start = asking_end + 1 if asking_end is not None and asking_end < self.end else self.start
        bracket = text.find("(", start, self.end)
        if bracket < 0 or ")" in text[bracket : self.end]:
            return Named(start, self.end, self.slot)
        if self.slot == "people":
            return Named(start, self.end + text.startswith(")", self.end), self.slot)
        return Named(bracket + 1, self.end, self.slot)


@dataclass(frozen=True, slots=True)
class NamedText:
    """A question with its words, cues and names."""

    text: str
    words: tuple[Word, ...]
    cues: Mapping[str, tuple[Span, ...]]
    names: tuple[Named, ...]

    @classmethod
    def read(cls, text: str, concepts: ConceptIndex, people: PeopleIndex) -> NamedText:
        """Find the names and cues of a text."""
        words = placed_words(text)
        cues = _PHRASES.find([word.text for word in words])
        found = [Named(m.start, m.end, m.slot) for m in concepts.find(text) if m.slot]
        pronouns = {words[first].start for first, _ in cues.get("person", ())}
        for mention in people.find(text):
            is_free = not any(name.start < mention.end and mention.start < name.end for name in found)
            if is_free and mention.start not in pronouns:
                found.append(Named(mention.start, mention.end, "people"))
        asking = {words[first].start: words[end - 1].end for first, end in cues.get("bare", ())}
        names = (name.trimmed(text, asking.get(name.start)) for name in sorted(found, key=lambda name: name.start))
        named = (
            name for name in names if not all(is_generic(w.text) for w in words if name.start <= w.start < name.end)
        )
        return cls(text, words, cues, tuple(_joined(text, named)))

    @property
    def slots(self) -> frozenset[str]:
        return frozenset(name.slot for name in self.names)

    def is_named(self, word: Word) -> bool:
        return any(name.start <= word.start < name.end for name in self.names)

    def is_done(self, name: Named) -> bool:
        """Return whether a name is a verb ("to train to failure") or one half of a choice."""
        place = next(n for n, word in enumerate(self.words) if word.start >= name.start and word.end > word.start)
        return any(any(place == end for _, end in self.cues.get(cue, ())) for cue in ("doer", "joint"))

    def after(self, name: str, place: int) -> int:
        """Return the word after the phrase of a list that begins at a word; that word without one."""
        return dict(self.cues.get(name, ())).get(place, place)

    def has(self, name: str, first: int) -> bool:
        """Return whether a phrase of a list begins at a word or later."""
        return any(start >= first for start, _ in self.cues.get(name, ()))

    def content(self, first: int = 0, end: int | None = None) -> bool:
        """Return whether some of the words carry a subject of their own, by a name or without one."""
        return any(self.is_named(word) or not is_generic(word.text) for word in self.words[first:end])


def _joined(text: str, names: Iterable[Named]) -> Iterator[Named]:
    """Join neighbours of one slot: "men and women"."""
    last: Named | None = None
    for name in names:
        if last and last.slot == name.slot and (name.start <= last.end or _JOINT.fullmatch(text, last.end, name.start)):
            last = Named(last.start, max(last.end, name.end), name.slot)
        else:
            if last:
                yield last
            last = name
    if last:
        yield last
