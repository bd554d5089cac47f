"""The two legs of a search, by words and by meaning, in one snapshot.

PostgreSQL scores every candidate of both legs and hands over ids and scores as arrays; the best are picked from them here,
which takes a fraction of what sorting and joining thousands of rows takes there.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import DatabaseError, connection
from numpy.typing import NDArray

from common import pipelining
from corpus_app import models, records
from corpus_app.models import ANN_EF, TEXT_SEARCH_CONFIG, SearchText

# BM25: how soon a word that a passage repeats counts no more (1.2 is usual), and how much it counts that the passage is long
# (.75 is usual). Best of a grid on SciFact and Qasper; short passages repeat little.
K1 = 0.7
B = 0.6
NO_VECTOR = "The question has no vector."
K3 = 4.0  # how soon a word that the question repeats counts no more: twice is 1.67 times once (Okapi at TREC-3, 1994)

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]

# How an id and its score are sent: thousands of them as one value, for arrays take PostgreSQL longer to write than the search.
WEIGHTS = np.dtype([("id", ">i8"), ("score", ">f8")])
COSINES = np.dtype([("id", ">i8"), ("score", ">f4")])


class QuestionVector(tuple[float, ...]):
    """A vector that knows the encoder it comes from: a search compares it with vectors of that one only."""

    encoder: str


def find(
    text: str,
    vector: Sequence[float] | None,
    *,
    encoder: str,
    collection: str | None,
    limit: int,
    dense_error: str | None = None,
    k1: float = K1,
    b: float = B,
) -> records.Found:
    """Return the best `limit` passages by words and by meaning, as `search.find` says.

    `encoder` names that of a vector that does not know its own. Raises DatabaseError where both halves fail.
    """
    parameters = {
        **lexeme_parameters(text),
        "encoder": encoder,
        "collection": collection,
        "limit": limit,
        "k1": k1,
        "b": b,
        **_corpus.known(),
    }
    if vector is None:
        return _find_by_words(parameters, limit, dense_error)
    is_approximate = _corpus.passages > models.ANN_FROM and _has_ann(encoder, collection)
    dense = _approximate(parameters, vector) if is_approximate else _exact(parameters, vector)
    try:
        return _found(_run(_LEXICAL, dense, parameters), limit)
    except DatabaseError:
        return _find_with_one_leg(parameters, dense, limit)


def lexeme_parameters(text: str) -> dict[str, Any]:
    """Return the parameters of a statement that reads a question's words."""
    return {"text": text, "k3": K3, "config": TEXT_SEARCH_CONFIG}


def _find_by_words(parameters: dict[str, Any], limit: int, why: str | None) -> records.Found:
    return _found(_run(_LEXICAL, _NO_DENSE, parameters), limit, dense_error=why or NO_VECTOR)


def _find_with_one_leg(parameters: dict[str, Any], dense: str, limit: int) -> records.Found:
    try:
        return _find_by_words(parameters, limit, "The search by meaning failed.")
    except DatabaseError:
        return _found(_run(_NO_LEXICAL, dense, parameters), limit, lexical_error="The search by words failed.")


def _exact(parameters: dict[str, Any], vector: Sequence[float]) -> str:
    """The dense leg by a scan of everything. What it needs of the vector joins the parameters."""
    _take(parameters, vector)
    return _DENSE


def _approximate(parameters: dict[str, Any], vector: Sequence[float]) -> str:
    """The dense leg by an index: in a large corpus that has one."""
    _take(parameters, vector)
    parameters["opposite"] = _half([-number for number in vector])
    return _APPROXIMATE.replace("{dimensions}", str(len(vector)))


def _take(parameters: dict[str, Any], vector: Sequence[float]) -> None:
    parameters["vector"] = _half(vector)
    if isinstance(vector, QuestionVector):
        parameters["encoder"] = vector.encoder


def _half(vector: Sequence[float]) -> pipelining.Packed:
    return pipelining.Packed(vector, ">f2")


@dataclass(frozen=True, slots=True)
class _Corpus:
    """How many searchable passages there are and how long they are on average, as the last search of this process found it.

    A search of the same corpus version takes it from here; it looks that up in its own snapshot, and counts anew where the
    version is another one, or where there is none yet.
    """

    number: int | None = None
    at: datetime.datetime | None = None
    passages: int = 0
    mean_length: float = 0.0

    def known(self) -> dict[str, Any]:
        return {f"known_{name}": getattr(self, name) for name in ("number", "at", "passages", "mean_length")}


_corpus = _Corpus()


def _has_ann(encoder: str, collection: str | None) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)",
            [models.PassageVector.ann_index(encoder, collection)],
        )
        return bool(cursor.fetchone() == (True,))


