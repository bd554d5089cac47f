"""Candidates and their fusion: raw scores of both halves, brought to one scale."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from qa_app.pipeline.policy import Fusion, Policy
from qa_app.pipeline.records import Because, Candidate, Found, Hit, NearFinding, Passage

ANY_QUESTION = 0.5  # about the cosine of any two questions on one subject: what is above it tells them apart


@dataclass(frozen=True, slots=True)
class FusedHit:
    hit: Hit
    score: float
    because: tuple[Because, ...]


@dataclass(frozen=True, slots=True)
class Fused:
    """All hits of a search, best first, ties by passage id, each with its score and what the parts of that are."""

    hits: tuple[Hit, ...]
    scores: tuple[float, ...]
    parts: tuple[tuple[float, float, str, float], ...]
    """What words, meaning and a finding brought; the finding's step has a name of its own."""

    def best(self, policy: Policy, *, among: Collection[int] | None = None) -> tuple[FusedHit, ...]:
        """The pool; with `among` these passages in its place."""
        places = (place for place, hit in enumerate(self.hits) if among is None or hit.passage_id in among)
        return tuple(
            FusedHit(
                self.hits[place],
                self.scores[place],
                (
                    Because("words", "+", round(words, 4)),
                    Because("meaning", "+", round(meaning, 4)),
                    *([Because(step, "+", round(gain, 4))] if gain else []),
                ),
            )
            for place in islice(places, policy.pool)
            for words, meaning, step, gain in (self.parts[place],)
        )


def fuse(
    found: Found, policy: Policy, near: Sequence[NearFinding] = (), *, among: Collection[int] | None = None
) -> tuple[FusedHit, ...]:
    """The pool, as `order` puts the hits; with `among` these passages in its place."""
    return order(found, policy, near).best(policy, among=among)


def order(found: Found, policy: Policy, near: Sequence[NearFinding] = ()) -> Fused:
    """All hits in one order. The policy says how the halves are brought together.

    What the studies found counts too, where `near` says how close it comes. Fused scores order the hits of one question;
    they say nothing across questions.
    """
    if policy.fusion is Fusion.COSINE and found.dense.ok:
        lexical, dense = [0.0] * len(found.hits), _cosines(found)
    else:
        fusion = _by_ranks if policy.fusion is Fusion.RECIPROCAL_RANK else _by_scores
        lexical, dense = fusion(found, policy)
    findings = _by_findings(found, near)
    are_asked = any(entry.said is not None for entry in near)
    question_weight = are_asked * policy.question_weight
    gains = [
        policy.finding_weight * cosine + question_weight * max(0.0, cosine - ANY_QUESTION) for _, cosine in findings
    ]
    scores = [sum(parts) for parts in zip(lexical, dense, gains, strict=True)]
    places = sorted(range(len(scores)), key=lambda place: (-scores[place], found.hits[place].passage_id))
    return Fused(
        tuple(found.hits[place] for place in places),
        tuple(scores[place] for place in places),
        tuple((lexical[place], dense[place], findings[place][0], gains[place]) for place in places),
    )


def _by_scores(found: Found, policy: Policy) -> tuple[list[float], list[float]]:
    """Weighted min-max scores over all candidates of both halves; they are added up.

    How much a half counts follows how far its scores lie apart for this question (`_spreads`). One that did not run leaves
    its weight to the other; so does the meaning of a passage that waits for its vector.
    """
    by_words, by_meaning = _spreads(found, policy)
    lexical_weight = by_words * policy.lexical_weight if found.lexical.ok else 0.0
    dense_weight = by_meaning * policy.dense_weight if found.dense.ok else 0.0
    total = (lexical_weight + dense_weight) or 1.0
    words = _words(found)
    meaning = [
        own if hit.cosine is None else min_max(hit.cosine, found.dense.lowest, found.dense.highest)
        for own, hit in zip(words, found.hits, strict=True)
    ]
    return [lexical_weight / total * value for value in words], [dense_weight / total * value for value in meaning]


def _spreads(found: Found, policy: Policy) -> tuple[float, float]:
    """What the weights of the two halves are multiplied by for this question, before they are brought to a sum of 1.

    Min-max brings the best of each half to 1, also where a question is near to nothing or shares but one common word with
    the corpus. Cosines are on one scale for all questions, so their distances count as they are (`dense_spread` 1); those
    of BM25 grow with the question's length, so only a root of them does.
    """
    apart = found.dense.highest - found.dense.lowest
    if not (found.lexical.ok and found.dense.ok and found.lexical.highest > 0 and apart > 0):
        return 1.0, 1.0
    return (
        (found.lexical.highest / policy.usual_bm25) ** policy.lexical_spread,
        (apart / policy.usual_range) ** policy.dense_spread,
    )


