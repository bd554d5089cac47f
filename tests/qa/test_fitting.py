"""Fitting the models of relevance, safety and support: labels, folds, held-out figures, thresholds, judges."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from django.core.management import CommandError, call_command
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

from qa_app.evaluation import relevance_fit, safety_fit, support_fit
from qa_app.evaluation.relevance_fit import HeldOut, LabelledQuestion
from qa_app.pipeline import relevance
from qa_app.pipeline.question.safety import SafetyLexicon
from qa_app.pipeline.question.safety_model import SafetyClassifier
from qa_app.pipeline.relevance import Vocabulary, read_features
from qa_app.pipeline.verification.support import Support, read_signals
from qa_app.writers.judge import entailment_judge
from tests.pipeline import values
from tests.pipeline.values import make_query, make_scores

VOCABULARY = Vocabulary({"set": 1.0, "muscl": 1.0}, unknown_share=0.0)


@pytest.mark.parametrize(
    ("row", "answers", "is_answerable"),
    [({"expect": "answer", "relevant": {"A": 3, "B": 2, "C": 1}}, {"A", "B"}, True),
     ({"expect": "partial", "relevant": {"A": 1}, "lead": ["C"]}, {"C"}, True),
     ({"expect": "conflict", "relevant": None, "lead": None}, set(), True),
     ({"expect": "refuse", "relevant": {"A": 1}}, set(), False), ({"relevant": {"A": 2}}, {"A"}, True),
     ({}, set(), False)],
)  # fmt: skip
def test_labels_tell_which_studies_answer(row: dict[str, Any], answers: set[str], is_answerable: bool) -> None:
    assert relevance_fit.labels_of(row) == (frozenset(answers), is_answerable)


def test_questions_that_the_models_never_see_are_left_out(tmp_path: Path) -> None:
    usual = {"question": "sets?", "expect": "answer"}
    others = (
        {"lang": "de"}, {"follows": "q1"}, {"expect": "guardrail"}, {"expect": "about_corpus"}, {"kind": "guardrail"},
    )  # fmt: skip
    path = tmp_path / "questions.jsonl"
    path.write_text("\n\n".join(json.dumps(usual | other) for other in ({}, *others)) + "\n")

    assert relevance_fit.read_rows(path) == [usual]


def questions_of(count: int = 40) -> list[LabelledQuestion]:
    """Return questions of which a cosine tells the answer; every second is answerable."""
    chance = np.random.default_rng(1)
    rows = []
    for n in range(count):
        best = "ABC"[n % 3] if n % 2 == 0 else ""
        scores = [
            make_scores(name, passage=(0.0, float(0.2 + 0.6 * (name == best) + 0.05 * chance.random())))
            for name in "ABC"
        ]
        features = read_features(make_query(), scores, {}, VOCABULARY)
        rows.append(LabelledQuestion(make_query(), features, frozenset(best), bool(best), "dev"))
    return rows


NAMES = ("passage_cosine", "passage_cosine_gap")


def test_what_is_learned_is_estimated_by_models_that_never_saw_the_label(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = questions_of()
    fitted: list[set[int]] = []
    fit, rank = relevance_fit.fit_relevance, relevance.rank
    seen: dict[int, set[int]] = {}

    def fit_and_remember(some: Any, names: Any) -> Any:
        fitted.append({id(q.features) for q in some})
        return fit(some, names)

    def rank_and_remember(features: Any, model: Any) -> Any:
        seen[id(features)] = fitted[-1]
        return rank(features, model)

    monkeypatch.setattr(relevance_fit, "fit_relevance", fit_and_remember)
    monkeypatch.setattr(relevance, "rank", rank_and_remember)
    held_out = relevance_fit.cross_validate(questions, NAMES)

    assert set(seen) == {id(q.features) for q in questions}
    assert not [key for key, models in seen.items() if key in models]
    assert [bool(lead) for lead, q in zip(held_out.leads, questions, strict=True) if q.is_answerable] == [True] * 20
    can = np.array([q.is_answerable for q in questions])
    assert held_out.answerable[can].min() > held_out.answerable[~can].max()
    assert set(relevance_fit.signal_names(held_out.signals[0], NAMES)) >= {"logit1", "leader_passage_cosine"}


def held_out_of(chances: list[float], leads: list[bool]) -> HeldOut:
    return HeldOut([{}] * len(chances), np.array(leads), np.array(chances), np.array(chances))


def labelled(can: bool, source: str = "dev") -> LabelledQuestion:
    features = read_features(make_query(), [make_scores()], {}, VOCABULARY)
    return LabelledQuestion(make_query(), features, frozenset("A" if can else ""), can, source)


def test_the_threshold_answers_what_can_be_answered_and_refuses_the_rest() -> None:
    can = [True, True, False, False]
    threshold, figures = relevance_fit.choose_threshold(
        [labelled(answer) for answer in can], held_out_of([0.9, 0.6, 0.4, 0.1], can), "dev"
    )

    assert 0.4 < threshold <= 0.6
    assert (figures["served"], figures["wrongly_refused"], figures["refused"], figures["lead"]) == (1.0, 0.0, 1.0, 1.0)
    lowest, _ = relevance_fit.choose_threshold([labelled(True)] * 2, held_out_of([0.9, 0.8], [True, True]), "dev")
    assert lowest == 0.2


LISTS = SafetyLexicon.build()


def encode_farewells(questions: Sequence[str]) -> list[list[float]]:
    return [[1.0, 0.0] if "farewell" in question else [0.0, 1.0] for question in questions]


def write_labelled(path: Path, count: int) -> Path:
    rows: list[dict[str, str | None]] = [
        {"question": f"my farewell to all, part {n}", "route": "crisis"} for n in range(count)
    ]
    rows += [{"question": f"how many sets are enough, part {n}", "route": None} for n in range(count)]
    rows += [{"question": "I want to kill myself", "kind": "safety"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_classifier_finds_what_the_list_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safety_fit, "STEPS", 50)
    questions, extra = write_labelled(tmp_path / "questions.jsonl", 40), write_labelled(tmp_path / "extra.jsonl", 5)

    model = safety_fit.calibrate(questions, [extra], LISTS, encode_farewells, "encoder@test")

    figures = model["held_out"]["crisis"]
    by_list = safety_fit.measure(safety_fit.read(extra, encode_farewells), LISTS, None)

    assert by_list["crisis"] == {"rows": 5, "list missed": 5, "classifier missed": 5, "both missed": 5}
    assert len(safety_fit.table(by_list)) == 1 + len(by_list)
    assert figures["list missed"] == figures["rows"] > 0
    assert "classifier missed" not in figures
    assert model["tested_on"] == "questions.jsonl (other half)"
    assert SafetyClassifier.from_row(json.loads(json.dumps(model))).routes == ("crisis",)


SENTENCES = values.SENTENCES[:10]


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    """Claims that are sentences of their evidence, and claims that are of something else."""
    folder = tmp_path / "claims"
    folder.mkdir()
    evidence = [" ".join(SENTENCES[:5]), *SENTENCES[5:]]
    rows = []
    for n, sentence in enumerate(SENTENCES):
        other = f"Bananas number {n + 20} rot in {sentence[::-1]}"
        rows += [
            {"claim": claim, "evidence": evidence, "label": label}
            for claim, label in ((sentence, "supported"), (other, "refuted"))
        ]
    lines = "\n".join(map(json.dumps, rows))
    (folder / "one.jsonl").write_text(lines)
    (folder / "two.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return folder


def test_support_is_fitted_and_written(claims: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, written = tmp_path / "s.json", tmp_path / "f.json"
    support, _ = support_fit.fit(claims)

    call_command("calibrate", "support", "--claims", str(claims), "--out", str(out), "--json", str(written))

    figures = json.loads(written.read_text())
    assert Support(**json.loads(out.read_text())) == support
    assert support.fitted_on == "one (20), two (20)"
    assert {name: row["n"] for name, row in figures.items()} == {"one": 20, "two": 20}
    assert figures["one"]["auroc"]["mean"] == 1.0
    assert support.score(read_signals(SENTENCES[0], SENTENCES, support)) > 0.5
    assert "auroc" in capsys.readouterr().out


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    def calibrate() -> None:
        with pytest.raises(CommandError, match=str(tmp_path)):
            call_command("calibrate", "support", "--claims", str(tmp_path))

    calibrate()  # no file
    for text in ("no json", '{"claim": "x"}', '{"claim": "x", "evidence": [], "label": "supported"}'):
        (tmp_path / "a.jsonl").write_text(text)
        calibrate()


def tiny_model(folder: Path, labels: tuple[str, ...]) -> str:
    """A model of a few hundred weights that has learnt nothing."""
    known = sorted({w.lower().strip(".,") for s in SENTENCES for w in s.split()})
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *known]
    (folder / "vocab.txt").write_text("\n".join(words))
    config = BertConfig(
        vocab_size=len(words), hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
        num_labels=len(labels), id2label=dict(enumerate(labels)), label2id={label: n for n, label in enumerate(labels)},
    )  # fmt: skip
    torch.manual_seed(0)
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("labels", [("score",), ("contradiction", "entailment", "neutral")])
def test_an_entailment_model_judges_from_0_to_1(tmp_path: Path, labels: tuple[str, ...]) -> None:
    judge = entailment_judge(tiny_model(tmp_path, labels))

    assert 0 <= judge(SENTENCES[0], SENTENCES * 20) <= 1
    assert judge(SENTENCES[0], ()) == 0.0


def test_a_judge_is_measured_on_the_same_sets(claims: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def failing(claim: str, evidence: object) -> float:
        raise RuntimeError("no server")

    call_command("calibrate", "support", "--claims", str(claims), "--judge", tiny_model(tmp_path, ("score",)))

    assert "one: 20 claims" in capsys.readouterr().out
    assert support_fit.evaluate_judge(claims, failing)["one"]["balanced accuracy"]["mean"] == 0.5
    with pytest.raises(ValueError, match="no label of entailment"):
        entailment_judge(tiny_model(tmp_path, ("good", "bad")))
