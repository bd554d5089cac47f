"""Retrieve and rank: candidate studies with the chance that each answers, and their passages."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from corpus_app.records import Concept, Found, Hit, Hits, Leg, Passage, StudyScores
from qa_app.pipeline import answerability, relevance
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.concepts import neighbours
from qa_app.pipeline.learned import Logistic, Scaling
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import Corpus, CorpusFacts, LegFailed, Vector
from qa_app.pipeline.query import Query, Request
from qa_app.pipeline.records import Scope
from qa_app.pipeline.relevance import Features, Vocabulary

Scores = NDArray[np.float64]
MOST_NEIGHBOURS = 12
"""Most neighbours of a concept whose links are followed; one with more is too general."""
SCALED_THRESHOLD = 1 / 3
"""A wrong refusal weighs two wrong answers here, since the expected type of answer is looked for afterwards."""
ASKED_FOR = 0.5
"""Least chance of each source that a question asks for by what it is; a judgement."""
BARE = "_bare"
"""The end of the names of models for studies without curated texts."""
MOST_LINKED = 4
"""Concepts that the second pass adds."""


@dataclass(frozen=True, slots=True)
class Models:
    """The fitted models of one encoder: with `meaning` or by `words`, `_bare` for studies without curated texts."""

    relevance: Mapping[str, Logistic]
    answerability: Mapping[str, Logistic]
    lead: Mapping[str, Logistic]
    version: str
    grounding: Logistic | None = None
    """Of answers from texts without curated questions."""
    is_calibrated: bool = True
    """False where the encoder has no models of its own: its cosines are not used."""

    def grounded(self, retrieved: Retrieved, grounds: Mapping[str, float]) -> Retrieved:
        """Return what was retrieved with the estimates of `grounding`; unchanged without its features."""
        model = self.grounding
        if not grounds or model is None:
            return retrieved
        chance = answerability.estimate(grounds, model)
        return replace(retrieved, answerable=chance, lead=chance, threshold=model.threshold or 0.0)


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
    is_scaled: bool
    """Whether both chances were scaled to a corpus without labels."""
    idf: Mapping[str, float]
    """Inverse document frequency by stem of the question's content words."""
    linked: tuple[Concept, ...] = ()
    """Neighbouring concepts that a second pass searched for."""
    linked_leg: Leg | None = None
    """How the second pass ran; None where there was none."""

    def is_unknown(self, stem: str, studies: Sequence[str]) -> bool:
        """Tell whether none of these studies has a stem in passages or curated texts; a figure is never unknown."""
        is_figure = stem.isdigit()
        return not is_figure and not any(stem in self.by_id[study].matched for study in studies if study in self.by_id)

    @property
    def is_answerable(self) -> bool:
        """Tell whether the corpus is likely enough to answer."""
        return self.answerable >= self.threshold

    @property
    def by_id(self) -> Mapping[str, StudyScores]:
        return {score.study_id: score for score in self.scores}

    @property
    def chances(self) -> Mapping[str, float]:
        return dict(self.ranked)


def retrieve_scoped(
    query: Query, corpus: Corpus, facts: CorpusFacts, models: Models, policy: Policy, clock: Clock, chosen: str | None
) -> tuple[Retrieved, Scope]:  # fmt: skip
    """Retrieve from the chosen collection, and from the whole corpus where that does not answer.

    The result of the collection is returned where the whole corpus does not answer either. Raises DatabaseError.
    """
    collection = chosen or (query.collection if policy.scope_detected else None)
    found = retrieve(query, corpus, facts, models, policy, clock, collection)
    if collection is None or found.is_answerable:
        return found, Scope.COLLECTION if collection else Scope.GLOBAL
    whole = retrieve(query, corpus, facts, models, policy, clock)
    return whole if whole.is_answerable else found, Scope.COLLECTION_THEN_GLOBAL


