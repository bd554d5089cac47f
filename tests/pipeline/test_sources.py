"""A question that names a source is answered from that source, or is told that no such study is here."""

from __future__ import annotations

import tomllib

import pytest

from corpus_app.records import Design, Notice, Reference
from qa_app.pipeline.lexicon import LANGUAGE_FOLDER
from qa_app.pipeline.question.sources import SourceIndex, find_sources
from tests.pipeline.corpora import GOLDEN, published_rows
from tests.pipeline.rows import read_rows

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


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What did the review by Schoenfeld (2017) say on sets?", "What did the review say on sets?"),
        ("schoenfeld 2017 weekly sets", "weekly sets"),
        ("Morton et al., does protein help?", "does protein help?"),
        ("how many sets?", "how many sets?"),
    ],
)
def test_the_rest_is_the_question_without_the_names(question: str, rest: str) -> None:
    assert find_sources(question, STUDIES).rest == rest


def test_each_list_has_an_example_and_a_counterexample() -> None:
    for row in LISTS.values():
        assert find_sources(row["example"], STUDIES).is_named, row["example"]
        assert not find_sources(row["counterexample"], STUDIES).is_named, row["counterexample"]


def test_golden_questions_name_no_unknown_source() -> None:
    studies = [
        reference(row["study_id"], row["title"], tuple(row.get("authors") or ()), row.get("year") or 0, design=row["design"])
        for row in published_rows()
    ]  # fmt: skip
    index = SourceIndex.build(studies)

    assert [question for question in GOLDEN if find_sources(question, index).unknown] == []
    assert find_sources("Schoenfeld 2017", index).studies
