"""Read a sentence as tokens that compare by meaning: "twelve per cent" as "12%", "1.2 g·kg⁻¹" as "1.2 g per kg"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from qa_app.pipeline.lexicon import NUMERALS, UNIT_OF
from qa_app.pipeline.text import clean, folded, stem


class Kind(StrEnum):
    """What a token says."""

    WORD = "word"
    NUMBER = "number"
    UNIT = "unit"
    COMPARATOR = "comparator"
    NEGATION = "negation"
    DIRECTION = "direction"
    POPULATION = "population"
    GROUP = "group"
    HEDGE = "hedge"
    RESTRICTION = "restriction"
    JOINT = "joint"
    PLACE = "place"
    ASIDE = "aside"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, unit or sign; `key` is what compares, `gap` the marks between it and the token before."""

    key: str
    kind: Kind
    gap: str = ""
    word: str = ""
    reported: bool = False
    """Whether "found that" or the like stands right before."""
    opens: bool = False
    """Whether a relative word ("which", "who") stands right before."""


# --- Word lists --------------------------------------------------------------------------------------------------------

_TABLE = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
LISTS: Mapping[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _TABLE["words"].items()} | {
    name: frozenset(map(stem, words.split())) for name, words in _TABLE["stems"].items()
}
"""Words by what they do; `population` and what follows it are stems."""
_KINDS_OF_WORDS = ("aside", "hedge", "place", "joint", "restriction", "negation")
_BY_WORD = dict.fromkeys(LISTS["modal"], Kind.HEDGE) | {w: Kind(kind) for kind in _KINDS_OF_WORDS for w in LISTS[kind]}
_BY_STEM = (
    dict.fromkeys(LISTS["group"], Kind.GROUP)
    | dict.fromkeys(LISTS["rising"] | LISTS["falling"] | LISTS["level"], Kind.DIRECTION)
    | dict.fromkeys(LISTS["population"], Kind.POPULATION)
)
_SAME = {word: key for key, words in _TABLE["same"].items() for word in words.split()}
_SCALES: Mapping[str, int] = _TABLE["numbers"]["scales"]
_PARTS = frozenset(_TABLE["numbers"]["parts"].split())
_UNITS = {written: unit for written, unit in UNIT_OF.items() if unit not in {"studies", "people"}} | {
    word: unit for unit, words in _TABLE["units"].items() for word in (unit, *words.split())
}
_TIMES = frozenset({"seconds", "minutes", "hours", "days", "weeks", "months", "years", "sessions"})


def kind_of(word: str) -> Kind:
    """Return the kind of a folded word that is neither number nor unit."""
    return _BY_WORD.get(word) or _BY_STEM.get(stem(word), Kind.WORD)


# --- Rewriting ---------------------------------------------------------------------------------------------------------

PER, RANGE = "/", "–"
RANGE_MARK = "\u2025"  # in the gap of a number: "from" or "between" stood before it
_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_POWER = re.compile("(?<=[0-9])(?=[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207b])")  # 10⁶ is not 106
_NITRIC_OXIDE = re.compile(r"(?<![A-Z] )\bNO\b(?! [A-Z]{2})")


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_UNIT, _NUMERAL, _TIME = _any_of(_UNITS), _any_of(NUMERALS), _any_of(w for w, u in _UNITS.items() if u in _TIMES)
_SPELT = re.compile(rf"\b(?:{_NUMERAL})(?:[ -](?:{_NUMERAL}|{_any_of(_SCALES)}))*\b")
_AHEAD = r"(?=[~<>≤≥±]?\s*[-+]?\.?\d)"
_RANGES = re.compile(
    rf"(?P<start>\b(?:from|between) )?(?P<low>\d[\d.,]*|\.\d+)(?: ?(?P<unit>%|(?:{_UNIT})\b))?"
    rf"(?: to | ?- ?|(?P<and> and )){_AHEAD}(?=(?P<high>[~<>≤≥±]? ?[\d.,]+)(?P<same> ?(?P=unit))?)"
)
_SIGNS = tuple(
    (re.compile(pattern), sign)
    for pattern, sign in (
        (r"n't\b|\bcan ?not\b", " not "),
        (r"'s\b", ""),
        (r"s'(?=\s)", "s"),
        (r"\bper ?cents?\b|\bpercents?\b|\bpct\b", " % "),
        (r"\+ ?/ ?-|\bplus or minus\b", "±"),
        (r"<=|=<", "≤"),
        (r">=|=>", "≥"),
        (r"(?<=\d)[·∙⋅](?=\d)", "."),
        (rf"(?<=[a-z%1])[ ·∙⋅*.]?\b({_UNIT}|m2)\^?-1\b", rf" {PER} \1"),
        (rf"\bper (?=(?:{_UNIT})\b)|(?<=\w) (?:an?|each|every) (?=(?:{_TIME})\b)", f" {PER} "),
        (r"\b(hour|week|month|year)ly\b", rf"{PER} \1"),
        (r"\bdaily\b", f"{PER} day"),
        (r"\b(?:at least|no(?:t)? (?:less|fewer) than|(?:a )?minimum of)\b", " ≥ "),
        (r"\b(?:at (?:the )?most|no(?:t)? more than|(?:a )?maximum of|up to)\b", " ≤ "),
        (rf"\b(?:(?:more|greater|higher) than|over|above|exceeding|in excess of) {_AHEAD}", " > "),
        (rf"\b(?:(?:less|fewer|lower) than|below|under) {_AHEAD}", " < "),
        (rf"\b(?:about|approximately|around|roughly|circa|ca\.?|approx\.?|some) {_AHEAD}", " ~ "),
    )
)


