"""Follow-up questions ("what about women?"): what they mean after the question before. Word by word, without a model.

A question that stands alone is never touched. The reader's own words always come first and whole; what they leave unsaid
is taken from the question before, but for what they replace: people by people, a treatment by a treatment, an outcome by
an outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus_app.records import Concept
from qa_app.pipeline.naming import find_name_spans
from qa_app.pipeline.population import find_group_spans
from qa_app.pipeline.text import WORD

LONGEST = 2_000  # characters of what it is understood as
MOST_WORDS_OF_TOPIC = 8
MOST_WORDS_OF_PHRASE = 5  # "in trained older women"
MOST_WORDS_OF_BARE = 4  # "how many sets", besides "per week"
PEOPLE, TREATMENT, OUTCOME, CONDITION = "people", "treatment", "outcome", "condition"
KINDS = {
    "population": PEOPLE,
    "intervention": TREATMENT, "training_variable": TREATMENT, "nutrient": TREATMENT,
    "outcome": OUTCOME, "measure": OUTCOME, "condition": CONDITION,
}  # fmt: skip

_ASKS = r"(?:how|what|which|why|when|where|who|whose|whom)"
_AUX = r"(?:is|are|was|were|do|does|did|can|could|will|would|should|shall|may|might|must|has|have|had)"
_IT = r"(?:it|that|this|they|these|those)"
_BEFORE = r"(?:for|in|with|among|of|on|about|during|after|from)"
_TIE = re.compile(r"(?:(?:ok|okay|and|but|or|so|also|then|now|well|thanks|thank you)\b[,\s]*)+", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:(?:what|how) (?:about|of)|(?:is it |is that )?(?:the )?same (?:for|in|with))\s+", re.IGNORECASE
)
_PREPOSITION = re.compile(rf"{_BEFORE}\s+(?:the\s+)?", re.IGNORECASE)
_SENTENCE = re.compile(rf"\b(?:{_ASKS}|{_AUX}|isn't|aren't|don't|doesn't|i|you|we|if)\b", re.IGNORECASE)
_BARE = re.compile(
    r"(?:how (?:many|much|often|long|heavy|big|large|high|far|fast|soon|hard)|why|when|where|which|who)"
    rf"(?:\s+(?!(?:{_BEFORE}|to|{_AUX}|not)\b)[\w'/-]+)*",
    re.IGNORECASE,
)
_PER = re.compile(r"\s+(?:per|a|an|each|every)\s+\w+", re.IGNORECASE)
_WHY_SO = re.compile(
    rf"(?:why|how) (?:is|does|did|was|are|do) {_IT}(?: so| the case| happen| work| come)?|why not|how come",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(rf"(?:{_ASKS}(?: \w+)? )?{_AUX} (?:{_IT}|the same)\b", re.IGNORECASE)
_SAYS_WHAT = re.compile(
    r"(?<!apply )(?<!applies )\bto\b|\b(?:if|when|whether|that|how|why|what|because|\w+ing)\b", re.IGNORECASE
)  # "is it safe to …"
_WHICH = re.compile(rf"which(?: one| ones| of (?:them|these|those))?(?= (?:{_AUX}|works?|helps?)\b)", re.IGNORECASE)
_POINTER = re.compile(rf"\b(?:which|{_IT})\b", re.IGNORECASE)
# What is asked of a thing, whatever it is: "is it safe", "does it really work".
_OF_ANYTHING = frozenset(
    """a all also actually an and any anything better best worse worst bad beneficial build builds cause causes change dangerous different do does effective enough even
    fine for from good great harmful have has help helped helpful helps healthy hurt improve in increase just less make makes matter matters more most much necessary needed of ok okay
    on or raise really recommended reduce risky safe safely safer something still that the then there too true useful useless well with work working works worth worthwhile
    is are was were did can could will would should shall may might must be been being i me my we our you your us it this these those they them""".split()
)
_DOER = re.compile(rf"\b(?:to|i|you|we|they|he|she|{_AUX}|not)\s+$", re.IGNORECASE)  # what follows is done, no thing
_HALF = re.compile(r"\b(?:or|and|vs\.?|versus)\s+$", re.IGNORECASE)  # "light or …" says the rest of it
_ASKING = re.compile(rf"(?:{_ASKS}(?:\s+(?:much|many|often|long|heavy|big|large))?|the|my|your)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a text names people, a treatment or an outcome: code points, end exclusive."""

    start: int
    end: int
    kind: str
    text: str


