"""Fitting a logistic model to few examples, and how well it does on those that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FOLDS = 5
REPEATS = 20  # of the folds, each time dealt anew: with few examples one deal is luck
RIDGE = 1.0  # penalty on squared coefficients of standardised signals, beside a likelihood that is summed
STEPS = 50
SETTLED = 1e-8

Rows = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Examples:
    """What a model is fitted to: a row of signals each, and whether it was right."""

    names: tuple[str, ...]
    rows: Rows
    right: Flags
    strata: tuple[str, ...]
    """Every fold gets its share of each."""
    groups: tuple[str, ...]
    """Examples of one group stay in one fold."""


@dataclass(frozen=True, slots=True)
class Line:
    """A logistic model on standardised signals."""

    intercept: float
    coefficients: Rows
    means: Rows
    scales: Rows

    def estimate(self, rows: Rows) -> Rows:
        """Chance from 0 to 1 of each row."""
        z = self.intercept + ((rows - self.means) / self.scales) @ self.coefficients
        return np.asarray(1 / (1 + np.exp(-np.clip(z, -30, 30))), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Unseen:
    """How the examples fared in models that had not seen them: means over the repeats."""

    estimates: Rows
    refused: Rows
    """Share of the repeats in which the estimate fell below the threshold that was chosen without it."""


def fit(rows: Rows, right: Flags, *, balanced: bool, ridge: float = RIDGE) -> Line:
    """The likeliest model under the penalty, by Newton's steps. Balanced: both kinds weigh the same, however many there are."""
    means, scales = rows.mean(axis=0), rows.std(axis=0)
    scales = np.where(scales > 0, scales, 1.0)
    x = np.column_stack((np.ones(len(rows)), (rows - means) / scales))
    y, weights = right.astype(np.float64), np.ones(len(right))
    if balanced and 0 < right.sum() < len(right):
        weights = np.where(right, 0.5 / right.mean(), 0.5 / (1 - right.mean()))
    penalty = ridge * np.eye(x.shape[1])
    penalty[0, 0] = 1e-6  # the intercept is free
    beta = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        slope = x.T @ (weights * (y - p)) - penalty @ beta
        curve = (x * (weights * p * (1 - p))[:, None]).T @ x + penalty
        step = np.linalg.solve(curve, slope)
        beta = beta + step
        if np.abs(step).max() < SETTLED:
            break
    return Line(float(beta[0]), beta[1:], means, scales)


def threshold(line: Line, examples: Examples, wrongly_refused: float) -> float:
    """The estimate below which that share of the right examples lies."""
    return float(np.quantile(line.estimate(examples.rows[examples.right]), wrongly_refused))


def cross_validate(
    examples: Examples, *, balanced: bool, wrongly_refused: float | None = None, seed: int = 0
) -> Unseen:
    """Repeated stratified folds; model, standardisation and threshold come from the other folds each time."""
    estimates, refused = np.zeros(len(examples.right)), np.zeros(len(examples.right))
    dice = np.random.default_rng(seed)
    for _ in range(REPEATS):
        for held in _folds(examples, dice):
            rest = Examples(examples.names, examples.rows[~held], examples.right[~held], (), ())
            line = fit(rest.rows, rest.right, balanced=balanced)
            estimates[held] += line.estimate(examples.rows[held]) / REPEATS
            if wrongly_refused is not None:
                low = threshold(line, rest, wrongly_refused)
                refused[held] += (line.estimate(examples.rows[held]) < low) / REPEATS
    return Unseen(estimates, refused)


def _folds(examples: Examples, dice: np.random.Generator) -> Iterator[Flags]:
    """Which examples a fold holds, fold by fold."""
    stratum_of: dict[str, str] = {}
    for group, stratum in zip(examples.groups, examples.strata, strict=True):
        stratum_of.setdefault(group, stratum)
    fold_of: dict[str, int] = {}
    for stratum in dict.fromkeys(stratum_of.values()):
        groups = [group for group, its in stratum_of.items() if its == stratum]
        first = int(dice.integers(FOLDS))
        for place, index in enumerate(dice.permutation(len(groups))):
            fold_of[groups[index]] = (first + place) % FOLDS
    folds = np.array([fold_of[group] for group in examples.groups])
    for fold in range(FOLDS):
        if (folds == fold).any() and (folds != fold).any():
            yield folds == fold


def examples(
    names: Sequence[str],
    rows: Sequence[Sequence[float]],
    right: Sequence[bool],
    strata: Sequence[str],
    groups: Sequence[str],
) -> Examples:
    """As arrays."""
    return Examples(
        tuple(names),
        np.asarray(rows, dtype=np.float64).reshape(len(right), len(names)),
        np.asarray(right, dtype=bool),
        tuple(strata),
        tuple(groups),
    )
