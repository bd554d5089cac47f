"""How evidence is appraised: effect sizes, the risk of bias of a study, and the certainty of a body of evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

USUAL_LEVEL = 95.0
"""Level of most published intervals, in percent."""


class EffectMeasure(StrEnum):
    STANDARDISED_MEAN_DIFFERENCE = "standardised_mean_difference"
    MEAN_DIFFERENCE = "mean_difference"
    PERCENT_CHANGE = "percent_change"
    RISK_RATIO = "risk_ratio"
    ODDS_RATIO = "odds_ratio"
    HAZARD_RATIO = "hazard_ratio"
    RATE_RATIO = "rate_ratio"
    RISK_DIFFERENCE = "risk_difference"
    CORRELATION = "correlation"


RATIO_MEASURES = frozenset(measure for measure in EffectMeasure if measure.endswith("_ratio"))
"""Measures that are positive; 1 means no difference."""


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect size with its interval. Raises ValueError, with a reason to show, for impossible figures.

    Effects of the same measure and unit can be compared.
    """

    measure: EffectMeasure
    value: float
    lower: float | None = None
    upper: float | None = None
    level: float = USUAL_LEVEL
    """Of the interval, in percent."""
    unit: str = ""
    """Of a mean difference; empty for other measures."""

    def __post_init__(self) -> None:
        if fault := self._fault():
            raise ValueError(fault)

    def _fault(self) -> str:
        if not all(map(math.isfinite, self.figures)):
            return "holds a figure that is no finite number."
        if len(self.figures) == 2:
            return "gives one bound of its interval: give both bounds, or neither."
        if self.figures != tuple(sorted(self.figures)):
            return "lies outside its interval, or the bounds are not in order."
        if self.measure in RATIO_MEASURES and self.figures[0] <= 0:
            return "is a ratio, and a ratio and its bounds are greater than 0."
        if self.measure is EffectMeasure.CORRELATION and not -1 <= self.figures[0] <= self.figures[-1] <= 1:
            return "is a correlation, and a correlation and its bounds lie between -1 and 1."
        if not 0 < self.level < 100:
            return "has an interval whose level is not between 0 and 100 percent."
        if bool(self.unit.strip()) is not (self.measure is EffectMeasure.MEAN_DIFFERENCE):
            return "needs a unit if it is a mean difference, and has none otherwise."
        return ""

    @property
    def words(self) -> str:
        """Return the effect in one line."""
        unit = f" {self.unit}" if self.unit else ""
        bounds = f" ({self.level:g} %: {self.lower:g} to {self.upper:g})" if len(self.figures) > 1 else ""
        return f"{self.measure.replace('_', ' ')} {self.value:g}{unit}{bounds}"

    @property
    def figures(self) -> tuple[float, ...]:
        """Return its value and its known bounds: the lower bound, the value, the upper bound."""
        return tuple(figure for figure in (self.lower, self.value, self.upper) if figure is not None)


class BiasTool(StrEnum):
    """The tools of Sterne et al. for randomised trials (2019) and for other studies of interventions (2016)."""

    ROB_2 = "rob_2"
    ROBINS_I = "robins_i"
    OTHER = "other"
    """Another tool, of which only the overall judgement is kept."""


class BiasDomain(StrEnum):
    RANDOMISATION = "randomisation"
    CONFOUNDING = "confounding"
    SELECTION = "selection_of_participants"
    CLASSIFICATION = "classification_of_interventions"
    DEVIATIONS = "deviations_from_interventions"
    MISSING_DATA = "missing_data"
    MEASUREMENT = "measurement_of_outcome"
    REPORTING = "selection_of_reported_result"


class BiasJudgement(StrEnum):
    LOW = "low"
    SOME_CONCERNS = "some_concerns"
    MODERATE = "moderate"
    NO_INFORMATION = "no_information"
    HIGH = "high"
    SERIOUS = "serious"
    CRITICAL = "critical"


_SHARED_DOMAINS = (BiasDomain.DEVIATIONS, BiasDomain.MISSING_DATA, BiasDomain.MEASUREMENT, BiasDomain.REPORTING)
BIAS_DOMAINS: Mapping[BiasTool, tuple[BiasDomain, ...]] = {
    BiasTool.ROB_2: (BiasDomain.RANDOMISATION, *_SHARED_DOMAINS),
    BiasTool.ROBINS_I: (
        BiasDomain.CONFOUNDING,
        BiasDomain.SELECTION,
        BiasDomain.CLASSIFICATION,
        *_SHARED_DOMAINS,
    ),
    BiasTool.OTHER: (),
}
_SHORT_SCALE = (BiasJudgement.LOW, BiasJudgement.SOME_CONCERNS, BiasJudgement.HIGH)
BIAS_JUDGEMENTS: Mapping[BiasTool, tuple[BiasJudgement, ...]] = {
    BiasTool.ROB_2: _SHORT_SCALE,
    BiasTool.ROBINS_I: (
        BiasJudgement.LOW,
        BiasJudgement.MODERATE,
        BiasJudgement.NO_INFORMATION,
        BiasJudgement.SERIOUS,
        BiasJudgement.CRITICAL,
    ),
    BiasTool.OTHER: _SHORT_SCALE,
}
"""The judgements of each tool, the best first."""


