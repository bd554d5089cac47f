"""Hybrid search over passages: BM25 by words and cosine by meaning, in one statement.

PostgreSQL scores every candidate of both halves and returns ids and scores as arrays. The best are selected here, which
takes a fraction of the time PostgreSQL needs to sort and join thousands of rows.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import DatabaseError
from numpy.typing import NDArray

from common import pipelining
from corpus_app import models, records
from corpus_app.models import TEXT_SEARCH_CONFIG, SearchText
from corpus_app.search.question_vectors import QuestionVector, encoder_name

# BM25's saturation of repeated words (1.2 is usual) and its length normalisation (.75 is usual). Best of a grid on
# SciFact and Qasper; short passages repeat little.
K1 = 0.7
B = 0.6
K3 = 4.0  # saturation of words that the question repeats: twice counts 1.67 times once (Okapi at TREC-3, 1994)
NO_VECTOR = "The question has no vector."

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]

# An id and its score, as packed by PostgreSQL: it writes thousands of them as one value much faster than as an array.
WEIGHTS = np.dtype([("id", ">i8"), ("score", ">f8")])
COSINES = np.dtype([("id", ">i8"), ("score", ">f4")])


def find(
    text: str,
    vector: Sequence[float] | None,
    *,
    collection: str | None = None,
    study_ids: Sequence[str] | None = None,
    limit: int = 200,
    dense_error: str | None = None,
    k1: float = K1,
    b: float = B,
) -> records.Found:
    """Return the best `limit` passages by BM25 over any of the question's words, and the best by cosine to its vector.

    Each hit has the raw scores of both halves. Without a vector the dense half is missing, for the reason
    `dense_error`. A half that fails is named in the result, and the other still answers. Raises DatabaseError when both
    fail. With `study_ids`, only passages of these studies are found. `k1` and `b` are those of BM25.
    """
    encoder = encoder_name()
    parameters = {
        **lexeme_parameters(text),
        "encoder": encoder,
        "collection": collection,
        "study_ids": None if study_ids is None else list(study_ids),
        "limit": limit,
        "k1": k1,
        "b": b,
        **_corpus.known(),
    }
    if vector is None:
        return _find_by_words(parameters, limit, dense_error)
    ef_search = _ef_search(encoder, collection) if _corpus.passages >= models.ANN_FROM else None
    dense = _exact(parameters, vector) if ef_search is None else _approximate(parameters, vector, ef_search)
    try:
        return _found(_run(_LEXICAL, dense, parameters), limit)
    except DatabaseError:
        return _find_by_one_half(parameters, dense, limit)


def lexeme_parameters(text: str) -> dict[str, Any]:
    """Return the parameters of the SQL fragment `QUESTION`, which parses a question into weighted lexemes."""
    return {"text": text, "k3": K3, "config": TEXT_SEARCH_CONFIG}


def _find_by_words(parameters: dict[str, Any], limit: int, reason: str | None) -> records.Found:
    return _found(_run(_LEXICAL, _NO_DENSE, parameters), limit, dense_error=reason or NO_VECTOR)


def _find_by_one_half(parameters: dict[str, Any], dense: str, limit: int) -> records.Found:
    try:
        return _find_by_words(parameters, limit, "The search by meaning failed.")
    except DatabaseError:
        return _found(_run(_NO_LEXICAL, dense, parameters), limit, lexical_error="The search by words failed.")


def _exact(parameters: dict[str, Any], vector: Sequence[float]) -> str:
    """Return the SQL of the dense half as a scan of every vector; add the vector to the parameters."""
    _add_vector(parameters, vector)
    return _DENSE


def _approximate(parameters: dict[str, Any], vector: Sequence[float], ef_search: int) -> str:
    """Return the SQL of the dense half by an HNSW index; add the vector to the parameters."""
    _add_vector(parameters, vector)
    parameters["ef_search"] = ef_search
    parameters["opposite"] = _half_precision([-number for number in vector])
    return _APPROXIMATE.replace("{dimensions}", str(len(vector)))


def _add_vector(parameters: dict[str, Any], vector: Sequence[float]) -> None:
    parameters["vector"] = _half_precision(vector)
    if isinstance(vector, QuestionVector):
        parameters["encoder"] = vector.encoder


def _half_precision(vector: Sequence[float]) -> pipelining.Packed:
    return pipelining.Packed(vector, ">f2")


@dataclass(frozen=True, slots=True)
class _Corpus:
    """The number of searchable passages and their mean length, as this process last counted them.

    The statement reuses them when its snapshot has the same corpus version, and counts again otherwise.
    """

    number: int | None = None
    at: datetime.datetime | None = None
    passages: int = 0
    mean_length: float = 0.0

    def known(self) -> dict[str, Any]:
        return {f"known_{name}": getattr(self, name) for name in ("number", "at", "passages", "mean_length")}


_corpus = _Corpus()


def _ef_search(encoder: str, collection: str | None) -> int | None:
    """Return the measured `ef_search` of the approximate index; None where there is no index."""
    name = models.PassageVector.ann_index(encoder, collection)
    row = pipelining.first_row(_EF_SEARCH, {"name": name})
    return None if row is None or row[0] is None else int(row[0])


_EF_SEARCH = "SELECT ef_search FROM corpus_app_approximateindex WHERE name = %(name)s"


# BM25 in Lucene's form, as bm25s computes it. All statistics are those of the whole searchable corpus, even in a
# collection. The rows of the empty lexeme give the number of passages and their lengths (see indexing.sync). What
# depends on the corpus or a lexeme alone is computed once, not for each of thousands of postings.
_VERSION = """
    WITH version AS MATERIALIZED (
        SELECT number, at FROM corpus_app_corpusversion ORDER BY number DESC LIMIT 1
    ),
