"""Measures of ranking, answering and calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000  # enough for a stable third digit of an interval
RESAMPLE_BATCH = 500
NORMAL_95 = 1.959964  # 97.5 % quantile of the standard normal distribution


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return the normalised discounted cumulative gain at k, with gain 2^grade - 1 (Burges et al. 2005).

    It is 0.0 without a relevant item.
    """
    ideal = sorted(grades.values(), reverse=True)[:k]
    best = sum(_gain(grade, place) for place, grade in enumerate(ideal))
    found = sum(_gain(grades.get(item, 0), place) for place, item in enumerate(ranked[:k]))
    return found / best if best else 0.0


def _gain(grade: int, place: int) -> float:
    return float((2**grade - 1) / math.log2(place + 2))


def recall(ranked: Sequence[str], grades: Mapping[str, int], k: int, *, least: int = 1) -> float:
    """Return the share of the items graded at least `least` among the first k; 0.0 where there are none."""
    wanted = {item for item, grade in grades.items() if grade >= least}
    return len(wanted & set(ranked[:k])) / len(wanted) if wanted else 0.0


def share(flags: Sequence[bool]) -> float:
    """Return the share of true flags; 0.0 without any."""
    return sum(flags) / len(flags) if flags else 0.0


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], p: float) -> float:
    """Return the nearest-rank percentile, p from 0 to 100; 0.0 without values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(p / 100 * len(ordered)) - 1)] if ordered else 0.0


def bootstrap_interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean; the seed makes it reproducible."""
    if not values:
        return 0.0, 0.0
    drawn = np.asarray(values, dtype=np.float64)
    dice = np.random.default_rng(seed)
    means = np.concatenate(
        [
            drawn[dice.integers(len(drawn), size=(RESAMPLE_BATCH, len(drawn)))].mean(axis=1)
            for _ in range(RESAMPLES // RESAMPLE_BATCH)
        ]
    )
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def wilson_interval(successes: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927), also for small n; (0, 1) for n = 0."""
    if not n:
        return 0.0, 1.0
    z, p = NORMAL_95, successes / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def auroc(estimates: Sequence[float], right: Sequence[bool]) -> float:
    """Return the area under the ROC curve, ties counting half; 0.5 where there is only one class."""
    values, truth = np.asarray(estimates, dtype=np.float64), np.asarray(right, dtype=bool)
    above, below = values[truth], np.sort(values[~truth])
    if not len(above) or not len(below):
        return 0.5
    higher = np.searchsorted(below, above, side="left") + np.searchsorted(below, above, side="right")
    return float(higher.sum() / (2 * len(above) * len(below)))


@dataclass(frozen=True, slots=True)
class Bin:
    """Similar estimates: their number, their mean, and the share that was right."""

    n: int
    estimated: float
    was: float


def reliability(estimates: Sequence[float], right: Sequence[bool], bins: int = 10) -> tuple[Bin, ...]:
    """Return the bins of a reliability diagram, of equal width from 0 to 1, without empty ones."""
    binned: dict[int, list[tuple[float, bool]]] = {}
    for estimate, was in zip(estimates, right, strict=True):
        binned.setdefault(min(bins - 1, int(estimate * bins)), []).append((estimate, was))
    return tuple(Bin(len(b), mean([e for e, _ in b]), share([w for _, w in b])) for _, b in sorted(binned.items()))


def calibration_error(estimates: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Return the expected calibration error (Guo et al. 2017)."""
    return sum(b.n * abs(b.estimated - b.was) for b in reliability(estimates, right, bins)) / max(1, len(right))
