"""Each measure against its definition."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.evaluation.measures import (
    auroc,
    bootstrap_interval,
    calibration_error,
    mean,
    ndcg,
    percentile,
    recall,
    reliability,
    share,
    wilson_interval,
)

studies = st.lists(st.sampled_from("ABCDEFGH"), unique=True)
chances = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)
grades = st.dictionaries(st.sampled_from("ABCDEFGH"), st.integers(0, 2))


def test_ndcg_is_the_gain_found_over_the_gain_there_could_be() -> None:
    found = (2**1 - 1) / math.log2(2) + (2**2 - 1) / math.log2(4)
    ideal = (2**2 - 1) / math.log2(2) + (2**1 - 1) / math.log2(3)

    assert ndcg(["B", "X", "A"], {"A": 2, "B": 1}, 10) == pytest.approx(found / ideal)
    assert ndcg(["X", "A"], {"A": 2}, 1) == 0.0
    assert ndcg(["A", "B"], {"A": 2, "B": 2, "C": 2}, 2) == 1.0


@given(studies, grades, st.integers(1, 10))
def test_ndcg_and_recall_are_shares(ranked: list[str], graded: dict[str, int], k: int) -> None:
    assert 0.0 <= ndcg(ranked, graded, k) <= 1.0 + 1e-9
    assert 0.0 <= recall(ranked, graded, k) <= 1.0


@given(grades.filter(lambda graded: any(graded.values())), st.integers(1, 10))
def test_the_ideal_order_is_worth_1(graded: dict[str, int], k: int) -> None:
    ideal = sorted(graded, key=lambda item: -graded[item])

    assert ndcg(ideal, graded, k) == pytest.approx(1.0)


@pytest.mark.parametrize(("least", "expected"), [(1, 2 / 3), (2, 1 / 1), (3, 0.0)])
def test_recall_counts_the_grades_that_are_asked_for(least: int, expected: float) -> None:
    assert recall(["A", "X", "B"], {"A": 2, "B": 1, "C": 1}, 3, least=least) == pytest.approx(expected)


@pytest.mark.parametrize(("p", "expected"), [(0, 1), (50, 2), (75, 3), (95, 4)])
def test_percentiles_are_nearest_ranks(p: float, expected: float) -> None:
    assert percentile([4, 2, 1, 3], p) == expected


def test_nothing_measures_zero() -> None:
    assert (ndcg([], {}, 10), recall([], {}, 10), share([]), mean([]), percentile([], 50)) == (0.0,) * 5
    assert bootstrap_interval([]) == (0.0, 0.0)
    assert (share([True, False, True, True]), mean([1.0, 2.0])) == (3 / 4, 3 / 2)


def test_the_bootstrap_interval_is_about_two_standard_errors_either_side_and_always_the_same() -> None:
    values = [0.0, 1.0] * 200

    low, high = bootstrap_interval(values)

    assert (low, high) == pytest.approx((0.5 - 1.96 * 0.5 / 20, 0.5 + 1.96 * 0.5 / 20), abs=0.004)
    assert bootstrap_interval(values) == (low, high)


@pytest.mark.parametrize(
    ("successes", "n", "interval"), [(0, 10, (0.0, 0.2775)), (10, 10, (0.7225, 1.0)), (5, 10, (0.2366, 0.7634)), (0, 0, (0.0, 1.0))]
)  # fmt: skip
def test_wilsons_interval_is_that_of_the_tables(successes: int, n: int, interval: tuple[float, float]) -> None:
    assert wilson_interval(successes, n) == pytest.approx(interval, abs=1e-4)


@given(chances)
def test_auroc_counts_pairs(pairs: list[tuple[float, bool]]) -> None:
    values, right = [v for v, _ in pairs], [r for _, r in pairs]
    above, below = [v for v, r in pairs if r], [v for v, r in pairs if not r]

    measured = auroc(values, right)

    won = [1.0 if a > b else 0.5 if a == b else 0.0 for a in above for b in below]
    assert measured == pytest.approx(sum(won) / len(won) if won else 0.5)


@given(chances)
def test_bins_hold_every_estimate_and_the_error_is_a_share(pairs: list[tuple[float, bool]]) -> None:
    values, right = [v for v, _ in pairs], [r for _, r in pairs]

    bins = reliability(values, right)

    assert sum(b.n for b in bins) == len(pairs)
    assert 0 <= calibration_error(values, right) <= 1


def test_the_error_of_estimates_is_how_far_they_miss() -> None:
    assert calibration_error([0.75] * 4, [True, True, True, False]) == 0.0
    assert calibration_error([0.75] * 4, [True, False, False, False]) == 0.5
