"""Turn the names of authors, in the many forms of exporters, into `Family AB`."""

from __future__ import annotations

import html
import re
import unicodedata

LONGEST_NAME = 300  # characters; what is longer is no name, and is not taken apart
_SUFFIX = re.compile(r"(?:jr|sr|2nd|3rd|ii|iii|iv)\.?", re.IGNORECASE)
_INITIALS = r"(?:[A-ZÀ-ÖØ-ÞĀ-Ž]\.?[ -]?){1,4}"
_INITIALS_LAST = re.compile(
    r"(?=(?>[^\d,]*?[^\W\d_]{2})[^\d,]* )(?P<family>[^\d,]*) (?P<initials>(?:[A-ZÀ-ÖØ-Þ]\.?-?){1,4})"
)
_PARTICLES = frozenset(
    "al da das de del della den der di do dos du el la le los ten ter van vande vanden vander von zu zur 't".split()
)
_BODY = re.compile(
    r"\b(?:group|consortium|committee|collaborat\w*|association|society|college|institute|university|centre|center|"
    r"network|team|organi[sz]ation|investigators|initiative|council|agency|ministry|department|project|academy|"
    r"federation|foundation|working group|task force)\b",
    re.IGNORECASE,
)
_ET_AL = re.compile(r"(?:\bet al\.?|\band others|\A(?:and )?others)\s*$", re.IGNORECASE)
_COMMAS = str.maketrans({"،": ",", "，": ",", "；": ";", "؛": ";"})
_LETTERS = str.maketrans({
    "Ł": "L", "ł": "l", "Ø": "O", "ø": "o", "Đ": "D", "đ": "d", "ß": "ss", "Æ": "Ae", "æ": "ae", "Œ": "Oe", "œ": "oe",
    "Þ": "Th", "þ": "th", "Ð": "D", "ð": "d", "ı": "i", "Ŋ": "N", "ŋ": "n", "Ħ": "H", "ħ": "h",
})  # fmt: skip
"""Letters that Unicode does not take apart into a letter and a mark."""


def ascii_letters(text: str) -> str:
    """Return only the letters of a name, without their marks: Lukasiewicz for Łukasiewicz."""
    return re.sub(r"[^A-Za-z]", "", unicodedata.normalize("NFKD", text.translate(_LETTERS)))


def split_names(values: list[str]) -> tuple[list[str], bool]:
    """Return the names in the values of a field, one each, and whether the list is said to go on (et al.)."""
    names: list[str] = []
    goes_on = False
    for value in values:
        whole = html.unescape(value).translate(_COMMAS).strip()
        if whole.startswith("{"):
            names.append(whole)
            continue
        cut = _ET_AL.sub("", whole).rstrip(" ,;")
        goes_on |= len(cut) < len(whole.rstrip(" ,;"))
        is_body = whole.endswith(",") and "," not in whole[:-1]  # EndNote's mark for a body
        names += [f"{{{cut}}}"] if is_body and " " in cut else [name for name in _split(cut) if name]
    return names, goes_on


def _split(value: str) -> list[str]:
    """Split one value that holds several names; a value of any other form is one name."""
    if ";" in value:
        return [name.strip() for name in value.split(";")]
    parts = [part.strip() for part in re.split(r",|\s(?:and|&)\s", value)]
    if len(parts) < 2 or _BODY.search(value):
        return [value]
    if len(parts) % 2 == 0 and all(re.fullmatch(_INITIALS, part) for part in parts[1::2]):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    is_whole = all(" " in part and not _SUFFIX.fullmatch(part) for part in parts)
    return parts if is_whole and (len(parts) > 2 or "," not in value or _is_two_names(parts)) else [value]


def _is_two_names(parts: list[str]) -> bool:
    """Tell whether two parts are two names, and not a family name of two words and given names."""
    return all(re.fullmatch(rf".*[^\W\d_]{{2}}.* {_INITIALS}", part) for part in parts)


def author_name(name: str) -> str:
    """Return a name as `Family AB`, from any common form; return an organisation's name unchanged."""
    name = " ".join(html.unescape(name).replace("\u00a0", " ").translate(_COMMAS).split()).strip(" ,;")
    if name.startswith("{") and name.endswith("}"):
        return name[1:-1].strip(" ,")  # a body
    if len(name) > LONGEST_NAME:
        return name
    name = name.replace("{", "").replace("}", "")
    if _BODY.search(name):
        return name
    if "," in name:
        family, *rest = [part.strip() for part in name.split(",")]
        given = rest[0] if len(rest) == 1 else " ".join(part for part in rest if not _SUFFIX.fullmatch(part))
        return f"{family} {initials_of(given)}".strip()
    if " " not in name:
        return name
    if match := _INITIALS_LAST.fullmatch(name):
        return f"{match['family']} {match['initials'].replace('.', '').replace('-', '')}"
    words = name.split()
    if len(words) > 2 and _SUFFIX.fullmatch(words[-1]):
        words.pop()
    first = len(words) - 1
    while first > 1 and words[first - 1].lower() in _PARTICLES:
        first -= 1
    return f"{' '.join(words[first:])} {initials_of(' '.join(words[:first]))}".strip()


def initials_of(given: str) -> str:
    """Return the initials of given names: MA for `Mary Ann`, `M.-A.` and `MA`."""
    given = given.strip()
    if re.fullmatch(r"[A-ZÀ-ÖØ-Þ]{1,5}", given):
        return given
    return "".join(part[0].upper() for part in re.split(r"[\s.\-‐–]+", given) if part and part[0].isalpha())
