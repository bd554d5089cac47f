"""Calibrations as files: what is read back, and what is turned away."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qa_app.classic.policy import PRESETS, Policy
from qa_app.pipeline.calibration import DEFAULT_ENCODER, KINDS, BadCalibration, version_of

from qa_app.pipeline import calibration

DOCS = Path(__file__).parents[2] / "docs" / "confidence.md"


def make_row(**changes: Any) -> dict[str, Any]:
    model = {
        "signals": [{"name": "a", "mean": 0.5, "scale": 0.25, "coefficient": 2.0}],
        "intercept": 1.0,
        "threshold": 0.4,
    }
    row = {
        "kind": "answerability",
        "date": "2026-01-01",
        "encoder": "e@1",
        "models": {"meaning": model, "words": model},
    }
    row |= changes
    return {"version": version_of(row), **row}


def test_standardised_figures_come_back_on_the_raw_scale() -> None:
    model = calibration.read(json.dumps(make_row()), "x").by_meaning.model

    assert model.weights == (("a", 2.0 / 0.25),)
    assert model.intercept == 1.0 - 0.5 / 0.25 * 2.0


def test_a_changed_figure_is_noticed() -> None:
    row = make_row() | {"date": "2027-01-01"}

    with pytest.raises(BadCalibration, match="changed by hand"):
        calibration.read(json.dumps(row), "x")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "answerability"}', json.dumps({"kind": 1, "models": []})])
def test_what_is_no_calibration_is_turned_away_with_its_name(text: str) -> None:
    with pytest.raises(BadCalibration, match=r"mine\.json is no calibration"):
        calibration.read(text, "mine.json")


def without(row: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


def flat(row: dict[str, Any]) -> dict[str, Any]:
    signal = {"name": "a", "mean": 0.5, "scale": 0.0, "coefficient": 2.0}
    return row | {"models": {by: model | {"signals": [signal]} for by, model in row["models"].items()}}


@pytest.mark.parametrize("row", [without(make_row(), "date"), without(make_row(), "models"), flat(make_row())])
def test_a_calibration_that_lacks_a_part_is_turned_away_with_its_name(row: dict[str, Any]) -> None:
    with pytest.raises(BadCalibration, match=r"mine\.json is no calibration"):
        calibration.read(json.dumps(row), "mine.json")


def test_a_file_that_is_no_text_is_turned_away(tmp_path: Path) -> None:
    (tmp_path / "answerability.json").write_bytes(b"\xff\xfe{")

    with pytest.raises(BadCalibration, match=r"answerability\.json is no calibration"):
        calibration.load(tmp_path, "answerability", "e@1")


def test_an_unknown_kind_is_turned_away() -> None:
    with pytest.raises(BadCalibration, match="there are answerability"):
        calibration.read(json.dumps(make_row(kind="luck")), "x")


def test_a_calibration_of_another_encoder_does_not_load(tmp_path: Path) -> None:
    (tmp_path / "answerability.json").write_text(json.dumps(make_row()))

    assert calibration.load(tmp_path, "answerability", "e@1").encoder == "e@1"
    with pytest.raises(BadCalibration, match="fitted with the encoder e@1, but f@2 is in use"):
        calibration.load(tmp_path, "answerability", "f@2")


def test_a_missing_calibration_says_which(tmp_path: Path) -> None:
    with pytest.raises(BadCalibration, match=re.escape("no calibration of confidence for the encoder e@1")):
        calibration.load(tmp_path, "confidence", "e@1")


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_with_the_code_loads_and_says_how_it_did(kind: str) -> None:
    folder = calibration.folder_of(DEFAULT_ENCODER)
    row = json.loads((folder / f"{kind}.json").read_text())

    assert calibration.load(folder, kind, DEFAULT_ENCODER).version == row["version"]
    assert all(model["n"] > 100 and model["unseen"]["auroc"]["n"] == model["n"] for model in row["models"].values())
    assert {"questions", "corpus", "encoder", "date"} <= set(row)


def test_the_policy_uses_what_comes_with_the_code() -> None:
    shipped = calibration.shipped("answerability")

    assert Policy().answerability == shipped.by_meaning.model
    assert Policy().answerable_from == shipped.by_meaning.threshold
    assert Policy().answerability.fitted_on == shipped.version


def test_a_threshold_of_ones_own_outlives_another_calibration() -> None:
    row = make_row()
    other = calibration.read(json.dumps(row), "x")

    changed = Policy().calibrated(other)
    own = Policy(answerable_from=0.9).calibrated(other)

    assert (changed.answerable_from, own.answerable_from) == (0.4, 0.9)
    assert changed.answerability.fitted_on == row["version"]


@pytest.mark.parametrize(
    ("preset", "figure"), [("default", "answerable_from"), ("default", "scope_enough"), ("seed-001", "linked_below")]
)
def test_what_goes_by_the_threshold_goes_by_that_of_the_calibration_in_use(preset: str, figure: str) -> None:
    other = calibration.read(json.dumps(make_row()), "x")
    chosen = PRESETS[preset]
    own = replace(chosen, **{figure: 0.123})

    assert getattr(chosen.calibrated(other, other, other), figure) == 0.4
    assert getattr(own.calibrated(other, other, other), figure) == 0.123


def test_the_page_on_confidence_tells_the_figures_of_the_files() -> None:
    page = DOCS.read_text(encoding="utf-8")

    for kind in KINDS:
        row = json.loads((calibration.folder_of(DEFAULT_ENCODER) / f"{kind}.json").read_text())
        assert row["version"] in page
        for model in row["models"].values():
            for figure in model["unseen"].values():
                if isinstance(figure, dict) and "interval" in figure:
                    low, high = figure["interval"]
                    value = figure.get("value", figure.get("share"))
                    assert f"{value:.3f} ({low:.3f} to {high:.3f})" in page
