"""A follow-up keeps the subject of the question before; a question of its own is left alone."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.pipeline.lexicon import words_of
from qa_app.pipeline.question import follow_up
from qa_app.pipeline.question.follow_up import follow, names_nothing
from qa_app.pipeline.text import clean, words
from tests.pipeline.rows import read_rows
from tests.pipeline.test_parse import GOLDEN, INDEX, LANGUAGE, PEOPLE, read

PROTEIN = "How much protein do older adults need to keep their muscle?"
SETS = "How many sets per week for muscle growth?"
FAILURE = "Do I have to train to failure?"
FOLLOW_UPS = (
    "what about women?",
    "And for older adults?",
    "how many sets?",
    "and strength?",
    "What about creatine?",
    "is it safe?",
    "why?",
    "does it work for women?",
    "in untrained people?",
    "Beginners?",
    "how about people over 70",
    "does that apply to athletes?",
)


def meaning(question: str, before: str) -> str | None:
    return follow(clean(question), clean(before), INDEX, PEOPLE)


@pytest.mark.parametrize("row", read_rows("follow_ups"), ids=lambda row: row["question"])
def test_a_follow_up_is_understood_after_the_question_before_and_nothing_else_is(row: Mapping[str, Any]) -> None:
    assert meaning(row["question"], row["before"]) == row["meant"]


def test_nothing_follows_without_words() -> None:
    assert meaning("", PROTEIN) is None


@pytest.mark.parametrize("before", [PROTEIN, SETS, FAILURE])
def test_no_golden_question_is_altered(before: str) -> None:
    assert [question for question in GOLDEN if meaning(question, before)] == []


def test_what_is_done_is_not_replaced_by_a_thing() -> None:
    assert meaning("what about creatine?", FAILURE) in {None, f"what about creatine: {FAILURE[0].lower()}{FAILURE[1:]}"}


@pytest.mark.parametrize(
    ("question", "is_empty"),
    [
        ("what dose?", True),
        ("any side effects?", True),
        ("how long does it take to see results?", True),
        ("how much should I take?", True),
        ("Should I stop drinking?", False),
        ("How many times a day should I eat?", False),
        ("how much protein?", False),
        ("does earthing work?", False),
    ],
)
def test_what_may_be_asked_of_anything_names_nothing(question: str, is_empty: bool) -> None:
    assert names_nothing(read(question)) is is_empty


def test_no_golden_question_names_nothing() -> None:
    assert [question for question in GOLDEN if names_nothing(read(question))] == []


@pytest.mark.parametrize("before", GOLDEN[::8])
@pytest.mark.parametrize("question", FOLLOW_UPS)
def test_the_readers_words_come_first_and_whole(question: str, before: str) -> None:
    meant = meaning(question, before)

    assert meant is None or meant.startswith(question.rstrip("?"))


@given(question=st.text(max_size=60), before=st.text(max_size=120))
def test_any_text_keeps_the_words_of_the_reader(question: str, before: str) -> None:
    meant = meaning(question, before)

    assert meant is None or meant.startswith(clean(question).rstrip(" ?!."))


@given(data=st.data())
def test_pieces_of_questions_never_lose_a_word(data: st.DataObject) -> None:
    pieces = sorted({w for q in (*FOLLOW_UPS, *GOLDEN[:20]) for w in words(q)})
    question = " ".join(data.draw(st.lists(st.sampled_from(pieces), max_size=7)))

    meant = meaning(question, data.draw(st.sampled_from(GOLDEN)))

    assert meant is None or words(meant)[: len(words(question))] == words(question)


EXAMPLES = tomllib.loads((LANGUAGE / "follow_up.toml").read_text("utf-8"))["examples"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_cue_catches_its_example(name: str) -> None:
    assert name in follow_up._PHRASES.find(words_of(EXAMPLES[name]["catches"]))
    assert name not in follow_up._PHRASES.find(words_of(EXAMPLES[name]["misses"]))
