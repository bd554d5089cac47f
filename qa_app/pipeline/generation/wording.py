"""How a sentence sounds: whether it stands alone, and whether it tells, advises, explains or only talks about the literature."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

HANGING = re.compile(
    r"^(?:(?:it|its|they|their|them|these|those|this|that|such|both|he|she|however|but|also|in contrast|by contrast|instead|otherwise|"
    r"moreover|furthermore|therefore|thus|hence|either|with (?:either|both|neither)|for (?:both|either)|of the two|on the other hand|"
    r"on average|similarly|likewise|conversely|the same|the other|the latter|the former|the difference|the effect|the corresponding|"
    r"neither|here|there|then|another|others|one of (?:them|these)|again|still|yet|so|rather|nevertheless|nonetheless|for example|"
    r"even so|only one|the authors|the reviewers|the two|the three|when these|after this|among (?:these|them)|in (?:these|those|this)|"
    r"of (?:these|those|them)|(?:by|in|on|from|to|of|according to) (?:their|his|her|its)|according to (?:it|them))\b"
    # or whose subject, after where or when it was, is a pronoun ("In a trial in older men it raised ...")
    r"|(?:in|after|with|among|for|at|during|over|on|by)\b[^.;:]{0,80}?\s(?:it|they)\s"
    # or after what gave reason or room for it ("Because few events were reported, they suggest ...")
    r"|(?:because|although|since|while|as|if|when)\b[^.;:]*,\s(?:it|they)\s"
    # or whose subject is a figure of something named before ("The study-level effect was 0.58.")
    r"|(?:[^.;:]{0,60}?\b)?the (?:\w+-level |mean |pooled |overall )?(?:effect|estimate|difference|advantage|contrast|gap|SMD|MD|effect size)s?(?: in favour of [^.;:,]{0,30}?)?"
    r" (?:was|were|fell|rose|did|could|remained|became|disappeared)\b"
    # or that says of one thing what was said of another ("Fat mass did not differ either.")
    r"|[^.;:]*\b(?:did not differ|nor did \w+|(?:either|too))\.$"
    # or that draws a conclusion from it ("Training was therefore ...")
    r"|\w+(?:\s\w+){0,3}\s(?:was|were|is|are)\s(?:therefore|thus|hence)\b)",
    re.IGNORECASE,
)

# One that speaks of what only the one before it names.
ANAPHOR = re.compile(
    r"\b(?:th(?:is|ese|at|ose) (?:effects?|differences?|results?|findings?|estimates?|benefits?|gains?|changes?|groups?|analys[ie]s|trials?|"
    r"stud(?:y|ies)|reviews?|approach|methods?|people|women|men|adults|interventions?|programmes?|diets?|doses?|loads?)"
    r"|both (?:groups|arms|conditions|sexes|diets|programmes|interventions)|(?:the )?two (?:groups|arms|conditions|diets|programmes)|"
    # the reason that was given before
    r"the (?:explanation|hypothesis|reason|idea|claim|authors|advice|contrast)(?= (?:remain|is|was|seem|may|might|rest|appl|held|hold|also|and )\w*)|"
    # a pointing word that stands alone ("supported this for lean tissue only")
    r"(?:this|these)(?= (?:for|in|by|was|were|is|are|may|might|could|can|did|does|do|only|as|with|to|from|when|would|should|also)\b|[,;.:])|"
    r"either (?:group|arm|condition|diet|programme)|the (?:other|same) (?:group|arm|condition|diet|trial|study)s?|the (?:latter|former))\b",
    re.IGNORECASE,
)

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
    r"did not (?:study|examine|test|assess|address) (?:why|how|whether)|offered reasons|reviewed the literature|is well studied|have been proposed to)\b",
    re.IGNORECASE,
)
# How sure a pooled figure is, or what was measured: nobody asked, unless the question is about limits or methods.
MINUTIAE = re.compile(
    r"(?:the |an? )?(?:\w+ ){0,2}(?:heterogeneity|certainty|trim-and-fill|funnel plots?|sensitivity analys[ie]s|publication bias|risk of bias)\b"
    r"|(?:\w+ ){0,2}(?:studies|trials) (?:\w+ ){0,6}(?:reported|measured) ",
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
# What a beginner has to look up: abbreviations, units of a laboratory.
ABBREVIATION = re.compile(r"\b(?!ACSM|AHA|CI|SMD|MD|ES|SD|RM|USA|UK)(?:[A-Z]{2,}[a-z0-9]*|[a-z]{1,2}[A-Z]{2,}\w*)\b")
STATISTICS = re.compile(
    r"\b(?:P|p) ?[=<>≤]|\bCI\b|\bI²|\bSMD\b|\bES\b|\bSD\b|\bMD\b|\bHedges|\bbeta\b|β|τ|\bratio of\b|±", re.UNICODE
)
NUMBER = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Sound:
    """How one sentence reads, worked out once: the same sentences stand in the evidence of question after question."""

    hangs: bool
    is_aim: bool
    is_minutiae: bool
    is_aside: bool
    is_claim: bool
    explains: bool
    has_number: bool
    statistics: int
    abbreviations: int

    @staticmethod
    @lru_cache(maxsize=8_192)
    def of(text: str) -> Sound:
        return Sound(
            hangs=bool(HANGING.match(text) or ANAPHOR.search(text)),
            is_aim=bool(AIM.search(text)),
            is_minutiae=bool(MINUTIAE.match(text)),
            is_aside=bool(ASIDE.search(text)),
            is_claim=bool(CLAIM.search(text)),
            explains=bool(EXPLAINS.search(text)),
            has_number=bool(NUMBER.search(text)),
            statistics=len(STATISTICS.findall(text)),
            abbreviations=len(ABBREVIATION.findall(text)),
        )
