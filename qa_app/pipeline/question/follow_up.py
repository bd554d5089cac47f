"""Complete a follow-up question with names from the previous question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import SENTENCE_END, PhraseIndex, Span, Word, language_table, placed_words
from qa_app.pipeline.query import Query
from qa_app.pipeline.question.facets import FacetIndex, FacetMention
from qa_app.pipeline.question.parse import find_comparators
from qa_app.pipeline.text import EMPTY_WORDS, MAX_QUESTION_LENGTH, stem

MOST_TOPIC_WORDS = 8  # "what about older women who garden"
MOST_FRAGMENT_WORDS = 3  # of a topic that nothing introduces: "jumping?"
MOST_BARE_WORDS = 4  # words after "how many"
MOST_OTHER_WORDS = 1  # that name no concept, in a question that lacks its intervention: "do I need to cycle off?"
SLOTS = frozenset({"people", "intervention", "comparator", "outcome", "condition"})
POSSESSIVES = frozenset({"its", "their", "his", "her"})
DETERMINERS = frozenset({"these", "those", "them"})
"""Pronouns that do not point back where a noun follows; "them" in dialect."""
SUBJECTS = frozenset({"intervention", "comparator", "condition"})
"""Slots that a question about a relation needs one of."""
_TABLE = language_table("follow_up")
GENERIC_STEMS = frozenset(map(stem, _TABLE["generic"]["words"]))
"""Stems of what may be asked of anything."""
EVIDENCE_STEMS = frozenset(map(stem, _TABLE["evidence"]["words"]))
"""Stems of what may be asked of any answer: "how sure is that?"."""
_PHRASES = PhraseIndex.of_language("follow_up")
_JOINT = re.compile(r"\s*+(?:,|/|\b(?:and|or|vs\.?|versus)\b)?\s*+", re.IGNORECASE)
_MARK = re.compile(r"[,:()–—]|\s-\s")
_ARTICLE = re.compile(r"^(?:the|a|an) ", re.IGNORECASE)
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
    facets: frozenset[str] = frozenset()
    """Keys of the facets whose values it names."""

    def text(self, question: str) -> str:
        return question[self.start : self.end]

    def trimmed(self, text: str, asking_end: int | None) -> Named:
        """Return the name without words that only ask ("how much compost") and without half a bracket."""
        start = asking_end + 1 if asking_end is not None and asking_end < self.end else self.start
        bracket = text.find("(", start, self.end)
        if bracket < 0 or ")" in text[bracket : self.end]:
            return replace(self, start=start)
        if self.slot == "people":
            return replace(self, start=start, end=self.end + text.startswith(")", self.end))
        return replace(self, start=bracket + 1)


@dataclass(frozen=True, slots=True)
class NamedText:
    """A question with its words, cues and names."""

    text: str
    words: tuple[Word, ...]
    cues: Mapping[str, tuple[Span, ...]]
    names: tuple[Named, ...]
    slots_of_mentions: Sequence[str] = ()
    """The slot of each concept that it names; empty for one that fills none."""

    @classmethod
    def read(cls, text: str, concepts: ConceptIndex, facets: FacetIndex) -> NamedText:
        """Find the names and cues of a text."""
        words = placed_words(text)
        cues = _PHRASES.find([word.text for word in words])
        traits, mentions = facets.find(text), concepts.find(text)
        against, _ = find_comparators(words, mentions)
        pronouns = {words[first].start for first, _ in cues.get("person", ())}
        found = [
            Named(m.start, m.end, "comparator" if m in against else m.slot, _facets(m.start, m.end, traits))
            for m in mentions
            if m.slot and not any(t.is_number and t.start < m.start < t.end for t in traits)
        ]
        ages = {trait.start for trait in traits if trait.is_number}
        for trait in traits:
            is_free = not any(name.start < trait.end and trait.start < name.end for name in found)
            if is_free and trait.start not in pronouns:
                found.append(Named(trait.start, trait.end, "people", _facets(trait.start, trait.end, traits)))
        asking = {words[first].start: words[end - 1].end for first, end in cues.get("bare", ())}
        names = [name.trimmed(text, asking.get(name.start)) for name in sorted(found, key=lambda name: name.start)]
        own = ((name, [w.text for w in words if name.start <= w.start < name.end]) for name in names)
        specific = (name for name, texts in own if name.start in ages or not all(map(is_generic, texts)))
        return cls(text, words, cues, tuple(_joined(text, specific)), [mention.slot for mention in mentions])

    @property
    def slots(self) -> frozenset[str]:
        return frozenset(name.slot for name in self.names)

    @property
    def facets(self) -> frozenset[str]:
        """The facets whose values its names name."""
        return frozenset[str]().union(*(name.facets for name in self.names))

    @property
    def other_words(self) -> tuple[str, ...]:
        """The content words that name no concept, in order, apart from what may be asked of anything ("how slow")."""
        degrees = {after.text for word, after in pairwise(self.words) if word.text == "how"}
        own = (word.text for word in self.words if self.is_about(word) and not self.is_named(word))
        return tuple(dict.fromkeys(word for word in own if word not in degrees))

    def is_named(self, word: Word) -> bool:
        return any(name.start <= word.start < name.end for name in self.names)

    def is_verb_or_choice(self, name: Named) -> bool:
        """Tell whether a name is a verb ("to train to failure") or one half of a choice."""
        place = next(n for n, word in enumerate(self.words) if word.start >= name.start and word.end > word.start)
        return any(place == end for cue in ("doer", "joint") for _, end in self.cues.get(cue, ()))

    def after(self, name: str, place: int) -> int:
        """Return the word after the phrase of a list that begins at a word; that word without one."""
        return dict(self.cues.get(name, ())).get(place, place)

    def before(self, name: str, place: int) -> int:
        """Return the first word of the phrase of a list that ends before a word; that word without one."""
        return next((first for first, end in self.cues.get(name, ()) if end == place), place)

    def start_of_condition(self, first: int) -> int:
        """Return the "if" of "what if ..."."""
        return next(n for n in range(first, len(self.words)) if self.words[n].text != "what")

    def has(self, name: str, first: int) -> bool:
        """Tell whether a phrase of a list begins at a word or later."""
        return any(start >= first for start, _ in self.cues.get(name, ()))

    def asks_of_relation(self, first: int) -> bool:
        """Tell whether it asks for an effect that it names, with no figure or cause: "will I gain weight?"."""
        has_figure = any(word.text[0].isdigit() and not self.is_named(word) for word in self.words)
        is_whole = (
            "" in self.slots_of_mentions or self.slots_of_mentions.count("outcome") != 1
        )  # of two one is the cause
        if has_figure or is_whole or self.has("needed", first) or len(self.other_words) > MOST_OTHER_WORDS:
            return False
        spans = [span for span in self.cues.get("relation", ()) if span[0] >= first - 1]
        return any(self.is_named(self.words[end]) or not is_own(self.words[end]) for _, end in spans)

    def points_back(self, cue: str) -> bool:
        """Tell whether a pronoun has no antecedent in an earlier clause of the question.

        A pronoun and its antecedent are not in one clause (Chomsky 1981, principle B); possessives may be.
        """
        anybody = {first for first, _ in self.cues.get("anybody", ())} if cue == "person" else set()
        for first, end in self.cues.get(cue, ()):
            if any(start < end <= last for start, last in self.cues.get("expletive", ())):
                continue
            if self.words[first].text in DETERMINERS and self.is_about(self.words[end]):
                continue
            until = first if self.words[first].text in POSSESSIVES else self.clause_start(first)
            if not any(self.is_about(word) or place in anybody for place, word in enumerate(self.words[:until])):
                return True
        return False

    def is_about(self, word: Word) -> bool:
        """Tell whether a word says what the question is about."""
        return word.text != SENTENCE_END and (self.is_named(word) or is_own(word))

    def clause_start(self, place: int) -> int:
        """Return the word that begins the clause of a pronoun."""
        is_subject = self.after("verb", place + 1) != place + 1
        if is_subject and self.before("verb", place) == place:
            return place
        starts = [end for start, end in self.cues.get("boundary", ()) if start < place]
        marks = [n for n in range(2, place + 1) if _MARK.search(self.text, self.words[n - 1].end, self.words[n].start)]
        ends = [n for n, word in enumerate(self.words[:place]) if word.text == SENTENCE_END]
        return max((1, *starts, *marks, *ends))


def is_own(word: Word) -> bool:
    """Tell whether a word says what a question is about."""
    return not is_generic(word.text) and stem(word.text) not in EVIDENCE_STEMS


def _facets(start: int, end: int, traits: Iterable[FacetMention]) -> frozenset[str]:
    return frozenset(trait.facet for trait in traits if trait.start < end and start < trait.end)


def _joined(text: str, names: Iterable[Named]) -> Iterator[Named]:
    """Join neighbours of one slot: "men and women"."""
    last: Named | None = None
    for name in names:
        if last and last.slot == name.slot and (name.start <= last.end or _JOINT.fullmatch(text, last.end, name.start)):
            last = Named(last.start, max(last.end, name.end), name.slot, last.facets | name.facets)
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
        start += asked.words[start].text == SENTENCE_END and start < len(asked.words) - 1
    supposed, topic = asked.after("supposed", start), _topic(asked, start)
    if topic is not None:
        meant = _replaced(asked, earlier, topic, start)
    elif supposed != start and not asked.has("asks_itself", supposed + 1):
        condition = asked.text[asked.words[asked.start_of_condition(start)].start :]
        meant = f"{_with_people(asked, earlier)} {condition}?"
    else:
        meant = _completed(asked, earlier, _missing_slots(asked, earlier, start))
    return meant if meant is not None and len(meant) <= MAX_QUESTION_LENGTH else None


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
    """Return the words of "what about ...", "and for ..." or a noun phrase alone; None for a clause."""
    about = asked.after("about", start)
    first = max(asked.after("preposition", about), asked.after("foreign_tie", about))
    last = asked.before("tie_end", len(asked.words) - 1)
    words = asked.words[first:last]
    verb = asked.after("verb", start)
    is_one = len(asked.slots_of_mentions) <= 1 and len(asked.names) == 1
    if verb != start and is_one and all(map(asked.is_named, asked.words[verb:last])):
        return asked.words[verb].start, asked.words[last - 1].end  # verb phrase ellipsis: "does clay?"
    is_short = 0 < len(words) <= MOST_TOPIC_WORDS and all(word.text != SENTENCE_END for word in words)
    if not is_short or asked.has("clause", first) or asked.after("bare", first) != first:
        return None
    if "intervention" in asked.slots and not asked.slots.isdisjoint({"outcome", "condition"}):
        return None
    is_introduced = first != start or last != len(asked.words) - 1
    is_single = len(words) == 1 or (len(asked.slots) == 1 and not asked.other_words)
    is_fragment = len(words) <= MOST_FRAGMENT_WORDS and (is_single or start > 1)
    is_people = asked.slots == {"people"} and all(map(asked.is_named, words))
    return (words[0].start, words[-1].end) if is_introduced or is_fragment or is_people else None


def _replaced(asked: NamedText, earlier: NamedText, topic: Span, start: int) -> str | None:
    """Replace the names of the previous question in the topic's slots by the topic."""
    about = asked.words[max(asked.after("about", start), asked.after("foreign_tie", start))].start
    phrase = asked.text[about : topic[1]]
    if asked.words[start].text == "without":
        return f"{earlier.text} {phrase}?"
    named = {slot: [name.text(asked.text) for name in asked.names if name.slot == slot] for slot in asked.slots}
    old = [name for name in earlier.names if name.slot in named or not name.facets.isdisjoint(asked.facets)]
    tried = [name for name in earlier.names if name.slot == "intervention"]
    if named.keys() == {"comparator"} and not old and len(tried) > 1:
        old = [replace(tried[-1], slot="comparator")]  # of two that are compared
    if any(name.slot not in {"people", "comparator"} and earlier.is_verb_or_choice(name) for name in old):
        return _completed(asked, earlier, SLOTS - asked.slots)
    whole = _ARTICLE.sub("", asked.text[slice(*topic)], count=1)
    text = earlier.text
    first = {name.slot: name for name in reversed(old)}
    for name in reversed([name for name in old if name.slot == "people" or name is first[name.slot]]):
        if name.slot == "people" and not _is_same_group(name, asked):
            continue
        own = named.get(name.slot) or [n.text(asked.text) for n in asked.names if n.facets & name.facets]
        new = whole if len(named) == 1 and name.slot != "condition" else " and ".join(own)
        text = text[: name.start] + new + text[name.end :]
    said = {word.text for word in placed_words(text)}
    if text != earlier.text and said.issuperset(
        w.text for w in asked.words if w.start < topic[1] and asked.is_about(w)
    ):
        return f"{text}?"
    if about != topic[0] or asked.has("foreign_tie", start):  # with its preposition
        return f"{text} {_after_colon(phrase)}?"
    return f"{text} in {whole}?" if asked.slots == {"people"} else f"{text} ({whole})?"


