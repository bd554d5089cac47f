"""BM25 in PostgreSQL: the weights of a question's lexemes, and the best texts of a kind, exact and without a full scan.

The form is Lucene's. All statistics are those of the whole searchable corpus, even in a collection. How the best are
found is written at the functions of the migration `0032_ordered_postings`, and why in docs/adr/0008-max-score.md.
"""

from __future__ import annotations

from typing import Any

from corpus_app.models import TEXT_SEARCH_CONFIG, SearchText

# BM25's saturation of repeated words (1.2 is usual) and its length normalisation (.75 is usual). Best of a grid on
# SciFact and Qasper; short passages repeat little.
K1 = 0.7
B = 0.6
K3 = 4.0  # saturation of words that the question repeats: twice counts 1.67 times once (Okapi at TREC-3, 1994)


def question_parameters(text: str) -> dict[str, Any]:
    """Return the parameters of the SQL fragments `QUESTION` and `TERMS`."""
    return {"text": text, "config": TEXT_SEARCH_CONFIG, "k1": K1, "b": B, "k3": K3}


QUESTION = """
    question AS MATERIALIZED (
        SELECT lexeme,
               (%(k3)s::float8 + 1) * cardinality(positions) / (%(k3)s::float8 + cardinality(positions)) AS weight
        FROM unnest(to_tsvector(%(config)s::regconfig, {shadow}))
    )
""".replace("{shadow}", SearchText.template % {"expressions": "%(text)s::text"})
"""The lexemes of a question and their weights."""

# A term adds most to a text in which it is as frequent as in any, and which is as short as any: `ceiling`. That holds
# whatever the mean length is, so an edit changes only its own lexemes.
TERMS = """
    {question},
    totals AS MATERIALIZED (
        SELECT kind, lexeme, sum(texts)::bigint AS texts, sum(total_length) AS total_length,
               max(max_frequency) AS max_frequency, min(min_length) AS min_length
        FROM corpus_app_termstatistics
        WHERE lexeme = ANY(array_append(ARRAY(SELECT lexeme FROM question), '')) {of_kinds}
        GROUP BY kind, lexeme HAVING sum(texts) > 0
    ),
    corpus AS MATERIALIZED (
        SELECT kind, texts, %(k1)s::float8 * (1 - %(b)s::float8) AS base,
               %(k1)s::float8 * %(b)s::float8 / coalesce(nullif(total_length / texts, 0), 1) AS per_length
        FROM totals WHERE lexeme = ''
    ),
    terms AS MATERIALIZED (
        SELECT kind, lexeme, totals.texts, base, per_length, max_frequency, min_length,
               weight * ln(1 + (corpus.texts - totals.texts + 0.5::float8) / (totals.texts + 0.5::float8)) AS idf
        FROM question JOIN totals USING (lexeme) JOIN corpus USING (kind)
    ),
    weighted AS MATERIALIZED (
        SELECT kind, base, per_length, array_agg(lexeme ORDER BY ceiling DESC, lexeme) AS lexemes,
               array_agg(idf ORDER BY ceiling DESC, lexeme) AS idfs,
               array_agg(ceiling ORDER BY ceiling DESC, lexeme) AS ceilings,
               array_agg(texts ORDER BY ceiling DESC, lexeme) AS counts
        FROM (
            SELECT *, idf * max_frequency / (max_frequency + base + per_length * min_length) AS ceiling FROM terms
        ) AS bounded
        GROUP BY kind, base, per_length
    )
""".replace("{question}", QUESTION)
"""The statistics of a question's lexemes by kind of text (`weighted`), as the functions need them."""

PASSAGE_TERMS = TERMS.replace("{of_kinds}", "AND kind = 'passage'")
ALL_TERMS = TERMS.replace("{of_kinds}", "")

_BEST = """
    corpus_app_best_{table}(
        lexemes, idfs, ceilings, counts, base, per_length, {limit}::bigint, kind, %(collection)s::text,
        {chosen}::bigint[]
    )
"""


def best(table: str, *, limit: str = "%(limit)s", chosen: str = "NULL") -> str:
    """Return the SQL of the texts with the best scores, those that equal the last included, for a row of `weighted`.

    `table` is that of the postings: `passageterm` or `studytextterm`. With `chosen`, an array of ids, only these are
    scored. The rows have `id` and `score`.
    """
    return _BEST.replace("{table}", table).replace("{limit}", limit).replace("{chosen}", chosen)
