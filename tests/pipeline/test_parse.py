"""A question is read once: the concepts and sources it names, whom it is about, what it keeps of the question before."""

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Collection, Concept, Design, Notice, Reference
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, PhraseIndex, words_of
from qa_app.pipeline.query import Intent, Query
from qa_app.pipeline.question.facets import FacetIndex
from qa_app.pipeline.question.follow_up import follow, is_generic, names_nothing
from qa_app.pipeline.question.parse import parse
from qa_app.pipeline.question.sources import find_sources
from qa_app.pipeline.question.subject import describe_subject
from qa_app.pipeline.question.wording import find_ask, find_collection
from qa_app.pipeline.text import clean, words
from tests.pipeline.corpora import COLLECTIONS, FACETS, GOLDEN, GRAPH, SITE, read_rows
from tests.pipeline.values import make_concept

LANGUAGE = Path(__file__).resolve().parents[2] / "qa_app" / "lexicon"
CONCEPTS = tuple(
    Concept(c["id"], c["name"], c["kind"], tuple(c["aliases"]), "", tuple(c["collections"]), role=SITE.role_of(c["kind"]), is_studied=c["id"] != "ephedrine")
    for c in GRAPH["concepts"]
)  # fmt: skip
INDEX = ConceptIndex.build(CONCEPTS)
VOCABULARY = Counter(
    "should really dumbbells dumbbell losing minutes seconds creatine vitamin times repetitions ramadan shoulder".split()
)


