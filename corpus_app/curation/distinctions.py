"""Pairs of studies that look alike and that a curator has told apart."""

from __future__ import annotations

from django.contrib.auth.models import User

from corpus_app.curation.acts import CurationError, act
from corpus_app.models import DistinctStudies

Pair = tuple[str, str]


def pair_of(one: str, other: str) -> Pair:
    """Return two ids in the order in which they are stored."""
    return (one, other) if one < other else (other, one)


def distinct_pairs() -> frozenset[Pair]:
    return frozenset(DistinctStudies.objects.values_list("first", "second"))


def mark_distinct(one: str, other: str, *, by: User | None, by_name: str = "") -> None:
    """Remember that two studies are not the same, so that they are not shown as a pair again."""
    if one == other:
        raise CurationError("A study is not told apart from itself.")
    first, second = pair_of(one, other)
    with act(by=by, by_name=by_name) as current:
        values = {"by": by, "by_name": current.by_name, "at": current.at}
        _, is_new = DistinctStudies.objects.get_or_create(first=first, second=second, defaults=values)
        if is_new:
            current.record("distinguish_studies", study=first, other=second)


def undo_distinction(one: str, other: str, *, by: User | None, by_name: str = "") -> None:
    """Forget that two studies were told apart: they are shown as a pair again."""
    first, second = pair_of(one, other)
    with act(by=by, by_name=by_name) as current:
        if DistinctStudies.objects.filter(first=first, second=second).delete()[0]:
            current.record("undo_distinction", study=first, other=second)
