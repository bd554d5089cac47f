"""Decode the mark-up in values of a record to plain text: HTML and JATS tags, entities, LaTeX.

No sign is lost: raised and lowered characters get their own code points or a `^`, and a command, tag or entity that is
not known stays as written. pylatexenc is not used: it drops commands that it does not know, such as \\textminus.
"""

from __future__ import annotations

import html
import re
import unicodedata
from html.entities import html5

from corpus_app.sources import latex_names

RAISED = str.maketrans("0123456789+-−–()=ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁽⁾⁼ⁿⁱ")
HOLE = "\ufffc"
"""Stands for a formula or sign that the source holds as a picture only; such a passage is not published."""
LOWERED = str.maketrans("0123456789+-−–()=", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₍₎₌")
_LIKE_ON_THE_LINE = frozenset({"st", "nd", "rd", "th", "®", "™", "TM", "°", "′", "″", "*", "†", "‡", "§"})
"""Raised text that reads the same on the line: 5th, 30°."""
_BETWEEN = " ,;*†‡§"
"""Marks between raised numbers that have no raised form."""


def raised(text: str) -> str:
    """Return superscript characters: ⁻¹ for -1; `^` and the text where a character has no raised form."""
    text = text.strip()
    if not text or text in _LIKE_ON_THE_LINE or all(char in _BETWEEN for char in text):
        return text
    if all(ord(char) in RAISED or char in _BETWEEN for char in text):
        return text.translate(RAISED)
    return f"^{text}" if len(text) == 1 else f"^({text})"


def lowered(text: str) -> str:
    """Return subscript digits and signs; letters stay on the line, as in VO₂max."""
    text = text.strip()
    return text.translate(LOWERED) if all(ord(char) in LOWERED for char in text) else text


# --- HTML and JATS ----------------------------------------------------------------------------------------------------

_ATTRIBUTES = r"""(?:\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*"""
_TAG = re.compile(rf"<(?P<close>/?)(?:[a-zA-Z]+:)?(?P<name>[a-zA-Z][\w.-]*){_ATTRIBUTES}\s*(?P<empty>/?)>")
_UP = frozenset({"sup", "superscript"})
_DOWN = frozenset({"sub", "inf", "subscript"})
_BREAKS = frozenset(
    "p div br break li ul ol list list-item tr table sec section h1 h2 h3 h4 h5 h6 abstract abstracttext blockquote "
    "disp-quote para simplepara".split()
)
_INLINE = frozenset(
    "i b em strong italic bold span sc scp u font style underline a small big tt monospace strike s named-content xref "
    "ext-link roman sans-serif math mrow mi mn mo mtext mstyle semantics inline-formula".split()
)
_PICTURES = frozenset({"img", "inline-graphic", "graphic"})
_NAMED_HOLE = re.compile(
    r"\[(?:inline |display )?(?:formula|equation|image|graphic)(?::[^\[\]]{0,20}| omitted)?\]", re.IGNORECASE
)
"""What hosts write in place of a picture: “[Formula: see text]”."""
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")


def decode_html(text: str) -> str:
    """Return the text without the tags and entities of HTML and JATS; block tags become blank lines.

    Exporters escape twice, so that a second round of entities is resolved too. A tag of another name stays.
    """
    for _ in range(2):
        if not _ENTITY.search(text):
            break
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    if "<" not in text:
        return text
    parts: list[str] = []
    open_tags: list[tuple[str, int]] = []
    at = 0
    for match in _TAG.finditer(text):
        name = match["name"].lower()
        is_title = name == "title"
        if not is_title and name not in _UP | _DOWN | _BREAKS | _INLINE | _PICTURES:
            continue
        parts.append(text[at : match.start()])
        at = match.end()
        if name in _BREAKS:
            parts.append("\n\n")
        elif name in _PICTURES:
            parts.append(HOLE if match["empty"] or not match["close"] else "")
        elif name in _INLINE or match["empty"]:
            continue
        elif not match["close"]:
            parts.append("\n\n" if is_title else "")
            open_tags.append((name, len(parts)))
        elif open_tags and open_tags[-1][0] == name:
            _, start = open_tags.pop()
            inner = "".join(parts[start:])
            parts[start:] = [_heading(inner) if is_title else raised(inner) if name in _UP else lowered(inner)]
    parts.append(text[at:])
    return "".join(parts)


def _heading(words: str) -> str:
    """Return the title of a part as a label in front of its text; the word Abstract alone says nothing."""
    words = " ".join(words.split()).rstrip(":.")
    return "" if words.lower() in {"", "abstract", "summary"} else f"{words}: "


# --- LaTeX ------------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"\\(?P<command>[A-Za-z]+)\*?|\\(?P<escaped>[^A-Za-z])|(?P<mark>[{}$~^_]|``|''|---?)|(?P<words>[^\\{}$~^_`'-]+|.)",
    re.DOTALL,
)
_RELATIONS = frozenset("±∓×÷<>≤≥≈∼≠→")  # these keep a blank on both sides, where they have one in front
MAX_DEPTH = 100  # of braces in a value; deeper ones are left out
_SPACES = re.compile(r"[ \t\n]*")


