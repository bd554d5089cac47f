"""Find the figures of a text, to compare a finding with the passages that it rests on.

Signs, units and percent signs are left aside: words such as "fell" may stand for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:[.,·]\d+)?|[.·]\d+"
_ANY = re.compile(_NUMBER)
_STATED = re.compile(rf"(?<![A-Za-z\d.,·])(?:{_NUMBER})(?![A-Za-z\d])")  # no names such as VO2max and 1RM
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
).split()
_IN_WORDS = {word: Decimal(number) for number, word in enumerate(_SMALL)}
_IN_WORDS |= {word: Decimal(10 * tens) for tens, word in enumerate("thirty forty fifty sixty".split(), start=3)}


def missing_figures(statement: str, source: str, *, effect: Iterable[float] = ()) -> tuple[str, ...]:
    """Return the figures of a statement and of an effect that a source lacks, as they are written."""
    present = frozenset(_figures(source))
    stated = [(match[0], _value(match[0])) for match in _STATED.finditer(statement)]
    stated += [(f"{figure:g}", abs(Decimal(repr(figure)))) for figure in effect]
    return tuple(dict.fromkeys(words for words, value in stated if value not in present))


def _figures(text: str) -> Iterator[Decimal]:
    yield from (_value(words) for words in _ANY.findall(text))
    yield from (_IN_WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _IN_WORDS)


def _value(words: str) -> Decimal:
    number = _THOUSANDS.sub("", words) if re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+([.·]\d+)?", words) else words
    return Decimal(number.replace(",", ".").replace("·", "."))
