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


def analyse(*tables: type[Model]) -> None:
    """Analyse these tables."""
    _run("ANALYZE (SKIP_LOCKED)", *tables)


def _run(command: str, *tables: type[Model]) -> None:
    with connection.cursor() as cursor:
        for model in tables:
            cursor.execute(f"{command} {connection.ops.quote_name(model._meta.db_table)}")
