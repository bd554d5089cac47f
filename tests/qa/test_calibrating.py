"""Fitting the estimates: from questions with labels to a file that loads, and to the page that tells its figures."""

from __future__ import annotations

import json
import math
import shutil
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from qa_app.calibrating import Example

from corpus_app import embedding, search, trial
from corpus_app.models import Study
from qa_app import calibrating, calibration_tables
from qa_app.pipeline import calibration
from qa_app.pipeline.policy import DEFAULT
from qa_app.pipeline.ports import LegFailed
from tests.fakes import WordHashEncoder
from tests.qa.conftest import ASKED

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests" / "data" / "beir_tiny"
TODAY = date(2026, 1, 2)
SHAPE = {
    "signals": [
        {"name": "first_lead", "mean": 0.1, "scale": 0.2, "coefficient": 1.0},
        {"name": "top_cosine", "mean": 0.6, "scale": 0.1, "coefficient": 0.5},
    ],
    "intercept": 0.3,
    "n": 807,
}
QUESTIONS = (
    ("a", ASKED, "answerable_lay", {"T-SETS": 2}),
    ("b", "How much protein a day do older adults need?", "answerable_lay", {"T-PROTEIN": 2}),
    ("c", "Do few sets still build muscle?", "answerable_lay", {"T-PROTEIN": 1}),
    ("d", "How many rings has Saturn?", "unanswerable_far", {}),
    ("e", "Does sauna bathing lengthen sleep?", "unanswerable_near", {}),
)


