"""What a question names beside its subject: the years of studies, and that the newest is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.pipeline.qualifiers import asks_for_newest, find_years


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
    "question",
    [
        "what was found since 2015?",
        "is 2000 kcal enough?",
        "evidence (2023 or later) on lifting",
        "did 2019 people take part?",
    ],
)
def test_other_numbers_are_no_year_of_a_study(question: str) -> None:
    assert not find_years(question)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the newest review on creatine?", True),
        ("the latest on protein", True),
        ("most recent trial of low loads", True),
        ("what does current evidence say?", True),
        ("is a new gym programme any good?", False),
        ("does electric current build muscle?", False),
        ("I recently started lifting, how many sets?", False),
        ("what do recent trials say on rest?", True),
        ("how many sets?", False),
    ],
)
def test_the_newest_is_asked_for_by_its_words(question: str, asked: bool) -> None:
    assert asks_for_newest(question) is asked