def _is_same_group(name: Named, asked: NamedText) -> bool:
    """Tell whether other people are meant in place of these; women among older adults are not."""
    return not (name.facets and asked.facets and name.facets.isdisjoint(asked.facets))


def _with_people(asked: NamedText, earlier: NamedText) -> str:
    """Return the previous question with the people of this one in place of its own."""
    people = " and ".join(name.text(asked.text) for name in asked.names if name.slot == "people")
    text = earlier.text
    for name in reversed(earlier.names if people else ()):
        if name.slot == "people" and _is_same_group(name, asked):
            text = text[: name.start] + people + text[name.end :]
    return text


def _missing_slots(asked: NamedText, earlier: NamedText, start: int) -> frozenset[str]:
    """Return the slots that a clause takes from the previous question; none where it is complete."""
    missing = SLOTS - asked.slots
    if asked.after("supposed", start) != start:
        return frozenset()
    points_to_person = asked.points_back("person")
    is_whole = {"intervention", "outcome"} <= asked.slots
    points_to_thing = asked.points_back("thing") or (not is_whole and asked.points_back("demonstrative"))
    last = asked.before("tie_end", len(asked.words) - 1)
    is_consequence = not is_whole and last != len(asked.words) - 1 and asked.clause_start(last) <= start
    if points_to_thing or is_consequence or (points_to_person and "people" not in earlier.slots):
        return missing | {"intervention"}
    start = asked.after("preposition", start)
    bare = asked.after("bare", start)
    is_bare = bare != start and len(asked.words) - 1 - bare <= MOST_BARE_WORDS and not asked.has("clause", bare)
    is_empty = asked.slots <= {"people"} and not asked.other_words
    is_relation = asked.asks_of_relation(start)
    if is_empty or (is_bare and not is_whole):
        return missing
    if (is_relation or points_to_person) and asked.slots.isdisjoint(SUBJECTS):
        return missing
    return frozenset({"people", "condition"}) - asked.slots if points_to_person else frozenset()


