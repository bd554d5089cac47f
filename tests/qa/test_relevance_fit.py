"""Fitting the engine's models: labels, folds, held-out estimates and the threshold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qa_app.evaluation import relevance_fit
from qa_app.evaluation.relevance_fit import FOLDS, HeldOut, LabelledQuestion
from qa_app.pipeline import relevance
from qa_app.pipeline.relevance import Vocabulary, read_features
from tests.pipeline.values import make_query, make_scores, make_study

STUDIES = {name: make_study(name) for name in "ABC"}
VOCABULARY = Vocabulary({"set": 1.0, "muscl": 1.0}, unknown_share=0.0)


@pytest.mark.parametrize(
    ("row", "answers", "is_answerable"),
    [
        ({"expect": "answer", "relevant": {"A": 3, "B": 2, "C": 1}}, {"A", "B"}, True),
        ({"expect": "partial", "relevant": {"A": 1}, "lead": ["C"]}, {"C"}, True),
        ({"expect": "conflict", "relevant": None, "lead": None}, set(), True),
        ({"expect": "refuse", "relevant": {"A": 1}}, set(), False),
        ({"relevant": {"A": 2}}, {"A"}, True),
        ({"relevant": {"A": 1}}, set(), False),
        ({}, set(), False),
    ],
)
def test_labels_tell_which_studies_answer_and_whether_any(
    row: dict[str, Any], answers: set[str], is_answerable: bool
) -> None:
    assert relevance_fit.labels_of(row) == (frozenset(answers), is_answerable)


@pytest.mark.parametrize(
    "other",
    [{"lang": "de"}, {"follows": "q1"}, {"expect": "guardrail"}, {"expect": "about_corpus"}, {"kind": "guardrail"}],
)
def test_questions_that_the_models_never_see_are_left_out(tmp_path: Path, other: dict[str, str]) -> None:
    usual = {"question": "sets?", "expect": "answer"}
    path = tmp_path / "questions.jsonl"
    path.write_text("\n\n".join(json.dumps(row) for row in (usual, usual | other)) + "\n")

    assert relevance_fit.read_rows(path) == [usual]


@pytest.mark.parametrize("count", [5, 11, 40])
def test_folds_share_nothing_and_hold_every_question_once(count: int) -> None:
    folds = relevance_fit.folds(count)

    assert len(folds) == FOLDS
    assert sorted(np.concatenate(folds).tolist()) == list(range(count))


@pytest.mark.parametrize(
    ("has_vectors", "is_curated", "named", "not_named"),
    [
        (True, True, {"question_cosine", "question_top3", "passage_bm25"}, ()),
        (False, True, {"question_bm25", "passage_bm25"}, ("cosine", "top3")),
        (True, False, {"passage_cosine", "title_cosine"}, ("question_", "plain_", "statement_")),
        (False, False, {"passage_bm25", "title_bm25_gap"}, ("cosine", "top3", "question_", "plain_", "statement_")),
    ],
)
def test_a_model_uses_only_what_its_corpus_has(
    has_vectors: bool, is_curated: bool, named: set[str], not_named: tuple[str, ...]
) -> None:
    features = read_features(make_query(), [make_scores()], STUDIES, VOCABULARY)

    names = relevance_fit.feature_names(features, has_vectors=has_vectors, is_curated=is_curated)

    assert named <= set(names)
    assert not [name for name in names if any(part in name for part in not_named)]


# --- Cross-validation ----------------------------------------------------------------------------------------------------


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
        features = read_features(make_query(), scores, STUDIES, VOCABULARY)
        rows.append(LabelledQuestion(make_query(), features, frozenset(best), bool(best), "dev"))
    return rows


NAMES = ("passage_cosine", "passage_cosine_gap")


def test_what_can_be_learned_is_learned() -> None:
    questions = questions_of()

    held_out = relevance_fit.cross_validate(questions, NAMES)

    assert [bool(lead) for lead, q in zip(held_out.leads, questions, strict=True) if q.is_answerable] == [True] * 20
    can = np.array([q.is_answerable for q in questions])
    assert held_out.answerable[can].min() > held_out.answerable[~can].max()
    assert set(relevance_fit.signal_names(held_out.signals[0], NAMES)) >= {"logit1", "leader_passage_cosine"}


def test_no_question_is_estimated_by_a_model_that_saw_its_label(monkeypatch: pytest.MonkeyPatch) -> None:
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
    relevance_fit.cross_validate(questions, NAMES)

    assert set(seen) == {id(q.features) for q in questions}
    assert not [key for key, models in seen.items() if key in models]


def test_the_label_of_one_question_never_changes_its_own_estimate() -> None:
    questions = questions_of()
    changed = [*questions]
    changed[0] = LabelledQuestion(questions[0].query, questions[0].features, frozenset(), False, "dev")

    before, after = (relevance_fit.cross_validate(some, NAMES) for some in (questions, changed))

    assert before.signals[0] == after.signals[0]


# --- The threshold -------------------------------------------------------------------------------------------------------


def held_out_of(chances: list[float], leads: list[bool]) -> HeldOut:
    return HeldOut([{}] * len(chances), np.array(leads), np.array(chances), np.array(chances))


def test_the_threshold_answers_what_can_be_answered_and_refuses_the_rest() -> None:
    query = make_query()
    features = read_features(query, [make_scores()], STUDIES, VOCABULARY)
    can = [True, True, False, False]
    questions = [LabelledQuestion(query, features, frozenset("A" if answer else ""), answer, "dev") for answer in can]

    threshold, figures = relevance_fit.choose_threshold(questions, held_out_of([0.9, 0.6, 0.4, 0.1], can), "dev")

    assert 0.4 < threshold <= 0.6
    assert (figures["served"], figures["wrongly_refused"], figures["refused"], figures["lead"]) == (1.0, 0.0, 1.0, 1.0)


def test_the_lowest_of_equal_thresholds_is_chosen() -> None:
    query = make_query()
    features = read_features(query, [make_scores()], STUDIES, VOCABULARY)
    questions = [LabelledQuestion(query, features, frozenset("A"), True, "dev")] * 2

    threshold, _ = relevance_fit.choose_threshold(questions, held_out_of([0.9, 0.8], [True, True]), "dev")

    assert threshold == 0.2


def test_questions_of_other_sources_do_not_move_the_threshold() -> None:
    query = make_query()
    features = read_features(query, [make_scores()], STUDIES, VOCABULARY)
    own = [LabelledQuestion(query, features, frozenset("A" if can else ""), can, "dev") for can in (True, False)]
    other = [LabelledQuestion(query, features, frozenset(), False, "golden")] * 5

    alone, _ = relevance_fit.choose_threshold(own, held_out_of([0.9, 0.3], [True, False]), "dev")
    beside, figures = relevance_fit.choose_threshold(
        [*own, *other], held_out_of([0.9, 0.3] + [0.6] * 5, [True] + [False] * 6), "dev"
    )

    assert (beside, figures["questions"]) == (alone, 2.0)
