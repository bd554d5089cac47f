"""Whether a sentence stands alone, and what it needs where it does not: the one before it, or the study's title.

Read from the words alone, without a parser: what points back (a pronoun, `this effect`, `the former`, `however`), what is left unsaid
(`did not differ.`, `rose by 3 kg more.`, `Most were men.`), and what is missing at the beginning (`fell to 3 kg`). What a sentence
points at may stand in itself, in an earlier clause: `Strength rose by a third, but that gain was lost` needs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class Need(StrEnum):
    NOTHING = "nothing"
    BEFORE = "before"
    """The sentence before it says what it speaks of."""
    HEADING = "heading"
    """It says enough beside the title of its study, which stands at every citation."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a sentence needs, and the words that show it; no words where it stands alone."""

    need: Need
    words: str = ""


ALONE = Standing(Need.NOTHING)
MOST_JOINED = 2  # sentences; what hangs on more would be quoted for the sake of its introduction
LONGEST_READ = 1_000  # characters of a sentence
SHORTEST_CLAUSE = 3  # words, from which a clause can hold what a later one points at


def find_first(sentences: Sequence[str], position: int, title: str = "") -> int | None:
    """Where a quotation of the sentence has to begin: at itself, or at the one before it; None where it hangs even so.

    `sentences` are a passage's, in order, `title` that of its study.
    """
    first = position
    while hangs(sentences, first, title):
        first -= 1
        if first < 0 or position - first >= MOST_JOINED:
            return None
    return first


def hangs(sentences: Sequence[str], position: int, title: str = "") -> bool:
    """Whether a sentence of a passage needs the one before it; also the first one may, which has none."""
    text = sentences[position]
    if read(text).need is Need.BEFORE:
        return True
    if position == 0:
        return False
    before = sentences[position - 1]
    return is_nameless(text) or _is_unspelt(text, before, title) or _is_of_the_trial(text, before)


@lru_cache(maxsize=16_384)
def is_nameless(text: str) -> bool:
    """Whether somebody speaks in it whom it does not name: `the authors advised`, `so they say that`. Beside the words of another
    study it would seem to be that one's people.
    """
    speaker = _SPEAKS.search(text)
    return speaker is not None and not _NAMED.search(text, 0, speaker.start())


def _is_of_the_trial(text: str, before: str) -> bool:
    """Whether the sentence before brings up one trial among others, and this one goes on with its figures: `One trial compared ... Weight
    loss was 5.7 kg.` would seem to be of all.
    """
    return bool(_ONE_TRIAL.match(before) and _DIGIT.search(text) and not _WORK_NAMED.search(text))


def _is_unspelt(text: str, before: str, title: str) -> bool:
    """Whether it holds an abbreviation that only the sentence before spells out: `blood flow restriction (BFR)`."""
    spelt = set(_SPELT.findall(before)) - set(_SPELT.findall(text))
    return any(short not in title for short in spelt.intersection(_ABBREVIATION.findall(text)))


@lru_cache(maxsize=16_384)
def read(text: str) -> Standing:
    """What one sentence needs, as far as its own words show."""
    text = text[:LONGEST_READ]
    opening = _OPENS.match(text) or _FRAGMENT.match(text) or _SUBJECT_BACK.match(text)
    if opening is None and _TIES.search(text):
        opening = _FOLLOWS_FROM.match(text)
    words = opening.group().strip() if opening else _find_pointer(text) or _find_nobody(text) or _find_unsaid(text)
    if words:
        return Standing(Need.BEFORE, words)
    heading = _SPEAKER.match(text) or _OF_THE_STUDY.match(text)
    return Standing(Need.HEADING, heading.group().strip()) if heading else ALONE


_ONE_TRIAL = re.compile(
    r"(?:(?:In|For example, in|By contrast, in) )?(?:[Aa]n?|[Oo]ne|[Aa]nother) (?:(?!(?:of|in|without|reviews?|analys[ei]s|total|effect)\b|meta|systematic|scoping|network|umbrella)[\w-]+ ){0,4}?"
    r"(?:trial|study|experiment|cohort)\b(?! (?:arms?|quality|duration|length|design|groups?|registers?|data|protocol)\b)"
)
_DIGIT = re.compile(r"\d")
_WORK_NAMED = re.compile(
    r"\b(?:trials?|stud(?:y|ies)|reviews?|meta-analys[ei]s|cohorts?|colleagues|authors?)\b", re.IGNORECASE
)

