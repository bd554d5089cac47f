"""A text names a concept by whole words, in whatever form readers write them, and no word counts twice."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Collection
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import words_of
from qa_app.pipeline.question.follow_up import is_fragment
from qa_app.pipeline.question.wording import find_collection
from tests.pipeline.test_parse import read
from tests.pipeline.values import make_concept

GRAPH = (
    make_concept("hypertrophy", aliases=("muscle growth", "grow muscle", "build muscle")),
    make_concept("muscle", kind="outcome"),
    make_concept("strength", name="muscle strength", aliases=("get stronger",)),
    make_concept("rest", name="rest interval", aliases=("rest between sets", "RT pause")),
    make_concept("training", name="resistance training", aliases=("RT",)),
    make_concept("parkinson", name="Parkinson's disease", aliases=("Parkinson's",), kind="condition"),
    make_concept("elan", name="élan"),
)
INDEX = ConceptIndex.build(GRAPH)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("muscle strength and muscle growth", [("strength", "muscle strength"), ("hypertrophy", "muscle growth")]),
        ("muscle growth of a muscle", [("hypertrophy", "muscle growth"), ("muscle", "muscle")]),
        ("do I grow more muscle?", [("hypertrophy", "grow more muscle")]),
        ("building muscles", [("hypertrophy", "building muscles")]),
        ("MUSCLE-GROWTH", [("hypertrophy", "MUSCLE-GROWTH")]),
        ("rest between sets", [("rest", "rest between sets")]),
        ("Élan, or elan", [("elan", "Élan"), ("elan", "elan")]),
        ("Parkinson's and parkinson’s", [("parkinson", "Parkinson's"), ("parkinson", "parkinson’s")]),
        ("does RT work, rt?", [("training", "RT")]),
        ("muscleman outgrowth", []),
        ("", []),
    ],
)
def test_the_longest_name_wins_in_the_order_of_the_text(text: str, names: list[tuple[str, str]]) -> None:
    found = INDEX.find(text)

    assert [(mention.concept.concept_id, text[mention.start : mention.end]) for mention in found] == names


def test_a_name_that_two_concepts_claim_in_other_forms_names_neither_by_its_stem() -> None:
    index = ConceptIndex.build((make_concept("one", name="training heavy"), make_concept("other", name="train heavy")))

    named = [[m.concept.concept_id for m in index.find(t)] for t in ("training heavy", "train heavy", "trained heavy")]

    assert named == [["one"], ["other"], []]


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_no_name_and_no_text_breaks_the_search(text: str, aliases: list[str]) -> None:
    found = ConceptIndex.build((make_concept("odd", aliases=tuple(aliases)), *GRAPH)).find(f"{text} muscle growth")

    assert all(first.end <= second.start for first, second in pairwise(found))


TRAINING = Collection("training", "Training", "", ("sets", "weekly volume"))
NUTRITION = Collection("nutrition", "Nutrition", "", ("protein", "creatine"))
SHARED = make_concept("lean-mass", collections=("training", "nutrition"))
LEUCINE = make_concept("leucine", collections=("nutrition",))


def test_a_collection_is_pointed_at_only_where_it_is_clearly_ahead() -> None:
    for question, concepts, expected in (
        ("how many sets?", (), "training"), ("weekly volume of sets", (), "training"), ("protein after sets", (), None),
        ("creatine and protein after sets", (), "nutrition"), ("offsets and upsets", (), None), ("sleep", (), None),
        ("", (SHARED,), None), ("", (SHARED, LEUCINE), "nutrition"),
    ):  # fmt: skip
        assert find_collection(words_of(question), concepts, (TRAINING, NUTRITION)) == expected, question


def test_a_few_words_that_name_nothing_are_a_fragment() -> None:
    assert all(is_fragment(read(question)) for question in ("and before bed?", "what dose?"))
    for whole in ("and for women?", "Is creatine safe?", "What is the capital of France?"):
        assert not is_fragment(read(whole))
