"""What a question asks for: sections by whole words, concepts by their longest name, a collection where one is clearly ahead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app import quality, records
from corpus_app.records import Section
from qa_app.classic.query import INTENTS, find_collection, find_concepts, in_field_terms, understand
from qa_app.classic.ranking import is_related
from qa_app.pipeline.records import Understanding
from tests.classic.values import make_concept, make_question


def understood(text: str) -> Understanding:
    return understand(make_question(text), concepts=(), collections=())


@pytest.mark.parametrize(
    ("question", "intent", "first_section"),
    [
        ("what did the trials find on sets, which results?", "results", Section.RESULTS),
        ("which protocols were used?", "methods", Section.METHODS),
        ("what is hypertrophy?", "background", Section.INTRODUCTION),
        ("what did earlier work on sets say?", "related work", Section.BACKGROUND),
        ("why do light loads work?", "discussion", Section.DISCUSSION),
        ("how was body fat measured", "methods", Section.METHODS),
        ("any caveats about volume?", "limitations", Section.LIMITATIONS),
        ("the drawbacks of the sleep studies", "limitations", Section.LIMITATIONS),
        ("weak points of this research", "limitations", Section.LIMITATIONS),
        ("gaps in research on women", "limitations", Section.LIMITATIONS),
        ("is there a gap in the evidence on women?", "limitations", Section.LIMITATIONS),
        ("the bottom line on creatine", "conclusion", Section.CONCLUSION),
        ("which datasets were pooled?", "data", Section.RESULTS),
        ("should beginners lift heavy?", "practice", Section.PRACTICAL_APPLICATIONS),
    ],
)
def test_each_kind_of_question_aims_at_its_sections(question: str, intent: str, first_section: Section) -> None:
    understanding = understood(question)

    assert understanding.intents == (intent,)
    assert understanding.target_sections[0] is first_section


def test_every_intent_is_held_by_the_table_above() -> None:
    assert {intent.name for intent in INTENTS} == {
        "results", "methods", "background", "related work", "discussion", "limitations", "conclusion", "data", "practice",
    }  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [
        "does it show more growth?",
        "priority muscles",
        "whyte protein",
        "foundation lifts",
        "database",
        "unlimited sets",
        "resulting soreness",
    ],
)
def test_a_part_of_a_word_is_no_intent(question: str) -> None:
    assert understood(question).intents == ()


@pytest.mark.parametrize(
    "question",
    [
        "how large is the gap between groups?",
        "effect sizes of creatine protocols",
        "months before a change can be measured",
    ],
)
def test_what_is_told_of_people_is_no_question_about_how_a_study_was_made(question: str) -> None:
    assert understood(question).intents == ()


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("how many sets?", True),
        ("what dose of creatine?", True),
        ("does it show much growth?", False),
        ("do sets matter?", False),
    ],
)
def test_questions_for_figures_are_known(question: str, asks: bool) -> None:
    assert understood(question).asks_for_figures is asks


@given(st.text())
def test_sections_and_terms_never_repeat(text: str) -> None:
    understanding = understood(text)

    assert len(set(understanding.target_sections)) == len(understanding.target_sections)
    assert len(set(understanding.terms)) == len(understanding.terms)


@pytest.mark.parametrize(
    ("section", "targets", "expected"),
    [
        (Section.CONCLUSION, (Section.DISCUSSION,), True),
        (Section.ABSTRACT, (Section.RESULTS,), True),
        (Section.METHODS, (Section.LIMITATIONS,), False),
        (Section.RESULTS, (), False),
    ],
)
def test_sections_of_one_group_are_related(section: Section, targets: tuple[Section, ...], expected: bool) -> None:
    assert is_related(section, targets) is expected


# --- Concepts ------------------------------------------------------------------------------------------------------------

MASS = make_concept("muscle-mass", "mass")
GROWTH = make_concept("hypertrophy", "muscle growth", "get bigger", "growth")
MUSCLE = make_concept("muscle")


def ids(text: str, *concepts: records.Concept) -> list[str]:
    return [concept.concept_id for concept in find_concepts(text, concepts)]


def test_the_longest_name_wins_and_no_word_counts_twice() -> None:
    assert ids("sets for muscle growth", MUSCLE, GROWTH) == ["hypertrophy"]
    assert ids("muscle growth of muscle", MUSCLE, GROWTH) == ["hypertrophy", "muscle"]


def test_concepts_come_in_the_order_of_the_text_and_once() -> None:
    assert ids("get bigger, gain muscle mass, more growth", MASS, GROWTH) == ["hypertrophy", "muscle-mass"]


@pytest.mark.parametrize("text", ["massive gains", "biomass", "amass"])
def test_a_name_inside_a_word_is_no_concept(text: str) -> None:
    assert ids(text, MASS) == []


@pytest.mark.parametrize("text", ["MUSCLE-GROWTH?", "Múscle (growth)", "“muscle growth”", "get BIGGER!"])
def test_case_accents_and_punctuation_do_not_hide_a_concept(text: str) -> None:
    assert ids(text, GROWTH) == ["hypertrophy"]


def test_a_name_claimed_twice_stays_with_the_first() -> None:
    first, second = make_concept("volume", "weekly sets"), make_concept("frequency", "weekly sets")

    assert ids("how many weekly sets", first, second) == ["volume"]


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_no_name_and_no_text_breaks_the_search_for_concepts(text: str, aliases: list[str]) -> None:
    assert len(find_concepts(text, (make_concept("odd", *aliases),))) <= 1


# --- Collections ---------------------------------------------------------------------------------------------------------

TRAINING = records.Collection("training", "Training", "", ("sets", "weekly volume"))
NUTRITION = records.Collection("nutrition", "Nutrition", "", ("protein", "creatine"))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many sets?", "training"),
        ("weekly volume of sets", "training"),
        ("protein after sets", None),
        ("creatine and protein after sets", "nutrition"),
        ("offsets and upsets", None),
        ("sleep", None),
    ],
)
def test_a_collection_is_chosen_only_where_it_is_clearly_ahead(question: str, expected: str | None) -> None:
    assert find_collection(question, (), (TRAINING, NUTRITION)) == expected


def test_a_concept_of_two_collections_points_half_at_each() -> None:
    shared = make_concept("lean-mass", collections=("training", "nutrition"))
    own = make_concept("leucine", collections=("nutrition",))

    assert find_collection("", (shared,), (TRAINING, NUTRITION)) is None
    assert find_collection("", (shared, own), (TRAINING, NUTRITION)) == "nutrition"


FIELD = (make_concept("hypertrophy"), make_concept("sarcopenia"), make_concept("protein"))
VOCABULARY = {"hypertrophy": 9, "sarcopenia": 5, "protein": 30, "monet": 4, "muscle": 50}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hypertropy", (("hypertropy", "hypertrophy"),)),
        ("does sarcopaenia respond to protien", (("sarcopaenia", "sarcopenia"), ("protien", "protein"))),
        ("hypertrophy and proteins", ()),
        ("who pays the money", ()),
        ("zypertrophy", ()),
        ("prot", ()),
    ],
)
def test_only_field_terms_that_the_corpus_holds_are_suggested(typed: str, meant: tuple[tuple[str, str], ...]) -> None:
    question = make_question(typed)

    read = understand(question, concepts=FIELD, collections=(), vocabulary=VOCABULARY)

    assert read.corrections == meant
    assert read.also_searched == tuple(word for _, word in meant)


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        ("10 secs a rep", ("seconds", "repetition"), (("secs", "seconds"), ("rep", "repetition"))),
        ("10 secs a rep", ("repetition",), (("rep", "repetition"),)),
        ("10 min a day", ("min", "minute"), ()),
        ("a sector of reports", ("second", "repetition"), ()),
    ],
    ids=["spelt out", "only what the corpus says", "not what the corpus writes so", "whole words"],
)
def test_what_is_written_short_is_searched_as_the_corpus_spells_it(
    typed: str, known: tuple[str, ...], meant: tuple[tuple[str, str], ...]
) -> None:
    read = understand(make_question(typed), concepts=(), collections=(), vocabulary=dict.fromkeys(known, 3))

    assert read.corrections == meant


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        ("can i take 5g a day", ("g",), (("5g", "5 g"),)),
        ("is 2x a week enough", (), (("2x", "2 times"),)),
        ("30secs or 2mins of rest", (), (("30secs", "30 seconds"), ("2mins", "2 minutes"))),
        ("0.8g/kg, 1.5g, omega-3g, vitamin b12, 5x5, 1rm, the over 55s and 20g", ("20g",), ()),
    ],
    ids=["an amount", "how often", "a time", "a name, and what the corpus writes so"],
)
def test_an_amount_in_one_word_is_read_as_a_number_and_its_unit(
    typed: str, known: tuple[str, ...], meant: tuple[tuple[str, str], ...]
) -> None:
    read = understand(make_question(typed), concepts=(), collections=(), vocabulary=dict.fromkeys(known, 3))

    assert read.corrections == meant
    assert not [term for term in read.subject if term[0].isdigit() and term in {typed for typed, _ in meant}]


def test_a_word_that_the_language_has_is_corrected_only_to_its_other_spelling() -> None:
    field = tuple(map(make_concept, ("overweight", "hypertrophy", "anemia")))
    question = make_question("overnight hypertropy in anaemia")
    language = quality.standard()

    read = understand(
        question,
        concepts=field,
        collections=(),
        vocabulary=dict.fromkeys(("overweight", "hypertrophy", "anemia"), 3),
        is_word=lambda word: word in language,
    )

    assert {"overnight", "anaemia"} <= {word for word in ("overnight", "anaemia") if word in language}
    assert read.corrections == (("hypertropy", "hypertrophy"), ("anaemia", "anemia"))


def test_a_misspelt_concept_is_understood_and_its_term_counted() -> None:
    question = make_question("hypertropy")

    read = understand(question, concepts=FIELD, collections=(), vocabulary=VOCABULARY)

    assert [c.concept_id for c in read.concepts] == ["hypertrophy"]
    assert read.terms == ("hypertrophi",)


def test_what_no_study_is_about_is_named_apart() -> None:
    sauna = make_concept("sauna", is_studied=False)
    concepts = (make_concept("hypertrophy"), sauna)

    read = understand(make_question("sauna for hypertrophy"), concepts=concepts, collections=())

    assert [c.concept_id for c in read.concepts] == ["hypertrophy"]
    assert read.unstudied == (sauna,)


def test_field_terms_of_lay_words_are_added_where_asked_for() -> None:
    bigger = make_concept("hypertrophy", "get bigger")
    question = make_question("how to get bigger")

    silent = understand(question, concepts=(bigger,), collections=())
    spoken = understand(question, concepts=(bigger,), collections=(), expand_lay_words=True)

    assert (silent.also_searched, spoken.also_searched) == ((), ("hypertrophy",))


BLOOD_FLOW = make_concept(
    "blood-flow-restriction",
    "occlusion training",
    "kaatsu",
    "creatine",
    "BFR-2",
    name="blood flow restriction",
    kind="intervention",
)
CANCER = make_concept("cancer", "lymphoedema", name="cancer and its treatment", kind="condition")
COUNTS = {
    "blood": 40,
    "flow": 30,
    "restriction": 30,
    "occlusion": 2,
    "training": 500,
    "creatine": 170,
    "cancer": 60,
    "treatment": 60,
}


@pytest.mark.parametrize(
    ("text", "rephrased"),
    [
        ("Is occlusion training worth it?", "is blood flow restriction worth it?"),
        ("Is creatine worth it?", ""),
        ("Is occlusion training, or blood flow restriction, worth it?", ""),
        ("Is occlusion training or kaatsu better?", ""),
        ("Is BFR-2 worth it?", ""),
        ("Does lymphoedema get worse?", ""),
        ("Is it worth it?", ""),
    ],
    ids=[
        "hardly a word of the corpus",
        "one of its words",
        "named as well",
        "two of a kind",
        "a figure",
        "wider",
        "nothing named",
    ],
)
def test_what_the_corpus_calls_otherwise_is_said_in_its_words_too(text: str, rephrased: str) -> None:
    read = understand(
        make_question(text), concepts=(BLOOD_FLOW, CANCER), collections=(), vocabulary=COUNTS, say_in_field_terms=True
    )

    assert read.in_field_terms == rephrased
    assert read.also_searched == (("blood flow restriction",) if rephrased else ())


def test_what_came_of_it_and_what_the_corpus_never_says_keep_their_words() -> None:
    outcome = make_concept("hypertrophy", "gains")
    unsaid = make_concept("kaatsu-walking", "strolling", kind="intervention")

    read = understand(
        make_question("gains from strolling"),
        concepts=(outcome, unsaid),
        collections=(),
        vocabulary={"hypertrophy": 90},
        say_in_field_terms=True,
    )

    assert (read.in_field_terms, read.also_searched) == ("", ())


@given(st.lists(st.sampled_from(["occlusion", "training", "creatine", "blood", "flow", "and", "7"]), max_size=12))
def test_only_names_take_the_place_of_words(said: list[str]) -> None:
    text = " ".join(said)

    rephrased, names = in_field_terms(text, (BLOOD_FLOW,), COUNTS)

    assert bool(rephrased) == bool(names)
    assert rephrased.replace("blood flow restriction", "occlusion training") in {"", text}


@pytest.mark.parametrize(
    ("text", "is_background"),
    [
        ("what is creatine?", True),
        ("whats sarcopenia", True),
        ("whats the newest study on creatine", False),
        ("what's the best time for protein?", False),
        ("what's wrong with the keto studies", False),
    ],
)
def test_what_something_is_asks_for_background_and_what_is_newest_does_not(text: str, is_background: bool) -> None:
    understanding = understand(make_question(text), concepts=(), collections=())

    assert ("background" in understanding.intents) is is_background


@pytest.mark.parametrize(
    ("asked", "intents"),
    [
        ("who funded the review of protein timing?", {"limitations"}),
        ("what are the limitations of the review?", {"limitations"}),
        ("how was the trial carried out?", {"methods"}),
        ("how many trials were included?", {"methods"}),
        ("how trustworthy is the evidence on creatine?", {"limitations"}),
        ("is the research on vitamin D any good?", {"limitations"}),
        ("can I trust these studies?", {"limitations"}),
        ("how sure are we that lifting prevents falls?", {"limitations"}),
        ("is lifting good for my heart?", set()),
        ("how strong are women who lift?", set()),
        ("are the results for certain exercises better?", {"results"}),
        ("are the findings in thin people different?", {"results"}),
        ("how confident are you in the gym?", set()),
        ("what effect size did the pooled data give?", set()),
        ("what is sarcopenia?", {"background"}),
        ("what is the effect of creatine on strength?", set()),
        ("what is the risk of falls?", set()),
    ],
)
def test_what_a_question_asks_of_a_study_is_understood(asked: str, intents: set[str]) -> None:
    assert set(understand(make_question(asked), concepts=(), collections=()).intents) == intents


@pytest.mark.parametrize(
    ("asked", "subject"),
    [
        ("is the evidence for creatine strong?", "creatin"),
        ("can I trust the creatine studies?", "creatin"),
        ("how good is the creatine research?", "creatin"),
        ("does protein prevent muscle wasting?", "wast"),
    ],
)
def test_what_is_judged_is_still_what_a_question_is_about(asked: str, subject: str) -> None:
    creatine = make_concept("creatine", kind="nutrient")

    assert subject in understand(make_question(asked), concepts=(creatine,), collections=()).subject


@pytest.mark.parametrize(
    ("asked", "judging"),
    [("is one set okay or am I wasting my time?", "wast"), ("could that colour the results?", "colour")],
)
def test_a_turn_of_phrase_is_no_subject(asked: str, judging: str) -> None:
    assert judging not in understand(make_question(asked), concepts=(), collections=()).subject


def test_what_a_named_outcome_is_measured_by_comes_with_it() -> None:
    growth = make_concept("hypertrophy", neighbours=("lean-mass", "lifting", "strength"))
    graph = (growth, make_concept("lean-mass"), make_concept("lifting", kind="intervention"), make_concept("strength"))

    alone = understand(make_question("what gives hypertrophy?"), concepts=graph, collections=())
    beside = understand(make_question("what gives hypertrophy and strength?"), concepts=graph, collections=())

    assert [(owner, measure.concept_id) for owner, measure in alone.measures] == [
        ("hypertrophy", "lean-mass"),
        ("hypertrophy", "strength"),
    ]
    assert [measure.concept_id for _, measure in beside.measures] == ["lean-mass"]
