"""A question is read once: what it names, whom it is about, and what it keeps of the question before."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Concept, Section
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import PhraseIndex, words_of
from qa_app.pipeline.query import Intent, Query
from qa_app.pipeline.question.follow_up import follow, names_nothing
from qa_app.pipeline.question.parse import parse
from qa_app.pipeline.question.people import PeopleIndex
from qa_app.pipeline.question.wording import find_ask
from qa_app.pipeline.text import clean, words
from tests.pipeline.corpora import COLLECTIONS, GOLDEN, GRAPH, PEOPLE, read_rows

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


def test_what_a_question_names_fills_its_slots() -> None:
    for question, *slots in (
        ("Does creatine help strength?", "creatine", "", "muscle-strength", ""),
        ("free weights vs machines for muscle growth", "free-weights-and-machines", "", "hypertrophy", ""),
        ("Is creatine better than whey for strength?", "creatine", "whey-protein", "muscle-strength", ""),
        ("creatine or caffeine before lifting?", "creatine resistance-training", "caffeine", "", ""),
        ("Does RT help osteoporosis?", "resistance-training", "", "", "osteoporosis"),
        ("is rt worth it", "", "", "", ""),
        ("Is it harder to lose weight after 50 than at 20?", "", "", "weight-loss", ""),
    ):  # fmt: skip
        query = read(question)
        filled = query.intervention, query.comparator, query.outcome, query.condition
        assert [set(slot) for slot in filled] == [set(slot.split()) for slot in slots], question


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


def test_numbers_come_with_their_units() -> None:
    for question, numbers in {
        "is 5g of creatine a day enough": ["5 g"], "1.6 or 2.2 g/kg?": ["1.6", "2.2 g/kg"], "2,000 kcal": ["2000 kcal"],
        "8-12 reps at 70-80 %": ["8 repetitions", "12 repetitions", "70 %", "80 %"], "omega-3 for older people": [],
        "I am 72 years old with type 2 diabetes": [],
    }.items():  # fmt: skip
        assert [str(number) for number in read(question).numbers] == numbers


def test_misspelt_words_are_corrected() -> None:
    for question, corrections in {
        "vitamen d": {("vitamen", "vitamin")}, "dumbells or bands": {("dumbells", "dumbbells")},
        "shoud I lift in Ramadam": {("shoud", "should"), ("ramadam", "ramadan")},
        "30secs rest": {("30secs", "30 seconds")}, "do bones thicken": set(), "people in their 70s": set(),
        "Wie viel Creatin braucht man mit 68": set(),
    }.items():  # fmt: skip
        assert set(read(question).corrections) == corrections


def test_the_language_is_recognised() -> None:
    rows = read_rows("languages") + [{"question": q, "language": "en"} for q in GOLDEN if "ß" not in q]

    assert [row["question"] for row in rows if read(row["question"]).language != row["language"]] == []


def test_what_is_asked_is_told_from_the_story() -> None:
    assert [row["ask"] for row in read_rows("asks") if find_ask(row["question"]) != row["ask"]] == []


def test_a_question_aims_at_sections() -> None:
    for question, section in {
        "What are the limitations of the research?": Section.LIMITATIONS, "How was strength measured?": Section.METHODS,
        "Why does muscle grow?": Section.DISCUSSION, "Should I lift slowly?": Section.PRACTICAL_APPLICATIONS,
        "What is hypertrophy?": Section.INTRODUCTION, "show tempo trials": None,
    }.items():  # fmt: skip
        assert section in (read(question).sections or (None,))


def test_each_word_list_catches_its_example() -> None:
    index = PhraseIndex.of_language("slots", "years_of_age", "ask", "sections")

    for name, catches, misses in [
        *examples("slots"), *examples("years_of_age"), *examples("ask"), *examples("sections"),
    ]:  # fmt: skip
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


PROTEIN = "How much protein do older adults need to keep their muscle?"
SETS = "How many sets per week for muscle growth?"
FAILURE = "Do I have to train to failure?"
FOLLOW_UPS = (
    "what about women?", "And for older adults?", "how many sets?", "and strength?", "What about creatine?",
    "is it safe?", "why?", "does it work for women?", "in untrained people?", "Beginners?", "how about people over 70",
    "does that apply to athletes?",
)  # fmt: skip


def meaning(question: str, before: str) -> str | None:
    return follow(clean(question), clean(before), INDEX, PEOPLE)


def test_follow_ups_are_completed_and_nothing_else_is() -> None:
    wrong = [row for row in read_rows("follow_ups") if meaning(row["question"], row["before"]) != row["meant"]]

    assert wrong == []
    assert meaning("", PROTEIN) is None
    assert meaning("what about creatine?", FAILURE) is None  # what is done is not replaced by a thing


def test_golden_questions_name_something_and_are_not_altered() -> None:
    assert [question for question in GOLDEN if names_nothing(read(question))] == []
    for before in (PROTEIN, SETS, FAILURE):
        assert [question for question in GOLDEN if meaning(question, before)] == []


def test_what_may_be_asked_of_anything_names_nothing() -> None:
    for empty in (
        "what dose?", "any side effects?", "how long does it take to see results?", "how much should I take?",
    ):  # fmt: skip
        assert names_nothing(read(empty)), empty
    for full in (
        "Should I stop drinking?", "How many times a day should I eat?", "how much protein?", "does earthing work?",
    ):  # fmt: skip
        assert not names_nothing(read(full)), full


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
