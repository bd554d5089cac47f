"""Reranking: what the search found, ordered by what the question asks for. Ranking marks, only `evidence.select` drops."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_app.records import AgeGroup, Design, Section, TrainingStatus, rarity
from qa_app.pipeline.alternatives import asked_and_held_equal
from qa_app.pipeline.naming import once_for_these
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.qualifiers import asks_for_newest, find_years
from qa_app.pipeline.records import Because, Candidate, Concept, Mode, Question, Study, Understanding
from qa_app.pipeline.text import stem_set

Gains = NDArray[np.float64]
"""One figure a candidate: what a step adds, or multiplies by."""

WORDS_FOR_MEANING = 0.7  # about the cosine of a sentence that answers, for one that holds every term of the question
REVIEWS = frozenset(
    {Design.META_ANALYSIS, Design.SYSTEMATIC_REVIEW, Design.UMBRELLA_REVIEW, Design.POSITION_STAND, Design.GUIDELINE}
)
DESIGN_STRENGTH = {
    Design.META_ANALYSIS: 1.0,
    Design.UMBRELLA_REVIEW: 1.0,
    Design.SYSTEMATIC_REVIEW: 0.9,
    Design.POSITION_STAND: 0.8,
    Design.GUIDELINE: 0.8,
    Design.RANDOMIZED_CONTROLLED_TRIAL: 0.7,
    Design.CROSSOVER_TRIAL: 0.7,
    Design.SCOPING_REVIEW: 0.6,
    Design.NONRANDOMIZED_TRIAL: 0.5,
    Design.COHORT_STUDY: 0.5,
    Design.NARRATIVE_REVIEW: 0.5,
    Design.CROSS_SECTIONAL_STUDY: 0.3,
}
"""Order of designs by how well they answer "what works", after the usual pyramid of evidence; unlisted ones count 0."""
RELATED = (
    frozenset({Section.RESULTS, Section.ABSTRACT}),
    frozenset({Section.METHODS, Section.RESULTS}),
    frozenset({Section.INTRODUCTION, Section.BACKGROUND, Section.ABSTRACT}),
    frozenset({Section.DISCUSSION, Section.CONCLUSION, Section.RESULTS, Section.PRACTICAL_APPLICATIONS}),
    frozenset({Section.LIMITATIONS, Section.DISCUSSION}),
)
"""Sections that say alike things: findings, how they were found, context, what they mean, what they leave open."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of ranking over all candidates at once; where it leaves one as it is, nothing is written down."""

    name: str
    gains: Gains
    multiplies: bool = False

    @property
    def moves_any(self) -> bool:
        return bool((self.gains != float(self.multiplies)).any())

    def explain(self) -> list[Because | None]:
        """What is to be said of each candidate; many gain the same."""
        gains = self.gains.tolist()
        said = {gain: self._said(round(gain, 4)) for gain in set(gains)}
        return [said[gain] for gain in gains]

    def _said(self, value: float) -> Because | None:
        if value == float(self.multiplies):
            return None
        return Because(self.name, f"x{value}" if self.multiplies else "+" if value > 0 else "-", value)


