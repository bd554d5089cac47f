"""Complete a follow-up question by what the question before names."""

from __future__ import annotations

from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import SENTENCE_END, Span
from qa_app.pipeline.query import Query
from qa_app.pipeline.question.named_text import GENERIC_STEMS, NamedText, is_generic
from qa_app.pipeline.question.people import PeopleIndex

LONGEST = 2_000  # characters
MOST_TOPIC_WORDS = 8  # "what about older women who lift"
MOST_BARE_WORDS = 4  # words after "how many"
SLOTS = frozenset({"people", "intervention", "outcome", "condition"})
_END = " ?!."


def follow(question: str, before: str, concepts: ConceptIndex, people: PeopleIndex) -> str | None:
    """Return what a question means after the question before; None where it stands alone.

    The reader's words come first and whole. Names of the question before complete them, but for those they replace.
    """
    core, subject = question.rstrip(_END), before.rstrip(_END)
    if not core or not subject or core.casefold() == subject.casefold():
        return None
    asked, earlier = NamedText.read(core, concepts, people), NamedText.read(subject, concepts, people)
    start = _after_ties(asked)
    topic = _topic(asked, start)
    if topic is not None:
        meant = _replaced(asked, earlier, topic, start)
    else:
        meant = _completed(asked, earlier, _unsaid_slots(asked, earlier, start))
    return meant if meant is not None and len(meant) <= LONGEST else None


def standalone(question: str, understood_as: str | None) -> str:
    """Return what the next question follows: of "what about women: how much protein?" what stands after the colon."""
    if understood_as is None:
        return question
    return understood_as.removeprefix(f"{question.rstrip(_END)}: ")


def is_fragment(query: Query) -> bool:
    """Return whether a question is a few words that name nothing ("and before bed?")."""
    is_named = query.concepts or query.unstudied or query.people or query.sources.is_named
    return names_nothing(query) or not (is_named or len(query.text.split()) > MOST_BARE_WORDS)


def names_nothing(query: Query) -> bool:
    """Return whether a question names nothing to look up, as "what dose?" does; it may be asked of anything."""
    is_named = query.intervention or query.condition or query.people or query.sources.is_named
    return not is_named and all(term.isdigit() or term in GENERIC_STEMS for term in query.terms)


def _after_ties(asked: NamedText) -> int:
    place = 1
    while (following := asked.after("tie", place)) != place:
        place = following
    return place


def _topic(asked: NamedText, start: int) -> Span | None:
    """Return the words of "what about ...", "and for ..." or people alone; None for a sentence."""
    about = asked.after("about", start)
    first = max(asked.after("preposition", about), asked.after("foreign_tie", about))
    words = asked.words[first:-1]
    if (
        not 0 < len(words) <= MOST_TOPIC_WORDS
        or asked.has("clause", first)
        or any(w.text == SENTENCE_END for w in words)
    ):
        return None
    named = {name.slot for name in asked.names}
    if {"intervention", "outcome"} <= named or asked.after("bare", first) != first:
        return None
    is_people = all(map(asked.is_named, words))
    is_topic = first != start or (start > 1 and named) or (is_people and named == {"people"})
    return (words[0].start, words[-1].end) if is_topic else None


def _replaced(asked: NamedText, earlier: NamedText, topic: Span, start: int) -> str | None:
    """Put the topic in the place of what the question before names for its slots."""
    text = earlier.text
    is_without = asked.words[start].text == "without"
    named = {name.slot: [n.text(asked.text) for n in asked.names if n.slot == name.slot] for name in asked.names}
    old = [] if is_without else [name for name in earlier.names if name.slot in named]
    if any(name.slot != "people" and earlier.is_done(name) for name in old):
        return _completed(asked, earlier, SLOTS - asked.slots)
    whole = asked.text[slice(*topic)]
    for name in reversed(old):
        new = whole if len(named) == 1 and name.slot != "condition" else " and ".join(named[name.slot])
        text = text[: name.start] + new + text[name.end :]
    return f"{asked.text}: {_in_passing(text)}?"


def _unsaid_slots(asked: NamedText, earlier: NamedText, start: int) -> frozenset[str]:
    """Return the slots that a sentence leaves to the question before; none where it stands alone."""
    own = asked.slots
    supposed = asked.after("supposed", start)
    if supposed != start:
        return frozenset() if asked.has("asks_itself", supposed) else SLOTS - own | {"intervention"}
    bare = asked.after("bare", start)
    is_bare = bare != start and len(asked.words) - 1 - bare <= MOST_BARE_WORDS and not asked.has("clause", bare)
    is_whole = {"intervention", "outcome"} <= own
    says_nothing = own <= {"people"} and all(is_generic(w.text) or asked.is_named(w) for w in asked.words)
    if not is_whole and (is_bare or says_nothing or ("intervention" not in own and _points_back(asked, "thing"))):
        return SLOTS - own
    points_to_person = "people" in earlier.slots and _points_back(asked, "person")
    return frozenset({"people", "condition"}) - own if points_to_person else frozenset()


def _points_back(asked: NamedText, cue: str) -> bool:
    """Return whether a pronoun has nothing before it in the question that it may stand for."""
    for first, end in asked.cues.get(cue, ()):
        is_expletive = any(start < end <= last for start, last in asked.cues.get("expletive", ()))
        if not is_expletive and not asked.content(1, first):
            return True
    return False


def _completed(asked: NamedText, earlier: NamedText, slots: frozenset[str]) -> str | None:
    """Append what the question before names for these slots; all of it where it names nothing."""
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
    return None if earlier.names and is_subject else f"{asked.text}: {_in_passing(earlier.text)}?"


def _in_passing(text: str) -> str:
    """Write a question as it reads after a colon."""
    first = text.split(" ", 1)[0]
    return text if first[1:] != first[1:].lower() else text[:1].lower() + text[1:]
