"""What a question names beside its subject, by its words: what something is compared or combined with, who has what, for how long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from qa_app.pipeline.population import HAVE_TRAINED, find_group_spans
from qa_app.pipeline.text import EMPTY_WORDS, folded, stem, words


class Kind(StrEnum):
    OTHER = "other"
    """What it is compared, joined or combined with; a condition that people have."""
    EQUAL = "equal"
    """What is held equal between two sides."""
    LONG = "long"
    """A long time."""


@dataclass(frozen=True, slots=True)
class Qualifier:
    kind: Kind
    text: str
    """As the question has it, in lower case and without accents."""


MOST_WORDS = 3
_STOP = (
    r"(?:for|in|on|at|with|when|while|if|during|to|after|before|over|under|than|as|and|or|but|is|are|was|were|do|does|did|can|could|will|would|should|"
    r"among|per|vs|versus|compared|by|of|from|that|which|who|because|since|so|then|how|what|why|instead|without|works?|helps?|better|best|worse|more|less|"
    r"faster|sooner|longer|equally|too|also|either|alone|matters?|differ|gives?|makes?|builds?|lead|improves?|only|use[ds]?|taken|combined|each|every|any)"
)
_PHRASE = rf"((?:(?!{_STOP}\b)[a-z][\w'-]*(?![\w'-])\s?){{1,{MOST_WORDS}}})"
_OTHER = (
    re.compile(rf"\b(?:than|versus|vs\.?|compared (?:with|to)|instead of)\s+(?:with |a |an |the |just |plain |doing |taking |using )?{_PHRASE}"),
    re.compile(
        rf"\b(?:(?:combined|together|taken|mixed|paired|stacked|done|alongside|used) with|on top of|alongside)\s+(?:a |an |the |some |doing )?{_PHRASE}"
    ),
    re.compile(
        r"\b(?:people|patients|adults|men|women|those|someone|athletes|lifters|anyone) (?:with|after|recovering from|who have|who had|suffering from|on)\s+"
        rf"(?:a |an |the |chronic )?{_PHRASE}"
    ),
    re.compile(r"\b(?:right |straight |just |soon )?((?:after|before|with|between) (?:my |your |a |each |every |the )?(?:breakfast|lunch|dinner|supper|meals?))\b"),
    re.compile(r"\b(?:in|for|among)\s+((?:[a-z][\w'-]*\s){1,2}(?:users|patients|survivors|players|workers|drivers|soldiers|recipients|sufferers|carriers))\b"),
)  # fmt: skip
_JOINED = re.compile(
    rf"\b(?:and|or|plus)\s+(?:(?:improves?|reduces?|lowers?|raises?|boosts?|prevents?|help) )?(?:a |an |the |my |your )?{_PHRASE}(?=\s*(?:$|[?.,;]|(?:in|for|with|among|better|when|work|works)\b))"
)
_BEFORE_JOINT = re.compile(rf"(?:^|\b(?:does|do|is|are|can|will|should|would)\s+){_PHRASE}(?:and|or)\s+$")
_EQUAL = (
    re.compile(
        r"\b(?:with|at|when|for|under|if|on|of)\s+(?:the )?(?:equal|equated|matched|identical|same|similar)\s+(?!(?:time|moment)\b(?! (?:under tension|per)\b))((?:total |weekly |daily )*[a-z]+)"
    ),
    re.compile(
        r"\b(?:when|if|with|while)\s+((?:total |weekly |daily |training )*[a-z]+) (?:is |are |was |were |being )?(?:equal|equated|matched|identical|held constant|controlled|the same)\b"
    ),
)
_LONG = re.compile(
    r"\blong[- ]term\b|\blifelong\b|\b(?:over|after|for|within)\s+(?:many|several|\w+)?\s?(?:years|decades)\b(?! (?:old|of age))"
)
# Food that stays as it is, told beside the question: "if I don't change what I eat", "without changing my diet", "on the same diet".
_FOOD = r"(?:(?:daily |usual |normal |total )?(?:diets?|foods?|meals|calories|(?:food |calorie |energy )?intake|nutrition|eating(?: habits)?)|what (?:(?:i|you|we|they|he|she)(?:['’]?m|['’]?re)? )?(?:(?:am|are|is|usually|normally) )?eat(?:s|ing)?)"
_BESIDE = r"(?<!happens )(?<!what )(?<!worry )(?<!stop )(?<!matter )(?<!ok )(?<!okay )(?<!bad )(?<!fine )(?:if|when|while|whilst|as long as|even if|even though|but|and)"
_WHO = r"(?:i|you|we|they|he|she|people|someone)"
_WHOSE = r"(?:(?:my|your|our|their|his|her|the|any) )?"
_NEVER = r"(?:(?:do|does|did|wo|ca|would|could|have|has|is|are|am|i['’]?m)(?:n['’]?t| not)|never|['’]m not)"
_KEPT_FOOD = re.compile(
    rf"\b{_BESIDE} {_WHO}(?: {_NEVER}|['’]?m not) (?:(?:really|actually|even|also) )?(?:chang|alter|adjust|touch|watch)\w* (?:anything (?:about|in) )?{_WHOSE}{_FOOD}\b"
    rf"|\b(?:without|w/o|not) (?:(?:really|actually|even|also) )?(?:changing|altering|adjusting|touching|watching) (?:anything (?:about|in) )?{_WHOSE}{_FOOD}\b(?! (?:bad|good|ok|okay|fine)\b)"
    rf"|\b(?:with|on|at|(?<!is )(?<!does )eating) the same {_FOOD}\b(?! every)|\bwith(?:out| no) (?:a |any )?changes? (?:in|of|to) {_WHOSE}{_FOOD}\b"
    rf"|\b{_BESIDE} {_WHO} (?:just )?(?:keep|eat)s? (?:(?:{_WHOSE}{_FOOD}|eating) )?(?:exactly )?(?:the same|as it is|as they are|unchanged|as usual|as normal|normally|as (?:{_WHO} )?(?:always|before))\b"
    rf"|(?<!is )(?<!does )(?<!be )\b(?:keeping|eating) {_WHOSE}(?:{_FOOD} )?(?:exactly )?(?:the same|constant|as it is|as they are|unchanged|as usual)\b(?! (?:diet|every|meals|foods?)\b)"
    rf"|\b{_BESIDE} {_WHOSE}{_FOOD} (?:stays?|is|are|remains?|is kept|are kept) (?:exactly )?(?:the same|unchanged|as (?:it is|they are))\b",
    re.IGNORECASE,
)
_HAVE_TRAINED = re.compile(HAVE_TRAINED)
_WORK = r"(?:meta-?\s?analys[ei]s|meta|reviews?|trials?|stud(?:y|ies)|papers?|analys[ei]s|position stands?|statements?|guidelines?|articles?)"
_SCIENCE = rf"(?:{_WORK}|research|evidence|science|knowledge|consensus|findings?)"
_NEWEST = re.compile(
    rf"\b(?:(?<!my )(?<!your )(?:newest|latest|most recent|up[- ]to[- ]date|new|recent|current) (?:(?!to\b)\w+ ){{0,2}}?{_SCIENCE}|(?:newest|latest|most recent) (?:on|about)|"
    r"(?:most )?recently (?:published|found)|(?:published|found) (?:most )?recently)\b",
    re.IGNORECASE,
)
# What says that four digits are an amount, or the begin of a span of years.
_AMOUNT = (
    r"(?!\)? ?(?:[-–]|to\b|or\b|and\b|k?cal|calories|iu\b|mg|g\b|ml|people|men|women|adults|participants|subjects))"
)
_YEAR_OF = rf"((?:19|20)\d\d)(?![\d.,]*\d){_AMOUNT}"
_YEAR = re.compile(
    rf"(?<!since )(?<!after )(?<!before )(?<!until )(?<!from )\b{_YEAR_OF}(?:'s)? (?:(?!in\b|ha(?:s|ve)\b|di?d?o?\b)[a-z][\w-]* ){{0,3}}?{_WORK}\b"
    rf"|\b{_WORK} (?:(?:published |by \w+ )?(?:from |of |in )?)?\(?{_YEAR_OF}"
    rf"|(?:\bet al\.?,? |\bcolleagues,? )\(?{_YEAR_OF}",
    re.IGNORECASE,
)
# Words that begin no name of a thing: what people say of themselves, and how something is.
_NO_NAME = frozenset(
    """feel look stay get be become live sleep eat train lift run avoid keep gain lose burn maintain cut drop grow recover perform go have take drink start
    stop good bad worth safe harmful useful useless enough right wrong fine ok okay okay really just actually maybe else most least usual normal now later
    longer before fast slow high low big small heavy light large hard easy young old new strong weak fewer other others ones one two three four five six
    seven eight nine ten twelve i me him us them you he she they we mine yours both none nothing anything everything something someone no not never always often""".split()
)
_MEALS = frozenset(stem(word) for word in "meal meals breakfast lunch dinner supper".split())  # one word for another
_GENERIC = frozenset(
    stem(word)
    for word in """training exercise exercises workout workouts program programme diet diets supplement supplements therapy treatment disease condition users
    patients people health healthy growth muscle powder drink group groups level levels type types kind
    little low high less more few small big much many""".split()
)


def find_qualifiers(question: str, mentions: Sequence[tuple[int, int]]) -> tuple[Qualifier, ...]:
    """What the question names, each once, in order of kind; `mentions` are where it names concepts, as code points of it.

    A word that "and" or "or" joins counts only beside a concept: "creatine or beta-alanine", but not "good or bad". Years of which
    somebody says that they have "been training for years" are who asks.
    """
    said = question.lower()
    if len(said) != len(question):
        return ()
    found = [Qualifier(Kind.OTHER, text) for text in _others(said, mentions)]
    equals = (match[1].strip() for expression in _EQUAL for match in expression.finditer(said))
    found += [Qualifier(Kind.EQUAL, text) for text in equals if text.split()[-1] not in EMPTY_WORDS]  # "the same thing"
    experienced = [(start, end) for start, end in find_group_spans(said) if _HAVE_TRAINED.match(said, start)]
    long = (
        m for m in _LONG.finditer(said) if not any(start < m.end() and m.start() < end for start, end in experienced)
    )
    found += [Qualifier(Kind.LONG, match.group().strip()) for match in long][:1]
    return tuple(dict.fromkeys(found))


def _others(said: str, mentions: Sequence[tuple[int, int]]) -> Iterator[str]:
    for expression in _OTHER:
        for match in expression.finditer(said):
            yield from _named(match[1])
    for match in _JOINED.finditer(said):
        if any(said[end : match.start()].strip() == "" for _, end in mentions if end <= match.start()):
            yield from _named(match[1])
    for start, _ in mentions:
        match_before = _BEFORE_JOINT.search(said[:start])
        if match_before:
            yield from _named(match_before[1])


def _named(phrase: str) -> Iterator[str]:
    text = phrase.strip(" '-")
    first, *others = words(text) or [""]
    is_doing = first.endswith("ing") and bool(others)  # "keeping muscle" says what is done, not with what
    if first and first not in _NO_NAME and not is_doing:
        yield text


# What only somebody who sells can tell: which brand, where it can be bought, what it costs.
_OF_TRADE = re.compile(
    r"\b(?:which|what|whose|best|good|any|recommended) (?:[\w'-]+ ){0,3}?(?P<brand>brands?|retailers?)(?![- ](?:new|names?))\b|\b(?P<brand_of>brands?) (?:of|is|are|should|do|does|to|matters?)\b"
    r"|\bwhere (?:can|do|should|could|would|shall) (?:i|you|we|he|she|they|one) (?:best |safely )?(?P<buy>buy|purchase|order)\b|\bwhere to (?P<to_buy>buy|purchase)\b"
    r"|\b(?:which|what) (?:[\w'-]+ ){1,3}?(?:should|can|do|shall) (?:i|you|we|he|she|they) (?P<should_buy>buy)\b|\b(?:which|what) (?:[\w'-]+ ){1,3}?to (?P<which_to_buy>buy)\b"
    r"|\b(?:how much|what) (?:do|does|would|will) (?:[\w'-]+ ){1,4}?(?P<cost>cost)(?=\s*(?:[?.,]|$))|\bhow (?P<expensive>expensive)\b|\b(?P<cheapest>cheapest)\b"
    r"|\b(?:what is|what['’]s|how high is) the (?P<price>price) of\b(?! \w+ing\b)",
    re.IGNORECASE,
)


def find_trade(question: str) -> tuple[str, ...]:
    """The words by which a question asks for a brand, which or where to buy, or what it costs."""
    return tuple(dict.fromkeys(word for match in _OF_TRADE.finditer(question) for word in match.groups() if word))


def asks_for_newest(question: str) -> bool:
    return _NEWEST.search(question) is not None


def find_years(question: str) -> frozenset[int]:
    """Years of studies that the question names: "the 2017 meta-analysis", "a trial from 2016", "Morton et al. (2018)"."""
    return frozenset(int(year) for match in _YEAR.finditer(question) for year in match.groups() if year)


def keeps_food(question: str) -> bool:
    """Whether people are asked about who eat as before: "if I don't change what I eat"."""
    return _KEPT_FOOD.search(question) is not None


def is_of_dieting(text: str) -> bool:
    """Whether a text speaks of people on a diet."""
    return _DIETING.search(text) is not None


_DIETING = re.compile(
    r"\b(?:dieting|dieted|dieters|on (?:an? |the )?(?:[\w-]+ ){0,3}diets?|added to (?:an? |the )?diet|hypocaloric|(?:high|low)er?-\w+ diets?)\b"
    r"|(?<!without )(?<!no )\b(?:caloric|calorie|energy|dietary)[- ](?:restrict\w+|deficit)|\bweight[- ]loss (?:programme|program|diet)",
    re.IGNORECASE,
)


def besides_kept_food(question: str) -> str:
    """The question without what it says of food only to leave that as it is: "if I don't change what I eat"."""
    return _KEPT_FOOD.sub(" ", question)


def telling_stems(text: str) -> frozenset[str]:
    """Stems of the words of a qualifier that say which one it is: without everyday and general ones."""
    telling = (
        frozenset(
            stem(word) for word in words(folded(text)) if word not in EMPTY_WORDS | _NO_NAME and not word.isdigit()
        )
        - _GENERIC
    )
    return telling | _MEALS if telling & _MEALS else telling
