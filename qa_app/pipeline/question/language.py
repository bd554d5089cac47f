"""Guess the language of a question by its small words and the endings of its long ones."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence

from qa_app.pipeline.lexicon import LANGUAGE_FOLDER

ENGLISH = "en"
FEWEST_HITS = 2
SHORTEST_ENDED = 7  # letters of a word whose ending counts

_TABLE = tomllib.loads((LANGUAGE_FOLDER / "languages.toml").read_text("utf-8"))
_WORDS = {language: frozenset(table["words"]) for language, table in _TABLE.items()}
_ENDINGS = {language: tuple(table.get("endings", ())) for language, table in _TABLE.items()}


def guess_language(words: Sequence[str], is_known: Callable[[str], bool]) -> str:
    """Return an ISO 639-1 code: English unless another language clearly leads; endings count in words English lacks."""
    long_words = [word for word in words if len(word) >= SHORTEST_ENDED and word.isalpha() and not is_known(word)]
    hits = {
        language: sum(word in own for word in words) + sum(word.endswith(_ENDINGS[language]) for word in long_words)
        for language, own in _WORDS.items()
    }
    best = max(hits, key=lambda language: (hits[language], language == ENGLISH))
    return best if hits[best] >= FEWEST_HITS and hits[best] > hits[ENGLISH] else ENGLISH
