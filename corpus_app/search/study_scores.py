"""Scores of studies: BM25 and cosine of their titles, statements, plain sentences, questions and passages.

By words PostgreSQL finds the best texts of each kind, then the best of each candidate study, with statistics per kind
(`bm25`). The cosines come as packed ids and scores; the best of each study and kind are selected here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import pipelining
from corpus_app import models, records
from corpus_app.embedding import metric
from corpus_app.models import PassageVector
from corpus_app.records import CuratedQuestion, ShortText, StudyScores, TextKind, TextScore
from corpus_app.search import bm25
from corpus_app.search.question_vectors import encoder_of

PASSAGE = "passage"
KINDS = (*(kind.value for kind in TextKind), PASSAGE)
"""The kinds of text; packed rows hold a kind's index in this tuple."""
PASSAGE_CODE = KINDS.index(PASSAGE)
QUESTION_CODE = KINDS.index(TextKind.QUESTION.value)
TIES = 10
"""Times the limit: the most texts of a kind that are candidates by words because they equal the last of the best."""
NEAR_QUESTIONS = 24
"""Nearest curated questions that are read, so that some are left once those that ask the same are dropped."""

DECIMALS = records.COSINE_DECIMALS  # scores are rounded, so that the order of summation cannot decide between equals

_PACKED_TYPE = np.dtype([("text", ">i8"), ("study", ">i8"), ("kind", ">i4"), ("score", ">f8")])


def score_studies(
    text: str,
    vectors: Sequence[Sequence[float]],
    *,
    collection: str | None = None,
    study_ids: Sequence[str] | None = None,
    limit: int = 50,
) -> tuple[StudyScores, ...]:
    """Return how well the texts of each candidate study match a question, in the order of the studies' ids.

    A candidate has one of the best `limit` texts of a kind (a `TextKind`, or `passage`) by BM25 or by cosine; all its
    maxima are exact. `vectors` are those of the question's formulations; the first one decides which texts are near.
    Without vectors there are no cosines. With `study_ids`, only these studies are candidates. Raises DatabaseError when
    a statement fails.
    """
    encoder = encoder_of(next(iter(vectors), None))
    parameters = {
        **bm25.question_parameters(text),
        "collection": collection,
        "study_ids": None if study_ids is None else list(study_ids),
        "limit": limit,
        "encoder": encoder,
        "space": metric.space(encoder),
    }
    for place, vector in enumerate(vectors):
        parameters[f"vector{place}"] = pipelining.Packed(vector, ">f2")
        parameters[f"projected{place}"] = pipelining.Packed(metric.project(encoder, vector)[0].tolist(), ">f2")
    with pipelining.snapshot_pipeline(settings=_SETTINGS, is_planned_once=True) as send:
        statements = _Statements(send, parameters, len(vectors), len(vectors[0]) if vectors else 0)
        by_words, count = statements.words()
        meaning, by_meaning = statements.meaning(count, by_words)
        studies = np.union1d(by_words, by_meaning)
        best_words, best_meaning = statements.best_by_words(studies), meaning[0].best_of(studies)
        others = tuple(rows.best_of(studies) for rows in meaning[1:])
        near = meaning[0].best_of_kind(QUESTION_CODE, studies, NEAR_QUESTIONS)
        texts, names = statements.descriptions((best_words, best_meaning, near), studies)
        matched = statements.matched(studies)
    top3 = meaning[0].means_of_best(studies)
    return tuple(_scores(best_words, best_meaning, others, top3, texts, names, matched, near))


