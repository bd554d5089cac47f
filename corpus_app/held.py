"""Both legs of a search over what this process holds of one corpus version, instead of what PostgreSQL reads for each question.

Held are the vectors of all searchable passages, by one encoder, and of the lexemes that questions had so far the passages that have
them. They follow from the words of that version; only vectors embedded anew by the same encoder come without another one, so what
is held is read again after a while (`search` says when). PostgreSQL reads the question's lexemes and gives the postings of those that
are new. Nothing is held of a large corpus, nor while a passage waits for its vector: `legs` does all of it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from corpus_app import legs, models, records, wire

# Their vectors take 30 MB, and all the lexemes they could be asked for about 20. In a larger corpus an index finds the nearest.
PASSAGES_MOST = models.ANN_FROM

Rows = NDArray[np.int32]
Frequencies = NDArray[np.float64]


class Outdated(Exception):
    """PostgreSQL knows of passages that are not held."""


@dataclass(frozen=True, slots=True)
class Passages:
    """Those that are searchable at one corpus version, in the order of their ids. A row is the place of a passage among them."""

    encoder: str
    version: int
    ids: legs.Ids
    collections: NDArray[np.object_]
    lengths: legs.Scores
    vector_of: Rows
    """Of each passage the place of its vector among"""
    vectors: NDArray[np.float32]
    """all that differ (vectors x dimensions; see `wire.places`)."""
    postings: dict[str, tuple[Rows, Frequencies]] = field(default_factory=dict)
    """Of a lexeme that was asked for the passages that have it, and how often they do."""

    def find(
        self, text: str, encode: legs.Encode, *, collection: str | None, limit: int, k1: float, b: float
    ) -> records.Found | None:
        """As `legs.find` says; None for a vector that these cannot be compared with. Raises DatabaseError, Outdated."""
        with wire.together(settings={}, is_planned_once=True) as send:
            asked = send(legs.LEXEMES, legs.lexeme_parameters(text))
            vector, dense_error = encode()  # while PostgreSQL reads the words
            lexemes, weights = wire.row_of(asked)
            wanted = dict(zip(lexemes or (), weights or (), strict=True))
            own = {lexeme: found for lexeme in wanted if (found := self.postings.get(lexeme)) is not None}
            missing = [lexeme for lexeme in wanted if lexeme not in own]
            sent = send(_POSTINGS, {"lexemes": missing}) if missing else None
            cosines = None if vector is None or not self.fits(vector) else self._cosines(vector)
        if vector is not None and cosines is None:
            return None
        if sent is not None:
            new = {lexeme: self._read(rows) for lexeme, rows in sent.fetchall()}
            self.postings.update(new)  # what stands nowhere is not kept: readers may write anything
            own |= dict.fromkeys(missing, _NOWHERE) | new
        bm25 = self._bm25(wanted, own, k1=k1, b=b)
        here = None if collection is None else self.collections == collection
        return legs.picked(
            self.ids,
            bm25,
            cosines,
            here,
            limit,
            version=self.version,
            document_frequency=tuple((lexeme, len(own[lexeme][0])) for lexeme in wanted),
            dense_error=None if vector is not None else dense_error or legs.NO_VECTOR,
        )

    def fits(self, vector: Sequence[float]) -> bool:
        """Whether they can be compared with this vector: PostgreSQL says why not."""
        is_own = not isinstance(vector, legs.QuestionVector) or vector.encoder == self.encoder
        return is_own and self.vectors.shape[1] == len(vector) and bool(np.isfinite(vector).all())

    def _cosines(self, vector: Sequence[float]) -> legs.Scores:
        question = np.asarray(vector, np.float16).astype(np.float32)
        products = (self.vectors @ question).astype(np.float64)
        return np.round(products, records.COSINE_DECIMALS)[self.vector_of]

    def _bm25(
        self, wanted: dict[str, float], own: dict[str, tuple[Rows, Frequencies]], *, k1: float, b: float
    ) -> legs.Scores:
        """In the form that `legs` has; zero where none of the words stands."""
        scores = np.zeros(len(self.ids))
        norms = k1 * (1 - b) + k1 * b / (self.lengths.mean() or 1.0) * self.lengths
        for lexeme, weight in wanted.items():
            rows, frequencies = own[lexeme]
            idf = weight * np.log1p((len(self.ids) - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += idf * (frequencies / (frequencies + norms[rows]))
        return np.asarray(np.rint(1e9 * scores) / 1e9)

    def _read(self, sent: bytes) -> tuple[Rows, Frequencies]:
        found = np.frombuffer(sent, legs.WEIGHTS)
        rows = np.searchsorted(self.ids, found["id"])
        if not np.array_equal(self.ids.take(rows, mode="clip"), found["id"]):
            raise Outdated
        return rows.astype(np.int32), found["score"].astype(np.float64)


_NOWHERE = (np.empty(0, np.int32), np.empty(0, np.float64))


def are_few() -> bool:
    """Whether there are searchable passages in the present corpus version, and so few that they can be held."""
    with connection.cursor() as cursor:
        cursor.execute(_FEW, [PASSAGES_MOST + 1])
        return bool(0 < cursor.fetchone()[0] <= PASSAGES_MOST)


def read(encoder: str, version: int) -> Passages | None:
    """As the snapshot has them, where they `are_few`; None while one waits for its vector. Raises DatabaseError."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, [encoder, encoder])
        if cursor.fetchone() != (False,):
            return None
        cursor.execute(_ROWS, [encoder])
        rows = cursor.fetchall()
    if not rows or len({len(sent) for *_, sent in rows}) > 1:
        return None  # of other dimensions: PostgreSQL says so
    return _held(encoder, version, rows)


def _held(encoder: str, version: int, rows: list[Any]) -> Passages:
    place_of = wire.places(sent for *_, sent in rows)
    vectors = np.frombuffer(b"".join(sent[wire.VECTOR_HEADER_BYTES :] for sent in place_of), ">f2")
    return Passages(
        encoder,
        version,
        np.array([pk for pk, *_ in rows], np.int64),
        np.array([collection for _, collection, *_ in rows], np.object_),
        np.array([length for _, _, length, _ in rows], np.float64),
        np.array([place_of[sent] for *_, sent in rows], np.int32),
        vectors.reshape(len(place_of), -1).astype(np.float32),
    )


_FEW = """
    SELECT count(*) FROM (SELECT FROM corpus_app_passageterm WHERE lexeme = '' LIMIT %s) AS passages
"""
_WAITING = """
    SELECT (SELECT count(*) FROM corpus_app_passageterm WHERE lexeme = '')
           IS DISTINCT FROM (SELECT count(*) FROM corpus_app_passagevector WHERE encoder = %s AND searchable)
           OR EXISTS (
               SELECT FROM corpus_app_passageterm t WHERE lexeme = '' AND NOT EXISTS (
                   SELECT FROM corpus_app_passagevector v WHERE v.passage_id = t.passage_id AND v.encoder = %s AND v.searchable
               )
           )
"""
_ROWS = """
    SELECT v.passage_id, v.collection_id, t.length, halfvec_send(v.vector)
    FROM corpus_app_passagevector v
    JOIN corpus_app_passageterm t ON t.passage_id = v.passage_id AND t.lexeme = ''
    WHERE v.encoder = %s AND v.searchable
    ORDER BY v.passage_id
"""
_POSTINGS = """
    SELECT lexeme, string_agg(int8send(passage_id) || float8send(frequency), '')
    FROM corpus_app_passageterm WHERE lexeme = ANY(%(lexemes)s::text[]) GROUP BY lexeme
"""