def follow(question: str, before: str, concepts: Sequence[Concept]) -> str | None:
    """What `question` is understood as after the question `before`; None where it stands alone.

    `before` is itself whole: see `whole` for a question that followed another one. Both are cleaned.
    """
    core, subject = question.rstrip(" ?!."), before.rstrip(" ?!.")
    if not core or not subject or core.casefold() == subject.casefold():
        return None
    topic = _topic(core, concepts)
    found = _about(core, topic, subject, concepts) if topic else None
    if topic is None and _leaves_unsaid(core, concepts):
        found = _completed(core, subject, concepts)
    return found if found is not None and len(found) <= LONGEST else None


def whole(question: str, understood_as: str | None) -> str:
    """The question that the next one follows: of "What about women: how much protein?" what stands after the colon."""
    tied = question.rstrip(" ?!.") + ": "
    if understood_as is None:
        return question
    return understood_as[len(tied) :] if understood_as.startswith(tied) else understood_as


def find_mentions(text: str, concepts: Sequence[Concept]) -> tuple[Mention, ...]:
    """People, treatments and outcomes that a text names, in order. What a concept's name covers is nothing else."""
    by_concept = [
        (start, end, KINDS[concept.kind])
        for start, end, concept in find_name_spans(text, concepts)
        if concept.kind in KINDS
    ]
    spans = list(by_concept)
    for start, end in find_group_spans(text.lower()) if len(text.lower()) == len(text) else ():
        if not any(kind != PEOPLE and start < other_end and other < end for other, other_end, kind in by_concept):
            spans.append((start, end, PEOPLE))
    return tuple(_mentions(text, sorted(spans)))


def _mentions(text: str, spans: Sequence[tuple[int, int, str]]) -> Iterator[Mention]:
    """Without the words that only ask ("how much protein"); a name that is a whole question is none."""
    for begin, end, kind in _joined(text, spans):
        asking = _ASKING.match(text, begin, end)
        start = asking.end() if asking else begin
        if not _SENTENCE.search(text, start, end):
            yield Mention(start, end, kind, text[start:end])


