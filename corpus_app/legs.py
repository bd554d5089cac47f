"""The two legs of a search, by words and by meaning: one statement, so one snapshot, gives what each finds.

PostgreSQL scores every candidate of both legs and hands over ids and scores as arrays; the best are picked from them here,
which takes a fraction of what sorting and joining thousands of rows takes there.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psycopg
from django.db import DatabaseError, connection, transaction
from numpy.typing import NDArray
from psycopg import pq
from psycopg.adapt import Dumper, Loader

from corpus_app import models, records
from corpus_app.models import ANN_EF, TEXT_SEARCH_CONFIG, SearchText

K1 = 1.2
B = 0.75
K3 = 4.0  # how soon a word that the question repeats counts no more: twice is 1.67 times once (Okapi at TREC-3, 1994)
PREPARE_THRESHOLD = 5  # the driver's own default, which Django switches off; it lets us prepare a statement by name

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]


def find(
    text: str,
    vector: Sequence[float] | None,
    *,
    encoder: str,
    collection: str | None,
    limit: int,
    dense_error: str | None,
) -> records.Found:
    """The best `limit` passages of each leg, as `search.find` says; `encoder` names that of the vector."""
    parameters = {
        "text": text,
        "vector": None if vector is None else _half(vector),
        "encoder": encoder,
        "collection": collection,
        "limit": limit,
        "k1": K1,
        "b": B,
        "k3": K3,
        "config": TEXT_SEARCH_CONFIG,
        **_corpus.known(),
    }
    if vector is None:
        return _found(
            _run(_LEXICAL, _NO_DENSE, parameters), limit, dense_error=dense_error or "The question has no vector."
        )
    dense = _dense(parameters, vector)
    try:
        return _found(_run(_LEXICAL, dense, parameters), limit)
    except DatabaseError:
        return _find_with_one_leg(parameters, dense, limit)


def _find_with_one_leg(parameters: dict[str, Any], dense: str, limit: int) -> records.Found:
    try:
        return _found(_run(_LEXICAL, _NO_DENSE, parameters), limit, dense_error="The search by meaning failed.")
    except DatabaseError:
        return _found(_run(_NO_LEXICAL, dense, parameters), limit, lexical_error="The search by words failed.")


def _dense(parameters: dict[str, Any], vector: Sequence[float]) -> str:
    """The dense leg: exact, or approximate in a large corpus that has the index for it."""
    if _corpus.passages <= models.ANN_FROM or not _has_ann(parameters["encoder"], parameters["collection"]):
        return _DENSE
    parameters["opposite"] = _half([-number for number in vector])
    return _APPROXIMATE.replace("{dimensions}", str(len(vector)))


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


class _Packed:
    """A vector as pgvector takes it in: dimensions, an unused field, then its numbers, the high byte first."""

    def __init__(self, vector: Sequence[float], kind: str) -> None:
        self.sent = struct.pack(">HH", len(vector), 0) + np.asarray(vector, dtype=kind).tobytes()


def _half(vector: Sequence[float]) -> _Packed:
    return _Packed(vector, ">f2")


class _PackedDumper(Dumper):
    format = pq.Format.BINARY
    oid = 0  # the cast beside it says the type

    def dump(self, obj: _Packed) -> bytes:
        return obj.sent


class _IdLoader(Loader):
    """An array of bigint as PostgreSQL sends it: twenty bytes of header, then each number after its length."""

    format = pq.Format.BINARY
    row = np.dtype([("length", ">i4"), ("value", ">i8")])
    kept_as: type = np.int64

    def load(self, data: Any) -> Any:
        return np.frombuffer(data, self.row, offset=ARRAY_HEADER_BYTES)["value"].astype(self.kept_as)


class _ScoreLoader(_IdLoader):
    """The same of double precision."""

    row = np.dtype([("length", ">i4"), ("value", ">f8")])
    kept_as = np.float64


ARRAY_HEADER_BYTES = 20  # of one dimension without nulls
BIGINTS, DOUBLES = (psycopg.postgres.types[name].array_oid for name in ("int8", "float8"))


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
_LEXICAL = """
    question AS MATERIALIZED (
        SELECT lexeme, (%(k3)s::float8 + 1) * cardinality(positions) / (%(k3)s::float8 + cardinality(positions)) AS weight
        FROM unnest(to_tsvector(%(config)s::regconfig, {shadow}))
    ),
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
""".replace("{shadow}", SearchText.template % {"expressions": "%(text)s::text"})
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
    CROSS JOIN (SELECT array_agg(passage_id), array_agg(bm25) FROM lexical) AS words
    CROSS JOIN (SELECT array_agg(passage_id), array_agg(cosine) FROM dense) AS meaning
"""
# To start a helper or a compiler takes longer than the whole search, and to plan it nearly as long: the exact search is
# planned once a connection. The approximate one is planned each time, for its indexes hold for one encoder and collection.
_SETTINGS = "SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off;"
_EXACT_SETTINGS = f"{_SETTINGS} SET LOCAL plan_cache_mode = force_generic_plan"
_ANN_SETTINGS = f"{_SETTINGS} SET LOCAL plan_cache_mode = auto; SET LOCAL hnsw.ef_search = {ANN_EF}; SET LOCAL hnsw.iterative_scan = strict_order"


