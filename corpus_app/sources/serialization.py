"""Convert drafts to plain JSON and back without loss, to store an import between preview and confirmation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from corpus_app.appraisal import Effect, EffectMeasure, bias_from_json
from corpus_app.records import (
    AgeGroup,
    CitedWork,
    Direction,
    Lean,
    Notice,
    PassageKind,
    Section,
    Sex,
    Status,
    TrainingStatus,
)
from corpus_app.sources.drafts import (
    AddedPassages,
    FindingDraft,
    NoticeDraft,
    PassageDraft,
    Problem,
    SheetRow,
    StudyDraft,
    Weight,
)

_CHOICES = {
    "status": Status,
    "training_status": TrainingStatus,
    "age_group": AgeGroup,
    "sex": Sex,
    "notice": Notice,
}
_TUPLES = ("authors", "concepts", "derived_numbers", "empty_keys", "labels")


def values_of(draft: StudyDraft | AddedPassages | NoticeDraft | SheetRow | Problem) -> dict[str, Any]:
    return asdict(draft)


def study_draft(values: Mapping[str, Any]) -> StudyDraft:
    kept = dict(values)
    kept |= {name: choices(kept[name]) for name, choices in _CHOICES.items()}
    kept |= {name: tuple(kept.get(name, ())) for name in _TUPLES}
    kept["facets"] = tuple((key, tuple(values)) for key, values in kept.get("facets", ()))
    kept["columns"] = None if kept["columns"] is None else tuple(kept["columns"])
    kept["passages"] = tuple(_passage(row) for row in kept["passages"])
    kept["findings"] = tuple(
        FindingDraft(**{**row, "direction": Direction(row["direction"]), "lean": _lean(row), "effect": _effect(row)})
        for row in kept["findings"]
    )
    kept["risk_of_bias"] = bias_from_json(kept.get("risk_of_bias"))
    return StudyDraft(**kept)


def added_passages(values: Mapping[str, Any]) -> AddedPassages:
    return AddedPassages(**{**values, "passages": tuple(_passage(row) for row in values["passages"])})


def notice_draft(values: Mapping[str, Any]) -> NoticeDraft:
    return NoticeDraft(**{**values, "notice": Notice(values["notice"])})


def sheet_row(values: Mapping[str, Any]) -> SheetRow:
    return SheetRow(**values)


def problem_of(values: Mapping[str, Any]) -> Problem:
    return Problem(**{**values, "weight": Weight(values["weight"])})


def _lean(values: Mapping[str, Any]) -> Lean | None:
    lean = values.get("lean")  # absent in what an earlier version kept
    return Lean(lean) if lean else None


def _effect(values: Mapping[str, Any]) -> Effect | None:
    effect = values.get("effect")
    return Effect(**{**effect, "measure": EffectMeasure(effect["measure"])}) if effect else None


def _passage(values: Mapping[str, Any]) -> PassageDraft:
    cited = tuple(CitedWork(**work) for work in values.get("cited", ()))  # absent in what an earlier version kept
    choices = {"section": Section(values["section"]), "kind": PassageKind(values["kind"])}
    return PassageDraft(**{**values, **choices, "cited": cited})
