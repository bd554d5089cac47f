"""Statistics of the derived tables for PostgreSQL's query planner."""

from __future__ import annotations

from django.db import connection

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
    row.
    """
    vacuum = "" if connection.in_atomic_block else "VACUUM "
    with connection.cursor() as cursor:
        for model in _TABLES:
            cursor.execute(f"{vacuum}ANALYZE {connection.ops.quote_name(model._meta.db_table)}")
