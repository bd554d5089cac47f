"""How the safety classifier is fitted and measured: apart from the list, on rows it has not seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from qa_app.evaluation import safety_fit
from qa_app.pipeline.question.safety import SafetyLexicon
from qa_app.pipeline.question.safety_model import SafetyClassifier

LEXICON = SafetyLexicon.build()


def encode(questions: Sequence[str]) -> list[list[float]]:
    return [[1.0, 0.0] if "farewell" in question else [0.0, 1.0] for question in questions]


def labelled(path: Path, count: int) -> Path:
    rows: list[dict[str, str | None]] = [
        {"question": f"my farewell to all, part {n}", "route": "crisis"} for n in range(count)
    ]
    rows += [{"question": f"how many sets are enough, part {n}", "route": None} for n in range(count)]
    rows += [{"question": "I want to kill myself", "kind": "safety"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_classifier_finds_on_unseen_rows_what_the_list_misses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safety_fit, "STEPS", 50)
    questions, extra = labelled(tmp_path / "questions.jsonl", 40), labelled(tmp_path / "extra.jsonl", 5)

    model = safety_fit.calibrate(questions, [extra], LEXICON, encode, "encoder@test")

    figures = model["held_out"]["crisis"]
    assert figures["list missed"] == figures["rows"] > 0
    assert "classifier missed" not in figures
    assert model["tested_on"] == "questions.jsonl (other half)"
    assert SafetyClassifier.from_row(json.loads(json.dumps(model))).routes == ("crisis",)


def test_without_a_model_only_the_list_is_measured(tmp_path: Path) -> None:
    rows = safety_fit.read(labelled(tmp_path / "questions.jsonl", 3), encode)

    figures = safety_fit.measure(rows, LEXICON, None)

    assert figures["crisis"] == {"rows": 3, "list missed": 3, "classifier missed": 3, "both missed": 3}
    assert len(safety_fit.table(figures)) == 1 + len(figures)
