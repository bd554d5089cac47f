"""Fit the safety classifier to labelled questions, and evaluate it and the reviewed word list."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qa_app.pipeline.question.safety import SafetyLexicon, routes_of
from qa_app.pipeline.question.safety_model import Array, SafetyClassifier, features, softmax
from qa_app.pipeline.text import clean

_ROOT = Path(__file__).parents[2]
EXTRA = (
    _ROOT / "tests" / "data" / "safety_train_extra.jsonl",
    _ROOT / "corpus" / "golden_dev.jsonl",
    _ROOT / "corpus" / "golden_more.jsonl",
)
NONE = "none"
FOLDS = 5
PENALTY = 2.0  # on squared weights, halved, beside a summed log loss
STEPS = 500
# Least chance of a guarded question; chosen on readers' questions that are not part of the project.
LOWEST_THRESHOLD = 0.8
FALSE_ALARM_BUDGET = 0.003  # cross-validated share of unguarded rows that a route may decline
DIGITS = 3

Encode = Callable[[Sequence[str]], Iterable[Sequence[float]]]


@dataclass(frozen=True, slots=True)
class LabelledQuestions:
    """Questions with their route or "none", and their vectors."""

    questions: tuple[str, ...]
    routes: tuple[str, ...]
    vectors: tuple[Sequence[float], ...]

    def where(self, flags: Sequence[bool]) -> LabelledQuestions:
        """Return the rows that are flagged."""
        rows = [
            row
            for row, keep in zip(zip(self.questions, self.routes, self.vectors, strict=True), flags, strict=True)
            if keep
        ]
        return LabelledQuestions(*(tuple(column) for column in zip(*rows, strict=True)))

    def __add__(self, other: LabelledQuestions) -> LabelledQuestions:
        return LabelledQuestions(
            self.questions + other.questions, self.routes + other.routes, self.vectors + other.vectors
        )


def read(path: Path, encode: Encode) -> LabelledQuestions:
    """Read rows with `question` and `route`; golden safety questions have no route and are skipped."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    rows = [row for row in rows if row.get("kind") != "safety"]
    questions = tuple(clean(row["question"]) for row in rows)
    return LabelledQuestions(questions, tuple(row.get("route") or NONE for row in rows), tuple(encode(questions)))


def calibrate(
    questions: Path, extra: Sequence[Path], lexicon: SafetyLexicon, encode: Encode, encoder: str
) -> dict[str, Any]:
    """Fit the classifier on labelled files; return the model file with data names and held-out figures."""
    first, *others = (read(path, encode) for path in extra)
    model = fit(read(questions, encode), sum(others, first), lexicon)
    names = [f"{questions.name} (half)", *(path.name for path in extra)]
    return {"encoder": encoder, "fitted_on": names, "tested_on": f"{questions.name} (other half)"} | model


def is_fitting_half(question: str) -> bool:
    """Return whether a question belongs to the training half; the other half is the test set."""
    return zlib.crc32(question.encode()) % 2 == 0


def fit(questions: LabelledQuestions, extra: LabelledQuestions, lexicon: SafetyLexicon) -> dict[str, Any]:
    """Fit on half of the questions and on all extra rows; evaluate on the other half."""
    halves = [is_fitting_half(question) for question in questions.questions]
    fitting, held_out = questions.where(halves) + extra, questions.where([not half for half in halves])
    lists = sorted(lexicon.index.names)
    routes = tuple(name for name in lexicon.routes if name in fitting.routes)
    rows = _rows(fitting, lexicon, lists)
    targets = np.array([(NONE, *routes).index(route) for route in fitting.routes])
    unseen = _cross_validated(rows, targets, len(routes) + 1)
    intercepts, weights = _fitted(rows, targets, len(routes) + 1)
    model = {
        "rows": {"fitted": len(targets), "guarded": int((targets > 0).sum())},
        "routes": routes,
        "lists": lists,
        "thresholds": _thresholds(unseen, targets, routes),
        "intercepts": intercepts.round(DIGITS).tolist(),
        "weights": weights.round(DIGITS).tolist(),
    }
    classifier = SafetyClassifier.from_row(model)
    return {"held_out": measure(held_out, lexicon, classifier)} | model


