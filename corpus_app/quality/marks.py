"""Find defects of characters: glyph codes, wrong operator signs, and invisible characters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus_app.quality.text_faults import Kind, TextFault
from corpus_app.sources.markup import HOLE, decode_html

# --- Characters -------------------------------------------------------------------------------------------------------

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_LIGATURE = re.compile("[ﬀ-ﬆ]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufff0-\ufffb]+")
_ZERO_WIDTH = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]+"
)

# UTF-8 read as Windows-1252: a letter that opens a sequence, then what cp1252 makes of the bytes 80 to BF.
_CONTINUED = (
    "\u0080-\u00bf\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d"
    "\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178"
)
_MOJIBAKE = re.compile(f"(?:[ÂÃÄÅÎÏÐÑ][{_CONTINUED}]|[âãäåéï][{_CONTINUED}]{{2}}|ð[{_CONTINUED}]{{3}})+|\ufffd+")


_IS_RAISED = re.compile(r"[ÅÄäåéïÎÏ][¹²³]{1,2}")


def characters(text: str) -> Iterator[TextFault]:
    for match in _LIGATURE.finditer(text):
        yield _at(match, Kind.LIGATURE, _LIGATURES[match[0]])
    for match in _CONTROL.finditer(text):
        yield _at(match, Kind.CONTROL, "")
    for match in re.finditer(HOLE, text):
        yield _at(match, Kind.HOLE, None)
    for match in _ZERO_WIDTH.finditer(text):
        yield _at(match, Kind.ZERO_WIDTH, "")
    for match in _MOJIBAKE.finditer(text):
        if _IS_RAISED.fullmatch(match[0]):
            continue  # "20 e⁻/Å²"
        mend = _unmangled(match[0])
        if mend != match[0]:
            yield _at(match, Kind.MOJIBAKE, mend)


def _unmangled(words: str) -> str | None:
    """Return the text that the bytes meant; None when it is lost, the same words when they are correct."""
    if "\ufffd" in words:
        return None
    try:
        raw = b"".join(char.encode("cp1252") if not "\x80" <= char <= "\x9f" else bytes([ord(char)]) for char in words)
        return raw.decode("utf-8")
    except UnicodeError:
        return words


def _at(match: re.Match[str], kind: Kind, mend: str | None, group: int | str = 0) -> TextFault:
    return TextFault(match.start(group), match.end(group), kind, match[group], mend)


# --- Codes of glyphs, mark-up -----------------------------------------------------------------------------------------

_GLYPH = re.compile(
    r"\(cid:\s?\d+\)|\bcid:\d+|(?<=[a-z])/[A-Za-z]\d{2,5}(?=[a-z])|/uni[0-9A-F]{4}|\buni[0-9A-F]{4}(?![0-9A-Za-z])"
    r"|/u[0-9A-Fa-f]{4,5}\b|<U\+[0-9A-Fa-f]{4,5}>|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|U\+[0-9A-F]{4}\b"
    r"|(?<!\d)/H\d{4,5}(?!/)|(?<![A-Z0-9])/[ga]\d{2,5}(?![\d/%])|(?<![A-Za-z0-9])/G\d{2,5}(?![\d/%])"
    r"|(?<![A-Za-z0-9]{2})/[HCcBS]\d{1,5}(?![\d/%])|(?<![a-z]{2})/(?:minus|period"
    r"|hyphen|hyphenminus|plusminus|multiply|less|greater|lessequal|greaterequal|equal|comma|parenleft|parenright"
    r"|space|"
    r"zero|one|two|three|four|five|six|seven|eight|nine|fi|fl|ff|ffi|ffl|quoteright|quoteleft|endash|emdash|bullet"
    r"|alpha|beta|mu|degree|asterisk|percent|slash|colon|semicolon)\b(?![/ ]?(?:or|and))"
    r"|glyph\s?<[^<>]{1,40}>|GLYPH<[^<>]{1,40}>|<g\d+>|\bafii\d{5}\b|\bg\d{3,5}\b(?=g\d)"
    r"|[\ue000-\uf8ff\U000f0000-\U0010fffd]+"
)
_NAMED = {
    "/minus": "−", "/period": ".", "/hyphen": "-", "/hyphenminus": "-", "/plusminus": "±", "/multiply": "×",
    "/less": "<", "/greater": ">", "/lessequal": "≤",
    "/greaterequal": "≥", "/equal": "=", "/comma": ",", "/parenleft": "(", "/parenright": ")", "/space": " ",
    "/fi": "fi", "/fl": "fl", "/ff": "ff", "/ffi": "ffi", "/ffl": "ffl",
    "/quoteright": "’", "/quoteleft": "‘", "/endash": "–", "/emdash": "—", "/bullet": "•", "/alpha": "α",
    "/beta": "β", "/mu": "µ", "/degree": "°", "/percent": "%",
    "/zero": "0", "/one": "1", "/two": "2", "/three": "3", "/four": "4", "/five": "5", "/six": "6", "/seven": "7",
    "/eight": "8", "/nine": "9",
    # The names that one foundry's maths font gives its signs.
    "/H11002": "−", "/H11005": "=", "/H11006": "±", "/H11021": "<", "/H11022": ">", "/H11003": "×", "/H11001": "+",
    "/H11349": "≤", "/H11350": "≥", "/H9251": "α",
    "/H9252": "β", "/H9262": "μ", "/H11032": "′", "/H11034": "°", "/C0": "−", "/C6": "±", "/C2": "×", "/C14": "°",
}  # fmt: skip
_MARKUP = re.compile(
    r"<(?P<run>su[bp]|inf)\b[^<>]{0,80}>[^<>]{1,60}</(?P=run)>"
    r"|</?(?:sub|sup|i|b|em|strong|p|br|div|span|script|iframe|img|a|svg|style|table|tr|td|li|ul|ol|h[1-6]|italic"
    r"|bold|xref|jats:\w+|mml:\w+)\b[^<>]{0,200}/?>"
    r"|&(?:#\d{2,6}|#x[0-9A-Fa-f]{2,5}|(?:lt|gt|amp|quot|apos|nbsp|plusmn|times|minus|le|ge|deg|micro|alpha|beta"
    r"|ndash|mdash|rsquo|lsquo|hellip|middot|frac12));"
    r"|\\(?:textit|textbf|emph|cite|ref|begin|end|frac|alpha|beta|mu|pm|leq|geq|times)\b(?:\{[^{}]{0,80}\})?"
    r"|\$[^$\s][^$]{0,60}\\[a-z]+[^$]{0,60}\$",
    re.IGNORECASE,
)


def codes(text: str) -> Iterator[TextFault]:
    for match in _GLYPH.finditer(text):
        yield _at(match, Kind.GLYPH_CODE, _glyph(match[0]))
    for match in _MARKUP.finditer(text):
        yield _at(match, Kind.MARKUP, _plain(match[0]))


def _plain(written: str) -> str | None:
    """Return the text of a tag or an entity; a tag of another kind goes, and None stands for LaTeX."""
    if not written.startswith(("&", "<")):
        return None
    plain = decode_html(written).strip("\n")
    return "" if plain == written else plain


def _glyph(code: str) -> str | None:
    if code in _NAMED:
        return _NAMED[code]
    if found := re.search(r"(?:uni|/u|U\+|\\u)([0-9A-Fa-f]{4,5})", code):
        number = int(found[1], 16)
        return chr(number) if 0x20 <= number < 0xD800 else None
    return None


# --- Operators --------------------------------------------------------------------------------------------------------

_NUMBER = r"[-−–]?(?:\d+(?:[.,·]\d+)*|[.·]\d+)"
_UNIT = (
    r"(?:%|years?|yrs?|y\b|kg|mg|g\b|µg|μg|ml|mL|l\b|L\b|cm|mm|m\b|km|s\b|sec\b|seconds?|min\b|minutes?|h\b|hours?"
    r"|d\b|days?|weeks?|wk|months?|reps?\b|repetitions?|sets?\b|points?|"
    r"mmHg|mmol|nmol|pmol|kcal|kJ|W\b|N\b|Hz|°|IU|bpm|participants|subjects|patients|studies|RM|1RM)"
)
_LABEL = (
    r"(?i:vitamins?|groups?|hepatitis|types?|factors?|arms?|phases?|panels?|cohorts?|studies|study|conditions?|class"
    r"|grades?|stages?|levels?|figures?|tables?|and|or|site|protocol|part|protein|influenza|formula|schools?|diets?"
    r"|trial|apolipoprotein|strain|cell|cells)"
)
_ODD = "[ADEFGHKLMNOQRSTUVXYZ]"
"""Letters that no statistic is called by, in place of <, = or >."""
_P_BEFORE = r"(?<![\w.\-/])[Pp](?:[- ]?(?:values?|val\.?))?"
_OPERATORS: tuple[tuple[re.Pattern[str], str | None], ...] = tuple(
    (re.compile(pattern), mend)
    for pattern, mend in (
        # What maths fonts put in place of <, =, > after a P: a letter, a bracket, a fraction, a five.
        (rf"{_P_BEFORE}\s{{0,2}}(?P<sign>\\)\s{{0,2}}0?[.,·]\d", "<"),
        (rf"{_P_BEFORE}\s{{0,2}}(?P<sign>\[)\s{{0,2}}0?[.,·]\d", ">"),
        (rf"{_P_BEFORE}\s{{0,2}}(?P<sign>B)\s{{0,2}}0?[.,·]\d", "≤"),
        (rf"{_P_BEFORE}\s{{0,2}}(?P<sign>C)\s{{0,2}}0?[.,·]\d", "≥"),
        (rf"{_P_BEFORE}\s{{0,2}}(?P<sign>¼)\s{{0,2}}0?[.,·]\d", "="),
        (rf"{_P_BEFORE}\s{{1,2}}(?P<sign>5)\s{{1,2}}0?[.,·]\d", "="),
        (
            rf"{_P_BEFORE}\s{{0,2}}(?P<sign>{_ODD}(?=\s)|(?<=\s){_ODD}(?=0?[.,·]\d)"
            r"|[!?#$%^&@`|_½¾Æ¿¡]|[,;.]\s|(?<=\s):\s|/)"
            r"\s{0,2}0?[.,·]\d",
            None,
        ),
        (rf"{_P_BEFORE}(?P<sign>\s+)0?[.,·]\d{{2,}}", None),
        (r"[A-Za-z)\]²]\s{0,2}(?P<sign>¼)\s{0,2}[-−–(]?\d", "="),
        (r"(?<=\d)(?P<sign>Æ)(?=\d)", "."),
        (rf"\d\s(?P<sign>Æ|¡|¿|6)\s{_NUMBER}(?=\s?(?:{_UNIT}|[;,)]))", "±"),
        (rf"(?P<sign>[$#])\s?{_NUMBER}\s?(?:years|yrs|weeks|days|months|kg|%|min\b|h\b|cm|mm|sets|reps)", None),
        (r"\d\.\d+\s{1,2}(?P<sign>[A-Z])\s{1,2}\d+\.\d", None),
        (r"\d\.\d+\s{1,2}(?P<sign>6)\s{1,2}\d+\.\d", "±"),
        (r"\d\s{0,2}(?P<sign>[ÂÃ])\s?\d", "×"),
        (r"(?<![A-Za-zÀ-ÿ])(?P<sign>[ÀÁ])\s?\d", "−"),
        (r"\d\s{0,2}(?P<sign>þ|Þ)\s?\d|\w(?P<other>þ|Þ)(?=[\s,)])", "+"),
        (r"(?<!\d )\b\d{1,3}\s(?P<sign>9)\s\d{1,4}(?=\s|[,;.)])", "×"),
        (r"(?P<sign>\\)\s?\d", "<"),
        (r"\s(?P<sign>\\)\s", None),
        (rf"(?<![\w\-/])(?P<sign>B)(?:\s?{_NUMBER}\s?{_UNIT}|\s0?\.\d)", "≤"),
        (rf"(?<![\w\-/°])(?P<sign>C)(?:\s?{_NUMBER}\s?{_UNIT}|\s0?\.\d)", "≥"),
        (
            r"\b(?:n|N|r|R2|R²|d|F|t|z|β|SD|SE|SEM|CI|ES|SMD|OR|RR|HR|MD|df|I2|I²|α|χ2|χ²|ICC|CV|mean"
            r"|M)\s{1,2}(?P<sign>5)\s{1,2}[-−–]?\d",
            "=",
        ),
        (r"\d\s{0,2}(?P<sign>[?!])\s?\d", None),
        (rf"\d\s(?P<sign>\$|#|@|\^|`|\|)\s{_NUMBER}", None),
    )
)
_OPENED = re.compile(r"[\[\]]")


def operators(text: str) -> Iterator[TextFault]:
    for pattern, mend in _OPERATORS:
        for match in pattern.finditer(text):
            group = "sign" if match["sign"] else "other"
            before = text[max(0, match.start(group) - 24) : match.start(group)]
            if match[group] in {"B", "C"} and not _AFTER_P.search(before) and _AFTER_LABEL.search(before):
                continue
            if match[group] == "5" and re.search(
                r"(?:grade|stage|level|week|day|phase)\s\w?\s?$", before, re.IGNORECASE
            ):
                continue
            yield _at(match, Kind.OPERATOR, mend if match[group].strip() or mend is None else None, group)
    yield from _lone_brackets(text)


_AFTER_P = re.compile(r"(?<!\w)[Pp]\s*\Z")
_AFTER_LABEL = re.compile(rf"(?:\b{_LABEL}|\d\s?[°º]?|[A-Z],?|,)\s?\Z")


def _lone_brackets(text: str) -> Iterator[TextFault]:
    """ "[10 s" for "> 10 s": a bracket before a number that nothing closes, or one that closes nothing."""
    opened: list[re.Match[str]] = []
    for match in _OPENED.finditer(text):
        if match[0] == "[":
            opened.append(match)
        elif opened:
            opened.pop()
        else:
            yield from _lone(text, match)
    for match in opened:
        yield from _lone(text, match)


def _lone(text: str, match: re.Match[str]) -> Iterator[TextFault]:
    if re.match(rf"\s?{_NUMBER}", text[match.end() : match.end() + 12]):
        yield _at(match, Kind.OPERATOR, ">" if match[0] == "[" else None)
