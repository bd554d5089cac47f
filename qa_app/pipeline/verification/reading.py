"""Tokenise a sentence for comparison: "twelve per cent" equals "12%", and "1.2 g·kg⁻¹" equals "1.2 g per kg"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from qa_app.pipeline.query import NO_UNITS, UnitForm
from qa_app.pipeline.text import clean, folded, stem
from qa_app.pipeline.verification.lexicon import (
    ADVERBIAL_TIMES,
    EMPTY,
    ONES,
    ORDINALS,
    PARTS,
    REPORTED,
    SAME,
    SCALES,
    SHORT_UNITS,
    TENS,
    TIMES,
    UNITS,
    Kind,
    kind_of,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or sign with its comparison `key`; `gap` has the marks between it and the token before."""

    key: str
    kind: Kind
    gap: str = ""
    word: str = ""
    reported: bool = False
    """Whether it follows "found that" or the like."""
    opens: bool = False
    """Whether it follows a relative pronoun ("which", "who")."""


PER = "per"
RANGE = "to"
RANGE_MARK = "\u2025"  # in the gap of a number after "from" or "between"
_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_POWER = re.compile("(?<=[0-9])(?=[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207b])")  # 10⁶ is not 106
_NITRIC_OXIDE = re.compile(r"(?<![A-Z] )\bNO\b(?! [A-Z]{2})")
_REWRITTEN = (
    (re.compile(r"n't\b"), " not "),
    (re.compile(r"\bcan ?not\b"), " not "),
    (re.compile(r"'s\b|s'(?=\s)"), lambda match: "s" if match.group().startswith("s") else ""),
    (re.compile(r"\bper ?cents?\b|\bpercents?\b|\bpct\b"), " % "),
    (re.compile(r"\+ ?/ ?-|\bplus or minus\b"), "±"),
    (re.compile(r"<=|=<"), "≤"),
    (re.compile(r">=|=>"), "≥"),
    (re.compile(r"(?<=\d)[·∙⋅](?=\d)"), "."),
    # "kg-1", "kg^-1" after another unit: per kg
    (re.compile(r"(?<=[a-z%1])[ ·∙⋅*.]?\b(kg|g|mg|d|day|wk|week|min|h|s|l|ml|dl|m2|year|yr)\^?-1\b"), r"/\1"),
    (
        re.compile(r"\b(?:at least|no less than|not less than|no fewer than|not fewer than|a minimum of|minimum of)\b"),
        " ≥ ",
    ),
    (re.compile(r"\b(?:at most|at the most|no more than|not more than|a maximum of|maximum of|up to)\b"), " ≤ "),
)  # fmt: skip
_NUMBER_WORD = "|".join(sorted((*ONES, *TENS, *SCALES), key=len, reverse=True))
_BEFORE_NUMBER = rf"(?=\s*[-+]?(?:\d|\.\d|(?:{_NUMBER_WORD})\b))"
_COMPARED = (
    (
        re.compile(
            rf"\b(?:more|greater|higher) than{_BEFORE_NUMBER}|\b(?:over|above|exceeding|in excess of){_BEFORE_NUMBER}"
        ),
        " > ",
    ),
    (re.compile(rf"\b(?:less|fewer|lower) than{_BEFORE_NUMBER}|\b(?:below|under){_BEFORE_NUMBER}"), " < "),
    (re.compile(rf"\b(?:about|approximately|around|roughly|circa|ca\.?|approx\.?|some){_BEFORE_NUMBER}"), " ~ "),
)  # fmt: skip
_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?:[, ]\d{3}){1,6}(?:\.\d+)?(?![\d,])|\d+(?:\.\d+)?(?:,\d{1,2}(?![\d,]))?|\.\d+)"
    r"|(?P<sign>[%<>≤≥±~≈×/])"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?(?:\d[^\W_]*)?)"
)
_SIGNS = {"≈": "~"}


def read(text: str, units: Mapping[str, UnitForm] = NO_UNITS) -> tuple[Token, ...]:
    """Return the tokens of a text, in order, without function words.

    `units` are those that the corpus declares; an amount in one of them is converted to the base unit.
    """
    return tuple(_finish(_joined(list(_raw(_rewritten(text))), units)))


def _rewritten(text: str) -> str:
    cleaned = _NITRIC_OXIDE.sub("nitricoxide", clean(_POWER.sub("^", text)))
    plain = _DASHES.sub("-", folded(cleaned))
    for pattern, by in (*_REWRITTEN, *_COMPARED):
        plain = pattern.sub(by, plain)
    return plain


