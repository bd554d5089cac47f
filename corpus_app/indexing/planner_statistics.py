"""Statistics of the derived tables for PostgreSQL's query planner."""

from __future__ import annotations

from django.db import connection
from django.db.models import Model

from corpus_app.models import (
    Passage,
    PassageSentence,
    PassageTerm,
    PassageVector,
    Study,
    StudyText,
    StudyTextTerm,
    StudyTextVector,
    StudyWord,
    TermStatistics,
)

ANALYSE_FROM = 50  # passages indexed in one run, from which the planner needs new statistics
ANALYSED_SHARE = 0.02  # of all passages: fewer new ones are left to autovacuum

_TABLES = (
    PassageVector, PassageTerm, PassageSentence, StudyText, StudyTextVector, StudyTextTerm, StudyWord, TermStatistics,
    Passage, Study,
)  # fmt: skip


def update_planner_statistics() -> None:
    """Analyse the derived tables, and vacuum them too outside a transaction.

    Waiting for autovacuum would cost questions time: until the visibility map is current, index-only scans read each
    row. A table whose vectors are being indexed is left out: it would be waited for.
    """
    command = "ANALYZE (SKIP_LOCKED)" if connection.in_atomic_block else "VACUUM (ANALYZE, SKIP_LOCKED)"
    _run(command, *_TABLES)


def count_estimate(table: type[Model]) -> int:
    """Return how many rows a table had when it was analysed last; 0 when it never was."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT greatest(0, reltuples)::bigint FROM pg_class WHERE oid = %s::regclass", [_name(table)])
        (count,) = cursor.fetchone() or (0,)
        return int(count)


def _name(table: type[Model]) -> str:
    return connection.ops.quote_name(table._meta.db_table)


def analyse(*tables: type[Model]) -> None:
    """Analyse these tables."""
    _run("ANALYZE (SKIP_LOCKED)", *tables)


def _run(command: str, *tables: type[Model]) -> None:
    with connection.cursor() as cursor:
        for model in tables:
            cursor.execute(f"{command} {_name(model)}")