def rerank(
    candidates: Sequence[Candidate],
    *,
    question: Question,
    vector: Sequence[float] | None,
    understanding: Understanding,
    policy: Policy,
    concepts: Sequence[Concept] = (),
) -> tuple[Candidate, ...]:
    """Candidates best first, each with what was done to it in `because`; `concepts` are those of the corpus.

    Every step is worked out over all candidates at once, and each candidate is written once, at the end.
    """
    if not candidates:
        return ()
    terms = frozenset(understanding.terms)
    hits = [len(terms & stem_set(f"{c.passage.heading} {c.passage.text}")) for c in candidates]
    cosines = _sentence_cosines(candidates, vector)
    steps = [
        _by_keywords(hits, terms, policy),
        *_by_sentence(cosines, hits, vector, terms, policy),
        _by_concepts(candidates, understanding, policy),
        _by_variable(candidates, question, understanding, policy),
        _by_concept_words(candidates, terms, concepts, policy),
        _by_design(candidates, policy),
        _by_mode(candidates, question.mode, policy),
    ]
    scores = np.array([c.score for c in candidates]) + sum(step.gains for step in steps)
    steps.append(_by_leading_studies(candidates, scores, concepts, policy))
    scores = scores + steps[-1].gains
    steps += [_by_year(candidates, scores, question, policy), _by_section(candidates, understanding, policy)]
    scores = (scores + steps[-2].gains) * steps[-1].gains
    told = zip(*(step.explain() for step in steps if step.moves_any), strict=True)
    marked = [
        Candidate(c.passage, c.hit, c.fused, score, (*c.because, *filter(None, own)), own_hits, own_cosines, c.bears)
        for c, score, own, own_hits, own_cosines in zip(
            candidates, scores.tolist(), chain(told, repeat(())), hits, cosines, strict=False
        )
    ]
    marked.sort(key=lambda c: (-c.score, c.passage.passage_id))
    return _newer_first_within_band(marked, policy.recency_band)


def _each(candidates: Sequence[Candidate], gains: Mapping[str, float]) -> Gains:
    """What the candidates' studies get, passage by passage."""
    return np.array([gains[c.passage.study.study_id] for c in candidates], dtype=np.float64)


def _studies(candidates: Sequence[Candidate]) -> dict[str, Study]:
    return {c.passage.study.study_id: c.passage.study for c in candidates}


def _best_scores(candidates: Sequence[Candidate], scores: Gains) -> dict[str, float]:
    """By study the score of its best passage."""
    best: dict[str, float] = {}
    for candidate, score in zip(candidates, scores.tolist(), strict=True):
        pk = candidate.passage.study.study_id
        best[pk] = max(best.get(pk, score), score)
    return best


def _by_keywords(hits: Sequence[int], terms: frozenset[str], policy: Policy) -> _Step:
    return _Step("keywords", policy.keyword_weight * np.array(hits, dtype=np.float64) / max(1, len(terms)))


def _sentence_cosines(candidates: Sequence[Candidate], vector: Sequence[float] | None) -> tuple[tuple[float, ...], ...]:
    """Cosines of each candidate's sentences to the question; none for a passage that waits to be indexed."""
    held: list[list[Any]] = [[sentence.vector for sentence in c.passage.sentences] for c in candidates]
    known = [[] if vector is None or any(v is None for v in vectors) else vectors for vectors in held]
    flat = list(chain.from_iterable(known))
    if not flat:
        return ((),) * len(candidates)
    found = np.concatenate(flat, dtype=np.float32).reshape(len(flat), -1) @ np.asarray(vector, dtype=np.float32)
    rounded = iter(np.round(found.astype(np.float64), 6).tolist())
    return tuple(tuple(next(rounded) for _ in vectors) for vectors in known)


def _by_sentence(
    cosines: Sequence[Sequence[float]],
    hits: Sequence[int],
    vector: Sequence[float] | None,
    terms: frozenset[str],
    policy: Policy,
) -> tuple[_Step, _Step]:
    """The passage's best sentence. Where it waits to be indexed, the question's words in it stand in for its closeness."""
    best = np.array([max(own, default=0.0) for own in cosines])
    waits = np.array([vector is not None and not own for own in cosines])
    words = np.where(waits, WORDS_FOR_MEANING * np.array(hits, dtype=np.float64) / max(1, len(terms)), 0.0)
    return (
        _Step("best sentence", policy.sentence_weight * best),
        _Step("words for meaning", policy.sentence_weight * words),
    )


def _by_section(candidates: Sequence[Candidate], understanding: Understanding, policy: Policy) -> _Step:
    targets = understanding.target_sections
    factors = {
        section: policy.section_boost_exact
        if section in targets
        else policy.section_boost_related
        if is_related(section, targets)
        else 1.0
        for section in {c.passage.section for c in candidates}
    }
    return _Step("section", np.array([factors[c.passage.section] for c in candidates]), multiplies=True)