def measure(
    questions: LabelledQuestions, lexicon: SafetyLexicon, classifier: SafetyClassifier | None
) -> dict[str, dict[str, int]]:
    """Count, for each route, the rows, and misses and false alarms of the list, the classifier and both."""
    counts: dict[str, Counter[str]] = {route: Counter() for route in (*lexicon.routes, NONE)}
    for question, expected, vector in zip(questions.questions, questions.routes, questions.vectors, strict=True):
        listed, learned = routes_of(question, vector, lexicon, classifier)
        counts[expected]["rows"] += 1
        for name, route in (("list", listed), ("classifier", learned), ("both", listed or learned)):
            if expected != NONE and route is None:
                counts[expected][f"{name} missed"] += 1
            if expected == NONE and route is not None:
                counts[route][f"{name} false"] += 1
    return {route: dict(count) for route, count in counts.items()}


def table(figures: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the figures of `measure` as lines of text."""
    columns = [f"{name} {what}" for name in ("list", "classifier", "both") for what in ("missed", "false")]
    widths = [max(len(column), 4) for column in columns]
    lines = [f"{'route':18}{'rows':>6}  " + "  ".join(columns)]
    for route, count in figures.items():
        cells = "  ".join(f"{count.get(column, 0):>{width}}" for column, width in zip(columns, widths, strict=True))
        lines.append(f"{route:18}{count.get('rows', 0):>6}  {cells}")
    return lines


def _rows(labelled: LabelledQuestions, lexicon: SafetyLexicon, lists: Sequence[str]) -> Array:
    rows = []
    for question, vector in zip(labelled.questions, labelled.vectors, strict=True):
        words = lexicon.words(question)
        rows.append(features(vector, words, lexicon.index.find(words).keys(), lists))
    return np.array(rows)


def _fitted(rows: Array, targets: Array, classes: int) -> tuple[Array, Array]:
    """Return intercepts and weights of a penalised softmax regression, by Nesterov's accelerated gradient."""
    x = np.column_stack([np.ones(len(rows)), rows])
    wanted = np.eye(classes)[targets]
    penalty = np.full((x.shape[1], 1), PENALTY)
    penalty[0] = 1e-3  # the intercept is almost free
    step = 1 / (0.5 * float(np.linalg.norm(x, ord=2)) ** 2 + PENALTY)
    beta = ahead = np.zeros((x.shape[1], classes))
    for number in range(STEPS):
        slope = x.T @ (softmax(x @ ahead) - wanted) + penalty * ahead
        after = ahead - step * slope
        ahead = after + number / (number + 3) * (after - beta)
        beta = after
    return beta[0], beta[1:]


def _cross_validated(rows: Array, targets: Array, classes: int) -> Array:
    folds = np.random.default_rng(0).permutation(len(rows)) % FOLDS
    chances = np.zeros((len(rows), classes))
    for fold in range(FOLDS):
        intercepts, weights = _fitted(rows[folds != fold], targets[folds != fold], classes)
        chances[folds == fold] = softmax(intercepts + rows[folds == fold] @ weights)
    return chances


def _thresholds(chances: Array, targets: Array, routes: Sequence[str]) -> dict[str, float]:
    """Choose for each route the lowest threshold that declines no more unguarded rows than its budget."""
    guarded, likeliest = 1 - chances[:, 0], chances[:, 1:].argmax(axis=1)
    allowed = int(FALSE_ALARM_BUDGET * (targets == 0).sum())
    chosen = {}
    for number, route in enumerate(routes):
        alarms = np.sort(guarded[(targets == 0) & (likeliest == number)])[::-1]
        limit = alarms[allowed] + 10**-DIGITS if len(alarms) > allowed else 0.0
        chosen[route] = round(min(max(LOWEST_THRESHOLD, float(limit)), 1.0), DIGITS)
    return chosen