@dataclass(frozen=True, slots=True)
class DomainBias:
    domain: BiasDomain
    judgement: BiasJudgement
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RiskOfBias:
    """The risk of bias of one study. Raises ValueError, with a reason to show, for an incomplete assessment."""

    tool: BiasTool
    domains: tuple[DomainBias, ...] = ()
    overall: BiasJudgement | None = None
    """As stated by the curator; None where it is the worst of the domains."""
    reason: str = ""
    """Of the overall judgement; for another tool, its name too."""

    def __post_init__(self) -> None:
        if fault := self._fault():
            raise ValueError(fault)

    def _fault(self) -> str:
        scale, known = BIAS_JUDGEMENTS[self.tool], BIAS_DOMAINS[self.tool]
        judged = [row.domain for row in self.domains]
        names = ", ".join(known) if known else "none, only an overall judgement"
        if len(set(judged)) < len(judged) or not set(judged) <= set(known):
            return f"has a domain twice, or one that {self.tool} does not have; it has {names}."
        if not {row.judgement for row in self.domains} | ({self.overall} if self.overall else set()) <= set(scale):
            return f"has a judgement that {self.tool} does not have; it has {', '.join(scale)}."
        if unexplained := [row.domain for row in self.domains if row.judgement != scale[0] and not row.reason.strip()]:
            return f"gives no reason for its judgement of {unexplained[0]}."
        if self.overall is None and (not known or set(judged) < set(known)):
            return f"is incomplete: judge every domain ({names}), or state the overall judgement."
        if self.tool is BiasTool.OTHER and not self.reason.strip():
            return "needs a reason that names the other tool."
        if self.overall and any(scale.index(row.judgement) > scale.index(self.overall) for row in self.domains):
            return "has an overall judgement that is better than that of one of its domains."
        return ""

    @property
    def words(self) -> str:
        """Return the assessment as text, a line for each domain."""
        rows = [(row.domain.value, row.judgement.value, row.reason) for row in self.domains]
        rows.append((self.tool.value, self.judgement.value, self.reason))
        return "\n".join(": ".join(filter(None, (name, text, reason))) for name, text, reason in rows)

    @property
    def judgement(self) -> BiasJudgement:
        """Return the overall judgement."""
        scale = BIAS_JUDGEMENTS[self.tool]
        return self.overall or max((row.judgement for row in self.domains), key=scale.index)


class CertaintyLevel(StrEnum):
    """The certainty of a body of evidence, graded in the manner of GRADE."""

    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"
    VERY_LOW = "very_low"


def effect_of(
    measure: str, value: float | None, lower: float | None, upper: float | None, level: float, unit: str
) -> Effect | None:
    """Return the effect that a row's columns hold; None where they hold none."""
    if not measure or value is None:
        return None
    return Effect(EffectMeasure(measure), value, lower, upper, level, unit)


EFFECT_FIELDS = ("effect_measure", "effect_value", "effect_lower", "effect_upper", "effect_level", "effect_unit")
"""Columns of a finding's effect, in the order of `effect_of`."""


def effect_columns(effect: Effect | None) -> dict[str, str | float | None]:
    """Return the columns of an effect, or of none, as a finding's row stores them."""
    if effect is None:
        return dict(zip(EFFECT_FIELDS, ("", None, None, None, USUAL_LEVEL, ""), strict=True))
    values = (effect.measure.value, effect.value, effect.lower, effect.upper, effect.level, effect.unit)
    return dict(zip(EFFECT_FIELDS, values, strict=True))


def effect_to_json(effect: Effect) -> dict[str, str | float]:
    """Return an effect as files hold it: without what is absent or usual."""
    row = {"measure": effect.measure.value, "value": effect.value, "lower": effect.lower, "upper": effect.upper}
    beside = {"level": effect.level if effect.level != USUAL_LEVEL else None, "unit": effect.unit or None}
    return {key: _plain(value) for key, value in (row | beside).items() if value is not None}


def bias_to_json(bias: RiskOfBias | None) -> dict[str, Any] | None:
    """Return an assessment as files and rows hold it: without what is absent."""
    if bias is None:
        return None
    domains = [
        {key: value for key, value in zip(("domain", "judgement", "reason"), row, strict=True) if value}
        for row in ((d.domain.value, d.judgement.value, d.reason) for d in bias.domains)
    ]
    beside = {"domains": domains, "overall": bias.overall and bias.overall.value, "reason": bias.reason}
    return {"tool": bias.tool.value} | {key: value for key, value in beside.items() if value}


def bias_from_json(row: Mapping[str, Any] | None) -> RiskOfBias | None:
    """Return the assessment that `bias_to_json` wrote; None for none."""
    if row is None:
        return None
    return RiskOfBias(
        tool=BiasTool(row["tool"]),
        domains=tuple(
            DomainBias(BiasDomain(d["domain"]), BiasJudgement(d["judgement"]), d.get("reason", ""))
            for d in row.get("domains", ())
        ),
        overall=BiasJudgement(row["overall"]) if row.get("overall") else None,
        reason=row.get("reason", ""),
    )


def _plain(value: str | float) -> str | float:
    return int(value) if isinstance(value, float) and value.is_integer() else value
