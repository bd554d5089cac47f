"""The words of published studies, kept in step with every write: of passages, of authors, and of titles.

Words of passages are lower-case letters a to z. Those of names are normalised as `qa_app.pipeline.question.authors`
does: without accents and possessives, "and" for "&".
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from corpus_app.models import SearchText
from corpus_app.records import TITLE_RUN, WordField

_NORMAL_WORDS = r"""
    array_remove(regexp_split_to_array(lower(replace(
        regexp_replace({shadow}, '[''’]s?(?![[:alnum:]])|[''’]', '', 'g'), '&', ' and '
    )), '[^[:alnum:]]+'), '')
"""


def _normal_words(expression: str) -> str:
    return _NORMAL_WORDS.replace("{shadow}", SearchText.template % {"expressions": expression})


PRESENT_WORDS = """
    WITH published AS (
        SELECT s.id AS study_id, s.notice <> 'retracted' AS is_searchable, {author} AS authors, {title} AS title
        FROM corpus_app_study s
        WHERE s.status = 'published' AND (%(studies)s::bigint[] IS NULL OR s.id = ANY(%(studies)s::bigint[]))
    ),
    present AS (
        SELECT p.study_id, '{in_passage}' AS field, word, count(*) AS passages
        FROM published JOIN corpus_app_passage p USING (study_id)
        CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector('simple', {text}))) AS word
        WHERE is_searchable AND p.kind <> 'plain' AND word ~ '^[a-z]+$'
        GROUP BY p.study_id, word
        UNION ALL
        SELECT DISTINCT study_id, '{in_author}', word, 0 FROM published CROSS JOIN LATERAL unnest(authors) AS word
        UNION ALL
        SELECT DISTINCT study_id, '{in_title}', word, 0 FROM published CROSS JOIN LATERAL unnest(title) AS word
        UNION ALL
        SELECT DISTINCT study_id, '{in_run}', array_to_string(title[n : n + {run} - 1], ' '), 0
        FROM published CROSS JOIN LATERAL generate_series(1, cardinality(title) - {run} + 1) AS n
    )
"""
for _mark, _value in (
    ("{author}", _normal_words("array_to_string(s.authors, ' ')")),
    ("{title}", _normal_words("s.title")),
    ("{text}", SearchText.template % {"expressions": "p.text"}),
    ("{in_passage}", WordField.PASSAGE),
    ("{in_author}", WordField.AUTHOR),
    ("{in_title}", WordField.TITLE),
    ("{in_run}", WordField.RUN),
    ("{run}", str(TITLE_RUN)),
):
    PRESENT_WORDS = PRESENT_WORDS.replace(_mark, _value)
WRITE_WORDS = """
    INSERT INTO corpus_app_studyword (study_id, field, word, passages)
    SELECT study_id, field, word, passages FROM present
"""


def sync(study_pks: Sequence[int]) -> None:
    """Rewrite the words of studies from their present rows, inside the transaction of the write."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM corpus_app_studyword WHERE study_id = ANY(%s)", [list(study_pks)])
        cursor.execute(PRESENT_WORDS + WRITE_WORDS, {"studies": list(study_pks)})
