"""A follow-up keeps the subject of the question before, and says how it was understood; a question of its own is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Concept
from qa_app.classic.following import (
    PEOPLE,
    find_mentions,
    follow,
    is_fragment,
    names_nothing,
    points_at_nothing,
    whole,
)
from qa_app.pipeline.text import clean, words

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
CONCEPTS = tuple(
    Concept(str(row["id"]), row["name"], row["kind"], tuple(row["aliases"]), "", ())
    for row in json.loads((CORPUS / "concepts.json").read_text("utf-8"))["concepts"]
)
GOLDEN = [json.loads(line)["question"] for line in (CORPUS / "golden_dev.jsonl").read_text("utf-8").splitlines()]
PROTEIN = "How much protein do older adults need to keep their muscle?"
SETS = "How many sets per week for muscle growth?"
FAILURE = "Do I have to train to failure?"
FOLLOW_UPS = (
    "what about women?", "And for older adults?", "how many sets?", "and strength?", "What about creatine?", "is it safe?", "why?",
    "does it work for women?", "in untrained people?", "Beginners?", "how about people over 70", "does that apply to athletes?",
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "before", "meant"),
    [
        ("What about women?", PROTEIN, "What about women: how much protein do women need to keep their muscle?"),
        (
            "what about creatine?",
            PROTEIN,
            "what about creatine: how much creatine do older adults need to keep their muscle?",
        ),
        ("And for older adults?", SETS, "And for older adults: how many sets per week for muscle growth?"),
        ("and strength?", SETS, "and strength: how many sets per week for strength?"),
        ("beginners?", PROTEIN, "beginners: how much protein do beginners need to keep their muscle?"),
        (
            "how many sets?",
            "Does lifting change lean mass in older women?",
            "how many sets (lean mass, older women)?",
        ),
        ("is it safe?", "Is creatine good for strength?", "is it safe (creatine)?"),
        ("any side effects?", "Is creatine good for strength?", "any side effects (creatine)?"),
        ("how much of it?", "Does creatine make you stronger?", "how much of it (creatine, stronger)?"),
        ("And how much should I take a day?", "Is creatine any good?", "And how much should I take a day (creatine)?"),
        ("when should I take it?", "Is creatine any good?", "when should I take it (creatine)?"),
        ("what dose?", "Does omega-3 help older adults?", "what dose (omega-3, older adults)?"),
        (
            "how long until she notices something?",
            "She is frail. Can she build strength?",
            "how long until she notices something (frail, build strength)?",
        ),
        (
            "should she eat more protein too?",
            "Is it safe for my frail mother?",
            "should she eat more protein too (frail, mother)?",
        ),
        ("when should I take it?", "how much should I take (creatine)?", "when should I take it (creatine)?"),
        ("why?", "how much (protein powder, older adults)?", "why (protein, older adults)?"),
        ("what if I am over 70?", FAILURE, "what if I am over 70 (train to failure)?"),
        (
            "and if I only want bigger muscles?",
            "How long should I rest between sets?",
            "and if I only want bigger muscles (rest between sets)?",
        ),
        (
            "and to get stronger?",
            "How often should I train each muscle to grow?",
            "and to get stronger: how often should I train each muscle to get stronger?",
        ),
        ("and without weights?", PROTEIN, f"and without weights: {PROTEIN[0].lower()}{PROTEIN[1:]}"),
        ("does it work for women?", FAILURE, "does it work for women (train to failure)?"),
        ("Why?", "What is the best day to begin?", "Why: what is the best day to begin?"),
    ],
)
def test_it_is_understood_after_the_question_before(question: str, before: str, meant: str) -> None:
    assert follow(question, before, CONCEPTS) == meant


@pytest.mark.parametrize(
    "question",
    [
        "What about protein after training for muscle growth in older adults?",
        "Is it safe to take creatine?",
        "Is it better to train in the morning?",
        "How many sets per week for muscle growth?",
        "How often should I stretch?",
        "If I train twice a day, will I grow more?",
        "if i lift every day do i need rest days?",
        "if a woman lifts will she get bulky?",
        "If my knees hurt should I squat?",
        "even if I take creatine I don't grow",
        "What should older people eat?",
        "Should men and women eat the same?",
        "Is drinking bad for you?",
        "My grandma is 82, can she still lift?",
        "What is hypertrophy?",
        "creatine",
        "And how much protein do older adults need?",
        "",
        "?",
    ],
)
def test_a_question_of_its_own_is_left_alone(question: str) -> None:
    assert follow(question, PROTEIN, CONCEPTS) is None


@pytest.mark.parametrize("before", [PROTEIN, SETS, FAILURE])
def test_no_golden_question_is_ever_altered(before: str) -> None:
    assert [question for question in GOLDEN if follow(clean(question), before, CONCEPTS)] == []


def test_what_is_done_is_not_replaced_by_a_thing() -> None:
    """“do I have to creatine” would be no question; without anything else to keep, the reader's words stand alone."""
    assert follow("what about creatine?", FAILURE, CONCEPTS) is None


def test_the_next_question_follows_what_stands_after_the_colon() -> None:
    first = follow("what about women?", PROTEIN, CONCEPTS)
    assert first is not None

    second = follow("and creatine?", whole("what about women?", first), CONCEPTS)

    assert second == "and creatine: how much creatine do women need to keep their muscle?"
    assert whole(PROTEIN, None) == PROTEIN
    assert whole("how many sets?", "how many sets (older adults)?") == "how many sets (older adults)?"