# --- How a sentence opens ---------------------------------------------------------------------------------------------

_VERB = (
    r"(?:is|are|was|were|be|been|has|have|had|do|does|did|can|could|may|might|will|would|should|must|fell|rose|gave|remained?|became|"
    r"disappeared|showed|found|reported|increased|decreased|improved|differed|began|led|came|stayed|held|applied|applies)"
)
_NUMERAL = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_SAYS = (
    r"(?:attribut|consider|suggest|not(?:ed|es?)\b|argu|conclud|th(?:ink|ought)|propos|recommend|advis|hypothesi[sz]|judg|found|report|suspect|"
    r"believ|call|saw\b|writ|wrote|warn|caution|stress|point|state|discuss|examin|compar|includ|cover|reject|acknowledg|ask|add|say)\w*"
)
# What is the study itself, which the citation names: "this trial", "these results suggest that ...".
_OWN = (
    r" (?:(?:[\w-]+ ){0,4}?(?:study|trial|review|meta-analysis|paper|article|position stand|statement|report|guideline|investigation|experiment|cohort|work)\b"
    r"|(?:data|findings|results|observations|analyses|studies|trials) (?:\w+ )?(?:suggest|indicat|demonstrat|show|impl|support|provid|reveal|establish|confirm|highlight)\w*)"
)
# "It is unclear whether ..." points at nothing.
_IMPERSONAL = (
    r" (?:is|was|may be|might be|remain(?:s|ed)|seem(?:s|ed)|appear(?:s|ed)|became) (?:(?:not|still|also|very|therefore|thus|now|well) )*"
    r"[\w-]+ (?:that|whether|to (?!older|young|people|women|men|adults|those)|how|if|why|which|what)"
)
_THOSE_WHO = r" (?:who|whose|with|without|aged|in|at|from|of|taking|doing|under|over|on|already|not|new)\b"
_INTRODUCTION = re.compile(
    r"(?:in|after|for|with|on|at|by|from|among|without|during|within|under|across|over|before|compared|using|to|controlling|adjusting|through|"
    r"throughout|until|once|despite|given|taken|averaged|expressed|measured|overall)\b[^,.;:]*,\s",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"(?:because|although|since|while|whereas|as|if|when|though|unless)\b[^,.;:]*,\s", re.IGNORECASE
)
_OPENS = re.compile(
    "|".join(
        (
            # a word that ties a sentence to the one before it
            r"(?:however|but|and|or|nor|yet|still|so|also|instead(?! of)|otherwise|moreover|furthermore|additionally|therefore|thus|hence|consequently|"
            r"accordingly|nevertheless|nonetheless|similarly|likewise|conversely|meanwhile|rather(?! than)|besides|again|then|thereafter|afterwards|here|even so|"
            r"that said|in (?:contrast|addition)(?! (?:to|with))|in (?:turn|other words|particular|that case|fact)|by (?:contrast|comparison)(?! with)|as a (?:result|consequence)|"
            r"on the (?:other hand|contrary|one hand)|at the same time|for (?:example|instance|this reason))\b",
            # who or what was named there
            rf"it\b(?!{_IMPERSONAL})|(?:this|these)\b(?!{_OWN})|those\b(?!{_THOSE_WHO})|(?:he|she|its|they|their|them|his|her|such)\b",
            r"(?:of|among|between|in|with|by|on|from|for|after|at|to|under|during|when|like|unlike|despite|given|using|beyond|per|because of|according to) "
            rf"(?:(?:this|these)\b(?!{_OWN})|(?:those|that)\b(?!{_THOSE_WHO})|(?:them|it|the (?:two|three|former|latter|other|others|same))\b"
            r"|(?:its|their|his|her)\b(?![^,]*, (?-i:[A-Z])))",
            r"(?:another|others|the (?:others?|former|latter|rest|remainder|reverse|opposite|same|two|three|corresponding|remaining))\b",
            # how many of them
            rf"(?:{_NUMERAL}|some|most|many|several|few|all|none|both|neither|either|each|half|\d+)"
            rf"(?: of (?:them|these|those|the (?:two|three))\b| (?:also |only )?(?=(?:{_VERB}|used|lasted|tested|took)\b)(?!ha(?:ve|s)\b))",
            rf"only (?:{_NUMERAL}|a few|some)(?= (?:of (?:them|these|those)|did|was|were|showed|reported|found)\b)",
        )
    ),
    re.IGNORECASE,
)
_FOLLOWS_FROM = re.compile(
    r"(?:[\w-]+ ){1,4}(?:(?:was|were|is|are) (?:therefore|thus|hence|however|instead)|(?:may|might|could|can) instead)\b",
    re.IGNORECASE,
)
_TIES = re.compile(r" (?:therefore|thus|hence|however|instead)\b")
# Who speaks in the sentence before, or else the study itself.
_SPEAKER_WORDS = r"(?:authors?|reviewers?|researchers|investigators|writers|panel)"
_SPEAKS = re.compile(
    rf"\b(?:(?:the|these|its|both) {_SPEAKER_WORDS}\b(?! of\b)|(?:they|he|she) (?:also )?(?:say|said|suggest|conclude|recommend|advise|"
    r"caution|note|argue|regard|consider|propose|warn|call|stress|see|place|expect|point)(?:e?[ds])?\b"
    r"|(?:by|in) (?:their|his|her) (?:own )?(?:estimates?|views?|opinion|judge?ment|calculations?|words|reading|experience)\b)",
    re.IGNORECASE,
)
# Who was named before: a surname with its company, or what the authors are those of.
_NAMED = re.compile(
    r"\b[A-Z][\w’'-]+(?:, [A-Z][\w’'-]+)* and (?:colleagues|[A-Z][\w’'-]+)|\b(?:the|this) [^.;]{0,60}\b(?:meta-analys[ie]s|review|trial|study|stand|statement)\b|\b[A-Z][a-z]+ \(\d{4}\)"
)
_SPEAKER = re.compile(rf"the {_SPEAKER_WORDS}\b(?! of\b)", re.IGNORECASE)
# A verb with nobody before it, or the middle of a sentence.
_FRAGMENT = re.compile(
    r"(?:[Ff]ell|[Rr]ose|[Ww]as|[Ww]ere|[Dd]id|[Hh]ad|[Gg]ave|[Ss]howed|[Dd]ropped|[Gg]ained|[Ll]ed|[Rr]esulted|[Rr]emained|[Ff]ound)\b[^?]*$"
    r"|(?:than|which|whose|whereas|while|and|or|of|with|to|in|by|compared)\b"
)
_SUBJECT_BACK = re.compile(
    "|".join(
        (
            # a pronoun, after where or when it was
            rf"(?:in|after|with|among|for|at|during|over|on|by|within|under|without)\b[^.;:,]{{0,80}}?,?\s(?:it(?!{_IMPERSONAL})|they|he|she)\s",
            # or that says something, and nobody was named who could
            rf"(?:because|although|since|while|as|if|when|to|though|given)\b[^.;:]*,\s(?:it|they|he|she)\s(?:also |therefore |thus |then )?{_SAYS}",
            # a figure of something that is not said
            r"(?:the )?(?:statistical |between-study )?(?:heterogeneity|(?:confidence |credible |prediction )?intervals?|certainty|p[- ]values?|estimates?|"
            r"publication bias)(?: of (?:the )?evidence)?(?: (?:for|of) (?:both|all|either) \w+)? (?:was|were|is|are|remained)\b",
            # or that stands for nothing but itself
            r"(?:values|scores|readings)\b(?! (?:of|for|on|in)\b)",
            r"the (?:overall |pooled |combined |main )?(?:comparison|analysis|contrast|estimate)s?\b[^.;,]{0,80} (?:gave|was|were|yielded) [−–-]?\d[\d.]*(?=\s*[(,;.])",
        )
    ),
    re.IGNORECASE,
)

