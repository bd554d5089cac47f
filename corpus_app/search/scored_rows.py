"""Scored texts as columns, and the best of each study and kind among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_app import records
from corpus_app.records import TextKind

PASSAGE = "passage"
KINDS = (*(kind.value for kind in TextKind), PASSAGE)
"""The kinds of text; packed rows hold a kind's index in this tuple."""
PASSAGE_CODE = KINDS.index(PASSAGE)

DECIMALS = records.COSINE_DECIMALS  # scores are rounded, so that the order of summation cannot decide between equals

_PACKED_TYPE = np.dtype([("text", ">i8"), ("study", ">i8"), ("kind", ">i4"), ("score", ">f8")])


@dataclass(frozen=True, slots=True)
class Rows:
    """Scored texts, as columns."""

    text: NDArray[np.int64]
    study: NDArray[np.int64]
    kind: NDArray[np.int64]
    score: NDArray[np.float64]

    @classmethod
    def unpack(cls, packed: bytes | None) -> Rows:
        rows = np.frombuffer(packed or b"", _PACKED_TYPE)
        return cls(
            rows["text"].astype(np.int64),
            rows["study"].astype(np.int64),
            rows["kind"].astype(np.int64),
            rows["score"].astype(np.float64).round(DECIMALS),
        )

    @classmethod
    def unpack_formulations(cls, packed: bytes | None, count: int) -> tuple[Rows, ...]:
        """Return the rows once for each formulation, with its scores."""
        row_type = np.dtype([("text", ">i8"), ("study", ">i8"), ("kind", ">i4"), ("scores", ">f8", (count,))])
        rows = np.frombuffer(packed or b"", row_type)
        text, study, code = (rows[name].astype(np.int64) for name in ("text", "study", "kind"))
        scores = rows["scores"].astype(np.float64).round(DECIMALS).reshape(-1, count)
        return tuple(cls(text, study, code, scores[:, place]) for place in range(count))

    def __getitem__(self, places: NDArray[Any]) -> Rows:
        return Rows(self.text[places], self.study[places], self.kind[places], self.score[places])

    def studies_of_best(self, limit: int) -> NDArray[np.int64]:
        """Return the studies of the `limit` highest rows of each kind, ties with the last included."""
        best = [np.empty(0, np.int64)]
        for kind in range(len(KINDS)):
            own = np.flatnonzero(self.kind == kind)
            if len(own) > limit:
                lowest = np.partition(self.score[own], len(own) - limit)[len(own) - limit]
                own = own[self.score[own] >= lowest]
            best.append(self.study[own])
        return np.unique(np.concatenate(best))

    def best_of(self, studies: NDArray[np.int64]) -> Rows:
        """Return the highest row of each study and kind; of equals, the one with the lowest id."""
        own = self[np.isin(self.study, studies)]
        group = own.study * len(KINDS) + own.kind
        order = np.lexsort((own.text, -own.score, group))
        return own[order[np.unique(group[order], return_index=True)[1]]]

    def best_of_kind(self, kind: int, studies: NDArray[np.int64], limit: int) -> Rows:
        """Return the `limit` highest rows of a kind among these studies, the highest first."""
        own = self[(self.kind == kind) & np.isin(self.study, studies)]
        return own[np.lexsort((own.text, -own.score))[:limit]]

    def means_of_best(self, studies: NDArray[np.int64], count: int = 3) -> dict[tuple[int, int], float]:
        """Return the mean of the `count` highest scores by study and kind, left out where there are fewer."""
        own = self[np.isin(self.study, studies)]
        group = own.study * len(KINDS) + own.kind
        own = own[np.lexsort((-own.score, group))]
        groups, starts, counts = np.unique(np.sort(group), return_index=True, return_counts=True)
        enough = counts >= count
        places = starts[enough, None] + np.arange(count)
        means = own.score[places].mean(axis=1).tolist()
        keys = (divmod(key, len(KINDS)) for key in groups[enough].tolist())
        return dict(zip(keys, means, strict=True))