def test_whom_a_follow_up_put_in_is_not_lost_on_the_next_one() -> None:
    before = "Are resistance bands as good as free weights?"
    meant = follow("for elderly people?", before, CONCEPTS)

    asked = whole("for elderly people?", meant)

    assert meant == f"for elderly people: {before[0].lower()}{before[1:]}"
    assert asked == f"{before[0].lower()}{before[1:].rstrip('?')} (elderly people)?"
    assert "elderly people" in (follow("how often per week?", asked, CONCEPTS) or "")


@pytest.mark.parametrize(
    ("question", "meant"),
    [("Why?", "Why: how many sets?"), ("how many sets each time?", "how many sets each time: is it safe?")],
)
def test_only_what_a_follow_up_was_about_is_kept(question: str, meant: str) -> None:
    assert whole(question, meant) == meant.partition(": ")[2]


@pytest.mark.parametrize("before", [FAILURE, "Does lifting add years to life?", "Do I adapt to keto?"])
def test_what_is_done_to_the_end_is_no_aim(before: str) -> None:
    meant = follow("and to get stronger?", before, CONCEPTS)

    assert meant is not None
    assert before.split()[-1].rstrip("?") in meant


@pytest.mark.parametrize(
    ("question", "is_one"),
    [
        ("and before bed?", True),
        ("what dose?", True),
        ("and for women?", False),
        ("Does earthing work?", False),
        ("What is the capital of France?", False),
    ],
)
def test_a_few_words_that_name_nothing_are_a_fragment(question: str, is_one: bool) -> None:
    assert is_fragment(question, CONCEPTS) is is_one


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
    ],
)
def test_what_may_be_asked_of_anything_names_nothing(question: str, is_empty: bool) -> None:
    assert names_nothing(question, CONCEPTS) is is_empty


def test_no_golden_question_names_nothing() -> None:
    assert [question for question in GOLDEN if names_nothing(clean(question), CONCEPTS)] == []


def test_what_it_was_is_kept_beside_whom_it_is_about() -> None:
    before = "My wife has osteoporosis. Can she lift weights?"

    assert (
        follow("can she do it at home?", before, CONCEPTS)
        == "can she do it at home (wife, osteoporosis, lift weights)?"
    )
    assert follow("can she do it at home?", "Does creatine lower sugar in people with type 2 diabetes?", CONCEPTS) != (
        "can she do it at home (type 2 diabetes)?"
    )


@pytest.mark.parametrize("before", GOLDEN[::4])
@pytest.mark.parametrize("question", FOLLOW_UPS)
def test_every_word_of_the_reader_is_kept_first_and_whole(question: str, before: str) -> None:
    meant = follow(question, clean(before), CONCEPTS)

    assert meant is None or meant.startswith(question.rstrip("?"))


@pytest.mark.parametrize("before", GOLDEN[::4])
@pytest.mark.parametrize("people", ["women", "older men", "beginners", "people over 70"])
def test_people_take_the_place_of_people(people: str, before: str) -> None:
    before = clean(before)
    meant = follow(f"what about {people}?", before, CONCEPTS)
    if meant is None:
        return
    asked = whole(f"what about {people}?", meant)

    named = [mention.text for mention in find_mentions(asked, CONCEPTS) if mention.kind == PEOPLE]
    old = [mention.text for mention in find_mentions(before, CONCEPTS) if mention.kind == PEOPLE]
    assert all(text in people or people in text for text in named) or people in old


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("is it safe", "it"),
        ("Is it safe for older people?", "it"),
        ("Does it work for women?", "it"),
        ("ok, and does this really help women?", "this"),
        ("are they bad for you?", "they"),
        ("does it build muscle?", "it"),
        ("which is better for older people", "which"),
        ("Which one works best?", "which"),
        ("is it safe to lift at 70?", ""),
        ("is it true women gain less strength?", ""),
        ("does it matter how fast you lift?", ""),
        ("is it hard to build muscle after 60?", ""),
        ("is it creatine that helps?", ""),
        ("can it help with sarcopenia?", ""),
        ("is that enough protein?", ""),
        ("which is best, cardio or weights?", ""),
        ("which exercises work best?", ""),
        ("is creatine safe?", ""),
        ("safe?", ""),
        ("", ""),
    ],
)
def test_a_question_that_follows_none_may_point_at_nothing(question: str, word: str) -> None:
    assert points_at_nothing(question, CONCEPTS) == word


@pytest.mark.parametrize("question", GOLDEN)
def test_no_golden_question_does(question: str) -> None:
    assert points_at_nothing(question, CONCEPTS) == ""


@given(question=st.text(max_size=60), before=st.text(max_size=120))
def test_any_text_keeps_the_words_of_the_reader(question: str, before: str) -> None:
    question, before = clean(question), clean(before)

    meant = follow(question, before, CONCEPTS)

    assert meant is None or meant.startswith(question.rstrip(" ?!."))


@given(data=st.data())
def test_pieces_of_questions_never_lose_a_word(data: st.DataObject) -> None:
    said = data.draw(
        st.lists(st.sampled_from(sorted({w for q in (*FOLLOW_UPS, *GOLDEN[:20]) for w in words(q)})), max_size=7)
    )
    question, before = " ".join(said), clean(data.draw(st.sampled_from(GOLDEN)))

    meant = follow(question, before, CONCEPTS)

    assert meant is None or words(meant)[: len(words(question))] == words(question)
    assert meant == follow(question, before, CONCEPTS)