def _words(found: Found) -> list[float]:
    return _all_min_max([hit.bm25 for hit in found.hits], found.lexical.lowest, found.lexical.highest)


def _by_ranks(found: Found, policy: Policy) -> tuple[list[float], list[float]]:
    """1 / (k + rank) in each half (Cormack et al. 2009), brought to at most 1 by what two first places give.

    The ranks of a half are known down to its `leg_limit`; what it ranks below counts nothing.
    """
    lexical = _ranks({hit.passage_id: hit.bm25 for hit in found.hits if hit.bm25 > 0}, policy)
    dense = _ranks({hit.passage_id: hit.cosine for hit in found.hits if hit.cosine is not None}, policy)
    most = 2 / (policy.fusion_k + 1)
    ids = [hit.passage_id for hit in found.hits]
    return [lexical.get(pk, 0.0) / most for pk in ids], [dense.get(pk, 0.0) / most for pk in ids]


def _ranks(scores: Mapping[int, float], policy: Policy) -> dict[int, float]:
    best = sorted(scores, key=lambda pk: (-scores[pk], pk))[: policy.leg_limit]
    return {pk: 1 / (policy.fusion_k + rank) for rank, pk in enumerate(best, start=1)}


def evened(near: Sequence[NearFinding]) -> tuple[NearFinding, ...]:
    """Studies of which nobody wrote down how readers ask for them gain what that brings the others on average."""
    gain = _gain_by_questions(near)
    if not gain:
        return tuple(near)
    return tuple(replace(entry, cosine=entry.cosine + gain) if entry.said is None else entry for entry in near)


def _gain_by_questions(near: Sequence[NearFinding]) -> float:
    """How much closer questions by which readers ask come than findings, on average of the studies that have any; 0.0 where none has."""
    gains = [entry.cosine - entry.said for entry in near if entry.said is not None]
    return math.fsum(gains) / len(gains) if gains else 0.0


def by_what_they_say(near: Sequence[NearFinding]) -> tuple[NearFinding, ...]:
    """The same as if nobody had written down how readers ask for a finding."""
    return tuple(n if n.said is None else replace(n, cosine=n.said, said=None) for n in near)


def _by_findings(found: Found, near: Sequence[NearFinding]) -> list[tuple[str, float]]:
    """For each hit the closest finding of its study: the name of the step, and the cosine.

    For a study without findings, or whose findings wait for their vectors, the passage's own cosine stands in, and its
    words where it has none: nobody is put behind for what a curator has not written. Where no study has any, none counts.
    """
    if not near:
        return [("", 0.0)] * len(found.hits)
    stand_ins = _cosines(found, lowest=min(n.cosine for n in near), highest=max(n.cosine for n in near))
    by_passage = {pk: (_step(n), n.cosine) for n in near for pk in n.passage_ids}
    gain = _gain_by_questions(near)
    return [
        by_passage.get(hit.passage_id) or ("meaning for finding", cosine + gain)
        for hit, cosine in zip(found.hits, stand_ins, strict=True)
    ]


def _step(near: NearFinding) -> str:
    is_by_question = near.said is not None and near.cosine > near.said
    return f"question of finding {near.number}" if is_by_question else f"finding {near.number}"


def _cosines(found: Found, *, lowest: float | None = None, highest: float | None = None) -> list[float]:
    """Of each hit; one that waits for its vector stands by its words between the lowest and the highest, by default those found."""
    low = found.dense.lowest if lowest is None else lowest
    high = (found.dense.highest or 1.0) if highest is None else highest
    return [
        low + words * (high - low) if hit.cosine is None else hit.cosine
        for hit, words in zip(found.hits, _words(found), strict=True)
    ]


def min_max(value: float, lowest: float, highest: float) -> float:
    """The value's place between the lowest and highest, 0.0 to 1.0; 0.0 where all are equal."""
    if highest <= lowest:
        return 0.0
    return min(1.0, max(0.0, (value - lowest) / (highest - lowest)))


def _all_min_max(values: Sequence[float], lowest: float, highest: float) -> list[float]:
    """The same of each of hundreds of values."""
    if highest <= lowest:
        return [0.0] * len(values)
    return [min(1.0, max(0.0, (value - lowest) / (highest - lowest))) for value in values]


def join(pool: tuple[FusedHit, ...], passages: tuple[Passage, ...]) -> tuple[Candidate, ...]:
    """The pool with its passages; a hit whose passage has gone since is no candidate."""
    by_id = {passage.passage_id: passage for passage in passages}
    return tuple(
        Candidate(by_id[entry.hit.passage_id], entry.hit, entry.score, entry.score, entry.because)
        for entry in pool
        if entry.hit.passage_id in by_id
    )
