"""Candidates and their fusion: raw scores of both halves, brought to one scale."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qa_app.pipeline.policy import Fusion, Policy
from qa_app.pipeline.records import Because, Candidate, Found, Hit, Hits, NearFinding, Passage

Scores = NDArray[np.float64]
"""One figure a hit."""
Places = NDArray[np.int64]

ANY_QUESTION = 0.5  # about the cosine of any two questions on one subject: what is above it tells them apart


@dataclass(frozen=True, slots=True)
class FusedHit:
    hit: Hit
    score: float
    because: tuple[Because, ...]


@dataclass(frozen=True, slots=True)
class Fused:
    """All hits of a search, best first, ties by passage id, each with its score and what the parts of that are."""

    hits: Hits
    scores: Scores
    words: Scores
    meaning: Scores
    gains: Scores
    """What words, meaning and a finding brought; """
    steps: Sequence[str]
    """the names of the finding's step,"""
    step_of: Places
    """and which of them is each hit's."""

    def best(self, policy: Policy, *, among: Collection[int] | None = None) -> tuple[FusedHit, ...]:
        """The pool; with `among` these passages in its place."""
        wanted = slice(None) if among is None else np.flatnonzero(np.isin(self.hits.ids, list(among)))
        places = np.arange(len(self.hits))[wanted][: policy.pool]
        parts = zip(
            self.hits.among(places),
            *(column[places].tolist() for column in (self.scores, self.words, self.meaning, self.gains, self.step_of)),
            strict=True,
        )
        return tuple(
            FusedHit(
                hit,
                score,
                (
                    Because("words", "+", round(words, 4)),
                    Because("meaning", "+", round(meaning, 4)),
                    *([Because(self.steps[step], "+", round(gain, 4))] if gain else []),
                ),
            )
            for hit, score, words, meaning, gain, step in parts
        )

    def unfound(self, ids: Sequence[int], *, beside: int) -> tuple[FusedHit, ...]:
        """Passages that neither half found, of the same study as the hit `beside`: they have what its finding brought, and nothing else."""
        place = int(np.flatnonzero(self.hits.ids == beside)[0])
        gain = float(self.gains[place])
        because = (Because(self.steps[int(self.step_of[place])], "+", round(gain, 4)),) if gain else ()
        return tuple(FusedHit(Hit(pk, 0.0, None), gain, because) for pk in ids)


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
        words, meaning = np.zeros(len(found.hits)), _cosines(found)
    else:
        fusion = _by_ranks if policy.fusion is Fusion.RECIPROCAL_RANK else _by_scores
        words, meaning = fusion(found, policy)
    step_of, cosines = _by_findings(found, near)
    are_asked = any(entry.said is not None for entry in near)
    question_weight = are_asked * policy.question_weight
    gains = policy.finding_weight * cosines + question_weight * np.maximum(0.0, cosines - ANY_QUESTION)
    scores = words + meaning + gains
    places = np.lexsort((found.hits.ids, -scores))
    return Fused(
        found.hits.among(places),
        scores[places],
        words[places],
        meaning[places],
        gains[places],
        (*map(_step, near), "meaning for finding"),
        step_of[places],
    )


def _by_scores(found: Found, policy: Policy) -> tuple[Scores, Scores]:
    """Weighted min-max scores over all candidates of both halves; they are added up.

    How much a half counts follows how far its scores lie apart for this question (`_spreads`). One that did not run leaves
    its weight to the other; so does the meaning of a passage that waits for its vector.
    """
    by_words, by_meaning = _spreads(found, policy)
    lexical_weight = by_words * policy.lexical_weight if found.lexical.ok else 0.0
    dense_weight = by_meaning * policy.dense_weight if found.dense.ok else 0.0
    total = (lexical_weight + dense_weight) or 1.0
    words, cosines = _words(found), found.hits.cosines
    meaning = np.where(np.isnan(cosines), words, _all_min_max(cosines, found.dense.lowest, found.dense.highest))
    return lexical_weight / total * words, dense_weight / total * meaning


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


