"""A question is read once: what it names, whom it is about, and what it keeps of the question before."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Concept, Section
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import PhraseIndex, placed_words, words_of
from qa_app.pipeline.query import Intent, Query
from qa_app.pipeline.question.follow_up import follow, names_nothing
from qa_app.pipeline.question.parse import parse
from qa_app.pipeline.question.people import PeopleIndex
from qa_app.pipeline.question.wording import find_ask
from qa_app.pipeline.text import clean, words
from tests.pipeline.corpora import COLLECTIONS, GOLDEN, GRAPH, PEOPLE
from tests.pipeline.rows import read_rows

LANGUAGE = Path(__file__).resolve().parents[2] / "qa_app" / "lexicon"
CONCEPTS = tuple(
    Concept(c["id"], c["name"], c["kind"], tuple(c["aliases"]), "", tuple(c["collections"]), is_studied=c["id"] != "ephedrine")
    for c in GRAPH["concepts"]
)  # fmt: skip
INDEX = ConceptIndex.build(CONCEPTS)
VOCABULARY = Counter(
    "should really dumbbells dumbbell losing minutes seconds creatine vitamin times repetitions ramadan shoulder".split()
)


def read(question: str, people: PeopleIndex = PEOPLE) -> Query:
    return parse(
        question,
        concepts=INDEX,
        vocabulary=VOCABULARY,
        is_word=lambda word: word in {"thicken", "revolting"},
        collections=COLLECTIONS,
        people=people,
    )


def examples(name: str) -> list[tuple[str, str, str]]:
    """Return each list of a language file with the texts that it must catch and must not."""
    table: Mapping[str, Any] = tomllib.loads((LANGUAGE / f"{name}.toml").read_text("utf-8"))
    return [(key, row["catches"], row["misses"]) for key, row in table["examples"].items()]


@pytest.mark.parametrize(
    ("question", "intervention", "comparator", "outcome", "condition"),
    [
        ("Does creatine help strength?", {"creatine"}, set(), {"muscle-strength"}, set()),
        ("free weights vs machines for muscle growth", {"free-weights-and-machines"}, set(), {"hypertrophy"}, set()),
        ("Is creatine better than whey for strength?", {"creatine"}, {"whey-protein"}, {"muscle-strength"}, set()),
        ("creatine or caffeine before lifting?", {"creatine", "resistance-training"}, {"caffeine"}, set(), set()),
        ("Does RT help osteoporosis?", {"resistance-training"}, set(), set(), {"osteoporosis"}),
        ("is rt worth it", set(), set(), set(), set()),
        ("Is it harder to lose weight after 50 than at 20?", set(), set(), {"weight-loss"}, set()),
    ],
)
def test_what_a_question_names_fills_its_slots(
    question: str, intervention: set[str], comparator: set[str], outcome: set[str], condition: set[str]
) -> None:
    query = read(question)

    assert (set(query.intervention), set(query.comparator)) == (intervention, comparator)
    assert (set(query.outcome), set(query.condition)) == (outcome, condition)


def test_what_no_study_is_about_is_told_apart() -> None:
    query = read("is ephedrine or creatine better for strength")

    assert [concept.concept_id for concept in query.unstudied] == ["ephedrine"]
    assert [concept.concept_id for concept in query.concepts] == ["creatine", "muscle-strength"]


def test_whom_a_question_is_about_is_read() -> None:
    rows = read_rows("people")

    found = [read(row["question"]).population for row in rows]

    wrong = [
        row["question"]
        for row, people in zip(rows, found, strict=True)
        if (set(people.age_groups), set(people.training), set(people.sexes))
        != (set(row["ages"]), set(row["training"]), set(row["sexes"]))
    ]
    assert wrong == []


def test_without_the_subjects_list_nobody_is_found() -> None:
    assert not read("Can a 72 year old woman lift, or untrained men?", PeopleIndex.build({})).population.is_named


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("is 5g of creatine a day enough", ["5 g"]),
        ("1.6 or 2.2 g/kg?", ["1.6", "2.2 g/kg"]),
        ("8-12 reps at 70-80 %", ["8 repetitions", "12 repetitions", "70 %", "80 %"]),
        ("2,000 kcal", ["2000 kcal"]),
        ("I am 72 years old with type 2 diabetes", []),
        ("omega-3 for older people", []),
    ],
)
def test_numbers_come_with_their_units(question: str, numbers: list[str]) -> None:
    assert [str(number) for number in read(question).numbers] == numbers


@pytest.mark.parametrize(
    ("question", "corrections"),
    [
        ("vitamen d", {("vitamen", "vitamin")}),
        ("dumbells or bands", {("dumbells", "dumbbells")}),
        ("shoud I lift in Ramadam", {("shoud", "should"), ("ramadam", "ramadan")}),
        ("do bones thicken", set()),
        ("30secs rest", {("30secs", "30 seconds")}),
        ("people in their 70s", set()),
        ("Wie viel Creatin braucht man mit 68", set()),
    ],
)
def test_misspelt_words_are_corrected(question: str, corrections: set[tuple[str, str]]) -> None:
    assert set(read(question).corrections) == corrections


def test_the_language_is_recognised() -> None:
    rows = read_rows("languages") + [{"question": q, "language": "en"} for q in GOLDEN if "ß" not in q]

    assert [row["question"] for row in rows if read(row["question"]).language != row["language"]] == []


def test_what_is_asked_is_told_from_the_story() -> None:
    assert [row["ask"] for row in read_rows("asks") if find_ask(row["question"]) != row["ask"]] == []


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("What are the limitations of the research?", Section.LIMITATIONS),
        ("How was strength measured?", Section.METHODS),
        ("Why does muscle grow?", Section.DISCUSSION),
        ("Should I lift slowly?", Section.PRACTICAL_APPLICATIONS),
        ("What is hypertrophy?", Section.INTRODUCTION),
        ("show tempo trials", None),
    ],
)
def test_a_question_aims_at_sections(question: str, section: Section | None) -> None:
    assert section in (read(question).sections or (None,))


def test_each_word_list_catches_its_example() -> None:
    index = PhraseIndex.of_language("slots", "years_of_age", "ask", "sections")

    for name, catches, misses in [
        *examples("slots"),
        *examples("years_of_age"),
        *examples("ask"),
        *examples("sections"),
    ]:
        assert name in index.find(words_of(catches)), name
        if name in {"ages.decade", "ages.bare", "ages.under"}:  # those look at what follows, too
            assert not read(misses).population.is_named
        else:
            assert name not in index.find(words_of(misses)), name


@given(st.text(max_size=80))
def test_any_text_can_be_parsed(text: str) -> None:
    query = read(text)

    assert isinstance(query.intent, Intent)
    assert query.text == clean(text) or query.corrections


@given(st.text(max_size=80))
def test_placed_words_are_the_words_of_the_text(text: str) -> None:
    text = clean(text)

    for word in placed_words(text)[1:-1]:
        assert 0 <= word.start < word.end <= len(text)


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
