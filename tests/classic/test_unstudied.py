"""Unstudied subjects: what a question is about and what it only mentions."""

from __future__ import annotations

import pytest
from qa_app.classic.query import understand
from qa_app.classic.unstudied import find_alone, find_subjects, is_named, is_of_the_field

from qa_app.pipeline.records import Understanding
from tests.classic.values import make_concept, make_question

CONCEPTS = (
    make_concept("yoga", kind="intervention", is_studied=False),
    make_concept("coffee", kind="nutrient", is_studied=False),
    make_concept("sleep", kind="outcome", is_studied=False),
    make_concept("asthma", kind="condition", is_studied=False),
    make_concept("lunges", kind="training_variable", is_studied=False),
    make_concept("tennis", "racket sports", kind="population", is_studied=False),
    make_concept("muscle growth", "build muscle", kind="outcome"),
    make_concept("protein", kind="nutrient"),
)


def understood(question: str) -> Understanding:
    return understand(make_question(question), concepts=CONCEPTS, collections=(), vocabulary={"muscle": 1})


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Does yoga build muscle?", [("yoga", True)]),
        ("I do yoga twice a week. Is one set per exercise enough to build muscle?", []),
        ("I do yoga twice a week. Is it better to eat protein to build muscle?", []),
        ("I do yoga twice a week. Will it build any muscle for me?", [("yoga", True)]),
        ("I drink coffee every morning, how much protein do I need to build muscle?", []),
        ("I drink coffee every morning, does it help me to build muscle?", [("coffee", True)]),
        ("Coffee every morning, how much protein do I need?", [("Coffee", True)]),
        ("I have asthma, how much protein do I need to build muscle?", [("asthma", True)]),
        ("Does tennis build muscle?", [("tennis", False)]),
        ("Do lunges build muscle?", [("lunges", True)]),
        ("How much protein do I need for lunges?", [("lunges", False)]),
        ("does cofffee build muscle?", [("coffee", True)]),
        ("How much protein builds muscle?", []),
    ],
)
def test_what_a_question_is_about(question: str, found: list[tuple[str, bool]]) -> None:
    assert [(s.text, s.is_asked_about) for s in find_subjects(question, understood(question))] == found


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("Does yoga build muscle?", ["yoga"]),
        ("Does yoga or protein build muscle?", []),
        ("Does protein help my sleep?", ["sleep"]),
        ("Does protein help my sleep and muscle growth?", []),
        ("How do I build muscle with asthma?", []),
        ("Does tennis build muscle?", []),
    ],
)
def test_without_what_stands_alone_nothing_is_left(question: str, alone: list[str]) -> None:
    assert [subject.text for subject in find_alone(question, understood(question))] == alone


@pytest.mark.parametrize(
    ("question", "is_ours"),
    [("Is yoga cheap?", True), ("Where is coffee grown?", False), ("Who won the tennis?", False), ("Who won?", False)],
)
def test_foods_and_sports_alone_are_not_of_the_field(question: str, is_ours: bool) -> None:
    assert is_of_the_field(understood(question)) is is_ours


def test_a_subject_is_named_by_any_of_its_names() -> None:
    (tennis,) = find_subjects("Does tennis build muscle?", understood("Does tennis build muscle?"))

    assert is_named(tennis, ["Ten sets.", "Racket sports did."])
    assert not is_named(tennis, ["Ten sets."])