def _by_concepts(candidates: Sequence[Candidate], understanding: Understanding, policy: Policy) -> _Step:
    """What the study is about by its curator: the rarer the concepts it shares with the question, the more they tell."""
    return _Step("concepts", policy.concept_weight * _shared(candidates, understanding.concepts))


def _by_variable(
    candidates: Sequence[Candidate], question: Question, understanding: Understanding, policy: Policy
) -> _Step:
    """Which part of the training is asked about: a study of loads comes near a question on volume and does not answer it."""
    asked, _ = asked_and_held_equal(question.searched, understanding)
    return _Step("asked variable", policy.variable_weight * _shared(candidates, asked))


def _shared(candidates: Sequence[Candidate], asked: Sequence[Concept]) -> Gains:
    """The share of these concepts, by rarity, that each candidate's study is about."""
    rarity_of = {concept.concept_id: concept.rarity for concept in asked}
    total = sum(rarity_of.values()) or 1.0
    shares = {
        pk: sum(rarity_of.get(concept_id, 0.0) for concept_id in study.concepts) / total
        for pk, study in _studies(candidates).items()
    }
    return _each(candidates, shares)


def _by_concept_words(
    candidates: Sequence[Candidate], terms: frozenset[str], concepts: Sequence[Concept], policy: Policy
) -> _Step:
    """The question's words among the names and aliases of the study's concepts: "bigger" in "get bigger" for hypertrophy.

    Each word counts by its rarity among the concepts of the corpus; words of no concept count neither way.
    """
    graph = _graph(concepts)
    weights = {term: graph.rarity_of_word[term] for term in sorted(terms) if term in graph.rarity_of_word}
    total = sum(weights.values()) or 1.0
    spoken: dict[str, set[str]] = defaultdict(set)
    for term in weights:
        for concept_id in graph.carriers[term]:
            spoken[concept_id].add(term)
    nothing: frozenset[str] = frozenset()
    shares = {
        pk: math.fsum(weights[term] for term in nothing.union(*(spoken.get(c, nothing) for c in study.concepts)))
        / total
        for pk, study in _studies(candidates).items()
    }
    return _Step("concept words", policy.concept_words_weight * _each(candidates, shares))


def _by_leading_studies(
    candidates: Sequence[Candidate], scores: Gains, concepts: Sequence[Concept], policy: Policy
) -> _Step:
    """Studies about the same as those that lead so far: the share of the leaders' concepts, by rarity, that a study has.

    The best few count by how close they come to the first (a softmax of their scores). Relevance feedback in the sense of
    Rocchio (1971), on what curators say a study is about instead of on its words.
    """
    studies = _studies(candidates)
    best = _best_scores(candidates, scores)
    leaders = sorted(best, key=lambda pk: (-best[pk], pk))[: policy.leading_studies]
    rarity_of = _graph(concepts).rarity
    profile: dict[str, float] = defaultdict(float)
    for pk in leaders:
        closeness = float(np.exp((best[pk] - best[leaders[0]]) / policy.leading_closeness))
        for concept_id in studies[pk].concepts:
            profile[concept_id] += closeness * rarity_of.get(concept_id, 0.0)
    total = sum(profile.values()) or 1.0
    shares = {pk: sum(profile[c] for c in study.concepts if c in profile) / total for pk, study in studies.items()}
    return _Step("leading studies", policy.leading_weight * _each(candidates, shares))


