"""Fit and cross-validate the relevance models on labelled questions.

Three estimates: whether a study answers a question (relevance), whether the corpus answers it (answerability), and
whether the leading study answers it (lead). The last two are fitted on held-out estimates of the first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qa_app.evaluation.measures import reliability
from qa_app.pipeline import answerability, relevance
from qa_app.pipeline.learned import Logistic
from qa_app.pipeline.query import Query
from qa_app.pipeline.relevance import Features

FOLDS = 5
RELEVANCE_C, DECISION_C = 0.1, 0.03  # inverse strength of the L2 penalty; best of .01 to 1 on held-out questions
CURATED_PREFIXES = ("question_", "plain_", "statement_")
SERVED_TOLERANCE = 0.01  # of the share served: within it, refusing less is better
FIRST_SOURCE_WEIGHT = 3.0  # keeps the mean confidence within .03 of the share right on held-out reader questions
GRADED = 2  # grade of a study that answers by itself
ANSWERABLE = frozenset({"answer", "partial", "conflict"})
OTHER_ENDINGS = frozenset({"guardrail", "about_corpus", "chat"})

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with its features and labels."""

    query: Query
    features: Features
    answers: frozenset[str]
    """Studies that answer it."""
    is_answerable: bool
    group: str
    """Source of the question."""

    @property
    def targets(self) -> Matrix:
        return np.array([float(study_id in self.answers) for study_id in self.features.study_ids])


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read labelled English questions that stand alone, of the reader format or the golden format."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        row
        for row in rows
        if row.get("lang", "en") == "en"
        and not row.get("follows")
        and row.get("expect") not in OTHER_ENDINGS
        and row.get("kind") != "guardrail"
    ]


def labels_of(row: dict[str, Any]) -> tuple[frozenset[str], bool]:
    """Return the studies that answer a labelled question, and whether the corpus answers it."""
    answers = {study for study, grade in (row.get("relevant") or {}).items() if grade >= GRADED}
    answers |= set(row.get("lead") or ())
    is_answerable = row["expect"] in ANSWERABLE if "expect" in row else bool(answers)
    return frozenset(answers), is_answerable


def feature_names(features: Features, *, has_vectors: bool, is_curated: bool) -> tuple[str, ...]:
    """Return the names that a model may use, with or without vectors and curated texts."""
    return tuple(
        name
        for name in features.names
        if (has_vectors or not ("cosine" in name or "top3" in name))
        and (is_curated or not name.startswith(CURATED_PREFIXES))
    )


def fit_logistic(
    values: Matrix, targets: Matrix, names: Sequence[str], c: float, weights: Matrix | None = None
) -> Logistic:
    """Fit a logistic model to standardised features (rows x names)."""
    from sklearn.linear_model import LogisticRegression

    mean, scale = values.mean(axis=0), values.std(axis=0)
    scale[scale < 1e-9] = 1.0
    model = LogisticRegression(C=c, max_iter=3_000).fit((values - mean) / scale, targets, sample_weight=weights)
    coefficients = tuple(float(x) for x in model.coef_[0])
    return Logistic(tuple(names), tuple(mean.tolist()), tuple(scale.tolist()), coefficients, float(model.intercept_[0]))


def fit_relevance(questions: Sequence[LabelledQuestion], names: Sequence[str]) -> Logistic:
    """Fit the chance that a study answers, on every candidate of every question."""
    values = np.concatenate([q.features.among(names) for q in questions])
    return fit_logistic(values, np.concatenate([q.targets for q in questions]), names, RELEVANCE_C)


