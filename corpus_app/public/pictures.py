"""Geometry of small charts that templates render as SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from corpus_app.public.browsing import TopicPage

BAR_PITCH = 14
BAR_WIDTH = 11
BARS_HEIGHT = 72
MOST_BARS = 60  # years; of more, the latest are drawn, and the table lists all
FAN_WIDTH, FAN_PITCH, FAN_MOST = 440, 32, 14
FAN_ROOT, FAN_NODE, FAN_LABEL = 132, 214, 228
LONGEST_LABEL = 27
ROOT_LINE = 16  # characters


@dataclass(frozen=True, slots=True)
class Bar:
    year: int
    count: int
    query: str
    is_on: bool
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Histogram:
    bars: tuple[Bar, ...]
    """In the order of their years; years without studies leave a gap."""
    rows: tuple[Bar, ...]
    """Every year that has studies, newest first."""
    width: int
    height: int
    first: int
    last: int
    highest: int


def draw_histogram(years: Mapping[int, tuple[int, str]], *, is_on: Callable[[int], bool]) -> Histogram:
    """Lay out a bar for each year; the highest has the full height."""
    last = max(years)
    first = max(min(years), last - MOST_BARS + 1)
    highest = max(count for count, _ in years.values())
    bars = [
        Bar(
            year=year,
            count=count,
            query=query,
            is_on=is_on(year),
            x=(year - first) * BAR_PITCH,
            y=round(BARS_HEIGHT * (1 - count / highest), 1),
            height=round(BARS_HEIGHT * count / highest, 1),
        )
        for year, (count, query) in sorted(years.items())
    ]
    return Histogram(
        bars=tuple(bar for bar in bars if bar.year >= first),
        rows=tuple(reversed(bars)),
        width=(last - first + 1) * BAR_PITCH,
        height=BARS_HEIGHT,
        first=first,
        last=last,
        highest=highest,
    )


@dataclass(frozen=True, slots=True)
class ConceptNode:
    concept_id: str
    label: str
    y: float
    radius: float
    stroke: float
    path: str
    baseline: float
    top: float


@dataclass(frozen=True, slots=True)
class Fan:
    """A topic on the left and its neighbours on the right, with thicker lines for more studies."""

    nodes: tuple[ConceptNode, ...]
    width: int
    height: int
    middle: float
    root: int
    node: int
    text: int
    lines: tuple[tuple[float, str], ...]
    """The topic's name, each line with its baseline."""
    box_y: float
    box_height: float
    left_out: int


def draw_neighbours(page: TopicPage) -> Fan | None:
    """Lay out a topic and its strongest neighbours; None if it has no neighbours."""
    shown = page.neighbours[:FAN_MOST]
    if not shown:
        return None
    lines = _wrap(page.topic.concept.name)
    box = 18.0 * len(lines) + 14
    height = max(len(shown) * FAN_PITCH, int(box) + 8)
    middle = height / 2
    most = max(neighbour.behind for neighbour in shown)
    top = middle - (len(shown) - 1) * FAN_PITCH / 2
    return Fan(
        nodes=tuple(
            ConceptNode(
                concept_id=neighbour.topic.concept.concept_id,
                label=_shorten(neighbour.topic.concept.name),
                y=(y := top + place * FAN_PITCH),
                radius=round(4 + 4 * (neighbour.behind / most) ** 0.5, 1),
                stroke=round(1 + 5 * neighbour.behind / most, 1),
                path=f"M{FAN_ROOT} {middle:g}C{FAN_ROOT + 50} {middle:g} {FAN_NODE - 50} {y:g} {FAN_NODE} {y:g}",
                baseline=y + 5,
                top=y - 14,
            )
            for place, neighbour in enumerate(shown)
        ),
        width=FAN_WIDTH,
        height=height,
        middle=middle,
        root=FAN_ROOT,
        node=FAN_NODE,
        text=FAN_LABEL,
        lines=tuple((middle - box / 2 + 20 + 18 * place, line) for place, line in enumerate(lines)),
        box_y=middle - box / 2,
        box_height=box,
        left_out=len(page.neighbours) - len(shown),
    )


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1].rstrip() + "…"


def _wrap(name: str) -> list[str]:
    lines: list[str] = []
    for word in name.split() or [name]:
        word = word if len(word) <= ROOT_LINE else word[: ROOT_LINE - 1] + "…"
        if lines and len(lines[-1]) + 1 + len(word) <= ROOT_LINE:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines[:4]
