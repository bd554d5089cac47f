"""Published studies that a text may name: by identifiers, authors, titles and organisations."""

from __future__ import annotations

from typing import Any

from django.db import connection

from corpus_app.records import NameCues, Reference
from corpus_app.search.studies import references

MOST_OF_AUTHOR = 40
"""Studies by one author that are read, those of the years named first."""
MOST_OF_TITLE = 40
MOST_STUDIES = 150


def named_studies(cues: NameCues) -> tuple[Reference, ...]:
    """Return the published studies that may be named, retracted or not, in the order of their ids.

    All that an author, a title or an identifier names are among them, up to the limits of this module.
    """
    parts, parameters = _statement(cues)
    if not parts:
        return ()
    with connection.cursor() as cursor:
        cursor.execute(_NAMED.replace("{parts}", " UNION ALL ".join(parts)), parameters)
        return references([study_id for (study_id,) in cursor.fetchall()])


def _statement(cues: NameCues) -> tuple[list[str], dict[str, Any]]:
    """Return the SQL of each cue that there is, and its parameters."""
    found: list[str] = []
    parameters: dict[str, Any] = {
        "dois": list(cues.dois),
        "pmids": list(cues.pmids),
        "authors": list(cues.authors),
        "years": list(cues.years),
        "title_words": list(cues.title_words),
        "runs": list(cues.runs),
        "of_author": MOST_OF_AUTHOR,
        "of_title": MOST_OF_TITLE,
        "most": MOST_STUDIES,
    }
    for name, part in _PARTS.items():
        found += [f"({part})"] if parameters[name] else []
    for place, words in enumerate(cues.phrases):
        parameters |= {f"phrase{place}": list(words), f"least{place}": max(1, len(words) // 2)}
        found.append(f"({_PHRASE.replace('{place}', str(place))})")
    for place, acronym in enumerate(cues.acronyms):
        parameters |= {f"acronym{place}": acronym.lower(), f"initials{place}": ".*".join(rf"\m{c}" for c in acronym)}
        found += [f"({part.replace('{place}', str(place))})" for part in _ACRONYM]
    if cues.acronyms:
        parameters["bodies"] = list(cues.bodies)
    return found, parameters


_NAMED = """
    SELECT study_id FROM (
        SELECT s.study_id, min(found.rank) AS rank FROM ({parts}) AS found JOIN corpus_app_study s ON s.id = found.id
        WHERE s.status = 'published' GROUP BY s.study_id ORDER BY min(found.rank), s.study_id LIMIT %(most)s
    ) AS named ORDER BY study_id
"""
_PARTS = {
    "dois": "SELECT id, 0 AS rank FROM corpus_app_study WHERE lower(doi) = ANY(%(dois)s)",
    "pmids": "SELECT id, 0 AS rank FROM corpus_app_study WHERE pmid = ANY(%(pmids)s)",
    "runs": """
        SELECT study_id AS id, 0 AS rank FROM corpus_app_studyword WHERE word = ANY(%(runs)s) AND field = 'run'
        GROUP BY study_id ORDER BY count(*) DESC, study_id LIMIT %(of_title)s
    """,
    "authors": """
        WITH known AS MATERIALIZED (
            SELECT word, found.id, is_of_year, place
            FROM unnest(%(authors)s::text[]) AS word CROSS JOIN LATERAL (
                SELECT w.study_id AS id, is_of_year, row_number() OVER (ORDER BY is_of_year DESC, w.study_id) AS place
                FROM corpus_app_studyword w JOIN corpus_app_study s ON s.id = w.study_id
                CROSS JOIN LATERAL (SELECT coalesce(s.year = ANY(%(years)s::int[]), false) AS is_of_year) AS dated
                WHERE w.word = word.word AND w.field = 'author'
            ) AS found
        )
        SELECT id, CASE WHEN count(*) > 1 THEN 0 WHEN min(place) = 1 THEN 1 ELSE 2 END AS rank
        FROM known GROUP BY id HAVING count(*) > 1 OR min(place) <= %(of_author)s
    """,
    "title_words": """
        SELECT found.id, 1 AS rank FROM unnest(%(title_words)s::text[]) AS word CROSS JOIN LATERAL (
            SELECT study_id AS id FROM corpus_app_studyword w WHERE w.word = word.word AND field = 'title'
            ORDER BY study_id LIMIT 1
        ) AS found
    """,
}
_PHRASE = """
    SELECT study_id AS id, 1 AS rank FROM corpus_app_studyword
    WHERE word = ANY(%(phrase{place})s) AND field IN ('author', 'title')
    GROUP BY study_id HAVING count(DISTINCT word) >= %(least{place})s
    ORDER BY count(DISTINCT word) DESC, study_id LIMIT %(of_title)s
"""
_ACRONYM = (
    """
    SELECT study_id AS id, 1 AS rank FROM corpus_app_studyword
    WHERE word = %(acronym{place})s AND field = 'title' ORDER BY study_id LIMIT %(of_title)s
    """,
    """
    SELECT id, 1 AS rank FROM corpus_app_study
    WHERE id IN (
        SELECT study_id FROM corpus_app_studyword
        WHERE word = ANY(%(bodies)s::text[]) AND field IN ('author', 'title')
    ) AND concat_ws(' ', title, array_to_string(authors, ' ')) ~ %(initials{place})s
    ORDER BY id LIMIT %(of_title)s
    """,
)