def _rewritten(text: str) -> str:
    """Write numbers, units and comparisons with signs."""
    cleaned = _NITRIC_OXIDE.sub("nitricoxide", clean(_POWER.sub("^", text)))
    plain = _SPELT.sub(_in_digits, _DASHES.sub("-", folded(cleaned)))
    for pattern, sign in _SIGNS:
        plain = pattern.sub(sign, plain)
    return _RANGES.sub(_as_range, plain)


def _in_digits(match: re.Match[str]) -> str:
    """Write a run of number words in digits: "two thousand five hundred" as 2500, "zero five" as two numbers."""
    numbers, total, current, last = list[int](), 0, 0, None
    for word in re.split("[ -]", match[0]):
        if word in _SCALES:
            current = max(current, 1) * _SCALES[word]
            total, current = (total, current) if word == "hundred" else (total + current, 0)
            last = None
            continue
        value = NUMERALS[word]
        if last is not None and (last < 20 or last % 10 or value > 9):
            numbers.append(total + current)
            total = current = 0
        current, last = current + value, value
    return " ".join(map(str, [*numbers, total + current]))


def _as_range(match: re.Match[str]) -> str:
    """Write "from 10% to 12%" as "10–12%"; "and" joins only after "between"."""
    if match["and"] and match["start"] != "between ":
        return match[0]
    unit = "" if match["same"] or not match["unit"] else f" {match['unit']}"
    return f"{RANGE_MARK if match['start'] else ''}{match['low']}{unit} {RANGE} "


# --- Tokens ------------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:\.\d+)?(?:,\d{1,2}(?![\d,]))?|\.\d+)"
    r"|(?P<sign>[%<>≤≥±~≈×/–])"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?(?:\d[^\W_]*)?)"
)


def read(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, in order; words that only serve the grammar are left out."""
    return tuple(_tokens(_rewritten(text)))


def _tokens(text: str) -> Iterator[Token]:
    """Words of grammar leave their gap, and a mark of what they opened, to the token after them."""
    gap, reported, opens, words, last = "", False, False, ["", ""], Token("", Kind.WORD)
    end = 0
    for match in _TOKEN.finditer(text):
        word, between, end = match[0], text[end : match.start()], match.end()
        gap += between
        if word in LISTS["empty"]:
            # "to show that" names an aim and no finding
            reported |= word == "that" and stem(words[-1]) in LISTS["reported"] and words[-2] != "to"
            opens |= word in {"which", "who", "whom", "whose", "that"}
            words.append(word)
            continue
        key, kind = _number(word, text, match.start()) if match["number"] else _sign_or_word(word, last)
        if key.startswith("-"):
            gap = gap.removesuffix("-")
        last = Token(key, kind, gap, word, reported, opens)
        yield last
        gap, reported, opens = "", False, False
        words.append(word)


def _number(word: str, text: str, start: int) -> tuple[str, Kind]:
    """Give equal numbers one key. A dash before it is a sign where it can be nothing else."""
    before = text[:start]
    is_negative = before.endswith("-") and (before == "-" or before[-2] in " ([=+<>≤≥~–")
    plain = re.sub(r"[, ](?=\d{3}(?:\D|\Z))", "", word).replace(",", ".")
    if not re.match(r"0\d", plain):  # a needless zero before it: no number that anybody writes
        plain = f"{Decimal(plain if plain.count('.') < 2 else plain.replace('.', '')).normalize():f}"
    return ("-" + plain if is_negative else plain), Kind.NUMBER


def _sign_or_word(word: str, last: Token) -> tuple[str, Kind]:
    if not word[0].isalpha():
        return {"≈": "~"}.get(word, word), Kind.UNIT if word == "%" else Kind.COMPARATOR
    is_measured = last.kind is Kind.NUMBER or last.key == PER
    if word in _UNITS and (is_measured or (len(word) > 1 and word != "second")):
        return f"u:{_UNITS[word]}", Kind.UNIT
    if word in _PARTS:
        return stem(word), Kind.NUMBER
    kind = kind_of(word)
    if word in _SAME:
        return _SAME[word], kind
    if kind in {Kind.POPULATION, Kind.GROUP}:
        return _singular(word), kind  # "trained" and "training" share a stem
    return (stem(word) if word.isalpha() else word), kind


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")) else word
