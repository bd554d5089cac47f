"""The best texts of each study and kind, as PostgreSQL packs them: at most one row for each, at any size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corpus_app import records
from corpus_app.records import TextKind

PASSAGE = "passage"
KINDS = (*(kind.value for kind in TextKind), PASSAGE)
"""The kinds of text; packed rows hold a kind's index in this tuple."""
PASSAGE_CODE = KINDS.index(PASSAGE)

DECIMALS = records.COSINE_DECIMALS  # scores are rounded, so that the order of summation cannot decide between equals
SCALE = 10**DECIMALS
"""Cosines are packed as whole numbers of 1 / SCALE."""
TOP = 3
MISSING = -(2**31)
"""Packed for a cosine of the best three, where there are fewer texts."""

Key = tuple[int, int]
"""The primary key of a study, and the code of a kind."""


@dataclass(frozen=True, slots=True)
class BestText:
    """The text of one kind of one study that has the best cosine to the main formulation."""

    text: int
    cosine: float
    top3: float | None
    """Mean of the three best cosines; None when there are fewer texts."""
    others: tuple[float, ...]
    """Best cosines to the further formulations."""


def unpack_words(packed: bytes | None) -> dict[Key, tuple[int, float]]:
    """Return the text with the best BM25 of each study and kind, and its score."""
    rows = np.frombuffer(packed or b"", [("text", ">i8"), ("study", ">i8"), ("kind", ">i2"), ("score", ">f8")])
    scores = rows["score"].astype(np.float64).round(DECIMALS)
    columns = (rows["study"].tolist(), rows["kind"].tolist(), rows["text"].tolist(), scores.tolist())
    return {(study, kind): (text, score) for study, kind, text, score in zip(*columns, strict=True)}


def unpack_meaning(packed: bytes | None, formulations: int) -> dict[Key, BestText]:
    """Return the text with the best cosine of each study and kind."""
    row_type = [("text", ">i8"), ("study", ">i8"), ("kind", ">i2"), ("scores", ">i4", (TOP + formulations - 1,))]
    rows = np.frombuffer(packed or b"", np.dtype(row_type))
    scores = rows["scores"] / SCALE
    means = scores[:, :TOP].mean(axis=1)
    is_full = rows["scores"][:, TOP - 1] != MISSING
    return {
        (study, kind): BestText(text, own[0], mean if full else None, tuple(own[TOP:]))
        for study, kind, text, own, mean, full in zip(
            rows["study"].tolist(), rows["kind"].tolist(), rows["text"].tolist(), scores.tolist(), means.tolist(),
            is_full.tolist(), strict=True,
        )
    }  # fmt: skip


def unpack_near(packed: bytes | None) -> list[tuple[int, int, float]]:
    """Return the texts of the nearest curated questions, their studies and cosines, the nearest first."""
    rows = np.frombuffer(packed or b"", [("text", ">i8"), ("study", ">i8"), ("score", ">i4")])
    return list(zip(rows["text"].tolist(), rows["study"].tolist(), (rows["score"] / SCALE).tolist(), strict=True))