def told(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def some_examples(n: int = 150) -> list[Example]:
    dice = np.random.default_rng(3)
    leads, cosines = dice.normal(0.1, 0.2, n), dice.normal(0.6, 0.1, n)
    right = dice.random(n) < 1 / (1 + np.exp(-(1.5 + 8 * (leads - 0.1))))
    return [
        Example({"first_lead": float(lead), "top_cosine": float(cosine)}, bool(was), "", str(i))
        for i, (lead, cosine, was) in enumerate(zip(leads, cosines, right, strict=True))
    ]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    rows = (
        {"id": pk, "question": text, "mode": "beginner", "kind": kind, "collection": None, "relevant": relevant}
        | {"answer_points": [], "sections": []}
        for pk, text, kind, relevant in QUESTIONS
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


# --- A shape that was fitted elsewhere -----------------------------------------------------------------------------------


def test_a_shape_keeps_the_weights_of_its_signals_against_each_other_and_meets_the_share_that_was_right() -> None:
    found = some_examples()

    model = calibrating.fit_model("confidence", "meaning", found, SHAPE)

    first, second = (signal["coefficient"] for signal in model["signals"])
    assert first / second == pytest.approx(2.0, abs=1e-3)
    chances = [
        1 / (1 + math.exp(-calibrating._log_odds(model, [e.signals["first_lead"], e.signals["top_cosine"]])))
        for e in found
    ]
    assert sum(chances) / len(chances) == pytest.approx(model["right"] / model["n"], abs=1e-3)


def test_a_shape_serves_every_form_of_its_model_and_no_other(tmp_path: Path) -> None:
    models = {"meaning": SHAPE}
    (tmp_path / calibrating.BENCHMARK).write_text(json.dumps({"encoder": "mini@int8", "models": models}))

    assert calibrating.shape_for("confidence", "mini@fp32", tmp_path) == models
    assert calibrating.shape_for("confidence", "other@fp32", tmp_path) == {}
    assert calibrating.shape_for("answerability", "mini@int8", tmp_path) == {}
    assert calibrating.shape_for("confidence", "mini@int8", tmp_path / "absent") == {}


def test_each_answer_counts_for_the_label_that_it_would_get() -> None:
    estimates = [DEFAULT.confidence_high / 100, DEFAULT.confidence_medium / 100, 0.0, 1.0]

    labels = calibrating._labels(estimates, [True, False, False, False])

    assert {label: (row["n"], row["share"]) for label, row in labels.items()} == {
        "high": (2, 0.5),
        "medium": (1, 0.0),
        "low": (1, 0.0),
    }


def test_examples_that_are_all_alike_are_refused() -> None:
    alike = [Example({"first_lead": 0.1, "top_cosine": 0.5}, True, "", "a")] * 5

    with pytest.raises(calibrating.TooFewExamples, match="all are alike"):
        calibrating.fit_model("confidence", "meaning", alike, SHAPE)


# --- From questions to files ---------------------------------------------------------------------------------------------


def test_every_estimate_is_fitted_by_meaning_and_by_words_and_loads(library: tuple[str, ...], questions: Path) -> None:
    rows = calibrating.calibrate_all(questions, base=questions.parent, today=TODAY, report=told)

    assert set(rows) == set(calibration.KINDS)
    for kind, row in rows.items():
        found = calibration.read(json.dumps(row), kind)
        assert (found.kind, found.encoder) == (kind, "word-hash@test")
        assert row["corpus"] == {"version": search.corpus_version(), **search.corpus_digest()}
    answerability = rows["answerability"]["models"]["meaning"]
    assert (answerability["n"], answerability["right"]) == (len(QUESTIONS), 3)


def test_the_command_writes_what_it_fitted(library: tuple[str, ...], questions: Path, tmp_path: Path) -> None:
    out, shown = tmp_path / "answerability.json", StringIO()

    call_command("calibrate", "answerability", f"--questions={questions}", f"--out={out}", stdout=shown, no_color=True)

    assert calibration.load(tmp_path, "answerability", "word-hash@test").version in out.read_text()
    assert "answerability, by meaning: 3 of 5 right, cross-validated:" in shown.getvalue()


@pytest.mark.django_db(transaction=True)
def test_a_folder_is_fitted_in_a_database_of_its_own(tmp_path: Path, encoder: WordHashEncoder) -> None:
    folder = tmp_path / "corpus"
    (folder / "studies").mkdir(parents=True)
    graph = json.loads((ROOT / "corpus" / "concepts.json").read_text())
    (folder / "concepts.json").write_text(json.dumps(graph | {"relations": []}))  # those name studies that are not here
    for path in sorted((ROOT / "corpus" / "studies").glob("*.json"))[:2]:
        shutil.copy(path, folder / "studies")
    live = connection.settings_dict["NAME"]

    with trial.library(folder, encoder.name, cache=tmp_path / "cache", report=told):
        inside = (
            connection.settings_dict["NAME"],
            Study.objects.published().count(),
            len(search.searchable_passages()),
        )

    assert inside[0] != live
    assert inside[1] > 0
    assert inside[2] > 0
    assert (connection.settings_dict["NAME"], Study.objects.count()) == (live, 0)


@pytest.mark.django_db(transaction=True)
def test_confidence_is_measured_on_a_benchmark(tmp_path: Path, encoder: WordHashEncoder) -> None:
    row = calibrating.measure_confidence(TINY, cache=tmp_path, report=told)

    assert (row["corpus"], row["encoder"]) == ("beir_tiny", "word-hash@test")
    for model in row["models"].values():
        assert 0 < model["right"] < model["n"] <= 6
        assert sum(label["n"] for label in model["unseen"]["labels"].values()) == model["n"]


# --- The page ------------------------------------------------------------------------------------------------------------


def test_the_page_and_its_drawings_are_those_of_the_files(tmp_path: Path) -> None:
    docs = Path(shutil.copytree(ROOT / "docs", tmp_path / "docs"))
    before = {path.name: path.read_bytes() for path in _told(docs)}

    calibration_tables.write(calibration.SHIPPED, docs)

    assert {path.name: path.read_bytes() for path in _told(docs)} == before
    assert len(before) == 3


def test_every_place_of_the_page_is_filled() -> None:
    page = (ROOT / "docs" / calibration_tables.PAGE).read_text(encoding="utf-8")
    tables: dict[str, Any] = calibration_tables.tables(calibration.SHIPPED)

    assert all(table and f"<!-- {name} -->\n{table}\n<!-- end -->" in page for name, table in tables.items())


def _told(docs: Path) -> list[Path]:
    return [docs / calibration_tables.PAGE, *sorted((docs / "images").glob("confidence*.svg"))]


def test_a_corpus_without_vectors_has_none() -> None:
    with embedding.use(WordHashEncoder()) as encoder:
        begun = calibrating.WithoutVectors().encode_ahead(["How many sets?"])

        with pytest.raises(LegFailed, match="taken away"):
            begun()
        assert encoder.calls == []