class _Latex:
    """A reader of one value, from left to right, in time linear in its length."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.is_math = False
        self.depth = 0

    def until(self, close: str = "") -> str:
        """Return the decoded text up to `close`, which is consumed, or to the end."""
        parts: list[str] = []
        while match := _TOKEN.match(self.text, self.at):
            if close and match[0] == close:
                self.at = match.end()
                break
            self.at = match.end()
            parts.append(self.token(match, parts))
        return "".join(parts)

    def token(self, match: re.Match[str], parts: list[str]) -> str:
        if command := match["command"]:
            return self.command(command, match[0], parts)
        if (escaped := match["escaped"]) is not None:
            return self.escaped(escaped)
        mark = match["mark"]
        if mark == "{":
            return self.group()
        if mark == "$":
            self.is_math = not self.is_math
        elif mark == "~":
            return " "
        elif mark in {"^", "_"}:
            if not self.is_math:
                return str(mark)
            return raised(self.argument()) if mark == "^" else lowered(self.argument())
        elif mark in {"``", "''"} and not self.is_math:
            return "“" if mark == "``" else "”"
        elif mark in {"--", "---"}:
            return "–" if mark == "--" else "—"
        elif mark is None:
            return self.minus(match["words"], parts)
        return ""

    def group(self) -> str:
        if self.depth >= MAX_DEPTH:
            return ""
        self.depth += 1
        inner = self.until("}")
        self.depth -= 1
        return inner

    def minus(self, words: str, parts: list[str]) -> str:
        """Return the text, with a minus for a hyphen that begins a number of a formula."""
        if words != "-" or not self.is_math:
            return words
        following = self.text[self.at : self.at + 1]
        before = next((part[-1] for part in reversed(parts) if part), "")
        if not before.isalnum() and (following.isdigit() or following in "$}.\\"):
            return "−"
        return words

    def escaped(self, char: str) -> str:
        if char in latex_names.ACCENTS:
            return self.accent(latex_names.ACCENTS[char])
        if char in "()[]":
            self.is_math = char in "(["
            return ""
        return {"\\": "\n", " ": " ", ",": " ", ";": " ", ":": " ", "!": "", "/": "", "-": "", "\n": " "}.get(
            char, char
        )

    def command(self, name: str, written: str, parts: list[str]) -> str:
        start = self.at
        blank = _SPACES.match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        is_apart = self.at > start and "".join(parts[-1:])[-1:].isspace()
        if name in latex_names.ACCENTS:
            return self.accent(latex_names.ACCENTS[name])
        if name in latex_names.QUANTITIES:
            return self.quantity(name)
        if name in latex_names.SIGNS or (f"{name};" in html5 and name not in latex_names.TRANSPARENT):
            if self.text.startswith("{}", self.at):
                self.at += 2
            sign = latex_names.SIGNS[name] if name in latex_names.SIGNS else html5[f"{name};"]
            return f"{sign} " if is_apart and sign in _RELATIONS else sign
        if name in {"textsuperscript", "super"}:
            return raised(self.argument())
        if name in {"textsubscript", "sub"}:
            return lowered(self.argument())
        if name in {"frac", "tfrac", "dfrac", "nicefrac", "sfrac"}:
            over, under = self.argument(), self.argument()
            return f"{_in_brackets(over)}/{_in_brackets(under)}"
        if name == "sqrt":
            return f"√{_in_brackets(self.argument())}"
        if name == "href":
            self.argument()
            return self.argument()
        if name in latex_names.TRANSPARENT:
            was_math, self.is_math = (
                self.is_math,
                (self.is_math or name == "ensuremath") and name not in {"text", "mbox"},
            )
            inner = self.argument() if self.text.startswith("{", self.at) else ""
            self.is_math = was_math
            return inner
        self.at = start
        while self.text.startswith("{", self.at):
            self.skip_group()
        return written + self.text[start : self.at]

    def skip_group(self) -> None:
        """Move behind the group that begins here."""
        depth = 0
        for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(self.text, self.at):
            depth += {"{": 1, "}": -1}.get(match[0], 0)
            if depth == 0:
                self.at = match.end()
                return
        self.at = len(self.text)

    def argument(self) -> str:
        """Return the decoded group, command or character that follows."""
        blank = _SPACES.match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            return ""
        if match["words"] and len(match["words"]) > 1:  # without braces, one character is the argument
            self.at += 1
            return match["words"][0]
        if self.depth >= MAX_DEPTH:
            return ""
        self.at = match.end()
        self.depth += 1
        inner = self.token(match, [])
        self.depth -= 1
        return inner

    def accent(self, mark: str) -> str:
        base = self.argument().replace("ı", "i").replace("ȷ", "j")
        return unicodedata.normalize("NFC", base[:1] + mark + base[1:]) if base else ""

    def quantity(self, name: str) -> str:
        """Decode a number, unit or range of siunitx."""
        if self.text.startswith("[", self.at):
            self.at = max(self.text.find("]", self.at), self.at) + 1
        if name in {"si", "unit"}:
            return self.unit()
        first = _number(self.argument())
        if name in {"SIrange", "qtyrange", "numrange"}:
            first = f"{first}–{_number(self.argument())}"
        if name == "ang":
            return f"{first}°"
        if name in {"num", "numrange"}:
            return first
        unit = self.unit()
        return f"{first}{'' if unit in {'%', '°'} else ' '}{unit}"

    def unit(self) -> str:
        """Decode a unit: prefixes stand before their unit without a blank, `\\per` is a division."""
        if not self.text.startswith("{", self.at):
            return self.argument()
        end = self.text.find("}", self.at)
        inner = self.text[self.at + 1 : end if end != -1 else len(self.text)]
        self.at += len(inner) + 2
        words, joint = "", ""
        for command, plain in re.findall(r"\\([A-Za-z]+)\s*|([^\\]+)", inner):
            unit = latex_names.UNITS.get(command, f"\\{command}") if command else decode_latex(plain)
            words += unit if unit in {"/", "²", "³"} or plain else joint + unit
            joint = "" if command in latex_names.PREFIXES or unit == "/" else "·"
        return words.strip()


def decode_latex(text: str) -> str:
    """Return a BibTeX value as plain text; a command that is not known stays as written."""
    return _Latex(text).until() if re.search(r"[\\{}$~`'-]", text) else text


def _in_brackets(words: str) -> str:
    return words if len(words) == 1 or words.isalnum() else f"({words})"


def _number(words: str) -> str:
    """Return a number of siunitx: a minus for the hyphen, and e3 as a power of ten."""
    words = words.strip().replace("+-", "±").replace("-", "−")
    mantissa, _, power = words.partition("e")
    return f"{mantissa} × 10{raised(power)}" if power else mantissa


# --- Any record -------------------------------------------------------------------------------------------------------

_FORMULA = re.compile(r"\$[^$\n]{1,300}\$|\\\([^\n]{1,300}?\\\)|\\[A-Za-z]{2,}\*?(?:\{[^{}\n]{0,100}\})*|\\[&%#$_]")
_UNKNOWN = re.compile(rf"\\[A-Za-z]{{2,}}|</?[a-zA-Z][\w:.-]*{_ATTRIBUTES}\s*/?>|&[a-zA-Z][a-zA-Z0-9]{{1,31}};")


def decode(text: str) -> str:
    """Return the plain text of a value of any format: tags and entities of HTML, and formulas of LaTeX."""
    text = _NAMED_HOLE.sub(HOLE, decode_html(text))
    return _FORMULA.sub(_formula, text) if "\\" in text or "$" in text else text


def _formula(match: re.Match[str]) -> str:
    """Decode what is surely LaTeX: a command, an escaped sign, or a formula with a power or an index; no price."""
    written = match[0]
    return decode_latex(written) if re.search(r"\\[A-Za-z&%#$_]|\\\(|[\^_]", written) else written


def unknown_marks(text: str) -> tuple[str, ...]:
    """Return the commands, tags and entities left in a decoded text, each once."""
    return tuple(dict.fromkeys(match[0] for match in _UNKNOWN.finditer(text)))
