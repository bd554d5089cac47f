"""Approximate nearest-neighbour indexes (HNSW): built from ANN_FROM vectors on, with an `ef_search` that was measured.

Search uses an index once its row (`ApproximateIndex`) has an `ef_search`. Builds block neither search nor writing: they
run concurrently, in one process at a time, with one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.db import Error, connection, transaction
from django.utils import timezone

from common.postgresql.locks import work_lock
from corpus_app import embedding, models, records
from corpus_app.embedding import metric
from corpus_app.indexing.planner_statistics import analyse
from corpus_app.models import ApproximateIndex, PassageVector, StudyTextVector

ANN_LOCK_ID = 7_301_004  # of the advisory lock that the building process holds
TARGET_RECALL = 0.995  # of sentences at TOP: questions are further from passages, and their recall is lower
TOP = 20
MEASURED_LIMIT = 200  # hits of a search
CANDIDATES = (100, 200, 400, 800)  # values of ef_search; pgvector allows up to 1,000
GROWTH = 2  # times as many vectors as at the last measurement: measure again
MEMORY_PER_VECTOR = 2_000  # bytes of a graph with m = 16 and 384 dimensions of 16 bits, rounded up
MOST_MEMORY = 2_000_000_000  # bytes; a larger graph is finished on disk, which takes longer


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """The index that is being built, and how far it is."""

    name: str
    phase: str
    percent: int | None
    """None while it is unknown."""


def maintain_ann(encoders: Sequence[str]) -> tuple[ApproximateIndex, ...]:
    """Build the missing indexes of these encoders and drop those of no use; return the new rows.

    Passages get one index for all and one for each large collection, short texts one for each kind. A second process
    returns at once. The indexes of an encoder whose vectors are kept remain.
    """
    built: list[ApproximateIndex] = []
    with work_lock(ANN_LOCK_ID) as is_ours:
        if not is_ours:
            return ()
        wanted = {row.name: row for encoder in dict.fromkeys(encoders) for row in _wanted(encoder)}
        _drop_all_but(wanted, kept=embedding.fallback_name())
        known = ApproximateIndex.objects.in_bulk()
        ApproximateIndex.objects.bulk_create(row for name, row in wanted.items() if name not in known)
        for name, row in wanted.items():
            if name not in known:
                _create_index(row)
                built.append(row)
            if name not in known or row.vectors >= GROWTH * known[name].vectors:
                row.ef_search, row.recall = _choose_ef(row)
                row.measured_at = timezone.now()
                row.save()
    return tuple(built)


def build_progress() -> BuildProgress | None:
    """Return the progress of the build that is under way; None when there is none."""
    with connection.cursor() as cursor:
        cursor.execute(_PROGRESS)
        found = cursor.fetchone()
    if found is None:
        return None
    name, phase, done, total = found
    return BuildProgress(name, phase, round(100 * done / total) if total else None)


# --- What there should be ---------------------------------------------------------------------------------------------


def _wanted(encoder: str) -> Iterator[ApproximateIndex]:
    """Yield the indexes that an encoder should have, without rows, by the number of searchable texts."""
    with connection.cursor() as cursor:
        cursor.execute(_DIMENSIONS, [encoder])
        row = cursor.fetchone()
        if row is None:
            return
        dimensions = int(row[0])
        cursor.execute(_PASSAGES_BY_COLLECTION)
        passages = dict(cursor.fetchall())
        cursor.execute(_TEXTS_BY_KIND)
        texts = dict(cursor.fetchall())
    for collection, vectors in {"": sum(passages.values()), **passages}.items():
        if vectors >= models.ANN_FROM:
            name = PassageVector.ann_index(encoder, collection or None)
            yield ApproximateIndex(
                name=name, encoder=encoder, collection=collection, vectors=vectors, dimensions=dimensions
            )
    if sum(texts.values()) >= models.ANN_FROM:
        space = metric.space(encoder)
        for kind in records.TextKind:
            name = StudyTextVector.ann_index(space, kind)
            yield ApproximateIndex(
                name=name, encoder=space, kind=kind.value, vectors=texts.get(kind, 0), dimensions=dimensions
            )


_DIMENSIONS = "SELECT vector_dims(vector) FROM corpus_app_passagevector WHERE encoder = %s AND searchable LIMIT 1"
_PASSAGES_BY_COLLECTION = """
    SELECT s.collection_id, count(*) FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id
    WHERE s.status = 'published' AND s.notice <> 'retracted' AND p.kind <> 'plain' GROUP BY s.collection_id
"""
_TEXTS_BY_KIND = """
    SELECT t.kind, count(*) FROM corpus_app_studytext t JOIN corpus_app_study s ON s.id = t.study_id
    WHERE s.status = 'published' AND s.notice <> 'retracted' GROUP BY t.kind
"""


# --- Build and drop ---------------------------------------------------------------------------------------------------


def _drop_all_but(wanted: dict[str, ApproximateIndex], *, kept: str) -> None:
    """Drop the indexes of no use and those of a build that was cut short; forget rows without a whole index."""
    with connection.cursor() as cursor:
        cursor.execute(_PRESENT)
        present = dict(cursor.fetchall())
    rows = ApproximateIndex.objects.in_bulk()
    spaces = (kept, metric.space(kept)) if kept else ()
    for name in present.keys() | rows.keys():
        row = rows.get(name)
        is_whole = present.get(name, False)
        if is_whole and row and row.ef_search and (name in wanted or row.encoder in spaces):
            continue
        ApproximateIndex.objects.filter(name=name).delete()
        if name in present:
            _run(f"DROP INDEX {_concurrently()} IF EXISTS {connection.ops.quote_name(name)}")


_PRESENT = r"""
    SELECT c.relname, i.indisvalid
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND (
        t.relname = 'corpus_app_passagevector' AND c.relname LIKE 'vector\_ann\_%'
        OR t.relname = 'corpus_app_studytextvector' AND c.relname LIKE 'text\_ann\_%'
    )
