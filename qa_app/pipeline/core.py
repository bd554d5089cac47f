"""The core of a question: what it asks, without the heading or the statements that stand before it.

"I am 60 and have trained for years. How much protein do I need?" asks in its second sentence; the first says what it is
about. All of it is searched for, and the core counts more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from qa_app.pipeline.text import content_stems

FEWEST_WORDS = 1  # content words of a core: "is it so?" says nothing by itself
FEWEST_BEFORE = 3  # words that stand before it: "Thanks." leads to nothing

_ASKS = "what how which why who whom whose when where".split()
_AUX = "do does did is are was were can could should would will has have had".split()
_BEFORE = "in on for by to with from at of about under".split()


def _begins(asks: list[str], aux: list[str], before: list[str]) -> str:
    return rf"(?:{'|'.join((*asks, *aux))}|(?:{'|'.join(before)}) (?:{'|'.join(_ASKS)}))\b"


def _capital(words: list[str]) -> list[str]:
    return [word.capitalize() for word in words]


# After the end of a sentence in small or capital letters, elsewhere with a capital only: as after a heading without a full stop.
# Not after a colon or a comma: what stands before those is the subject itself.
_AFTER_A_STOP = re.compile(rf"(?<=[.!?…] ){_begins(_ASKS, _AUX, _BEFORE)}", re.IGNORECASE)
_AFTER_A_HEADING = re.compile(rf"(?<=[^\s:;,] ){_begins(_capital(_ASKS), _capital(_AUX), _capital(_BEFORE))}")


def find_core(text: str) -> str:
    """Of a cleaned text the last question, with those that stand right before it; empty where that is the whole text.

    Also where it says too little by itself, or what stands before it does.
    """
    starts = sorted({m.start() for expression in (_AFTER_A_STOP, _AFTER_A_HEADING) for m in expression.finditer(text)})
    while starts and text[: starts[-1]].endswith("? "):
        starts.pop()
    if not starts:
        return ""
    before, core = text[: starts[-1]], text[starts[-1] :]
    says_enough = len(before.split()) >= FEWEST_BEFORE and len(content_stems(core)) >= FEWEST_WORDS
    return core if says_enough else ""


# Between two questions in a row. "Who" rather goes on with what stands before it, and so do others after a comma alone.
_ASKS_ANEW = rf"(?:{'|'.join((*[word for word in _ASKS if not word.startswith('who')], *_AUX))})\b"
_JOINS = re.compile(
    rf"\? +(?:(?:and|but|or|also) )?(?={_ASKS_ANEW}|who)|[,;]? (?:and|but) (?:also )?(?={_ASKS_ANEW})"
    rf"|[,;] +(?:also )?(?=(?:{'|'.join(('what', 'how', 'why', *_AUX))})\b)",
    re.IGNORECASE,
)
_BEGINS_WITH_A_QUESTION = re.compile(_begins(_ASKS, _AUX, _BEFORE), re.IGNORECASE)
_POINTS_BACK = re.compile(r"\b(?:it|its|that|this|these|those|they|them|their|he|she|him|her|so|one|ones|then)\b", re.IGNORECASE)  # fmt: skip


def find_clauses(text: str) -> tuple[tuple[str, str], ...]:
    """Of a cleaned text that asks several questions in a row each that can be asked by itself, and the others; nothing for any other.

    "Does creatine make swimmers faster, and does beta-alanine?" A later one that points back at what it does not name, or that says
    who asks before it begins, is not asked by itself.
    """
    if not _BEGINS_WITH_A_QUESTION.match(text):
        return ()
    clauses = [clause.strip(" ?!.,;") for clause in _JOINS.split(text)]
    if len(clauses) < 2 or not all(clauses):
        return ()
    alone = [
        place
        for place, clause in enumerate(clauses)
        if len(content_stems(clause)) >= FEWEST_WORDS and not (place and _POINTS_BACK.search(clause))
    ]
    return tuple(
        (f"{clauses[place]}?", "” and “".join(c for other, c in enumerate(clauses) if other != place))
        for place in alone
    )


def with_core(text: str, core: str, *, repeats: int, also: Sequence[str] = ()) -> str:
    """The words to search for: the text, its core once more or oftener, and what is searched beside it."""
    return " ".join(filter(None, (text, *(core,) * repeats, *also)))


def leaning(whole: Sequence[float], core: Sequence[float], weight: float) -> list[float]:
    """The vector of the whole text, leaning towards that of its core; all are of unit length."""
    mixed = np.asarray(whole, dtype=np.float64) + weight * np.asarray(core, dtype=np.float64)
    return (mixed / (np.linalg.norm(mixed) or 1.0)).tolist()  # type: ignore[no-any-return]
