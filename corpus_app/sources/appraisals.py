"""Parse effect sizes, risks of bias and certainties from the objects of a corpus folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from corpus_app.appraisal import (
    USUAL_LEVEL,
    BiasDomain,
    BiasJudgement,
    BiasTool,
    CertaintyLevel,
    DomainBias,
    Effect,
    EffectMeasure,
    RiskOfBias,
)
from corpus_app.records import ASKED_AGES, ASKED_SEXES, ASKED_TRAINING, AgeGroup, Sex, TrainingStatus
from corpus_app.sources.drafts import CertaintyDraft
from corpus_app.sources.fields import Fields, read_facets
from corpus_app.sources.layout import BIAS_KEYS, DOMAIN_KEYS, EFFECT_KEYS
from corpus_app.sources.values import MAX_INTEGER, SLUG, shown

E = TypeVar("E", AgeGroup, TrainingStatus, Sex)


def read_effect(finding: Fields) -> Effect | None:
    """Return the effect of a finding; None where the file gives none or an unsound one, which is noted."""
    if finding.values.get("effect") is None:
        return None
    found = finding.inner("effect", EFFECT_KEYS, ("measure", "value"))
    before = len(found.notes)
    measure = found.choice("measure", EffectMeasure, EffectMeasure.MEAN_DIFFERENCE)
    value, lower, upper = (found.number(key, low=-MAX_INTEGER) for key in ("value", "lower", "upper"))
    level, unit = found.number("level"), found.line("unit", limit=40)
    if value is None or len(found.notes) > before:
        return None
    try:
        return Effect(measure, value, lower, upper, USUAL_LEVEL if level is None else level, unit)
    except ValueError as error:
        finding.note("effect", str(error))
        return None


def read_bias(study: Fields) -> RiskOfBias | None:
    """Return the risk of bias of a study; None where the file gives none or an unsound one, which is noted."""
    if study.values.get("risk_of_bias") is None:
        return None
    found = study.inner("risk_of_bias", BIAS_KEYS, ("tool",))
    before = len(found.notes)
    tool = found.choice("tool", BiasTool, BiasTool.OTHER)
    domains = tuple(_domain(row) for row in found.objects("domains", DOMAIN_KEYS, ("domain", "judgement")))
    has_overall = found.values.get("overall") is not None
    overall = found.choice("overall", BiasJudgement, BiasJudgement.LOW) if has_overall else None
    reason = found.text("reason")
    if len(found.notes) > before:
        return None
    try:
        return RiskOfBias(tool, domains, overall, reason)
    except ValueError as error:
        study.note("risk_of_bias", str(error))
        return None


def _domain(row: Fields) -> DomainBias:
    return DomainBias(
        domain=row.choice("domain", BiasDomain, BiasDomain.REPORTING),
        judgement=row.choice("judgement", BiasJudgement, BiasJudgement.LOW),
        reason=row.text("reason"),
    )


def read_certainty(found: Fields) -> CertaintyDraft:
    return CertaintyDraft(
        intervention=_concept(found, "intervention"),
        outcome=_concept(found, "outcome"),
        level=found.choice("level", CertaintyLevel, CertaintyLevel.VERY_LOW),
        reasons=found.lines("reasons", limit=1_000),
        age_group=_people(found, "age_group", AgeGroup, ASKED_AGES),
        training_status=_people(found, "training_status", TrainingStatus, ASKED_TRAINING),
        sex=_people(found, "sex", Sex, ASKED_SEXES),
        facets=read_facets(found),
    )


def _concept(found: Fields, key: str) -> str:
    value = found.line(key, limit=80, required=True)
    if value.strip() and not SLUG.fullmatch(value):
        found.note(key, f"is {shown(value)}; an id has letters, digits and dashes only.")
    return value


def _people(found: Fields, key: str, values: type[E], known: Sequence[E]) -> E | None:
    if found.values.get(key) is None:
        return None
    value = found.choice(key, values, known[0])
    if value not in known:
        found.note(key, f"is {value}; a certainty is about {', '.join(known)}, or about all.")
    return value