def _by_year(candidates: Sequence[Candidate], scores: Gains, question: Question, policy: Policy) -> _Step:
    """Studies of a year that the question names or, where it asks for the newest, the newer the more.

    Only among those that come within `year_band` of the best: what is newest of all may be about something else.
    """
    years = find_years(question.searched)
    nothing = np.zeros(len(candidates))
    if not policy.year_weight or not (years or asks_for_newest(question.searched)):
        return _Step("year", nothing)
    best = _best_scores(candidates, scores)
    near_from = max(best.values()) - policy.year_band
    near = {pk: s.year for pk, s in _studies(candidates).items() if s.year and best[pk] >= near_from}
    if years:
        gains = {pk: 1.0 for pk, year in near.items() if year in years}
    else:
        oldest, newest = min(near.values(), default=0), max(near.values(), default=0)
        gains = {pk: (year - oldest) / max(1, newest - oldest) for pk, year in near.items()}
    return _Step("year", policy.year_weight * _each(candidates, defaultdict(float, gains)))


@dataclass(frozen=True, slots=True)
class _Graph:
    """What ranking needs of the concepts that studies are about, by id."""

    rarity: Mapping[str, float]
    carriers: Mapping[str, tuple[str, ...]]
    """By stem the concepts that hold it in their name or aliases."""
    rarity_of_word: Mapping[str, float]
    """Of each such stem, among the concepts."""


@once_for_these
def _graph(concepts: tuple[Concept, ...]) -> _Graph:
    studied = [concept for concept in concepts if concept.is_studied]
    carriers: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for concept in studied:
        for word in stem_set(" ".join((concept.name, *concept.aliases))):
            carriers[word] += (concept.concept_id,)
    return _Graph(
        rarity={c.concept_id: c.rarity for c in studied},
        carriers=carriers,
        rarity_of_word={word: rarity(len(holding), len(studied)) for word, holding in carriers.items()},
    )


def _by_design(candidates: Sequence[Candidate], policy: Policy) -> _Step:
    strengths = [DESIGN_STRENGTH.get(c.passage.study.design, 0.0) for c in candidates]
    return _Step("design", policy.design_weight * np.array(strengths))


def _by_mode(candidates: Sequence[Candidate], mode: Mode, policy: Policy) -> _Step:
    """Beginners get reviews, practical advice and general populations first; others get trained lifters' evidence too."""
    suits = _suits_beginner if mode is Mode.BEGINNER else _suits_others
    return _Step(f"{mode} reader", policy.mode_weight * np.array([float(suits(c)) for c in candidates]))


def _suits_beginner(candidate: Candidate) -> int:
    study = candidate.passage.study
    is_trained = study.training_status in {TrainingStatus.TRAINED, TrainingStatus.ATHLETES}
    return (candidate.passage.section is Section.PRACTICAL_APPLICATIONS) + (study.design in REVIEWS) - is_trained


def _suits_others(candidate: Candidate) -> int:
    study = candidate.passage.study
    is_trained = study.training_status in {TrainingStatus.TRAINED, TrainingStatus.ATHLETES}
    return (candidate.passage.section is Section.RESULTS) + (is_trained and study.age_group is not AgeGroup.YOUTH)


def _newer_first_within_band(ordered: Sequence[Candidate], band: float) -> tuple[Candidate, ...]:
    """Where scores lie within `band` of the first of a run, reviews lead, and among equals the newer study.

    Relevance is never overridden, and a newer small trial does not pass a review.
    """
    result: list[Candidate] = []
    start = 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[start].score - ordered[end].score <= band:
            end += 1
        run = ordered[start:end]
        newer = sorted(
            run,
            key=lambda c: (
                c.passage.study.design not in REVIEWS,
                -(c.passage.study.year or 0),
                -c.score,
                c.passage.passage_id,
            ),
        )
        for place, candidate in enumerate(newer):
            if candidate is not run[place]:
                year = float(candidate.passage.study.year or 0)
                candidate = candidate.explained(Because("recency", "tie-break", year))
            result.append(candidate)
        start = end
    return tuple(result)


def is_related(section: Section, targets: Iterable[Section]) -> bool:
    """Whether a section shares a group with one of the targets."""
    return any(section in group and target in group for target in targets for group in RELATED)
