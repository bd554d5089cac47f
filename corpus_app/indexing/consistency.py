"""Check that the index matches the corpus: every derived row is there, and none is stale."""

from __future__ import annotations

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import connection

from corpus_app import embedding, passages
from corpus_app.embedding import metric
from corpus_app.indexing import study_texts, study_words, sync
from corpus_app.models import Passage

_ROWS = """
    WITH passage AS (
        SELECT p.*, s.collection_id, s.study_id || ' passage ' || (p.position + 1) AS label,
               s.status = 'published' AND s.notice <> 'retracted' AND p.kind <> 'plain' AS searchable,
               s.status <> 'withdrawn' AS indexable
        FROM corpus_app_passage p
        JOIN corpus_app_study s ON s.id = p.study_id
    ),
    vector AS (SELECT * FROM corpus_app_passagevector),
    sentence AS (SELECT * FROM corpus_app_passagesentence),
    term AS (SELECT * FROM corpus_app_passageterm),
    short AS (
        SELECT t.*, s.collection_id, s.study_id || ' text ' || (t.position + 1) AS label,
               s.status = 'published' AND s.notice <> 'retracted' AS searchable, s.status <> 'withdrawn' AS indexable
        FROM corpus_app_studytext t
        JOIN corpus_app_study s ON s.id = t.study_id
    ),
    short_vector AS (SELECT * FROM corpus_app_studytextvector),
    short_term AS (SELECT * FROM corpus_app_studytextterm)
"""
# Each fault, with the query that returns the labels of the passages that have it.
_FAULTS = {
    "the content hash is not that of its heading and text": """
        SELECT label FROM passage WHERE content_hash <>
            encode(sha256(convert_to(heading, 'UTF8') || '\\x00'::bytea || convert_to(text, 'UTF8')), 'hex')""",
    "could not be indexed": """
        SELECT label || ' (' || index_error || ')' FROM passage WHERE index_error <> '' AND indexable""",
    "searchable, but without a vector of its present text": """
        SELECT label FROM passage WHERE searchable AND NOT EXISTS (
            SELECT FROM vector
            WHERE passage_id = passage.id AND encoder = %(encoder)s AND vector.content_hash = passage.content_hash)""",
    "has a vector of a former text": """
        SELECT label FROM passage JOIN vector ON passage_id = passage.id
        WHERE vector.content_hash <> passage.content_hash""",
    "not searchable, but its vector is": """
        SELECT label FROM passage JOIN vector ON passage_id = passage.id
        WHERE vector.searchable AND NOT passage.searchable""",
    "searchable, but its vector is not": """
        SELECT label FROM passage JOIN vector ON passage_id = passage.id
        WHERE passage.searchable AND NOT vector.searchable""",
    "its vector stands in another collection": """
        SELECT label FROM passage JOIN vector ON passage_id = passage.id
        WHERE vector.collection_id <> passage.collection_id""",
    "its vector is not of unit length": """
        SELECT label FROM passage JOIN vector ON passage_id = passage.id
        WHERE NOT abs(l2_norm(vector.vector) - 1) < 0.01""",
    "searchable, but a sentence has no vector of the encoder in use": """
        SELECT DISTINCT label FROM passage JOIN sentence ON passage_id = passage.id
        WHERE searchable AND encoder <> %(encoder)s AND kept_encoder <> %(encoder)s""",
    "not searchable, but has terms": """
        SELECT DISTINCT label FROM passage JOIN term ON passage_id = passage.id
        WHERE NOT searchable
        UNION SELECT DISTINCT label FROM short JOIN short_term ON text_id = short.id WHERE NOT searchable""",
    "this text could not be indexed": """
        SELECT label || ' (' || index_error || ')' FROM short WHERE index_attempts > 0 AND indexable""",
    "it is a searchable text without a vector": """
        SELECT label FROM short WHERE searchable AND NOT EXISTS (
            SELECT FROM short_vector WHERE text_id = short.id AND encoder = %(space)s)""",
    "its vector's study, collection, kind or flag are not its own": """
        SELECT label FROM short JOIN short_vector v ON v.text_id = short.id
        WHERE (v.searchable, v.collection_id, v.kind, v.study_id)
              IS DISTINCT FROM (short.searchable, short.collection_id, short.kind, short.study_id)""",
    "this text's vector is not of unit length": """
        SELECT label FROM short JOIN short_vector v ON v.text_id = short.id
        WHERE NOT abs(l2_norm(v.vector) - 1) < 0.01""",
}
_FALSE_TERMS = """
    SELECT DISTINCT s.study_id || ' passage ' || (p.position + 1)
    FROM present
    FULL JOIN corpus_app_passageterm t USING (passage_id, lexeme)
    JOIN corpus_app_passage p ON p.id = passage_id
    JOIN corpus_app_study s ON s.id = p.study_id
    WHERE s.status = 'published' AND s.notice <> 'retracted'
      AND p.kind <> 'plain'
      AND (present.collection_id, present.frequency, present.length)
          IS DISTINCT FROM (t.collection_id, t.frequency, t.length)
"""
_FALSE_SHORT_TERMS = """
    SELECT DISTINCT s.study_id || ' text ' || (t.position + 1)
    FROM present
    FULL JOIN corpus_app_studytextterm term USING (text_id, lexeme)
    JOIN corpus_app_studytext t ON t.id = text_id
    JOIN corpus_app_study s ON s.id = t.study_id
    WHERE s.status = 'published' AND s.notice <> 'retracted'
      AND (present.study_id, present.collection_id, present.kind, present.frequency, present.length)
          IS DISTINCT FROM (term.study_id, term.collection_id, term.kind, term.frequency, term.length)
"""
_FALSE_STATISTICS = """
    WITH posting AS (
        SELECT 'passage' AS kind, lexeme, frequency, length FROM corpus_app_passageterm
        UNION ALL SELECT kind, lexeme, frequency, length FROM corpus_app_studytextterm
    ),
    counted AS (
        SELECT kind, lexeme, count(*) AS texts, sum(length) AS total_length, max(frequency) AS most,
               min(length) AS least
        FROM posting GROUP BY kind, lexeme
    ),
    stored AS (
        SELECT kind, lexeme, sum(texts) AS texts, sum(total_length) AS total_length, max(max_frequency) AS most,
               min(min_length) AS least
        FROM corpus_app_termstatistics GROUP BY kind, lexeme HAVING sum(texts) <> 0
    )
    SELECT kind || ' ' || lexeme FROM counted FULL JOIN stored USING (kind, lexeme)
    WHERE (counted.texts, counted.total_length) IS DISTINCT FROM (stored.texts, stored.total_length)
       OR counted.most > stored.most OR counted.least < stored.least
"""
_FALSE_WORDS = """
    SELECT DISTINCT s.study_id
    FROM present
    FULL JOIN corpus_app_studyword w USING (study_id, field, word)
    JOIN corpus_app_study s ON s.id = coalesce(present.study_id, w.study_id)
    WHERE present.passages IS DISTINCT FROM w.passages
"""


