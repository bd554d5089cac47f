"""A model that reads question and passage together: its order stands where it gives one, and else the built-in order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Passage
from qa_app.pipeline.ports import RerankerFailed
from qa_app.pipeline.records import Because, Candidate
from qa_app.pipeline.reranking import READ, SECONDS, rerank
from tests.pipeline.values import ASKED, make_candidate


class FixedReranker:
    """Gives fixed scores, or fails."""

    name = "cross-encoder"

    def __init__(self, scores: Sequence[float] = (), fails: str = "") -> None:
        self._scores, self._fails = scores, fails
        self.asked: tuple[str, int, float] | None = None

    def prepare(self) -> None:
        return None

    def scores(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Sequence[float]:
        self.asked = question, len(passages), seconds
        if self._fails:
            raise RerankerFailed(self._fails)
        return self._scores[: len(passages)]


def candidates(number: int) -> tuple[Candidate, ...]:
    return tuple(make_candidate(passage_id=place) for place in range(1, number + 1))


def ids(ranked: Sequence[Candidate]) -> list[int]:
    return [candidate.passage.passage_id for candidate in ranked]


@pytest.mark.parametrize(
    ("scores", "order", "effects"),
    [
        ([0.1, 0.2, 0.3], [3, 2, 1], ["3 to 1", "2 to 2", "1 to 3"]),
        ([0.3, -2.0, 0.1], [1, 3, 2], ["1 to 1", "3 to 2", "2 to 3"]),
        ([5.0, 5.0, 5.0], [1, 2, 3], ["1 to 1", "2 to 2", "3 to 3"]),
    ],
)
def test_a_models_order_stands_unless_it_fails_and_is_written_down(
    scores: list[float], order: list[int], effects: list[str]
) -> None:
    ranked = rerank(ASKED, candidates(3), FixedReranker(scores))

    assert ids(ranked) == order
    assert [(c.because[-1].step, c.because[-1].effect) for c in ranked] == [("cross-encoder", e) for e in effects]
    assert [c.because[-1].value for c in ranked] == sorted(scores, reverse=True)
    failed = rerank(ASKED, candidates(3), FixedReranker(fails="not in time"))
    assert ids(failed) == [1, 2, 3]
    assert {c.because for c in failed} == {(Because("cross-encoder", "not in time", 0.0),)}


def test_a_model_reads_no_more_than_it_has_time_for_and_the_others_follow() -> None:
    reranker = FixedReranker([float(n) for n in range(READ)])

    ranked = rerank(ASKED, candidates(READ + 2), reranker)

    assert reranker.asked == (ASKED, READ, SECONDS)
    assert ids(ranked) == [*range(READ, 0, -1), READ + 1, READ + 2]
    assert [c.because for c in ranked[READ:]] == [(), ()]


@given(st.lists(st.floats(-10, 10), max_size=40))
def test_a_models_order_loses_nothing(scores: list[float]) -> None:
    ranked = rerank(ASKED, candidates(len(scores)), FixedReranker(scores))

    assert sorted(ids(ranked)) == list(range(1, len(scores) + 1))
