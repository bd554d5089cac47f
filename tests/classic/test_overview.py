"""Questions about the corpus itself are recognised by their words and answered by counting its rows; no other question is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from corpus_app.records import AgeGroup, Concept, Design, Notice, Study, TrainingStatus
from qa_app.classic.overview import LISTED, Selection, Wish, count, recognise
from qa_app.pipeline.records import Verdict
from tests.classic.values import make_study

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
CONCEPTS = tuple(
    Concept(str(row["id"]), row["name"], row["kind"], tuple(row["aliases"]), "", ())
    for row in json.loads((CORPUS / "concepts.json").read_text("utf-8"))["concepts"]
)
GOLDEN = [json.loads(line)["question"] for line in (CORPUS / "golden_dev.jsonl").read_text("utf-8").splitlines()]
CREATINE = next(concept for concept in CONCEPTS if concept.concept_id == "creatine")


def studies(*years: int | None, **changes: object) -> list[Study]:
    return [
        make_study(study_id=f"S{n:03}", title=f"Creatine, part {n}", year=year, concepts=("creatine",), **changes)
        for n, year in enumerate(years, start=1)
    ]


@pytest.mark.parametrize(
    ("question", "wish", "filters"),
    [
        ("What is in this corpus?", Wish.CORPUS, ()),
        ("what studies do you have?", Wish.CORPUS, ()),
        ("How many studies are there?", Wish.COUNT, ()),
        ("how many studies on creatine do you have?", Wish.COUNT, (("topic", "creatine"),)),
        ("how has the evidence on creatine grown?", Wish.GROWTH, (("topic", "creatine"),)),
        ("What's the newest study on creatine?", Wish.NEWEST, (("topic", "creatine"),)),
        ("what is the newest study on sarcopenia", Wish.NEWEST, (("topic", "sarcopenia"),)),
        ("Which studies on protein and older adults do you have?", Wish.LIST, (("age", "older_adults"), ("topic", "protein-intake"))),
        ("list all meta-analyses on training volume", Wish.LIST, (("design", "meta_analysis"), ("topic", "training-volume"))),
        ("do you have any studies on people over 60?", Wish.LIST, (("age", "older_adults"),)),
        ("What's in here?", Wish.CORPUS, ()),
        ("What topics do you cover?", Wish.CORPUS, ()),
        ("Which years do the studies cover?", Wish.CORPUS, ()),
        ("What kinds of studies do you have?", Wish.CORPUS, ()),
        ("What can I ask here?", Wish.CORPUS, ()),
        ("List the studies in this corpus", Wish.CORPUS, ()),
        ("Give me an overview of the corpus, please.", Wish.CORPUS, ()),
        ("How many studies of women are there?", Wish.COUNT, (("sex", "female"),)),
        ("How many studies in older adults?", Wish.COUNT, (("age", "older_adults"),)),
        ("number of studies on creatine", Wish.COUNT, (("topic", "creatine"),)),
        ("How much evidence is there on creatine?", Wish.COUNT, (("topic", "creatine"),)),
        ("Do you have anything on creatine?", Wish.LIST, (("topic", "creatine"),)),
        ("Give me a list of studies on creatine", Wish.LIST, (("topic", "creatine"),)),
        ("all studies on older adults", Wish.LIST, (("age", "older_adults"),)),
        ("Which studies on creatine do you have in older women?", Wish.LIST, (("age", "older_adults"), ("sex", "female"), ("topic", "creatine"))),
        ("When was the latest study on creatine published?", Wish.NEWEST, (("topic", "creatine"),)),
        ("What is your oldest study?", Wish.OLDEST, ()),
        ("Show me a timeline of the evidence on creatine", Wish.GROWTH, (("topic", "creatine"),)),
        ("How many studies on creatine are there per year?", Wish.GROWTH, (("topic", "creatine"),)),
    ],
)  # fmt: skip
def test_it_is_recognised_with_what_it_names(question: str, wish: Wish, filters: tuple[tuple[str, str], ...]) -> None:
    found = recognise(question, CONCEPTS)

    assert found is not None
    assert (found[0], found[1].filters) == (wish, filters)


@pytest.mark.parametrize(
    "question",
    [
        "How many studies show that creatine works?",
        "What do studies on creatine say?",
        "show me studies about zebrafish",
        "What is the latest research on creatine?",
        "How many studies on creatine found no difference?",
        "how has creatine grown?",
        "What evidence do you have on creatine?",
        "What do you know about creatine?",
        "Is there anything better than creatine?",
        "How many sets of squats in older adults?",
        "How many studies since 2020?",
        "What is hypertrophy?",
        "which studies on creatine and Naples do you have?",
        "",
    ],
)
def test_any_other_question_is_left_to_the_search(question: str) -> None:
    assert recognise(question, CONCEPTS) is None


def test_no_golden_question_is_caught() -> None:
    assert [question for question in GOLDEN if recognise(question, CONCEPTS)] == []


def test_sentences_say_what_was_counted_and_rest_on_it() -> None:
    rows = studies(2012, 2020, 2022, 2022)

    found = count(Wish.COUNT, Selection(concepts=(CREATINE,)), [*rows, make_study(study_id="S900", concepts=())])

    assert found is not None
    assert [sentence.text for sentence in found.summary] == [
        "4 published studies here are about creatine.",
        "They were published from 2012 to 2022, 3 of them since 2018.",
        "By kind: 4 randomised controlled trials.",
    ]
    assert {sentence.verdict for sentence in (*found.summary, *found.answer)} == {Verdict.COUNTED}
    assert all(sentence.counted_studies == ("S001", "S002", "S003", "S004") for sentence in found.summary)
    assert [(sentence.citations, sentence.counted_studies) for sentence in found.answer] == [
        ((1,), ("S003",)), ((2,), ("S004",)), ((3,), ("S002",)), ((4,), ("S001",)),
    ]  # fmt: skip
    assert (found.overview.total, found.overview.years) == (4, ((2012, 1), (2020, 1), (2022, 2)))


def test_people_are_named_in_plain_words_and_nothing_is_said_twice() -> None:
    wanted = Selection(
        concepts=(CREATINE,),
        ages=(AgeGroup.OLDER_ADULTS,),
        training=(TrainingStatus.TRAINED, TrainingStatus.ATHLETES),
        designs=frozenset({Design.RANDOMIZED_CONTROLLED_TRIAL}),
    )
    rows = [
        replace(row, age_group=AgeGroup.OLDER_ADULTS, training_status=TrainingStatus.TRAINED)
        for row in studies(2021, 2022)
    ]

    found = count(Wish.COUNT, wanted, rows)

    assert found is not None
    assert [sentence.text for sentence in found.summary] == [
        "2 published studies here are randomised controlled trials, about creatine, recorded as studies of older adults and of trained people or athletes.",
        "They were published from 2021 to 2022.",
    ]


def test_the_newest_and_the_oldest_are_named_first() -> None:
    rows = studies(2012, None, 2022)

    newest, oldest = (count(wish, Selection(), rows) for wish in (Wish.NEWEST, Wish.OLDEST))

    assert newest is not None
    assert oldest is not None
    assert newest.summary[0].text == "The newest is “Creatine, part 3”, of 2022."
    assert oldest.summary[0].text == "The oldest is “Creatine, part 1”, of 2012."
    assert oldest.summary[0].counted_studies == ("S001",)


def test_retracted_studies_are_not_counted_and_nothing_is_said_of_none() -> None:
    rows = studies(2012, notice=Notice.RETRACTED)

    assert count(Wish.COUNT, Selection(), rows) is None
    assert count(Wish.COUNT, Selection(ages=(AgeGroup.YOUTH,)), studies(2012)) is None


def test_no_more_are_named_than_a_page_can_hold() -> None:
    found = count(Wish.LIST, Selection(), studies(*range(1980, 2020)))

    assert found is not None
    assert (found.overview.total, len(found.named), len(found.answer)) == (40, LISTED, LISTED)


def test_every_design_has_a_name() -> None:
    for design in Design:
        assert count(Wish.LIST, Selection(), studies(2012, 2013, design=design)) is not None
