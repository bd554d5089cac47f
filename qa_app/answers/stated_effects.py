"""Read the effect size that a finding's statement gives with its interval: "SMD 0.24, 95% CI −0.10 to 0.59"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from corpus_app.appraisal import Effect, EffectMeasure

_NUMBER = r"[-−–]?\d+(?:\.\d+)?"
_INTERVAL = (
    r"(?P<level>\d\d(?:\.\d)?)\s?%\s?(?:CI|CrI|confidence interval)[:,]?\s?"
    rf"(?P<lower>{_NUMBER})\s?(?:%\s?)?(?:to|–|,|;)\s?(?P<upper>{_NUMBER})"
)
_LABELS: Mapping[EffectMeasure, str] = {
    EffectMeasure.STANDARDISED_MEAN_DIFFERENCE: r"SMD|ES(?:\s?diff(?:erence)?)?|effect size|Hedges[’']? g|Cohen[’']?s d"
    r"|standardi[sz]ed mean difference",
    EffectMeasure.MEAN_DIFFERENCE: r"W?MD|(?:weighted )?mean difference",
    EffectMeasure.RISK_RATIO: r"RR|risk ratio|relative risk",
    EffectMeasure.ODDS_RATIO: r"OR|odds ratio",
    EffectMeasure.HAZARD_RATIO: r"HR|hazard ratio",
}
_UNIT = r"kg|g|cm|mm|m/s|%|percentage points|points|repetitions|s|W|N"
_NAMES = "|".join(rf"(?P<{measure.name}>\b(?:{words})\b)" for measure, words in _LABELS.items())
_NAMED = re.compile(
    rf"(?:{_NAMES})\s?(?:=|of|was|:)?\s?(?P<value>{_NUMBER})\s?(?P<unit>{_UNIT})?[\s;,(]+{_INTERVAL}", re.IGNORECASE
)
_RISE = re.compile(
    r"\b(?:rose|raised?|increased?|gain(?:ed|s)?|added|improved|grew|more|greater|larger|higher)\b[^.;]{0,60}?"
    rf"(?P<value>\d+(?:\.\d+)?)\s?(?P<unit>{_UNIT})(?![\w/])[^.;()\d]{{0,60}}[(,]\s?{_INTERVAL}"
)
_FALL = re.compile(
    r"\b(?:fell|fall|lost|loss|lower\w*|less|reduc\w+|decreas\w+|declin\w+|smaller|fewer)\b", re.IGNORECASE
)
_OTHER = re.compile(r"\b(?:before|baseline|over time)\b|\)\s?per\b")
"""A change within one group, or a slope: neither is an effect of one thing against another."""


def read_stated_effect(statement: str) -> Effect | None:
    """Return the one effect that a statement gives with its interval; None where it gives none, or several.

    A difference without a name is one only where the statement speaks of a rise alone: its sign stands in the words.
    """
    if len(re.findall(_INTERVAL, statement)) != 1 or _OTHER.search(statement):
        return None
    if named := _NAMED.search(statement):
        return _effect(next(measure for measure in _LABELS if named[measure.name]), named)
    rise = None if _FALL.search(statement) else _RISE.search(statement)
    return _effect(EffectMeasure.MEAN_DIFFERENCE, rise) if rise else None


def _effect(measure: EffectMeasure, match: re.Match[str]) -> Effect | None:
    value, lower, upper = (_number(match[name]) for name in ("value", "lower", "upper"))
    unit = (match["unit"] or "") if measure is EffectMeasure.MEAN_DIFFERENCE else ""
    try:
        return Effect(measure, value, lower, upper, float(match["level"]), unit)
    except ValueError:  # no unit, or figures that cannot be
        return None


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace("–", "-"))