def audit() -> list[str]:
    """Return the faults of the index, one line per passage or text; empty when it matches the corpus."""
    encoder = embedding.active_name()
    parameters = {
        "encoder": encoder,
        "space": metric.space(encoder),
        "studies": None,
        "heading_weight": sync.HEADING_WEIGHT,
    }
    queries = {fault: _ROWS + query for fault, query in _FAULTS.items()}
    queries["its terms are not those of its words"] = sync.PRESENT_TERMS + _FALSE_TERMS
    queries["this text's terms are not those of its words"] = study_texts.PRESENT_TERMS + _FALSE_SHORT_TERMS
    queries["the statistics of this lexeme are not those of its terms"] = _FALSE_STATISTICS
    queries["its words are not those of its texts and names"] = study_words.PRESENT_WORDS + _FALSE_WORDS
    problems = []
    with connection.cursor() as cursor:
        for fault, query in queries.items():
            cursor.execute(query, parameters)
            problems += [f"{label}: {fault}" for (label,) in cursor.fetchall()]
    return sorted(problems + _wrong_sentences() + study_texts.audit())


def _wrong_sentences() -> list[str]:
    """Return the faults of passages whose stored sentences differ from those of the splitter."""
    rows = (
        Passage.with_plain.order_by("pk")
        .annotate(
            starts=ArrayAgg("sentences__start", order_by="sentences__position"),
            ends=ArrayAgg("sentences__end", order_by="sentences__position"),
        )
        .values_list("study__study_id", "position", "text", "kind", "starts", "ends")
    )
    return [
        f"{study_id} passage {position + 1}: its sentences are not those of its text"
        for study_id, position, text, kind, starts, ends in rows.iterator()
        if passages.sentences_of(text, kind) != tuple(zip(starts, ends, strict=True))
    ]
