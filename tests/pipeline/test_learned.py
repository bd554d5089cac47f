"""Fitted models: read as they were written, refused where somebody changed them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qa_app.answers import engines
from qa_app.pipeline import learned
from qa_app.pipeline.learned import BadModel, Logistic

MODEL = Logistic(("cosine", "coverage"), (0.5, 0.25), (0.1, 0.5), (2.0, -1.0), 0.5, threshold=0.4)


def row_of(**models: Logistic) -> dict[str, Any]:
    return {
        "kind": "lead",
        "encoder": "word-hash@test",
        "data": "dev",
        "figures": {"meaning": {"auroc": 0.8}},
        "models": {name: model.as_row() for name, model in models.items()},
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "lead.json"
    learned.write(path, row_of(meaning=MODEL, words=MODEL))
    return path


def test_a_model_file_reads_as_it_was_written(path: Path) -> None:
    found = learned.read(path)

    assert found.models == {"meaning": MODEL, "words": MODEL}
    assert (found.kind, found.encoder, found.data) == ("lead", "word-hash@test", "dev")
    assert found.figures == {"meaning": {"auroc": 0.8}}
    assert found.version == learned.version_of(row_of(meaning=MODEL, words=MODEL))


@pytest.mark.parametrize(
    ("one", "other"), [('"intercept": 0.5', '"intercept": 0.6'), ('"auroc": 0.8', '"auroc": 0.9'), ('"dev"', '"test"')]
)
def test_a_file_changed_by_hand_is_refused(path: Path, one: str, other: str) -> None:
    path.write_text(path.read_text().replace(one, other))

    with pytest.raises(BadModel, match="changed by hand"):
        learned.read(path)


def test_what_is_no_model_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "lead.json"
    with pytest.raises(BadModel, match=r"lead\.json"):
        learned.read(path)

    for text in ("", "[]", "{}", "null", '{"models": {"meaning": {}}}'):
        path.write_text(text)
        with pytest.raises(BadModel, match="calibrate"):
            learned.read(path)


def test_a_chance_is_logistic_in_standardised_features_and_between_0_and_1() -> None:
    rows = [[0.5, 0.25], [0.6, 0.25], [0.5, 0.75]]  # the mean; one standard deviation more of the first, of the second
    far = MODEL.predict(np.array([[1e9, 0.0], [-1e9, 0.0]]))

    assert MODEL.predict(np.array(rows)) == pytest.approx([1 / (1 + np.exp(-x)) for x in (0.5, 2.5, -0.5)])
    assert 0 < far[1] < 1e-6 < 1 - 1e-6 < far[0] < 1


@pytest.mark.parametrize("folder", sorted(learned.FOLDER.iterdir()), ids=lambda folder: folder.name)
def test_the_files_that_come_with_the_code_are_whole(folder: Path) -> None:
    files = [learned.read(folder / f"{kind}.json") for kind in engines.KINDS]

    assert [file.kind for file in files] == list(engines.KINDS)
    for file in files:
        assert set(file.models) == {"meaning", "words", "meaning_bare", "words_bare"}
        assert learned.folder_of(file.encoder) == folder
        assert set(file.figures) >= {"meaning", "words"}
        by_words = [name for kind, model in file.models.items() if kind.startswith("words") for name in model.names]
        assert not [name for name in by_words if "cosine" in name or "top3" in name]
