"""Estimate whether the corpus answers a Query at all, and whether the leading study does.

Both are logistic models over the chances of the candidate studies and the features of the leading one. The first
decides between an answer and a refusal; the second is the confidence that readers see.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from corpus_app.facets import COLUMNS
from qa_app.pipeline.learned import Logistic, logit
from qa_app.pipeline.query import Intent, Query
from qa_app.pipeline.relevance import Features

FROM_LEADER = (
    "question_cosine", "question_top3", "plain_cosine", "passage_cosine", "concept_share", "has_rarest", "coverage",
    "unknown_share", "unstudied_share", "concepts", "terms",
)  # fmt: skip
FROM_BEST = ("question_cosine", "passage_cosine")
LIKELY = 0.2
"""Chance from which a study counts as a likely answer."""


def signals(ranked: Sequence[tuple[str, float]], features: Features, query: Query) -> dict[str, float]:
    """Compute the question's signals from its ranked candidates; an empty ranking gives the lowest chances."""
    chances = [chance for _, chance in ranked[:3]] + [0.0] * 3
    found = {f"logit{n + 1}": logit(chances[n]) for n in range(3)}
    found["margin"] = chances[0] - chances[1]
    found["likely"] = float(sum(chance >= LIKELY for _, chance in ranked))
    found["expected"] = sum(chance for _, chance in ranked)
    row = features.study_ids.index(ranked[0][0]) if ranked else None
    for name in FROM_LEADER:
        found[f"leader_{name}"] = float(features.column(name)[row]) if row is not None else 0.0
    for name in FROM_BEST:
        found[f"best_{name}"] = float(features.column(name).max()) if ranked else 0.0
    return found | _of_query(query)


def _of_query(query: Query) -> dict[str, float]:
    """Return the intent and length of the question, and counts of the concepts it names."""
    return {
        "words": math.log(1 + len(query.text.split())),
        "has_digit": float(any(letter.isdigit() for letter in query.text)),
        "is_comparison": float(query.is_comparison),
        "names_people": float(not query.facets.values.keys().isdisjoint(COLUMNS)),
        "interventions": float(len(query.intervention)),
        "outcomes": float(len(query.outcome)),
        **{f"intent_{intent.value}": float(query.intent is intent) for intent in Intent},
    }


def estimate(values: Mapping[str, float], model: Logistic) -> float:
    """Return the model's probability for one question."""
    return float(model.predict(np.array([[values[name] for name in model.names]]))[0])
