"""Findings are grouped by what they compared and measured; each study of a group counts once."""

import pytest

from corpus_app.records import Concept, Direction, Finding, Lean
from qa_app.pipeline.agreement import (
    FindingConcepts,
    LeanCounts,
    build_alias_index,
    counts,
    is_conflicting,
    map_finding,
)  # fmt: skip


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
    intervention: str, comparator: str, outcome: str = "strength", *, lean: Lean = Lean.YES, number: int = 1,
    study: str = "A", is_unconfirmed: bool = False,
) -> Finding:  # fmt: skip
    return Finding(
        intervention,
        comparator,
        outcome,
        Direction.UNCLEAR,
        "",
        number,
        study,
        lean=lean,
        is_unconfirmed=is_unconfirmed,
    )


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


def test_sides_the_other_way_round_count_turned() -> None:
    one = finding("high-load training", "low-load training")
    other = finding("low-load training", "high-load training", lean=Lean.NO, number=2, study="B")

    assert counts(one, [one, other], {f.finding_id: map_finding(f, INDEX) for f in (one, other)}) == LeanCounts(2, 0, 0)


def test_what_is_not_mapped_is_not_counted() -> None:
    one = finding("sauna", "rest")

    assert counts(one, [one], {1: map_finding(one, INDEX)}) is None


@pytest.mark.parametrize(
    ("leans", "is_conflict"),
    [
        ([(Lean.YES, 4), (Lean.NO_CLEAR_DIFFERENCE, 4)], True),
        ([(Lean.YES, 4), (Lean.NO, 3)], True),
        ([(Lean.YES, 4), (Lean.NO, 2)], False),
        ([(Lean.YES, 4), (Lean.MIXED, 4)], False),
        ([(Lean.YES, 4), (Lean.YES, 4)], False),
        ([], False),
    ],
)
def test_studies_conflict_where_no_side_is_clearly_stronger(leans: list[tuple[Lean, int]], is_conflict: bool) -> None:
    findings = [finding("creatine", "placebo", lean=lean, study=str(n)) for n, (lean, _) in enumerate(leans)]

    assert is_conflicting(findings, {str(n): float(weight) for n, (_, weight) in enumerate(leans)}) is is_conflict
