"""Questions that no study answers: those with a fixed, careful reply, and those about the corpus itself."""

import json
import tomllib
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import Concept
from qa_app.pipeline.lexicon import read_tables
from qa_app.pipeline.question import about_corpus
from qa_app.pipeline.question.about_corpus import CorpusAnswer, CorpusQuestionUnread, CorpusWords
from qa_app.pipeline.question.about_filters import journal_names
from qa_app.pipeline.question.about_sentences import FACTS
from qa_app.pipeline.question.safety import SafetyLexicon, check
from qa_app.pipeline.question.safety_model import BUCKETS, SafetyClassifier
from qa_app.pipeline.question.sources import SourceIndex
from qa_app.pipeline.records import Outcome
from qa_app.pipeline.text import clean
from tests.pipeline.corpora import (
    COLLECTIONS,
    FACETS,
    GOLDEN,
    GRAPH,
    SITE,
    published_rows,
    read_rows,
    reference_of,
    study_of,
)
from tests.pipeline.fake_corpus import FakeHoldings

ROOT = Path(__file__).parents[2]
LEXICON = SafetyLexicon.build(read_tables(ROOT / "corpus" / "lexicon"))
LANGUAGE_ONLY = SafetyLexicon.build()
ROWS, GERMAN_ROWS = (
    [json.loads(line) for line in (ROOT / f"tests/data/{name}.jsonl").read_text("utf-8").splitlines()]
    for name in ("safety_questions", "safety_german")
)


def route_of(question: str, lexicon: SafetyLexicon = LEXICON) -> str | None:
    declined = check(clean(question), None, lexicon, None)
    return declined.route if declined else None


def test_rules_catch_examples_and_no_counterexample() -> None:
    for rule in LEXICON.rules:
        words = LEXICON.words(rule.example)
        assert rule.matches(words, LEXICON.index.find(words)), rule.example
        assert route_of(rule.counterexample) is None, rule.counterexample


def test_no_crisis_is_missed_and_no_other_question_declined() -> None:
    wrong = [(row["route"], row["question"]) for row in ROWS if route_of(row["question"]) != row["route"]]

    assert [row for row in wrong if row[0] in {"crisis", "emergency"}] == []
    assert len(wrong) <= 2
    assert set(LEXICON.routes) == {row["route"] for row in ROWS if row["route"]}


def test_a_crisis_told_in_german_is_heard_and_no_other_german_question_declined() -> None:
    for lexicon in (LEXICON, LANGUAGE_ONLY):
        wrong = [(row, found) for row in GERMAN_ROWS if (found := route_of(row["question"], lexicon)) != row["route"]]
        assert wrong == []


def test_a_reply_says_where_help_is() -> None:
    for route, words in {
        "crisis": ["112", "999", "911", "116 123", "988", "doctor"],
        "emergency": ["112", "999", "911", "Stop exercising"], "pregnancy": ["midwife", "doctor"],
        "eating": ["doctor", "helpline"], "minor": ["paediatrician", "under 18"], "drugs": ["no doses", "doctor"],
        "medicine": ["doctor", "pharmacist"], "personal_medical": ["doctor"], "diagnosis": ["doctor"],
    }.items():  # fmt: skip
        declined = LEXICON.routes[route].declined()
        assert (declined.outcome, declined.route) == (Outcome.GUARDRAIL, route)
        assert [word for word in words if word not in declined.message] == []
        assert ("What this site can do" in declined.message) == (route != "crisis")


def test_a_corpus_without_a_lexicon_still_answers_a_crisis_with_help() -> None:
    routes = {
        "I want to kill myself": "crisis", "my mum took 40 paracetamol tablets": "emergency",
        "I can't breathe": "emergency", "which heat pump is quietest?": None, "can my son squat at 12 years old?": None,
    }  # fmt: skip

    assert {question: route_of(question, LANGUAGE_ONLY) for question in routes} == routes


def test_disguised_or_wrong_letters_do_not_get_around_a_route() -> None:
    for pain in ("CHEST PAIN", "che\u200bst pa\u00adin", "chest-pain"):
        assert route_of(f"{pain} when I lift") == "emergency"
    for drug in ("testosteron", "testostrone", "tetsosterone", "testozterone"):
        assert route_of(f"how much {drug} should i take a week") == "drugs"


@given(st.text())
def test_no_text_breaks_the_check(text: str) -> None:
    declined = check(clean(text), None, LEXICON, None)

    assert declined is None or declined.outcome is Outcome.GUARDRAIL


def classifier(guarded: bool) -> SafetyClassifier:
    """Build a model that always, or never, sees a question about medicines."""
    intercepts, weights = [-5.0, 5.0] if guarded else [5.0, -5.0], np.zeros((384 + BUCKETS, 2)).tolist()
    row = {
        "routes": ["medicine"], "lists": [], "thresholds": {"medicine": 0.8}, "intercepts": intercepts,
        "weights": weights,
    }  # fmt: skip
    return SafetyClassifier.from_row(row)


STORY = (
    "My blood pressure pills make me tired, can I skip them? " + "I train at six before work and like it a lot. " * 6
)


def test_the_classifier_adds_to_the_list() -> None:
    unknown = "a question the list does not know"
    for question, guarded, route in (
        (unknown, True, "medicine"), (unknown, False, None), ("can I stop my metformin?", False, "medicine"),
        (STORY, False, None), (STORY, True, "medicine"), (STORY + "I want to kill myself.", False, "crisis"),
    ):  # fmt: skip
        declined = check(question, [0.0] * 384, LEXICON, classifier(guarded))
        assert (declined.route if declined else None) == route