def retrieve(
    query: Query, corpus: Corpus, facts: CorpusFacts, models: Models, policy: Policy, clock: Clock,
    collection: str | None = None,
) -> Retrieved:  # fmt: skip
    """Retrieve, and where the policy allows and nothing answers, retrieve again with neighbouring concepts.

    Raises DatabaseError.
    """
    found = _retrieve_once(query, corpus, facts, models, policy, clock, collection)
    linked = _linked_concepts(query, facts) if policy.has_second_pass and not found.is_answerable else ()
    if not linked:
        return found
    names = " ".join(concept.name for concept in linked)
    longer = replace(query, text=f"{query.text} {names}")
    with clock("linked"):
        further = _retrieve_once(
            longer, corpus, facts, models, policy, Clock(limit=clock.limit, span=clock.span), collection
        )
    best = further if further.answerable > found.answerable else found
    return replace(best, linked=linked, linked_leg=further.found.lexical)


def _linked_concepts(query: Query, facts: CorpusFacts) -> tuple[Concept, ...]:
    """Return studied concepts one hop from those of the question; concepts with too many neighbours are skipped."""
    narrow = [concept for concept in query.concepts if len(concept.neighbours) <= MOST_NEIGHBOURS]
    near = neighbours(narrow, facts.concept_index.by_id)
    return tuple(c for c in near if len(c.neighbours) <= MOST_NEIGHBOURS and c not in query.concepts)[:MOST_LINKED]


def _retrieve_once(
    query: Query, corpus: Corpus, facts: CorpusFacts, models: Models, policy: Policy, clock: Clock,
    collection: str | None,
) -> Retrieved:  # fmt: skip
    """Score the candidate studies of a Query by words and by meaning, and rank them. Raises DatabaseError."""
    error: str | None = None
    vectors: tuple[Vector, ...] = ()
    with clock("encode"):
        try:
            vectors = encode(query, corpus)
        except LegFailed as failure:
            error = str(failure)
    vector = next(iter(vectors), None)
    with clock("lexical"):
        found = corpus.find(query.text, vector, collection=collection, limit=200, error=error)
        trusted = vectors if models.is_calibrated else ()
        scores = corpus.score_studies(query.text, trusted, collection=collection, limit=policy.candidates)
    with clock("rank"):
        wanted = frozenset(query.sources.studies)
        named = tuple(score for score in scores if score.study_id in wanted)
        about = concepts_about(query, scores, corpus)
        scores = named or scores
        allowed = corpus.fitting([score.study_id for score in scores])
        return rank_studies(query, facts, models, next(iter(trusted), None), found, scores, about, allowed)


def concepts_about(query: Query, scores: Sequence[StudyScores], corpus: Corpus) -> Mapping[str, frozenset[str]]:
    """Return which concepts of the question each candidate is about."""
    named = [concept.concept_id for concept in (*query.concepts, *query.unstudied)]
    return corpus.concepts_of([score.study_id for score in scores], named) if named else {}


def encode(query: Query, corpus: Corpus) -> tuple[Vector, ...]:
    """Return the vectors of the formulations; the first is the mean of the ask and of its focus."""
    ask, *others = corpus.encode(query.formulations)
    if query.focus == query.ask:
        return (ask, *others)
    return (corpus.mean((ask, *corpus.encode((query.focus,)))), *others)