class _Statements:
    """The statements for one question, in the transaction of `send`."""

    def __init__(self, send: pipelining.Send, parameters: dict[str, Any], formulations: int, dimensions: int) -> None:
        self._send = send
        self._parameters = parameters
        self._formulations = formulations
        self._dimensions = dimensions

    def words(self) -> tuple[NDArray[np.int64], _Counts]:
        """Return the studies of the best texts of each kind by BM25, and the counts of texts."""
        own = {"passage_index": PassageVector.ann_index(self._parameters["encoder"], self._parameters["collection"])}
        own |= {"most": TIES * self._parameters["limit"]}
        chosen = {"{of_texts}": "NULL", "{of_passages}": "NULL"}
        if self._parameters["study_ids"] is not None:
            chosen = {
                "{of_texts}": _TEXTS_OF.format(studies=_CHOSEN),
                "{of_passages}": _PASSAGES_OF.format(studies=_CHOSEN),
            }
        statement = _WORDS
        for mark, ids in chosen.items():
            statement = statement.replace(mark, ids)
        studies, *counts = pipelining.single_row(self._send(statement, self._parameters | own))
        return np.empty(0, np.int64) if studies is None else studies, _Counts(*counts)

    def best_by_words(self, studies: NDArray[np.int64]) -> Rows:
        """Return the best text of each of these studies and each kind by BM25, where it has any of the words."""
        own = {"studies": pipelining.Ids(studies.tolist())}
        return Rows.unpack(pipelining.single_row(self._send(_BEST_WORDS, self._parameters | own))[0])

    def meaning(self, count: _Counts, by_words: NDArray[np.int64]) -> tuple[tuple[Rows, ...], NDArray[np.int64]]:
        """Return the cosines to each formulation, and the studies of the best texts by the first one.

        They cover all texts, or with approximate indexes all texts of the candidates, those found by words included.
        """
        if not self._formulations:
            return (Rows.unpack(None),), np.empty(0, np.int64)
        limit, has_index = self._parameters["limit"], count.has_many_texts or count.has_many_passages
        if has_index:
            self._send(_ANN_SETTINGS, {"ef_search": str(max(count.text_ef or 0, count.passage_ef or 0))})
        rows = self._cosines(
            _NEAREST_TEXTS if count.has_many_texts else _TEXT_VECTORS,
            _NEAREST_PASSAGES if count.has_many_passages else _PASSAGE_VECTORS,
        )
        best = rows[0].studies_of_best(limit)
        if has_index:
            candidates = np.union1d(best, by_words)
            own = {"studies": pipelining.Ids(candidates.tolist())}
            parts = [
                f"{vectors} AND {table}.study_id = ANY(%(studies)s::bigint[])"
                for vectors, table in ((_TEXT_VECTORS, "v"), (_PASSAGE_VECTORS, "p"))
            ]
            rows = self._cosines(*parts, **own)
        return rows, best

    def _cosines(self, *vectors: str, **own: Any) -> tuple[Rows, ...]:
        """Return the cosines of the formulations to the vectors selected by these queries."""
        places = range(self._formulations)
        parts = " UNION ALL ".join(f"({part})" for part in vectors)
        statement = self._limited(_COSINES.replace("{vectors}", parts))
        for mark, form in (
            ("{scores}", "-(vector <#> asked{n}) AS score{n}"),
            ("{packed}", "float8send(score{n})"),
            ("{projected}", "%(projected{n})s::halfvec AS asked{n}"),
            ("{plain}", "%(vector{n})s::halfvec AS asked{n}"),
        ):
            joint = " || " if mark == "{packed}" else ", "
            statement = statement.replace(mark, joint.join(form.replace("{n}", str(place)) for place in places))
        statement = statement.replace("{dimensions}", str(self._dimensions))
        packed = pipelining.single_row(self._send(statement, self._parameters | own))[0]
        return Rows.unpack_formulations(packed, self._formulations)

    def _limited(self, statement: str) -> str:
        """Limit the statement to a collection and to studies, where the parameters name any."""
        in_collection = "" if self._parameters["collection"] is None else "AND v.collection_id = %(collection)s"
        statement = statement.replace("{in_collection}", in_collection)
        for mark, study in _STUDY_MARKS.items():
            limit = "" if self._parameters["study_ids"] is None else f"AND {study} IN ({_CHOSEN})"
            statement = statement.replace(mark, limit)
        return statement

    def matched(self, studies: NDArray[np.int64]) -> dict[int, frozenset[str]]:
        """Return the question's lexemes that occur anywhere in each study."""
        rows = self._send(_MATCHED, self._parameters | {"studies": pipelining.Ids(studies.tolist())})
        return {study: frozenset(lexemes) for study, lexemes in rows.fetchall()}

    def descriptions(
        self, best: Sequence[Rows], studies: NDArray[np.int64]
    ) -> tuple[dict[int, ShortText], dict[int, tuple[str, bool]]]:
        """Return the short texts of these rows by primary key, and the id and curation flag of each study."""
        wanted = np.unique(np.concatenate([rows.text[rows.kind != PASSAGE_CODE] for rows in best]))
        texts = self._send(_TEXTS, {"texts": pipelining.Ids(wanted.tolist())})
        names = self._send(_STUDIES, {"studies": pipelining.Ids(studies.tolist())})
        described = {
            pk: ShortText(kind, pk, finding_id, passage_id, words)
            for pk, kind, finding_id, passage_id, words in texts.fetchall()
        }
        return described, {pk: (study_id, is_curated) for pk, study_id, is_curated in names.fetchall()}


