"""The search half of the way: presets, collections, the second pass, the distance gate, a model's order. Each says what it did."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qa_app.classic import reordering
from qa_app.classic.generation import ExtractiveWriter
from qa_app.classic.policy import DEFAULT, PRESETS, Order, Policy
from qa_app.classic.query import find_linked, understand
from qa_app.classic.retrieval import Search, find_evidence
from qa_app.classic.run import answer_question

from corpus_app import records
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.ports import LegFailed, RerankerFailed
from qa_app.pipeline.records import Answer, Candidate, LeftOutReason, Searched
from tests.classic.corpora import FakeCorpus, starter_corpus
from tests.classic.values import (
    candidate_lists,
    encode,
    make_candidate,
    make_concept,
    make_corpus,
    make_passage,
    make_question,
    make_study,
)

SETS = "Ten weekly sets per muscle increased growth more than five."
PROTEIN = "Older adults kept more lean mass with 1.2 g/kg of protein a day."
LOADING = "A loading phase of twenty grams fills the stores within a week."
ASKED = "how many weekly sets per muscle for growth?"
PASSAGES = [
    make_passage(SETS, passage_id=1, study=make_study("T001", concepts=("training-volume",))),
    make_passage(PROTEIN, passage_id=2, study=make_study("T002", collection="nutrition", title="Protein and age")),
    make_passage(
        LOADING,
        passage_id=3,
        study=make_study("T003", collection="nutrition", title="Stores", concepts=("loading-phase",)),
    ),
]
CREATINE = make_concept("creatine", neighbours=("loading-phase", "muscle-strength"))
LOADING_PHASE = make_concept("loading-phase", neighbours=("creatine",))
HUB = make_concept("muscle-strength", neighbours=tuple(f"c{n}" for n in range(20)))
CONCEPTS = (CREATINE, LOADING_PHASE, HUB)
COLLECTIONS = (
    records.Collection("training", "Training", "", ("sets", "weekly sets")),
    records.Collection("nutrition", "Nutrition", "", ("protein", "eating")),
)
NEVER_ENOUGH = 2.0  # no estimate reaches it
ALWAYS = 1.1


def corpus(**options: object) -> FakeCorpus:
    return make_corpus(*PASSAGES, **({"concepts": CONCEPTS, "collections": COLLECTIONS} | options))


def find(
    text: str,
    *,
    policy: Policy = DEFAULT,
    collection: str | None = None,
    within: FakeCorpus | None = None,
    reranker: Reranker | None = None,
    clock: Clock | None = None,
) -> Search:
    return find_evidence(
        make_question(text, collection=collection),
        corpus=within or corpus(),
        policy=policy,
        clock=clock or Clock(),
        reranker=reranker,
    )


def ids(ranked: Sequence[Candidate]) -> list[int]:
    return [candidate.passage.passage_id for candidate in ranked]


def steps(candidate: Candidate) -> list[str]:
    return [because.step for because in candidate.because]


class Reranker:
    """Gives fixed scores, or fails."""

    name = "cross-encoder"

    def __init__(self, scores: Sequence[float] = (), fails: str = "") -> None:
        self.given, self.fails = scores, fails
        self.read: list[int] = []

    def prepare(self) -> None:
        pass

    def scores(self, question: str, passages: Sequence[records.Passage], *, seconds: float) -> Sequence[float]:
        self.read = [passage.passage_id for passage in passages]
        if self.fails:
            raise RerankerFailed(self.fails)
        return [self.given[n % len(self.given)] for n in range(len(passages))]


# --- Presets ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def starter() -> FakeCorpus:
    return starter_corpus(Path(__file__).resolve().parents[2] / "corpus", encode)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_every_preset_finds_and_answers(preset: Policy, starter: FakeCorpus) -> None:
    answer: Answer = answer_question(
        make_question("how many weekly sets for muscle growth?"),
        corpus=starter,
        writer=ExtractiveWriter(),
        policy=replace(preset, answerable_from=0.0, distance_gate=preset.distance_gate and 2.0),
    )

    assert answer.outcome.is_answer
    assert answer.policy.name == preset.name
    assert 1 <= len(answer.evidence) <= preset.evidence_passages


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_no_preset_ranks_more_than_its_pool(preset: Policy, starter: FakeCorpus) -> None:
    search = find("creatine and strength in older adults", policy=preset, within=starter)

    assert 0 < len(search.ranked) + len(search.left_out) <= preset.pool


def test_what_else_the_leading_studies_say_stands_behind_the_ranking(starter: FakeCorpus) -> None:
    asked = "creatine and strength in older adults"
    alone = find(asked, policy=replace(DEFAULT, completed_studies=0), within=starter)
    completed = find(asked, policy=replace(DEFAULT, completed_studies=2), within=starter)
    leading = {c.passage.study.study_id for c in completed.further}

    assert completed.ranked == alone.ranked
    assert completed.signals == alone.signals
    assert alone.further == ()
    assert 1 <= len(leading) <= 2
    assert not {c.passage.passage_id for c in completed.further} & set(ids(completed.ranked))


@pytest.mark.parametrize(
    ("section", "told"),
    [
        (records.Section.INTRODUCTION, [2, 3]),
        (records.Section.METHODS, [2, 3]),
        (records.Section.RESULTS, [2, 3]),
        (records.Section.PRACTICAL_APPLICATIONS, []),
        (records.Section.CONCLUSION, []),
        (records.Section.ABSTRACT, []),
    ],
)
def test_of_a_leading_study_whose_conclusion_was_not_found_all_else_stands_behind_the_ranking(
    section: records.Section, told: list[int]
) -> None:
    study, other = make_study("T001"), make_study("T002", title="Protein and age")
    found = make_passage("Sets until failure were the question.", passage_id=1, study=study, section=section)
    hidden = make_passage("Nobody gained anything.", passage_id=2, study=study, position=1)
    last = make_passage("Both groups trained.", passage_id=3, study=study, position=2)
    elsewhere = make_passage(PROTEIN, passage_id=4, study=other)
    within = make_corpus(found, hidden, last, elsewhere)
    policy = replace(DEFAULT, leg_limit=1, lexical_weight=1.0, dense_weight=0.0)

    search = find("sets until failure?", policy=policy, within=within)

    assert search.ranked[0].passage.passage_id == 1
    assert sorted(ids(search.further)) == told
    alone = find("sets until failure?", policy=replace(policy, completed_studies=0), within=within)
    assert (alone.further, alone.ranked, alone.signals) == ((), search.ranked, search.signals)


@pytest.mark.parametrize("is_searched_by_meaning", [True, False])
def test_of_a_leading_study_without_findings_all_that_was_found_stands_behind_the_ranking(
    is_searched_by_meaning: bool,
) -> None:
    study = make_study("T001")
    own = [
        make_passage(text, passage_id=n, study=study, position=n, section=records.Section.RESULTS)
        for n, text in enumerate(("Weekly sets grew muscle.", "Sets were counted.", "Nobody slept more."), start=1)
    ]
    silent = make_corpus(*own, make_passage(PROTEIN, passage_id=9, study=make_study("T002")))
    within = silent if is_searched_by_meaning else make_corpus(*own, encode=None)
    policy = replace(DEFAULT, pool_cap=1)

    search = find("weekly sets?", policy=policy, within=within)

    assert ids(search.ranked) == [1]
    assert 2 in ids(search.further)
    assert {c.passage.study.study_id for c in search.further} == {"T001"}


def test_keyword_hits_lead_where_the_policy_says_so(starter: FakeCorpus) -> None:
    ranked = find(
        "creatine loading and kidney harm", policy=replace(DEFAULT, order=Order.KEYWORD_HITS), within=starter
    ).ranked

    assert [c.keyword_hits for c in ranked] == sorted((c.keyword_hits for c in ranked), reverse=True)
    assert all("keyword hits first" in steps(c) for c in ranked)


@given(candidate_lists(), st.floats(0.1, 4.0))
def test_the_distance_gate_keeps_out_what_is_far_and_says_so(ranked: tuple[Candidate, ...], gate: float) -> None:
    kept, out = reordering.reorder(ranked, replace(DEFAULT, distance_gate=gate))

    assert all(2 - 2 * (c.hit.cosine or 0.0) <= gate for c in kept)
    assert sorted([*ids(kept), *(entry.passage_id or 0 for entry in out)]) == sorted(ids(ranked))
    assert {entry.reason for entry in out} <= {LeftOutReason.BELOW_THRESHOLD}


def test_what_the_gate_kept_out_stands_in_the_answer() -> None:
    gated = replace(DEFAULT, distance_gate=0.01)

    answer = answer_question(make_question(ASKED), corpus=corpus(), writer=ExtractiveWriter(), policy=gated)

    assert not answer.outcome.is_answer
    assert {entry.passage_id for entry in answer.left_out} == {1, 2, 3}
    assert answer.ranked == 3


def test_a_study_on_a_neighbouring_concept_gains_a_little() -> None:
    alone = replace(DEFAULT, leading_weight=0.0)
    plain = find("does creatine help?", policy=alone)
    boosted = find("does creatine help?", policy=replace(alone, neighbour_weight=0.1))

    gained = {c.passage.passage_id: c.score for c in boosted.ranked}
    assert gained[3] == pytest.approx({c.passage.passage_id: c.score for c in plain.ranked}[3] + 0.1)
    assert [c.passage.passage_id for c in boosted.ranked if "neighbouring concept" in steps(c)] == [3]


@pytest.mark.parametrize(
    ("asked", "gain"),
    [
        ("do older women gain strength?", 1.0),
        ("do older men gain strength?", 0.0),
        ("do young men gain strength?", -1.0),
        ("do children gain strength?", -1.0),
        ("do novices gain strength?", 0.0),
        ("does strength grow?", 0.0),
    ],
)
def test_a_study_of_the_people_asked_about_gains_and_one_of_others_loses(asked: str, gain: float) -> None:
    study = make_study(
        age_group=records.AgeGroup.OLDER_ADULTS, sex=records.Sex.FEMALE, training_status=records.TrainingStatus.MIXED
    )

    assert reordering.fit(study, understand(make_question(asked), concepts=(), collections=()).population) == gain


def test_a_passage_with_the_numbers_asked_about_gains_where_the_policy_says_so() -> None:
    text = "is 1.2 g/kg of protein or 40 g enough?"

    boosted = find(text, policy=replace(DEFAULT, number_weight=0.2))

    gains = {
        c.passage.passage_id: b.value for c in boosted.ranked for b in c.because if b.step == "numbers asked about"
    }
    assert gains == {2: pytest.approx(0.2 / 2)}


# --- Collections -----------------------------------------------------------------------------------------------------------


def test_a_detected_collection_is_searched_alone_while_it_holds_enough() -> None:
    search = find(ASKED, policy=replace(DEFAULT, scope_detected=True, scope_enough=0.0))

    assert search.searched is Searched.COLLECTION
    assert {c.passage.study.collection for c in search.ranked} == {"training"}


def test_a_detected_collection_that_is_thin_gives_way_to_everything() -> None:
    search = find(ASKED, policy=replace(DEFAULT, scope_detected=True, scope_enough=NEVER_ENOUGH))

    assert search.searched is Searched.COLLECTION_THEN_GLOBAL
    assert {c.passage.study.collection for c in search.ranked} == {"training", "nutrition"}


def test_nothing_is_detected_unless_the_policy_says_so() -> None:
    search = find(ASKED)

    assert search.understanding.collection == "training"
    assert search.searched is Searched.GLOBAL


def test_a_chosen_collection_is_left_only_for_an_answer() -> None:
    left = find(
        ASKED,
        collection="nutrition",
        policy=replace(DEFAULT, scope_enough=NEVER_ENOUGH, leave_chosen_from=0.0, answerable_from=0.0),
    )
    kept = find(
        ASKED, collection="nutrition", policy=replace(DEFAULT, scope_enough=NEVER_ENOUGH, answerable_from=NEVER_ENOUGH)
    )

    assert (left.searched, kept.searched) == (Searched.COLLECTION_THEN_GLOBAL, Searched.COLLECTION_THEN_GLOBAL)
    assert ids(left.ranked)[0] == 1
    assert {c.passage.study.collection for c in kept.ranked} == {"nutrition"}


def test_a_chosen_collection_is_a_filter_where_the_policy_says_so() -> None:
    search = find(
        ASKED,
        collection="nutrition",
        policy=replace(DEFAULT, leave_chosen_from=NEVER_ENOUGH, scope_enough=NEVER_ENOUGH),
    )

    assert search.searched is Searched.COLLECTION_THEN_GLOBAL
    assert {c.passage.study.collection for c in search.ranked} == {"nutrition"}


# --- The second pass -------------------------------------------------------------------------------------------------------


def test_where_little_was_found_related_concepts_are_searched_too() -> None:
    clock = Clock()

    search = find("does creatine help?", policy=replace(DEFAULT, linked_below=ALWAYS), clock=clock)

    assert [c.concept_id for c in search.understanding.linked] == ["loading-phase"]
    assert "loading phase" in search.understanding.also_searched
    assert search.linked is not None
    assert search.linked.ok
    assert search.linked.candidates == 1
    brought = next(c for c in search.ranked if c.passage.passage_id == 3)
    assert [b.effect for b in brought.because if b.step == "linked"] == ["loading phase"]
    assert all("linked" not in steps(c) for c in search.ranked if c.passage.passage_id != 3)
    assert clock.spent["linked"] is not None


def test_the_second_pass_keeps_what_came_near_and_what_else_was_found(starter: FakeCorpus) -> None:
    asked = "creatine and strength in older adults"
    first = find(asked, within=starter)
    second = find(asked, within=starter, policy=replace(DEFAULT, linked_below=ALWAYS))
    ranked = set(ids(second.ranked))

    assert second.linked is not None
    assert second.near == first.near
    assert ids(second.further) == [pk for pk in ids(first.further) if pk not in ranked]


def test_the_second_pass_brings_what_the_first_did_not_hand_over() -> None:
    without_vectors = corpus(encode=None)

    first = find("does creatine help?", within=without_vectors)
    second = find("does creatine help?", within=without_vectors, policy=replace(DEFAULT, linked_below=ALWAYS))

    assert ids(first.ranked) == []
    assert ids(second.ranked) == [3]
    assert second.ranked[0].hit.bm25 == 0.0


def test_there_is_no_second_pass_where_enough_was_found_or_the_policy_has_none() -> None:
    for policy in (DEFAULT, replace(DEFAULT, linked_below=1e-12)):
        search = find("does creatine help?", policy=policy)

        assert search.linked is None
        assert search.understanding.linked == ()


def test_a_second_pass_that_fails_is_named_and_the_first_stands() -> None:
    class Broken(FakeCorpus):
        def find_linked(self, *_: object, **__: object) -> records.Found:
            raise LegFailed("The search by related topics failed.")

    broken = Broken(PASSAGES, encode=encode, concepts=CONCEPTS, collections=COLLECTIONS)

    search = find("does creatine help?", within=broken, policy=replace(DEFAULT, linked_below=ALWAYS))

    assert search.linked == records.Leg(False, 0, "The search by related topics failed.")
    assert ids(search.ranked) == ids(find("does creatine help?").ranked)


def test_hubs_are_neither_left_nor_reached_and_the_number_is_capped() -> None:
    many = make_concept("many", neighbours=("a", "b", "c", "hub"))
    hub = make_concept("hub", neighbours=tuple("abcdefgh"))
    others = [make_concept(name) for name in "abc"]
    concepts = (many, hub, *others)

    def linked(text: str, **limits: int) -> list[str]:
        understanding = understand(make_question(text), concepts=concepts, collections=())
        return [c.concept_id for c in find_linked(understanding, concepts, **limits)]

    assert linked("many", hub=5, most=2) == ["a", "b"]
    assert linked("many", hub=5, most=9) == ["a", "b", "c"]
    assert linked("many", hub=9, most=9) == ["a", "b", "c", "hub"]
    assert linked("hub", hub=5, most=9) == []
    assert linked("many a", hub=5, most=9) == ["b", "c"]


# --- A model's order -------------------------------------------------------------------------------------------------------


def test_a_model_orders_what_it_reads_and_says_so() -> None:
    clock, first = Clock(), find(ASKED)
    upside_down = Reranker([1.0, 2.0, 3.0])

    search = find(ASKED, reranker=upside_down, clock=clock)

    assert upside_down.read == ids(first.ranked)
    assert ids(search.ranked) == ids(first.ranked)[::-1]
    assert [c.because[-1].effect for c in search.ranked] == ["3 to 1", "2 to 2", "1 to 3"]
    assert [c.because[-1].step for c in search.ranked] == ["cross-encoder"] * 3
    assert clock.spent["rerank"] is not None
    assert search.signals == first.signals


def test_a_model_that_fails_leaves_the_built_in_order_and_says_so() -> None:
    search = find(ASKED, reranker=Reranker(fails="not in time"))

    assert ids(search.ranked) == ids(find(ASKED).ranked)
    assert {(c.because[-1].step, c.because[-1].effect) for c in search.ranked} == {("cross-encoder", "not in time")}


@given(candidate_lists(), st.lists(st.floats(-10, 10), max_size=30), st.floats(0, 1))
def test_a_models_order_loses_nothing_and_keeps_scores_in_order(
    ranked: tuple[Candidate, ...], scores: list[float], weight: float
) -> None:
    scores = scores[: len(ranked)]

    moved = reordering.by_model(ranked, scores, name="model", weight=weight)

    assert sorted(ids(moved)) == sorted(ids(ranked))
    assert ids(moved[len(scores) :]) == ids(ranked[len(scores) :])
    assert all(a.score >= b.score - 1e-9 for a, b in itertools.pairwise(moved))
    if weight == 0:
        assert ids(moved) == ids(ranked)


def test_without_a_model_nothing_is_said_of_one() -> None:
    clock = Clock()

    search = find(ASKED, clock=clock)

    assert clock.spent["rerank"] is None
    assert not {"cross-encoder"} & {step for c in search.ranked for step in steps(c)}


def test_a_stage_inside_another_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter((0.0, 1.0, 3.0, 7.0, 10.0, 20.0))
    monkeypatch.setattr("qa_app.classic.retrieval.perf_counter", lambda: next(seconds))
    clock = Clock()

    with clock("lexical"), clock("encode"):
        pass
    with clock("lexical"):
        pass

    assert clock.spent["encode"] == 1000 * (3.0 - 1.0)
    assert clock.spent["lexical"] == 1000 * ((7.0 - 0.0) - (3.0 - 1.0) + (20.0 - 10.0))


def test_equal_marks_keep_the_built_in_order() -> None:
    ranked = tuple(
        make_candidate(score=score, passage_id=place) for place, score in enumerate((0.9, 0.8, 0.7), start=1)
    )

    assert ids(reordering.by_model(ranked, [5.0, 5.0, 5.0], name="model", weight=1.0)) == [1, 2, 3]
