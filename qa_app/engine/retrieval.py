"""Retrieve and rank: candidate studies with the chance that each answers, and their passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpus_app.records import Found, Hit, Passage, StudyScores
from qa_app.engine import answerability, relevance
from qa_app.engine.learned import Logistic
from qa_app.engine.policy import EnginePolicy
from qa_app.engine.ports import Corpus, CorpusFacts, Vector
from qa_app.engine.query import Query
from qa_app.engine.relevance import SHORT_TEXTS, Features, Vocabulary
from qa_app.pipeline.ports import LegFailed
from qa_app.pipeline.retrieval import Clock
from qa_app.pipeline.text import stem

FUSION_K = 60
"""Of reciprocal rank fusion, as in its paper."""
CURATED = ("question", "plain")
"""Kinds of texts that curators wrote for search; without them another model ranks."""


@dataclass(frozen=True, slots=True)
class Models:
    """The fitted models of one encoder, by what they may use: `meaning` or `words`, with or without curated texts."""

    relevance: Mapping[str, Logistic]
    answerability: Mapping[str, Logistic]
    lead: Mapping[str, Logistic]
    version: str
    is_calibrated: bool = True
    """False where the encoder has no models of its own: its cosines are not used."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Everything found for one Query, ranked."""

    vector: Vector | None
    found: Found
    scores: tuple[StudyScores, ...]
    features: Features
    ranked: tuple[tuple[str, float], ...]
    """Study ids with their chance to answer, the most likely first."""
    signals: dict[str, float]
    answerable: float
    """Chance that the corpus answers at all."""
    threshold: float
    lead: float
    """Chance that the leading study answers."""
    idf: Mapping[str, float]
    """Inverse document frequency by stem of the question's content words."""

    def is_subject(self, stem: str) -> bool:
        """Tell a stem that may name a subject from a word of asking: curated questions have that, and no passage does."""
        return dict(self.found.document_frequency).get(stem, 0) > 0 or not any(
            stem in score.matched for score in self.scores
        )

    @property
    def by_id(self) -> Mapping[str, StudyScores]:
        return {score.study_id: score for score in self.scores}

    @property
    def chances(self) -> Mapping[str, float]:
        return dict(self.ranked)


def retrieve(
    query: Query, corpus: Corpus, facts: CorpusFacts, models: Models, policy: EnginePolicy, clock: Clock,
    collection: str | None = None,
) -> Retrieved:  # fmt: skip
    """Score the candidate studies of a Query by words and by meaning, and rank them. Raises DatabaseError."""
    error: str | None = None
    vector: Vector | None = None
    with clock("encode"):
        try:
            vector = corpus.encode(query.ask)
        except LegFailed as failure:
            error = str(failure)
    with clock("lexical"):
        found = corpus.find(query.text, vector, collection=collection, limit=200, error=error)
        trusted = vector if models.is_calibrated else None
        scores = corpus.score_studies(query.text, trusted, collection=collection, limit=policy.candidates)
    with clock("rank"):
        wanted = frozenset(query.sources.studies)
        named = tuple(score for score in scores if score.study_id in wanted)
        return _ranked(query, facts, models, trusted, found, named or scores)


def _ranked(
    query: Query, facts: CorpusFacts, models: Models, vector: Vector | None, found: Found, scores: tuple[StudyScores, ...]
) -> Retrieved:  # fmt: skip
    vocabulary = Vocabulary.of(found.document_frequency, found.searchable_passages)
    features = relevance.read_features(query, scores, facts.studies, vocabulary)
    name = _model_name(scores, vector)
    ranked = relevance.rank(features, models.relevance[name])
    signals = answerability.signals(ranked, features, query)
    model = models.answerability[name]
    return Retrieved(
        vector=vector,
        found=found,
        scores=scores,
        features=features,
        ranked=ranked,
        signals=signals,
        answerable=answerability.estimate(signals, model) if ranked else 0.0,
        threshold=0.5 if model.threshold is None else model.threshold,
        lead=answerability.estimate(signals, models.lead[name]) if ranked else 0.0,
        idf={term: vocabulary.idf.get(term, 0.0) for term in query.terms if term in vocabulary.idf},
    )


def _model_name(scores: Sequence[StudyScores], vector: Vector | None) -> str:
    has_cosines = any(best.cosine is not None for score in scores for best in score.best.values())
    has_curated = any(kind in score.best for score in scores for kind in CURATED)
    return ("meaning" if vector is not None and has_cosines else "words") + ("" if has_curated else "_bare")


def cited_studies(retrieved: Retrieved, policy: EnginePolicy) -> tuple[str, ...]:
    """Return the studies that may be cited, the leader first."""
    if not retrieved.ranked:
        return ()
    (leader, best), *others = retrieved.ranked
    least = max(policy.cited_from, policy.cited_share * best)
    return (leader, *(s for s, chance in others if chance >= least))[: policy.cited_studies]


def load_passages(study_ids: Sequence[str], retrieved: Retrieved, corpus: Corpus) -> tuple[Passage, ...]:
    """Load the found passages of these studies, their best by each score, and their plain sentences."""
    best = {
        passage_id
        for study_id in study_ids
        for score in [retrieved.by_id[study_id].best.get("passage")]
        if score is not None
        for text in (score.by_words, score.by_meaning)
        if text is not None and (passage_id := text.passage_id) is not None
    }
    hits = [hit.passage_id for hit in retrieved.found.hits]
    return corpus.passages_among(study_ids, [*best, *hits]) + corpus.plain_passages(study_ids)


def hits_by_id(retrieved: Retrieved) -> Mapping[int, Hit]:
    """Return the hits of the search by passage id."""
    return {hit.passage_id: hit for hit in retrieved.found.hits}


def fuse(hits: Sequence[Hit]) -> Mapping[int, float]:
    """Return passage ids with their fused score, the best first.

    Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009, SIGIR). A passage that waits for its vector has its rank by
    words in the place of that by meaning.
    """
    by_words = _ranks({h.passage_id: h.bm25 for h in hits if h.bm25 > 0})
    by_meaning = _ranks({h.passage_id: h.cosine for h in hits if h.cosine is not None})
    waiting = {h.passage_id for h in hits if h.cosine is None}
    fused: dict[int, float] = {}
    for ranks in (by_words, by_meaning | {pk: rank for pk, rank in by_words.items() if pk in waiting}):
        for pk, rank in ranks.items():
            fused[pk] = fused.get(pk, 0.0) + 1 / (FUSION_K + rank)
    return dict(sorted(fused.items(), key=lambda pair: (-pair[1], pair[0])))


def _ranks(scores: Mapping[int, float]) -> dict[int, int]:
    order = sorted(scores, key=lambda pk: (-scores[pk], pk))
    return {pk: rank for rank, pk in enumerate(order, start=1)}


def nearest_questions(retrieved: Retrieved, *, least: float, most: int) -> tuple[tuple[str, str], ...]:
    """Return up to `most` curated questions near the asked one, each with its study, the nearest first."""
    best = [(score.study_id, score.best["question"]) for score in retrieved.scores if "question" in score.best]
    near = sorted(
        ((b.cosine or 0.0, study_id, b.by_meaning.words) for study_id, b in best if b.by_meaning), reverse=True
    )
    return tuple((text, study_id) for cosine, study_id, text in near if cosine >= least and text)[:most]


__all__ = [
    "SHORT_TEXTS",
    "Models",
    "Retrieved",
    "cited_studies",
    "fuse",
    "load_passages",
    "nearest_questions",
    "retrieve",
    "stem",
]
