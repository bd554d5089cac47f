"""Estimate which guarded route a question belongs to: multinomial logistic regression on its vector and its words."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qa_app.pipeline.lexicon import SENTENCE_END

Array = NDArray[np.float64]

FILE = "safety.json"
BUCKETS = 512
VECTOR_SCALE, LIST_SCALE, WORD_SCALE = 5.0, 1.0, 2.0  # penalties of the groups, cross-validated on the fitting half


def features(vector: Sequence[float], words: Sequence[str], found: Collection[str], lists: Sequence[str]) -> Array:
    """Return the model's row: the unit vector, one flag a list, and hashed words as a unit vector."""
    flags = np.array([name in found for name in lists], dtype=np.float64)
    hashed = np.zeros(BUCKETS)
    hashed[[zlib.crc32(word.encode()) % BUCKETS for word in set(words) - {SENTENCE_END}]] = 1.0
    hashed /= max(1.0, float(np.sqrt(hashed.sum())))
    return np.concatenate([np.asarray(vector) * VECTOR_SCALE, flags * LIST_SCALE, hashed * WORD_SCALE])


@dataclass(frozen=True, slots=True)
class SafetyClassifier:
    """A fitted model; its first class is "none", and every other has the threshold from which it declines."""

    routes: tuple[str, ...]
    lists: tuple[str, ...]
    intercepts: Array
    weights: Array
    """One row a feature, one column a class."""
    thresholds: Mapping[str, float]
    held_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Counts by route on questions that it was not fitted to; see `safety_fit.measure`."""

    @classmethod
    def load(cls, path: Path) -> SafetyClassifier | None:
        """Read a model file; None where the encoder has none. Raises ValueError when the file is broken."""
        return cls.from_row(json.loads(path.read_text("utf-8"))) if path.is_file() else None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> SafetyClassifier:
        """Build the model from its parsed file. Raises ValueError when the shapes do not agree."""
        weights, intercepts = np.array(row["weights"], dtype=np.float64), np.array(row["intercepts"], dtype=np.float64)
        if weights.shape[1:] != intercepts.shape or len(intercepts) != len(row["routes"]) + 1:
            raise ValueError("The safety model's weights do not fit its routes")
        return cls(
            tuple(row["routes"]), tuple(row["lists"]), intercepts, weights, row["thresholds"], row.get("held_out", {})
        )

    def probabilities(self, vector: Sequence[float], words: Sequence[str], found: Collection[str]) -> Array:
        """Return the chance of "none" and of each route; they sum to 1."""
        return softmax(self.intercepts + features(vector, words, found, self.lists) @ self.weights)

    def route_of(self, probabilities: Array) -> str | None:
        """Return the likeliest route where the chance of any is at its threshold or above; None otherwise."""
        route = self.routes[int(np.argmax(probabilities[1:]))]
        return route if 1 - probabilities[0] >= self.thresholds[route] else None


def softmax(scores: Array) -> Array:
    """Return the chances of the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), dtype=np.float64)
