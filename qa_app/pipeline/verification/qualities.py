"""Tell which quality a word judges, where it says more than that something rose or fell."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from qa_app.pipeline.text import stem


class Quality(StrEnum):
    """What a word judges."""

    VALUE = "value"
    SAFETY = "safety"
    STRENGTH = "strength"


# A judgement is compared only with words of the same quality: a rise may be good or bad.
QUALITIES = {
    **dict.fromkeys(
        map(
            stem,
            (
                "better best worse worst superior superiority inferior inferiority advantage advantageous disadvantage "
                "disadvantageous favour favours favoured favor favors favored"
            ).split(),
        ),
        Quality.VALUE,
    ),
    **dict.fromkeys(
        map(
            stem,
            (
                "safe safer safely safety unsafe toxic toxicity dangerous danger risky harm harms harmful damage "
                "damages damaged"
            ).split(),
        ),
        Quality.SAFETY,
    ),
    **dict.fromkeys(
        map(
            stem,
            ("strong stronger strongest strength strengthen strengthened weak weaker weakest weaken weakened").split(),
        ),
        Quality.STRENGTH,
    ),
}


def qualities_of(words: Iterable[str]) -> frozenset[str]:
    """Return the qualities that words judge."""
    return frozenset(quality for word in words if (quality := QUALITIES.get(stem(word))))
