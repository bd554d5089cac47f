"""Tell which words of a sentence name groups of people."""

from __future__ import annotations

from collections.abc import Sequence

from qa_app.pipeline.text import stem
from qa_app.pipeline.verification.lexicon import ANYBODY, ATTRIBUTES, NO_PEOPLE, ORIGINS, PEOPLE_WORDS, Kind
from qa_app.pipeline.verification.reading import Token


def is_group(token: Token) -> bool:
    """Tell whether a word names some people among others: "women", "untrained"."""
    is_people = (
        token.word in PEOPLE_WORDS and token.word not in ATTRIBUTES | NO_PEOPLE and stem(token.word) not in ANYBODY
    )
    return token.kind is Kind.POPULATION and is_people


def people_of(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the words for groups of people, singular; an origin counts before other people only: "Dutch nurses"."""
    followers = (*tokens[1:], None)
    return frozenset(
        token.key
        for token, follows in zip(tokens, followers, strict=False)
        if is_group(token)
        and (stem(token.word) not in ORIGINS or (follows is not None and follows.kind is Kind.POPULATION))
    )
