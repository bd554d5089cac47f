"""Stand-ins with the methods of the real thing: quick, deterministic, without a model."""

import hashlib
import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from corpus_app.embedding import Matrix

_WORD = re.compile(r"\w+")


class WordHashEncoder:
    """Each word points somewhere of its own, so texts that share words are near each other."""

    def __init__(self, name: str = "word-hash@test", dimensions: int = 64) -> None:
        self.name = name
        self.dimensions = dimensions
        self.calls: list[tuple[str, ...]] = []

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        self.calls.append(tuple(texts))
        rows = np.array([self._row(text) for text in texts], dtype=np.float32).reshape(len(texts), self.dimensions)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / lengths, dtype=np.float32)

    def _row(self, text: str) -> Matrix:
        words = _WORD.findall(text.lower()) or [""]
        return np.asarray(sum(_direction(word, self.dimensions) for word in words), dtype=np.float32)


@cache
def _direction(word: str, dimensions: int) -> Matrix:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
