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


# Between two questions in a row. What "and" joins without a comma, or beside a relative clause, may be one question with two verbs.
_ASKS_ANEW = r"(?:(?:what|how|why)\b|(?:do|does|is|are|can|could|should|will|would) (?!not\b)[\w-]+ )"
_JOINS = re.compile(
    rf"\? +(?:(?:and|but|or|also) )?(?=\w)|[,;] +(?:(?:and|but) )?(?:also )?(?={_ASKS_ANEW})"
    r"|,? (?:and|but) (?=(?:what|how|why) (?:much|many|often|long|do|does|is|are|can|should|will|would)\b)",
    re.IGNORECASE,
)
_BEGINS_WITH_A_QUESTION = re.compile(_begins(_ASKS, _AUX, _BEFORE), re.IGNORECASE)
_GOES_ON = re.compile(r"\b(?:who|that|which|if|when|because|while|since|although)\b", re.IGNORECASE)
MOST_CLAUSES = 3


def find_first_clause(text: str) -> tuple[str, str] | None:
    """Of a cleaned text that asks several questions in a row the first one, and the others in quotation marks but for the outermost;
    None for any other.

    "Does creatine make swimmers faster, and does beta-alanine?" A later one may point back, or be about the people of the first: none
    of them is asked by itself.
    """
    if not _BEGINS_WITH_A_QUESTION.match(text):
        return None
    first, *others = [clause.strip(" ?!.,;") for clause in _JOINS.split(text)]
    is_one = not others or len(others) >= MOST_CLAUSES or not all(others)
    if is_one or len(content_stems(first)) < FEWEST_WORDS or _GOES_ON.search(first.partition(" ")[2]):
        return None
    return f"{first}?", "” and “".join(others)


def with_core(text: str, core: str, *, repeats: int, also: Sequence[str] = ()) -> str:
    """The words to search for: the text, its core once more or oftener, and what is searched beside it."""
    return " ".join(filter(None, (text, *(core,) * repeats, *also)))


def leaning(whole: Sequence[float], core: Sequence[float], weight: float) -> list[float]:
    """The vector of the whole text, leaning towards that of its core; all are of unit length."""
    mixed = np.asarray(whole, dtype=np.float64) + weight * np.asarray(core, dtype=np.float64)
    return (mixed / (np.linalg.norm(mixed) or 1.0)).tolist()  # type: ignore[no-any-return]
