"""Tell whether a sentence is on what a claim is on: the same intervention, conditions and kind of statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qa_app.pipeline.text import stem
from qa_app.pipeline.verification.lexicon import (
    ADVISING,
    APART,
    COMBINING,
    COMPARATIVES,
    DISCOURAGING,
    EQUATED,
    INQUIRING,
    NEGATIONS,
    OBLIGING,
    SAMENESS,
    SETTING,
    SUPPOSING,
    Kind,
)
from qa_app.pipeline.verification.reading import Token

GOVERNS_WITHIN = 5
"""Tokens from a negation to the word that it denies."""
JOINS_WITHIN = 3
"""Tokens between two things that are combined: "tea | with | a little | milk"."""
ADVISED_BEFORE = 2
"""Tokens from what is advised to a word that advises it: "tea | is not | recommended"."""
ADVISED_WITHIN = 8
"""Tokens from a word that advises to what is advised."""
INQUIRY_WITHIN = 2
"""Tokens from a negation to the inquiry that was not made: "did not, however, study"."""


def obliges(text_words: Sequence[str]) -> bool:
    """Tell whether a sentence says what ought to be done, in words or as "need to", "has to"."""
    followers = (*text_words[1:], "")
    return any(
        word in OBLIGING or (word in {"need", "needs", "needed", "have", "has", "had"} and follows == "to")
        for word, follows in zip(text_words, followers, strict=False)
    )


def advises(text_words: Sequence[str]) -> bool:
    """Tell whether a sentence advises for or against something."""
    return obliges(text_words) or any(stem(word) in ADVISING for word in text_words)


def advice(tokens: Sequence[Token], matter: frozenset[str]) -> bool | None:
    """Return whether a sentence advises for something (True) or against it (False); None where it advises of neither.

    `matter` holds the stems of which the advice must name one, behind the word that advises or just before it.
    """
    for place, token in enumerate(tokens):
        if not advises([token.word, tokens[place + 1].word if place + 1 < len(tokens) else ""]):
            continue
        first = max(0, place - ADVISED_BEFORE)
        within = range(first, min(len(tokens), place + 1 + ADVISED_WITHIN))
        named = [n for n in within if stem(tokens[n].word) in matter]
        if named:
            denials = tokens[first : max(*named, place + ADVISED_BEFORE) + 1]
            return sum(other.word in NEGATIONS | DISCOURAGING for other in denials) % 2 == 0
    return None


def states_nothing(tokens: Sequence[Token]) -> bool:
    """Tell whether a sentence asks, supposes, or says that something was not studied."""
    stems = [stem(token.word) for token in tokens]
    return any(s in SUPPOSING for s in stems) or any(
        token.word in NEGATIONS and any(s in INQUIRING for s in stems[place + 1 : place + 1 + INQUIRY_WITHIN])
        for place, token in enumerate(tokens)
    )


def denies_any(tokens: Sequence[Token], stems: frozenset[str]) -> bool:
    """Tell whether a negation stands before one of these stems, close enough to deny it."""
    return any(
        token.word in NEGATIONS
        and any(stem(other.word) in stems for other in tokens[place + 1 : place + 1 + GOVERNS_WITHIN])
        for place, token in enumerate(tokens)
    )


def controlled(tokens: Sequence[Token], marks: frozenset[str]) -> frozenset[str]:
    """Return the marks that a sentence says were equal or given, and so not what makes a difference."""
    fixed = set()
    for place, token in enumerate(tokens):
        mark = stem(token.word)
        if mark not in marks:
            continue
        before, after = (tokens[n].word if 0 <= n < len(tokens) else "" for n in (place - 1, place + 1))
        if before in SAMENESS or before in EQUATED or after in EQUATED:
            fixed.add(mark)
    return frozenset(fixed)


def in_setting(tokens: Sequence[Token], marks: frozenset[str]) -> frozenset[str]:
    """Return the marks that a sentence names only as what its people did anyway: "during digging", "people who dig"."""
    places = [(place, mark) for place, token in enumerate(tokens) if (mark := stem(token.word)) in marks]
    found = {mark for place, mark in places if _is_setting(tokens, place)}
    return frozenset(found - {mark for place, mark in places if not _is_setting(tokens, place)})


def _is_setting(tokens: Sequence[Token], place: int) -> bool:
    before = tokens[max(0, place - 2) : place]
    is_beside = bool(before) and before[-1].kind is Kind.POPULATION and "," not in tokens[place].gap
    return is_beside or any(token.word in SETTING for token in before)


def has_other_conditions(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """Tell whether one of two sentences has the same of something that the other has more or less of."""
    own, others = _conditions(claim), _conditions(source)
    return any((sign == 0) != (others[noun] == 0) for noun, sign in own.items() if noun in others)


def _conditions(tokens: Sequence[Token]) -> Mapping[str, int]:
    """Return the nouns of phrases such as "at the same speed" (0) and "at higher speed" (1)."""
    found = {}
    for place, token in enumerate(tokens[:-1]):
        noun = tokens[place + 1]
        if place and tokens[place - 1].kind is Kind.PLACE and noun.kind is not Kind.DIRECTION:
            if token.word in SAMENESS or token.word in EQUATED:
                found[noun.key] = 0
            elif token.word in COMPARATIVES:
                found[noun.key] = 1
    return found


def is_combined(tokens: Sequence[Token], own: frozenset[str], others: frozenset[str], special: frozenset[str]) -> bool:
    """Tell whether a sentence names one of `own` only together with one of `others`: "tea with milk".

    Of those in `special`, also without a word between them: "milk tea".
    """
    stems = [stem(token.word) for token in tokens]
    beside = [(place, s in special) for place, s in enumerate(stems) if s in others]

    def is_joined(place: int) -> bool:
        return any(_joins(tokens, *sorted((place, other)), is_close=is_close) for other, is_close in beside)

    return any(all(is_joined(place) for place, s in enumerate(stems) if s == mark) for mark in own.intersection(stems))


def _joins(tokens: Sequence[Token], first: int, last: int, *, is_close: bool) -> bool:
    between = tokens[first + 1 : last]
    is_listed = any(token.word in APART for token in tokens[max(0, first - 2) : first])
    is_apart = any(mark in token.gap for token in tokens[first + 1 : last + 1] for mark in ",;:")
    is_joined = any(token.word in COMBINING for token in between) if between else is_close
    return len(between) <= JOINS_WITHIN and is_joined and not is_listed and not is_apart
