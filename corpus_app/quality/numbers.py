"""Find lost minus signs: reversed intervals, estimates outside their interval, units without their exponent."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from corpus_app.quality.text_faults import Kind, TextFault

_N = r"(?:[-−–]\s?)?(?<!\d)\d+(?:,\d{3}\b){0,6}(?:[.·]\d+)?"
_INTERVAL = re.compile(
    rf"(?<![A-Za-z])(?P<kind>C\.?I\.?s?\b|confidence intervals?|credible intervals?|CrI|HDI|range|IQR"
    rf"|interquartile range|LOA\b|limits of agreement)(?P<link>[^\d()\[\]−–.\-]{{0,14}})"
    rf"[(\[]?\s?(?P<low>{_N})\s?%?\s?(?:,|;|to|through|and|–|—|-|…|\.\.\.?)\s?(?P<high>{_N})",
    re.IGNORECASE,
)
_ESTIMATE = re.compile(
    rf"(?P<value>{_N})\s?(?:%|[A-Za-z/·]{{1,12}}|percentage points)?\s?[,;:]?\s?[(\[]?\s?(?:(?:with|and)\s)?(?:(?:a"
    rf"|an|the)\s)?\Z"
)
_LABELLED = re.compile(r"\b[A-Z][a-z]+\s\d+,\Z")  # "Model 1, 95% CI": a name
_LEVEL = re.compile(r"(?<![\d.,])9\d(?:\.\d)?\s?%?\s?\Z")
_RATIO = re.compile(r"\b(?:odds|hazard|risk|rate|relative|ratios?|OR|HR|RR|IRR|PR|aOR|aHR|prevalence)\b", re.IGNORECASE)
_POWER = re.compile(
    r"(?:(?<=[A-Za-z%])[·.⋅∙*]\s?|\b(?:m[lLg]|[µμ]g|[kM]?cal|kJ|J|mmol|[µμ]mol|nmol|g|L|l|IU|W|N|U|m|beats|steps"
    r"|reps?|mm|cm|times|cycles|breaths)\s)"
    r"(?P<unit>kg|min|sec|s|h|hr|d|day|wk|week|L|l|dl|dL|ml|mL|g|m|yr|year|body mass|bw|BW)\s?(?P<power>1)(?!\d|\.\d"
    r"|\s?(?:%|[A-Za-z]{2,}\b))"
)
_GLUED = re.compile(r"\b(?P<unit>kg|min|day|wk|hr|dl|dL|ml|mL|sec)(?P<power>1)\b(?=[\s,.;)·⋅∙*/]|\Z)")
_NEGATIVE_WORD = re.compile(
    r"(?:negative(?:ly)?|inverse(?:ly)?)\s+(?:(?:linear|significant(?:ly)?|strong(?:ly)?|moderate(?:ly)?"
    r"|weak(?:ly)?)\s+)*(?:correlat|associat|relat)\w*[^.;()]{0,60}[(,]?\s?(?:r|ρ|rho|β|beta"
    r"|R)\s?=\s?(?P<value>\d?\.\d+)"
)
_BELOW = re.compile(r"\b(?:fell|decreas\w+|declin\w+|drop\w*|lower\w*|reduc\w+|loss|lost|less)\b", re.IGNORECASE)


def lost_minus(text: str) -> Iterator[TextFault]:
    yield from _intervals(text)
    for pattern in (_POWER, _GLUED):
        for match in pattern.finditer(text):
            yield TextFault(
                match.start("power"), match.end("power"), Kind.LOST_MINUS, match["power"], f"−{match['power']}"
            )
    for match in _NEGATIVE_WORD.finditer(text):
        yield TextFault(match.start("value"), match.end("value"), Kind.LOST_MINUS, match["value"], f"−{match['value']}")


def _value(words: str) -> float:
    number = words.replace(",", "").replace("·", ".").replace("−", "-").replace("–", "-").replace(" ", "")
    return float(number)


def _intervals(text: str) -> Iterator[TextFault]:
    for match in _INTERVAL.finditer(text):
        low, high = _value(match["low"]), _value(match["high"])
        separator = text[match.end("low") : match.start("high")].strip()
        if separator in {"-", "–", "—"} and match["high"][0] in "-−–":
            continue
        is_joined = text[match.end("low") : match.start("high")] == ","
        if separator == "," and "." not in match["low"] and (is_joined or "." in match["high"]):
            continue  # a decimal comma, or one between thousands
        if low > high and low > 0:
            yield TextFault(
                match.start("low"), match.end("low"), Kind.LOST_MINUS, match["low"], f"−{match['low'].strip()}"
            )
            continue
        if match["kind"].lower() in {"range", "iqr", "interquartile range"}:
            continue
        yield from _check_interval(text, match, low, high)


_DIFFERENCE = re.compile(
    r"\b(?:S?MDs?|WMDs?|ES|differences?|effect sizes?|Hedges\S*|Cohen\S*|β|beta|coefficients?|kg|points|cm)\b"
)
_SIZED = re.compile(r"\b(?:S?MDs?|WMDs?|ES|effect sizes?|mean differences?|Hedges\S*|Cohen\S*)\b")
_NOT_SIGNIFICANT = re.compile(
    r"\b(?:not?|nor|non-?|without|neither)\b[^.;]{0,40}\bsignifican\w*|\bdid not differ\b|\bno (?:clear |overall "
    r")?(?:difference|effect|benefit)\b|\bnon-?significant|\bwas a trend\b"
)
_P_AFTER = re.compile(r"\A\s?%?\s?[,;:]?\s?[Pp]\s?=\s?(?P<p>0?\.\d+)")


def _check_interval(text: str, match: re.Match[str], low: float, high: float) -> Iterator[TextFault]:
    """Return the findings of an interval that is consistent with its estimate and P only with a minus sign."""
    before = text[max(0, match.start() - 90) : match.start()]
    before = before[max(before.rfind(". "), before.rfind("; ")) + 1 :]
    is_difference = bool(_DIFFERENCE.search(before))
    if _RATIO.search(before) and not _SIZED.search(before):
        return
    low_end = TextFault(match.start("low"), match.end("low"), Kind.LOST_MINUS, match["low"], f"−{match['low'].strip()}")
    if 0 < low < high and (is_difference or not low <= 1 <= high):
        p = _P_AFTER.search(text[match.end() : match.end() + 30])
        is_nothing = float(p["p"]) >= 0.06 if p else bool(_NOT_SIGNIFICANT.search(before))
        if is_nothing:
            yield low_end
            return
    level = _LEVEL.search(before)
    led = before[: level.start()] if level else before
    estimate = _ESTIMATE.search(led) or _NAMED_ESTIMATE.search(led)
    if estimate is None:
        return
    words = estimate["value"]
    if _LABELLED.search(led[: estimate.end("value") + 1]):
        return
    value = _value(words)
    start = match.start() - len(before) + estimate.start("value")
    slack = _rounding(words) + _rounding(match["low"]) + 0.01 * abs(high - low)
    own = TextFault(start, start + len(words), Kind.LOST_MINUS, words, f"−{words.strip()}")
    is_by = before[: estimate.start("value")].rstrip().endswith("by")
    is_told = is_by or _BELOW.search(before)  # "fell by 3.7 kg (95% CI −5 to −2)" needs no sign
    if (
        value > 0
        and low < 0
        and not is_told
        and abs(value + (low + high) / 2) <= slack
        and abs(value - (low + high) / 2) > 3 * slack
    ):
        yield own
    elif 0 < low < high:
        as_it_is, as_ratio = abs(value - (low + high) / 2), abs(value - math.sqrt(low * high))
        with_minus = abs(value - (high - low) / 2)
        if with_minus <= slack and as_it_is > 1.4 * slack and (is_difference or as_ratio > 1.4 * slack):
            yield low_end


def _rounding(words: str) -> float:
    """Return half a unit of the last decimal place."""
    return 0.5 * 10.0 ** -len(words.replace("·", ".").partition(".")[2].strip())


_NAMED_ESTIMATE = re.compile(
    rf"\b(?:S?MD|WMD|ES|effect size|difference|[dgβr])\s?(?:=|of|was|:)?\s?(?P<value>{_N})\b[^\d]{{0,40}}\Z"
)
