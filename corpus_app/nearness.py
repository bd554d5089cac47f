"""How close a question comes to what the studies found: their vectors, held in this process beside whose they are.

They follow from the words of a corpus version and the encoder, and there are hundreds of them: to compare them here takes a quarter
of the time that PostgreSQL takes to read them all. While one of them waits to be embedded, also one that was given up, nothing is
held, and PostgreSQL is asked. Vectors embedded anew by the same encoder are read with the next version, or the next start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from corpus_app import records, wire

FINDINGS_MOST = 2_000  # where there are more, each question asks for those of its studies
VECTORS_MOST = 10_000  # of findings and of the questions they are asked for by: 15 MB
PASSAGES_MOST = 10_000

Ids = NDArray[np.int64]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Findings:
    """Those of all searchable studies at one corpus version, by one encoder: a row for each vector, study by study."""

    studies: tuple[str, ...]
    starts: Ids
    """The first row of each study; of each row: """
    numbers: Ids
    """the finding's own place in its study, from 1,"""
    is_question: NDArray[np.bool_]
    """whether it is a question by which readers ask for the finding, not what that says,"""
    vector_of: Ids
    """and the place of its vector among"""
    vectors: Vectors
    """all that differ (vectors x dimensions; see `wire.places`)."""
    passages: Ids
    """Of these studies, in their order; for each of them: """
    study_of: Ids
    """the place of its study."""

    def fits(self, vector: Sequence[float]) -> bool:
        """Whether they can be compared with this vector: PostgreSQL says why not."""
        return not self.studies or (self.vectors.shape[1] == len(vector) and bool(np.isfinite(vector).all()))

    def near(self, vector: Sequence[float], passage_ids: Sequence[int]) -> tuple[records.NearFinding, ...]:
        """As `search.near_findings` says, for a vector that fits."""
        if not self.studies:
            return ()
        products = (self.vectors @ np.asarray(vector, np.float32)).astype(np.float64)
        cosines = np.round(products, records.COSINE_DECIMALS)[self.vector_of]
        sizes = np.diff(self.starts, append=len(cosines))
        closest = np.maximum.reduceat(cosines, self.starts)
        said = np.maximum.reduceat(np.where(self.is_question, -1.0, cosines), self.starts).tolist()
        is_asked = np.logical_or.reduceat(self.is_question, self.starts).tolist()
        at_closest = np.flatnonzero(cosines == np.repeat(closest, sizes))
        first = at_closest[np.searchsorted(at_closest, self.starts)]  # of equals the first finding
        numbers, best = self.numbers[first].tolist(), closest.tolist()
        return tuple(
            records.NearFinding(
                self.studies[place], numbers[place], best[place], ids, said[place] if is_asked[place] else None
            )
            for place, ids in self._by_study(passage_ids)
        )

    def _by_study(self, passage_ids: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
        """The place of each study that one of these passages is from, and which of them are, in their order."""
        found = np.flatnonzero(np.isin(self.passages, np.asarray(passage_ids, np.int64)))
        in_order = found[np.argsort(self.study_of[found], kind="stable")]
        places, starts = np.unique(self.study_of[in_order], return_index=True)
        ids, ends = self.passages[in_order].tolist(), pairwise([*starts.tolist(), len(in_order)])
        return [(place, tuple(ids[start:end])) for place, (start, end) in zip(places.tolist(), ends, strict=True)]


def are_few() -> bool:
    """Whether the findings of the present corpus version can be held."""
    with connection.cursor() as cursor:
        cursor.execute(_FEW, [FINDINGS_MOST + 1, PASSAGES_MOST + 1])
        findings, passages = cursor.fetchone()
        return bool(findings <= FINDINGS_MOST and passages <= PASSAGES_MOST)


def read(encoder: str) -> Findings | None:
    """As the snapshot has them, where they `are_few`; None while one waits for its vector."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, [encoder])
        waiting, vectors = cursor.fetchone()
        if waiting or vectors > VECTORS_MOST:
            return None
        cursor.execute(_ROWS, [encoder])
        rows = cursor.fetchall()
        if len({len(sent) for *_, sent in rows}) > 1:
            return None  # of other dimensions: PostgreSQL says so
        cursor.execute(_PASSAGES)
        return _held(rows, cursor.fetchall())


def _held(rows: list[Any], passages: list[tuple[int, str]]) -> Findings:
    studies = tuple(dict.fromkeys(study for study, *_ in rows))
    place_of = {study: place for place, study in enumerate(studies)}
    starts = np.unique(np.array([place_of[study] for study, *_ in rows], np.int64), return_index=True)[1]
    place_of_vector = wire.places(sent for *_, sent in rows)
    of_passages = sorted((pk, place_of[study]) for pk, study in passages)
    passage_ids, study_of = np.array(of_passages, np.int64).reshape(-1, 2).T
    return Findings(
        studies,
        starts,
        np.array([number for _, number, *_ in rows], np.int64),
        np.array([position > 0 for _, _, position, _ in rows], np.bool_),
        np.array([place_of_vector[sent] for *_, sent in rows], np.int64),
        np.array([wire.unpacked(sent) for sent in place_of_vector], np.float32).reshape(
            len(place_of_vector), -1 if rows else 0
        ),
        passage_ids,
        study_of,
    )


_SEARCHABLE = "s.status = 'published' AND s.notice <> 'retracted'"
_OF_THEM = """
    FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id
    WHERE {searchable} AND EXISTS (SELECT FROM corpus_app_finding f WHERE f.study_id = s.id)
""".replace("{searchable}", _SEARCHABLE)
_FEW = """
    SELECT (SELECT count(*) FROM (
                SELECT FROM corpus_app_study s JOIN corpus_app_finding f ON f.study_id = s.id WHERE {searchable} LIMIT %s
            ) AS findings),
           (SELECT count(*) FROM (SELECT {of_them} LIMIT %s) AS passages)
""".replace("{searchable}", _SEARCHABLE).replace("{of_them}", _OF_THEM)
# All vectors of a finding are written at once: one without any waits for all of them.
_VECTORS = """
    WITH vectors AS (
        SELECT s.study_id AS study, f.position + 1 AS number, v.position, v.vector
        FROM corpus_app_study s
        JOIN corpus_app_finding f ON f.study_id = s.id
        LEFT JOIN corpus_app_findingvector v
            ON v.finding_id = f.id AND v.encoder = %s AND v.content_hash = f.content_hash
        WHERE {searchable} AND NOT f.is_unconfirmed
    )
""".replace("{searchable}", _SEARCHABLE)
_WAITING = """
    {vectors} SELECT count(*) FILTER (WHERE position IS NULL), count(*) FROM vectors
""".replace("{vectors}", _VECTORS)
_ROWS = """
    {vectors} SELECT study, number, position, vector_send(vector) FROM vectors ORDER BY study, number, position
""".replace("{vectors}", _VECTORS)
_PASSAGES = """
    SELECT p.id, s.study_id {of_them}
""".replace("{of_them}", _OF_THEM)
