"""Approximate nearest-neighbour indexes (HNSW) for large corpora: build them, and measure their recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from corpus_app import embedding, records
from corpus_app.embedding import metric
from corpus_app.indexing.planner_statistics import update_planner_statistics
from corpus_app.models import ANN_EF, PassageVector, StudyTextVector


@dataclass(frozen=True, slots=True)
class Recall:
    """The mean share of the true nearest passages that an approximate index finds, over some questions."""

    questions: int
    share: float


def build_ann() -> tuple[str, ...]:
    """Build HNSW indexes over the searchable vectors of the active encoder, drop all others, and return their names.

    Passages get one index for all and one per collection, short texts one per kind. Search uses an index when it would
    compare more than ANN_FROM vectors. The site may run in the meantime.
    """
    encoder = embedding.active_name()
    vectors = PassageVector.objects.filter(encoder=encoder, searchable=True)
    collections = vectors.order_by("collection").values_list("collection", flat=True).distinct()
    wanted = {PassageVector.ann_index(encoder, which): which for which in (None, *collections)}
    with connection.cursor() as cursor:
        cursor.execute(_DIMENSIONS, [encoder])
        row = cursor.fetchone()
        if row is None:
            return ()
        concurrently = "" if connection.in_atomic_block else "CONCURRENTLY"
        cursor.execute(ANN_INDEX_NAMES)
        for (name,) in cursor.fetchall():
            cursor.execute(f"DROP INDEX {concurrently} IF EXISTS {connection.ops.quote_name(name)}")
        for name, collection in wanted.items():
            cursor.execute(
                f"CREATE INDEX {concurrently} {connection.ops.quote_name(name)} ON corpus_app_passagevector "
                + _HNSW.format(dimensions=int(row[0]))
                + (" AND collection_id = %(collection)s" if collection else ""),
                {"encoder": encoder, "collection": collection},
            )
        space = metric.space(encoder)
        kinds = {StudyTextVector.ann_index(space, kind): kind for kind in records.TextKind}
        for name, kind in kinds.items():
            cursor.execute(
                f"CREATE INDEX {concurrently} {connection.ops.quote_name(name)} ON corpus_app_studytextvector "
                + _HNSW.format(dimensions=int(row[0]))
                + " AND kind = %(kind)s",
                {"encoder": space, "kind": kind.value},
            )
    update_planner_statistics()
    return (*wanted, *kinds)


_DIMENSIONS = "SELECT vector_dims(vector) FROM corpus_app_passagevector WHERE encoder = %s AND searchable LIMIT 1"
_HNSW = """
    USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops) WITH (m = 16, ef_construction = 128)
    WHERE encoder = %(encoder)s AND searchable
"""
ANN_INDEX_NAMES = r"""
    SELECT indexname FROM pg_indexes
    WHERE schemaname = current_schema() AND (
        tablename = 'corpus_app_passagevector' AND indexname LIKE 'vector\_ann\_%'
        OR tablename = 'corpus_app_studytextvector' AND indexname LIKE 'text\_ann\_%'
    )
"""


def measure_ann(*, questions: int = 100, top: int = 20) -> Recall:
    """Measure the recall of the index over all collections, with evenly sampled first sentences as questions."""
    encoder = embedding.active_name()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_DIMENSIONS, [encoder])
        row = cursor.fetchone()
        cursor.execute(_ANN_QUESTIONS, {"encoder": encoder, "questions": questions})
        vectors = [vector for (vector,) in cursor.fetchall()]
        if row is None or not vectors:
            return Recall(0, 1.0)
        cursor.execute(f"SET LOCAL hnsw.ef_search = {ANN_EF}; SET LOCAL hnsw.iterative_scan = strict_order")
        found: dict[str, list[set[int]]] = {}
        for mode, setting in (("exact", "enable_indexscan"), ("approximate", "enable_seqscan")):
            cursor.execute(f"SET LOCAL {setting} = off")
            found[mode] = [_nearest(cursor, encoder, vector, dimensions=int(row[0]), top=top) for vector in vectors]
            cursor.execute(f"SET LOCAL {setting} = on")
    shares = [len(a & b) / len(b) for a, b in zip(found["approximate"], found["exact"], strict=True)]
    return Recall(len(vectors), sum(shares) / len(shares))


_ANN_QUESTIONS = """
    SELECT s.vector::text FROM corpus_app_passagesentence s
    WHERE s.encoder = %(encoder)s AND s.position = 0
    ORDER BY md5(s.passage_id::text), s.passage_id LIMIT %(questions)s
"""


def _nearest(cursor: Any, encoder: str, vector: str, *, dimensions: int, top: int) -> set[int]:
    cursor.execute(_NEAREST.format(dimensions=dimensions), [encoder, vector, top])
    return {pk for (pk,) in cursor.fetchall()}


_NEAREST = """
    SELECT passage_id FROM corpus_app_passagevector WHERE encoder = %s AND searchable
    ORDER BY vector::halfvec({dimensions}) <#> %s::halfvec LIMIT %s
"""
