"""Rank single passages as a preset says, instead of ranking studies by learned relevance.

Every step that moves a passage is recorded in its `because`. The presets of `policy` choose among the steps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus_app.records import Concept, Design, Hit, Passage, PassageKind, Section, Study
from qa_app.pipeline.policy import Lexical, Order, Policy
from qa_app.pipeline.query import Query
from qa_app.pipeline.records import Because, Candidate, LeftOut, LeftOutReason, Mode
from qa_app.pipeline.text import stem_set, words

PLACE = 3
"""Passages of a section that count as one place: those with an equal `position // PLACE`."""
REVIEWS = frozenset(
    {Design.META_ANALYSIS, Design.SYSTEMATIC_REVIEW, Design.UMBRELLA_REVIEW, Design.POSITION_STAND, Design.GUIDELINE}
)
RELATED = (
    frozenset({Section.RESULTS, Section.ABSTRACT}),
    frozenset({Section.METHODS, Section.RESULTS}),
    frozenset({Section.INTRODUCTION, Section.BACKGROUND, Section.ABSTRACT}),
    frozenset({Section.DISCUSSION, Section.CONCLUSION, Section.RESULTS, Section.PRACTICAL_APPLICATIONS}),
    frozenset({Section.LIMITATIONS, Section.DISCUSSION}),
)
"""Sections grouped by content: findings, methods, context, interpretation, open questions."""


@dataclass(frozen=True, slots=True)
class RankedPassages:
    """The selected passages, the best first, and those left out with the reason."""

    passages: tuple[Candidate, ...]
    left_out: tuple[LeftOut, ...] = ()


def find_pool(hits: Sequence[Hit], policy: Policy, size: int) -> tuple[int, ...]:
    """Return the ids of the `size` nearest passages by meaning, and of as many best by words where words count."""
    by_meaning = sorted((h for h in hits if h.cosine is not None), key=lambda h: (-(h.cosine or 0.0), h.passage_id))
    by_words = sorted((h for h in hits if h.bm25 > 0), key=lambda h: (-h.bm25, h.passage_id))
    chosen = by_meaning[:size]
    if policy.lexical_weight or not chosen:
        chosen = [*chosen, *by_words[:size]]
    return tuple(dict.fromkeys(hit.passage_id for hit in chosen))


def rank_passages(
    query: Query, passages: Sequence[Passage], hits: Mapping[int, Hit], vocabulary: Mapping[str, int], total: int,
    policy: Policy, mode: Mode,
) -> RankedPassages:  # fmt: skip
    """Rank the pool by the policy, and select `evidence_passages` of it from different places.

    Plain sentences are no passages of a source and are left aside. `vocabulary` counts the passages, of `total`, that a
    word occurs in.
    """
    own = {p.passage_id: p for p in passages if p.passage_id in hits and p.kind is not PassageKind.PLAIN}
    pool = find_pool([hits[pk] for pk in own], policy, policy.pool)
    candidates = [_scored(query, own[pk], hits[pk], policy, mode) for pk in pool]
    candidates = _blend(query, candidates, vocabulary, total, policy)
    if policy.order is Order.KEYWORD_HITS:
        ordered = [_by_keyword_hits(candidate) for candidate in candidates]
        ordered.sort(key=lambda c: (-c.score, c.passage.passage_id))
    else:
        ordered = sorted(candidates, key=lambda c: (-c.score, c.passage.passage_id))
        ordered = _newer_first_within_band(ordered, policy.recency_band) if policy.recency_band else ordered
    return _select(ordered, policy)


def is_related(section: Section, targets: Iterable[Section]) -> bool:
    """Tell whether a section shares a group with one of the targets."""
    return any(section in group and target in group for target in targets for group in RELATED)


def tfidf_cosines(question: str, texts: Sequence[str], vocabulary: Mapping[str, int], total: int) -> list[float]:
    """Return the TF-IDF cosine of the question to each text.

    Raw term frequencies and smoothed inverse document frequencies (Manning, Raghavan and Schütze 2008, section 6.3).
    """

    def vector(text: str) -> dict[str, float]:
        counts = Counter(words(text))
        return {word: n * (math.log((1 + total) / (1 + vocabulary.get(word, 0))) + 1) for word, n in counts.items()}

    def length(values: Mapping[str, float]) -> float:
        return math.sqrt(sum(value * value for value in values.values())) or 1.0

    asked = vector(question)
    found = []
    for own in map(vector, texts):
        shared = sum(weight * own[word] for word, weight in asked.items() if word in own)
        found.append(shared / (length(asked) * length(own)))
    return found


def _scored(query: Query, passage: Passage, hit: Hit, policy: Policy, mode: Mode) -> Candidate:
    """Score the passage by the steps that need no other passage: sections, neighbouring concepts, the reader."""
    terms = frozenset(query.terms)
    hits = len(terms & stem_set(f"{passage.heading} {passage.text}"))
    return Candidate(passage, hit, 0.0, 0.0, tuple(_steps(query, passage, policy, mode)), hits)


def _steps(query: Query, passage: Passage, policy: Policy, mode: Mode) -> Iterable[Because]:
    near = _neighbours(query.concepts)
    if policy.neighbour_weight and near & set(passage.study.concepts):
        yield Because("neighbouring concept", "+", policy.neighbour_weight)
    suits = _suits_beginner(passage, query) if mode is Mode.BEGINNER else _suits_others(passage, query)
    if policy.mode_weight and suits:
        yield Because(f"{mode} reader", "+" if suits > 0 else "-", round(policy.mode_weight * suits, 4))
    if passage.section in query.sections and policy.section_exact != 1:
        yield Because("section", f"x{policy.section_exact}", policy.section_exact)
    elif is_related(passage.section, query.sections) and policy.section_related != 1:
        yield Because("section", f"x{policy.section_related}", policy.section_related)


def _neighbours(concepts: Sequence[Concept]) -> frozenset[str]:
    named = {concept.concept_id for concept in concepts}
    return frozenset(n for concept in concepts for n in concept.neighbours if n not in named)


def _suits_beginner(passage: Passage, query: Query) -> int:
    """Score how it suits a beginner: advice and reviews add one each, a study for experienced readers subtracts one."""
    is_advice = passage.section is Section.PRACTICAL_APPLICATIONS
    return is_advice + (passage.study.design in REVIEWS) - _is_for_experienced(passage.study, query)


def _suits_others(passage: Passage, query: Query) -> int:
    return (passage.section is Section.RESULTS) + _is_for_experienced(passage.study, query)


def _is_for_experienced(study: Study, query: Query) -> bool:
    facets = query.facets.declared
    return any(
        value in facet.values and facet.values[value].experienced
        for key, facet in facets.items()
        for value in study.values_of(key)
    )


def _blend(
    query: Query, candidates: Sequence[Candidate], vocabulary: Mapping[str, int], total: int, policy: Policy
) -> list[Candidate]:
    """Add the weighted scores by words and by meaning, each brought to 0 to 1 over the pool, to the other steps."""
    if policy.lexical is Lexical.TFIDF:
        by_words = tfidf_cosines(query.text, [c.passage.text for c in candidates], vocabulary, total)
    else:
        by_words = [candidate.hit.bm25 for candidate in candidates]
    known = [candidate.hit.cosine for candidate in candidates if candidate.hit.cosine is not None]
    weight = policy.lexical_weight if known else 1.0
    lexical = _min_max(by_words)
    if weight == 0.0:  # no blend: the cosine as it is
        meaning: list[float] = [c.hit.cosine or 0.0 for c in candidates]
    else:
        spread = iter(_min_max(known))
        meaning = [
            score if c.hit.cosine is None else next(spread) for c, score in zip(candidates, lexical, strict=True)
        ]
    blended = []
    for candidate, own_words, own_meaning in zip(candidates, lexical, meaning, strict=True):
        parts = (
            Because("words", "+", round(weight * own_words, 4)),
            Because("meaning", "+", round((1 - weight) * own_meaning, 4)),
        )
        added = [step.value for step in candidate.because if not step.effect.startswith("x")]
        factor = math.prod(step.value for step in candidate.because if step.effect.startswith("x"))
        score = (weight * own_words + (1 - weight) * own_meaning + sum(added)) * factor
        blended.append(replace(candidate, fused=score, score=score, because=(*parts, *candidate.because)))
    return blended


def _min_max(values: Sequence[float]) -> list[float]:
    lowest, highest = min(values, default=0.0), max(values, default=0.0)
    return [(value - lowest) / (highest - lowest) if highest > lowest else 0.0 for value in values]


def _by_keyword_hits(candidate: Candidate) -> Candidate:
    """Return the candidate scored by the question's words in it; half a cosine decides between equals."""
    because = (*candidate.because, Because("keyword hits first", "=", float(candidate.keyword_hits)))
    return replace(candidate, score=candidate.keyword_hits + (candidate.hit.cosine or 0.0) / 2, because=because)