def _raw(text: str) -> Iterator[Token]:
    """Yield raw tokens; a number keeps its sign where the dash before it can only be a minus."""
    end = 0
    for match in _TOKEN.finditer(text):
        gap, word = text[end : match.start()], match.group()
        before = text[:end]
        end = match.end()
        if match["number"]:
            negative = gap.endswith("-") and (
                gap[:-1].endswith((" ", "(", "[", "=", "+")) or not before or before[-1] in "<>≤≥~"
            )
            if negative and gap.strip() == "-" and before.rstrip()[-1:].isdigit():
                negative = False  # "10 -12" is a range
            yield Token(_value(word, negative=negative), Kind.NUMBER, gap[:-1] if negative else gap, word)
        elif match["sign"]:
            key = _SIGNS.get(word, word)
            yield Token(key, Kind.UNIT if key == "%" else Kind.COMPARATOR, gap, word)
        else:
            yield Token(word, Kind.WORD, gap, word)


def _value(word: str, *, negative: bool) -> str:
    """Return one key for equal numbers; a number with a leading zero is its own key."""
    plain = re.sub(r"[, ](?=\d{3}(?:\D|\Z))", "", word).replace(",", ".")
    if re.match(r"0\d", plain):
        return f"-{plain}" if negative else plain
    value = Decimal(plain if plain.count(".") < 2 else plain.replace(".", ""))
    return _spelt(-value if negative else value)


