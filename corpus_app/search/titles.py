"""Titles of searchable studies by the words that a reader types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection

from corpus_app.models import TEXT_SEARCH_CONFIG, SearchText

MOST_TITLES = 60

_SHADOW = SearchText.template % {"expressions": "%(words)s::text"}
_TYPED = """
    WITH begun AS (
        SELECT study_id FROM corpus_app_studyword
        WHERE field = 'title' AND word >= %(prefix)s::text AND word < %(prefix)s::text || chr(1114111)
        UNION
        SELECT study_id FROM corpus_app_studytextterm
        WHERE kind = 'title'
              AND lexeme = ANY(tsvector_to_array(to_tsvector(%(config)s::regconfig, %(prefix)s::text)))
    )
    SELECT s.title FROM begun JOIN corpus_app_study s ON s.id = begun.study_id
    WHERE s.status = 'published' AND s.notice <> 'retracted' AND NOT EXISTS (
        SELECT FROM unnest(tsvector_to_array(to_tsvector(%(config)s::regconfig, {shadow}))) AS typed (lexeme)
        WHERE NOT EXISTS (
            SELECT FROM corpus_app_studytextterm t
            WHERE t.study_id = s.id AND t.kind = 'title' AND t.lexeme = typed.lexeme
        )
    )
    ORDER BY coalesce(s.year, 0) DESC, s.study_id LIMIT %(limit)s
""".replace("{shadow}", _SHADOW)


def titles_typed(words: Sequence[str], prefix: str) -> tuple[str, ...]:
    """Return titles that have all of these words and one that begins with `prefix`, those of the newest first."""
    parameters: dict[str, Any] = {"words": " ".join(words), "prefix": prefix, "limit": MOST_TITLES}
    parameters["config"] = TEXT_SEARCH_CONFIG
    with connection.cursor() as cursor:
        cursor.execute(_TYPED, parameters)
        return tuple(title for (title,) in cursor.fetchall())