# --- What points back -------------------------------------------------------------------------------------------------

_THING = (
    r"(?:effects?|differences?|results?|findings?|estimates?|benefits?|gains?|changes?|analys[ie]s|comparisons?|contrasts?|advantages?|disadvantages?|"
    r"gaps?|associations?|relationships?|relations?|explanations?|hypothes[ie]s|reasons?|ideas?|claims?|questions?|increases?|decreases?|reductions?|"
    r"improvements?|rises?|falls?|loss(?:es)?|trends?|patterns?|interactions?|correlations?|outcomes?|figures?|responses?|drops?|smd|md|effect sizes?)"
)
_SIZE = (
    r"(?:(?:overall|pooled|mean|average|small|large|larger|smaller|combined|observed|[a-z]+-level|extra|added|main|first|second|total|remaining|apparent|"
    r"early|modest|trivial|slight|relative|absolute|estimated|reported|original|whole|net|final|new|above|only) ){0,2}"
)
_AFTER = r"(?:(?<= (?:of|in|to|by|on|at) )|(?<= for )|(?<= (?:with|from) )|(?<= (?:after|under) ))"
_GROUP = (
    r"(?:groups?|arms?|conditions?|diets?|programmes?|programs?|loads?|methods?|doses?|timings?|cases?|ways?|modes?)"
)
_POINTS = re.compile(
    r"\b(?:the|th[oe]se|th(?:is|at)|such|both|n?either|no|respectively)\b|, (?:however|therefore|thus|in contrast|by contrast|instead|on the other hand|conversely),"
)
_POINTER = re.compile(
    "|".join(
        (
            # a thing that was named before, with nothing after it that says which
            rf"(?P<thing>the {_SIZE}{_THING}(?= (?:{_VERB}|then|also|no longer|itself|alone)\b|\s*[.;,)]|\s*\(|$))",
            rf"(?P<this>(?:this|these)\b(?!{_OWN})(?: (?!is\b|are\b|was\b|were\b|century|year|day|way\b)[\w-]+|(?= \w))|such (?!as\b|an?\b)[\w-]+)",
            rf"(?P<that>(?:{_AFTER}that|those) (?:{_THING}|{_GROUP}|trials?|stud(?:y|ies)|reviews?|people|women|men|adults|approach|level|point|time)\b)",
            rf"(?P<groups>(?:both|either|neither|the two|the other) {_GROUP}\b)",
            r"(?P<two>both(?! (?:[a-z-]+ ){0,6}?(?:and|or)\b)(?= [\w-]+)|(?:the|these|those) (?:two|three)\b(?: [\w-]+)?|either one\b"
            r"|neither (?:effect|of|one|did|was)\b(?! (?:\w+ ){0,6}nor\b)|the (?:latter|former|other|others|opposite|reverse|rest)\b(?: [\w-]+)?"
            r"|(?:no|the) corresponding \w+|respectively\b)",
            r"(?P<same>the same (?:pattern|picture|results?|trend|conclusions?|trials?|stud(?:y|ies)|review|authors?|data|direction|effects?|finding|responses?|team|"
            r"analysis|protocol|comparison|was|held|applie[sd]|is|way)\b(?! as\b))",
            r"(?P<one>the [a-z-]+ ones?\b(?! (?:who|that|which|of|with)\b))",
            r"(?P<tie>, .*,)",
        )
    )
)
_ENDS = re.compile(
    r"[;:—]|,\s(?:but|and|so|whereas|while|which|although|though|yet|because)\s|\s(?:but|whereas|although|though)\s",
    re.IGNORECASE,
)
_SIDES = re.compile(r"\b(?:or|than|versus|vs|against|without|between|compared|men|women)\b|/", re.IGNORECASE)
_PAIR = re.compile(rf"{_SIDES.pattern}|\b(?:and|with|from)\b", re.IGNORECASE)
_EACH = re.compile(r"\b(?:all|each|every|both|two)\b", re.IGNORECASE)
_ALL = re.compile(rf"{_PAIR.pattern}|{_EACH.pattern}|\ban?\b", re.IGNORECASE)
_HELD_BY = {"groups": _SIDES, "two": _PAIR, "same": _ALL, "one": _ALL}
_FOLLOWS = re.compile(r"\b(?:followed|gave|showed|confirmed|told|leaned|pointed|went|moved) $")
_PERSON = re.compile(r"\b(?:he|she|his|her)\b")
_SOMEBODY = re.compile(
    rf"(?<=[\w,;)] )[A-Z][a-z]+|^[A-Z][\w-]+(?:['’]s\b| (?:and colleagues |et al\.? |also |therefore )?{_SAYS})|\b(?:wo)?m[ae]n\b"
    r"|\b(?:person|participant|lifter|patient|author|athlete|swimmer|trainee|boy|girl|mother|father)\b"
)
_LAST_WORD = re.compile(r"\w+ $")


