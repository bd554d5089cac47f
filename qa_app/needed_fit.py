"""Fits how likely a short answer needs a sentence, to sentences that readers judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from qa_app import fitting
from qa_app.backends.corpus import SearchedCorpus
from qa_app.evaluation import BadGolden, read_rows
from qa_app.measures import auroc, mean
from qa_app.pipeline.calibration import Logistic
from qa_app.pipeline.generation import rank_sentences
from qa_app.pipeline.generation.sentences import Asked, sentence_signals
from qa_app.pipeline.policy import NEEDED, Policy
from qa_app.pipeline.records import Answer, Mode, Question
from qa_app.pipeline.retrieval import Clock
from qa_app.pipeline.run import gather
from qa_app.pipeline.text import clean

NEEDED_FROM = 2  # label from which a short answer needs a sentence: 3 it answers, 2 it belongs to the answer, 1 it is near, 0 it is off
CITES_FROM, STUDIES = 0.2, 7  # more studies than are quoted, so that the unneeded are seen too
NAMES = tuple(name for name, _ in NEEDED.weights)


@dataclass(frozen=True, slots=True)
class NeededFit:
    """The model, and how it did on questions that it had not seen."""

    model: Logistic
    sentences: int
    needed: int
    auroc: float
    auroc_within: float
    """Mean over the questions, of the order within each."""


def mark_of(text: str) -> str:
    """By which a labelled sentence is known: its first ten hexadecimal digits of SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def read_labels(path: Path) -> dict[str, dict[str, int]]:
    """By question and mark the label, 0 to 3. Raises BadGolden naming the line, and OSError."""
    labels: dict[str, dict[str, int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            labels[str(row["id"])] = {str(mark): _label(label) for mark, label in row["needed"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadGolden(f"{path}:{number}: {type(error).__name__}: {error}") from error
    return labels


def _label(label: object) -> int:
    if label not in (0, 1, 2, 3):
        raise ValueError(f"a label is 0, 1, 2 or 3, not {label!r}")
    return int(str(label))


def fit(questions: Path, labels: Path, policy: Policy, *, report: Callable[[str, int, int], None]) -> NeededFit:
    """Raises BadGolden and OSError; ValueError where none of the labelled sentences is in the corpus, or all are alike."""
    wanted = read_labels(labels)
    rows = [row for row in read_rows(questions) if row["id"] in wanted]
    wider = replace(policy, cites_from=CITES_FROM, evidence_studies=STUDIES)
    signals: list[list[float]] = []
    right: list[bool] = []
    groups: list[str] = []
    for done, row in enumerate(rows, start=1):
        for values, label in _labelled(row, wanted[row["id"]], wider):
            signals.append([values[name] for name in NAMES])
            right.append(label >= NEEDED_FROM)
            groups.append(row["id"].rstrip("ab") if row["kind"] == "paraphrase_pairs" else row["id"])
        report("questions", done, len(rows))
    if len(set(right)) < 2:
        raise ValueError(
            f"{len(right)} labelled sentences are in this corpus, and all are alike: nothing can be fitted."
        )
    examples = fitting.examples(NAMES, signals, right, ["all"] * len(right), groups)
    line = fitting.fit(examples.rows, examples.right, balanced=False)
    estimates = fitting.cross_validate(examples, balanced=False).estimates.tolist()
    return NeededFit(
        _raw(line), len(right), sum(right), auroc(estimates, right), mean(_within(estimates, right, groups))
    )


def _labelled(row: Mapping[str, Any], labels: Mapping[str, int], policy: Policy) -> list[tuple[dict[str, float], int]]:
    """The signals of each labelled sentence that the search finds, and its label; none for a refused question."""
    question = Question(row["question"], clean(row["question"]), Mode(row["mode"]), row["collection"])
    gathered = gather(question, corpus=SearchedCorpus(), policy=policy, clock=Clock())
    if isinstance(gathered, Answer):
        return []
    asked = Asked.of(gathered.evidence)
    return [
        (sentence_signals(q.text, q.first, q.last, q.candidate, asked), labels[mark_of(q.text)])
        for q in rank_sentences(gathered.evidence, policy)
        if mark_of(q.text) in labels
    ]


def _raw(line: fitting.Line) -> Logistic:
    """Weights of the signals as they are, not standardised."""
    weights = line.coefficients / line.scales
    intercept = line.intercept - float(line.means @ weights)
    return Logistic(
        round(intercept, 3),
        tuple((name, round(float(weight), 3)) for name, weight in zip(NAMES, weights, strict=True)),
        "sentences",
    )


def _within(estimates: Sequence[float], right: Sequence[bool], groups: Sequence[str]) -> list[float]:
    found = []
    for group in dict.fromkeys(groups):
        places = [i for i, its in enumerate(groups) if its == group]
        own = [right[i] for i in places]
        if any(own) and not all(own):
            found.append(auroc([estimates[i] for i in places], own))
    return found