def folds(count: int, seed: int = 1) -> list[NDArray[np.int64]]:
    """Return the indices of each fold."""
    order = np.random.default_rng(seed).permutation(count)
    return [order[fold::FOLDS] for fold in range(FOLDS)]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out estimates of each question, from models that were fitted without it."""

    signals: list[dict[str, float]]
    leads: NDArray[np.bool_]
    """Whether the first study answers."""
    answerable: Matrix
    lead: Matrix


def cross_validate(questions: Sequence[LabelledQuestion], names: Sequence[str]) -> HeldOut:
    """Return held-out signals and estimates of every question."""
    signals: list[dict[str, float]] = [{} for _ in questions]
    leads = np.zeros(len(questions), bool)
    for fold in folds(len(questions)):
        model = fit_relevance([q for n, q in enumerate(questions) if n not in set(fold.tolist())], names)
        for n in fold.tolist():
            ranked = relevance.rank(questions[n].features, [model] * len(questions[n].features.study_ids))
            signals[n] = answerability.signals(ranked, questions[n].features, questions[n].query)
            leads[n] = bool(ranked) and ranked[0][0] in questions[n].answers
    used = signal_names(signals[0], names)
    rows = np.array([[row[name] for name in used] for row in signals])
    can, weights = np.array([q.is_answerable for q in questions]), _weights(questions)
    estimates = []
    for target in (can, can & leads):
        held_out = np.zeros(len(questions))
        for fold in folds(len(questions), seed=2):
            rest = np.setdiff1d(np.arange(len(questions)), fold)
            model = fit_logistic(rows[rest], target[rest].astype(float), used, DECISION_C, weights[rest])
            held_out[fold] = model.predict(rows[fold])
        estimates.append(held_out)
    return HeldOut(signals, leads, estimates[0], estimates[1])


def signal_names(signals: dict[str, float], names: Sequence[str]) -> tuple[str, ...]:
    """Return the signals that a decision model may use beside these features."""
    return tuple(n for n in signals if not n.startswith(("leader_", "best_")) or n.partition("_")[2] in names)


def fit_decisions(
    questions: Sequence[LabelledQuestion], held_out: HeldOut, names: Sequence[str]
) -> tuple[Logistic, Logistic]:
    """Fit answerability and lead on held-out signals."""
    used = signal_names(held_out.signals[0], names)
    rows = np.array([[row[name] for name in used] for row in held_out.signals])
    can, weights = np.array([q.is_answerable for q in questions]), _weights(questions)
    return (
        fit_logistic(rows, can.astype(float), used, DECISION_C, weights),
        fit_logistic(rows, (can & held_out.leads).astype(float), used, DECISION_C, weights),
    )


def _weights(questions: Sequence[LabelledQuestion]) -> Matrix:
    """Return weights that favour the first source: the others were written for the corpus and are easier."""
    return np.array([FIRST_SOURCE_WEIGHT if q.group == questions[0].group else 1.0 for q in questions])


def choose_threshold(
    questions: Sequence[LabelledQuestion], held_out: HeldOut, group: str, *, is_cautious: bool = False
) -> tuple[float, dict[str, Any]]:
    """Return the lowest threshold that serves about as many questions of one source as the best, and its figures.

    With `is_cautious` it is the middle one, for corpora that the model was not fitted on.
    """
    own = np.array([q.group == group for q in questions])
    can = np.array([q.is_answerable for q in questions])[own]
    chance, leads = held_out.answerable[own], held_out.leads[own]
    served = {float(t): _served(can, chance, leads, t) for t in np.round(np.arange(0.2, 0.8, 0.01), 2)}
    good = [t for t, share in served.items() if share >= max(served.values()) - SERVED_TOLERANCE]
    best = good[len(good) // 2] if is_cautious else good[0]
    return best, figures(can, chance, leads, held_out.lead[own], best)


def _served(can: NDArray[np.bool_], chance: Matrix, leads: NDArray[np.bool_], threshold: float) -> float:
    answered = chance >= threshold
    return float(np.where(can, answered & leads, ~answered).mean())


def figures(
    can: NDArray[np.bool_], chance: Matrix, leads: NDArray[np.bool_], lead: Matrix, threshold: float
) -> dict[str, Any]:
    """Return the held-out figures of a threshold, with the reliability of the lead's chance."""
    from sklearn.metrics import roc_auc_score

    answered = chance >= threshold
    found = {
        "questions": float(len(can)),
        "first": float(leads[can].mean()) if can.any() else 0.0,
        "served": _served(can, chance, leads, threshold),
        "wrongly_refused": float((~answered)[can].mean()) if can.any() else 0.0,
        "refused": float((~answered)[~can].mean()) if (~can).any() else 0.0,
        "lead": float(leads[can & answered].mean()) if (can & answered).any() else 0.0,
        "auroc_answerable": float(roc_auc_score(can, chance)) if can.any() and (~can).any() else 0.0,
    }
    right = (can & leads)[answered]
    if right.any() and (~right).any():
        found["auroc_confidence"] = float(roc_auc_score(right, lead[answered]))
        found["mean_confidence"] = float(lead[answered].mean())
        found["share_right"] = float(right.mean())
    bins = reliability(lead[answered].tolist(), right.tolist())
    return {name: round(value, 4) for name, value in found.items()} | {
        "bins": [{"n": b.n, "estimated": round(b.estimated, 4), "was": round(b.was, 4)} for b in bins]
    }


Progress = Callable[[int, int], None]
