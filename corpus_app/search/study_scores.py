"""Scores of studies: BM25 and cosine of their titles, statements, plain sentences, questions and passages.

PostgreSQL finds the best texts of each kind by words (`bm25`) and by meaning, then the best of each candidate study.
One packed row for each study and kind leaves it, at any size of the corpus.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import pipelining
from corpus_app import models
from corpus_app.embedding import metric
from corpus_app.models import PassageVector
from corpus_app.records import CuratedQuestion, ShortText, StudyScores, TextKind, TextScore
from corpus_app.search import bm25
from corpus_app.search.question_vectors import encoder_of
from corpus_app.search.scored_rows import (
    DECIMALS,
    KINDS,
    MISSING,
    PASSAGE,
    PASSAGE_CODE,
    SCALE,
    TOP,
    BestText,
    Key,
    unpack_meaning,
    unpack_near,
    unpack_words,
)
from corpus_app.search.selection import StudySelection

QUESTION_CODE = KINDS.index(TextKind.QUESTION.value)
TIES = 10
"""Times the limit: the most texts of a kind that are candidates by words because they equal the last of the best."""
READ_POSTINGS = 50_000
"""Up to so many postings of the question's lexemes, reading them all takes less time than those of the candidates."""
NEAR_QUESTIONS = 24
"""Nearest curated questions that are read, so that some are left once those that ask the same are dropped."""


def score_studies(
    text: str,
    vectors: Sequence[Sequence[float]],
    *,
    collection: str | None = None,
    among: StudySelection | None = None,
    limit: int = 50,
) -> tuple[StudyScores, ...]:
    """Return how well the texts of each candidate study match a question, in the order of the studies' ids.

    A candidate has one of the best `limit` texts of a kind (a `TextKind`, or `passage`) by BM25 or by cosine; all its
    maxima are exact. `vectors` are those of the question's formulations; the first one decides which texts are near.
    Without vectors there are no cosines. With `among`, only the selected studies are candidates. Raises DatabaseError
    when a statement fails.
    """
    encoder = encoder_of(next(iter(vectors), None))
    chosen, traits = among.keys() if among else (None, {})
    parameters = {
        **traits,
        **bm25.question_parameters(text),
        "collection": collection,
        "limit": limit,
        "encoder": encoder,
        "space": metric.space(encoder),
    }
    for place, vector in enumerate(vectors):
        parameters[f"vector{place}"] = pipelining.Packed(vector, ">f2")
        parameters[f"projected{place}"] = pipelining.Packed(metric.project(encoder, vector)[0].tolist(), ">f2")
    with pipelining.snapshot_pipeline(settings=_SETTINGS, is_planned_once=True) as send:
        statements = _Statements(send, parameters, chosen, vectors)
        found, count = statements.words()
        meaning = statements.meaning(count, found)
        words, matched = statements.best_by_words(meaning.studies, count.postings)
        shown = {text for (_, kind), (text, _) in words.items() if kind != PASSAGE_CODE}
        shown |= {best.text for (_, kind), best in meaning.best.items() if kind != PASSAGE_CODE}
        shown |= {text for text, _, _ in meaning.near}
        texts, names = statements.descriptions(shown, meaning.studies)
    return tuple(_scores(words, meaning, texts, names, matched))


@dataclass(frozen=True, slots=True)
class _Meaning:
    studies: NDArray[np.int64]
    """The candidates, by words and by meaning."""
    best: Mapping[Key, BestText]
    near: Sequence[tuple[int, int, float]]


