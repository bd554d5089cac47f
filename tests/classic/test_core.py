"""What a text asks in the end, and how much more that counts in a search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qa_app.classic.core import find_core, find_first_clause, leaning, with_core
from qa_app.classic.policy import DEFAULT, PRESETS
from qa_app.classic.retrieval import find_evidence
from qa_app.pipeline.clock import Clock
from tests.classic.values import encode, make_concept, make_corpus, make_passage, make_question, make_study

ASKED = "I am sixty and have trained for years. How much protein do I need?"


@pytest.mark.parametrize(
    ("text", "core"),
    [
        (ASKED, "How much protein do I need?"),
        ("i sit all day at work. how many sets a week are enough?", "how many sets a week are enough?"),
        ("Tapering before competition: A review What was the training volume?", "What was the training volume?"),
        ("Squats to failure in older women In which muscles did strength rise?", "In which muscles did strength rise?"),
        ("My knees hurt a bit. Should I squat? Do lunges load them less?", "Should I squat? Do lunges load them less?"),
    ],
)
def test_the_core_is_what_is_asked_in_the_end(text: str, core: str) -> None:
    assert find_core(text) == core


@pytest.mark.parametrize(
    "text",
    [
        "",
        "How much protein do I need?",
        "Should I squat? Do lunges load the knees less?",  # both are asked
        "How much protein do I need? I am sixty.",
        "Protein in older adults: does the need change with age?",  # the subject itself stands before the colon
        "Thanks. How much protein do I need?",
        "I read about creatine and kidneys. Is it so?",  # says nothing by itself
        "Creatine harms the kidneys of healthy adults.",
    ],
)
def test_a_text_that_asks_as_a_whole_has_no_core(text: str) -> None:
    assert find_core(text) == ""


@pytest.mark.parametrize(
    ("text", "first", "others"),
    [
        (
            "Does creatine make swimmers faster, and does beta-alanine work better for them?",
            "Does creatine make swimmers faster?",
            "does beta-alanine work better for them",
        ),
        ("how much protein do I need? is whey better?", "how much protein do I need?", "is whey better"),
        (
            "Does yoga help sleep; does tai chi? and what about it",
            "Does yoga help sleep?",
            "does tai chi” and “what about it",
        ),
        ("how much creatine and how long should I take it", "how much creatine?", "how long should I take it"),
    ],
)
def test_of_questions_in_a_row_the_first_is_told_from_the_others(text: str, first: str, others: str) -> None:
    assert find_first_clause(text) == (first, others)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "how many sets and reps should I do?",
        "is it better to train in the morning or is the evening better?",  # one of the other makes one question
        "I am sixty. How much protein do I need, and is whey better than soy?",  # who asks belongs to both
        "creatine and does it work",
        "Does training in the morning, when cortisol is high, build more muscle?",
        "Do people who lift, and who are old, need more protein?",
        "can i do heavy squats but have a bad knee?",
        "Is creatine safe for women who lift and have kidney disease?",
        "does creatine help women who train hard and are over 60?",
        "should I stop lifting and do yoga for back pain?",
        "what do people who lift and do cardio eat",
        "do sleep and what you eat affect recovery?",
        ", ".join(f"is thing {n} good" for n in range(200)),  # nobody asks so many at once
    ],
)
def test_one_question_has_no_first_clause(text: str) -> None:
    assert find_first_clause(text) is None


def test_the_words_of_the_core_are_searched_for_again() -> None:
    assert with_core("Old. How?", "How?", repeats=2, also=("protein",)) == "Old. How? How? How? protein"
    assert with_core("How?", "", repeats=2) == "How?"


def test_the_vector_leans_towards_the_core_and_keeps_its_length() -> None:
    vector = leaning([1.0, 0.0], [0.0, 1.0], 0.5)

    assert np.linalg.norm(vector) == pytest.approx(1.0)
    assert vector == pytest.approx([2 / 5**0.5, 1 / 5**0.5])
    assert leaning([0.6, 0.8], [1.0, 0.0], 0.0) == pytest.approx([0.6, 0.8])


def test_the_core_decides_between_passages_on_what_the_question_is_about() -> None:
    lifters = "Sixty lifters who had trained for years took part and trained for ten more."
    protein = "Protein of 1.6 grams a kilogram was what lifters needed."
    passages = [
        make_passage(text, passage_id=n, study=make_study(f"T00{n}")) for n, text in enumerate((lifters, protein), 1)
    ]
    corpus, question = make_corpus(*passages), make_question(ASKED)
    plain = replace(DEFAULT, core_weight=0.0, core_repeats=0)

    def found(policy):
        search = find_evidence(question, corpus=corpus, policy=policy, clock=Clock())
        return {c.passage.passage_id: c for c in search.ranked}, search

    (without, _), (with_it, search) = found(plain), found(DEFAULT)

    assert search.understanding.core == "How much protein do I need?"
    assert with_it[2].hit.cosine > without[2].hit.cosine
    assert with_it[1].hit.cosine < without[1].hit.cosine
    assert with_it[2].score - with_it[1].score > without[2].score - without[1].score


def test_a_question_without_a_core_is_searched_as_it_is() -> None:
    asked: list[tuple[str, ...]] = []
    corpus = make_corpus(make_passage("Protein of 1.6 grams.", passage_id=1))
    corpus._encode = lambda texts: asked.append(tuple(texts)) or encode(texts)

    find_evidence(make_question("How much protein do I need?"), corpus=corpus, policy=DEFAULT, clock=Clock())

    assert asked[0] == ("How much protein do I need?",)


def test_the_documents_presets_know_no_core() -> None:
    documents = [preset for name, preset in PRESETS.items() if name != "default"]

    assert all(preset.core_weight == preset.core_repeats == 0 for preset in documents)


def test_the_vector_leans_towards_the_question_said_in_field_terms() -> None:
    restriction = make_concept(
        "blood-flow-restriction", "occlusion", name="blood flow restriction", kind="intervention"
    )
    passage = make_passage("With blood flow restriction light loads did as well.", passage_id=1)
    corpus, question = make_corpus(passage, concepts=(restriction,)), make_question("Does occlusion do well?")

    def cosine(policy):
        search = find_evidence(question, corpus=corpus, policy=policy, clock=Clock())
        return search.ranked[0].hit.cosine, search.understanding.also_searched

    without, silent = cosine(replace(DEFAULT, field_terms_weight=0.0))
    with_it, told = cosine(DEFAULT)

    assert with_it > without
    assert (silent, told) == ((), ("blood flow restriction",))


def test_the_documents_presets_know_no_field_terms() -> None:
    assert {preset.field_terms_weight for name, preset in PRESETS.items() if name != "default"} == {0.0}
