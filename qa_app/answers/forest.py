"""Draw the effect sizes of findings on one matter with their intervals, below one another and never pooled."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from corpus_app.appraisal import RATIO_MEASURES, Effect, EffectMeasure
from corpus_app.records import Finding, Reference
from qa_app.answers.stated_effects import read_stated_effect

LEAST_EFFECTS = 2  # one effect is no comparison
MARGIN = 4.0  # percent of the width, on either side


@dataclass(frozen=True, slots=True)
class EffectRow:
    """A finding's effect with the places of its value and bounds, in percent of the width."""

    study: Reference
    index: int | None
    """The study's citation number; None for a study that was not cited."""
    finding_id: int
    statement: str
    effect: Effect
    value: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Forest:
    """Effects of one measure and unit on a common scale."""

    measure: EffectMeasure
    unit: str
    rows: tuple[EffectRow, ...]
    none: float
    """Place of no effect, in percent of the width."""
    left_out: int
    """Number of effects with another measure or unit."""


def draw_forest(
    payload: Mapping[str, Any], cited: Mapping[str, int], known: Mapping[str, Reference], findings: Iterable[Finding]
) -> Forest | None:
    """Return the comparable effects of the findings of an answer's agreement; None for fewer than two.

    A finding without an effect in figures gives the one that its statement tells with an interval.
    """
    agreement = payload.get("agreement") or {}
    named = {row["finding_id"] for stance in agreement.values() if isinstance(stance, list) for row in stance}
    groups = _by_scale(_one_way_round(finding for finding in findings if finding.finding_id in named))
    if not groups:
        return None
    (measure, unit), rows = max(groups.items(), key=lambda group: len(group[1]))
    if len(rows) < LEAST_EFFECTS:
        return None
    is_ratio = measure in RATIO_MEASURES
    scale, none = (math.log, 1.0) if is_ratio else (float, 0.0)
    bounds = [scale(figure) for figure in (none, *(figure for _, effect in rows for figure in effect.figures))]
    first, last = min(bounds), max(bounds)

    def place(figure: float) -> float:
        return round(MARGIN + (100 - 2 * MARGIN) * (scale(figure) - first) / ((last - first) or 1.0), 2)

    drawn = tuple(
        EffectRow(
            known[finding.study_id], cited.get(finding.study_id), finding.finding_id, finding.statement, effect,
            place(effect.value), place(effect.figures[0]), place(effect.figures[-1]),
        )
        for finding, effect in rows
    )  # fmt: skip
    ordered = sorted(drawn, key=lambda row: (row.index is None, row.index or 0, row.study.study_id))
    others = sum(map(len, groups.values())) - len(rows)
    return Forest(measure, unit, tuple(ordered), place(none), others)


def _one_way_round(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without those whose sides are swapped against an earlier one: their signs would mislead."""
    kept: list[Finding] = []
    for finding in findings:
        if not any((f.intervention, f.comparator) == (finding.comparator, finding.intervention) for f in kept):
            kept.append(finding)
    return kept


def _by_scale(findings: Iterable[Finding]) -> dict[tuple[EffectMeasure, str], list[tuple[Finding, Effect]]]:
    found: dict[tuple[EffectMeasure, str], list[tuple[Finding, Effect]]] = defaultdict(list)
    for finding in findings:
        effect = finding.effect or read_stated_effect(finding.statement)
        if effect and effect.lower is not None:
            found[effect.measure, effect.unit].append((finding, effect))
    return found
