"""Words of the searchable passages, looked up one by one: no process keeps them all."""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection

from corpus_app import quality
from corpus_app.models import TEXT_SEARCH_CONFIG, SearchText, StudyWord
from corpus_app.records import WordField

MOST_STUDIES = 1_000
"""Studies over which a word is counted; a more frequent word is frequent enough for any comparison."""

_COUNTS = """
    SELECT word, sum(found.passages)::bigint
    FROM unnest(%s::text[]) AS word CROSS JOIN LATERAL (
        SELECT passages FROM corpus_app_studyword w WHERE w.word = word.word AND field = 'passage'
        ORDER BY study_id LIMIT %s
    ) AS found
    GROUP BY word
"""
_HAS_ALL = """
    SELECT coalesce(bool_and(EXISTS (SELECT FROM corpus_app_passageterm t WHERE t.lexeme = asked.lexeme)), true)
    FROM unnest(tsvector_to_array(to_tsvector(%(config)s::regconfig, {shadow}))) AS asked (lexeme)
""".replace("{shadow}", SearchText.template % {"expressions": "%(text)s::text"})


def word_counts(words: Collection[str]) -> dict[str, int]:
    """Return the number of searchable passages that contain each word, lower case; words of none are left out.

    Only words of letters from a to z are counted, each in at most `MOST_STUDIES` studies.
    """
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, [sorted(set(words)), MOST_STUDIES])
        return dict(cursor.fetchall())


def title_words(words: Collection[str]) -> frozenset[str]:
    """Return those of these lower-case words that the title of a published study has."""
    rows = StudyWord.objects.filter(word__in=list(words), field=WordField.TITLE)
    return frozenset(rows.values_list("word", flat=True).distinct())


def has_words(text: str) -> bool:
    """Return whether searchable passages have every word of a text, in some form; stop words count as present."""
    with connection.cursor() as cursor:
        cursor.execute(_HAS_ALL, {"config": TEXT_SEARCH_CONFIG, "text": text})
        return bool(cursor.fetchone()[0])


def is_word(word: str) -> bool:
    """Return whether scientific English has this lower-case word, whatever the corpus contains."""
    return word in quality.standard()