def _words(found: Found) -> Scores:
    return _all_min_max(found.hits.bm25, found.lexical.lowest, found.lexical.highest)


def _by_ranks(found: Found, policy: Policy) -> tuple[Scores, Scores]:
    """1 / (k + rank) in each half (Cormack et al. 2009), brought to at most 1 by what two first places give.

    The ranks of a half are known down to its `leg_limit`; what it ranks below counts nothing.
    """
    hits = found.hits
    most = 2 / (policy.fusion_k + 1)
    lexical = _ranks(np.where(hits.bm25 > 0, hits.bm25, np.nan), hits.ids, policy)
    return lexical / most, _ranks(hits.cosines, hits.ids, policy) / most


def _ranks(scores: Scores, ids: NDArray[np.int64], policy: Policy) -> Scores:
    """By these scores, NaN for none; of equals the lower id first."""
    best = np.lexsort((ids, -scores))[: min(policy.leg_limit, np.count_nonzero(~np.isnan(scores)))]
    ranks = np.zeros(len(scores))
    ranks[best] = 1 / (policy.fusion_k + np.arange(1, len(best) + 1))
    return ranks


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


def _by_findings(found: Found, near: Sequence[NearFinding]) -> tuple[Places, Scores]:
    """For each hit the closest finding of its study: its place in `near`, one behind the last where none is, and the cosine.

    For a study without findings, or whose findings wait for their vectors, the passage's own cosine stands in, and its
    words where it has none: nobody is put behind for what a curator has not written. Where no study has any, none counts.
    """
    step_of = np.full(len(found.hits), len(near))
    if not near:
        return step_of, np.zeros(len(found.hits))
    cosines = np.array([entry.cosine for entry in near])
    stood_in = _cosines(found, lowest=float(cosines.min()), highest=float(cosines.max())) + _gain_by_questions(near)
    of_passage = {pk: place for place, entry in enumerate(near) for pk in entry.passage_ids}
    step_of = np.array([of_passage.get(pk, len(near)) for pk in found.hits.ids.tolist()], np.int64)
    return step_of, np.where(step_of < len(near), np.append(cosines, 0.0)[step_of], stood_in)


def _step(near: NearFinding) -> str:
    is_by_question = near.said is not None and near.cosine > near.said
    return f"question of finding {near.number}" if is_by_question else f"finding {near.number}"


def _cosines(found: Found, *, lowest: float | None = None, highest: float | None = None) -> Scores:
    """Of each hit; one that waits for its vector stands by its words between the lowest and the highest, by default those found."""
    low = found.dense.lowest if lowest is None else lowest
    high = (found.dense.highest or 1.0) if highest is None else highest
    cosines = found.hits.cosines
    return np.where(np.isnan(cosines), low + _words(found) * (high - low), cosines)


def min_max(value: float, lowest: float, highest: float) -> float:
    """The value's place between the lowest and highest, 0.0 to 1.0; 0.0 where all are equal."""
    if highest <= lowest:
        return 0.0
    return min(1.0, max(0.0, (value - lowest) / (highest - lowest)))


def _all_min_max(values: Scores, lowest: float, highest: float) -> Scores:
    """The same of each of hundreds of values; NaN stays what it is."""
    return np.clip((values - lowest) / (highest - lowest), 0.0, 1.0) if highest > lowest else np.zeros(len(values))


def join(pool: tuple[FusedHit, ...], passages: tuple[Passage, ...]) -> tuple[Candidate, ...]:
    """The pool with its passages; a hit whose passage has gone since is no candidate."""
    by_id = {passage.passage_id: passage for passage in passages}
    return tuple(
        Candidate(by_id[entry.hit.passage_id], entry.hit, entry.score, entry.score, entry.because)
        for entry in pool
        if entry.hit.passage_id in by_id
    )