class _Statements:
    """The statements for one question, in the transaction of `send`."""

    def __init__(
        self, send: pipelining.Send, parameters: dict[str, Any], chosen: str | None, vectors: Sequence[Sequence[float]]
    ) -> None:
        self._send = send
        self._parameters = parameters
        self._chosen = chosen
        self._formulations = len(vectors)
        self._dimensions = len(vectors[0]) if vectors else 0

    def words(self) -> tuple[NDArray[np.int64], _Counts]:
        """Return the studies of the best texts of each kind by BM25, and the counts of texts."""
        own = {"passage_index": PassageVector.ann_index(self._parameters["encoder"], self._parameters["collection"])}
        own |= {"most": TIES * self._parameters["limit"]}
        statement = _WORDS
        for mark, texts in (("{of_texts}", _TEXTS_OF), ("{of_passages}", _PASSAGES_OF)):
            statement = statement.replace(mark, texts.replace("{studies}", self._chosen) if self._chosen else "NULL")
        studies, *counts = pipelining.single_row(self._send(statement, self._parameters | own))
        return np.empty(0, np.int64) if studies is None else studies, _Counts(*counts)

    def best_by_words(
        self, studies: NDArray[np.int64], postings: int
    ) -> tuple[dict[Key, tuple[int, float]], dict[int, frozenset[str]]]:
        """Return the best text of each of these studies and each kind by BM25, and the lexemes that each study has.

        `postings` is the number of postings that the question's lexemes have in all.
        """
        statement = _BEST_WORDS.replace("{hits}", _HITS_BY_LEXEME if postings <= READ_POSTINGS else _HITS_BY_TEXT)
        own = {"studies": pipelining.Ids(studies.tolist())}
        packed, pks, lexemes = pipelining.single_row(self._send(statement, self._parameters | own))
        matched = zip([] if pks is None else pks.tolist(), lexemes or (), strict=True)
        return unpack_words(packed), {pk: frozenset(words.split(" ")) for pk, words in matched}

    def meaning(self, count: _Counts, by_words: NDArray[np.int64]) -> _Meaning:
        """Return the candidates and their best texts by cosine; the first formulation decides which texts are near.

        They cover all texts, or with approximate indexes all texts of the candidates, those found by words included.
        """
        if not self._formulations:
            return _Meaning(by_words, {}, ())
        has_index = count.has_many_texts or count.has_many_passages
        if has_index:
            self._send(_ANN_SETTINGS, {"ef_search": str(max(count.text_ef or 0, count.passage_ef or 0))})
        found = self._cosines(
            by_words,
            _NEAREST_TEXTS if count.has_many_texts else _TEXT_VECTORS,
            _NEAREST_PASSAGES if count.has_many_passages else _PASSAGE_VECTORS,
        )
        if not has_index:
            return found
        parts = [
            f"{vectors} AND {table}.study_id = ANY(%(studies)s::bigint[])"
            for vectors, table in ((_TEXT_VECTORS, "v"), (_PASSAGE_VECTORS, "p"))
        ]
        return self._cosines(found.studies, *parts)

    def _cosines(self, studies: NDArray[np.int64], *vectors: str) -> _Meaning:
        """Compare the formulations with the vectors selected by these queries; these studies are candidates anyway."""
        parts = " UNION ALL ".join(f"({part})" for part in vectors)
        statement = self._limited(_COSINES.replace("{vectors}", parts))
        for mark, form in _FORMULATION_MARKS.items():
            places = range(mark.startswith("{further"), self._formulations)
            statement = statement.replace(mark, "".join(form.replace("{n}", str(place)) for place in places))
        statement = statement.replace("{dimensions}", str(self._dimensions))
        own = {"studies": pipelining.Ids(studies.tolist())}
        found, best, near = pipelining.single_row(self._send(statement, self._parameters | own))
        candidates = np.empty(0, np.int64) if found is None else np.sort(found)
        return _Meaning(candidates, unpack_meaning(best, self._formulations), unpack_near(near))

    def _limited(self, statement: str) -> str:
        """Limit the statement to a collection and to studies, where the parameters name any."""
        in_collection = "" if self._parameters["collection"] is None else "AND v.collection_id = %(collection)s"
        statement = statement.replace("{in_collection}", in_collection)
        for mark, study in _STUDY_MARKS.items():
            statement = statement.replace(mark, f"AND {study} IN ({self._chosen})" if self._chosen else "")
        return statement

    def descriptions(
        self, texts: Collection[int], studies: NDArray[np.int64]
    ) -> tuple[dict[int, ShortText], dict[int, tuple[str, bool]]]:
        """Return the short texts of these primary keys, and the id and curation flag of each study."""
        rows = self._send(_TEXTS, {"texts": pipelining.Ids(sorted(texts))})
        names = self._send(_STUDIES, {"studies": pipelining.Ids(studies.tolist())})
        described = {
            pk: ShortText(kind, pk, finding_id, passage_id, words)
            for pk, kind, finding_id, passage_id, words in rows.fetchall()
        }
        return described, {pk: (study_id, is_curated) for pk, study_id, is_curated in names.fetchall()}


