"""Read what a sentence says of an outcome: that it rises, falls, differs or stays the same, and against what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import prod

from qa_app.pipeline.text import EMPTY_WORDS, stem
from qa_app.pipeline.verification.lexicon import (
    ASSOCIATED,
    ATTRIBUTES,
    COMPARATIVES,
    COMPARING,
    CONDITIONAL,
    CONTRASTS,
    DEGREES,
    DIFFERING,
    FALLING,
    INDEPENDENT,
    INFLUENCES,
    LACKS,
    LEVEL,
    LINKED_BY_TO,
    LITTLE,
    NEGATIONS,
    POSSIBLE,
    RISING,
    SAMENESS,
    SHARED,
    SIGNIFICANCE,
    WITHOUT,
    Kind,
)
from qa_app.pipeline.verification.people import people_of
from qa_app.pipeline.verification.qualities import qualities_of
from qa_app.pipeline.verification.reading import Token

NEGATES_WITHIN = 5
"""Tokens from a negation to the direction that it denies: "did not, at any time, increase"."""
DENIES_WITHIN = 3
"""Tokens from a negation to the influence that it denies: "no clear effect"."""
QUALIFIES_WITHIN = 3
"""Tokens between two direction words of which one qualifies the other."""
NAMES_WITHIN = 3
"""Tokens between a change and the outcome that changes."""
OPENS_WITHIN = 2
"""Tokens before the change of a clause that continues the one before: ", but | also improved"."""
_BREAKS = frozenset(";:")
_EMPTY = frozenset(map(stem, EMPTY_WORDS))
Outcomes = Mapping[str, frozenset[str]]
NO_OUTCOMES: Outcomes = {}


class Change(StrEnum):
    """The change of an outcome that a clause asserts."""

    RISES = "rises"
    FALLS = "falls"
    SAME = "same"
    DIFFERS = "differs"
    NO_RISE = "no_rise"
    NO_FALL = "no_fall"
    UNCLEAR = "unclear"
    """It asserts several changes that differ."""
    NONE = "none"
    """It asserts no change."""


REVERSED = {
    Change.RISES: Change.FALLS,
    Change.FALLS: Change.RISES,
    Change.NO_RISE: Change.NO_FALL,
    Change.NO_FALL: Change.NO_RISE,
}


@dataclass(frozen=True, slots=True)
class Effect:
    """The change that a clause asserts, with the stems of its two sides."""

    change: Change
    subject: frozenset[str]
    """Stems before what is compared with, or before the change where nothing is."""
    compared: frozenset[str]
    """Stems of what the subject is compared with; empty where it is compared with nothing."""
    stems: frozenset[str]
    """All content stems of the clause."""
    opening: frozenset[str] = frozenset()
    """Stems before the change."""
    people: frozenset[str] = frozenset()
    """Words for groups of people, singular."""
    factors: frozenset[str] = frozenset()
    """Stems of the words for a change or a lack, but for comparatives."""
    verb: int = 1
    """The sign of the last change that is no comparative, which a clause without a verb takes over."""
    qualities: frozenset[str] = frozenset()
    """The qualities whose words assert the change: strength for "stronger"."""
    own: frozenset[str] = frozenset()
    """Content stems of the clause without those that it continues."""
    lacking: frozenset[str] = frozenset()
    """Stems of what the clause says was absent: "without water"."""
    matter: frozenset[str] = frozenset()
    """Stems of what changes."""
    is_possible: bool = False
    """Whether it says no more than that the change may be."""
    is_alike: bool = False
    """Whether it says that several things are alike, rather than that one makes no difference."""
    is_between: bool = False
    """Whether it compares two things that are done, rather than one with its absence."""


def read_effects(tokens: Sequence[Token], outcomes: Outcomes = NO_OUTCOMES) -> tuple[Effect, ...]:
    """Return the effect of each clause, in order; clauses that only deny significance change the one before.

    `outcomes` holds the qualities of each stem that names an outcome.
    """
    effects: list[Effect] = []
    for clause in _clauses(_without_attributes(_without_asides(tokens))):
        found = _effect(clause, outcomes, effects[-1] if effects else None)
        if effects and found.change is Change.NONE and _denies_significance(clause):
            effects[-1] = replace(effects[-1], change=_denied(effects[-1].change))
        else:
            effects.append(found)
    return tuple(effects)


def _without_asides(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without brackets that deny something and assert no change: "(no further repetition)"."""
    kept: list[Token] = []
    opened: int | None = None
    for token in tokens:
        if opened is not None and ")" in token.gap:
            aside = kept[opened:]
            states = any(_sign(other) or _is_level(other) or stem(other.word) in SIGNIFICANCE for other in aside)
            if any(map(_is_negation, aside)) and not states:
                del kept[opened:]
            opened = None
        if "(" in token.gap:
            opened = len(kept)
        kept.append(token)
    return kept


