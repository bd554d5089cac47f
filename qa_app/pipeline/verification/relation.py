"""Relate the effect that a claim asserts to that of a source: does the one follow from the other, or its opposite?"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from qa_app.pipeline.verification.effect import REVERSED, Change, Effect
from qa_app.pipeline.verification.qualities import Quality


class Relation(StrEnum):
    AGREES = "agrees"
    OPPOSES = "opposes"
    UNRELATED = "unrelated"
    """Neither follows, as where one of the two asserts no change."""


_AGREES: Mapping[Change, frozenset[Change]] = {
    Change.RISES: frozenset({Change.RISES}),
    Change.FALLS: frozenset({Change.FALLS}),
    Change.SAME: frozenset({Change.SAME}),
    Change.DIFFERS: frozenset({Change.RISES, Change.FALLS, Change.DIFFERS}),
    Change.NO_RISE: frozenset({Change.SAME, Change.FALLS, Change.NO_RISE}),
    Change.NO_FALL: frozenset({Change.SAME, Change.RISES, Change.NO_FALL}),
}
_OPPOSES: Mapping[Change, frozenset[Change]] = {
    Change.RISES: frozenset({Change.FALLS, Change.SAME, Change.NO_RISE}),
    Change.FALLS: frozenset({Change.RISES, Change.SAME, Change.NO_FALL}),
    Change.SAME: frozenset({Change.RISES, Change.FALLS, Change.DIFFERS}),
    Change.DIFFERS: frozenset({Change.SAME}),
    Change.NO_RISE: frozenset({Change.RISES}),
    Change.NO_FALL: frozenset({Change.FALLS}),
}


def relate(claim: Effect, source: Effect) -> Relation:
    """Return whether the source's effect agrees with the claim's; what is compared may be the other way round."""
    other = claim.compared - claim.subject
    if claim.compared and not other:
        return Relation.UNRELATED  # one name for both sides hides what it compares
    order = _order(claim, source)
    if other and not source.compared:
        order = _favoured(claim, source)
        names_both = _is_on(claim.subject, source) >= _is_on(other, source) > 0
        if not order and not (names_both and source.change in {Change.SAME, Change.DIFFERS}):
            return Relation.UNRELATED  # it does not set one side against the other
    elif other and not other & (source.compared if order >= 0 else source.subject):
        return Relation.UNRELATED  # it compares with something else
    if source.is_between and not (other or claim.is_alike or claim.is_between) and not _is_plain_rise(source, order):
        return Relation.UNRELATED  # it compares two things, and the claim is on one
    change = source.change if order >= 0 else REVERSED.get(source.change, source.change)
    if order == 0 and source.compared and change in REVERSED:
        return Relation.UNRELATED  # which side gained is not clear
    is_of_both = (claim.is_alike or claim.is_between) and not claim.compared
    if is_of_both and change in {Change.RISES, Change.FALLS} and not source.compared & claim.stems:
        return Relation.UNRELATED  # it says how all moved, not whether they moved alike
    if source.lacking ^ claim.lacking or source.is_possible > claim.is_possible:
        return Relation.UNRELATED
    if len(claim.factors - source.factors) > 1:
        return Relation.UNRELATED  # "lack of X raises Y": one word may differ, the rest must be the same
    if change in _AGREES.get(claim.change, ()):
        return Relation.AGREES
    if change in _OPPOSES.get(claim.change, ()):
        return Relation.OPPOSES
    return Relation.UNRELATED


def is_on_quality(claim: Effect, source: Effect) -> bool:
    """Tell whether the source speaks of each quality that the claim judges; no difference is no advantage either."""
    return all(
        quality in source.qualities or (quality is Quality.VALUE and source.change is Change.SAME)
        for quality in claim.qualities
    )


def _is_plain_rise(source: Effect, order: int) -> bool:
    """Tell whether the first of two things that are compared did what the verb says: "cut pain more than"."""
    signs = {Change.RISES: 1, Change.FALLS: -1}
    return bool(source.compared) and order >= 0 and signs.get(source.change) == source.verb


def _favoured(claim: Effect, source: Effect) -> int:
    """Return 1 where a judgement ("an advantage for") names the claim's subject alone, -1 the other side alone."""
    if Quality.VALUE not in source.qualities:
        return 0
    own, other = claim.subject - claim.compared, claim.compared - claim.subject
    return bool(own & source.own and not other & source.own) - bool(other & source.own and not own & source.own)


def _is_on(side: frozenset[str], source: Effect) -> float:
    return len(side & source.stems) / len(side) if side else 0.0


def _order(claim: Effect, source: Effect) -> int:
    """Return 1 where both name the sides in the same order, -1 where the source reverses them, 0 where neither."""
    own, other = claim.subject - claim.compared, claim.compared - claim.subject
    first, second = source.subject - source.compared, source.compared - source.subject
    straight = len(own & first) + len(other & second)
    crossed = len(own & second) + len(other & first)
    return (straight > crossed) - (straight < crossed)
