"""A question is read once: what it names, whom it is about, what it compares and in which language it is."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import AgeGroup, Collection, Concept, Section, Sex, TrainingStatus
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import PhraseIndex, placed_words, words_of
from qa_app.pipeline.query import Intent, Query
from qa_app.pipeline.question.parse import parse
from qa_app.pipeline.question.people import PeopleIndex
from qa_app.pipeline.question.wording import find_ask
from qa_app.pipeline.text import clean

ROOT = Path(__file__).resolve().parents[2]
LANGUAGE = ROOT / "qa_app" / "lexicon"
GRAPH = json.loads((ROOT / "corpus" / "concepts.json").read_text("utf-8"))
CONCEPTS = tuple(
    Concept(
        c["id"],
        c["name"],
        c["kind"],
        tuple(c["aliases"]),
        "",
        tuple(c["collections"]),
        is_studied=c["id"] != "ephedrine",
    )
    for c in GRAPH["concepts"]
)
COLLECTIONS = tuple(
    Collection(c["id"], c["name"], c["description"], tuple(c["keywords"])) for c in GRAPH["collections"]
)
INDEX = ConceptIndex.build(CONCEPTS)
PEOPLE = PeopleIndex.build(tomllib.loads((ROOT / "corpus" / "lexicon" / "people.toml").read_text("utf-8")))
VOCABULARY = Counter(
    "should really dumbbells dumbbell losing minutes seconds creatine vitamin times repetitions ramadan shoulder".split()
)
GOLDEN = [
    json.loads(line)["question"] for line in (ROOT / "corpus" / "golden_dev.jsonl").read_text("utf-8").splitlines()
]


def read(question: str, people: PeopleIndex = PEOPLE) -> Query:
    return parse(
        question,
        concepts=INDEX,
        vocabulary=VOCABULARY,
        is_word=lambda word: word in {"thicken", "revolting"},
        collections=COLLECTIONS,
        people=people,
    )


def examples(name: str) -> list[Any]:
    table: Mapping[str, Any] = tomllib.loads((LANGUAGE / f"{name}.toml").read_text("utf-8"))
    return [pytest.param(key, row["catches"], row["misses"], id=key) for key, row in table["examples"].items()]


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


@pytest.mark.parametrize(
    ("question", "ages", "training", "sexes"),
    [
        ("Can a 72 year old lift?", {AgeGroup.OLDER_ADULTS}, set(), set()),
        ("i'm in my 70s", {AgeGroup.OLDER_ADULTS}, set(), set()),
        ("strength training after the age of 65", {AgeGroup.OLDER_ADULTS}, set(), set()),
        ("aged 65+", {AgeGroup.OLDER_ADULTS}, set(), set()),
        ("adults ≥60 y", {AgeGroup.OLDER_ADULTS}, set(), set()),
        ("my dad (79) falls", {AgeGroup.OLDER_ADULTS}, set(), {Sex.MALE}),
        ("my son is 8", {AgeGroup.YOUTH}, set(), {Sex.MALE}),
        (
            "52, female, new to the gym",
            {AgeGroup.OLDER_ADULTS, AgeGroup.ADULTS},
            {TrainingStatus.UNTRAINED},
            {Sex.FEMALE},
        ),
        ("Should a session last over 60 minutes?", set(), set(), set()),
        ("rest 70 s or 90 s?", set(), set(), set()),
        ("is lifting at 60 or 80% of 1rm better?", set(), set(), set()),
        ("at 70 ± 5% of the maximum", set(), set(), set()),
        ("isokinetic strength at 60°/s", set(), set(), set()),
        ("over 65 to 70 reps", set(), set(), set()),
        ("my dad is 14 stone and diabetic", set(), set(), {Sex.MALE}),
        ("my mum is 5 foot 2 and has weak bones", set(), set(), {Sex.FEMALE}),
        ("my mum is 70 or 71", {AgeGroup.OLDER_ADULTS}, set(), {Sex.FEMALE}),
        ("i am 65 and 80 kg", {AgeGroup.OLDER_ADULTS}, set(), set()),
        ("is a 12 year old hip replacement safe?", set(), set(), set()),
        ("in resistance-trained men", set(), {TrainingStatus.TRAINED}, {Sex.MALE}),
        ("how often is a muscle trained?", set(), set(), set()),
        ("bench over 60 kg", set(), set(), set()),
        ("young vs old", {AgeGroup.ADULTS, AgeGroup.OLDER_ADULTS}, set(), set()),
        ("my 70 year old mum had surgery, can she lift", {AgeGroup.OLDER_ADULTS}, set(), {Sex.FEMALE}),
        ("does it work for 14 year old girls?", {AgeGroup.YOUTH}, set(), {Sex.FEMALE}),
        ("I have two kids and no time", set(), set(), set()),
        ("women who have lifted for years", set(), {TrainingStatus.TRAINED}, {Sex.FEMALE}),
        ("older studies on tempo", set(), set(), set()),
    ],
)
def test_whom_a_question_is_about_is_read(
    question: str, ages: set[AgeGroup], training: set[TrainingStatus], sexes: set[Sex]
) -> None:
    people = read(question).population

    assert (set(people.age_groups), set(people.training), set(people.sexes)) == (ages, training, sexes)


@pytest.mark.parametrize("question", ["Can a 72 year old woman lift?", "untrained men over 60"])
def test_without_the_subjects_list_nobody_is_found(question: str) -> None:
    assert not read(question, PeopleIndex.build({})).population.is_named


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


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Is creatine safe?", "en"),
        ("creatine strength", "en"),
        ("Wie viel Eiweiß braucht man im Alter?", "de"),
        ("La créatine est-elle dangereuse pour les reins ?", "fr"),
        ("¿Cuánta proteína necesito al día?", "es"),
        ("Quante proteine per un anziano che si allena?", "it"),
        ("quanto tempo de descanso entre as séries para ganhar força?", "pt"),
        ("Hoeveel eiwit heb ik nodig na het trainen?", "nl"),
        ("protein pro kg", "en"),
    ],
)
def test_the_language_is_recognised(question: str, language: str) -> None:
    assert read(question).language == language


@pytest.mark.parametrize("question", [q for q in GOLDEN if "ß" not in q])
def test_no_english_golden_question_is_taken_for_another_language(question: str) -> None:
    assert read(question).language == "en"


STORY = (
    "I am 60 and have been training at the gym near my office for about ten years now, mostly machines. "
    "My doctor is sceptical of it all and told me to walk instead. "
)


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        (f"{STORY}Is lifting safe at my age?", "Is lifting safe at my age?"),
        (f"{STORY}Is it so?", "My doctor is sceptical of it all and told me to walk instead. Is it so?"),
        (f"{STORY}I wonder how much protein I need.", "I wonder how much protein I need."),
        (f"{STORY}Thanks in advance.", f"{STORY}Thanks in advance."),
        ("I am 60. Is lifting safe?", "I am 60. Is lifting safe?"),
    ],
)
def test_what_is_asked_is_told_from_the_story(text: str, ask: str) -> None:
    assert find_ask(text) == ask


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("What are the limitations of the research?", Section.LIMITATIONS),
        ("How was strength measured?", Section.METHODS),
        ("Why does muscle grow?", Section.DISCUSSION),
        ("Should I lift slowly?", Section.PRACTICAL_APPLICATIONS),
        ("What is hypertrophy?", Section.INTRODUCTION),
    ],
)
def test_a_question_aims_at_sections(question: str, section: Section) -> None:
    assert section in read(question).sections


def test_how_is_not_in_show() -> None:
    assert read("show tempo trials").sections == ()


@pytest.mark.parametrize(
    ("name", "catches", "misses"),
    [*examples("slots"), *examples("years_of_age"), *examples("ask"), *examples("sections")],
)
def test_each_word_list_catches_its_example(name: str, catches: str, misses: str) -> None:
    index = PhraseIndex.of_language("slots", "years_of_age", "ask", "sections")

    def found(text: str) -> set[str]:
        return set(index.find(words_of(text)))

    assert name in found(catches)
    if name not in {"ages.decade", "ages.bare", "ages.under"}:  # those look at what follows, too
        assert name not in found(misses)
    else:
        assert not read(misses).population.is_named


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