def _newer_first_within_band(ordered: Sequence[Candidate], band: float) -> list[Candidate]:
    """Put the newer study first where scores lie within `band` of the first of a run; relevance is never overridden."""
    result: list[Candidate] = []
    start = 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[start].score - ordered[end].score <= band:
            end += 1
        run = ordered[start:end]
        newer = sorted(run, key=lambda c: (-(c.passage.study.year or 0), -c.score, c.passage.passage_id))
        for candidate, before in zip(newer, run, strict=True):
            year = Because("recency", "tie-break", float(candidate.passage.study.year or 0))
            is_moved = candidate is not before
            result.append(replace(candidate, because=(*candidate.because, year)) if is_moved else candidate)
        start = end
    return result


def _select(ordered: Sequence[Candidate], policy: Policy) -> RankedPassages:
    """Select the first passages of different places within the distance gate."""
    selected: list[Candidate] = []
    left_out: list[LeftOut] = []
    places: set[tuple[str, str, int]] = set()
    for candidate in ordered:
        if len(selected) == policy.evidence_passages:
            break
        passage = candidate.passage
        place = (passage.study.study_id, passage.section.value, passage.position // PLACE)
        cosine = candidate.hit.cosine
        distance = 0.0 if cosine is None else 2 - 2 * cosine  # squared, of unit vectors
        if policy.distance_gate and distance > policy.distance_gate:
            detail = f"its distance is {distance:.2f}; {policy.distance_gate:g} is the most allowed"
            left_out.append(_left_out(passage, LeftOutReason.BELOW_THRESHOLD, detail))
        elif place in places:
            left_out.append(_left_out(passage, LeftOutReason.DUPLICATE_LOCATION, "a better passage stands beside it"))
        else:
            places.add(place)
            selected.append(candidate)
    return RankedPassages(tuple(selected), tuple(left_out))


def _left_out(passage: Passage, reason: LeftOutReason, detail: str) -> LeftOut:
    return LeftOut("passage", reason, detail, passage.passage_id, study_id=passage.study.study_id)
