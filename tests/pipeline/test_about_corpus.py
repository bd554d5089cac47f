"""Questions about the corpus are answered by counting its rows or refused with examples; no other question is."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from corpus_app.records import AgeGroup, Collection, Concept, Design, Notice, Sex, Status, Study, TrainingStatus
from qa_app.pipeline.question import about_corpus
from qa_app.pipeline.question.about_corpus import CorpusAnswer, CorpusQuestionUnread
from qa_app.pipeline.question.about_sentences import FACTS
from qa_app.pipeline.question.people import PeopleIndex
from tests.pipeline.rows import read_rows

ROOT = Path(__file__).resolve().parents[2]
ROWS = [json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "corpus" / "studies").glob("*.json"))]
PUBLISHED = [row for row in ROWS if row["status"] == "published"]
GRAPH = json.loads((ROOT / "corpus" / "concepts.json").read_text("utf-8"))
CARRIED = {concept_id for row in PUBLISHED for concept_id in row["concepts"]}
CONCEPTS = [
    Concept(c["id"], c["name"], c["kind"], tuple(c["aliases"]), "", (), is_studied=c["id"] in CARRIED)
    for c in GRAPH["concepts"]
]
COLLECTIONS = [Collection(c["id"], c["name"], c["description"], tuple(c["keywords"])) for c in GRAPH["collections"]]
CASES = read_rows("about_corpus")
LEXICON = tomllib.loads((ROOT / "qa_app" / "lexicon" / "about_corpus.toml").read_text("utf-8"))
PEOPLE = PeopleIndex.build(tomllib.loads((ROOT / "corpus" / "lexicon" / "people.toml").read_text("utf-8")))
CHANGED = datetime(2025, 11, 3, tzinfo=UTC)


def make_study(row: Mapping[str, Any]) -> Study:
    people = row["population"]
    return Study(
        study_id=row["study_id"],
        title=row["title"],
        authors=tuple(row.get("authors") or ()),
        year=row.get("year"),
        journal=row.get("journal"),
        doi=row.get("doi"),
        url=row.get("url"),
        design=Design(row["design"]),
        peer_reviewed=row["peer_reviewed"],
        collection=row["collection"],
        population=people["description"],
        training_status=TrainingStatus(people["training_status"]),
        age_group=AgeGroup(people["age_group"]),
        sex=Sex(people["sex"]),
        status=Status.PUBLISHED,
        notice=Notice(row.get("notice") or "none"),
        concepts=tuple(row["concepts"]),
    )


STUDIES = [make_study(row) for row in PUBLISHED]


def read(question: str, studies: list[Study] = STUDIES) -> CorpusAnswer | CorpusQuestionUnread | None:
    return about_corpus.read(
        question,
        studies=studies,
        concepts=CONCEPTS,
        collections=COLLECTIONS,
        people=PEOPLE,
        changed_at=CHANGED,
        today=date(2025, 11, 25),
    )


def fits(row: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Whether a row of the corpus's files is one that the question asks for."""
    people, authors = row["population"], row.get("authors") or []
    columns = {
        "design": row["design"],
        "sex": people["sex"],
        "age": people["age_group"],
        "training": people["training_status"],
        "journal": row.get("journal"),
        "collection": row["collection"],
        "notice": row.get("notice") or "none",
    }
    first, last = where.get("years", (0, 9999))
    names = [f"{name} " for name in (authors[:1] if where.get("first") else authors)] or [" "]
    return (
        all(value in where.get(name, [value]) for name, value in columns.items())
        and all(set(group) & set(row["concepts"]) for group in where.get("concepts", []))
        and first <= row["year"] <= last
        and any(name.startswith(where["author"] + " ") for name in names if "author" in where) is ("author" in where)
    )


def of(expect: str) -> list[Any]:
    return [pytest.param(case, id=case["question"]) for case in CASES if case["expect"] == expect]


@pytest.mark.parametrize("case", of("answer"))
def test_a_question_about_the_corpus_gets_the_right_rows(case: Mapping[str, Any]) -> None:
    expected = [row for row in PUBLISHED if fits(row, case["where"])]

    result = read(case["question"])

    assert isinstance(result, CorpusAnswer), result
    assert (result.overview.wish, result.overview.total) == (case["wish"], len(expected))
    ids = {row["study_id"] for row in expected}
    assert {study.study_id for study in result.studies} <= ids
    years = [row["year"] for row in expected]
    if case["wish"] in {"newest", "oldest"}:
        assert result.studies[0].year == (max(years) if case["wish"] == "newest" else min(years))
        assert result.studies[0].title in result.sentences[0].text
    if case["wish"] == "growth":
        assert result.overview.years == tuple((year, years.count(year)) for year in sorted(set(years)))


@pytest.mark.parametrize("case", of("fact"))
def test_a_question_about_the_site_gets_its_fixed_text(case: Mapping[str, Any]) -> None:
    result = read(case["question"])

    assert isinstance(result, CorpusAnswer), result
    assert result.sentences[0].text == FACTS[case["fact"]].format(changed="3 November 2025", newest=2025)


@pytest.mark.parametrize("case", of("unread"))
def test_a_question_about_the_corpus_that_cannot_be_read_is_refused_with_examples(case: Mapping[str, Any]) -> None:
    result = read(case["question"])

    assert isinstance(result, CorpusQuestionUnread), result
    assert result.words
    assert all(isinstance(read(example), CorpusAnswer) for example in result.examples)


@pytest.mark.parametrize("case", of("not_about"))
def test_a_question_for_the_studies_is_left_to_the_search(case: Mapping[str, Any]) -> None:
    assert read(case["question"]) is None


def test_no_golden_question_is_caught() -> None:
    lines = (ROOT / "corpus" / "golden_dev.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]

    assert [question for question in questions if read(question) is not None] == []


@pytest.mark.parametrize("row", LEXICON["examples"], ids=lambda row: row["text"])
def test_each_example_of_the_lexicon_is_read_as_it_says(row: Mapping[str, str]) -> None:
    result = read(row["text"])

    assert (result.overview.wish if isinstance(result, CorpusAnswer) else "none") == row["wish"]


def test_an_author_who_is_not_here_is_said_not_to_be() -> None:
    result = read("Do you hold the Liu & Latham Cochrane review on strength training?")

    assert isinstance(result, CorpusAnswer)
    assert (result.overview.total, result.sentences[0].text) == (0, "No published studies here are by Liu & Latham.")


def test_a_retracted_study_is_counted_only_where_notices_are_asked_for() -> None:
    retracted = [*STUDIES[1:], make_study({**PUBLISHED[0], "notice": "retracted"})]

    listed, total = (
        read("Which retracted papers do you have?", retracted),
        read("How many studies do you have?", retracted),
    )

    assert isinstance(listed, CorpusAnswer)
    assert isinstance(total, CorpusAnswer)
    assert [study.study_id for study in listed.studies] == [PUBLISHED[0]["study_id"]]
    assert total.overview.total == len(STUDIES) - 1


def test_sentences_rest_on_the_studies_they_count_and_lines_cite_one() -> None:
    result = read("how many studies here are in women only")

    assert isinstance(result, CorpusAnswer)
    assert set(result.sentences[0].counted_studies) == {
        r["study_id"] for r in PUBLISHED if r["population"]["sex"] == "female"
    }
    assert [line.citations for line in result.lines] == [(n,) for n in range(1, len(result.studies) + 1)]