@dataclass(frozen=True, slots=True)
class _Counts:
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


# --- Select the best --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rows:
    """Scored texts, as columns."""

    text: NDArray[np.int64]
    study: NDArray[np.int64]
    kind: NDArray[np.int64]
    score: NDArray[np.float64]

    @classmethod
    def unpack(cls, packed: bytes | None) -> Rows:
        rows = np.frombuffer(packed or b"", _PACKED_TYPE)
        return cls(
            rows["text"].astype(np.int64),
            rows["study"].astype(np.int64),
            rows["kind"].astype(np.int64),
            rows["score"].astype(np.float64).round(DECIMALS),
        )

    @classmethod
    def unpack_formulations(cls, packed: bytes | None, count: int) -> tuple[Rows, ...]:
        """Return the rows once for each formulation, with its scores."""
        row_type = np.dtype([("text", ">i8"), ("study", ">i8"), ("kind", ">i4"), ("scores", ">f8", (count,))])
        rows = np.frombuffer(packed or b"", row_type)
        text, study, code = (rows[name].astype(np.int64) for name in ("text", "study", "kind"))
        scores = rows["scores"].astype(np.float64).round(DECIMALS).reshape(-1, count)
        return tuple(cls(text, study, code, scores[:, place]) for place in range(count))

    def __getitem__(self, places: NDArray[Any]) -> Rows:
        return Rows(self.text[places], self.study[places], self.kind[places], self.score[places])

    def studies_of_best(self, limit: int) -> NDArray[np.int64]:
        """Return the studies of the `limit` highest rows of each kind, ties with the last included."""
        best = [np.empty(0, np.int64)]
        for kind in range(len(KINDS)):
            own = np.flatnonzero(self.kind == kind)
            if len(own) > limit:
                lowest = np.partition(self.score[own], len(own) - limit)[len(own) - limit]
                own = own[self.score[own] >= lowest]
            best.append(self.study[own])
        return np.unique(np.concatenate(best))

    def best_of(self, studies: NDArray[np.int64]) -> Rows:
        """Return the highest row of each study and kind; of equals, the one with the lowest id."""
        own = self[np.isin(self.study, studies)]
        group = own.study * len(KINDS) + own.kind
        order = np.lexsort((own.text, -own.score, group))
        return own[order[np.unique(group[order], return_index=True)[1]]]

    def best_of_kind(self, kind: int, studies: NDArray[np.int64], limit: int) -> Rows:
        """Return the `limit` highest rows of a kind among these studies, the highest first."""
        own = self[(self.kind == kind) & np.isin(self.study, studies)]
        return own[np.lexsort((own.text, -own.score))[:limit]]

    def means_of_best(self, studies: NDArray[np.int64], count: int = 3) -> dict[tuple[int, int], float]:
        """Return the mean of the `count` highest scores by study and kind, left out where there are fewer."""
        own = self[np.isin(self.study, studies)]
        group = own.study * len(KINDS) + own.kind
        own = own[np.lexsort((-own.score, group))]
        groups, starts, counts = np.unique(np.sort(group), return_index=True, return_counts=True)
        enough = counts >= count
        places = starts[enough, None] + np.arange(count)
        means = own.score[places].mean(axis=1).tolist()
        keys = (divmod(key, len(KINDS)) for key in groups[enough].tolist())
        return dict(zip(keys, means, strict=True))