def read(question: str, facets: FacetIndex = FACETS, concepts: ConceptIndex = INDEX) -> Query:
    return parse(
        question,
        concepts=concepts,
        word_counts=lambda words: {word: VOCABULARY[word] for word in words if word in VOCABULARY},
        is_word=lambda word: word in {"thicken", "revolting"},
        collections=COLLECTIONS,
        facets=facets,
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


def test_the_term_whose_meaning_is_asked_is_read() -> None:
    defined = ConceptIndex.build([replace(concept, definition="Something.") for concept in CONCEPTS])
    for question, term in (
        ("What does sarcopenia mean?", "sarcopenia"),
        ("what is creatine", "creatine"),
        ("Define the term sarcopenia, please.", "sarcopenia"),
        ("What is the best dose of creatine?", None),
        ("What does creatine do?", None),
        ("creatine", None),
    ):
        parsed = read(question, concepts=defined)
        assert (parsed.term and parsed.term.concept_id) == term, question


def test_whom_a_question_is_about_is_read() -> None:
    rows = read_rows("people")

    found = [read(row["question"]).facets for row in rows]

    wrong = [
        row["question"]
        for row, people in zip(rows, found, strict=True)
        if tuple(set(people.of(key)) for key in ("age_group", "training_status", "sex"))
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


def test_each_word_list_catches_its_example() -> None:
    index = PhraseIndex.of_language("slots", "years_of_age", "ask", "sections")

    for name, catches, misses in [
        *examples("slots"), *examples("years_of_age"), *examples("ask"), *examples("sections"),
    ]:  # fmt: skip
        assert name in index.find(words_of(catches)), name
        if name in {"ages.decade", "ages.bare", "ages.under"}:  # those look at what follows, too
            assert not read(misses).facets.is_named
        else:
            assert name not in index.find(words_of(misses)), name
    for name, catches, misses in examples("aspects"):
        assert (read(catches).aspect, read(misses).aspect) == (name, None)


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
    return follow(clean(question), clean(before), INDEX, FACETS)


def test_follow_ups_are_completed_and_nothing_else_is() -> None:
    wrong = [row for row in read_rows("follow_ups") if meaning(row["question"], row["before"]) != row["meant"]]

    assert wrong == []
    assert meaning("", PROTEIN) is None
    assert meaning("what about creatine?", FAILURE) is None  # what is done is not replaced by a thing


def test_a_subject_is_a_noun_phrase() -> None:
    for question, subject in {
        "Does creatine improve strength in older women?": "creatine and muscle strength in older women",
        "Should untrained women lift weights?": "resistance training in women (untrained)",
        "Is whey better than soy for teenage girls?": "whey protein compared with soy protein in girls",
        "Does lifting help older adults with diabetes?": "resistance training in older adults with diabetes",
        "Does stretching prevent falls?": "flexibility and stretching, and falls",
        "Is depression common?": "depression and mental health",
        "Who says so?": None,
    }.items():
        assert describe_subject(read(question)) == subject, question


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
        "What happened in 2014?",
    ):  # fmt: skip
        assert not names_nothing(read(full)), full


@given(data=st.data())
def test_pieces_of_questions_never_lose_a_word(data: st.DataObject) -> None:
    pieces = sorted({w for q in (*FOLLOW_UPS, *GOLDEN[:20]) for w in words(q)})
    question = " ".join(data.draw(st.lists(st.sampled_from(pieces), max_size=7)))
    asked = data.draw(st.sampled_from((question, *FOLLOW_UPS)))

    meant = meaning(asked, data.draw(st.sampled_from(GOLDEN)))

    assert meant is None or {word for word in words(asked) if not is_generic(word)}.issubset(words(meant))


def test_each_cue_catches_its_example() -> None:
    phrases = PhraseIndex.of_language("follow_up")

    for name, catches, misses in examples("follow_up"):
        assert name in phrases.find(words_of(catches))
        assert name not in phrases.find(words_of(misses))


FEW = (
    make_concept("hypertrophy", aliases=("muscle growth", "grow muscle", "build muscle")),
    make_concept("muscle", kind="outcome"),
    make_concept("strength", name="muscle strength", aliases=("get stronger",)),
    make_concept("rest", name="rest interval", aliases=("rest between sets", "RT pause")),
    make_concept("training", name="resistance training", aliases=("RT",)),
    make_concept("parkinson", name="Parkinson's disease", aliases=("Parkinson's",), kind="condition"),
    make_concept("elan", name="élan"),
)
FEW_INDEX = ConceptIndex.build(FEW)


def test_the_longest_name_wins_in_the_order_of_the_text() -> None:
    for text, names in {
        "muscle strength and muscle growth": [("strength", "muscle strength"), ("hypertrophy", "muscle growth")],
        "muscle growth of a muscle": [("hypertrophy", "muscle growth"), ("muscle", "muscle")],
        "do I grow more muscle?": [("hypertrophy", "grow more muscle")],
        "MUSCLE-GROWTH": [("hypertrophy", "MUSCLE-GROWTH")], "building muscles": [("hypertrophy", "building muscles")],
        "rest between sets": [("rest", "rest between sets")], "Élan, or elan": [("elan", "Élan"), ("elan", "elan")],
        "does RT work, rt?": [("training", "RT")],
        "Parkinson's and parkinson’s": [("parkinson", "Parkinson's"), ("parkinson", "parkinson’s")],
        "muscleman outgrowth": [],
    }.items():  # fmt: skip
        assert [(m.concept.concept_id, text[m.start : m.end]) for m in FEW_INDEX.find(text)] == names


def test_an_ambiguous_stem_names_no_concept() -> None:
    index = ConceptIndex.build((make_concept("one", name="training heavy"), make_concept("other", name="train heavy")))

    named = [[m.concept.concept_id for m in index.find(t)] for t in ("training heavy", "train heavy", "trained heavy")]

    assert named == [["one"], ["other"], []]


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_no_name_and_no_text_breaks_the_search(text: str, aliases: list[str]) -> None:
    found = ConceptIndex.build((make_concept("odd", aliases=tuple(aliases)), *FEW)).find(f"{text} muscle growth")

    assert all(first.end <= second.start for first, second in pairwise(found))


TRAINING = Collection("training", "Training", "", ("sets", "weekly volume"))
NUTRITION = Collection("nutrition", "Nutrition", "", ("protein", "creatine"))
SHARED = make_concept("lean-mass", collections=("training", "nutrition"))
LEUCINE = make_concept("leucine", collections=("nutrition",))


def test_a_collection_is_pointed_at_only_where_it_is_clearly_ahead() -> None:
    for question, concepts, expected in (
        ("how many sets?", (), "training"), ("weekly volume of sets", (), "training"), ("protein after sets", (), None),
        ("creatine and protein after sets", (), "nutrition"), ("offsets and upsets", (), None), ("sleep", (), None),
        ("", (SHARED,), None), ("", (SHARED, LEUCINE), "nutrition"),
    ):  # fmt: skip
        assert find_collection(words_of(question), concepts, (TRAINING, NUTRITION)) == expected, question


LISTS = tomllib.loads((LANGUAGE_FOLDER / "sources.toml").read_text("utf-8"))


def reference(study_id: str, title: str, authors: tuple[str, ...], year: int, **more: str) -> Reference:
    design = Design(more.get("design", "meta_analysis"))
    return Reference(study_id, title, authors, year, None, more.get("doi"), more.get("pmid"), None, design, Notice.NONE)


STUDIES = (
    reference("A", "Weekly volume and growth of the upper leg: a meta-analysis of trials", ("Schoenfeld BJ", "Ogborn D"), 2017,
              doi="10.1000/abc.1", pmid="27433992"),
    reference("B", "How often to lift in a week", ("Schoenfeld BJ", "Ogborn D", "Krieger JW"), 2016),
    reference("C", "Lifting to the end of each set", ("Grgic J", "Schoenfeld BJ"), 2021),
    reference("D", "Eggs for breakfast in older lifters", ("Long A", "O'Brien K"), 2011),
    reference("E", "Plants or meat", ("Hevia-Larraín V", "Moriggi Junior R"), 2021, design="randomized_controlled_trial"),
    reference("F", "American College of Sports Medicine Position Stand. Bone and exercise", ("Kohrt WM",), 2004,
              design="position_stand"),
    reference("G", "Balance at home", ("International Society of Sports Nutrition",), 2018, design="position_stand"),
    reference("H", "Legs and arms after ninety", ("dos Santos EEP", "Kim JE"), 2019),
    reference("I", "Creatine and BFR by Monday", ("Judge LW", "King MA"), 2020),
)  # fmt: skip


def test_a_named_source_is_found_or_reported_unknown() -> None:
    rows = read_rows("sources")

    named = [find_sources(row["question"], STUDIES) for row in rows]

    found = [(list(one.studies), list(one.unknown)) for one in named]
    assert found == [(row["studies"], row["unknown"]) for row in rows]
    assert not find_sources("", STUDIES).is_named


def test_the_rest_is_the_question_without_the_names() -> None:
    for question, rest in {
        "What did the review by Schoenfeld (2017) say on sets?": "What did the review say on sets?",
        "schoenfeld 2017 weekly sets": "weekly sets", "Morton et al., does protein help?": "does protein help?",
        "how many sets?": "how many sets?",
    }.items():  # fmt: skip
        assert find_sources(question, STUDIES).rest == rest


def test_each_list_has_an_example_and_a_counterexample() -> None:
    for row in LISTS.values():
        assert find_sources(row["example"], STUDIES).is_named, row["example"]
        assert not find_sources(row["counterexample"], STUDIES).is_named, row["counterexample"]
