"""Read the kind of reply that a question asks for, from the word lists of `lexicon/intent.toml`."""

from __future__ import annotations

import re
import tomllib

from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, SENTENCE_END, PhraseIndex, words_of
from qa_app.pipeline.query import Intent

ORDER = (
    Intent.HOW_MANY,
    Intent.WHY,
    Intent.LIST,
    Intent.WHICH,
    Intent.HOW,
    Intent.YES_NO,
    Intent.WHAT,
)
"""The word lists as they are tried; CLAIM is what is left: keywords or a statement, without an asking word."""
_CLAUSE_MARK = re.compile(r"[,:()–—]|\s-\s")
AT_CLAUSE_START = frozenset({Intent.HOW, Intent.YES_NO})
_PHRASES = PhraseIndex.compile([tomllib.loads((LANGUAGE_FOLDER / "intent.toml").read_text("utf-8"))])


def read_intent(ask: str) -> Intent:
    """Return what kind of reply the ask wants; pass the ask without the story around it."""
    words = words_of(_CLAUSE_MARK.sub(";", ask))
    spans = _PHRASES.find(words)
    openings = {end for _, end in spans.get("opening", ())}
    for intent in ORDER:
        starts = [start for start, _ in spans.get(intent, ())]
        if intent in AT_CLAUSE_START:
            starts = [s for s in starts if s == 0 or s in openings or words[s - 1] == SENTENCE_END]
        if starts:
            return intent
    return Intent.CLAIM
