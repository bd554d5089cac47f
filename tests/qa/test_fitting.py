"""Fitting: what is learned, what folds keep apart, and what the measures say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.evaluation import fitting
from qa_app.evaluation.measures import auroc, calibration_error, reliability

chances = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def make_examples(n: int = 200, *, seed: int = 1) -> fitting.Examples:
    """One signal that tells, one that does not; examples come in pairs."""
    dice = np.random.default_rng(seed)
    told, noise = dice.normal(size=n), dice.normal(size=n)
    right = dice.random(n) < 1 / (1 + np.exp(-2 * told))
    return fitting.examples(
        ("told", "noise"),
        np.column_stack((told, noise)).tolist(),
        right.tolist(),
        [str(r) for r in right],
        [str(i // 2) for i in range(n)],
    )


def test_the_signal_that_tells_gets_the_weight() -> None:
    line = fitting.fit(make_examples().rows, make_examples().right, balanced=False)

    assert line.coefficients[0] > 5 * abs(line.coefficients[1])


def test_a_fit_meets_the_share_that_was_right() -> None:
    examples = make_examples()

    line = fitting.fit(examples.rows, examples.right, balanced=False)

    assert line.estimate(examples.rows).mean() == pytest.approx(examples.right.mean(), abs=1e-4)


def test_a_heavier_penalty_gives_smaller_coefficients() -> None:
    examples = make_examples()

    light, heavy = (fitting.fit(examples.rows, examples.right, balanced=False, ridge=r) for r in (0.1, 100.0))

    assert abs(heavy.coefficients).sum() < abs(light.coefficients).sum()


def test_a_signal_that_never_changes_does_no_harm() -> None:
    examples = make_examples()
    rows = np.column_stack((examples.rows, np.ones(len(examples.right))))

    assert fitting.fit(rows, examples.right, balanced=False).coefficients[2] == pytest.approx(0.0)


def test_folds_hold_every_example_once_and_keep_groups_together() -> None:
    examples = make_examples()

    folds = list(fitting._folds(examples, np.random.default_rng(0)))

    assert (sum(fold.astype(int) for fold in folds) == 1).all()
    for fold in folds:
        inside = {g for g, held in zip(examples.groups, fold, strict=True) if held}
        assert not inside & {g for g, held in zip(examples.groups, fold, strict=True) if not held}


def test_what_tells_nothing_is_no_better_than_chance_unseen() -> None:
    examples = make_examples(120)
    noise = fitting.examples(
        ("noise",), examples.rows[:, 1:].tolist(), examples.right.tolist(), examples.strata, examples.groups
    )

    unseen = fitting.cross_validate(noise, balanced=False)

    assert auroc(unseen.estimates.tolist(), noise.right.tolist()) < 0.6


def test_a_threshold_gives_up_about_the_share_that_it_was_asked_for() -> None:
    examples = make_examples(400)

    unseen = fitting.cross_validate(examples, balanced=False, wrongly_refused=0.1)

    assert unseen.refused[examples.right].mean() == pytest.approx(0.1, abs=0.03)


def test_cross_validation_gives_the_same_twice() -> None:
    first, second = (fitting.cross_validate(make_examples(60), balanced=True, wrongly_refused=0.1) for _ in range(2))

    assert (first.estimates == second.estimates).all()
    assert (first.refused == second.refused).all()


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
