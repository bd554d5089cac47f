"""Complete a follow-up question with names from the previous question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import SENTENCE_END, PhraseIndex, Span, Word, language_table, placed_words
from qa_app.pipeline.query import Query
from qa_app.pipeline.question.facets import FacetIndex
from qa_app.pipeline.text import EMPTY_WORDS, stem

LONGEST = 2_000  # characters
MOST_TOPIC_WORDS = 8  # "what about older women who garden"
MOST_BARE_WORDS = 4  # words after "how many"
SLOTS = frozenset({"people", "intervention", "outcome", "condition"})
GENERIC_STEMS = frozenset(map(stem, language_table("follow_up")["generic"]["words"]))
"""Stems of what may be asked of anything."""
_PHRASES = PhraseIndex.of_language("follow_up")
_JOINT = re.compile(r"\s*(?:,|/|\b(?:and|or|vs\.?|versus)\b)?\s*", re.IGNORECASE)
_END = " ?!."


def is_generic(word: str) -> bool:
    """Tell whether a word carries no subject of its own."""
    return not word.isalpha() or len(word) == 1 or word in EMPTY_WORDS or stem(word) in GENERIC_STEMS


@dataclass(frozen=True, slots=True)
class Named:
    """A name that fills a slot, and its place in the text: code points, `end` exclusive."""

    start: int
    end: int
    slot: str

    def text(self, question: str) -> str:
        return question[self.start : self.end]

    def trimmed(self, text: str, asking_end: int | None) -> Named:
        """Return the name without words that only ask ("how much compost") and without half a bracket."""
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
    def read(cls, text: str, concepts: ConceptIndex, facets: FacetIndex) -> NamedText:
        """Find the names and cues of a text."""
        words = placed_words(text)
        cues = _PHRASES.find([word.text for word in words])
        found = [Named(m.start, m.end, m.slot) for m in concepts.find(text) if m.slot]
        pronouns = {words[first].start for first, _ in cues.get("person", ())}
        for mention in facets.find(text):
            is_free = not any(name.start < mention.end and mention.start < name.end for name in found)
            if is_free and mention.start not in pronouns:
                found.append(Named(mention.start, mention.end, "people"))
        asking = {words[first].start: words[end - 1].end for first, end in cues.get("bare", ())}
        names = [name.trimmed(text, asking.get(name.start)) for name in sorted(found, key=lambda name: name.start)]
        own = ((name, [w.text for w in words if name.start <= w.start < name.end]) for name in names)
        return cls(
            text, words, cues, tuple(_joined(text, (name for name, texts in own if not all(map(is_generic, texts)))))
        )

    @property
    def slots(self) -> frozenset[str]:
        return frozenset(name.slot for name in self.names)

    def is_named(self, word: Word) -> bool:
        return any(name.start <= word.start < name.end for name in self.names)

    def is_verb_or_choice(self, name: Named) -> bool:
        """Tell whether a name is a verb ("to train to failure") or one half of a choice."""
        place = next(n for n, word in enumerate(self.words) if word.start >= name.start and word.end > word.start)
        return any(place == end for cue in ("doer", "joint") for _, end in self.cues.get(cue, ()))

    def after(self, name: str, place: int) -> int:
        """Return the word after the phrase of a list that begins at a word; that word without one."""
        return dict(self.cues.get(name, ())).get(place, place)

    def has(self, name: str, first: int) -> bool:
        """Tell whether a phrase of a list begins at a word or later."""
        return any(start >= first for start, _ in self.cues.get(name, ()))

    def points_back(self, cue: str) -> bool:
        """Tell whether a pronoun has no antecedent in the question."""
        for first, end in self.cues.get(cue, ()):
            is_expletive = any(start < end <= last for start, last in self.cues.get("expletive", ()))
            before = self.words[1:first]
            if not is_expletive and all(is_generic(w.text) and not self.is_named(w) for w in before):
                return True
        return False


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


def follow(question: str, before: str, concepts: ConceptIndex, facets: FacetIndex) -> str | None:
    """Complete a follow-up from the previous question; None where it is complete.

    The reader's words come first, unchanged. Names of the previous question complete them, except those replaced.
    """
    core, subject = question.rstrip(_END), before.rstrip(_END)
    if not core or not subject or core.casefold() == subject.casefold():
        return None
    asked, earlier = NamedText.read(core, concepts, facets), NamedText.read(subject, concepts, facets)
    start, place = 1, 0
    while start != place:
        start, place = asked.after("tie", start), start
    topic = _topic(asked, start)
    if topic is not None:
        meant = _replaced(asked, earlier, topic, start)
    else:
        meant = _completed(asked, earlier, _missing_slots(asked, earlier, start))
    return meant if meant is not None and len(meant) <= LONGEST else None


def standalone(question: str, understood_as: str | None) -> str:
    """Return the question that a next one follows: "what about women: how much tea?" gives "how much tea?"."""
    return question if understood_as is None else understood_as.removeprefix(f"{question.rstrip(_END)}: ")


def is_fragment(query: Query) -> bool:
    """Tell whether a question is a few words that name nothing ("and before bed?")."""
    is_named = query.concepts or query.unstudied or query.people or query.sources.is_named
    return names_nothing(query) or not (is_named or len(query.text.split()) > MOST_BARE_WORDS)


def names_nothing(query: Query) -> bool:
    """Tell whether a question names nothing to look up, as "what dose?" does; it may be asked of anything."""
    is_named = query.intervention or query.condition or query.people or query.sources.is_named or query.years
    return not (is_named or query.request or query.is_addressed) and all(
        term.isdigit() or term in GENERIC_STEMS for term in query.terms
    )


def asks_of_years(query: Query) -> bool:
    """Tell whether a question asks what is said of calendar years and names nothing else: "what happened in 2014?"."""
    return bool(query.years) and all(term.isdigit() or term in GENERIC_STEMS for term in query.terms)


def _topic(asked: NamedText, start: int) -> Span | None:
    """Return the words of "what about ...", "and for ..." or people alone; None for a sentence."""
    about = asked.after("about", start)
    first = max(asked.after("preposition", about), asked.after("foreign_tie", about))
    words = asked.words[first:-1]
    is_short = 0 < len(words) <= MOST_TOPIC_WORDS and all(word.text != SENTENCE_END for word in words)
    if not is_short or asked.has("clause", first) or asked.after("bare", first) != first:
        return None
    if {"intervention", "outcome"} <= asked.slots:
        return None
    is_people = asked.slots == {"people"} and all(map(asked.is_named, words))
    is_topic = first != start or (start > 1 and asked.slots) or is_people
    return (words[0].start, words[-1].end) if is_topic else None


def _replaced(asked: NamedText, earlier: NamedText, topic: Span, start: int) -> str | None:
    """Replace the names of the previous question in the topic's slots by the topic."""
    text = earlier.text
    is_without = asked.words[start].text == "without"
    named = {slot: [name.text(asked.text) for name in asked.names if name.slot == slot] for slot in asked.slots}
    old = [] if is_without else [name for name in earlier.names if name.slot in named]
    if any(name.slot != "people" and earlier.is_verb_or_choice(name) for name in old):
        return _completed(asked, earlier, SLOTS - asked.slots)
    whole = asked.text[slice(*topic)]
    for name in reversed(old):
        new = whole if len(named) == 1 and name.slot != "condition" else " and ".join(named[name.slot])
        text = text[: name.start] + new + text[name.end :]
    return f"{asked.text}: {_after_colon(text)}?"