"""
QUESTION = """
        SELECT lexeme,
               (%(k3)s::float8 + 1) * cardinality(positions) / (%(k3)s::float8 + cardinality(positions)) AS weight
        FROM unnest(to_tsvector(%(config)s::regconfig, {shadow}))
""".replace("{shadow}", SearchText.template % {"expressions": "%(text)s::text"})
_LEXICAL = """
    question AS MATERIALIZED ({question}),
    known AS MATERIALIZED (
        SELECT %(known_passages)s::bigint AS passages, %(known_mean_length)s::float8 AS mean_length
        FROM version WHERE (number, at) = (%(known_number)s::bigint, %(known_at)s::timestamptz)
    ),
    counted AS MATERIALIZED (
        SELECT * FROM known
        UNION ALL
        SELECT count(*), coalesce(avg(length), 0)
        FROM corpus_app_passageterm WHERE lexeme = '' AND NOT EXISTS (SELECT FROM known)
        HAVING NOT EXISTS (SELECT FROM known)
    ),
    corpus AS MATERIALIZED (
        SELECT passages, mean_length, %(k1)s::float8 * (1 - %(b)s::float8) AS base,
               %(k1)s::float8 * %(b)s::float8 / coalesce(nullif(mean_length, 0), 1) AS per_length
        FROM counted
    ),
    rarity AS MATERIALIZED (
        SELECT lexeme, postings.passages,
               weight * ln(1 + ((SELECT passages FROM corpus) - postings.passages + 0.5::float8)
                               / (postings.passages + 0.5::float8)) AS idf
        FROM question
        CROSS JOIN LATERAL (
            SELECT count(*) AS passages FROM corpus_app_passageterm t WHERE t.lexeme = question.lexeme
        ) postings
    ),
    lexical AS (
        -- Rounded, so that the order of summation cannot decide between equals.
        SELECT passage_id, round(1e9::float8 * sum(
            idf * frequency / (frequency + (SELECT base FROM corpus) + (SELECT per_length FROM corpus) * length)
        )) / 1e9::float8 AS bm25
        FROM rarity
        JOIN corpus_app_passageterm t USING (lexeme)
        WHERE true {limits}
        GROUP BY passage_id
    ),
