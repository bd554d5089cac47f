"""Which number a question asks for, and how a sentence that gives it reads: "10 weekly sets" for "how many sets"."""

from __future__ import annotations

import re
from functools import lru_cache

from qa_app.pipeline.text import EMPTY_WORDS, content_stems, folded, stem

FEWEST_WORDS = 2  # of content in a question beside others: "really?" is none
_NUMBER = r"(?:\d[\d.,]*|once|twice|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_RANGE = rf"{_NUMBER}(?:\s?(?:to|or|and|-|–)\s?{_NUMBER})?"
_BETWEEN = r"[\s-]?(?:[a-z-]+\s){0,2}?"  # "10 weekly sets", "20 to 25 high-quality grams"
_TIME = r"(?:s|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|days?|weeks?|months?|years?)"
_ASKED = (
    (re.compile(r"\bhow often\b|\bhow many (?:times|days|sessions|workouts)\b"), r"(?:days?|times|sessions?|workouts?)"),
    (re.compile(r"\bhow (?:long|fast|quickly)\b|(?<!\d )(?<!after )(?<!over )(?<!for )\b(?:months|weeks|minutes|hours) (?:of|needed|per|until|before)\b"), _TIME),
    (re.compile(r"(?<!\d )\bgrams?\b|\bhow much (?:\w+ )?(?:protein|creatine|leucine|whey|carb\w*|fat|calcium)\b|\bwhat dose\b"), r"(?:m?g|kg|grams?)"),
    (re.compile(r"(?<!\d)(?<!\d )(?:\bpercent\w*|%)"), r"(?:%|percent\w*|per cent)"),
    (re.compile(r"(?<!\d)(?<!\d )(?<!/)\bkgs?\b|\bkilos?\b|\bpounds\b"), r"kg"),
)  # fmt: skip
_EFFECT_ASKED = re.compile(
    r"\b(?:effect sizes?|smds?|standardi[sz]ed mean differences?|pooled (?:effects?|estimates?|differences?))\b"
)
_EFFECT = re.compile(
    r"\b(?:effect sizes?|ES|SMDs?|standardi[sz]ed mean differences?|(?:pooled|overall|medium|small|large) (?:effect|estimate|difference)|[gd] ?=)(?:[^.;\d]|\d(?!\d*\.\d)){0,40}?\d\.\d",
    re.IGNORECASE,
)
_OF_THESE = re.compile(r"\bhow many of (?:the|these|those|them)\b")
_PART = r"(?:of|with|without|who|that|had|did|were|took|dropped|got|became|remained|completed)"  # "8 with", "12 of 49", "ten completed"
_HOW_MANY = re.compile(r"\bhow many (?:[a-z]+ly )?([a-z]+)")


@lru_cache(maxsize=1_024)
def number_asked(question: str) -> re.Pattern[str] | None:
    """What a sentence holds that gives the number asked for; None where none is asked for, or something else is asked as well."""
    said = folded(question)
    questions = [part for part in said.split("?") if len(content_stems(part)) >= FEWEST_WORDS] or [said]
    if all(_EFFECT_ASKED.search(part) for part in questions):
        return _EFFECT
    units = list(map(_units, questions))
    if not all(units):
        return None
    wanted = "|".join(dict.fromkeys(unit for each in units for unit in each))
    return re.compile(rf"(?<![\w.]){_RANGE}{_BETWEEN}(?:{wanted})(?!\w)", re.IGNORECASE)


def _units(said: str) -> list[str]:
    """How what is counted reads; empty where no number is asked for."""
    units = [unit for asked, unit in _ASKED if asked.search(said)]
    units += [rf"{re.escape(stem(noun))}\w*" for noun in _HOW_MANY.findall(said) if noun not in EMPTY_WORDS]
    return units + ([_PART] if _OF_THESE.search(said) else [])