def _find_pointer(text: str) -> str:
    """The first words that point at what no earlier clause of the sentence holds, in lower case; empty without any."""
    said = text.lower()
    for place in _POINTS.finditer(said):
        match = _POINTER.match(said, place.start())
        if match and not _is_held(match.lastgroup or "", said[: place.start()]):
            return match.group().strip()
    lone = _LONE_OBJECT.match(text) if _OBJECT.search(said) else None
    return lone.group().split()[-1] if lone else ""


def _find_nobody(text: str) -> str:
    """`he` or `her` in a sentence that names no person; empty without one."""
    match = _PERSON.search(text)
    return match.group() if match and not _SOMEBODY.search(text) else ""


def _is_held(kind: str, before: str) -> bool:
    """Whether what is pointed at may stand before it in the sentence."""
    if kind not in _HELD_BY:
        return _holds_clause(before)
    if kind == "same" and _FOLLOWS.search(before):
        return bool(_EACH.search(before))
    return bool(_HELD_BY[kind].search(_LAST_WORD.sub("", before)))


def _holds_clause(before: str) -> bool:
    """Whether a clause is over before this place; that only says where or when something was is none."""
    subordinate, introduction = _SUBORDINATE.match(before), _INTRODUCTION.match(before)
    if subordinate:
        return True
    rest = before[introduction.end() :] if introduction else before
    return any(len(clause.split()) >= SHORTEST_CLAUSE for clause in _ENDS.split(rest)[:-1])