@dataclass(frozen=True, slots=True)
class _Counts:
    postings: int
    texts: int
    passages: int
    text_ef: int | None
    passage_ef: int | None
    """The measured `ef_search` of the approximate indexes; None where there are none."""

    @property
    def has_many_texts(self) -> bool:
        return self.texts >= models.ANN_FROM and self.text_ef is not None

    @property
    def has_many_passages(self) -> bool:
        return self.passages >= models.ANN_FROM and self.passage_ef is not None


# --- Join both halves -------------------------------------------------------------------------------------------------


def _scores(
    words: Mapping[Key, tuple[int, float]],
    meaning: _Meaning,
    texts: dict[int, ShortText],
    names: dict[int, tuple[str, bool]],
    matched: dict[int, frozenset[str]],
) -> Iterator[StudyScores]:
    questions: dict[int, list[CuratedQuestion]] = defaultdict(list)
    for text, study, score in meaning.near:
        questions[study].append(CuratedQuestion(texts[text].words, names[study][0], score))
    found: dict[int, dict[str, TextScore]] = {study: {} for study in names}
    for study, kind in sorted(meaning.best.keys() | words.keys()):
        near = meaning.best.get((study, kind))
        word_text, bm25 = words.get((study, kind), (None, 0.0))
        found[study][KINDS[kind]] = TextScore(
            bm25,
            near.cosine if near else None,
            by_words=_described(word_text, kind, texts),
            by_meaning=_described(near.text if near else None, kind, texts),
            top3=near.top3 if near else None,
            others=near.others if near else (),
        )
    for study, (study_id, is_curated) in sorted(names.items(), key=lambda item: item[1]):
        yield StudyScores(
            study_id,
            found[study],
            matched.get(study, frozenset()),
            is_curated=is_curated,
            near_questions=tuple(questions[study]),
        )


def _described(text: int | None, kind: int, texts: dict[int, ShortText]) -> ShortText | None:
    if text is None:
        return None
    return ShortText(PASSAGE, None, passage_id=text) if kind == PASSAGE_CODE else texts[text]


# --- SQL --------------------------------------------------------------------------------------------------------------

