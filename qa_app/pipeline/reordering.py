"""Around the ranking: what a policy or a configured model changes in the order, each change in `because`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from corpus_app.records import AgeGroup, Concept, Sex, Study, TrainingStatus
from qa_app.pipeline.policy import Order, Policy
from qa_app.pipeline.population import find_numbers
from qa_app.pipeline.records import Because, Candidate, LeftOut, LeftOutReason, Population, Understanding
from qa_app.pipeline.text import folded, stem_set


def reorder(ranked: Sequence[Candidate], policy: Policy) -> tuple[tuple[Candidate, ...], tuple[LeftOut, ...]]:
    """The candidates in the order that the policy asks for, and those that its distance gate keeps out."""
    ordered = _by_keyword_hits(ranked) if policy.order is Order.KEYWORD_HITS else tuple(ranked)
    return _within_distance(ordered, policy)


def with_gains(candidates: Sequence[Candidate], understanding: Understanding, policy: Policy) -> tuple[Candidate, ...]:
    """Small boosts before the ranking, for what the question names beside its words; most policies have none of them."""
    if not (policy.neighbour_weight or policy.population_weight or policy.number_weight):
        return tuple(candidates)
    named = {concept.concept_id for concept in understanding.concepts}
    near = {n for concept in understanding.concepts for n in concept.neighbours} - named
    moved = []
    for candidate in candidates:
        gains = {
            "neighbouring concept": policy.neighbour_weight * bool(near & set(candidate.passage.study.concepts)),
            "people asked about": policy.population_weight * fit(candidate.passage.study, understanding.population),
            "numbers asked about": policy.number_weight * _share_of_numbers(candidate.passage.text, understanding),
        }
        for step, gain in gains.items():
            if gain:
                candidate = _moved(candidate, step, "+" if gain > 0 else "-", gain)
        moved.append(candidate)
    return tuple(moved)


def fit(study: Study, population: Population) -> float:
    """How far a study's people are those of the question, -1 to 1: each side that both name counts alike; mixed ones say nothing."""
    sides = [
        _side(study.age_group, population.age_groups, {AgeGroup.MIXED, AgeGroup.NOT_REPORTED}),
        _side(study.training_status, population.training, _ANY_TRAINING),
        _side(study.sex, population.sexes, {Sex.BOTH, Sex.NOT_REPORTED}),
    ]
    named = [side for side in sides if side is not None]
    return sum(named) / len(named) if named else 0.0


_ANY_TRAINING = {TrainingStatus.MIXED, TrainingStatus.NOT_REPORTED, TrainingStatus.NOT_APPLICABLE}


def _side(own: object, wanted: Sequence[object], silent: Collection[object]) -> int | None:
    """None where the question does not name it."""
    if not wanted:
        return None
    return 0 if own in silent else 1 if own in wanted else -1


def _share_of_numbers(text: str, understanding: Understanding) -> float:
    wanted = [number.value for number in understanding.numbers]
    held = {number.value for number in find_numbers(folded(text))}
    return sum(value in held for value in wanted) / len(wanted) if wanted else 0.0


def _moved(candidate: Candidate, step: str, effect: str, gain: float) -> Candidate:
    because = (*candidate.because, Because(step, effect, round(gain, 4)))
    return replace(candidate, score=candidate.score + gain, because=because)


def _by_keyword_hits(ranked: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Whole words first, closeness second. The score tells it in one number: a cosine never outweighs a word."""
    counted = [
        replace(
            candidate,
            score=candidate.keyword_hits + (candidate.hit.cosine or 0.0) / 2,
            because=(*candidate.because, Because("keyword hits first", "=", float(candidate.keyword_hits))),
        )
        for candidate in ranked
    ]
    return tuple(sorted(counted, key=lambda c: (-c.score, c.passage.passage_id)))


def _within_distance(ranked: Sequence[Candidate], policy: Policy) -> tuple[tuple[Candidate, ...], tuple[LeftOut, ...]]:
    """A passage without a vector has no distance and passes."""
    kept, left_out = [], []
    for candidate in ranked:
        cosine = candidate.hit.cosine
        distance = 0.0 if cosine is None else 2 - 2 * cosine  # squared, of unit vectors
        if policy.distance_gate and distance > policy.distance_gate:
            detail = f"its distance is {distance:.2f}; {policy.distance_gate:g} is the most allowed"
            passage = candidate.passage
            left_out.append(
                LeftOut(
                    "passage",
                    LeftOutReason.BELOW_THRESHOLD,
                    detail,
                    passage.passage_id,
                    study_id=passage.study.study_id,
                )
            )
        else:
            kept.append(candidate)
    return tuple(kept), tuple(left_out)


def mark_linked(
    candidates: Sequence[Candidate], gains: dict[int, float], concepts: Sequence[Concept]
) -> tuple[Candidate, ...]:
    """Names, in `because`, the related concept that brought a passage: the one whose words it holds most of."""
    marked = []
    for candidate in candidates:
        gain = gains.get(candidate.passage.passage_id)
        if gain:
            held = stem_set(f"{candidate.passage.heading} {candidate.passage.text}")
            concept = max(concepts, key=lambda c: _share(stem_set(c.name), held))
            because = (*candidate.because, Because("linked", concept.name, round(gain, 4)))
            candidate = replace(candidate, because=because)
        marked.append(candidate)
    return tuple(marked)


def _share(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / max(1, len(wanted))


def by_model(
    ranked: Sequence[Candidate], scores: Sequence[float], *, name: str, weight: float
) -> tuple[Candidate, ...]:
    """The first candidates, as many as there are scores, in the model's order; the others follow as they were.

    `weight` is the model's share, the rest is the built-in order's; both are brought to 0 to 1 first.
    """
    head, tail = ranked[: len(scores)], ranked[len(scores) :]
    if not head:
        return tuple(ranked)
    least = min(candidate.score for candidate in head)
    mixed = [
        weight * own + (1 - weight) * built_in
        for own, built_in in zip(_spread(scores), _spread([c.score for c in head]), strict=True)
    ]
    order = sorted(range(len(head)), key=lambda n: (-mixed[n], n))
    moved = [
        replace(
            head[n],
            score=least + mixed[n],  # above all that the model did not read
            because=(*head[n].because, Because(name, f"{n + 1} to {place}", round(float(scores[n]), 4))),
        )
        for place, n in enumerate(order, start=1)
    ]
    return (*moved, *tail)


def _spread(values: Sequence[float]) -> list[float]:
    lowest, highest = min(values), max(values)
    return [(value - lowest) / (highest - lowest) if highest > lowest else 0.0 for value in values]


def without_model(ranked: Sequence[Candidate], *, name: str, why: str) -> tuple[Candidate, ...]:
    """The built-in order, which says that the model had no part in it."""
    return tuple(replace(c, because=(*c.because, Because(name, why, 0.0))) for c in ranked)