def _spelt(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _joined(raw: list[Token], units: Mapping[str, UnitForm]) -> Iterator[Token]:
    """Join the words of spelt numbers, units, "per" and ranges."""
    numbered = list(_number_words(raw))
    united = list(_units(numbered, units))
    ranged = list(_ranges(united))
    ranged = list(_converted(ranged, units)) if units else ranged
    for place, token in enumerate(ranged):
        follows = ranged[place + 1] if place + 1 < len(ranged) else None
        is_doubled = (
            token.kind is Kind.UNIT
            and follows is not None
            and follows.key == RANGE
            and place + 3 < len(ranged)
            and ranged[place + 3].key == token.key
        )
        if not is_doubled:  # "10% to 12%" reads as "10-12%"
            yield token


def _number_words(tokens: list[Token]) -> Iterator[Token]:
    place = 0
    while place < len(tokens):
        token = tokens[place]
        taken, value = _number_at(tokens, place)
        if taken:
            yield Token(_spelt(Decimal(value)), Kind.NUMBER, token.gap, token.word)
            place += taken
            continue
        if token.word in ORDINALS and token.word != "second":
            token = replace(token, key=f"#{ORDINALS[token.word]}", kind=Kind.NUMBER)
        elif token.word in PARTS:
            token = replace(token, key=stem(token.word), kind=Kind.NUMBER)
        yield token
        place += 1


def _number_at(tokens: list[Token], place: int) -> tuple[int, int]:
    """Return how many tokens from `place` on spell one number, and the number."""
    total = current = taken = 0
    while place + taken < len(tokens):
        token = tokens[place + taken]
        word = token.word
        is_apart = taken > 0 and token.gap not in {" ", "-"}
        if is_apart:
            break
        if word in SCALES and taken:
            current = max(current, 1) * SCALES[word]
            if SCALES[word] > 100:
                total, current = total + current, 0
        elif word in TENS and current % 100 == 0:
            current += TENS[word]
        elif word in ONES and (current % 100 == 0 or (current % 10 == 0 and ONES[word] < 10 and current % 100 > 10)):
            if taken and tokens[place + taken - 1].word in ONES:
                break
            current += ONES[word]
        else:
            break
        taken += 1
    return taken, total + current


def _converted(tokens: list[Token], units: Mapping[str, UnitForm]) -> Iterator[Token]:
    """Convert amounts in declared units to the base unit of their dimension.

    An amount of which another number shares the unit stays as it is: the unit holds for both of "two to three quires".
    """
    shares = False
    for place, token in enumerate(tokens):
        follows = tokens[place + 1] if place + 1 < len(tokens) else None
        if token.kind is Kind.NUMBER:
            form = _declared(follows, units)
            if form and form.base and not shares and token.key[0] != "#":
                token = replace(token, key=_spelt(Decimal(token.key) * Decimal(str(form.factor))))
                tokens[place + 1] = replace(tokens[place + 1], key=f"u:{form.base}")
            shares = follows is None or follows.kind is not Kind.UNIT
        elif token.kind is not Kind.COMPARATOR and token.kind is not Kind.UNIT and token.word not in _BETWEEN_NUMBERS:
            shares = False
        yield token


_BETWEEN_NUMBERS = frozenset({"and", "or", "to"})


def _declared(token: Token | None, units: Mapping[str, UnitForm]) -> UnitForm | None:
    return units.get(token.word) if token is not None and token.kind is Kind.UNIT else None


def _units(tokens: list[Token], declared: Mapping[str, UnitForm]) -> Iterator[Token]:
    before: Token | None = None
    for place, token in enumerate(tokens):
        follows = tokens[place + 1] if place + 1 < len(tokens) else None
        if token.kind is Kind.WORD:
            token = _unit(token, before, declared)
        if token.word in {"per", "/", "a", "an", "each", "every"} and follows is not None:
            following = _unit(follows, Token(PER, Kind.COMPARATOR), declared)
            is_rate = following.kind is Kind.UNIT and (token.word in {"per", "/"} or following.key[2:] in TIMES)
            if is_rate and before is not None and before.kind in {Kind.UNIT, Kind.NUMBER, Kind.WORD}:
                token = replace(token, key=PER, kind=Kind.COMPARATOR)
        if token.word in ADVERBIAL_TIMES:
            yield replace(token, key=PER, kind=Kind.COMPARATOR)
            token = Token(f"u:{ADVERBIAL_TIMES[token.word]}", Kind.UNIT, "", token.word)
        yield token
        before = token


def _unit(token: Token, before: Token | None, declared: Mapping[str, UnitForm]) -> Token:
    """Convert the token to a unit where it can be one."""
    is_behind = before is not None and ((before.kind is Kind.NUMBER and before.key[0] != "#") or before.key == PER)
    if form := declared.get(token.word):
        return replace(token, key=f"u:{form.unit}", kind=Kind.UNIT) if len(token.word) > 1 or is_behind else token
    if token.word == "second" and not is_behind:
        return replace(token, key="#2", kind=Kind.NUMBER)
    unit = UNITS.get(token.word) or (SHORT_UNITS.get(token.word) if is_behind else None)
    return replace(token, key=f"u:{unit}", kind=Kind.UNIT) if unit else token


def _ranges(tokens: list[Token]) -> Iterator[Token]:
    """Replace a dash, "to" or "between … and" between two numbers by one sign, and drop "from" before it."""
    between, gap = False, ""
    for place, read_token in enumerate(tokens):
        token, gap = (replace(read_token, gap=gap + read_token.gap) if gap else read_token), ""
        number = next(
            (
                p
                for p in (place + 1, place + 2)
                if p < len(tokens) and tokens[p].kind is Kind.NUMBER and _only_sign(tokens, place, p)
            ),
            None,
        )
        before = tokens[place - 1] if place else None
        is_behind = before is not None and (
            before.kind is Kind.NUMBER
            or (before.kind is Kind.UNIT and place > 1 and tokens[place - 2].kind is Kind.NUMBER)
        )
        if token.word in {"from", "between"} and number == place + 1:
            between = token.word == "between"
            if _opens_range(tokens, place + 1, between=between):
                gap = token.gap + RANGE_MARK
                continue
        if token.word == "to" and is_behind and number is not None:
            yield Token(RANGE, Kind.COMPARATOR, "", "to")
            continue
        if token.word == "and" and between and is_behind and number == place + 1:
            between = False
            yield Token(RANGE, Kind.COMPARATOR, "", "and")
            continue
        if token.kind is Kind.NUMBER and is_behind and token.gap == "-":
            yield Token(RANGE, Kind.COMPARATOR, "", "-")
            yield replace(token, gap="")
            continue
        if token.kind is Kind.NUMBER and is_behind and token.gap in {" - ", " -"}:
            yield Token(RANGE, Kind.COMPARATOR, "", "-")
            yield replace(token, gap="")
            continue
        yield token


def _only_sign(tokens: list[Token], place: int, number: int) -> bool:
    return all(tokens[p].kind is Kind.COMPARATOR for p in range(place + 1, number))


def _opens_range(tokens: list[Token], place: int, *, between: bool) -> bool:
    """Tell whether a range begins with the number at `place`: "from 10 to 12", "between 10 % and 12 %"."""
    joint = "and" if between else "to"
    for at in (place + 1, place + 2):
        if at + 1 < len(tokens) and tokens[at].word == joint and tokens[at + 1].kind is Kind.NUMBER:
            return True
        if at < len(tokens) and tokens[at].kind is not Kind.UNIT:
            return False
    return False


def _finish(tokens: Iterable[Token]) -> Iterator[Token]:
    """Set kinds and keys of words; drop function words, and pass their gap and marks on to the next token."""
    gap, reported, opens, earlier, before = "", False, False, "", ""
    for token in tokens:
        gap += token.gap
        if token.kind is Kind.WORD and token.word in EMPTY:
            # "to show that" names an aim and no finding
            reported = reported or (token.word == "that" and stem(before) in REPORTED and earlier != "to")
            opens = opens or token.word in {"which", "who", "whom", "whose", "that"}
            earlier, before = before, token.word
            continue
        if token.kind is Kind.WORD:
            key, kind = _word(token.word)
            token = Token(key, kind, gap, token.word, reported, opens)
        else:
            token = Token(token.key, token.kind, gap, token.word, reported, opens)
        yield token
        gap, reported, opens, earlier, before = "", False, False, before, token.word


def _word(word: str) -> tuple[str, Kind]:
    kind = kind_of(word)
    if word in SAME:
        return SAME[word], kind
    if kind in {Kind.POPULATION, Kind.GROUP}:
        return _singular(word), kind  # "trained" and "training" share a stem
    return (stem(word) if word.isalpha() else word), kind


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")) else word