_CODE = "CASE kind " + " ".join(f"WHEN '{kind}' THEN {code}" for code, kind in enumerate(KINDS)) + " END"
_PACKED = "string_agg(int8send(text_id) || int8send(study_id) || int2send(({code})::int2) || float8send(score), '')"
_STUDY_MARKS = {"{of_texts}": "v.study_id", "{of_passages}": "p.study_id"}
"""Where a statement is limited to studies, and what their key is there."""
_TEXTS_OF = "ARRAY(SELECT t.id FROM corpus_app_studytext t WHERE t.kind = weighted.kind AND t.study_id IN ({studies}))"
_PASSAGES_OF = "ARRAY(SELECT p.id FROM corpus_app_passage p WHERE p.study_id IN ({studies}))"
_WORDS = (
    """
    WITH {terms},
    best AS (
        SELECT t.study_id FROM weighted CROSS JOIN LATERAL (
            SELECT id FROM {best_texts} ORDER BY score DESC, id LIMIT %(most)s
        ) AS best JOIN corpus_app_studytext t USING (id) WHERE weighted.kind <> 'passage'
        UNION
        SELECT p.study_id FROM weighted CROSS JOIN LATERAL (
            SELECT id FROM {best_passages} ORDER BY score DESC, id LIMIT %(most)s
        ) AS best JOIN corpus_app_passage p USING (id) WHERE weighted.kind = 'passage'
    )
    SELECT (SELECT array_agg(study_id) FROM best), (SELECT coalesce(sum(texts), 0)::bigint FROM terms),
           (SELECT coalesce(sum(texts) FILTER (WHERE kind <> 'passage'), 0)::bigint FROM corpus),
           (SELECT coalesce(sum(texts) FILTER (WHERE kind = 'passage'), 0)::bigint FROM corpus),
           (SELECT max(ef_search) FROM corpus_app_approximateindex WHERE encoder = %(space)s AND kind <> ''),
           (SELECT ef_search FROM corpus_app_approximateindex WHERE name = %(passage_index)s)
""".replace("{terms}", bm25.ALL_TERMS)
    .replace("{best_texts}", bm25.best("studytextterm", chosen="{of_texts}"))
    .replace("{best_passages}", bm25.best("passageterm", chosen="{of_passages}"))
)
_HITS_BY_LEXEME = """
    SELECT p.study_id, terms.kind, p.text_id, terms.lexeme, p.frequency, p.length, idf, base, per_length
    FROM terms CROSS JOIN LATERAL (
        SELECT text_id, study_id, frequency, length FROM corpus_app_studytextterm p
        WHERE p.lexeme = terms.lexeme AND p.kind = terms.kind AND p.study_id IN (SELECT id FROM studies)
        OFFSET 0 -- without this fence the planner would read all postings
    ) AS p
    UNION ALL
    SELECT s.study_id, terms.kind, p.passage_id, terms.lexeme, p.frequency, p.length, idf, base, per_length
    FROM terms CROSS JOIN LATERAL (
        SELECT passage_id, frequency, length FROM corpus_app_passageterm p
        WHERE p.lexeme = terms.lexeme AND terms.kind = 'passage' OFFSET 0
    ) AS p JOIN corpus_app_passage s ON s.id = p.passage_id WHERE s.study_id IN (SELECT id FROM studies)
"""
_HITS_BY_TEXT = """
    SELECT s.study_id, s.kind, p.text_id, p.lexeme, p.frequency, p.length, idf, base, per_length
    FROM corpus_app_studytext s CROSS JOIN LATERAL (
        SELECT text_id, lexeme, frequency, length FROM corpus_app_studytextterm p
        WHERE p.text_id = s.id AND p.lexeme = ANY(ARRAY(SELECT lexeme FROM question)) OFFSET 0
    ) AS p JOIN terms USING (kind, lexeme) WHERE s.study_id IN (SELECT id FROM studies)
    UNION ALL
    SELECT s.study_id, terms.kind, p.passage_id, p.lexeme, p.frequency, p.length, idf, base, per_length
    FROM corpus_app_passage s CROSS JOIN LATERAL (
        SELECT passage_id, lexeme, frequency, length FROM corpus_app_passageterm p
        WHERE p.passage_id = s.id AND p.lexeme = ANY(ARRAY(SELECT lexeme FROM question)) OFFSET 0
    ) AS p JOIN terms USING (lexeme) WHERE terms.kind = 'passage' AND s.study_id IN (SELECT id FROM studies)
"""
_BEST_WORDS = (
    """
    WITH {terms},
    studies AS MATERIALIZED (SELECT unnest(%(studies)s::bigint[]) AS id),
    hits AS MATERIALIZED ({hits}),
    scored AS (
        SELECT study_id, kind, text_id,
               round({scale} * sum(idf * frequency / (frequency + base + per_length * length))) / {scale} AS score
        FROM hits GROUP BY study_id, kind, text_id
    ),
    best AS (SELECT DISTINCT ON (study_id, kind) * FROM scored ORDER BY study_id, kind, score DESC, text_id),
    matched AS (SELECT study_id, string_agg(DISTINCT lexeme, ' ') AS lexemes FROM hits GROUP BY study_id)
    SELECT (SELECT {packed} FROM best), array_agg(study_id), array_agg(lexemes) FROM matched
""".replace("{packed}", _PACKED.replace("{code}", _CODE))
    .replace("{terms}", bm25.ALL_TERMS)
    .replace("{scale}", f"1e{DECIMALS}::float8")
)
_COSINES = (
    """
    WITH compared AS MATERIALIZED (
        SELECT text_id, study_id, ({code})::int2 AS kind {scores} FROM ({vectors}) AS vectors
    ),
    candidates AS MATERIALIZED (
        SELECT study_id FROM (
            SELECT study_id, rank() OVER (PARTITION BY kind ORDER BY score0 DESC) AS place FROM compared
        ) AS ranked WHERE place <= %(limit)s
        UNION SELECT unnest(%(studies)s::bigint[])
    ),
    placed AS MATERIALIZED (
        SELECT *, row_number() OVER (PARTITION BY study_id, kind ORDER BY score0 DESC, text_id) AS place
        FROM compared WHERE study_id IN (SELECT study_id FROM candidates)
    ),
    best AS (
        SELECT study_id, kind, max(text_id) FILTER (WHERE place = 1) AS text_id {tops} {further_best}
        FROM placed GROUP BY study_id, kind
    ),
    near AS (
        SELECT row_number() OVER (ORDER BY score0 DESC, text_id) AS place, text_id, study_id, score0
        FROM placed WHERE kind = {question}
    )
    SELECT (SELECT array_agg(study_id) FROM candidates),
           (SELECT string_agg(
                int8send(text_id) || int8send(study_id) || int2send(kind) {packed_tops} {further_packed}, ''
            ) FROM best),
           (SELECT string_agg(int8send(text_id) || int8send(study_id) || int4send(score0), '' ORDER BY place)
            FROM near WHERE place <= {most})
""".replace("{code}", _CODE)
    .replace("{question}", str(QUESTION_CODE))
    .replace("{most}", str(NEAR_QUESTIONS))
)
_TOPS = range(1, TOP + 1)
_COSINES = _COSINES.replace(
    "{tops}", "".join(f", max(score0) FILTER (WHERE place = {place}) AS top{place}" for place in _TOPS)
).replace("{packed_tops}", "".join(f" || int4send(coalesce(top{place}, {MISSING}))" for place in _TOPS))
_FORMULATION_MARKS = {
    "{scores}": f", round(-(vector <#> asked{{n}}) * {SCALE}::float8)::int4 AS score{{n}}",
    "{projected}": ", %(projected{n})s::halfvec AS asked{n}",
    "{plain}": ", %(vector{n})s::halfvec AS asked{n}",
    "{further_best}": ", max(score{n}) AS further{n}",
    "{further_packed}": " || int4send(further{n})",
}
"""SQL that is repeated for each formulation of the question; of the further ones from the second on."""
_TEXT_VECTORS = """
    SELECT text_id, study_id, kind, vector {projected} FROM corpus_app_studytextvector v
    WHERE encoder = %(space)s AND searchable {in_collection} {of_texts}
"""
_PASSAGE_VECTORS = """
    SELECT passage_id AS text_id, p.study_id, 'passage' AS kind, vector {plain}
    FROM corpus_app_passagevector v JOIN corpus_app_passage p ON p.id = v.passage_id
    WHERE encoder = %(encoder)s AND searchable {in_collection} {of_passages}
"""
_NEAREST = "ORDER BY vector::halfvec({dimensions}) <#> %({asked}0)s::halfvec LIMIT %(limit)s"
_NEAREST_BY_METRIC, _NEAREST_BY_MEANING = (
    _NEAREST.replace("{asked}", "projected"),
    _NEAREST.replace("{asked}", "vector"),
)
_NEAREST_TEXTS = " UNION ALL ".join(f"({_TEXT_VECTORS} AND kind = '{kind}' {_NEAREST_BY_METRIC})" for kind in TextKind)
_NEAREST_PASSAGES = f"{_PASSAGE_VECTORS} {_NEAREST_BY_MEANING}"
_TEXTS = """
    SELECT id, kind, finding_id, passage_id, CASE kind WHEN 'question' THEN text ELSE '' END
    FROM corpus_app_studytext WHERE id = ANY(%(texts)s::bigint[])
"""
_STUDIES = """
    SELECT id, study_id,
           EXISTS (SELECT FROM corpus_app_studytext t WHERE t.study_id = s.id AND t.kind IN ('question', 'plain'))
    FROM corpus_app_study s WHERE id = ANY(%(studies)s::bigint[])
"""
# Exact statements are planned once per connection, approximate ones each time: each index is for one encoder.
_SETTINGS = {"max_parallel_workers_per_gather": "0", "jit": "off", "plan_cache_mode": "force_generic_plan"}
_ANN_SETTINGS = """
    SELECT set_config('plan_cache_mode', 'force_custom_plan', true),
           set_config('hnsw.ef_search', %(ef_search)s::text, true),
           set_config('hnsw.iterative_scan', 'strict_order', true)
"""
