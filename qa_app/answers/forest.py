"""Draw the effect sizes of findings on one matter with their intervals, below one another and never pooled."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from corpus_app import search
from corpus_app.appraisal import RATIO_MEASURES, Effect, EffectMeasure
from corpus_app.records import Direction, Finding, Reference, Wanted
from qa_app.answers.stated_effects import read_stated_effect

LEAST_EFFECTS = 2  # one effect is no comparison
MARGIN = 4.0  # percent of the width, on either side
TOWARDS = {"favours": 1, "against": -1}
"""The side of the axis by the stance of a finding: 1 for the intervention."""
FAVOURED = {Direction.FAVOURS_INTERVENTION: 1, Direction.FAVOURS_COMPARATOR: -1}


@dataclass(frozen=True, slots=True)
class EffectRow:
    """A finding's effect with the places of its value and bounds, in percent of the width."""

    study: Reference
    index: int | None
    """The study's citation number; None for a study that was not cited."""
    finding_id: int
    statement: str
    label: str
    """What was measured, with what was done where the study measured it more than once."""
    effect: Effect
    """As seen from the intervention: more favours it."""
    value: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Forest:
    """Effects of one measure and unit on a common scale, all with the intervention on the same side."""

    measure: EffectMeasure
    unit: str
    intervention: str
    """What the right end favours, in words."""
    comparator: str
    """What the left end favours, in words; empty where the studies differ in it."""
    rows: tuple[EffectRow, ...]
    none: float
    """Place of no effect, in percent of the width."""
    left_out: int
    """Number of effects with another measure or unit."""
    without_side: int
    """Number of effects that do not say which side they favour."""
    has_turned: bool
    """Whether the figures of an effect were turned to the common side."""


@dataclass(frozen=True, slots=True)
class SidedEffect:
    """A finding with the effect that it states, and what is known of its side."""

    finding: Finding
    effect: Effect
    is_turned: bool
    """Whether the finding states the two sides the other way round."""
    towards: int
    """1 where it favours the intervention, -1 where the comparator; 0 where it says neither."""

    @property
    def sign(self) -> int:
        """Return on which side of no effect the stated value is; 0 for none."""
        shift = self.effect.value - (1.0 if self.effect.measure in RATIO_MEASURES else 0.0)
        return (shift > 0) - (shift < 0)

    @property
    def convention(self) -> int:
        """Return 1 where a larger value favours the finding's own intervention, -1 its comparator; 0 if not known."""
        return self.sign * self.towards * (-1 if self.is_turned else 1)


def draw_forest(
    payload: Mapping[str, Any], cited: Mapping[str, int], known: Mapping[str, Reference], findings: Iterable[Finding]
) -> Forest | None:
    """Return the comparable effects of the findings of an answer's agreement; None for fewer than two.

    A finding without an effect in figures gives the one that its statement tells with an interval. Older answers, whose
    findings do not say how they state the two sides, have none.
    """
    agreement = payload.get("agreement") or {}
    named = {
        row["finding_id"]: row for stance in agreement.values() if isinstance(stance, list)
        for row in stance if "is_turned" in row
    }  # fmt: skip
    wanted = _wanted(agreement.get("outcome_concept"))
    sided = [
        SidedEffect(finding, effect, row["is_turned"], _towards(finding, row, wanted))
        for finding in findings
        if (row := named.get(finding.finding_id)) and finding.study_id in known
        and (effect := finding.effect or read_stated_effect(finding.statement)) and effect.lower is not None
    ]  # fmt: skip
    oriented = dict(_oriented(sided))
    groups: dict[tuple[EffectMeasure, str], list[tuple[Finding, Effect]]] = defaultdict(list)
    for one in sided:
        if effect := oriented.get(one.finding.finding_id):
            groups[effect.measure, effect.unit].append((one.finding, effect))
    (measure, unit), rows = max(groups.items(), key=lambda group: len(group[1]), default=((None, ""), []))
    if measure is None or len(rows) < LEAST_EFFECTS:
        return None
    drawn, none = _placed(measure, rows, cited, known)
    stated = {one.finding.finding_id: one.effect for one in sided}
    return Forest(
        measure,
        unit,
        agreement.get("intervention") or "",
        agreement.get("comparator") or "",
        tuple(sorted(drawn, key=lambda row: (row.index is None, row.index or 0, row.study.study_id))),
        none,
        left_out=len(oriented) - len(rows),
        without_side=len(sided) - len(oriented),
        has_turned=any(effect != stated[finding.finding_id] for finding, effect in rows),
    )