@pytest.mark.parametrize(
    "path", sorted((ROOT / "qa_app" / "fitted").glob("*/safety.json")), ids=lambda p: p.parent.name
)
def test_a_model_file_fits_the_lists_it_was_fitted_with(path: Path) -> None:
    model = SafetyClassifier.load(path)

    assert set(model.lists) <= LEXICON.index.names
    assert set(model.routes) <= set(LEXICON.routes)
    assert path.stat().st_size < 300_000


PUBLISHED = published_rows()
STUDIES = [study_of(row) for row in PUBLISHED]
SOURCES = SourceIndex.build([reference_of(row) for row in PUBLISHED])
CARRIED = {concept_id for row in PUBLISHED for concept_id in row["concepts"]}
CONCEPTS = [
    Concept(
        c["id"],
        c["name"],
        c["kind"],
        tuple(c["aliases"]),
        "",
        (),
        role=SITE.role_of(c["kind"]),
        is_studied=c["id"] in CARRIED,
    )
    for c in GRAPH["concepts"]
]
ASKED = {
    "concepts": CONCEPTS, "collections": COLLECTIONS, "facets": FACETS, "today": date(2025, 11, 25),
    "changed_at": datetime(2025, 11, 3, tzinfo=UTC), "corpus_words": CorpusWords.build(), "sources": SOURCES,
    "holdings": FakeHoldings(STUDIES, CONCEPTS),
    "journals": journal_names(sorted({study.journal for study in STUDIES if study.journal})),
}  # fmt: skip
ABOUT = tomllib.loads((ROOT / "qa_app" / "lexicon" / "about_corpus.toml").read_text("utf-8"))


@cache
def read(question: str) -> CorpusAnswer | CorpusQuestionUnread | None:
    return about_corpus.read(question, **ASKED)


def fits(row: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Whether a row of the corpus's files is one that the question asks for."""
    people, authors = row["population"], row.get("authors") or []
    columns = {
        "design": row["design"], "sex": people["sex"], "age": people["age_group"],
        "training": people["training_status"], "journal": row.get("journal"), "collection": row["collection"],
        "notice": row.get("notice") or "none",
    }  # fmt: skip
    first, last = where.get("years", (0, 9999))
    names = [f"{name} " for name in (authors[:1] if where.get("first") else authors)] or [" "]
    return (
        all(value in where.get(name, [value]) for name, value in columns.items())
        and all(set(group) & set(row["concepts"]) for group in where.get("concepts", []))
        and first <= row["year"] <= last
        and any(name.startswith(where["author"] + " ") for name in names if "author" in where) is ("author" in where)
    )


def of(expect: str) -> list[Any]:
    return [pytest.param(case, id=case["question"]) for case in read_rows("about_corpus") if case["expect"] == expect]


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
def test_unread_questions_about_the_corpus_get_examples(case: Mapping[str, Any]) -> None:
    result = read(case["question"])

    assert isinstance(result, CorpusQuestionUnread), result
    assert result.words
    assert all(isinstance(read(example), CorpusAnswer) for example in result.examples)


def test_a_question_for_the_studies_is_left_to_the_search() -> None:
    labelled = [row["question"] for row in read_rows("about_corpus") if row["expect"] == "not_about"]

    assert [question for question in GOLDEN + labelled if read(question) is not None] == []


@pytest.mark.parametrize("row", ABOUT["examples"], ids=lambda row: row["text"])
def test_each_example_of_the_lexicon_is_read_as_it_says(row: Mapping[str, str]) -> None:
    result = read(row["text"])

    assert (result.overview.wish if isinstance(result, CorpusAnswer) else "none") == row["wish"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many chapters do you have?", CorpusAnswer),
        ("How many documents are here?", CorpusAnswer),
        ("How many of your chapters have a picture of a pond?", CorpusQuestionUnread),
        ("How big is this database?", CorpusAnswer),
        ("How many trials do you have?", None),
        ("Who are you?", None),  # its sources tell
        ("Do you have any guidelines?", None),
        ("How big is the library?", None),  # it has a chapter about one
    ],
)
def test_a_site_with_its_own_nouns_counts_these(question: str, expected: type | None) -> None:
    own = CorpusWords.build(("chapter", "chapters"), {"library"}, "Ash Mill")

    result = about_corpus.read(question, **ASKED | {"corpus_words": own})

    assert isinstance(result, expected or type(None)), result
    assert not isinstance(result, CorpusQuestionUnread) or "How many chapters do you have?" in result.examples


def test_an_author_who_is_not_here_is_said_not_to_be() -> None:
    result = read("Do you hold the Liu & Latham Cochrane review on strength training?")

    assert isinstance(result, CorpusAnswer)
    assert (result.overview.total, result.sentences[0].text) == (0, "No published studies here are by Liu & Latham.")


def test_a_retracted_study_is_counted_only_where_notices_are_asked_for() -> None:
    studies = [*STUDIES[1:], study_of({**PUBLISHED[0], "notice": "retracted"})]

    listed, total = (
        about_corpus.read(question, **ASKED | {"holdings": FakeHoldings(studies)})
        for question in ("Which retracted papers do you have?", "How many studies do you have?")
    )

    assert isinstance(listed, CorpusAnswer)
    assert isinstance(total, CorpusAnswer)
    assert [study.study_id for study in listed.studies] == [PUBLISHED[0]["study_id"]]
    assert total.overview.total == len(STUDIES) - 1


def test_sentences_rest_on_the_studies_they_count_and_lines_cite_one() -> None:
    result = read("how many studies here are in women only")
    women = {row["study_id"] for row in PUBLISHED if row["population"]["sex"] == "female"}

    assert isinstance(result, CorpusAnswer)
    assert set(result.sentences[0].counted_studies) == women
    assert [line.citations for line in result.lines] == [(n,) for n in range(1, len(result.studies) + 1)]
