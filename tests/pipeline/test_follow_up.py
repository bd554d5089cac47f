"""A follow-up keeps the subject of the question before; a question of its own is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.pipeline.lexicon import PhraseIndex, words_of
from qa_app.pipeline.question.follow_up import follow, names_nothing
from qa_app.pipeline.text import clean, words
from tests.pipeline.rows import read_rows
from tests.pipeline.test_parse import GOLDEN, INDEX, PEOPLE, examples, read

PROTEIN = "How much protein do older adults need to keep their muscle?"
SETS = "How many sets per week for muscle growth?"
FAILURE = "Do I have to train to failure?"
FOLLOW_UPS = (
    "what about women?", "And for older adults?", "how many sets?", "and strength?", "What about creatine?", "is it safe?",
    "why?", "does it work for women?", "in untrained people?", "Beginners?", "how about people over 70",
    "does that apply to athletes?",
)  # fmt: skip


def meaning(question: str, before: str) -> str | None:
    return follow(clean(question), clean(before), INDEX, PEOPLE)


def test_a_follow_up_is_understood_after_the_question_before_and_nothing_else_is() -> None:
    wrong = [row for row in read_rows("follow_ups") if meaning(row["question"], row["before"]) != row["meant"]]

    assert wrong == []
    assert meaning("", PROTEIN) is None


def test_golden_questions_name_something_and_are_not_altered() -> None:
    assert [question for question in GOLDEN if names_nothing(read(question))] == []
    for before in (PROTEIN, SETS, FAILURE):
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


@given(question=st.text(max_size=60), before=st.text(max_size=120))
def test_any_text_keeps_the_words_of_the_reader(question: str, before: str) -> None:
    meant = meaning(question, before)

    assert meant is None or meant.startswith(clean(question).rstrip(" ?!."))


@given(data=st.data())
def test_pieces_of_questions_never_lose_a_word(data: st.DataObject) -> None:
    pieces = sorted({w for q in (*FOLLOW_UPS, *GOLDEN[:20]) for w in words(q)})
    question = " ".join(data.draw(st.lists(st.sampled_from(pieces), max_size=7)))
    asked = data.draw(st.sampled_from((question, *FOLLOW_UPS)))

    meant = meaning(asked, data.draw(st.sampled_from(GOLDEN)))

    assert meant is None or words(meant)[: len(words(asked))] == words(asked)


def test_each_cue_catches_its_example() -> None:
    phrases = PhraseIndex.of_language("follow_up")

    for name, catches, misses in examples("follow_up"):
        assert name in phrases.find(words_of(catches))
        assert name not in phrases.find(words_of(misses))
