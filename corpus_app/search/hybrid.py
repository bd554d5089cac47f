"""Hybrid search over passages: BM25 by words and cosine by meaning, in one statement.

PostgreSQL finds the best of both halves and returns their ids with both scores: a few hundred rows at any size of the
corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db import DatabaseError

from common import pipelining
from corpus_app import models, records
from corpus_app.search import bm25
from corpus_app.search.question_vectors import QuestionVector, encoder_name
from corpus_app.search.selection import StudySelection

NO_VECTOR = "The question has no vector."

# A hit as packed by PostgreSQL: it writes hundreds of them as one value much faster than as arrays.
HITS = np.dtype([("id", ">i8"), ("bm25", ">f8"), ("cosine", ">f8")])


def find(
    text: str,
    vector: Sequence[float] | None,
    *,
    collection: str | None = None,
    among: StudySelection | None = None,
    limit: int = 200,
    dense_error: str | None = None,
) -> records.Found:
    """Return the best `limit` passages by BM25 over any of the question's words, and the best by cosine to its vector.

    Each hit has the raw scores of both halves; of equals, the lowest ids are hits. Without a vector the dense half is
    missing, for the reason `dense_error`. A half that fails is named in the result, and the other still answers. Raises
    DatabaseError when both fail. With `among`, only passages of the studies selected are found.
    """
    encoder = encoder_name()
    studies, traits = among.keys() if among else (None, {})
    parameters = {
        **traits,
        **bm25.question_parameters(text),
        "encoder": encoder,
        "collection": collection,
        "limit": limit,
    }
    if vector is None:
        return _find_by_words(parameters, studies, dense_error)
    ef_search = _ef_search(encoder, collection)
    dense = _exact(parameters, vector) if ef_search is None else _approximate(parameters, vector, ef_search)
    try:
        return _found(_run(_LEXICAL, dense, parameters, studies))
    except DatabaseError:
        return _find_by_one_half(parameters, studies, dense)


def _find_by_words(parameters: dict[str, Any], studies: str | None, reason: str | None) -> records.Found:
    return _found(_run(_LEXICAL, _NO_DENSE, parameters, studies), dense_error=reason or NO_VECTOR)


def _find_by_one_half(parameters: dict[str, Any], studies: str | None, dense: str) -> records.Found:
    try:
        return _find_by_words(parameters, studies, "The search by meaning failed.")
    except DatabaseError:
        return _found(_run(_NO_LEXICAL, dense, parameters, studies), lexical_error="The search by words failed.")


def _exact(parameters: dict[str, Any], vector: Sequence[float]) -> str:
    """Return the SQL of the dense half as a scan of every vector; add the vector to the parameters."""
    _add_vector(parameters, vector)
    return _DENSE.replace("{nearest}", _NEAREST)


def _approximate(parameters: dict[str, Any], vector: Sequence[float], ef_search: int) -> str:
    """Return the SQL of the dense half by an HNSW index; add the vector to the parameters."""
    _add_vector(parameters, vector)
    parameters["ef_search"] = ef_search
    return _DENSE.replace("{nearest}", _NEAREST_BY_INDEX).replace("{dimensions}", str(len(vector)))


def _add_vector(parameters: dict[str, Any], vector: Sequence[float]) -> None:
    parameters["vector"] = pipelining.Packed(vector, ">f2")
    if isinstance(vector, QuestionVector):
        parameters["encoder"] = vector.encoder


def _ef_search(encoder: str, collection: str | None) -> int | None:
    """Return the measured `ef_search` of the approximate index; None where there is no index."""
    row = pipelining.first_row(_EF_SEARCH, {"name": models.PassageVector.ann_index(encoder, collection)})
    return None if row is None or row[0] is None else int(row[0])


_EF_SEARCH = "SELECT ef_search FROM corpus_app_approximateindex WHERE name = %(name)s"
_LEXICAL = (
    bm25.PASSAGE_TERMS
    + """,
    lexical AS MATERIALIZED (
        SELECT id AS passage_id, {rounded} AS bm25 FROM weighted CROSS JOIN LATERAL {best}
        ORDER BY bm25 DESC, id LIMIT %(limit)s
    ),
    rescored AS (
        SELECT id AS passage_id, {rounded} AS bm25 FROM weighted CROSS JOIN LATERAL {scored}
    )
""".replace("{rounded}", "round(1e9::float8 * score) / 1e9::float8")
    .replace("{best}", bm25.best("passageterm", chosen="{chosen}"))
    .replace(
        "{scored}",
        bm25.best(
            "passageterm",
            limit="NULL",
            chosen="ARRAY(SELECT passage_id FROM nearest EXCEPT SELECT passage_id FROM lexical)",
        ),
    )
)
_NO_LEXICAL = """
    question AS (SELECT NULL::text AS lexeme WHERE false),
    totals AS (SELECT NULL::text AS lexeme, 0::bigint AS texts WHERE false),
    lexical AS (SELECT NULL::bigint AS passage_id, NULL::float8 AS bm25 WHERE false),
    rescored AS (SELECT * FROM lexical)
