"""Tell what a question sets against each other: interventions and their comparators."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

from qa_app.engine.concepts import Mention
from qa_app.engine.lexicon import LANGUAGE_FOLDER, SENTENCE_END, PhraseIndex, Span, Word

NEAR = 4  # words between "or" and what it joins

_PHRASES = PhraseIndex.compile([tomllib.loads((LANGUAGE_FOLDER / "slots.toml").read_text("utf-8"))])
_AGAINST, _OR, _BETWEEN = "compare.against", "compare.or", "compare.between"


def find_comparators(text: str, words: Sequence[Word], mentions: Sequence[Mention]) -> tuple[tuple[Mention, ...], bool]:
    """Return the interventions that others are compared with, and whether the question compares at all."""
    marks = _PHRASES.find([word.text for word in words])
    tried = [mention for mention in mentions if mention.slot == "intervention"]
    found = {mention for span in marks.get(_AGAINST, ()) for mention in _after(text, words, span, tried)}
    found |= {mention for span in marks.get(_OR, ()) for mention in _joined(words, span, tried)}
    is_comparison = bool(found or marks.get(_AGAINST) or marks.get(_BETWEEN))
    return tuple(mention for mention in tried if mention in found), is_comparison


def _after(text: str, words: Sequence[Word], span: Span, tried: Sequence[Mention]) -> list[Mention]:
    """Return what follows a mark in its clause."""
    start = words[span[1] - 1].end
    end = min((word.start for word in words[span[1] :] if word.text == SENTENCE_END), default=len(text))
    comma = text.find(",", start, end)
    return [mention for mention in tried if start <= mention.start < (end if comma < 0 else comma)]


def _joined(words: Sequence[Word], span: Span, tried: Sequence[Mention]) -> list[Mention]:
    """Return what follows "or" where another intervention stands close before it."""
    first, end = span
    nearest = words[max(0, first - NEAR) : end + NEAR]
    before = [m for m in tried if nearest[0].start <= m.end <= words[first].start]
    after = [m for m in tried if words[first].start < m.start < nearest[-1].end]
    is_choice = before and after and before[-1].concept != after[0].concept
    return after[:1] if is_choice else []
