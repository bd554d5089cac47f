"""Fitting the support score: finds what there is to find, says what it found, and measures a judge alike."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

from qa_app.evaluation import support_fit
from qa_app.pipeline.verification.support import Support, read_signals
from qa_app.writers.judge import entailment_judge
from tests.pipeline import values

SENTENCES = values.SENTENCES[:10]


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    """Claims that are sentences of their evidence, and claims that are of something else."""
    folder = tmp_path / "claims"
    folder.mkdir()
    rows = []
    for n, sentence in enumerate(SENTENCES):
        evidence = [" ".join(SENTENCES[:5]), *SENTENCES[5:]]
        rows.append({"claim": sentence, "evidence": evidence, "label": "supported"})
        rows.append(
            {"claim": f"Bananas number {n + 20} rot in {sentence[::-1]}", "evidence": evidence, "label": "refuted"}
        )
    lines = "\n".join(map(json.dumps, rows))
    (folder / "one.jsonl").write_text(lines)
    (folder / "two.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return folder


def test_the_fit_tells_supported_claims_from_others(claims: Path, tmp_path: Path) -> None:
    support, figures = support_fit.fit(claims)
    support_fit.write(support, tmp_path / "s.json")

    assert Support(**json.loads((tmp_path / "s.json").read_text())) == support
    assert {name: row["n"] for name, row in figures.items()} == {"one": 20, "two": 20}
    assert figures["one"]["auroc"]["mean"] == 1.0
    assert support.score(read_signals(SENTENCES[0], SENTENCES, support)) > 0.5


def test_logistic_regression_finds_the_weights_that_made_the_data() -> None:
    lots = np.random.default_rng(1)
    x = lots.normal(size=(20_000, 2))
    y = (lots.random(20_000) < 1 / (1 + np.exp(-(0.5 + x @ np.array([1.0, -2.0]))))).astype(float)

    assert support_fit.logistic(x, y, np.ones(20_000), ridge=0.1) == pytest.approx([0.5, 1.0, -2.0], abs=0.1)


def test_auroc_counts_pairs_in_order_and_ties_half() -> None:
    assert support_fit.auroc(np.array([0.9, 0.5, 0.5, 0.1]), np.array([1.0, 1.0, 0.0, 0.0])) == (1 + 1 + 0.5 + 1) / 4


def test_balanced_accuracy_is_the_mean_of_both_shares() -> None:
    assert support_fit.balanced_accuracy(np.array([True, False, False]), np.array([1.0, 1.0, 0.0])) == (0.5 + 1.0) / 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", "no json"),
        ("a.jsonl", '{"claim": "x"}'),
        ("a.jsonl", '{"claim": "x", "evidence": [], "label": "supported"}'),
        ("a.txt", ""),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)

    with pytest.raises(CommandError, match=str(tmp_path)):
        call_command("calibrate", "support", "--claims", str(tmp_path))


def test_the_command_writes_score_and_figures(claims: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, figures = tmp_path / "s.json", tmp_path / "f.json"

    call_command("calibrate", "support", "--claims", str(claims), "--out", str(out), "--json", str(figures))

    assert set(json.loads(figures.read_text())) == {"one", "two"}
    assert json.loads(out.read_text())["fitted_on"] == "one (20), two (20)"
    assert "auroc" in capsys.readouterr().out


# --- Judges ---------------------------------------------------------------------------------------------------------------


def tiny_model(folder: Path, labels: tuple[str, ...]) -> str:
    """A model of a few hundred weights that has learnt nothing."""
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *sorted({w.lower().strip(".,") for s in SENTENCES for w in s.split()}),
    ]
    (folder / "vocab.txt").write_text("\n".join(words))
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: n for n, label in enumerate(labels)},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("labels", [("score",), ("contradiction", "entailment", "neutral")])
def test_an_entailment_model_judges_from_0_to_1(tmp_path: Path, labels: tuple[str, ...]) -> None:
    judge = entailment_judge(tiny_model(tmp_path, labels))

    assert 0 <= judge(SENTENCES[0], SENTENCES * 20) <= 1
    assert judge(SENTENCES[0], ()) == 0.0


def test_a_model_without_entailment_is_no_judge(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no label of entailment"):
        entailment_judge(tiny_model(tmp_path, ("good", "bad")))


def test_a_judge_is_measured_on_the_same_sets(claims: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("calibrate", "support", "--claims", str(claims), "--judge", tiny_model(tmp_path, ("score",)))

    assert "one: 20 claims" in capsys.readouterr().out


def test_a_judge_that_fails_counts_as_no_support(claims: Path) -> None:
    def failing(claim: str, evidence: object) -> float:
        raise RuntimeError("no server")

    assert support_fit.evaluate_judge(claims, failing)["one"]["balanced accuracy"]["mean"] == 0.5
