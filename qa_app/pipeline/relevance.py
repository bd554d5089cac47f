"""Estimate the chance that a study answers a Query, from features that do not depend on the subject.

The features of a candidate study are the best cosine and BM25 of the question to its curated questions, plain
sentences, statements, title and passages; the distance of each to the best study of the same question; and the share of
the question's vocabulary and concepts in the study. One logistic model weighs them (`manage.py calibrate relevance`).
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from corpus_app.records import StudyScores
from qa_app.pipeline.concepts import name_stems
from qa_app.pipeline.learned import Logistic, Matrix
from qa_app.pipeline.query import Query

SHORT_TEXTS = ("question", "plain", "statement", "title")
"""Kinds of short texts of a study; a corpus may have titles alone."""
FURTHER = ("keywords", "concepts")
"""Names of the question's formulations after the ask; see `Query.formulations`."""
NO_COSINE = -0.3
"""Cosine for a kind of text that a study does not have: lower than that of any text."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The inverse document frequencies of the question's lexemes over passages."""

    idf: Mapping[str, float]
    unknown_share: float
    """Share of the summed IDF of lexemes that occur in no passage, 0 to 1."""

    @classmethod
    def of(cls, document_frequency: Sequence[tuple[str, int]], passages: int) -> Vocabulary:
        """Compute BM25's inverse document frequencies (Robertson and Zaragoza 2009, eq. 3.3)."""
        idf = {term: math.log(1 + (passages - df + 0.5) / (df + 0.5)) for term, df in document_frequency}
        total = sum(idf.values())
        unknown = sum(idf[term] for term, df in document_frequency if df == 0)
        return cls(idf, unknown / total if total else 1.0)

    @property
    def rarest(self) -> str | None:
        """Return the lexeme with the highest inverse document frequency; None without any."""
        return max(self.idf, key=lambda term: (self.idf[term], term), default=None)


@dataclass(frozen=True, slots=True)
class Features:
    """Named features of the candidate studies of one question: a matrix of studies x names."""

    study_ids: tuple[str, ...]
    names: tuple[str, ...]
    values: Matrix

    def column(self, name: str) -> Matrix:
        return np.asarray(self.values[:, self.names.index(name)])

    def limited_to(self, study_ids: Set[str]) -> Features:
        """Return the rows of these studies; what compares a study with the best one stays as it is."""
        rows = [row for row, study_id in enumerate(self.study_ids) if study_id in study_ids]
        return Features(tuple(self.study_ids[row] for row in rows), self.names, self.values[rows])

    def among(self, names: Sequence[str]) -> Matrix:
        """Return the columns of these names, in their order."""
        return np.asarray(self.values[:, [self.names.index(name) for name in names]])


def read_features(
    query: Query, scores: Sequence[StudyScores], about: Mapping[str, Container[str]], vocabulary: Vocabulary
) -> Features:
    """Compute the features of each candidate study, in the order of `scores`.

    `about` has the concepts of the question that each study is about.
    """
    columns: dict[str, Matrix] = {}
    for kind in (*SHORT_TEXTS, "passage"):
        best = [score.best.get(kind) for score in scores]
        columns[f"{kind}_cosine"] = np.array([NO_COSINE if b is None or b.cosine is None else b.cosine for b in best])
        columns[f"{kind}_bm25"] = np.array([0.0 if b is None else b.bm25 for b in best])
    for place, name in enumerate(FURTHER):
        for kind in (*SHORT_TEXTS, "passage"):
            columns[f"{kind}_cosine_{name}"] = np.array([_further(score, kind, place) for score in scores])
    questions = [score.best.get("question") for score in scores]
    columns["question_top3"] = np.array([NO_COSINE if b is None or b.top3 is None else b.top3 for b in questions])
    columns["coverage"] = np.array([_coverage(score.matched, vocabulary) for score in scores])
    columns["has_rarest"] = np.array([float(vocabulary.rarest in score.matched) for score in scores])
    columns["concept_share"] = np.array([_concept_share(query, about.get(score.study_id, ())) for score in scores])
    columns["unstudied_share"] = _unstudied_shares(query, [score.matched for score in scores])
    for name in [n for n in columns if "_cosine" in n or n.endswith(("_bm25", "_top3")) or n == "concept_share"]:
        values = columns[name]
        columns[f"{name}_gap"] = values - values.max() if len(values) else values
    columns |= {name: np.full(len(scores), value) for name, value in _of_question(query, vocabulary).items()}
    names = tuple(columns)
    values = np.stack([columns[name] for name in names], axis=1) if scores else np.empty((0, len(names)))
    return Features(tuple(score.study_id for score in scores), names, values)


def _of_question(query: Query, vocabulary: Vocabulary) -> dict[str, float]:
    named = [*query.concepts, *query.unstudied]
    return {
        "unknown_share": vocabulary.unknown_share,
        "concepts": float(len(named)),
        "terms": math.log(1 + len(query.terms)),
    }


def _further(score: StudyScores, kind: str, place: int) -> float:
    own = score.best.get(kind)
    return own.others[place] if own is not None and place < len(own.others) else NO_COSINE


def _coverage(matched: frozenset[str], vocabulary: Vocabulary) -> float:
    """Return the share of the question's IDF that occurs in the study, 0 to 1."""
    total = sum(vocabulary.idf.values())
    return sum(idf for term, idf in vocabulary.idf.items() if term in matched) / total if total else 0.0


def _concept_share(query: Query, own: Container[str]) -> float:
    """Return the share, by rarity, of the concepts named in the question that the study is about."""
    named = [*query.concepts, *query.unstudied]
    total = sum(concept.rarity for concept in named)
    return sum(c.rarity for c in named if c.concept_id in own) / total if total else 0.0


def _unstudied_shares(query: Query, matched: Sequence[frozenset[str]]) -> Matrix:
    """Return for each study the share of the named concepts that no study is about and its words do not name.

    Concepts count by rarity; `matched` are the question's lexemes in each study.
    """
    total = sum(concept.rarity for concept in (*query.concepts, *query.unstudied))
    unstudied = [(concept.rarity / total if total else 0.0, name_stems(concept)) for concept in query.unstudied]
    shares = [sum(share for share, names in unstudied if not any(name <= own for name in names)) for own in matched]
    return np.array(shares, dtype=float)


def rank(features: Features, models: Sequence[Logistic]) -> tuple[tuple[str, float], ...]:
    """Return study ids with the chance that each answers, by the model of each, the most likely first."""
    chances = np.zeros(len(features.study_ids))
    for model in dict.fromkeys(models):
        own = [n for n, other in enumerate(models) if other == model]
        chances[own] = model.predict(features.among(model.names)[own])
    pairs = zip(features.study_ids, chances.tolist(), strict=True)
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