def _completed(asked: NamedText, earlier: NamedText, slots: frozenset[str]) -> str | None:
    """Append the names of the previous question for these slots, or all of it where it names nothing."""
    if not slots:
        return None
    carried = [name for name in earlier.names if name.slot in slots]
    if "harm" in asked.cues and any(name.slot == "intervention" for name in carried):
        carried, slots = [name for name in carried if name.slot != "outcome"], slots - {"outcome"}
    own = {name.text(asked.text).casefold() for name in asked.names}
    texts = dict.fromkeys(text for name in carried if (text := name.text(earlier.text)).casefold() not in own)
    if texts and "outcome" in slots - earlier.slots:
        texts |= dict.fromkeys(word for word in earlier.other_words if word not in asked.other_words)
    is_subject = "intervention" not in slots or any(name.slot != "people" for name in carried)
    if texts and is_subject:
        return f"{asked.text} ({', '.join(texts)})?"
    if earlier.names and is_subject:
        return None
    words = [word for word in earlier.other_words if word not in asked.other_words]
    if words and not earlier.names:
        return f"{asked.text} ({', '.join(words)})?"
    return f"{asked.text}: {_after_colon(earlier.text)}?"


def _after_colon(text: str) -> str:
    """Write a question as it reads after a colon."""
    first = text.split(" ", 1)[0]
    return text if first[1:] != first[1:].lower() else text[:1].lower() + text[1:]
