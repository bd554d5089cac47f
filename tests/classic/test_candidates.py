"""Fusion: both halves on one scale, the best of either in the pool, the same order every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Found, Hit, Hits, NearFinding
from qa_app.classic.candidates import evened, fuse, join, min_max
from qa_app.classic.policy import Fusion, Policy
from qa_app.pipeline.records import Because
from tests.classic.values import POLICY, founds, make_found, make_passage

PLAIN = Policy(lexical_weight=0.4, dense_weight=0.6, lexical_spread=0.0, dense_spread=0.0)


def order(found: Found, policy: Policy = POLICY, near: Sequence[NearFinding] = ()) -> list[int]:
    return [entry.hit.passage_id for entry in fuse(found, policy, near)]


def test_the_fused_score_is_the_weighted_sum_of_places() -> None:
    found = make_found([Hit(1, 8.0, 0.2), Hit(2, 4.0, 0.6), Hit(3, 0.0, 0.4)])

    scores = {entry.hit.passage_id: entry.score for entry in fuse(found, PLAIN)}

    assert scores == pytest.approx({1: 0.4 * 8 / 8 + 0.6 * 0, 2: 0.4 * 4 / 8 + 0.6 * 1, 3: 0.4 * 0 + 0.6 * 0.2 / 0.4})


@given(founds())
def test_fused_scores_lie_between_0_and_1_best_first(found: Found) -> None:
    scores = [entry.score for entry in fuse(found, POLICY)]

    assert all(0.0 <= score <= 1.0 + 1e-9 for score in scores)
    assert scores == sorted(scores, reverse=True)


@given(st.lists(st.floats(0.01, 40), min_size=1, max_size=40))
def test_one_half_alone_keeps_its_order(scores: list[float]) -> None:
    hits = [Hit(n, score, None) for n, score in enumerate(sorted(scores, reverse=True))]

    assert order(make_found(hits, dense_ok=False)) == [hit.passage_id for hit in hits][: POLICY.pool]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40, unique_by=lambda cosine: round(cosine, 3)))
def test_meaning_alone_keeps_its_order(cosines: list[float]) -> None:
    hits = [Hit(n, 0.0, cosine) for n, cosine in enumerate(sorted(cosines, reverse=True))]

    assert order(make_found(hits, lexical_ok=False)) == [hit.passage_id for hit in hits][: POLICY.pool]


def test_a_half_that_did_not_run_leaves_its_weight_to_the_other() -> None:
    found = make_found([Hit(1, 8.0, None), Hit(2, 0.0, None)], dense_ok=False)

    assert [entry.score for entry in fuse(found, POLICY)] == [1.0, 0.0]


@given(founds(), st.randoms())
def test_the_order_of_the_hits_handed_over_changes_nothing(found: Found, random: Random) -> None:
    shuffled = random.sample(list(found.hits), len(found.hits))

    assert fuse(replace(found, hits=Hits.of(shuffled)), POLICY) == fuse(found, POLICY)


def test_ties_are_broken_by_passage_id() -> None:
    assert order(make_found([Hit(n, 3.0, 0.5) for n in (7, 2, 5)])) == [2, 5, 7]


@pytest.mark.parametrize(("top_k", "cap", "expected"), [(20, 50, 40), (30, 50, 50), (1, 50, 2)])
def test_the_pool_is_twice_what_the_reranker_takes_up_to_a_cap(top_k: int, cap: int, expected: int) -> None:
    found = make_found([Hit(n, float(n), None) for n in range(100)])

    assert len(fuse(found, Policy(reranker_top_k=top_k, pool_cap=cap))) == expected


def test_what_each_half_added_is_written_down() -> None:
    [best, *_] = fuse(make_found([Hit(1, 8.0, 0.6), Hit(2, 0.0, 0.2)]), PLAIN)

    assert [(b.step, b.value) for b in best.because] == [("words", 0.4), ("meaning", 0.6)]


def test_a_half_whose_scores_lie_farther_apart_counts_more() -> None:
    hits = [Hit(1, 5.0, 0.1), Hit(2, 1.25, 0.8), Hit(3, 0.0, -0.05)]
    policy = replace(PLAIN, lexical_spread=0.25, dense_spread=1.0, usual_bm25=20.0, usual_range=0.85)

    [best, *_] = fuse(make_found(hits), policy)

    words, meaning = 0.4 * (5 / 20) ** 0.25, 0.6 * (0.8 + 0.05) / 0.85
    assert best.hit.passage_id == 2
    assert best.score == pytest.approx((words * 1.25 / 5 + meaning) / (words + meaning))


@pytest.mark.parametrize(
    "found",
    [
        make_found([Hit(1, 0.0, 0.6), Hit(2, 0.0, 0.2)]),  # no word of the question stands anywhere
        make_found([Hit(1, 8.0, 0.6), Hit(2, 4.0, 0.6)]),  # all are equally near
        make_found([Hit(1, 8.0, None), Hit(2, 4.0, None)]),  # all wait for their vectors
    ],
)
def test_where_a_half_tells_nothing_apart_the_weights_are_as_given(found: Found) -> None:
    assert fuse(found, POLICY) == fuse(found, replace(POLICY, lexical_spread=0.0, dense_spread=0.0))


def test_a_hit_whose_passage_has_gone_is_no_candidate() -> None:
    kept = make_passage(passage_id=2)
    pool = fuse(make_found([Hit(1, 5.0, 0.5), Hit(2, 3.0, 0.4)]), POLICY)

    assert [candidate.passage for candidate in join(pool, (kept,))] == [kept]


def test_nothing_found_is_an_empty_pool() -> None:
    assert fuse(make_found([]), POLICY) == ()


@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(-5, 5))
def test_min_max_is_bounded_whatever_comes_in(value: float, lowest: float, highest: float) -> None:
    assert 0.0 <= min_max(value, lowest, highest) <= 1.0


# --- By ranks ----------------------------------------------------------------------------------------------------------

RANKS = Policy(fusion=Fusion.RECIPROCAL_RANK)


def test_reciprocal_ranks_are_added_up() -> None:
    found = make_found([Hit(1, 9.0, 0.1), Hit(2, 0.0, 0.9), Hit(3, 5.0, 0.5)])

    scores = {entry.hit.passage_id: entry.score * 2 / 61 for entry in fuse(found, RANKS)}

    assert scores == pytest.approx({1: 1 / 61 + 1 / 63, 2: 1 / 61, 3: 1 / 62 + 1 / 62})


def test_first_in_both_halves_is_1() -> None:
    [best, _] = fuse(make_found([Hit(1, 9.0, 0.9), Hit(2, 1.0, 0.1)]), RANKS)

    assert (best.hit.passage_id, best.score) == (1, 1.0)
    assert [(b.step, b.value) for b in best.because] == [("words", 0.5), ("meaning", 0.5)]


def test_k_says_how_much_a_first_place_is_worth() -> None:
    found = make_found([Hit(1, 9.0, None), Hit(2, 8.0, 0.7), Hit(3, 7.0, 0.8), Hit(4, 0.0, 0.9)])

    assert order(found, replace(RANKS, fusion_k=0))[:2] == [1, 4]
    assert order(found, RANKS)[:2] == [2, 3]


def test_below_the_limit_of_a_half_a_rank_counts_nothing() -> None:
    found = make_found([Hit(1, 9.0, 0.9), Hit(2, 8.0, 0.8)])

    assert [entry.score for entry in fuse(found, replace(RANKS, leg_limit=1))] == [1.0, 0.0]


@given(founds(), st.randoms())
def test_ranks_do_not_depend_on_the_order_handed_over(found: Found, random: Random) -> None:
    shuffled = random.sample(list(found.hits), len(found.hits))

    assert fuse(replace(found, hits=Hits.of(shuffled)), RANKS) == fuse(found, RANKS)


# --- Findings


def test_the_closest_finding_of_a_study_counts_for_all_its_passages() -> None:
    found = make_found([Hit(1, 8.0, 0.2), Hit(2, 4.0, 0.6), Hit(3, 0.0, 0.4)])
    near = (NearFinding("S1", 2, 0.5, (1, 3)), NearFinding("S2", 1, 0.1, (2,)))
    policy = replace(POLICY, finding_weight=0.8)

    plain = {entry.hit.passage_id: entry.score for entry in fuse(found, policy)}
    entries = {entry.hit.passage_id: entry for entry in fuse(found, policy, near)}

    gained = {pk: entry.score - plain[pk] for pk, entry in entries.items()}
    assert gained == pytest.approx({1: 0.8 * 0.5, 2: 0.8 * 0.1, 3: 0.8 * 0.5})
    assert entries[3].because[-1] == Because("finding 2", "+", 0.4)


def test_a_study_without_findings_is_not_put_behind() -> None:
    found = make_found([Hit(1, 8.0, 0.6), Hit(2, 8.0, 0.6)])

    with_finding, without = fuse(found, replace(POLICY, finding_weight=1.0), (NearFinding("S1", 1, 0.6, (1,)),))

    assert with_finding.score == without.score
    assert without.because[-1].step == "meaning for finding"


def test_a_passage_that_waits_and_has_no_findings_goes_by_its_words() -> None:
    found = make_found([Hit(1, 8.0, 0.6), Hit(2, 8.0, None), Hit(3, 0.0, 0.1)])
    near = (NearFinding("S1", 1, 0.7, (1,)), NearFinding("S3", 1, 0.1, (3,)))

    entries = {entry.hit.passage_id: entry for entry in fuse(found, replace(POLICY, finding_weight=1.0), near)}

    assert entries[2].because[-1].value == pytest.approx(0.7)


@given(founds())
def test_without_findings_or_weight_the_halves_decide_alone(found: Found) -> None:
    near = (NearFinding("S1", 1, 0.9, tuple(hit.passage_id for hit in found.hits[:1])),)
    plain = fuse(found, replace(POLICY, finding_weight=0.0), near)

    assert plain == fuse(found, POLICY)
    assert all(len(entry.because) == 2 for entry in plain)


def test_the_best_finding_brings_a_passage_into_the_pool() -> None:
    hits = [Hit(n, 1.0 - n / 1000, 0.5 - n / 1000) for n in range(200)]
    near = (NearFinding("S1", 1, 0.9, (199,)), NearFinding("S0", 1, 0.1, tuple(range(199))))

    assert 199 in order(make_found(hits), near=near)
    assert 199 not in order(make_found(hits))


def test_by_cosine_alone_a_passage_that_waits_for_its_vector_goes_by_its_words() -> None:
    policy = Policy(fusion=Fusion.COSINE)
    found = make_found([Hit(1, 0.0, 0.2), Hit(2, 0.0, 0.6), Hit(3, 8.0, None), Hit(4, 2.0, None)])

    scores = {entry.hit.passage_id: entry.score for entry in fuse(found, policy)}

    assert scores == pytest.approx({1: 0.2, 2: 0.6, 3: 0.6, 4: 0.2 + 2 / 8 * 0.4})
    assert order(make_found([Hit(1, 1.0, None), Hit(2, 5.0, None), Hit(3, 3.0, None)]), policy) == [2, 3, 1]


def test_a_study_that_nobody_wrote_questions_for_is_not_put_behind() -> None:
    near = (NearFinding("S1", 1, 0.7, (1,), 0.5), NearFinding("S2", 1, 0.6, (2,), 0.5), NearFinding("S3", 1, 0.4, (3,)))

    assert [round(entry.cosine, 6) for entry in evened(near)] == [0.7, 0.6, 0.55]
    assert evened(near[:2]) == near[:2]
    assert evened(near[2:]) == near[2:]
    assert evened(()) == ()


def test_a_study_without_findings_gains_what_questions_bring_the_others() -> None:
    found = make_found([Hit(1, 1.0, 0.5), Hit(2, 1.0, 0.5)])
    asked, bare = NearFinding("S1", 1, 0.7, (1,), 0.5), NearFinding("S1", 1, 0.5, (1,))

    for near in (asked, bare):
        first, second = fuse(found, POLICY, (near,))
        assert first.score == pytest.approx(second.score)
