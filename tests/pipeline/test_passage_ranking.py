"""The orders of the documents: each step does what it says and writes it down; a model may read and rank after it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Hit, Passage, Section
from qa_app.pipeline.passage_ranking import RankedPassages, rank_passages
from qa_app.pipeline.policy import PRESETS, Order, Policy
from qa_app.pipeline.ports import RerankerFailed
from qa_app.pipeline.query import Query
from qa_app.pipeline.records import Because, Candidate, LeftOutReason, Mode
from qa_app.pipeline.reranking import rerank
from tests.pipeline.corpora import asked
from tests.pipeline.values import make_candidate, make_concept, make_passage, make_query, make_study, passage_lists

MEANING = Policy("meaning", Order.SCORE, lexical_weight=0.0, evidence_passages=10)
"""Ranks by cosine alone; nothing moves a passage but what a test turns on."""
ASKED, TEXT = "How many weekly sets build muscle?", "Muscle grew."


def rank(
    *rows: tuple[Passage, float | None],
    policy: Policy = MEANING,
    query: Query | None = None,
    mode: Mode = Mode.BEGINNER,
    bm25: Sequence[float] = (),
    **figures: Any,
) -> RankedPassages:
    """Rank passages with their cosines."""
    words = bm25 or [1.0] * len(rows)
    hits = {p.passage_id: Hit(p.passage_id, b, c) for (p, c), b in zip(rows, words, strict=True)}
    policy = replace(policy, **figures)
    return rank_passages(query or make_query(facets=asked()), [p for p, _ in rows], hits, {}, 10, policy, mode)


def ids(candidates: Sequence[Candidate]) -> list[int]:
    return [candidate.passage.passage_id for candidate in candidates]


def of(study: str, **changes: Any) -> Passage:
    return make_passage(TEXT, study=make_study(study, **changes))


def test_a_passage_without_a_vector_goes_by_its_words() -> None:
    first, waiting, last = rows = [(of(s), cosine) for s, cosine in (("A", 0.2), ("B", None), ("C", 0.6))]

    found = rank(*rows, bm25=(0.0, 4.0, 2.0), lexical_weight=0.4, distance_gate=2.0).passages
    by_words = rank(*((passage, None) for passage, _ in rows), bm25=(1.0, 3.0, 2.0), lexical_weight=0.4).passages

    assert ids(found) == [waiting[0].passage_id, last[0].passage_id, first[0].passage_id]
    assert found[0].score == pytest.approx(1.0)
    assert [c.passage.study.study_id for c in by_words] == ["B", "C", "A"]


def test_what_lies_beyond_the_distance_gate_is_out_and_says_so() -> None:
    near, far = of("A"), of("B")

    found = rank((near, 0.26), (far, 0.24), distance_gate=1.5)  # squared distances 1.48 and 1.52

    assert ids(found.passages) == [near.passage_id]
    [out] = found.left_out
    assert (out.passage_id, out.study_id, out.reason) == (far.passage_id, "B", LeftOutReason.BELOW_THRESHOLD)
    assert "1.52" in out.detail
    assert "1.5 is the most allowed" in out.detail


ORDERS = [preset for preset in PRESETS.values() if preset.order is not Order.RELEVANCE]


@given(
    passage_lists(), st.sampled_from(ORDERS), st.sampled_from(list(Mode)),
    st.lists(st.tuples(st.floats(0, 9), st.none() | st.floats(-1, 1)), min_size=8, max_size=8),
)  # fmt: skip
def test_every_step_is_written_down(passages: list[Passage], preset: Policy, mode: Mode, scores: list[Any]) -> None:
    muscle = make_concept("muscle", neighbours=("sets",))
    query = make_query("any caveats of sets?", sections=(Section.RESULTS,), concepts=(muscle,))
    hits = {p.passage_id: Hit(p.passage_id, *row) for p, row in zip(passages, scores, strict=False)}

    found = rank_passages(query, passages, hits, {"sets": 2}, 9, preset, mode)

    seen = [*ids(found.passages), *(entry.passage_id for entry in found.left_out)]
    assert len(set(seen)) == len(seen)
    assert len(found.passages) <= preset.evidence_passages
    for candidate in found.passages:
        added = sum(b.value for b in candidate.because if b.effect in {"+", "-"})
        factor = math.prod(b.value for b in candidate.because if b.effect.startswith("x"))
        assert candidate.fused == pytest.approx(added * factor, abs=1e-3)
        assert preset.order is Order.KEYWORD_HITS or candidate.score == candidate.fused


class FixedReranker:
    """Gives fixed scores, or fails."""

    name = "cross-encoder"

    def __init__(self, scores: Sequence[float] = (), fails: str = "") -> None:
        self._scores, self._fails = scores, fails
        self.asked: tuple[str, int, float] | None = None

    def scores(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Sequence[float]:
        self.asked = question, len(passages), seconds
        if self._fails:
            raise RerankerFailed(self._fails)
        return self._scores[: len(passages)]


def candidates(number: int) -> tuple[Candidate, ...]:
    return tuple(make_candidate(passage_id=place) for place in range(1, number + 1))


@pytest.mark.parametrize(("scores", "order", "effects"), [
    ([0.1, 0.2, 0.3], [3, 2, 1], ["3 to 1", "2 to 2", "1 to 3"]),
    ([0.3, -2.0, 0.1], [1, 3, 2], ["1 to 1", "3 to 2", "2 to 3"]),
    ([5.0, 5.0, 5.0], [1, 2, 3], ["1 to 1", "2 to 2", "3 to 3"]),
])  # fmt: skip
def test_a_models_order_stands_unless_it_fails(scores: list[float], order: list[int], effects: list[str]) -> None:
    ranked = rerank(ASKED, candidates(3), FixedReranker(scores))

    assert ids(ranked) == order
    assert [(c.because[-1].step, c.because[-1].effect) for c in ranked] == [("cross-encoder", e) for e in effects]
    assert [c.because[-1].value for c in ranked] == sorted(scores, reverse=True)
    failed = rerank(ASKED, candidates(3), FixedReranker(fails="not in time"))
    assert ids(failed) == [1, 2, 3]
    assert {c.because for c in failed} == {(Because("cross-encoder", "not in time", 0.0),)}


@given(st.lists(st.floats(-10, 10), max_size=40))
def test_a_models_order_loses_nothing(scores: list[float]) -> None:
    ranked = rerank(ASKED, candidates(len(scores)), FixedReranker(scores))

    assert sorted(ids(ranked)) == list(range(1, len(scores) + 1))
