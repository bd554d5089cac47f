"""Tell what a question sets against each other: interventions and their comparators."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from itertools import takewhile

from qa_app.pipeline.concepts import Mention
from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, SENTENCE_END, PhraseIndex, Span, Word
from qa_app.pipeline.text import EMPTY_WORDS, stem

NEAR = 3  # words between a mark and what it sets against each other

_PHRASES = PhraseIndex.compile([tomllib.loads((LANGUAGE_FOLDER / "slots.toml").read_text("utf-8"))])
_AGAINST, _OR, _BETWEEN = "compare.against", "compare.or", "compare.between"


def find_comparators(words: Sequence[Word], mentions: Sequence[Mention]) -> tuple[tuple[Mention, ...], bool]:
    """Return the interventions that others are compared with, and whether the question compares at all."""
    marks = _PHRASES.find([word.text for word in words])
    tried = [mention for mention in mentions if mention.slot == "intervention"]
    found = {mention for span in marks.get(_AGAINST, ()) for mention in _within(_after(words, span), tried)}
    is_choice = False
    for span in marks.get(_OR, ()):
        one, other = _before(words, span), _after(words, span)
        sides = _within(one, tried)[-1:], _within(other, tried)[:1]
        if all(sides) and sides[0][0].concept != sides[1][0].concept:
            found.add(sides[1][0])
        is_choice = is_choice or all(sides) or _has_same_word(one, other)
    is_comparison = bool(found or is_choice or marks.get(_AGAINST) or marks.get(_BETWEEN))
    return tuple(mention for mention in tried if mention in found), is_comparison


def _before(words: Sequence[Word], span: Span) -> list[Word]:
    """Return the words right before a mark in its sentence."""
    return list(takewhile(lambda word: word.text != SENTENCE_END, words[max(0, span[0] - NEAR) : span[0]][::-1]))[::-1]


def _after(words: Sequence[Word], span: Span) -> list[Word]:
    """Return the words right after a mark in its sentence."""
    return list(takewhile(lambda word: word.text != SENTENCE_END, words[span[1] : span[1] + NEAR]))


def _within(words: Sequence[Word], tried: Sequence[Mention]) -> list[Mention]:
    """Return what is named in some of these words."""
    return [m for m in tried if words and m.start < words[-1].end and words[0].start < m.end]


def _has_same_word(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Return whether both sides share a word of content: "fast reps or slow reps"."""
    stems = [{stem(word.text) for word in side if word.text not in EMPTY_WORDS} for side in (one, other)]
    return not stems[0].isdisjoint(stems[1])