# BM25 in Lucene's form, as bm25s counts it. All statistics are those of the whole searchable corpus, also in a collection.
# The rows of the empty lexeme give the number of passages and their lengths (see indexing). What depends on the corpus or
# on a lexeme alone is worked out once, not for each of thousands of postings. `{in_collection}` is filled in last.
_VERSION = """
    WITH version AS MATERIALIZED (
        SELECT number, at FROM corpus_app_corpusversion ORDER BY number DESC LIMIT 1
    ),
"""
QUESTION = """
        SELECT lexeme, (%(k3)s::float8 + 1) * cardinality(positions) / (%(k3)s::float8 + cardinality(positions)) AS weight
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
        SELECT lexeme, standing.passages, weight
               * ln(1 + ((SELECT passages FROM corpus) - standing.passages + 0.5::float8) / (standing.passages + 0.5::float8)) AS idf
        FROM question
        CROSS JOIN LATERAL (
            SELECT count(*) AS passages FROM corpus_app_passageterm t WHERE t.lexeme = question.lexeme
        ) standing
    ),
    lexical AS (
        -- Rounded, so that the order in which rows are added up cannot decide between equals.
        SELECT passage_id, round(1e9::float8 * sum(
            idf * frequency / (frequency + (SELECT base FROM corpus) + (SELECT per_length FROM corpus) * length)
        )) / 1e9::float8 AS bm25
        FROM rarity
        JOIN corpus_app_passageterm t USING (lexeme)
        WHERE true {in_collection}
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
        FROM corpus_app_passagevector WHERE encoder = %(encoder)s AND searchable {in_collection}
    )
"""
# The nearest by HNSW, and those that the words found. The lowest cosine of all, which the fusion needs, would take a scan
# of everything: in its place stands that of the passage found nearest to the opposite of the question.
_APPROXIMATE = """
    vectors AS NOT MATERIALIZED (
        SELECT passage_id, vector::halfvec({dimensions}) AS vector
        FROM corpus_app_passagevector WHERE encoder = %(encoder)s AND searchable {in_collection}
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
_IN_COLLECTION = "AND collection_id = %(collection)s"
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
# To start a helper or a compiler takes longer than the whole search, and to plan it nearly as long: the exact search is
# planned once a connection. The approximate one is planned each time, for its indexes hold for one encoder and collection.
_SETTINGS = {"max_parallel_workers_per_gather": "0", "jit": "off"}
_EXACT_SETTINGS = _SETTINGS | {"plan_cache_mode": "force_generic_plan"}
_ANN_SETTINGS = _SETTINGS | {
    "plan_cache_mode": "auto",
    "hnsw.ef_search": str(ANN_EF),
    "hnsw.iterative_scan": "strict_order",
}


def _run(lexical: str, dense: str, parameters: dict[str, Any]) -> tuple[Any, ...]:
    """Both legs by one statement."""
    is_exact = "opposite" not in parameters
    settings = _EXACT_SETTINGS if is_exact else _ANN_SETTINGS
    with pipelining.together(settings=settings, is_planned_once=is_exact) as send:
        cursor = send(_whole(lexical, dense, parameters), parameters)
    return pipelining.row_of(cursor)


def _whole(lexical: str, dense: str, parameters: dict[str, Any]) -> str:
    return _in_collection(_VERSION + lexical + dense + _BOTH, parameters)


def _in_collection(statement: str, parameters: dict[str, Any]) -> str:
    return statement.replace("{in_collection}", "" if parameters["collection"] is None else _IN_COLLECTION)


# --- Picking the best ---------------------------------------------------------------------------------------------------


def _found(
    row: tuple[Any, ...], limit: int, *, lexical_error: str | None = None, dense_error: str | None = None
) -> records.Found:
    global _corpus
    number, at, passages, mean_length, lexemes, counts, by_words, by_meaning = row
    words, meaning = _Scored.of(by_words, WEIGHTS), _Scored.of(by_meaning, COSINES)
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
    """All candidates of a leg and their scores, in no order."""

    ids: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    scores: Scores = field(default_factory=lambda: np.empty(0, np.float64))

    @classmethod
    def of(cls, sent: bytes | None, kind: np.dtype[np.void]) -> _Scored:
        if sent is None:
            return cls()
        rows = np.frombuffer(sent, kind)
        return cls(rows["id"].astype(np.int64), rows["score"].astype(np.float64))

    @property
    def lowest(self) -> float:
        return float(self.scores.min()) if len(self.scores) else 0.0

    @property
    def highest(self) -> float:
        return float(self.scores.max()) if len(self.scores) else 0.0

    def best(self, limit: int) -> Ids:
        """The highest `limit`, of equals those with the lowest ids; in no order."""
        ids, scores = self.ids, self.scores
        if len(ids) <= limit:
            return ids
        from_here = np.partition(scores, len(scores) - limit)[len(scores) - limit] if limit else np.inf
        among = np.flatnonzero(scores >= from_here)
        return ids[among[np.lexsort((ids[among], -scores[among]))[:limit]]]

    def of_these(self, wanted: Ids) -> Scores:
        """The scores of these ids, which are in order; NaN for one that is no candidate."""
        found = np.full(len(wanted), np.nan)
        among = np.flatnonzero(np.isin(self.ids, wanted))
        found[np.searchsorted(wanted, self.ids[among])] = self.scores[among]
        return found


def _hits(words: _Scored, meaning: _Scored, limit: int) -> records.Hits:
    """The best of both legs with their scores in both: by words, then by meaning, then by id."""
    ids = np.union1d(words.best(limit), meaning.best(limit))
    bm25, cosines = words.of_these(ids), meaning.of_these(ids)
    order = np.lexsort((ids, -cosines, -bm25))  # NaN comes last
    return records.Hits(ids[order], np.nan_to_num(bm25[order]), cosines[order])


def _lowest(words: _Scored, meaning: _Scored) -> float:
    """The lowest score by words among the candidates of both legs: one without any of the words has none."""
    if len(meaning.ids) > len(words.ids) or not np.isin(meaning.ids, words.ids).all():
        return 0.0
    return words.lowest