def _run(lexical: str, dense: str, parameters: dict[str, Any]) -> tuple[Any, ...]:
    is_exact = "opposite" not in parameters
    in_collection = "" if parameters["collection"] is None else _IN_COLLECTION
    statement = (_VERSION + lexical + dense + _BOTH).replace("{in_collection}", in_collection)
    settings = _EXACT_SETTINGS if is_exact else _ANN_SETTINGS
    (row,) = _execute(statement, parameters, settings=settings, is_planned_once=is_exact)
    return row


def _execute(
    statement: str, parameters: dict[str, Any], *, settings: str, is_planned_once: bool
) -> list[tuple[Any, ...]]:
    """By a cursor of the driver's own: Django's plans every statement anew and writes every value out as text."""
    with transaction.atomic(), connection.cursor() as first:
        first.execute(settings)
        driver = connection.connection
        driver.prepare_threshold = PREPARE_THRESHOLD
        with connection.wrap_database_errors, psycopg.Cursor(driver) as cursor:
            cursor.adapters.register_dumper(_Packed, _PackedDumper)
            cursor.adapters.register_loader(BIGINTS, _IdLoader)
            cursor.adapters.register_loader(DOUBLES, _ScoreLoader)
            cursor.execute(statement, parameters, prepare=is_planned_once, binary=True)
            return cursor.fetchall()


# --- What the studies found ---------------------------------------------------------------------------------------------

# Study by study: the planner thinks that hardly any finding has the hash of its vector, and would compare all with all.
_NEAR_FINDINGS = """
    WITH found AS MATERIALIZED (
        SELECT study_id AS id, array_agg(id ORDER BY id) AS passage_ids
        FROM corpus_app_passage WHERE id = ANY(%(passages)s::bigint[])
        GROUP BY study_id
    )
    SELECT s.study_id, near.number, near.cosine, found.passage_ids
    FROM found
    JOIN corpus_app_study s ON s.id = found.id AND s.status = 'published' AND s.notice <> 'retracted'
    CROSS JOIN LATERAL (
        SELECT f.position + 1 AS number, -(v.vector <#> %(vector)s::vector) AS cosine
        FROM corpus_app_finding f
        JOIN corpus_app_findingvector v
            ON v.finding_id = f.id AND v.encoder = %(encoder)s AND v.content_hash = f.content_hash
        WHERE f.study_id = s.id
        ORDER BY cosine DESC, number
        LIMIT 1
    ) AS near
    ORDER BY s.study_id
"""


def near_findings(
    vector: Sequence[float], passage_ids: Sequence[int], *, encoder: str
) -> tuple[records.NearFinding, ...]:
    """As `search.near_findings` says. Raises DatabaseError."""
    parameters = {"passages": list(passage_ids), "vector": _Packed(vector, ">f4"), "encoder": encoder}
    rows = _execute(_NEAR_FINDINGS, parameters, settings=_EXACT_SETTINGS, is_planned_once=True)
    return tuple(
        records.NearFinding(study_id, number, cosine, tuple(ids.tolist())) for study_id, number, cosine, ids in rows
    )


# --- Picking the best ---------------------------------------------------------------------------------------------------


def _found(
    row: tuple[Any, ...], limit: int, *, lexical_error: str | None = None, dense_error: str | None = None
) -> records.Found:
    global _corpus
    number, at, passages, mean_length, lexemes, counts, *scored = row
    words, meaning = _Scored.of(*scored[:2]), _Scored.of(*scored[2:])
    if lexical_error is None:
        _corpus = _Corpus(number, at, passages, mean_length)
    return records.Found(
        hits=_hits(words, meaning, limit),
        lexical=records.Leg(
            lexical_error is None, len(words.ids), lexical_error, _lowest(words, meaning), words.highest
        ),
        dense=records.Leg(dense_error is None, len(meaning.ids), dense_error, meaning.lowest, meaning.highest),
        corpus_version=number or 0,
        lexemes=tuple(lexemes or ()),
        document_frequency=() if counts is None else tuple(zip(lexemes, counts.tolist(), strict=True)),
        searchable_passages=passages,
    )


@dataclass(frozen=True, slots=True)
class _Scored:
    """All candidates of a leg and their scores, in no order."""

    ids: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    scores: Scores = field(default_factory=lambda: np.empty(0, np.float64))

    @classmethod
    def of(cls, ids: Ids | None, scores: Scores | None) -> _Scored:
        return cls() if ids is None or scores is None else cls(ids, scores)

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


def _hits(words: _Scored, meaning: _Scored, limit: int) -> tuple[records.Hit, ...]:
    """The best of both legs with their scores in both: by words, then by meaning, then by id."""
    ids = np.union1d(words.best(limit), meaning.best(limit))
    bm25, cosines = words.of_these(ids), meaning.of_these(ids)
    order = np.lexsort((ids, -cosines, -bm25))  # NaN comes last
    in_order = cosines[order]
    known = in_order.tolist() if not np.isnan(in_order).any() else [None if c != c else c for c in in_order.tolist()]
    return tuple(map(records.Hit, ids[order].tolist(), np.nan_to_num(bm25[order]).tolist(), known))


def _lowest(words: _Scored, meaning: _Scored) -> float:
    """The lowest score by words among the candidates of both legs: one without any of the words has none."""
    if len(meaning.ids) > len(words.ids) or not np.isin(meaning.ids, words.ids).all():
        return 0.0
    return words.lowest
