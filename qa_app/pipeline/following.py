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
MOST_WORDS_UNSAID = 10  # "and how much of it should I take a day"
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
# What is asked of a thing that is taken or done, beside: how much of it, when, for how long.
_OF_DOING = _OF_ANYTHING | frozenset(
    """about again ago amount at before begin bother day days daily doing dosage dose doses each every expect feel feeling first frequently get go happen happens having he her him
    his how hour hours its last lasts later long many maximum minimum minutes month months need needs notice noticed notices often once one per people quickly result results same see
    seeing she show someone soon start starting stop stopping take taken takes taking time times to total twice until use using week weekly weeks what when where which while who
    why year years""".split()
)
_IF = re.compile(r"(?:what |only |especially )?if\b[^,;:.?!]+", re.IGNORECASE)
_ASKS_ITSELF = re.compile(
    rf"\b(?:{_AUX} (?:i|you|we|they|he|she|it|that|this|the|my)|{_ASKS}|(?:do|does|did|wo|ca|will|would|can)n[’']?t)\b|\b(?:i|we|you) \w+ (?:\w+ )+(?:i|we|you)\b",
    re.IGNORECASE,
)
_SIDE_EFFECTS = re.compile(
    r"(?:(?:are there |what are )?(?:any|the) )?(?:side[- ]effects?|risks?|dangers?|downsides?|drawbacks?)",
    re.IGNORECASE,
)
_HARM = re.compile(
    r"\b(?:safe\w*|danger\w*|harm\w*|risk\w*|bad|healthy|side[- ]effects?|downsides?|drawbacks?)\b", re.IGNORECASE
)
_PRONOUN = re.compile(r"(?:she|he|her|him|hers|his)", re.IGNORECASE)
_OF_HER = re.compile(
    rf"(?:(?:and|but|so|or|then|also)\s+)*(?:{_ASKS}(?:\s+\w+){{0,2}}\s+)?{_AUX}\s+(?:she|he)\b", re.IGNORECASE
)
_WITHOUT = re.compile(r"with(?:out| no| any)\b", re.IGNORECASE)
_AIM = r"(?:to (?:get|grow|build|gain|lose|become|be|improve|increase|raise|put|look|feel|stay|keep))"
_PURPOSE = re.compile(rf"(?<!for )\b{_AIM}(?:\s+(?!to\b)\w+){{0,4}}\s*$", re.IGNORECASE)
_IS_AIM = re.compile(rf"{_AIM}\b", re.IGNORECASE)
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
    if topic is None and found is None:
        found = _of_the_same_people(core, subject, concepts)
    return found if found is not None and len(found) <= LONGEST else None


def whole(question: str, understood_as: str | None) -> str:
    """The question that the next one follows: of "What about women: how much protein?" what stands after the colon, and with it whom or
    what it was about, where nothing there had to make room for that.
    """
    core = question.rstrip(" ?!.")
    tied = f"{core}: "
    if understood_as is None:
        return question
    if not understood_as.startswith(tied):
        return understood_as
    rest, named = understood_as[len(tied) :], _named_in(core)
    is_kept = not named or len(named) == len(core) or named.casefold() in rest.casefold()
    return rest if is_kept else f"{rest.rstrip(' ?!.')} ({named})?"


def is_fragment(question: str, concepts: Sequence[Concept]) -> bool:
    """Whether a question is a few words without a verb that name nothing ("and before bed?"), or may be asked of anything."""
    core = question.rstrip(" ?!.")
    is_bare = _SENTENCE.search(core) is None and not find_mentions(core, concepts)
    return is_bare or names_nothing(core, concepts)


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
        start = max(
            start, text.rfind("(", start, end) + 1
        )  # "how much should I take (creatine)" names no "take (creatine"
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
    rest = _untied(core)
    about = _ABOUT.match(rest)
    preposition = _PREPOSITION.match(rest[about.end() :] if about else rest)
    topic = _named_in(core)
    if not topic or _SENTENCE.search(topic) or len(WORD.findall(topic)) > MOST_WORDS_OF_TOPIC:
        return None
    mentions = find_mentions(topic, concepts)
    kinds = {mention.kind for mention in mentions}
    if {TREATMENT, OUTCOME} <= kinds:
        return None  # that is a question of its own
    if about or (preposition and len(WORD.findall(topic)) <= MOST_WORDS_OF_PHRASE and "," not in topic):
        return topic
    if rest != core:
        return topic if kinds else None
    covered = sum(len(WORD.findall(mention.text)) for mention in mentions)
    return topic if kinds == {PEOPLE} and covered == len(WORD.findall(topic)) else None