def _joined(text: str, spans: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Overlapping spans of a kind as one, and neighbours that "and", "or" or a space joins."""
    held: tuple[int, int, str] | None = None
    for start, end, kind in spans:
        if held and held[2] == kind and (start <= held[1] or _JOINT.fullmatch(text[held[1] : start])):
            held = held[0], max(held[1], end), kind
        elif held and start < held[1]:
            continue  # another kind on the same words: the first stands
        else:
            if held:
                yield held
            held = start, end, kind
    if held:
        yield held


_JOINT = re.compile(r"\s+(?:(?:and|or|vs\.?|versus)\s+)?|\s*[,/]\s*", re.IGNORECASE)


def _topic(core: str, concepts: Sequence[Concept]) -> str | None:
    """What "what about …", "and for …" or a few words without a verb put in; None for any other question."""
    tie = _TIE.match(core)
    rest = core[tie.end() :] if tie else core
    about = _ABOUT.match(rest)
    named = rest[about.end() :] if about else rest
    preposition = _PREPOSITION.match(named)
    topic = (named[preposition.end() :] if preposition else named).strip()
    if not topic or _SENTENCE.search(topic) or len(WORD.findall(topic)) > MOST_WORDS_OF_TOPIC:
        return None
    mentions = find_mentions(topic, concepts)
    kinds = {mention.kind for mention in mentions}
    if {TREATMENT, OUTCOME} <= kinds:
        return None  # that is a question of its own
    if about or (preposition and len(WORD.findall(topic)) <= MOST_WORDS_OF_PHRASE and "," not in topic):
        return topic
    if tie:
        return topic if kinds else None
    covered = sum(len(WORD.findall(mention.text)) for mention in mentions)
    return topic if kinds == {PEOPLE} and covered == len(WORD.findall(topic)) else None


def _about(core: str, topic: str, subject: str, concepts: Sequence[Concept]) -> str | None:
    """The question before with the topic in the place of what is of its kind."""
    named = find_mentions(topic, concepts)
    kinds = {mention.kind for mention in named}
    old = [mention for mention in find_mentions(subject, concepts) if mention.kind in kinds]
    if any(e.search(subject[: m.start]) for e in (_DOER, _HALF) for m in old if m.kind != PEOPLE):
        return _completed(core, subject, concepts)
    is_one = len(kinds) == 1 and CONDITION not in kinds  # "people with diabetes": the people are there already
    new = {kind: topic if is_one else " and ".join(m.text for m in named if m.kind == kind) for kind in kinds}
    if any(new[mention.kind].casefold() == mention.text.casefold() for mention in old):
        return f"{core}: {_in_passing(subject)}?"
    replaced = subject
    for mention in reversed(old):
        replaced = replaced[: mention.start] + new[mention.kind] + replaced[mention.end :]
    return f"{core}: {_in_passing(replaced)}?"


def _leaves_unsaid(core: str, concepts: Sequence[Concept]) -> bool:
    """Whether a sentence asks without saying what about: "how many sets?", "why?", "does it work for women?"."""
    tie = _TIE.match(core)
    rest = core[tie.end() :] if tie else core
    kinds = {mention.kind for mention in find_mentions(rest, concepts)}
    if {TREATMENT, OUTCOME} <= kinds:
        return False
    if _WHY_SO.fullmatch(rest):
        return True
    if _BARE.fullmatch(rest) and len(WORD.findall(_PER.sub("", rest))) <= MOST_WORDS_OF_BARE:
        return True
    back = _POINTS_BACK.match(rest)
    return bool(back) and TREATMENT not in kinds and not _SAYS_WHAT.search(rest, back.end() if back else 0)


def points_at_nothing(question: str, concepts: Sequence[Concept]) -> str:
    """The word by which a question that follows no other points at what it does not name: "it" of "is it safe for older people?"; else empty."""
    tie = _TIE.match(question)
    rest = question[tie.end() if tie else 0 :].rstrip(" ?!.")
    back = _POINTS_BACK.match(rest) or _WHICH.match(rest)
    if back is None or _SAYS_WHAT.search(rest, back.end()):
        return ""
    mentions = find_mentions(rest, concepts)
    unnamed = list(rest)
    for mention in mentions:
        unnamed[mention.start : mention.end] = " " * (mention.end - mention.start)
    says_more = any(word.casefold() not in _OF_ANYTHING for word in WORD.findall("".join(unnamed), back.end()))
    if says_more or any(mention.kind in {TREATMENT, CONDITION} for mention in mentions):
        return ""
    return str(_POINTER.findall(back[0])[-1]).casefold()


def _completed(core: str, subject: str, concepts: Sequence[Concept]) -> str | None:
    """The reader's question with what it does not name; the whole question before where that names nothing."""
    kinds = {mention.kind for mention in find_mentions(core, concepts)}
    before = find_mentions(subject, concepts)
    carried = dict.fromkeys(mention.text for mention in before if mention.kind not in kinds)
    if carried:
        return f"{core} ({', '.join(carried)})?"
    return None if before else f"{core}: {_in_passing(subject)}?"


def _in_passing(text: str) -> str:
    """The text as it reads after a colon: a capital that only began the sentence is gone."""
    first = text.split(" ", 1)[0]
    is_plain = first[:1].isupper() and (first[1:].islower() or first == "A")
    return text[:1].lower() + text[1:] if is_plain else text
