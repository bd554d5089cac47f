"""What every form of the encoder has in common."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

LONGEST_TEXT = 8_000  # characters; the model reads 256 tokens, its tokeniser would chew on all of them first

THREADS = min(2, os.cpu_count() or 1)
"""That one text is encoded by: two gain up to two fifths (without VNNI), and give the same vector to the last bit."""


class Encoder(Protocol):
    @property
    def name(self) -> str:
        """Which vectors these are: model and number format. Only vectors of one name are ever compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        """A row of unit length for each text."""
        ...


class EncoderUnavailable(Exception):
    """The encoder cannot be loaded; the message says why and what to do."""


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no reason given"])[0][:300]
