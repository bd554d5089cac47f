"""Find the numbers a question names, with their units."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from qa_app.pipeline.lexicon import UNIT_OF, Span, language_table
from qa_app.pipeline.text import folded

_UNIT = "|".join(re.escape(written) for written in sorted(UNIT_OF, key=len, reverse=True))
_FIGURE = r"\d{1,3}(?:,\d{3})+|\d+(?:[.,]\d+)?"


def _number_pattern(units: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,])({_FIGURE})(?:[ -]?((?:{units})(?:/(?:kg|{units}))*)(?!\w))?(?!\d)")


_NUMBER = _number_pattern(_UNIT)
_LABELLED = re.compile(rf"\b(?:{'|'.join(language_table('units')['labels']['words'])}) (\d+)")
_DATED = "|".join(language_table("units")["dated"]["words"])
_YEAR = re.compile(rf"\b(?:{_DATED}) ((?:1[0-9]|20)\d\d)(?![\w/]|[.,]\d)(?! ?(?:{_UNIT})\b)")
_RANGE = re.compile(rf"\s*(?:-|–|to)\s*(?={_FIGURE})")
AMOUNT = re.compile(rf"(\d+)({_UNIT})")


def find_numbers(text: str, units: Collection[str] = (), *, excluded: Sequence[Span] = ()) -> tuple[str, ...]:
    """Return the numbers of a text, each once, in order; those that begin inside one of the spans are no amounts.

    `units` are written forms of units beside those of English.
    """
    known = sorted((*UNIT_OF, *units), key=len, reverse=True)
    pattern = _number_pattern("|".join(map(re.escape, known))) if units else _NUMBER
    plain = folded(text)
    spans = [*excluded, *(match.span(1) for match in _LABELLED.finditer(plain))]
    found: list[str] = []
    unit = ""
    for match in reversed(list(pattern.finditer(plain))):
        unit = match[2] or (unit if _RANGE.match(plain, match.end()) else "")
        if not any(start <= match.start() < end for start, end in spans):
            found.append(f"{_digits(match[1])} {unit}".strip())
    return tuple(dict.fromkeys(reversed(found)))


def find_years(text: str) -> tuple[str, ...]:
    """Return the calendar years that a text names, each once, in order: 1000 to 2099, after a word such as "in"."""
    return tuple(dict.fromkeys(match[1] for match in _YEAR.finditer(folded(text))))


def _digits(written: str) -> str:
    """Write a number with a decimal point: 1,5 is 1.5, but 2,000 is 2000."""
    whole, comma, rest = written.partition(",")
    return written.replace(",", "") if comma and len(rest) % 4 == 3 else f"{whole}.{rest}" if comma else written
