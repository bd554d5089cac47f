"""What the page of an answer about the corpus itself adds: a picture of the years, and the way to the studies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

PITCH, BAR, HEIGHT = 14, 11, 72
MOST_YEARS = 60  # where there are more, the latest are drawn and the table holds all


@dataclass(frozen=True, slots=True)
class YearBar:
    year: int
    count: int
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class OverviewPage:
    address: str
    """The same studies on the corpus page."""
    rows: tuple[tuple[int, int], ...]
    """Years and their studies, newest first."""
    bars: tuple[YearBar, ...]
    width: int
    height: int = HEIGHT

    @property
    def first(self) -> int:
        return self.bars[0].year

    @property
    def last(self) -> int:
        return self.bars[-1].year

    @property
    def highest(self) -> int:
        return max(bar.count for bar in self.bars)


def overview_page(payload: Mapping[str, Any]) -> OverviewPage | None:
    """None for an answer that is not about the corpus itself."""
    overview = payload.get("overview")
    if overview is None:
        return None
    rows = [(int(year), int(count)) for year, count in overview["years"]]
    drawn = [row for row in rows if row[0] > rows[-1][0] - MOST_YEARS]
    highest = max((count for _, count in drawn), default=1)
    bars = [
        YearBar(year, count, (year - drawn[0][0]) * PITCH, round(HEIGHT * (1 - count / highest), 1), round(HEIGHT * count / highest, 1))
        for year, count in drawn
    ]  # fmt: skip
    query = urlencode([tuple(pair) for pair in overview["filters"]])
    return OverviewPage(
        address=f"{reverse('corpus')}?{query}" if query else reverse("corpus"),
        rows=tuple(reversed(rows)),
        bars=tuple(bars),
        width=(drawn[-1][0] - drawn[0][0] + 1) * PITCH if drawn else 0,
    )
