"""Split an abstract at the labels of its parts, and leave out the publisher's lines behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus_app.sources.headings import is_boilerplate, section_of
from corpus_app.sources.markup import decode

_CAPITALS = re.compile(r"(?<!\S)(?P<label>[A-Z]{2,}(?:(?:[ /,&-])+[A-Z]+){0,6})\s?:(?=\s)")
_SMALL = re.compile(
    r"(?:\A\s*+|\n[^\S\n]*+|(?<=[.!?;)\]%])\s++)(?P<label>[A-Z][a-z]+(?:[ /,&-]+[A-Za-z]+){0,4})\s?:(?=\s)"
)
_COPYRIGHT = re.compile(r"©|\(c\)\s?(?=(?:19|20)\d\d)|Copyright\s(?:©|\(c\)|(?:19|20)\d\d)", re.IGNORECASE)
_LONGEST_PUBLISHER = 600  # characters after the sign
NOT_QUOTED = frozenset({"funding", "trial registration", "registration", "clinical trial registration"})


def split_abstract(written: str) -> list[tuple[str, str]]:
    """Return label and text of each part of an abstract, decoded; the label is empty where there is none."""
    text = without_publisher(decode(written))
    marks = [*_labels(text)]
    if not marks:
        return [("", text)]
    opening = text[: marks[0].start("label")].strip()
    parts = [("", opening)] if opening else []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        words = text[mark.end() : following.start("label") if following else len(text)].strip()
        if not is_boilerplate(mark["label"]) and mark["label"].lower() not in NOT_QUOTED:
            parts.append((mark["label"].capitalize(), words))
    return parts


def _labels(text: str) -> Iterator[re.Match[str]]:
    """Yield the labels of parts: in capitals anywhere, in small letters only where the abstract begins with one."""
    capitals = [match for match in _CAPITALS.finditer(text) if _is_label(match["label"])]
    small = [match for match in _SMALL.finditer(text) if _is_label(match["label"])]
    if not small or text[: small[0].start("label")].strip():
        small = []
    yield from sorted((*capitals, *small), key=lambda match: match.start("label"))


def _is_label(words: str) -> bool:
    return section_of(words) is not None or is_boilerplate(words) or words.lower() in NOT_QUOTED


def without_publisher(text: str) -> str:
    """Return an abstract without the copyright line that some hosts put behind it."""
    for sign in _COPYRIGHT.finditer(text, max(0, len(text) - 2 * _LONGEST_PUBLISHER)):
        end = sign.start()
        while end and text[end - 1].isspace() and text[end - 1] != "\n":
            end -= 1
        if len(text) - sign.end() <= _LONGEST_PUBLISHER and (end == 0 or text[end - 1] in ".!?)]\n"):
            return text[:end].rstrip()
    return text.rstrip()