def _scores(
    by_words: Rows,
    by_meaning: Rows,
    others: Sequence[Rows],
    top3: dict[tuple[int, int], float],
    texts: dict[int, ShortText],
    names: dict[int, tuple[str, bool]],
    matched: dict[int, frozenset[str]],
    near: Rows,
) -> Iterator[StudyScores]:
    questions: dict[int, list[CuratedQuestion]] = defaultdict(list)
    for study, text, score in zip(near.study.tolist(), near.text.tolist(), near.score.tolist(), strict=True):
        questions[study].append(CuratedQuestion(texts[text].words, names[study][0], score))
    found: dict[int, dict[str, TextScore]] = {study: {} for study in names}
    cosines, words = _by_study(by_meaning), _by_study(by_words)
    further = [_by_study(rows) for rows in others]
    for study, kind in sorted(cosines.keys() | words.keys()):
        near_text, cosine = cosines.get((study, kind), (None, None))
        word_text, bm25 = words.get((study, kind), (None, 0.0))
        found[study][KINDS[kind]] = TextScore(
            bm25,
            cosine,
            by_words=_described(word_text, kind, texts),
            by_meaning=_described(near_text, kind, texts),
            top3=top3.get((study, kind)),
            others=tuple(own[study, kind][1] for own in further if (study, kind) in own),
        )
    for study, (study_id, is_curated) in sorted(names.items(), key=lambda item: item[1]):
        yield StudyScores(
            study_id,
            found[study],
            matched.get(study, frozenset()),
            is_curated=is_curated,
            near_questions=tuple(questions[study]),
        )


def _by_study(rows: Rows) -> dict[tuple[int, int], tuple[int, float]]:
    """Return the text and score of each study and kind."""
    columns = (column.tolist() for column in (rows.study, rows.kind, rows.text, rows.score))
    return {(study, kind): (text, score) for study, kind, text, score in zip(*columns, strict=True)}


def _described(text: int | None, kind: int, texts: dict[int, ShortText]) -> ShortText | None:
    if text is None:
        return None
    return ShortText(PASSAGE, None, passage_id=text) if kind == PASSAGE_CODE else texts[text]


# --- SQL --------------------------------------------------------------------------------------------------------------

_CODE = "CASE kind " + " ".join(f"WHEN '{kind}' THEN {code}" for code, kind in enumerate(KINDS)) + " END"
_PACKED_ROW = "int8send(text_id) || int8send(study_id) || int4send({code}) || ".replace("{code}", _CODE)
_PACKED = f"string_agg({_PACKED_ROW} float8send(score), '')"
_STUDY_MARKS = {"{of_texts}": "v.study_id", "{of_passages}": "p.study_id"}
"""Where a statement is limited to studies, and what their key is there."""
_CHOSEN = "SELECT id FROM corpus_app_study WHERE study_id = ANY(%(study_ids)s::text[])"
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
    SELECT (SELECT array_agg(study_id) FROM best),
           (SELECT coalesce(sum(texts) FILTER (WHERE kind <> 'passage'), 0)::bigint FROM corpus),
           (SELECT coalesce(sum(texts) FILTER (WHERE kind = 'passage'), 0)::bigint FROM corpus),
           (SELECT max(ef_search) FROM corpus_app_approximateindex WHERE encoder = %(space)s AND kind <> ''),
           (SELECT ef_search FROM corpus_app_approximateindex WHERE name = %(passage_index)s)
