"""Drawings made by commands, as SVG that reads on light and on dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from qa_app.measures import Bin, wilson_interval

SIDE, LEFT, TOP, BARS = 320, 56, 16, 56  # pixels: the square, the room beside and above it, the bars of counts below
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .frame, .even { stroke: #8c959f; fill: none }
  .even { stroke-dasharray: 4 4 }
  .range { stroke: #0a6e8a; stroke-width: 2 }
  .point, .bar { fill: #0a6e8a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .range { stroke: #58b9d6 }
    .point, .bar { fill: #58b9d6 }
  }
"""


def reliability_diagram(bins: Sequence[Bin], *, title: str, summary: str) -> str:
    """What was right against what was estimated, with 95 % intervals, over how many answers fall in each bin."""
    floor, most = TOP + SIDE, max((b.n for b in bins), default=1)
    foot = floor + 34
    marks = []
    for one in bins:
        low, high = wilson_interval(round(one.n * one.was), one.n)
        x = LEFT + SIDE * one.estimated
        marks += [
            f'<line class="range" x1="{x:.1f}" x2="{x:.1f}" y1="{floor - SIDE * low:.1f}" y2="{floor - SIDE * high:.1f}"/>',
            f'<circle class="point" cx="{x:.1f}" cy="{floor - SIDE * one.was:.1f}" r="4"/>',
            f'<rect class="bar" x="{x - 6:.1f}" y="{foot + BARS * (1 - one.n / most):.1f}" width="12" height="{BARS * one.n / most:.1f}"/>',
            f'<text x="{x:.1f}" y="{foot + BARS + 14}" text-anchor="middle">{one.n}</text>',
        ]
    scale = [
        line
        for tenth in (0, 2, 4, 6, 8, 10)
        for line in (
            f'<text x="{LEFT + SIDE * tenth / 10:.1f}" y="{floor + 16}" text-anchor="middle">{10 * tenth}</text>',
            f'<text x="{LEFT - 8}" y="{floor - SIDE * tenth / 10 + 4:.1f}" text-anchor="end">{10 * tenth}</text>',
        )
    ]
    width, height = LEFT + SIDE + 24, foot + BARS + 24
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t d">',
            f'<title id="t">{escape(title)}</title>',
            f'<desc id="d">{escape(summary)}</desc>',
            f"<style>{STYLE}</style>",
            f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}"/>',
            f'<line class="even" x1="{LEFT}" y1="{floor}" x2="{LEFT + SIDE}" y2="{TOP}"/>',
            *scale,
            *marks,
            f'<text transform="translate(14 {TOP + SIDE / 2}) rotate(-90)" text-anchor="middle">right, %</text>',
            f'<text x="{LEFT + SIDE / 2}" y="{floor + 30}" text-anchor="middle">confidence; answers below</text>',
            "</svg>",
            "",
        ]
    )
