"""Passages of both halves come in one order; a collection is left, and neighbours are searched, only for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Concept, Found, Hit, Hits
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.learned import Logistic
from qa_app.pipeline.policy import DEFAULT, PRESETS, Policy
from qa_app.pipeline.ports import Vector
from qa_app.pipeline.records import Scope
from qa_app.pipeline.retrieval import Models, Retrieved, cited_studies, fuse, retrieve, retrieve_scoped
from tests.pipeline.fake_corpus import FakeCorpus
from tests.pipeline.values import make_concept, make_passage, make_query, make_study


def test_scores_of_words_and_meaning_are_weighted() -> None:
    two = [Hit(1, 4.0, 0.2), Hit(2, 0.0, 0.6)]
    for hits, weight, fused in (
        ([], 0.4, {}), (two, 0.4, {2: 0.6, 1: 0.4}), (two, 0.0, {2: 1.0, 1: 0.0}),
        ([Hit(1, 1.0, 0.2), Hit(2, 3.0, 0.6), Hit(3, 2.0, 0.3)], 0.4, {2: 1.0, 3: 0.4 * 0.5 + 0.6 * 0.25, 1: 0.0}),
        ([Hit(1, 1.0, None), Hit(2, 3.0, None)], 0.4, {2: 1.0, 1: 0.0}),  # no vectors: words alone
        ([Hit(1, 0.0, 0.2), Hit(2, 0.0, 0.6)], 0.4, {2: 1.0, 1: 0.0}),  # no word in common: meaning alone
        ([Hit(1, 1.0, 0.2), Hit(2, 9.0, None), Hit(3, 1.0, 0.6)], 0.4, {2: 1.0, 3: 0.6, 1: 0.0}),  # 2 waits for its vector
        ([Hit(2, 1.0, 0.6), Hit(1, 1.0, 0.6)], 0.4, {1: 0.0, 2: 0.0}),  # nothing tells them apart but their ids
    ):  # fmt: skip
        found = fuse(Hits.of(hits), weight)
        assert list(found) == list(fused)
        assert found == pytest.approx(fused)


@given(st.lists(st.tuples(st.floats(0, 40), st.none() | st.floats(-1, 1)), max_size=40), st.floats(0, 1), st.randoms())
def test_fused_scores_lie_between_0_and_1(rows: list[Any], weight: float, random: Any) -> None:
    hits = [Hit(number, *row) for number, row in enumerate(rows)]

    found = fuse(Hits.of(hits), weight)

    assert sorted(found) == [hit.passage_id for hit in hits]
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in found.values())
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert fuse(Hits.of(random.sample(hits, len(hits))), weight) == found


PASSAGES = [
    make_passage(text, study=make_study(study, collection=collection))
    for study, collection, text in (
        ("A", "training", "Weekly sets build muscle."),
        ("B", "nutrition", "Protein helps the old."),
        ("C", "nutrition", "A loading phase fills stores of phosphate."),
    )
]
HALF = Logistic(("leader_coverage",), (0.45,), (0.01,), (1.0,), 0.0, threshold=0.5)
"""Says that a question is answered where the leading study has half of its words."""
BY_COVERAGE = Logistic(("coverage",), (0.5,), (0.1,), (1.0,), 0.0)
KINDS = ("words", "words_bare")
MODELS = Models(dict.fromkeys(KINDS, BY_COVERAGE), dict.fromkeys(KINDS, HALF), dict.fromkeys(KINDS, HALF), "test")
LINKING = PRESETS["seed-001"]
DETECTING = Policy(scope_detected=True)


class NotedCorpus(FakeCorpus):
    """Notes where it was searched."""

    def __init__(self, concepts: Sequence[Concept] = ()) -> None:
        super().__init__(PASSAGES, concepts)
        self.searched: list[str | None] = []

    def find(self, text: str, vector: Vector | None, *, collection: str | None, **options: Any) -> Found:
        self.searched.append(collection)
        return super().find(text, vector, collection=collection, **options)


def scoped(
    text: str, chosen: str | None, policy: Policy = DEFAULT, **changes: Any
) -> tuple[Retrieved, Scope, NotedCorpus]:
    corpus = NotedCorpus()
    query = make_query(text, **changes)
    return *retrieve_scoped(query, corpus, corpus.facts(), MODELS, policy, Clock(), chosen), corpus


@pytest.mark.parametrize(
    ("text", "chosen", "scope", "leader", "searched"),
    [
        ("weekly sets", "training", Scope.COLLECTION, "A", ["training"]),
        ("weekly sets", None, Scope.GLOBAL, "A", [None]),
        ("protein for the old", "training", Scope.COLLECTION_THEN_GLOBAL, "B", ["training", None]),
        ("weekly saunas against jet lag", "training", Scope.COLLECTION_THEN_GLOBAL, "A", ["training", None]),
        ("weekly saunas against jet lag", "nutrition", Scope.COLLECTION_THEN_GLOBAL, None, ["nutrition", None]),
    ],
)
def test_a_chosen_collection_is_left_only_for_an_answer(
    text: str, chosen: str | None, scope: Scope, leader: str | None, searched: list[str | None]
) -> None:
    found, where, corpus = scoped(text, chosen)

    assert where is scope
    assert next((study for study, _ in found.ranked), None) == leader
    assert corpus.searched == searched
    assert (found.vector, found.found.lexical.ok, found.found.dense.ok) == (None, True, False)


def test_a_collection_that_is_pointed_at_is_searched_where_the_policy_says_so() -> None:
    for policy, chosen, scope in (
        (DEFAULT, None, Scope.GLOBAL), (DETECTING, None, Scope.COLLECTION), (DETECTING, "training", Scope.COLLECTION_THEN_GLOBAL),
    ):  # fmt: skip
        found, where, _ = scoped("protein for the old", chosen, policy, collection="nutrition")
        assert (where, found.ranked[0][0]) == (scope, "B")


CREATINE = make_concept("creatine", neighbours=("loading-phase", "strength", "creatine", "gone"))
LOADING = make_concept("loading-phase", neighbours=("creatine",))
HUB = make_concept("strength", neighbours=tuple(f"c{number}" for number in range(20)))
CONCEPTS = (CREATINE, LOADING, HUB)


def linked(text: str, policy: Policy, *concepts: Concept) -> tuple[Retrieved, Clock]:
    clock, corpus = Clock(), NotedCorpus(CONCEPTS)
    return retrieve(make_query(text, concepts=concepts), corpus, corpus.facts(), MODELS, policy, clock), clock


def test_where_little_was_found_neighbouring_concepts_are_searched_too() -> None:
    found, clock = linked("does creatine help swimmers?", LINKING, CREATINE)

    assert found.linked == (LOADING,)  # what has many neighbours leads everywhere, and what is gone nowhere
    assert [study for study, _ in found.ranked] == ["C"]
    assert found.linked_leg is not None
    assert found.linked_leg.candidates == 1
    assert clock.spent["linked"] is not None


def test_there_is_no_second_pass_without_need() -> None:
    for text, policy, concepts in (
        ("does creatine help swimmers?", DEFAULT, (CREATINE,)),  # the policy has no second pass
        ("do weekly sets build muscle?", LINKING, (CREATINE,)),  # enough was found
        ("does creatine help swimmers?", LINKING, ()),  # no concept is named
        ("does strength help swimmers?", LINKING, (HUB,)),  # it has neighbours everywhere
    ):
        found, clock = linked(text, policy, *concepts)
        assert (found.linked, found.linked_leg, clock.spent["linked"]) == ((), None, None)


def test_studies_far_behind_the_leader_are_not_cited() -> None:
    found, _, _ = scoped("weekly sets", None)
    policy = Policy(cited_from=0.05, cited_share=0.4, cited_studies=4)
    for chances, cited in (
        ([], ""), ([0.01], "A"), ([0.9, 0.5, 0.4, 0.3], "ABC"), ([0.9, 0.8, 0.7, 0.6, 0.5], "ABCD"), ([0.06, 0.05, 0.04], "AB"),
    ):  # fmt: skip
        ranked = tuple(zip("ABCDE", chances, strict=False))
        assert cited_studies(replace(found, ranked=ranked), policy) == tuple(cited)