"""
_DENSE = """,
    vectors AS NOT MATERIALIZED (
        SELECT passage_id, vector, {cosine} AS cosine
        FROM corpus_app_passagevector WHERE encoder = %(encoder)s AND searchable {limits}
    ),
    nearest AS MATERIALIZED ({nearest}),
    cosines AS (
        SELECT * FROM nearest UNION SELECT passage_id, cosine FROM lexical JOIN vectors USING (passage_id)
    )
""".replace(
    "{cosine}",
    # Rounded in the precision of the stored numbers, so that equals are equal.
    f"round((-(vector <#> %(vector)s::halfvec))::float4::float8 * 1e{records.COSINE_DECIMALS}::float8)"
    f" / 1e{records.COSINE_DECIMALS}::float8",
)
_NEAREST = "SELECT passage_id, cosine FROM vectors ORDER BY cosine DESC, passage_id LIMIT %(limit)s"
_NEAREST_BY_INDEX = """
    SELECT passage_id, cosine FROM vectors
    ORDER BY vector::halfvec({dimensions}) <#> %(vector)s::halfvec LIMIT %(limit)s
"""
_NO_DENSE = """,
    nearest AS (SELECT NULL::bigint AS passage_id, NULL::float8 AS cosine WHERE false),
    cosines AS (SELECT * FROM nearest)
"""
_IN_COLLECTION = " AND collection_id = %(collection)s"
_OF_STUDIES = "SELECT p.id FROM corpus_app_passage p WHERE p.study_id IN ({studies})"
_BOTH = """
    SELECT (SELECT number FROM corpus_app_corpusversion ORDER BY number DESC LIMIT 1),
           coalesce((SELECT texts FROM totals WHERE lexeme = ''), 0),
           (SELECT array_agg(lexeme ORDER BY lexeme) FROM question),
           (SELECT array_agg(coalesce(texts, 0) ORDER BY lexeme) FROM question LEFT JOIN totals USING (lexeme)),
           (SELECT count(*) FROM lexical), (SELECT count(*) FROM nearest), packed.*
    FROM (
        SELECT string_agg(
            int8send(passage_id) || float8send(coalesce(bm25, 0)) || float8send(coalesce(cosine, 'NaN')), ''
        )
        FROM (SELECT * FROM lexical UNION ALL SELECT * FROM rescored) AS words FULL JOIN cosines USING (passage_id)
    ) AS packed
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


def _run(lexical: str, dense: str, parameters: dict[str, Any], studies: str | None) -> tuple[Any, ...]:
    """Search both halves; `studies` is the SQL of the primary keys of the only studies to search."""
    is_exact = "ef_search" not in parameters
    settings = _EXACT_SETTINGS if is_exact else _ANN_SETTINGS | {"hnsw.ef_search": str(parameters["ef_search"])}
    with pipelining.snapshot_pipeline(settings=settings, is_planned_once=is_exact) as send:
        # Nothing is recursive, but the rescoring of the first half reads the second.
        cursor = send(_limited("WITH RECURSIVE " + lexical + dense + _BOTH, parameters, studies), parameters)
    return pipelining.single_row(cursor)


def _limited(statement: str, parameters: dict[str, Any], studies: str | None) -> str:
    """Limit the statement to a collection and to studies, where the parameters name any."""
    in_collection = "" if parameters["collection"] is None else _IN_COLLECTION
    passages = _OF_STUDIES.replace("{studies}", studies or "")
    of_studies = f" AND passage_id IN ({passages})" if studies else ""
    chosen = f"ARRAY({passages})" if studies else "NULL"
    return statement.replace("{limits}", in_collection + of_studies).replace("{chosen}", chosen)


def _found(row: tuple[Any, ...], *, lexical_error: str | None = None, dense_error: str | None = None) -> records.Found:
    number, passages, lexemes, counts, by_words, by_meaning, packed = row
    hits = np.frombuffer(packed or b"", HITS)
    ids, scores, cosines = (hits[name].astype(hits[name].dtype.newbyteorder("=")) for name in HITS.names or ())
    order = np.lexsort((ids, -cosines, -scores))  # by words, then by meaning, then by id; NaN sorts last
    return records.Found(
        hits=records.Hits(ids[order], scores[order], cosines[order]),
        lexical=records.Leg(lexical_error is None, by_words, lexical_error),
        dense=records.Leg(dense_error is None, by_meaning, dense_error),
        corpus_version=number or 0,
        lexemes=() if counts is None else tuple(lexemes),
        document_frequency=() if counts is None else tuple(zip(lexemes, counts.tolist(), strict=True)),
        searchable_passages=passages,
    )