"""


def _create_index(row: ApproximateIndex) -> None:
    statement = (
        f"CREATE INDEX {_concurrently()} {connection.ops.quote_name(row.name)} ON {_table(row)} "
        + _HNSW.format(dimensions=row.dimensions)
    )
    parameters = {"encoder": row.encoder, "collection": row.collection, "kind": row.kind}
    statement += " AND kind = %(kind)s" if row.kind else ""
    statement += " AND collection_id = %(collection)s" if row.collection else ""
    _run(statement, parameters, memory=min(MOST_MEMORY, max(64_000_000, row.vectors * MEMORY_PER_VECTOR)))
    analyse(PassageVector, StudyTextVector)


_HNSW = """
    USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops) WITH (m = 16, ef_construction = 128)
    WHERE encoder = %(encoder)s AND searchable
"""


def _run(statement: str, parameters: dict[str, Any] | None = None, *, memory: int = 64_000_000) -> None:
    """Run a build or a drop: without time limits, since both wait for old transactions, and with one core.

    A parallel build would take its memory from /dev/shm, of which containers have little, and the readers' core.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"SET maintenance_work_mem = '{memory // 1000}kB'; SET max_parallel_maintenance_workers = 0; "
            "SET statement_timeout = 0; SET lock_timeout = 0"
        )
        try:
            cursor.execute(statement, parameters)
        finally:
            with suppress(Error):
                cursor.execute(
                    "RESET maintenance_work_mem; RESET max_parallel_maintenance_workers; "
                    "RESET statement_timeout; RESET lock_timeout"
                )


def _concurrently() -> str:
    return "" if connection.in_atomic_block else "CONCURRENTLY"


def _table(row: ApproximateIndex) -> str:
    model = StudyTextVector if row.kind else PassageVector
    return connection.ops.quote_name(model._meta.db_table)


_PROGRESS = """
    SELECT c.relname, p.phase, p.blocks_done, p.blocks_total
    FROM pg_stat_progress_create_index p JOIN pg_class c ON c.oid = p.index_relid
    WHERE p.datname = current_database() AND c.relname ~ '^(vector|text)_ann_' LIMIT 1
"""


# --- Measure ----------------------------------------------------------------------------------------------------------


def _choose_ef(row: ApproximateIndex) -> tuple[int, float]:
    """Return the least `ef_search` that reaches TARGET_RECALL, or the largest, with its recall."""
    questions = _question_vectors(row, 50)
    recall = 1.0
    for ef_search in CANDIDATES:
        recall = _recall(row, questions, ef_search)
        if recall >= TARGET_RECALL:
            return ef_search, recall
    return CANDIDATES[-1], recall


def _question_vectors(row: ApproximateIndex, questions: int) -> list[list[float]]:
    """Return vectors of first sentences from an even sample of passages, in the space of the index."""
    encoder = row.encoder.partition(metric.SEPARATOR)[0]
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE oid = 'corpus_app_passage'::regclass")
        passages = max(1.0, cursor.fetchone()[0])
        share = min(100.0, 300.0 * questions / passages)
        cursor.execute(_QUESTIONS, {"encoder": encoder, "share": share, "questions": questions})
        vectors = [[float(number) for number in vector] for (vector,) in cursor.fetchall()]
    if not row.kind or not vectors:
        return vectors
    projected: list[list[float]] = metric.project(encoder, vectors).tolist()
    return projected


_QUESTIONS = """
    SELECT s.vector::real[] FROM corpus_app_passage p TABLESAMPLE SYSTEM (%(share)s) REPEATABLE (1)
    JOIN corpus_app_passagesentence s ON s.passage_id = p.id
    WHERE s.encoder = %(encoder)s AND s.position = 0
    ORDER BY md5(s.passage_id::text), s.passage_id LIMIT %(questions)s
"""


def _recall(row: ApproximateIndex, questions: Sequence[Sequence[float]], ef_search: int) -> float:
    shares = []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"SET LOCAL hnsw.ef_search = {int(ef_search)}; SET LOCAL hnsw.iterative_scan = strict_order;"
            "SET LOCAL statement_timeout = 0; SET LOCAL max_parallel_workers_per_gather = 0"
        )
        for vector in questions:
            found, exact = (
                _nearest(cursor, row, vector, disabled) for disabled in ("enable_seqscan", "enable_indexscan")
            )
            shares.append(len(found & exact) / len(exact) if exact else 1.0)
        cursor.execute("SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = on")
    return sum(shares) / len(shares) if shares else 1.0


def _nearest(cursor: Any, row: ApproximateIndex, vector: Sequence[float], disabled: str) -> set[int]:
    cursor.execute(f"SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = on; SET LOCAL {disabled} = off")
    limits = (" AND kind = %(kind)s" if row.kind else "") + (
        " AND collection_id = %(collection)s" if row.collection else ""
    )
    cursor.execute(
        _NEAREST.format(
            key="text_id" if row.kind else "passage_id", table=_table(row), dimensions=row.dimensions, limits=limits
        ),
        {
            "encoder": row.encoder, "kind": row.kind, "collection": row.collection, "vector": str(list(vector)),
            "limit": MEASURED_LIMIT,
        },
    )  # fmt: skip
    return {pk for (pk,) in cursor.fetchall()[:TOP]}


_NEAREST = """
    SELECT {key} FROM {table} WHERE encoder = %(encoder)s AND searchable {limits}
    ORDER BY vector::halfvec({dimensions}) <#> %(vector)s::halfvec LIMIT %(limit)s
"""
