"""Tell which quality a word judges, where it says more than that something rose or fell."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from qa_app.pipeline.text import stem


class Quality(StrEnum):
    """Name what a word judges."""

    VALUE = "value"
    SAFETY = "safety"
    STRENGTH = "strength"


_WORDS = {
    Quality.VALUE: """better best worse worst superior superiority inferior inferiority advantage advantageous
        disadvantage disadvantageous favour favours favoured favor favors favored""",
    Quality.SAFETY: "safe safer safely unsafe toxic dangerous risky harm harms harmful damage damages damaged",
    Quality.STRENGTH: "strong stronger strongest strength strengthen strengthened weak weaker weakest weaken weakened",
}
# A judgement is compared only with words of the same quality: a rise may be good or bad.
QUALITIES = {stem(word): quality for quality, words in _WORDS.items() for word in words.split()}


def qualities_of(words: Iterable[str]) -> frozenset[str]:
    """Return the qualities that words judge."""
    return frozenset(quality for word in words if (quality := QUALITIES.get(stem(word))))
