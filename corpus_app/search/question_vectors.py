"""Question vectors, and the encoder that questions and passages are compared by."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db import connection

from corpus_app import embedding
from corpus_app.search import versions

PREPARATION_SECONDS = 60.0
POLL_SECONDS = 0.25

_ENCODERS = """
    SELECT encoder FROM corpus_app_passagevector WHERE searchable
    GROUP BY encoder ORDER BY count(*) DESC, encoder = %s DESC, encoder
"""
_settled_encoder = (
    ""  # the active encoder, once most vectors come from it: no other encoder overtakes it in this process
)


class QuestionVector(tuple[float, ...]):
    """A unit vector with the name of its encoder; a search compares it with vectors of that encoder only."""

    encoder: str


def encoder_name() -> str:
    """Return the name of the encoder that search uses, without loading it.

    It is the encoder of most searchable passages. While a new encoder embeds them, the old one stays in use until the
    new one has most of them.
    """
    known = versions.snapshot_encoder.get()
    if known is None:
        return _find_encoder()
    if not known:
        known.append(_find_encoder())
    return known[0]


def encode_question(text: str) -> QuestionVector:
    """Return the vector of a question. Raises EncoderUnavailable when the encoder cannot be loaded."""
    return encode_questions([text])[0]


def encode_questions(texts: Sequence[str]) -> list[QuestionVector]:
    """Return the vectors of several questions. Raises EncoderUnavailable when the encoder cannot be loaded."""
    encoder = embedding.get(encoder_name())
    return [_vector(encoder, row) for row in encoder.encode(texts, threads=embedding.THREADS)]


def mean_vector(vectors: Sequence[Sequence[float]]) -> QuestionVector:
    """Return the unit vector of the mean of question vectors of one encoder."""
    total = np.sum(np.asarray(vectors, np.float64), axis=0)
    mean = QuestionVector((total / (np.linalg.norm(total) or 1.0)).tolist())
    mean.encoder = encoder_of(vectors[0])
    return mean


def encoder_of(vector: Sequence[float] | None) -> str:
    """Return the encoder of a question vector; for any other vector, and None, the one in use."""
    return vector.encoder if isinstance(vector, QuestionVector) else encoder_name()


def warm_up() -> None:
    """Load the encoder before the first question.

    Raises EncoderUnavailable when the encoder cannot be loaded. In a new installation, wait for the worker to choose
    between the compressed and the original encoder: loading the wrong one would waste time and memory.
    """
    deadline = time.monotonic() + PREPARATION_SECONDS
    while not embedding.is_prepared() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    try:
        # One text and several texts take different code paths.
        encode_questions(["How many books a week?", "How much shade a day?"])
        encode_question("How many books a week?")
    finally:
        if not connection.in_atomic_block:
            connection.close()  # the site runs this in a thread of its own, whose connection nobody else would close


def _find_encoder() -> str:
    global _settled_encoder
    active = embedding.active_name()
    if embedding.is_overridden() or _settled_encoder == active:
        return active
    with connection.cursor() as cursor:
        cursor.execute(_ENCODERS, [active])
        found = [name for (name,) in cursor.fetchall()]
    if found[:1] == [active]:
        _settled_encoder = active
    return found[0] if found else active


def _vector(encoder: embedding.Encoder, row: Any) -> QuestionVector:
    vector = QuestionVector(row.tolist())
    vector.encoder = encoder.name
    return vector