def _untied(core: str) -> str:
    """A question without the "and" or "ok, but" that ties it to what was said before."""
    tie = _TIE.match(core)
    return core[tie.end() :] if tie else core


def _named_in(core: str) -> str:
    """What is left of "and what about …", "for …"."""
    rest = core
    for opening in (_TIE, _ABOUT, _PREPOSITION):
        if match := opening.match(rest):
            rest = rest[match.end() :]
    return rest.strip()


def _about(core: str, topic: str, subject: str, concepts: Sequence[Concept]) -> str | None:
    """The question before with the topic in the place of what is of its kind."""
    if _WITHOUT.match(_untied(core)):  # that takes nothing's place
        return f"{core}: {_in_passing(subject)}?"
    named = find_mentions(topic, concepts)
    kinds = {mention.kind for mention in named}
    old = [mention for mention in find_mentions(subject, concepts) if mention.kind in kinds]
    if any(e.search(subject[: m.start]) for e in (_DOER, _HALF) for m in old if m.kind != PEOPLE):
        return _completed(core, subject, concepts)
    is_one = len(kinds) == 1 and CONDITION not in kinds  # "people with diabetes": the people are there already
    new = {kind: topic if is_one else " and ".join(m.text for m in named if m.kind == kind) for kind in kinds}
    if any(new[mention.kind].casefold() == mention.text.casefold() for mention in old):
        return f"{core}: {_in_passing(subject)}?"
    purpose = (
        _PURPOSE.search(subject) if kinds == {OUTCOME} and not old and topic.casefold().startswith("to ") else None
    )
    if purpose:  # "how often should I train a muscle to grow", and "to get stronger"
        return f"{core}: {_in_passing(subject[: purpose.start()] + topic)}?"
    replaced = subject
    for mention in reversed(old):
        replaced = replaced[: mention.start] + new[mention.kind] + replaced[mention.end :]
    return f"{core}: {_in_passing(replaced.removesuffix(f' ({topic})'))}?"


def _leaves_unsaid(core: str, concepts: Sequence[Concept]) -> bool:
    """Whether a sentence asks without saying what about: "how many sets?", "why?", "does it work for women?"."""
    rest = _untied(core)
    kinds = {mention.kind for mention in find_mentions(rest, concepts)}
    if {TREATMENT, OUTCOME} <= kinds:
        return False
    if _WHY_SO.fullmatch(rest):
        return True
    if _BARE.fullmatch(rest) and len(WORD.findall(_PER.sub("", rest))) <= MOST_WORDS_OF_BARE:
        return True
    if _is_a_condition(rest) or _SIDE_EFFECTS.fullmatch(rest):
        return True
    if not kinds & {TREATMENT, OUTCOME, CONDITION} and _says_no_more(rest, concepts):
        return True
    back = _POINTS_BACK.match(rest)
    return bool(back) and TREATMENT not in kinds and not _SAYS_WHAT.search(rest, back.end() if back else 0)


def _is_a_condition(rest: str) -> bool:
    """Whether it is "what if I am vegan" alone, without a question of its own."""
    is_short = len(WORD.findall(rest)) <= MOST_WORDS_UNSAID
    return is_short and _IF.fullmatch(rest) is not None and _ASKS_ITSELF.search(rest.removeprefix("what ")) is None


def _says_no_more(rest: str, concepts: Sequence[Concept]) -> bool:
    """Whether a short sentence holds, beside people, only what may be asked of anything that is taken or done."""
    said = [word.casefold() for word in WORD.findall(_unnamed(rest, find_mentions(rest, concepts)))]
    return 0 < len(said) <= MOST_WORDS_UNSAID and _OF_DOING.issuperset(said)


