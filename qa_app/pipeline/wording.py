"""How a sentence sounds: whether it tells, advises, explains or only talks about the literature."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from qa_app.pipeline.text import content_stems

# Talk about the literature instead of an answer: what was not studied, what should be.
ASIDE = re.compile(
    r"\b(?:did not (?:study|examine|test|report|assess|address)|was not (?:studied|examined|tested|assessed)|were not (?:studied|examined|tested|assessed)|"
    r"(?:more|further|future) (?:research|studies|trials|work)|discuss(?:es|ed)? (?:why|how)|called? for|even (?:more|greater|less|smaller)|"
    r"asked (?:whether|how|if)|aimed to|set out to|reviewed the literature|w(?:as|ere) (?:pooled|rated|searched|included)|included (?:randomi[sz]ed|studies|trials)|"
    r"expecting|hypothesi[sz]ed|expected|have proposed|could not be (?:compared|separated|settled|judged|told)|remained? to be|is not known|was not known|remain(?:s|ed) unknown|had not been (?:studied|tested|reported)|"
    r"(?:trials|studies|research)\b[^.;]{0,60}\b(?:is|are|was|were) needed|wanted (?:more|further))\b",
    re.IGNORECASE,
)
# What was looked for and how: no answer to anything but that.
AIM = re.compile(
    r"\b(?:(?:asked,?|tested|examined|investigated) (?:whether|how|if|which|what|from)|to (?:find out|see|test|learn|determine) (?:whether|how|if|which|what)|aimed to|set out to|"
    r"(?:was|were) (?:examined|investigated|compared) (?:for|in|by|with)|searched (?:\w+ ){0,3}databases|were (?:searched|analysed) (?:by|for|as|with)|"
    r"therefore (?:measured|tested|examined|assessed|studied)|(?:measured|assessed|evaluated) the (?:effects?|impact|influence) of(?!.*\b(?:found|showed|rose|fell|increased|improved)\b)|"
    r"did not (?:study|examine|test|assess|address) (?:why|how|whether)|offered reasons|reviewed the literature|is well studied|have been proposed to)\b",
    re.IGNORECASE,
)
# How sure a pooled figure is, or what was measured: nobody asked, unless the question is about limits or methods.
MINUTIAE = re.compile(
    r"(?:the |an? )?(?:\w+ ){0,2}(?:heterogeneity|certainty|trim-and-fill|funnel plots?|sensitivity analys[ie]s|publication bias|risk of bias)\b"
    r"|(?:\w+ ){0,4}(?:studies|trials) (?:\w+ ){0,6}(?:reported|measured) ",
    re.IGNORECASE,
)
# What a finding or a piece of advice sounds like.
CLAIM = re.compile(
    r"\b(?:conclude[ds]?|recommend(?:s|ed)?|suggest(?:s|ed)?|advise[ds]?|found|gave|give|increased?|decreased?|reduced?|improved?|raised?|fell|rose|lowered|gained|"
    r"significant(?:ly)?|did not (?:differ|change|affect)|no (?:difference|effect|benefit)|similar|greater|larger|smaller|higher|lower|more|less|fewer|effective|should)\b",
    re.IGNORECASE,
)
# What an explanation sounds like.
EXPLAINS = re.compile(
    r"\b(?:because|since|due to|owing to|attribut\w+|explain\w*|explanation|mechanisms?|reasons?|propos\w+|hypothesi[sz]\w+|suspect\w*|think|thought|"
    r"may reflect|linked .{1,40} to|argue\w*|interpret\w*|put .{1,60} down to|so that)\b",
    re.IGNORECASE,
)
# What gives a reason, where nobody asked for one: stricter than what an explanation may sound like.
REASONS = re.compile(
    r"\b(?:attribut(?:e[ds]?|ing)|explain\w*|explanations?|mechanisms?|propos(?:e[ds]?|ing)|may reflect|hypothesi[sz]\w*|speculat\w*|discuss(?:e[ds])?|"
    r"(?:noted|pointed out|argued|suspect\w*) that|signalling|might come from|put .{1,60} down to)\b",
    re.IGNORECASE,
)
# How a study was made, where nobody asked for its methods.
MADE = re.compile(
    r"\b(?:(?:included|covered|pooled|analysed|reviewed) (?:\w+ ){0,2}(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b|were calculated|w(?:as|ere) (?:measured|assessed) (?:by|with|before)|"
    r"protocols differed|most studies used|effect sizes were)",
    re.IGNORECASE,
)
# What takes back or narrows the sentence before it: that one is not quoted without it.
TAKES_BACK = re.compile(
    r"^(?:however|but|yet|nevertheless|nonetheless)\b|\b(?:may|might) not (?:hold|apply|extend|transfer|generali[sz]e)|\bnot robust\b|\bno longer significant\b|"
    r"\bbut (?:(?:it|this|that|they) )?(?:was|were|did) not (?:statistically |reach |clearly )?(?:significan|robust)|\b(?:were|was|are|is) too (?:few|small|short)\b|"
    r"\btoo few (?:studies|trials|people|data)\b|\bonly (?:a|as a) (?:\w+ )?trend\b|\b(?:cannot|could not) be (?:ruled out|excluded)\b|"
    r"\b(?:should|must|can|could) not be (?:read|taken|seen|regarded|interpreted|assumed)\b|\bis not the same as\b|\b(?:does|do|did) not (?:prove|mean|imply)\b|"
    r"\bno (?:[\w-]+ ){0,3}(?<!drug )interactions? (?:was|were|reached|proved) (?!report)\b|\bno (?:[\w-]+ ){1,3}differed significantly\b|"
    r"\bnone (?:of (?:\w+ ){1,3})?(?:differed|(?:was|were)) (?:\w+ )?significant|\b(?:very )?low[- ]certainty\b|"
    r"\b(?:with|advised?|urged?) caution\b|\b(?:studies|trials|cohorts|results|findings) (?:disagreed|differed|varied|conflict\w*)\b",
    re.IGNORECASE,
)

# What announces that something came out in different ways, and leaves it to the next sentence to say how.
ANNOUNCES = re.compile(
    r"\b(?:depended (?:\w+ly )?on|(?:differed|varied) (?:\w+ly )?(?:between|among|across|by|with)|(?:was|were) (?:modified|moderated|influenced) by|mattered (?:for|to|in|more|most)|"
    r"illustrates? (?:the size|how))\b",
    re.IGNORECASE,
)
HOW = re.compile(
    r"(?<![\w.])(?!(?:19|20)\d\d\b|\d+ ?-?RM\b)\d|:|\b(?:rose|fell|gained|lost|increased|decreased|improved|more|less|fewer|greater|larger|smaller|higher|lower|better|worse|stronger|weaker|longer|shorter|faster|slower|only|no|not|may|might|also)\b",
    re.IGNORECASE,
)
# What found nothing, or is unsure of it.
NULL = re.compile(
    r"\bnot (?:statistically |clearly )?significant(?:ly)?\b|\bnon-?significant|\bno (?:\w+ ){0,2}(?:difference|effect|gain|benefit|change|advantage|improvement|increase)s?\b|"
    r"\b(?:did|does|do) not (?:\w+ ){0,2}(?:differ|change|improve|increase|raise|alter|affect|reach|speed|enhance)\b|\bonly (?:minor|small|slight|trivial)\b|"
    r"\bwithout (?:reaching (?:statistical )?significance|(?:an? |any )?(?:(?!it|them|adverse|side|negative|harmful|ill|pool\w+|covariates|resistance)\w+ ){0,3}(?:effects?|differences?)\b)|"
    r"\bcertainty (?:\w+ ){0,5}(?:very )?low\b|\b(?:two|three|four|five|six|\d+) did not\b|\bevidence (?:was|is) mixed\b|\babsent in\b|\bdisappeared\b|"
    r"\b(?:was|were|is|are) inconsistent\b(?! in the)|\b(?:no|little) clinical (?:relevance|importance)\b|"
    r"\b(?:was|were|remained|stayed) unchanged\b(?! (?:in (?:the )?controls?\b|after adjust|when\b))|\blittle (?:or no )?(?:effect|difference|change|benefit)s?\b|\bmay (?:partly )?reflect study design\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=8_192)
def is_null(text: str) -> bool:
    """Whether a sentence says that something was not found, or not surely."""
    return NULL.search(text) is not None


@lru_cache(maxsize=8_192)
def takes_back(text: str) -> bool:
    """Whether a sentence takes back or narrows what was said before it."""
    return TAKES_BACK.search(text) is not None


@lru_cache(maxsize=8_192)
def announces(text: str) -> bool:
    """Whether a sentence says that something came out in different ways, and does not say how."""
    return ANNOUNCES.search(text) is not None and HOW.search(text) is None


# A question about what to do, and not only about what something does.
WANTS_ADVICE = re.compile(
    r"\b(?:should|recommend\w*|how (?:many|much|often|long|heavy|far|do i)|(?:have|need) to|need|gotta|best|ideal|optimal|guidelines?|advice|"
    r"(?:what|which) (?:kind|dose|amount|number|exercises?|plan|programme?))\b|^\W*(?:how to|(?:exercises?|workouts?|diets?|foods?|supplements?) for)\b(?!.*\b(?:vs|versus|or)\b)"
)
# One about people who do not train ("does protein build muscle without exercise?"), but not about how somebody trains or has trained.
_DOING = r"(?:(?:any|doing|the|added|regular|resistance|strength|weight|physical|gym) )*(?:training|exercises?|exercising|lifting|working out|work-?outs?)"
_NOT_FURTHER = r"(?=\s*(?:$|[?.,;:!)]|(?:at all|and|but|or|will|would|does|do|can|could|is|are|because|any ?more|if|though|whatsoever|in (?:older|younger|elderly|healthy)|for (?:older|elderly))\b))"
WANTS_WITHOUT = re.compile(
    rf"\b(?:without|w/o|no) {_DOING}\b{_NOT_FURTHER}|\b(?:do|does|did|am|are|is)(?:n['’]?t| not) (?:\w+ )?(?:exercise|exercising|train|training|lift|lifting|work out|working out|do (?:any )?(?:exercise|sports?|training|weights))\b{_NOT_FURTHER}"
    rf"|\b(?:never|hardly ever) (?:exercise|train|lift|work out)s?\b{_NOT_FURTHER}|\bnot (?:exercising|training|lifting)\b{_NOT_FURTHER}",
    re.IGNORECASE,
)
WITHOUT = re.compile(
    r"\b(?:without|no|not) (?:(?:any|added|additional|resistance|strength|structured) )*(?:training|exercise)\b(?! (?:interventions?|groups? differ|to failure))|\bsedentary\b",
    re.IGNORECASE,
)
WITH = re.compile(
    r"\b(?:with|during|alongside|doing|plus|in|through|added to|combined with|for|to) (?:\w+ ){0,2}?(?:training|exercise)\b|\btraining alone\b|\b(?:resistance|strength)-trained\b|\blifters?\b",
    re.IGNORECASE,
)


# One about what is best for those who ask, and one about how large something was.
WANTS_COUNSEL = re.compile(
    r"\b(?:should|recommend\w*|(?:have|want) to|need|needed|gotta|best|ideal|optimal|enough|guidelines?|advice|(?:do|can|must) i (?:take|eat|do|lift|train|have))\b"
)
WANTS_SIZE = re.compile(
    r"\b(?:how (?:much|big|large|far|strong)|by how|effect sizes?|(?:what|how many|how great|which) (?:\w+ )?(?:percent(?:age)?s?|per cent|kilos?|kilograms?|kg|pounds|grams|points|centimet\w+|millimet\w+|seconds)|"
    r"(?:pooled|standardi[sz]ed mean) (?:effects?|difference|estimate)s?|smds?|odds ratio|hazard ratio|relative risk)\b"
)
ADVISES = re.compile(
    r"\b(?:recommend\w*|advis\w*|should|suggest(?:s|ed)? (?:at least|using|ending|\d)|prescribe)\b", re.IGNORECASE
)
TELLS = re.compile(
    r"\b(?:differ\w*|similar\w*|increas\w*|decreas\w*|improv\w*|reduc\w*|gain\w*|rose|fell|rais\w*|lower\w*|greater|larger|smaller|effects?|effective\w*|"
    r"benefit\w*|advantage|chang\w*|without|no (?:clear|significant)|help\w*|safe|suitable|favour\w*)\b",
    re.IGNORECASE,
)
# The people at whom a sentence that opens with them is aimed.
AIMED = re.compile(
    r"(?:for|in|among) ((?=[^,;:]*\b(?:people|persons?|adults?|(?:wo)?men|(?:fe)?males|lifters?|athletes?|trainees|individuals|beginners|elderly|patients|those)\b)"
    r"[^,;:]{3,90}),",
    re.IGNORECASE,
)
# What a beginner has to look up: abbreviations, units of a laboratory.
ABBREVIATION = re.compile(r"\b(?!ACSM|AHA|CI|SMD|MD|ES|SD|RM|USA|UK)(?:[A-Z]{2,}[a-z0-9]*|[a-z]{1,2}[A-Z]{2,}\w*)\b")
STATISTICS = re.compile(
    r"\b(?:P|p) ?[=<>≤]|\bCI\b|\bI²|\bSMD\b|\bES\b|\bSD\b|\bMD\b|\bHedges|\bbeta\b|β|τ|\bratio of\b|±", re.UNICODE
)
NUMBER = re.compile(r"\d")
FINDS_NONE = re.compile(
    r"\b(?:found|finds|identified|there (?:were|are)) (?:almost |hardly )?no (?:(?:randomi[sz]ed|controlled|published|eligible|direct) )*(?:trials?|studies|research)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sound:
    """How one sentence reads, worked out once: the same sentences stand in the evidence of question after question."""

    is_aim: bool
    is_minutiae: bool
    is_aside: bool
    is_claim: bool
    explains: bool
    reasons: bool
    is_made: bool
    advises: bool
    tells: bool
    """It says what something did."""
    finds_none: bool
    """It says that nobody has looked into something."""
    aimed_at: frozenset[str]
    """Stems of the people that it opens with; empty where it does not."""
    has_number: bool
    statistics: int
    abbreviations: int
    trains: int
    """-1 where it speaks of people who do not train, 1 where of training and not of those, else 0."""

    @staticmethod
    @lru_cache(maxsize=8_192)
    def of(text: str) -> Sound:
        return Sound(
            is_aim=bool(AIM.search(text)),
            is_minutiae=bool(MINUTIAE.match(text)),
            is_aside=bool(ASIDE.search(text)),
            is_claim=bool(CLAIM.search(text)),
            explains=bool(EXPLAINS.search(text)),
            reasons=bool(REASONS.search(text)),
            is_made=bool(MADE.search(text)),
            advises=bool(ADVISES.search(text)),
            tells=bool(TELLS.search(text)),
            finds_none=bool(FINDS_NONE.search(text)),
            aimed_at=frozenset(content_stems(aimed[1])) if (aimed := AIMED.match(text)) else frozenset(),
            has_number=bool(NUMBER.search(text)),
            statistics=len(STATISTICS.findall(text)),
            abbreviations=len(ABBREVIATION.findall(text)),
            trains=-1 if WITHOUT.search(text) else int(bool(WITH.search(text))),
        )
