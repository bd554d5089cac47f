"""Find misspellings from text extraction: split words, joined words, and letters lost with a ligature."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus_app.quality.lexicon import UNKNOWN, Lexicon
from corpus_app.quality.text_faults import Kind, TextFault

_BROKEN = re.compile(
    r"(?<![^\W\d_])(?P<left>[^\W\d_]{2,})(?P<gap>[-‐\u00ad¬](?=\s*\n)\s++|[-‐¬]\s++|\s*+¬\s*+)(?P<right>[^\W\d_]{2,})"
)
_PAIR = re.compile(
    r"(?<![\w'’/.\-–])(?P<left>[^\W\d_]+)(?P<gap>[ \u00a0]|(?=\s*\n)\s++)(?P<right>[^\W\d_]++)(?![\w'’\-–/])"
)
_WORD = re.compile(r"(?<![\w/.@])[^\W\d_]{4,}(?![\w@]|[-–]\w*\d)")
LONGEST_WORD = 100  # letters that are taken apart
_LOST = ("fi", "fl", "ff", "ffi", "ffl")
_FUNCTION = frozenset(
    "the of and in to with for was were from by on at as that this these than their after between during not is are "
    "be been or which who had have has an it its all but into "
    "both each no we our they there when while also more most".split()
)
_APART = frozenset({("per", "cent"), ("per", "mille")})
"""Pairs that are also written as one word."""
_PREFIXES = frozenset("non post pre co sub multi inter intra anti self semi over under re un".split())
_HANGING = frozenset("and or to nor but versus vs through as than with compared relative rather und bis".split())


def broken_words(text: str, lexicon: Lexicon) -> Iterator[TextFault]:
    for match in _BROKEN.finditer(text):
        left, right = match["left"], match["right"]
        if "\n" not in match["gap"] and right.lower() in _HANGING:
            continue  # "low- and high-load"
        if "\n" not in match["gap"] and left.isupper() and right.islower():
            continue  # a formula: "HO-CH- in"
        joined = left + right
        keeps = right[0].isupper() or (not lexicon.knows(joined) and lexicon.knows(left) and lexicon.knows(right))
        # A blank behind the hyphen of a compound ("age- matched") changes no meaning; a split word may.
        is_split = "\n" in match["gap"] or not match["gap"].startswith(("-", "‐"))
        is_split |= lexicon.knows(joined) and left.lower() not in _PREFIXES
        kind = Kind.SPLIT_WORD if is_split else Kind.LOOSE_HYPHEN
        yield TextFault(match.start(), match.end(), kind, match[0], f"{left}-{right}" if keeps else joined)
    at = 0
    while pair := _PAIR.search(text, at):
        at = pair.start("right")
        left, right = pair["left"], pair["right"]
        if _is_symbol(text, pair):
            continue
        if _is_one_word(left, right, lexicon):
            yield TextFault(pair.start(), pair.end(), Kind.SPLIT_WORD, pair[0], left + right)
        elif mend := _with_ligature_between(left, right, lexicon):
            yield TextFault(pair.start(), pair.end(), Kind.LIGATURE, pair[0], mend)


def _is_symbol(text: str, pair: re.Match[str]) -> bool:
    """Tell a single letter that is a word: "37 °C over", "the sequence s, and", "group B reached", "p values"."""
    if pair["right"] == "p" and re.match(r"\svalues?\b", text[pair.end() : pair.end() + 8]):
        return True
    if len(pair["left"]) == 1 and re.search(r"(?:[°º\d]|[a-z])\s?\Z", text[max(0, pair.start() - 2) : pair.start()]):
        return True
    return len(pair["right"]) == 1 and not re.match(r"\s[a-z]", text[pair.end() : pair.end() + 2])


def _is_one_word(left: str, right: str, lexicon: Lexicon) -> bool:
    joined = left + right
    if (
        len(joined) < 5
        or (left.lower(), right) in _APART
        or left in {"a", "A", "I"}
        or right == "a"
        or not (right.islower() and (left.islower() or left.istitle()))
    ):
        return False
    whole = lexicon.weight(joined)
    if whole == UNKNOWN:
        return False
    parts = [lexicon.weight(left), lexicon.weight(right)]
    if len(left) == 1:
        parts[0] = UNKNOWN
    if len(right) == 1:
        parts[1] = UNKNOWN
    if UNKNOWN in parts:
        return True
    return min(parts) < whole - 2.0 and min(len(left), len(right)) < 4 and min(parts) < -10.5


def run_together(text: str, lexicon: Lexicon) -> Iterator[TextFault]:
    for match in _WORD.finditer(text):
        word = match[0]
        if len(word) > LONGEST_WORD or not (word.islower() or word.istitle()) or lexicon.knows(word):
            continue
        if mend := _with_ligature(word, lexicon):
            yield TextFault(match.start(), match.end(), Kind.LIGATURE, word, mend)
        elif split := _two_words(word, lexicon) or (_several_words(word.lower(), lexicon) if len(word) > 11 else None):
            yield TextFault(match.start(), match.end(), Kind.RUN_TOGETHER, word, split)


def _several_words(word: str, lexicon: Lexicon) -> str | None:
    """Split three or more joined words, such as "increasedstrengthin"; None when no split is likely."""
    best: list[tuple[float, tuple[str, ...]] | None] = [(0.0, ())] + [None] * len(word)
    for end in range(2, len(word) + 1):
        for begin in range(max(0, end - 18), end - 1):
            piece, before = word[begin:end], best[begin]
            if before is None or (len(piece) < 4 and piece not in _FUNCTION) or (lexicon.rank(piece) or 99_999) > 6_000:
                continue
            weight = before[0] + lexicon.weight(piece)
            if best[end] is None or weight > best[end][0]:  # type: ignore[index]
                best[end] = (weight, (*before[1], piece))
    found = best[len(word)]
    return " ".join(found[1]) if found and len(found[1]) > 2 and found[0] / len(found[1]) > -10.5 else None


_LIKE_ENDINGS = frozenset("or is in on as to by at an the all had held able".split())  # "connector" is not "connect or"
_LIKE_BEGINNINGS = frozenset(
    {"in", "on", "an", "for", "with", "out", "over", "under", "after", "up", "by", "be", "or"}
)  # nor "indrawing" "in drawing"


def _two_words(word: str, lexicon: Lexicon) -> str | None:
    if len(word) < 6 and not any({word[:at].lower(), word[at:]} <= _FUNCTION for at in range(2, len(word) - 1)):
        return None  # as short as that, it is a name or a term; but "ofthe" is none
    best, found = -15.5, None
    for at in range(1, len(word)):
        left, right = word[:at], word[at:]
        if (at == 1 and left not in "aA") or len(right) < 2:
            continue
        weight = lexicon.weight(left) + lexicon.weight(right)
        if right in _LIKE_ENDINGS and (lexicon.rank(left) or 99_999) > 1_500:
            continue
        if left in _LIKE_BEGINNINGS and (lexicon.rank(right) or 99_999) > 2_500:
            continue
        if word[0].isupper() and (left.lower() not in _FUNCTION or right in _LIKE_ENDINGS or len(right) < 4):
            continue  # most likely a name
        if left.lower() in _FUNCTION or right.lower() in _FUNCTION:
            weight += 3.0
        if min(len(left), len(right)) < 3 and not {left.lower(), right.lower()} & _FUNCTION:
            weight -= 4.0
        if min(len(left), len(right)) > 3 and len(word) > 9 and word.islower():
            weight += 4.5 if min(lexicon.weight(left), lexicon.weight(right)) > -11.6 else 0.0
        if weight > best:
            best, found = weight, f"{left} {right}"
    return found


def _with_ligature(word: str, lexicon: Lexicon) -> str | None:
    """Restore a word that lost a ligature, such as "signicant" or "dierence"; None when it is no such word."""
    for at in range(len(word) + 1):
        for letters in _LOST:
            whole = word[:at] + letters + word[at:]
            if (lexicon.rank(whole) or 99_999) < 9_000:
                return whole
    return None


def _with_ligature_between(left: str, right: str, lexicon: Lexicon) -> str | None:
    """Restore a word split at a lost ligature, such as "signi cant" or "e ects"; None when it is none."""
    if not right.islower() or len(left) + len(right) < 3:
        return None
    weights = [UNKNOWN if len(part) == 1 and part not in "aAI" else lexicon.weight(part) for part in (left, right)]
    if min(weights) > -11.0:
        return None
    for letters in _LOST:
        whole = left + letters + right
        if (lexicon.rank(whole) or 99_999) < 9_000 and (
            UNKNOWN in weights or lexicon.weight(whole) > min(weights) + 1.5
        ):
            return whole
    return None


# --- Spaces between words and signs -----------------------------------------------------------------------------------

_ADDRESS = re.compile(
    r"\b(?:https?://|www\.|doi\b|10\.\d{4})\S*|(?<!\S)\S+@\S+"
    r"|(?<![\w-])[\w-]+\.(?:com|org|gov|net|edu|uk|eu|io|de|ca|au)\b\S*",
    re.IGNORECASE,
)
_SPACES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<=[a-z]{2}|[a-z\d%][)\]])(?P<at>[.;:?!])(?=[A-Z][a-z])"), "{0} "),
    (re.compile(r"(?<=[a-z]{2})(?P<at>[,;])(?=[A-Za-z]{2})"), "{0} "),
    (re.compile(r"(?<=[a-z]{3})(?P<at>\()(?=[A-Za-z]{2,} |[nNpPMd] ?[=<>]|\d+(?:\.\d+)? ?(?:%|±|[a-z]+\b)|9\d%)"),
    " {0}"),
    (re.compile(r"(?<=[\w.%])(?P<at>\))(?=[A-Za-z]{3})"), "{0} "),
    (re.compile(r"(?<=\d)(?P<at>)(?=(?:weeks?|days?|years?|months?|hours?|minutes?|seconds?|participants|subjects"
    r"|patients|studies|trials|men|women|adults|sets|repetitions|sessions|groups|of|and|to|in|was|were|with|for"
    r"|the)\b)"), " "),
    (re.compile(r"\b(?:of|the|and|in|was|were|to|with|for|from|by|at|than|about|over|after|least|between"
    r"|approximately|averaged|included|nearly|aged|were|mean|only|total|another|among|per)(?P<at>)(?=\d)"), " "),
    (re.compile(r"(?<=[a-z]{3})(?P<at>)(?=[A-Z][a-z]{2,}\b)"), " "),
    (re.compile(r"(?<=[a-z]{2})(?P<at>)(?=\d+(?:\.\d+)?\s?(?:%|±|kg|mg|weeks?|days?|years?|cm|mm|min|h\b))"), " "),
    (re.compile(r"(?<=\d%)(?P<at>)(?=[a-z]{2,})"), " "),
)  # fmt: skip
_CAPITAL = 6  # a small letter before a capital: perhaps the name of a product


def missing_spaces(text: str, lexicon: Lexicon) -> Iterator[TextFault]:
    in_address = bytearray(len(text))
    for match in _ADDRESS.finditer(text):
        in_address[match.start() : match.end()] = b"\1" * len(match[0])
    for index, (pattern, mend) in enumerate(_SPACES):
        for match in pattern.finditer(text):
            place = match.start("at")
            if place < len(text) and in_address[place]:
                continue
            start, end = _token(text, place)
            token = text[start:end]
            if index == _CAPITAL and not _are_words(
                text[start:place].strip("("), re.sub(r"\W.*", "", text[place:end]), lexicon
            ):
                continue
            before, after = text[start:place], text[match.end("at") : end]
            yield TextFault(start, end, Kind.MISSING_SPACE, token, before + mend.format(match["at"]) + after)


def _are_words(left: str, right: str, lexicon: Lexicon) -> bool:
    return (left.islower() or right.lower() in _FUNCTION) and lexicon.knows(left) and lexicon.knows(right)


def _token(text: str, at: int) -> tuple[int, int]:
    start, end = at, at
    while start and not text[start - 1].isspace() and at - start < 40:
        start -= 1
    while end < len(text) and not text[end].isspace() and end - at < 40:
        end += 1
    return start, max(end, start + 1)
