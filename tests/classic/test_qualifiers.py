"""What a question names beside its subject: the years of studies, that the newest is asked for, what is held equal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.classic.qualifiers import (
    Kind,
    asks_for_newest,
    besides_kept_food,
    find_qualifiers,
    find_trade,
    find_years,
)


@given(
    st.integers(1900, 2099),
    st.sampled_from(
        [
            "what did the {} meta-analysis find?",
            "the trial from {} on protein",
            "The {} ACSM position stand?",
            "a review of {}",
        ]
    ),
)
def test_the_year_of_a_study_is_found(year: int, question: str) -> None:
    assert find_years(question.format(year)) == {year}


@pytest.mark.parametrize(
    ("question", "year"),
    [
        ("Schoenfeld et al. (2017)", 2017),
        ("what does the Schoenfeld 2017 meta say?", 2017),
        ("the review (2018)", 2018),
        ("a study published 2019", 2019),
        ("2018's meta-analysis", 2018),
        ("the study by Morton in 2018", 2018),
    ],
)
def test_a_year_is_found_however_it_is_told(question: str, year: int) -> None:
    assert find_years(question) == {year}


@pytest.mark.parametrize(
    "question",
    [
        "a trial of 2000 IU vitamin D a day",
        "studies of 2000 men",
        "a study in 2000 women",
        "2000 kcal diet trials",
        "did 2019 people in the trial gain muscle?",
        "what have studies from 2010 to 2020 found?",
        "since 2015 have any studies found this?",
        "what do studies in 2020 or later say?",
        "evidence (2023 or later) on lifting",
    ],
)
def test_amounts_and_spans_are_no_year_of_a_study(question: str) -> None:
    assert not find_years(question)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the newest review on creatine?", True),
        ("the latest on protein", True),
        ("most recent trial of low loads", True),
        ("what does current evidence say?", True),
        ("what do recent trials say on rest?", True),
        ("what has been found recently on creatine?", True),
        ("the newest creatine meta-analysis", True),
        ("is a new gym programme any good?", False),
        ("does electric current build muscle?", False),
        ("I recently started lifting, how many sets?", False),
        ("what's the latest I should eat before bed?", False),
        ("new lifter advice please", False),
        ("I'm new to science", False),
        ("is my current diet any good?", False),
        ("how many sets?", False),
    ],
)
def test_the_newest_is_asked_for_by_its_words(question: str, asked: bool) -> None:
    assert asks_for_newest(question) is asked


@pytest.mark.parametrize(
    "kept",
    [
        "if i dont change what i eat",
        "without changing my diet",
        "keeping my calories the same",
        "if I eat as usual",
        "not watching what I eat",
        "with the same diet",
        "if my diet stays the same",
        "with no change in diet",
        "if I keep eating normally",
        "without changing what I'm eating",
        "if i keep my diet as it is",
        "even if I don't change anything about my diet",
    ],
)
def test_food_that_stays_as_it_is_is_not_asked_about(kept: str) -> None:
    words = set(besides_kept_food(f"does lifting lower body fat {kept}?").replace("?", "").split())

    assert {"does", "lifting", "lower", "body", "fat"} <= words
    assert not words & {"eat", "diet", "calories"}


@pytest.mark.parametrize(
    "question",
    [
        "should i keep my protein intake high on a diet",
        "does it matter if I dont eat before lifting",
        "does eating fat make me fat",
        "how do I keep eating enough protein?",
        "what diet changes body fat most?",
        "I want to change my diet to lose fat, does lifting matter?",
        "Is it important to watch what I eat to get stronger?",
        "can I lose fat and gain muscle at the same time on a diet",
        "do I lose the same muscle if I diet without lifting",
        "is it the same to eat before or after training",
        "why is my weight not changing on a diet",
        "does fat loss without changing exercise depend on diet",
        "is not watching what I eat bad for fat loss",
        "what happens if I never watch what I eat",
        "should I eat the same on rest days",
        "should older people eat the same as younger people",
        "how do I keep my diet as it should be for fat loss",
        "is eating the same meals every day bad for muscle",
        "is keeping the same diet bad for weight loss",
        "what if I don't watch what I eat, will I still lose fat",
        "should I worry if I never change my diet",
    ],
)
def test_food_that_is_asked_about_stays(question: str) -> None:
    assert besides_kept_food(question) == question


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Can I lose fat and gain muscle at the same time?", ()),
        ("Should I do cardio and weights at the same time of day?", ()),
        ("Is it as good at the same volume?", ("volume",)),
        ("Is slow lifting better with the same time under tension?", ("time",)),
    ],
    ids=["at once", "an hour", "equal volume", "equal tension"],
)
def test_at_the_same_time_nothing_is_held_equal(question: str, named: tuple[str, ...]) -> None:
    found = find_qualifiers(question, [])

    assert tuple(qualifier.text for qualifier in found if qualifier.kind is Kind.EQUAL) == named


def test_no_half_of_a_word_is_a_qualifier() -> None:
    question = "can I lose fat and gain in strength"
    fat = question.index("fat")

    assert "ga" not in [qualifier.text for qualifier in find_qualifiers(question, [(fat, fat + 3)])]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Which brand of creatine is the purest?", ("brand",)),
        ("What is the best protein powder brand?", ("brand",)),
        ("Does the brand matter?", ("brand",)),
        ("Where can I buy bands?", ("buy",)),
        ("How much does a tub of whey cost?", ("cost",)),
        ("Which creatine should I buy?", ("buy",)),
        ("What is the cheapest protein?", ("cheapest",)),
        ("any brand new studies on creatine?", ()),
        ("how much does training cost in recovery?", ()),
        ("what does overtraining cost me in strength?", ()),
        ("what is the price of training to failure?", ()),
        ("where do order effects come from?", ()),
        ("I bought creatine. How much a day?", ()),
        ("Which exercises are best for the back?", ()),
        ("How much muscle will dieting cost me?", ()),
        ("Where should I train?", ()),
    ],
)
def test_what_only_the_trade_knows_is_asked_by_its_words(question: str, words: tuple[str, ...]) -> None:
    assert find_trade(question) == words
