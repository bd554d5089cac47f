"""The bar chart of years on the page of an answer about the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

PITCH, HEIGHT = 14, 72
MAX_YEARS = 60  # the latest are drawn; the table lists all


@dataclass(frozen=True, slots=True)
class YearBar:
    """A year's bar, in pixels."""

    year: int
    count: int
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """The chart and the link to the studies."""

    address: str
    """Address of the same studies on the corpus page."""
    rows: tuple[tuple[int, int], ...]
    """Years and their number of studies, newest first."""
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
    """Return the chart; None for an answer that is not about the corpus."""
    overview = payload.get("overview")
    if overview is None:
        return None
    rows = [(int(year), int(count)) for year, count in overview["years"]]
    drawn = [row for row in rows if row[0] > rows[-1][0] - MAX_YEARS]
    highest = max((count for _, count in drawn), default=1)
    bars = [
        YearBar(
            year=year,
            count=count,
            x=(year - drawn[0][0]) * PITCH,
            y=round(HEIGHT * (1 - count / highest), 1),
            height=round(HEIGHT * count / highest, 1),
        )
        for year, count in drawn
    ]
    query = urlencode([tuple(pair) for pair in overview["filters"]])
    return OverviewPage(
        address=f"{reverse('corpus')}?{query}" if query else reverse("corpus"),
        rows=tuple(reversed(rows)),
        bars=tuple(bars),
        width=(drawn[-1][0] - drawn[0][0] + 1) * PITCH if drawn else 0,
    )
