"""A text names concepts by whole words, and sources by their authors, years and identifiers."""

from __future__ import annotations

import tomllib
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Collection, Design, Notice, Reference
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, words_of
from qa_app.pipeline.question.sources import SourceIndex, find_sources
from qa_app.pipeline.question.wording import find_collection
from tests.pipeline.corpora import GOLDEN, published_rows, read_rows, reference_of
from tests.pipeline.values import make_concept

GRAPH = (
    make_concept("hypertrophy", aliases=("muscle growth", "grow muscle", "build muscle")),
    make_concept("muscle", kind="outcome"),
    make_concept("strength", name="muscle strength", aliases=("get stronger",)),
    make_concept("rest", name="rest interval", aliases=("rest between sets", "RT pause")),
    make_concept("training", name="resistance training", aliases=("RT",)),
    make_concept("parkinson", name="Parkinson's disease", aliases=("Parkinson's",), kind="condition"),
    make_concept("elan", name="élan"),
)
INDEX = ConceptIndex.build(GRAPH)


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
        assert [(m.concept.concept_id, text[m.start : m.end]) for m in INDEX.find(text)] == names


def test_an_ambiguous_stem_names_no_concept() -> None:
    index = ConceptIndex.build((make_concept("one", name="training heavy"), make_concept("other", name="train heavy")))

    named = [[m.concept.concept_id for m in index.find(t)] for t in ("training heavy", "train heavy", "trained heavy")]

    assert named == [["one"], ["other"], []]


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_no_name_and_no_text_breaks_the_search(text: str, aliases: list[str]) -> None:
    found = ConceptIndex.build((make_concept("odd", aliases=tuple(aliases)), *GRAPH)).find(f"{text} muscle growth")

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


def test_golden_questions_name_no_unknown_source() -> None:
    index = SourceIndex.build([reference_of(row) for row in published_rows()])

    assert [question for question in GOLDEN if find_sources(question, index).unknown] == []
    assert find_sources("Schoenfeld 2017", index).studies