def _unnamed(text: str, mentions: Sequence[Mention]) -> str:
    """The text with spaces in the place of what it names."""
    left = list(text)
    for mention in mentions:
        left[mention.start : mention.end] = " " * (mention.end - mention.start)
    return "".join(left)


def names_nothing(question: str, concepts: Sequence[Concept]) -> bool:
    """Whether a question asks what may be asked of anything, and of nothing: "what dose?", "any side effects?"."""
    core = question.rstrip(" ?!.")
    rest = _untied(core)
    return bool(_SIDE_EFFECTS.fullmatch(rest)) or (
        not find_name_spans(rest, concepts) and _says_no_more(rest, concepts)
    )


def points_at_nothing(question: str, concepts: Sequence[Concept]) -> str:
    """The word by which a question that follows no other points at what it does not name: "it" of "is it safe for older people?"; else empty."""
    rest = _untied(question).rstrip(" ?!.")
    back = _POINTS_BACK.match(rest) or _WHICH.match(rest)
    if back is None or _SAYS_WHAT.search(rest, back.end()):
        return ""
    mentions = find_mentions(rest, concepts)
    said = WORD.findall(_unnamed(rest, mentions), back.end())
    says_more = any(word.casefold() not in _OF_ANYTHING for word in said)
    if says_more or any(mention.kind in {TREATMENT, CONDITION} for mention in mentions):
        return ""
    return str(_POINTER.findall(back[0])[-1]).casefold()


def _completed(core: str, subject: str, concepts: Sequence[Concept]) -> str | None:
    """The reader's question with what it does not name; the whole question before where that names nothing. Whether something is safe
    is asked of it, whatever it was for; and "what if …" is asked of what was done, whatever else is done in it.
    """
    named = find_mentions(core, concepts)
    kinds = {mention.kind for mention in named}
    before = find_mentions(subject, concepts)
    if _is_a_condition(_untied(core)):
        kinds.discard(TREATMENT)
    carried = [mention for mention in before if mention.kind not in kinds and not _PRONOUN.fullmatch(mention.text)]
    if _HARM.search(core) and any(mention.kind == TREATMENT for mention in carried):
        carried = [mention for mention in carried if mention.kind != OUTCOME]
    own = {mention.text.casefold() for mention in named}
    texts = dict.fromkeys(mention.text for mention in carried if mention.text.casefold() not in own)
    if texts:
        return f"{core} ({', '.join(texts)})?"
    return None if before else f"{core}: {_in_passing(subject)}?"


def _of_the_same_people(core: str, subject: str, concepts: Sequence[Concept]) -> str | None:
    """A question on "her" with those whom the question before names, what they have, and what "it" was; None for any other."""
    named = find_mentions(core, concepts)
    people = [mention for mention in named if mention.kind == PEOPLE]
    if not (_OF_HER.match(core) and _SOMEBODY.search(subject)) or any(not _PRONOUN.fullmatch(m.text) for m in people):
        return None
    kinds = {PEOPLE, CONDITION} | ({TREATMENT, OUTCOME} if _POINTER.search(core) else set())
    kinds -= {mention.kind for mention in named} - {PEOPLE}
    before = (mention.text for mention in find_mentions(subject, concepts) if mention.kind in kinds)
    texts = dict.fromkeys(text for text in before if not _PRONOUN.fullmatch(text))
    return f"{core} ({', '.join(texts)})?" if texts else None


# One person whom "she" or "he" may mean.
_SOMEBODY = re.compile(
    r"\b(?:my|our|she|he|her|his|him|somebody|someone|an? (?:[\w-]+ ){0,3}(?:wo)?man)\b", re.IGNORECASE
)


def _in_passing(text: str) -> str:
    """The text as it reads after a colon: a capital that only began the sentence is gone."""
    first = text.split(" ", 1)[0]
    is_plain = first[:1].isupper() and (first[1:].islower() or first == "A")
    return text[:1].lower() + text[1:] if is_plain else text