_OBJECT = re.compile(r" (?:it|them|him)\b")
# "Creatine may limit it": what a verb is done to is not who does it, and nothing else was named.
_BREAK = r"[;:—,]|\s(?:but|and|whereas|while|because|so|although|though|than|versus|vs|which|that|whether|if|when|how|as|or|with|against|who|where)\s"
_LONE_OBJECT = re.compile(
    rf"(?:(?!{_BREAK})[^?]){{0,90}}?\s(?:(?:it|them|him)(?=[.,;]|\s(?:from|for|in|by|with|as|at|on|to|and|or|but|further|more|less)\b)"
    r"|(?:considered|called|judged|rated|deemed|thought) (?:it|them)\b)",
    re.IGNORECASE,
)

# --- What is left unsaid ----------------------------------------------------------------------------------------------

_NUMBER = r"[−–-]?\d[\d.,]*\s?(?:%|[\w/·]+)?"
_FIGURES = re.compile(r"\s*\([^()]*\)$")
_ENDING = re.compile(
    "(?:"
    + "|".join(
        (
            r"(?P<more>(?<!or )(?<!and )(?<!no )(?<!any )(?<!once )\b(?:more|less|greater|larger|smaller|higher|lower|better|worse|further|faster|slower|bigger|"
            r"stronger|weaker))",
            r"(?P<differ>\b(?:did not (?:significantly )?differ|(?:was|were) (?:similar|alike|comparable|equal|no different|unaffected|"
            r"not different))(?: (?:significantly|statistically|clearly|either))?)",
            r"(?P<too>\b(?:either|too))",
            r"(?P<suits>\b(?:is|are|was|were|be|appeared|seemed|looked) (?:more|less) [a-z]+)",
            r"(?P<none>\b(?:there was|there were|showed|found|saw) no (?:[\w-]+ ){0,2}?differences?)",
            r"(?P<effect>\b(?:gave|had|showed|found|produced|yielded) an? (?:\w+ )?(?:effect|effect size|difference|smd) of [−–-]?\d[\d.,]*)",
        )
    )
    + ")$"
)
_LAST_WORDS = tuple(
    """more less greater larger smaller higher lower better worse further faster slower bigger stronger weaker differ either too similar alike comparable
    equal different unaffected difference differences significantly statistically clearly""".split()
)
LONGEST_ENDING = 70  # characters that it may take
_VERB_ALONE = re.compile(r"\b(?:did|does|was|were|had)(?: not)?[:.;]")
_OTHER_VERB = re.compile(r"[,;:]|\b(?:and|but|while|whereas|than|as|what|that|who|which|if|so)\b")
# An estimate became another one: in which analysis, stands before it.
_CHANGED = re.compile(
    r"\b(?:fell|dropped|shrank|declined|decreased|narrowed|rose|increased|grew|was (?:reduced|lowered|raised)) to (?:an? |the )?(?:[a-z-]+,? ){0,2}"
    r"(?:effect size|ES|SMD|WMD)\b"
)
_BY_WHAT = re.compile(
    r"^(?:with|by|in|for|as|only)\b[^,]*,|\b(?:when|after|once|if|without|because|removing|leaving|excluding|excluded|omitting|dropping|adjust\w*|"
    r"controlling|restrict\w*|limit\w*|sensitivity|subgroup|analys[ei]s)\b|\bfrom [−–-]?\d",
    re.IGNORECASE,
)
_LIST = re.compile(rf"\bby {_NUMBER} and {_NUMBER}(?=[,;.])")
_COMPARES = re.compile(
    r"\b(?:than|compared|comparing|at least|versus|vs|against|relative|between|the more|the less|if|when|as)\b"
)
_OF_WHAT = re.compile(r"\b(?:for|on|in)\b")
_NEVER = re.compile(r"(?!)")
_NAMED_BY = {
    "more": _COMPARES,
    "none": _COMPARES,
    "differ": _COMPARES,
    "effect": _OF_WHAT,
    "too": _NEVER,
    "suits": _COMPARES,
}