""".replace("{question}", QUESTION)
_NO_LEXICAL = """
    corpus AS (SELECT 0::bigint AS passages, 0::float8 AS mean_length),
    rarity AS (SELECT NULL::text AS lexeme, 0::bigint AS passages WHERE false),
    lexical AS (SELECT NULL::bigint AS passage_id, NULL::float8 AS bm25 WHERE false),
"""
_DENSE = """
    dense AS (
        SELECT passage_id, -(vector <#> %(vector)s::halfvec) AS cosine
        FROM corpus_app_passagevector WHERE encoder = %(encoder)s AND searchable {limits}
    )
"""
# The nearest passages by HNSW, and the best by words. Fusion needs the lowest cosine of all, which would take a full
# scan: the passage nearest to the opposite of the question approximates it.
_APPROXIMATE = """
    vectors AS NOT MATERIALIZED (
        SELECT passage_id, vector::halfvec({dimensions}) AS vector
        FROM corpus_app_passagevector WHERE encoder = %(encoder)s AND searchable {limits}
    ),
    dense AS (
        (SELECT passage_id, -(vector <#> %(vector)s::halfvec) AS cosine
         FROM vectors ORDER BY vector <#> %(vector)s::halfvec LIMIT %(limit)s)
        UNION
        (SELECT passage_id, -(vector <#> %(vector)s::halfvec)
         FROM (SELECT passage_id FROM lexical ORDER BY bm25 DESC, passage_id LIMIT %(limit)s) best
         JOIN vectors USING (passage_id))
        UNION
        (SELECT passage_id, -(vector <#> %(vector)s::halfvec)
         FROM (SELECT * FROM vectors ORDER BY vector <#> %(opposite)s::halfvec LIMIT 1) farthest)
    )
"""
_IN_COLLECTION = " AND collection_id = %(collection)s"
_OF_STUDIES = """ AND passage_id IN (
    SELECT p.id FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id
    WHERE s.study_id = ANY(%(study_ids)s::text[])
)"""
_NO_DENSE = """
    dense AS (SELECT NULL::bigint AS passage_id, NULL::float8 AS cosine WHERE false)
"""
_BOTH = """
    SELECT (SELECT number FROM version), (SELECT at FROM version), corpus.passages, corpus.mean_length,
           (SELECT array_agg(lexeme ORDER BY lexeme) FROM rarity),
           (SELECT array_agg(passages ORDER BY lexeme) FROM rarity),
           words.*, meaning.*
    FROM corpus
    CROSS JOIN (SELECT string_agg(int8send(passage_id) || float8send(bm25), '') FROM lexical) AS words
    CROSS JOIN (SELECT string_agg(int8send(passage_id) || float4send(cosine::float4), '') FROM dense) AS meaning
"""
# Starting a parallel worker or the JIT takes longer than the search, and planning it nearly as long. The exact search
# is planned once per connection. The approximate one is planned each time: each index is for one encoder and
# collection.
_SETTINGS = {"max_parallel_workers_per_gather": "0", "jit": "off"}
_EXACT_SETTINGS = _SETTINGS | {"plan_cache_mode": "force_generic_plan"}
_ANN_SETTINGS = _SETTINGS | {
    "plan_cache_mode": "auto",
    "hnsw.iterative_scan": "strict_order",
}


def _run(lexical: str, dense: str, parameters: dict[str, Any]) -> tuple[Any, ...]:
    is_exact = "ef_search" not in parameters
    settings = _EXACT_SETTINGS if is_exact else _ANN_SETTINGS | {"hnsw.ef_search": str(parameters["ef_search"])}
    with pipelining.snapshot_pipeline(settings=settings, is_planned_once=is_exact) as send:
        cursor = send(_limited(_VERSION + lexical + dense + _BOTH, parameters), parameters)
    return pipelining.single_row(cursor)


def _limited(statement: str, parameters: dict[str, Any]) -> str:
    """Limit the statement to a collection and to studies, where the parameters name any."""
    in_collection = "" if parameters["collection"] is None else _IN_COLLECTION
    of_studies = "" if parameters["study_ids"] is None else _OF_STUDIES
    return statement.replace("{limits}", in_collection + of_studies)


# --- Select the best --------------------------------------------------------------------------------------------------


def _found(
    row: tuple[Any, ...], limit: int, *, lexical_error: str | None = None, dense_error: str | None = None
) -> records.Found:
    global _corpus
    number, at, passages, mean_length, lexemes, counts, by_words, by_meaning = row
    words, meaning = _Scored.unpack(by_words, WEIGHTS), _Scored.unpack(by_meaning, COSINES)
    meaning = _Scored(meaning.ids, np.round(meaning.scores, records.COSINE_DECIMALS))
    if lexical_error is None:
        _corpus = _Corpus(number, at, passages, mean_length)
    return records.Found(
        hits=_hits(words, meaning, limit),
        lexical=records.Leg(
            lexical_error is None, len(words.ids), lexical_error, _lowest(words, meaning), words.highest
        ),
        dense=records.Leg(dense_error is None, len(meaning.ids), dense_error, meaning.lowest, meaning.highest),
        corpus_version=number or 0,
        lexemes=() if counts is None else tuple(lexemes),
        document_frequency=() if counts is None else tuple(zip(lexemes, counts.tolist(), strict=True)),
        searchable_passages=passages,
    )


@dataclass(frozen=True, slots=True)
class _Scored:
    """All candidates of one half and their scores, unordered."""

    ids: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    scores: Scores = field(default_factory=lambda: np.empty(0, np.float64))

    @classmethod
    def unpack(cls, packed: bytes | None, row_type: np.dtype[np.void]) -> _Scored:
        if packed is None:
            return cls()
        rows = np.frombuffer(packed, row_type)
        return cls(rows["id"].astype(np.int64), rows["score"].astype(np.float64))

    @property
    def lowest(self) -> float:
        return float(self.scores.min()) if len(self.scores) else 0.0

    @property
    def highest(self) -> float:
        return float(self.scores.max()) if len(self.scores) else 0.0

    def best(self, limit: int) -> Ids:
        """Return the ids of the `limit` highest scores, unordered; of equals, the lowest ids."""
        ids, scores = self.ids, self.scores
        if len(ids) <= limit:
            return ids
        threshold = np.partition(scores, len(scores) - limit)[len(scores) - limit] if limit else np.inf
        among = np.flatnonzero(scores >= threshold)
        return ids[among[np.lexsort((ids[among], -scores[among]))[:limit]]]

    def scores_of(self, wanted: Ids) -> Scores:
        """Return the scores of these ascending ids; NaN for an id that is no candidate."""
        found = np.full(len(wanted), np.nan)
        among = np.flatnonzero(np.isin(self.ids, wanted))
        found[np.searchsorted(wanted, self.ids[among])] = self.scores[among]
        return found


def _hits(words: _Scored, meaning: _Scored, limit: int) -> records.Hits:
    """Return the best of both halves with both scores, ordered by words, then meaning, then id."""
    ids = np.union1d(words.best(limit), meaning.best(limit))
    bm25, cosines = words.scores_of(ids), meaning.scores_of(ids)
    order = np.lexsort((ids, -cosines, -bm25))  # NaN sorts last
    return records.Hits(ids[order], np.nan_to_num(bm25[order]), cosines[order])


def _lowest(words: _Scored, meaning: _Scored) -> float:
    """Return the lowest score by words among all candidates; a candidate without any of the words scores 0."""
    if len(meaning.ids) > len(words.ids) or not np.isin(meaning.ids, words.ids).all():
        return 0.0
    return words.lowest