def _missing_slots(asked: NamedText, earlier: NamedText, start: int) -> frozenset[str]:
    """Return the slots that a sentence takes from the previous question; none where it is complete."""
    own = asked.slots
    supposed = asked.after("supposed", start)
    if supposed != start:
        return frozenset() if asked.has("asks_itself", supposed) else SLOTS - own | {"intervention"}
    bare = asked.after("bare", start)
    is_bare = bare != start and len(asked.words) - 1 - bare <= MOST_BARE_WORDS and not asked.has("clause", bare)
    is_whole = {"intervention", "outcome"} <= own
    is_empty = own <= {"people"} and all(is_generic(w.text) or asked.is_named(w) for w in asked.words)
    if not is_whole and (is_bare or is_empty or ("intervention" not in own and asked.points_back("thing"))):
        return SLOTS - own
    points_to_person = "people" in earlier.slots and asked.points_back("person")
    return frozenset({"people", "condition"}) - own if points_to_person else frozenset()


def _completed(asked: NamedText, earlier: NamedText, slots: frozenset[str]) -> str | None:
    """Append the names of the previous question for these slots, or all of it where it names nothing."""
    if not slots:
        return None
    carried = [name for name in earlier.names if name.slot in slots]
    if "harm" in asked.cues and any(name.slot == "intervention" for name in carried):
        carried = [name for name in carried if name.slot != "outcome"]
    own = {name.text(asked.text).casefold() for name in asked.names}
    texts = dict.fromkeys(text for name in carried if (text := name.text(earlier.text)).casefold() not in own)
    is_subject = "intervention" not in slots or any(name.slot != "people" for name in carried)
    if texts and is_subject:
        return f"{asked.text} ({', '.join(texts)})?"
    return None if earlier.names and is_subject else f"{asked.text}: {_after_colon(earlier.text)}?"


def _after_colon(text: str) -> str:
    """Write a question as it reads after a colon."""
    first = text.split(" ", 1)[0]
    return text if first[1:] != first[1:].lower() else text[:1].lower() + text[1:]
