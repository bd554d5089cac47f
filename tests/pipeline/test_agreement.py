"""Findings are grouped by what they compared and measured; each study of a group counts once."""

from typing import Any

import pytest

from corpus_app.records import Concept, Direction, Finding, Lean
from qa_app.pipeline.agreement import (
    FindingConcepts,
    LeanCounts,
    build_alias_index,
    counts,
    is_conflicting,
    map_finding,
)


def concept(concept_id: str, kind: str, *names: str) -> Concept:
    return Concept(concept_id, names[0], kind, names[1:], "", ())


INDEX = build_alias_index(
    [
        concept("creatine", "nutrient", "creatine", "creatine supplementation"),
        concept("lifting", "intervention", "resistance training", "lifting"),
        concept("keto", "nutrient", "ketogenic diet"),
        concept("heavy", "training_variable", "high-load training"),
        concept("light", "training_variable", "low-load training"),
        concept("strength", "outcome", "muscle strength", "strength"),
        concept("1rm", "measure", "1RM"),
        concept("legs", "outcome", "leg press"),
    ]
)


def finding(
    intervention: str, comparator: str, outcome: str = "strength", *, number: int = 1, study: str = "A", **changes: Any
) -> Finding:
    sides = intervention, comparator, outcome
    return Finding(*sides, Direction.UNCLEAR, "", number, study, **({"lean": Lean.YES} | changes))


@pytest.mark.parametrize(
    ("sides", "outcome", "expected"),
    [
        (("creatine supplementation", "placebo"), "strength", ({"creatine"}, set(), {"strength"})),
        (("creatine plus lifting", "placebo plus lifting"), "muscle strength", ({"creatine"}, set(), {"strength"})),
        (("ketogenic diet", "non-ketogenic diet"), "strength", ({"keto"}, set(), {"strength"})),
        (("lifting", "no lifting"), "1RM", ({"lifting"}, set(), {"1rm"})),
        (("high-load training", "low-load training"), "strength (1RM leg press)", ({"heavy"}, {"light"}, {"strength"})),
        (("more lifting", "some lifting"), "strength", (set(), set(), {"strength"})),
        (("creatine", "placebo"), "sleep", ({"creatine"}, set(), set())),
    ],
)
def test_a_finding_is_mapped_to_what_differs_between_its_sides(
    sides: tuple[str, str], outcome: str, expected: tuple[set[str], ...]
) -> None:
    assert map_finding(finding(*sides, outcome), INDEX) == FindingConcepts(*map(frozenset, expected))


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([], LeanCounts(1, 0, 0)),
        ([finding("creatine", "placebo", lean=Lean.NO, number=2, study="B")], LeanCounts(1, 1, 0)),
        ([finding("creatine", "placebo", number=2)], LeanCounts(1, 0, 0)),
        ([finding("creatine", "placebo", lean=Lean.NO, number=2)], LeanCounts(0, 0, 0)),
        ([finding("creatine", "placebo", lean=Lean.MIXED, number=2, study="B")], LeanCounts(1, 0, 0)),
        ([finding("lifting", "rest", number=2, study="B")], LeanCounts(1, 0, 0)),
        ([finding("creatine", "placebo", number=2, study="B", is_unconfirmed=True)], LeanCounts(1, 0, 0)),
    ],
)
def test_each_study_on_the_matter_counts_once(others: list[Finding], expected: LeanCounts) -> None:
    one = finding("creatine", "placebo")
    concepts = {f.finding_id: map_finding(f, INDEX) for f in (one, *others)}

    assert counts(one, [one, *others], concepts) == expected


def test_sides_the_other_way_round_count_turned_and_what_is_not_mapped_not_at_all() -> None:
    one, unmapped = finding("high-load training", "low-load training"), finding("sauna", "rest")
    other = finding("low-load training", "high-load training", lean=Lean.NO, number=2, study="B")

    assert counts(one, [one, other], {f.finding_id: map_finding(f, INDEX) for f in (one, other)}) == LeanCounts(2, 0, 0)
    assert counts(unmapped, [unmapped], {1: map_finding(unmapped, INDEX)}) is None


def test_studies_conflict_where_no_side_is_clearly_stronger() -> None:
    for other, weight, is_conflict in (
        (Lean.NO_CLEAR_DIFFERENCE, 4.0, True), (Lean.NO, 3.0, True), (Lean.NO, 2.0, False), (Lean.MIXED, 4.0, False),
        (Lean.YES, 4.0, False),
    ):  # fmt: skip
        findings = [finding("creatine", "placebo"), finding("creatine", "placebo", lean=other, study="B")]
        assert is_conflicting(findings, {"A": 4.0, "B": weight}) is is_conflict
    assert not is_conflicting([], {})
