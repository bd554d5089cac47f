"""Draw the risk-coverage curve: how many answers are wrong if only those with a high chance are given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qa_app.evaluation.measures import wilson_interval

WIDTH, HEIGHT = 300, 160  # of the plot, in pixels
STEP = 0.1  # of the axis of risk


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Describe the result of giving only the answers with at least this chance."""

    least: float
    """Lowest chance given, from 0 to 1."""
    n: int
    """Number of answers."""
    coverage: float
    """Share of all questions that is answered."""
    risk: float
    """Share of the answers that is wrong, with its 95 % interval."""
    low: float
    high: float
    x: float
    y: float
    y_low: float
    y_high: float


@dataclass(frozen=True, slots=True)
class Curve:
    """The curve in a plot with the origin at the top left."""

    points: tuple[CurvePoint, ...]
    """The highest chance first."""
    questions: int
    path: str
    """Of the line, for SVG."""
    ticks: tuple[tuple[int, float], ...]
    """Risks in percent with their y positions."""


def draw_curve(bins: Sequence[Mapping[str, float]], questions: int) -> Curve | None:
    """Return the curve of the bins of a reliability diagram (El-Yaniv and Wiener 2010); None without any."""
    if not bins or not questions:
        return None
    counted = []
    n = wrong = 0
    for row in sorted(bins, key=lambda row: -row["estimated"]):
        n += round(row["n"])
        wrong += round(row["n"] * (1 - row["was"]))
        counted.append((int(row["estimated"] * 10) / 10, n, wrong, wilson_interval(wrong, n)))
    most = math.ceil(round(max(interval[1] for *_, interval in counted) / STEP, 6)) * STEP
    points = tuple(
        CurvePoint(
            least=least,
            n=n,
            coverage=n / questions,
            risk=wrong / n,
            low=interval[0],
            high=interval[1],
            x=round(WIDTH * n / questions, 1),
            y=_height(wrong / n, most),
            y_low=_height(interval[0], most),
            y_high=_height(interval[1], most),
        )
        for least, n, wrong, interval in counted
    )
    return Curve(
        points=points,
        questions=questions,
        path="M" + "L".join(f"{point.x} {point.y}" for point in points),
        ticks=tuple((percent, _height(percent / 100, most)) for percent in range(0, round(100 * most) + 1, 20)),
    )


def _height(risk: float, most: float) -> float:
    return round(HEIGHT * (1 - risk / most), 1)
