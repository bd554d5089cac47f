"""Statistics of lexemes, which triggers write as changes (see `TermStatistics`)."""

from __future__ import annotations

from django.db import connection

MERGED_FROM = 50  # changes of one lexeme, which every search adds up; merging reads the rows of all lexemes

_IS_DUE = """
    SELECT count(*) >= %s FROM corpus_app_termstatistics WHERE lexeme = '' AND kind = 'passage'
"""
# Rows that another transaction merges at the same time are gone when their lock is free, and so not counted twice.
_MERGE = """
    WITH changed AS (
        DELETE FROM corpus_app_termstatistics WHERE (lexeme, kind) IN (
            SELECT lexeme, kind FROM corpus_app_termstatistics GROUP BY lexeme, kind HAVING count(*) > 1
        ) RETURNING *
    )
    INSERT INTO corpus_app_termstatistics (kind, lexeme, texts, total_length, max_frequency, min_length)
    SELECT kind, lexeme, sum(texts), sum(total_length), max(max_frequency), min(min_length)
    FROM changed GROUP BY kind, lexeme HAVING sum(texts) <> 0
"""


def merge_term_statistics(*, least: int = MERGED_FROM) -> None:
    """Merge the changes of each lexeme into one row once there are so many; a search adds up what is not merged."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_DUE, [least])
        (is_due,) = cursor.fetchone() or (False,)
        if is_due:
            cursor.execute(_MERGE)