def _find_unsaid(text: str) -> str:
    """Words that compare without a partner, or tell of what they do not name, in lower case; empty without any."""
    said = _FIGURES.sub("", text.lower().rstrip(".; "))
    may_end = said.endswith(_LAST_WORDS) or said[-1:].isdigit() or said.rsplit(" ", 2)[-2:-1] in (["more"], ["less"])
    ending = _ENDING.search(said, max(0, len(said) - LONGEST_ENDING)) if may_end else None
    if ending:
        before = said[: ending.start()]
        if not _holds_clause(before) and not _NAMED_BY[ending.lastgroup or ""].search(before):
            return ending.group()
    alone = _VERB_ALONE.search(text)
    if alone and not _OTHER_VERB.search(text, 0, alone.start()):
        return alone.group()
    changed = _CHANGED.search(text) if " to " in text else None
    if changed and not _BY_WHAT.search(text):
        return changed.group()
    listed = _LIST.search(text) if " by " in text else None
    if listed and not _holds_clause(text[: listed.start()]) and not _PAIR.search(text[: listed.start()]):
        return listed.group()
    return ""


# --- What the title says ----------------------------------------------------------------------------------------------

_OF_THE_STUDY = re.compile(
    r"(?:(?:the|only|about|nearly|almost|a|an|total of|of the|most|some|all|many|few|several|[\w-]+) ){0,3}?(?:included |pooled |eligible )?"
    r"(?:trials?|studies|participants|subjects|databases|groups?|programmes?|programs?|interventions?|review|meta-analysis|quality|doses?|"
    r"effect sizes?|findings|results|effects|scores|supplementation|risk of bias|sex differences)\b(?! (?:of|on|in|between|with|by) )",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"\b[A-Z][A-Za-z]*[A-Z]\b")
_SPELT = re.compile(r"(?<=[a-z]) \(([A-Z][A-Za-z]*[A-Z])s?\)")