""".replace("{terms}", bm25.ALL_TERMS)
    .replace("{best_texts}", bm25.best("studytextterm", chosen="{of_texts}"))
    .replace("{best_passages}", bm25.best("passageterm", chosen="{of_passages}"))
)
_AMONG = "SELECT unnest(%(studies)s::bigint[])"
_BEST_WORDS = (
    """
    WITH {terms},
    scored AS (
        SELECT best.id AS text_id, t.study_id, weighted.kind, round(score * {scale}) / {scale} AS score
        FROM weighted CROSS JOIN LATERAL {texts} AS best JOIN corpus_app_studytext t USING (id)
        WHERE weighted.kind <> 'passage'
        UNION ALL
        SELECT best.id, p.study_id, weighted.kind, round(score * {scale}) / {scale}
        FROM weighted CROSS JOIN LATERAL {passages} AS best JOIN corpus_app_passage p USING (id)
        WHERE weighted.kind = 'passage'
    )
    SELECT {packed} FROM (
        SELECT DISTINCT ON (study_id, kind) * FROM scored ORDER BY study_id, kind, score DESC, text_id
    ) AS best
""".replace("{packed}", _PACKED)
    .replace("{terms}", bm25.ALL_TERMS)
    .replace("{scale}", f"1e{DECIMALS}::float8")
    .replace("{texts}", bm25.best("studytextterm", limit="NULL", chosen=_TEXTS_OF.format(studies=_AMONG)))
    .replace("{passages}", bm25.best("passageterm", limit="NULL", chosen=_PASSAGES_OF.format(studies=_AMONG)))
)
# `{scores}` becomes one column for each formulation of the question.
_COSINES = """
    SELECT string_agg({row} {packed}, '') FROM (
        SELECT text_id, study_id, kind, {scores} FROM ({vectors}) AS compared
    ) AS scored
""".replace("{row}", _PACKED_ROW)
_TEXT_VECTORS = """
    SELECT text_id, study_id, kind, vector, {projected} FROM corpus_app_studytextvector v
    WHERE encoder = %(space)s AND searchable {in_collection} {of_texts}
"""
_PASSAGE_VECTORS = """
    SELECT passage_id AS text_id, p.study_id, 'passage' AS kind, vector, {plain}
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
_MATCHED = """
    WITH {question},
    asked AS MATERIALIZED (SELECT array_agg(lexeme) AS lexemes FROM question),
    places AS (
        SELECT s.study_id, p.lexeme FROM asked CROSS JOIN corpus_app_studytext s CROSS JOIN LATERAL (
            SELECT lexeme FROM corpus_app_studytextterm p WHERE p.text_id = s.id AND p.lexeme = ANY(asked.lexemes)
            OFFSET 0
        ) AS p WHERE s.study_id = ANY(%(studies)s::bigint[])
        UNION
        SELECT s.study_id, p.lexeme FROM asked CROSS JOIN corpus_app_passage s CROSS JOIN LATERAL (
            SELECT lexeme FROM corpus_app_passageterm p WHERE p.passage_id = s.id AND p.lexeme = ANY(asked.lexemes)
            OFFSET 0
        ) AS p WHERE s.study_id = ANY(%(studies)s::bigint[])
    )
    SELECT study_id, array_agg(lexeme) FROM places GROUP BY study_id
""".replace("{question}", bm25.QUESTION)
# Exact statements are planned once per connection, approximate ones each time: each index is for one encoder.
_SETTINGS = {"max_parallel_workers_per_gather": "0", "jit": "off", "plan_cache_mode": "force_generic_plan"}
_ANN_SETTINGS = """
    SELECT set_config('plan_cache_mode', 'force_custom_plan', true),
           set_config('hnsw.ef_search', %(ef_search)s::text, true),
           set_config('hnsw.iterative_scan', 'strict_order', true)
"""