def _placed(
    measure: EffectMeasure, rows: Sequence[tuple[Finding, Effect]], cited: Mapping[str, int],
    known: Mapping[str, Reference],
) -> tuple[list[EffectRow], float]:  # fmt: skip
    """Return the rows with their places on a scale that holds all of them, and the place of no effect."""
    is_ratio = measure in RATIO_MEASURES
    scale, none = (math.log, 1.0) if is_ratio else (float, 0.0)
    bounds = [scale(figure) for figure in (none, *(figure for _, effect in rows for figure in effect.figures))]
    first, last = min(bounds), max(bounds)

    def place(figure: float) -> float:
        return round(MARGIN + (100 - 2 * MARGIN) * (scale(figure) - first) / ((last - first) or 1.0), 2)

    measured = Counter((finding.study_id, finding.outcome) for finding, _ in rows)
    placed = [
        EffectRow(
            known[finding.study_id],
            cited.get(finding.study_id),
            finding.finding_id,
            finding.statement,
            _label(finding, is_alone=measured[finding.study_id, finding.outcome] == 1),
            effect,
            *(place(figure) for figure in (effect.value, effect.figures[0], effect.figures[-1])),
        )
        for finding, effect in rows
    ]
    return placed, place(none)


def _label(finding: Finding, *, is_alone: bool) -> str:
    return finding.outcome if is_alone else f"{finding.outcome}: {finding.intervention}"


def _wanted(outcome: str | None) -> Wanted:
    return next((c.wanted for c in search.concepts() if c.concept_id == outcome), Wanted.NEITHER)


def _towards(finding: Finding, row: Mapping[str, Any], wanted: Wanted) -> int:
    """Return which side a finding favours; 0 where it has no direction, or a rise or fall is neither good nor bad."""
    if finding.direction in FAVOURED:
        return FAVOURED[finding.direction] * (-1 if row["is_turned"] else 1)
    is_change = finding.direction in {Direction.INCREASE, Direction.DECREASE}
    return TOWARDS.get(row.get("stance", ""), 0) if is_change and wanted is not Wanted.NEITHER else 0


def _oriented(sided: Sequence[SidedEffect]) -> Iterator[tuple[int, Effect]]:
    """Yield the effects whose side is known, as seen from the intervention, by finding id.

    An effect that favours no side is drawn by the convention of the others: of its study, or else of all, where these
    have one and the same.
    """
    for one in sided:
        own = {other.convention for other in sided if other.finding.study_id == one.finding.study_id} - {0}
        every = {other.convention for other in sided} - {0}
        used = {one.convention} - {0} or own or every
        if len(used) == 1:
            is_kept = used.pop() * (-1 if one.is_turned else 1) > 0
            yield one.finding.finding_id, one.effect if is_kept else _turned(one.effect)


def _turned(effect: Effect) -> Effect:
    """Return an effect as seen from the other side: a ratio inverted, a difference with the other sign."""
    is_ratio = effect.measure in RATIO_MEASURES

    def turn(figure: float) -> float:
        return float(f"{1 / figure:.3g}") if is_ratio else -figure

    upper, lower = (None if bound is None else turn(bound) for bound in (effect.lower, effect.upper))
    return replace(effect, value=turn(effect.value), lower=lower, upper=upper)
