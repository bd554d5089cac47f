"""Curated questions of published studies, by their words or by their study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection

from corpus_app.models import TEXT_SEARCH_CONFIG, SearchText
from corpus_app.records import CuratedQuestion

SHORTEST = 400
"""Matching questions of which the text is read: the shortest ask about what they name and little else."""
LIMIT = 40
"""Questions that are returned, whole sentences before search words."""


def questions_of(study_id: str) -> tuple[CuratedQuestion, ...]:
    """Return curated questions of a study, whole sentences first; none where answers may not use the study."""
    return _run(_OF_STUDY, {"study_id": study_id})


def questions_naming(names: Sequence[str]) -> tuple[CuratedQuestion, ...]:
    """Return curated questions that have all words of one of these names."""
    return _run(_NAMING, {"names": list(names)})


def questions_typed(words: Sequence[str], prefix: str) -> tuple[CuratedQuestion, ...]:
    """Return curated questions that have all these words and one that begins with `prefix`."""
    return _run(_TYPED if words else _BEGUN, {"words": " ".join(words), "prefix": prefix})


def _run(statement: str, parameters: dict[str, Any]) -> tuple[CuratedQuestion, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters | {"config": TEXT_SEARCH_CONFIG, "shortest": SHORTEST, "limit": LIMIT})
        return tuple(CuratedQuestion(text, study_id) for text, study_id in cursor.fetchall())


def _lexemes(text: str) -> str:
    """Return the SQL of the lexemes of a text, as the postings have them."""
    return f"tsvector_to_array(to_tsvector(%(config)s::regconfig, {SearchText.template % {'expressions': text}}))"


_OF_STUDY = """
    SELECT t.text, s.study_id FROM corpus_app_study s JOIN corpus_app_studytext t ON t.study_id = s.id
    WHERE s.study_id = %(study_id)s AND s.status = 'published' AND s.notice <> 'retracted' AND t.kind = 'question'
    ORDER BY t.text !~ '[?？؟]$', t.position LIMIT %(limit)s
"""
_QUESTIONS = """
    {with} shortest AS MATERIALIZED (SELECT text_id, length FROM found ORDER BY length, text_id LIMIT %(shortest)s)
    SELECT t.text, s.study_id FROM shortest
    JOIN corpus_app_studytext t ON t.id = shortest.text_id
    JOIN corpus_app_study s ON s.id = t.study_id AND s.status = 'published' AND s.notice <> 'retracted'
    ORDER BY t.text !~ '[?？؟]$', shortest.length, t.id LIMIT %(limit)s
"""
_WITH_ALL = """
    SELECT text_id, min(length) AS length FROM corpus_app_studytextterm
    WHERE kind = 'question' AND lexeme = ANY(lexemes)
    GROUP BY text_id HAVING count(*) = cardinality(lexemes)
"""
# The two halves use the index of lexemes each; joined by OR they would not.
_WITH_PREFIX = """
    SELECT text_id, length FROM corpus_app_studytextterm
    WHERE kind = 'question' AND lexeme ^@ %(prefix)s::text AND lexeme <> ''
    UNION
    SELECT text_id, length FROM corpus_app_studytextterm WHERE kind = 'question' AND lexeme = ANY({lexemes})
""".replace("{lexemes}", _lexemes("%(prefix)s::text"))
_NAMING = _QUESTIONS.replace(
    "{with}",
    """
    WITH each AS (SELECT DISTINCT {lexemes} AS lexemes FROM unnest(%(names)s::text[]) AS name),
    named AS ( -- what has all words of a long name has those of a shorter one within it
        SELECT lexemes FROM each WHERE cardinality(lexemes) > 0 AND NOT EXISTS (
            SELECT FROM each AS other
            WHERE cardinality(other.lexemes) > 0 AND other.lexemes <@ each.lexemes AND other.lexemes <> each.lexemes
        )
    ),
    found AS (
        SELECT text_id, min(with_all.length) AS length FROM named, LATERAL ({with_all}) AS with_all GROUP BY text_id
    ),
    """.replace("{lexemes}", _lexemes("name")).replace("{with_all}", _WITH_ALL),
)
_BEGUN = _QUESTIONS.replace("{with}", "WITH found AS ({begun}),".replace("{begun}", _WITH_PREFIX))
_TYPED = _QUESTIONS.replace(
    "{with}",
    """
    WITH typed AS (SELECT {lexemes} AS lexemes),
    with_all AS (SELECT with_all.* FROM typed, LATERAL ({with_all}) AS with_all),
    found AS (SELECT * FROM with_all JOIN ({begun}) AS begun USING (text_id, length)),
    """.replace("{lexemes}", _lexemes("%(words)s::text"))
    .replace("{with_all}", _WITH_ALL)
    .replace("{begun}", _WITH_PREFIX),
)
