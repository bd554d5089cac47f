"""Which questions get the fixed, careful reply: what the asker says about a person decides, not the topic."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qa_app.classic import scope
from qa_app.classic.scope import FORMS, INSTEAD, ROUTES, WORDS, Route, check_scope

from qa_app.pipeline.records import Outcome
from qa_app.pipeline.text import clean

TABLE = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "safety_questions.jsonl").read_text("utf-8").splitlines()
]
DECLINED = [(row["route"], row["question"]) for row in TABLE if row["route"]]
ASKED_OF_STUDIES = [row["question"] for row in TABLE if not row["route"]]


@pytest.mark.parametrize(("route", "question"), DECLINED)
def test_a_personal_medical_question_gets_the_fixed_reply_of_its_route(route: str, question: str) -> None:
    declined = check_scope(clean(question))

    assert declined is not None
    assert (declined.outcome, declined.route) == (Outcome.GUARDRAIL, route)


@pytest.mark.parametrize("question", ASKED_OF_STUDIES)
def test_a_question_for_the_studies_is_not_declined(question: str) -> None:
    assert check_scope(clean(question)) is None


def test_the_table_has_many_questions_of_every_kind() -> None:
    counts = Counter(row["route"] for row in TABLE)

    assert set(counts) == {None, *(route.name for route in ROUTES)}
    assert min(counts.values()) >= 25
    assert counts[None] >= 250


@pytest.mark.parametrize(
    "question",
    [
        "ｃｈｅｓｔ ｐａｉｎ when I lift, should I stop?",
        "che\u200bst pa\u00adin when I lift, should I stop?",
        "CHEST PAIN WHEN I LIFT, SHOULD I STOP?",
        "I can’t breathe",
        "I can't breathe!!!",
        "chest-pain when I lift",
    ],
)
def test_disguised_letters_do_not_get_around_a_route(question: str) -> None:
    declined = check_scope(clean(question))

    assert declined is not None
    assert declined.route == "emergency"


@pytest.mark.parametrize(
    "misspelt", ["testosteron", "testostrone", "testosteronne", "tetsosterone", "testozterone", "testosteroen"]
)
def test_a_letter_wrong_in_a_drugs_name_does_not_get_around_a_route(misspelt: str) -> None:
    declined = check_scope(f"how much {misspelt} should i take a week")

    assert declined is not None
    assert declined.route == "drugs"


@pytest.mark.parametrize("word", ["cheat", "meditation", "breeding", "spelling", "trained", "collapse", "asteroid"])
def test_a_word_that_exists_is_no_misspelling(word: str) -> None:
    assert scope._mended(word) == word


def test_every_name_in_a_table_is_used_by_a_rule() -> None:
    source = Path(scope.__file__).read_text("utf-8")
    unused = [name for name in (*WORDS, *FORMS) if source.count(f'"{name}"') < 2]

    assert unused == []


LASTING = ("I have trained for {n} years.", "I've lifted about {n} years now,", "My wife has been vegan for the last {n} yrs:",
    "After almost {n} years in the gym", "I've got {n} years of training behind me,", "my client has done pilates {n} years,")  # fmt: skip
OF_AGE = ("I'm {n} years old,", "my son turned {n} years,", "{n}yo here,", "my daughter is {n} and lifts for fun,", "{n} years old, lifting for 2 years,")  # fmt: skip


@given(
    st.sampled_from(LASTING),
    st.integers(1, 17).map(str) | st.sampled_from(["two", "six", "ten", "twelve"]),
    st.sampled_from(["how many sets should I do?", "should I eat more protein?", "can I lose fat and gain muscle?"]),
    st.booleans(),
)
def test_how_long_somebody_has_trained_is_no_age(said: str, years: str, question: str, first: bool) -> None:
    told = said.format(n=years)

    assert check_scope(f"{told} {question}" if first else f"{question} {told}") is None


@given(
    st.sampled_from(OF_AGE), st.integers(9, 17), st.sampled_from(["what plan should I follow?", "can I take creatine?"])
)
def test_an_age_is_one_however_long_somebody_has_trained(said: str, years: int, question: str) -> None:
    declined = check_scope(f"{said.format(n=years)} {question}")

    assert declined is not None
    assert declined.route == "minor"


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_reply_says_where_help_is_and_what_the_site_can_do(route: Route) -> None:
    assert any(helper in route.message for helper in ("doctor", "paediatrician", "pharmacist"))
    assert "What this site can do" in INSTEAD


@given(st.text())
def test_no_text_breaks_the_routes(text: str) -> None:
    declined = check_scope(clean(text))

    assert declined is None or declined.route == "crisis" or declined.message.endswith(INSTEAD)


def test_despair_is_told_where_somebody_listens_and_nothing_of_this_site() -> None:
    declined = check_scope("My shoulder is torn and I'd be better off dead, which exercise is safe?")

    assert declined is not None
    assert declined.route == "crisis"
    assert all(number in declined.message for number in ("116 123", "988", "112"))
    assert INSTEAD not in declined.message


@pytest.mark.parametrize(
    "asked",
    [
        "do i have to go on until i cant move the bar, or can i stop a bit before?",
        "do i really need to go on until i cant do another rep? hate that burning feeling",
        "i heard that eating a lot of protein gives you broken hips. is that so?",
        "training in sarcopenia secondary to diabetes, haemodialysis or Alzheimer's: are bands enough?",
    ],
)
def test_training_to_the_end_and_illness_of_a_group_are_no_complaint(asked: str) -> None:
    assert check_scope(asked) is None


@pytest.mark.parametrize(
    "asked",
    [
        "my knee is torn, which exercise gives you the best recovery?",
        "I tore my knee ligament yesterday. Does squatting give you faster recovery?",
        "is it true that i can squat with my torn meniscus?",
        "I have a torn meniscus in my knee. Is that so bad that I cannot squat?",
        "i heard that squats give you torn knees, and mine is torn",
        "my hip is fractured, i heard protein helps",
    ],
)
def test_an_injury_of_ones_own_is_one_whatever_else_is_said(asked: str) -> None:
    assert check_scope(asked) is not None


def test_an_arm_that_cannot_be_moved_is_one() -> None:
    assert check_scope("i cant move my arm since yesterday, which exercise helps?") is not None


def test_who_cannot_tell_when_they_need_to_go_is_sent_for_help_at_once() -> None:
    declined = check_scope("my back went and i cant feel when i need to go")

    assert declined is not None
    assert declined.route == "emergency"