def _without_attributes(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens; a comparative joined to the next word describes a thing: "lower-leg", "higher-dose"."""
    followers = (*tokens[1:], None)
    return [
        replace(token, kind=Kind.WORD) if follows and follows.gap == "-" and token.word in COMPARATIVES else token
        for token, follows in zip(tokens, followers, strict=False)
    ]


def _is_factor(token: Token) -> bool:
    return token.word in LACKS or (bool(_sign(token)) and token.word not in COMPARATIVES)


def _clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    """Cut a sentence before each conjunction that contrasts, and at each comma between two changes."""
    clauses: list[list[Token]] = [[]]
    for part in _parts(tokens):
        is_apart = part[0].word in CONTRASTS or bool(_BREAKS & set(part[0].gap))
        is_change = any(_sign(token) or _is_level(token) for token in part)
        has_change = any(_sign(token) or _is_level(token) for token in clauses[-1])
        if is_apart or (is_change and has_change):
            clauses.append([])
        clauses[-1] += part
    return [clause for clause in clauses if clause]


def _parts(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    part: list[Token] = []
    for token in tokens:
        if part and (token.word in CONTRASTS or (_BREAKS | {","}) & set(token.gap)):
            yield part
            part = []
        part.append(token)
    if part:
        yield part


def _effect(clause: Sequence[Token], outcomes: Outcomes, before: Effect | None) -> Effect:
    head, tail = _sides(clause)
    changes = _changes(head)
    first = changes[0] if changes else len(head)
    opening = _stems(head[:first])
    continued = before if before and first <= OPENS_WITHIN else None
    inherited = continued.opening if continued else frozenset[str]()
    verbs = [_sign(head[place]) for place in changes if _sign(head[place]) and head[place].word not in COMPARATIVES]
    change = _change(head, changes, outcomes)
    if continued and continued.verb < 0 and changes and not verbs:
        change = REVERSED.get(change, change)  # "lost water, but also more salt"
    return Effect(
        change=change,
        subject=(_stems(head) if tail else opening) | inherited,
        compared=_stems(tail),
        stems=_stems(clause) | inherited,
        opening=opening | inherited,
        people=people_of(clause),
        factors=frozenset(stem(token.word) for token in head if _is_factor(token)),
        verb=verbs[-1] if verbs else continued.verb if continued else 1,
        qualities=qualities_of(t.word for t in head).union(*(outcomes.get(s, ()) for s in _stems(head) | inherited)),
        matter=_matter(head, changes) or (opening | inherited) - _people_stems(head),
        is_possible=any(token.word in POSSIBLE for token in head[: changes[-1] if changes else 0]),
        own=_stems(clause),
        lacking=_lacking(head),
        is_alike=change is Change.SAME and not tail and any(head[place].word in SAMENESS for place in changes),
        is_between=_is_between(clause, tail, changes, continued),
    )


def _is_between(clause: Sequence[Token], tail: Sequence[Token], changes: Sequence[int], before: Effect | None) -> bool:
    """Tell whether it sets two things against each other that are done, rather than one against its absence."""
    if any(stem(token.word) in WITHOUT or (token in tail and _is_negation(token)) for token in clause):
        return False
    level = next((place for place in changes if not _sign(clause[place])), None)
    if tail or (before and before.is_between) or level is None:
        return bool(tail or (before and before.is_between))
    return (
        clause[level].word in SAMENESS
        or (clause[level].word in DIFFERING and not any(t.word in {"with", "after"} for t in clause[level:]))
        or any(token.word in {"between", "among"} for token in clause)
        or any(token.word in {"and", "or"} for token in clause[:level])
    )


def _matter(head: Sequence[Token], changes: Sequence[int]) -> frozenset[str]:
    """Return the stems of what changes, where it is named after the change: "raised | yield | in dry beds"."""
    after = head[changes[0] + 1 :] if changes else ()
    end = next((n for n, token in enumerate(after) if n and token.kind is Kind.PLACE), len(after))
    return _stems(after[:end]) - _people_stems(head)


def _people_stems(head: Sequence[Token]) -> frozenset[str]:
    return frozenset(stem(token.word) for token in head if token.kind is Kind.POPULATION)


def _lacking(clause: Sequence[Token]) -> frozenset[str]:
    """Return the stems of what a clause says was absent, up to a comma; empty where an absence denies the change."""
    found: set[str] = set()
    for place, token in enumerate(clause):
        if token.word in LACKS and not _denies(clause, place):
            end = next((n for n in range(place + 1, len(clause)) if _ends_lack(clause[n])), len(clause))
            found |= _stems(clause[place + 1 : end])
    return frozenset(found)


def _ends_lack(token: Token) -> bool:
    return bool(set(",(") & set(token.gap) or _sign(token) or _is_level(token)) or token.kind is Kind.PLACE


def _denies(head: Sequence[Token], place: int) -> bool:
    """Tell whether a word denies a change: a negation, "little difference", or a lack of the change itself."""
    token, follows = head[place], head[place + 1 : place + 2]
    if token.word == LITTLE:
        return any(_is_level(other) or other.word in INFLUENCES for other in follows)
    if token.word not in LACKS:
        return _is_negation(token) and not any(
            other.kind is Kind.POPULATION for other in follows if token.word == INDEPENDENT
        )
    within = head[place + 1 : place + 1 + DENIES_WITHIN]
    reach = next((n for n, other in enumerate(within) if "," in other.gap), len(within))
    return _is_negation(token) and any(
        _sign(other) or _is_level(other) or other.word in INFLUENCES for other in within[:reach]
    )


def _sides(clause: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """Return the tokens that assert a change, and those that name what is compared with."""
    for place, token in enumerate(clause):
        after = clause[place + 1].word if place + 1 < len(clause) else ""
        if token.word in COMPARING and (token.word not in LINKED_BY_TO or after in {"to", "with"}):
            if place:
                return _cut_sides(clause, place)
            end = next((n for n in range(1, len(clause)) if "," in clause[n].gap), len(clause))
            return clause[end:], clause[:end]
    return clause, ()


def _cut_sides(clause: Sequence[Token], place: int) -> tuple[Sequence[Token], Sequence[Token]]:
    """Cut what is compared with off a clause; what both sides share ("for strength") stays with the change."""
    end = next((n for n in range(place + 2, len(clause)) if clause[n].word in SHARED), len(clause))
    if _stems(clause[place:end]) <= _stems(clause[:place]):
        end = len(clause)  # "than tea | in hot water" differs in what follows only
    return (*clause[:place], *clause[end:]), clause[place:end]


def _changes(head: Sequence[Token]) -> list[int]:
    """Return the places of words that assert a change; a plain "difference" counts where it is denied or tested."""
    denials = {place for place in range(len(head)) if _denies(head, place)}
    is_tested = bool(denials) or any(stem(token.word) in SIGNIFICANCE for token in head)
    return [
        place
        for place, token in enumerate(head)
        if (_sign(token) and place not in denials)
        or (_is_level(token) and (is_tested or token.word in SAMENESS) and not _is_condition(head, place))
        or (token.word in INFLUENCES and denials.intersection(range(place - DENIES_WITHIN, place)))
    ]


def _is_condition(head: Sequence[Token], place: int) -> bool:
    """Tell whether a word for sameness describes what all had: "at the same speed"; not "at a similar rate"."""
    before, after = head[place - 1 : place], head[place + 1 : place + 2]
    return (
        bool(before and after)
        and head[place].word in SAMENESS
        and before[0].word in CONDITIONAL
        and not (after[0].word in DEGREES or _sign(after[0]) or _is_level(after[0]))
    )


def _change(head: Sequence[Token], changes: Sequence[int], outcomes: Outcomes) -> Change:
    changes = _nearest(head, changes, outcomes)
    negations = [place for place in range(len(head)) if _denies(head, place)]
    if len(negations) > 1 and changes:
        negations = [place for place in negations if 0 < changes[0] - place <= NEGATES_WITHIN] or negations
    is_denied = len(negations) % 2 == 1
    same = [place for place in changes if head[place].word in SAMENESS]
    moved = [place for place in changes if _sign(head[place])]
    if len(same) + len(moved) < len(changes):  # "did not differ"
        return Change.SAME if is_denied else Change.DIFFERS
    is_same = not moved or any(_says_same(head, place, moved) for place in same)
    if same and is_same:
        return Change.DIFFERS if any(place < same[0] for place in negations) else Change.SAME
    is_association = any(stem(token.word) in ASSOCIATED for token in head)
    runs = [moved] if moved and is_association else _runs(moved)  # "more of one is linked to less of the other"
    signs = {prod(_sign(head[place]) for place in run) for run in runs}
    if len(signs) != 1:
        return Change.UNCLEAR if signs else Change.NONE
    change = Change.RISES if signs.pop() > 0 else Change.FALLS
    return _denied(change) if is_denied else change


def _nearest(head: Sequence[Token], changes: Sequence[int], outcomes: Outcomes) -> Sequence[int]:
    """Return the one run of changes next to an outcome; all of them where none or several are."""
    places = [place for place, token in enumerate(head) if stem(token.word) in outcomes]
    near = [run for run in _runs(changes) if any(abs(p - q) <= NAMES_WITHIN for p in places for q in run)]
    return near[0] if len(near) == 1 else changes


def _says_same(head: Sequence[Token], place: int, moved: Sequence[int]) -> bool:
    """Tell whether a word for sameness qualifies a change ("similar gains"), not a thing ("the same programme")."""
    is_adverb = place + 1 < len(head) and head[place + 1].word in DEGREES
    return is_adverb or any(abs(place - other) <= QUALIFIES_WITHIN for other in moved)


def _runs(places: Sequence[int]) -> list[list[int]]:
    """Group the places of direction words that qualify each other: "larger | reduction", "loss was | smaller"."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place - runs[-1][-1] <= QUALIFIES_WITHIN:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _denied(change: Change) -> Change:
    return {
        Change.RISES: Change.NO_RISE,
        Change.FALLS: Change.NO_FALL,
        Change.NO_RISE: Change.RISES,
        Change.NO_FALL: Change.FALLS,
        Change.DIFFERS: Change.SAME,
        Change.SAME: Change.DIFFERS,
    }.get(change, change)


def _denies_significance(clause: Sequence[Token]) -> bool:
    return any(map(_is_negation, clause)) and any(stem(token.word) in SIGNIFICANCE for token in clause)


def _is_negation(token: Token) -> bool:
    return token.word != "non" and (token.word in NEGATIONS or token.key in NEGATIONS)


def _is_level(token: Token) -> bool:
    return token.kind is Kind.DIRECTION and stem(token.word) in LEVEL and not _sign_of(stem(token.word))


def _sign(token: Token) -> int:
    if token.kind is not Kind.DIRECTION or token.word in ATTRIBUTES:
        return 0
    return _sign_of(stem(token.word))


def _sign_of(stemmed: str) -> int:
    return (stemmed in RISING) - (stemmed in FALLING)


def _stems(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the content stems; a number keeps its key, even where its word is an empty one."""
    figures = {token.key for token in tokens if token.kind is Kind.NUMBER}
    kinds = {Kind.DIRECTION, Kind.NEGATION, Kind.NUMBER}
    return frozenset(figures) | (frozenset(stem(t.word) for t in tokens if t.kind not in kinds) - _EMPTY)
