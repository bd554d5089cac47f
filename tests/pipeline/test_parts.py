"""Parts: of two things asked about at once, the one that nothing cited speaks of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus_app.records import AgeGroup, Concept, Sex
from qa_app.pipeline import parts
from qa_app.pipeline.records import Population, Sentence, SentenceKind, Understanding, Verdict
from tests.pipeline.values import make_study


def concept(concept_id: str, kind: str = "outcome") -> Concept:
    return Concept(concept_id, concept_id.replace("-", " "), kind, (), "", ())


def understood(*concepts: Concept, population: Population | None = None) -> Understanding:
    return Understanding((), (), concepts, None, (), population=population or Population())


def said(text: str) -> Sentence:
    return Sentence(text, (1,), Verdict.VERBATIM, "high", SentenceKind.QUOTE, ())


STUDY = replace(make_study(), concepts=("creatine",))
GAINED = [said("Creatine raised leg strength.")]


def test_the_outcome_that_no_sentence_names_is_open() -> None:
    asked = understood(concept("leg-strength"), concept("sleep-quality"))

    missing = parts.find_open("creatine for leg strength and sleep quality?", asked, sentences=GAINED, studies=[STUDY])

    assert missing == ("sleep quality",)
    assert "sleep quality" in parts.in_words(missing)


def test_the_intervention_that_no_sentence_names_is_open() -> None:
    asked = understood(concept("creatine", "nutrient"), concept("caffeine", "nutrient"))

    assert parts.find_open("creatine or caffeine?", asked, sentences=GAINED, studies=[STUDY]) == ("caffeine",)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("creatine for sleep quality?", ["sleep-quality"]),  # one thing: answered or not, there is no other part
        ("sleep quality and mood?", ["sleep-quality", "mood"]),  # neither is spoken of: that is for refusing to say
        ("leg strength, whatever the sleep quality?", ["leg-strength", "sleep-quality"]),  # they are not joined
        ("leg strength and creatine?", ["leg-strength", "creatine"]),  # the study is about it
    ],
)
def test_nothing_is_open_where_not_two_things_are_asked(question: str, names: list[str]) -> None:
    asked = understood(*(concept(name) for name in names))

    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY]) == ()


def test_people_whom_no_cited_study_holds_are_open() -> None:
    asked = understood(population=Population(sexes=(Sex.FEMALE, Sex.MALE)))
    men, both = replace(make_study(), sex=Sex.MALE), replace(make_study(), sex=Sex.BOTH)

    assert parts.find_open("men and women?", asked, sentences=GAINED, studies=[men]) == ("women",)
    assert parts.find_open("men and women?", asked, sentences=GAINED, studies=[men, both]) == ()


def test_an_age_that_lies_in_two_groups_is_no_question_about_both() -> None:
    asked = understood(population=Population(age_groups=(AgeGroup.OLDER_ADULTS, AgeGroup.ADULTS)))
    old = replace(make_study(), age_group=AgeGroup.OLDER_ADULTS)

    assert parts.find_open("bone and muscle over 55?", asked, sentences=GAINED, studies=[old]) == ()
    assert parts.find_open("young and old?", asked, sentences=GAINED, studies=[old]) == ("younger adults",)


@pytest.mark.parametrize(
    "question", ["is creatine better than caffeine?", "does caffeine help as much for strength as creatine?"]
)
def test_a_comparison_joins_what_it_compares(question: str) -> None:
    asked = understood(concept("creatine", "nutrient"), concept("caffeine", "nutrient"))

    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY]) == ("caffeine",)
