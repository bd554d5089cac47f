"""Missing parts of a question, and the confidence that readers see: a number, a word and reasons."""

from __future__ import annotations

import pytest

from corpus_app.records import AgeGroup, Sex, TrainingStatus
from qa_app.pipeline import confidence
from qa_app.pipeline.coverage import missing_parts
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.query import Population, Query
from tests.pipeline.values import make_concept, make_query, make_study

POLICY = Policy()
CITED = "Ten weekly sets build muscle in men."


def missing(query: Query, *texts: str, idf: dict[str, float] | None = None, **study: object) -> tuple[str, ...]:
    shares = dict.fromkeys(query.terms, 1.0) if idf is None else idf
    return missing_parts(query, texts or (CITED,), [make_study(**study)], shares, lambda word: word != "muscel", POLICY)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Do weekly sets build muscle?", ()),
        ("Do saunas build muscle?", ("saunas",)),
        ("Does setting out to build Muscles work?", ()),
        ("muscel sets", ()),  # a misspelt word is no part
    ],
)
def test_a_word_that_nothing_cited_has_is_missing_as_it_was_written(question: str, parts: tuple[str, ...]) -> None:
    query = make_query(question)

    assert missing(query, idf={term: 1.0 for term in query.terms if term != "work"}) == parts


def test_the_rarest_comes_first_and_what_matters_little_is_not_named() -> None:
    four = {"creatin": 1.0, "sauna": 1.3, "sleep": 1.2, "caffein": 1.1}

    assert missing(make_query("creatine sauna sleep caffeine"), idf=four) == ("sauna", "sleep", "caffeine")
    assert missing(make_query("Do saunas build muscle?"), idf={"sauna": 0.1, "build": 1.0, "muscl": 3.0}) == ()
    assert missing_parts(make_query("sauna"), [], [], {"sauna": 1.0}, lambda _: True, POLICY) == ("sauna",)


def test_a_concept_that_no_study_is_about_is_named_once_unless_a_cited_text_mentions_it() -> None:
    query = make_query("Does a sauna build muscle?", unstudied=(make_concept("sauna"),))

    assert missing(query) == ("sauna",)
    assert missing(query, CITED, "They sat in a sauna.") == ()


@pytest.mark.parametrize(
    ("asked", "own", "parts"),
    [
        ({"sexes": (Sex.FEMALE,)}, {"sex": Sex.MALE}, ("women",)),
        ({"sexes": (Sex.FEMALE,)}, {"sex": Sex.BOTH}, ()),
        ({"sexes": (Sex.FEMALE,)}, {"sex": Sex.FEMALE}, ()),
        ({"age_groups": (AgeGroup.OLDER_ADULTS,)}, {"age_group": AgeGroup.ADULTS}, ("older adults",)),
        ({"age_groups": (AgeGroup.OLDER_ADULTS,)}, {"age_group": AgeGroup.NOT_REPORTED}, ()),
        ({"training": (TrainingStatus.TRAINED,)}, {"training_status": TrainingStatus.UNTRAINED}, ("trained people",)),
        ({}, {}, ()),
    ],
)
def test_people_asked_about_whom_no_cited_study_includes_are_missing(asked, own, parts) -> None:  # type: ignore[no-untyped-def]
    query = make_query("Do weekly sets build muscle?", population=Population(**asked))

    assert missing(query, **own) == parts


@pytest.mark.parametrize(
    ("chance", "score", "label"),
    [
        (0.0, 0, "low"), (0.444, 44, "low"), (0.45, 45, "medium"), (0.694, 69, "medium"), (0.696, 70, "high"), (1.0, 100, "high"),
    ],
)  # fmt: skip
def test_the_confidence_is_the_chance_in_a_hundred(chance: float, score: int, label: str) -> None:
    found = confidence.assess(chance, {"leader_question_cosine": 0.0, "likely": 1.0}, (), "lead-1", POLICY)

    assert (found.score, found.label, found.calibration) == (score, label, "lead-1")


@pytest.mark.parametrize(
    ("cosine", "likely", "parts", "reason"),
    [
        (0.8, 1, (), "a curated question asks the same"),
        (0.0, 0, (), "no study stands out"),
        (0.0, 1, (), "one study stands out"),
        (0.0, 3, (), "3 studies are likely to answer"),
        (0.0, 1, (), "the cited studies use the question's words"),
        (0.0, 1, ("sauna",), "some words of the question stand in no cited study"),
    ],
)
def test_the_confidence_says_what_it_rests_on(cosine: float, likely: int, parts: tuple[str, ...], reason: str) -> None:
    signals = {"leader_question_cosine": cosine, "likely": float(likely)}

    found = confidence.assess(0.5, signals, parts, "lead-1", POLICY)

    assert reason in found.reasons
    assert ("a curated question asks the same" in found.reasons) == (cosine > 0)