def rank_studies(
    query: Query,
    facts: CorpusFacts,
    models: Models,
    vector: Vector | None,
    found: Found,
    scores: tuple[StudyScores, ...],
    about: Mapping[str, Container[str]],
    allowed: Set[str] | None = None,
) -> Retrieved:
    """Rank the candidate studies and estimate whether they answer.

    Where only the `allowed` ones may answer, they are still compared with the others. The scaling of the corpus applies
    to studies without curated texts; its estimate then has a threshold of its own. `about` is what `concepts_about`
    returned.
    """
    vocabulary = Vocabulary.of(found.document_frequency, found.searchable_passages)
    features = relevance.read_features(query, scores, about, vocabulary)
    if allowed is not None and not set(features.study_ids) <= allowed:
        features = features.limited_to(allowed)
        scores = tuple(score for score in scores if score.study_id in allowed)
    names = [_model_name(score) for score in scores]
    ranked = relevance.rank(features, [models.relevance[name] for name in names])
    if query.request is Request.SOURCES and ranked:
        ranked = tuple((study_id, max(ranked[0][1], ASKED_FOR)) for study_id, _ in ranked)
    signals = answerability.signals(ranked, features, query)
    name = names[features.study_ids.index(ranked[0][0])] if ranked else "words"
    model = models.answerability[name]
    own = facts.scaling if name.endswith(BARE) else None
    scaling, shipped = own or Scaling(), 0.5 if model.threshold is None else model.threshold
    return Retrieved(
        vector=vector,
        found=found,
        scores=scores,
        features=features,
        ranked=ranked,
        signals=signals,
        answerable=scaling.answerable(answerability.estimate(signals, model)) if ranked else 0.0,
        threshold=SCALED_THRESHOLD if own else shipped,
        lead=scaling.lead(answerability.estimate(signals, models.lead[name])) if ranked else 0.0,
        is_scaled=own is not None,
        idf={term: vocabulary.idf.get(term, 0.0) for term in query.terms if term in vocabulary.idf},
    )


def _model_name(score: StudyScores) -> str:
    """Name the model of a study by the texts that it has, and whether their vectors are there already."""
    leg = "meaning" if any(best.cosine is not None for best in score.best.values()) else "words"
    return leg if score.is_curated else f"{leg}{BARE}"


def cited_studies(retrieved: Retrieved, policy: Policy) -> tuple[str, ...]:
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
        if (own := retrieved.by_id.get(study_id)) and (score := own.best.get("passage"))
        for text in (score.by_words, score.by_meaning)
        if text is not None and (passage_id := text.passage_id) is not None
    }
    hits = [hit.passage_id for hit in retrieved.found.hits]
    return corpus.passages_among(study_ids, [*best, *hits]) + corpus.plain_passages(study_ids)


def load_pool(passage_ids: Sequence[int], corpus: Corpus) -> tuple[Passage, ...]:
    """Load passages in the order of their ids; those deleted since are left out."""
    loaded = {passage.passage_id: passage for passage in corpus.load(passage_ids)}
    return tuple(loaded[pk] for pk in passage_ids if pk in loaded)


def hits_by_id(retrieved: Retrieved) -> Mapping[int, Hit]:
    """Return the hits of the search by passage id."""
    return {hit.passage_id: hit for hit in retrieved.found.hits}


def fuse(hits: Hits, lexical_weight: float) -> Mapping[int, float]:
    """Return passage ids with their fused score, the best first: both scores brought to 0 to 1, and their weighted sum.

    Where one half found nothing, the other has the full weight; a passage without a vector is scored by words alone.
    """
    if not len(hits):
        return {}
    words, meaning = _min_max(hits.bm25), _min_max(hits.cosines)
    meaning = np.where(np.isnan(meaning), words, meaning)
    has_words, has_meaning = bool((hits.bm25 > 0).any()), bool((~np.isnan(hits.cosines)).any())
    weight = lexical_weight if has_words and has_meaning else float(has_words)
    fused = weight * words + (1 - weight) * meaning
    order = np.lexsort((hits.ids, -fused))
    return dict(zip(hits.ids[order].tolist(), fused[order].tolist(), strict=True))


def _min_max(values: Scores) -> Scores:
    """Return the scores between their lowest and highest, 0 to 1; NaN stays NaN."""
    known = values[~np.isnan(values)]
    if not len(known) or known.max() <= known.min():
        return np.where(np.isnan(values), np.nan, 0.0)
    return np.asarray((values - known.min()) / (known.max() - known.min()))
