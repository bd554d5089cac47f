"""What all people of a study have: told where nobody asked about it, never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qa_app.classic.health import find_conditions, find_unasked, tells_of

from corpus_app.records import Design
from qa_app.pipeline.attribution import attributed
from qa_app.pipeline.records import Sentence, SentenceKind, Span, Verdict
from tests.classic.values import make_candidate, make_concept, make_evidence, make_study

SARCOPENIA = make_concept("sarcopenia", "sarcopenic", "low muscle mass", "age-related loss of muscle", kind="condition")
OBESITY = make_concept("obesity", "obese", "overweight", kind="condition")
FRAILTY = make_concept("frailty", "frail", kind="condition")
DIABETES = make_concept("diabetes", "type 2 diabetes", "diabetic", kind="condition")
WOMEN = make_concept("women", kind="population")
CONCEPTS = (SARCOPENIA, OBESITY, FRAILTY, DIABETES, WOMEN)


@pytest.mark.parametrize(
    ("people", "expected"),
    [
        ("Community-dwelling adults with sarcopenia or low muscle mass, without major disease", ["sarcopenia"]),
        ("Obese women aged 60 years and older, with (n = 8) and without (n = 41) sarcopenia", ["obesity"]),
        ("Men and women with obesity and type 2 diabetes, not using insulin", ["obesity", "diabetes"]),
        ("Sedentary, healthy sarcopenic men", ["sarcopenia"]),
        ("Obese but otherwise healthy men", ["obesity"]),
        ("Sedentary, non-diabetic, obese women, classed as frail or non-frail", ["obesity"]),
        ("Overweight or obese adults, some with type 2 diabetes", ["obesity"]),
        ("Older or frail adults", []),
        ("Adults, healthy or with obesity", []),
        ("Mostly healthy adults; some with obesity", []),
        ("Older adults, including frail people", []),
        ("Adults with obesity, sarcopenia, both or neither", []),
        ("Obese women and healthy women", []),
        ("Women without obesity or diabetes", []),
        ("Adults at high risk of diabetes", []),
        ("People with diabetes and people without it", []),
        ("People doing training: obese adults, athletes", []),
        ("20% obese", []),
        ("Obese women, and lean women for comparison", []),
        ("Untrained women", []),
        ("", []),
    ],
)
def test_only_what_all_of_them_have_is_theirs(people: str, expected: list[str]) -> None:
    assert [condition.concept_id for condition in find_conditions(people, CONCEPTS)] == expected


@given(st.text(max_size=80))
def test_any_description_gives_conditions_that_it_names(people: str) -> None:
    assert all(condition in CONCEPTS for condition in find_conditions(f"{people} obese", CONCEPTS))


@pytest.mark.parametrize(
    ("question", "design", "is_told"),
    [
        ("does lifting help older people?", Design.META_ANALYSIS, True),
        ("does lifting help older people?", Design.RANDOMIZED_CONTROLLED_TRIAL, True),
        ("does lifting help sarcopenic people?", Design.META_ANALYSIS, False),
        ("does it stop age-related loss of muscle?", Design.META_ANALYSIS, False),
        ("does lifting help older people?", Design.NARRATIVE_REVIEW, False),
        ("does lifting help older people?", Design.POSITION_STAND, False),
    ],
)
def test_it_is_told_where_the_question_names_nothing_of_it_and_a_study_is_of_its_own_people(
    question: str, design: Design, is_told: bool
) -> None:
    study = make_study("A", population="Older adults with sarcopenia", design=design)

    assert find_unasked([study], question, CONCEPTS) == ({"A": (SARCOPENIA,)} if is_told else {})


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("In sarcopenic men strength rose.", True),
        ("With low muscle mass strength rose.", True),
        ("Age-related loss of muscle was less.", False),
        ("Strength rose.", False),
    ],
)
def test_a_text_tells_of_it_by_a_single_word_or_as_the_description_does(text: str, is_told: bool) -> None:
    assert tells_of(text, (SARCOPENIA,), "Older adults with low muscle mass") is is_told


def test_a_quotation_says_what_its_people_have_once_in_a_row() -> None:
    study = make_study(
        "A", authors=("Grgic J",), year=2018, design=Design.META_ANALYSIS, population="Obese adults with diabetes"
    )
    evidence = make_evidence(make_candidate(study=study), question="does lifting help?")
    evidence = type(evidence)(
        evidence.question, evidence.understanding, evidence.passages,
        conditions=find_unasked([study], "does lifting help?", CONCEPTS),
    )  # fmt: skip

    def told(*texts: str) -> list[str]:
        quotes = [
            Sentence(t, (), Verdict.VERBATIM, "high", SentenceKind.QUOTE, (Span(1, 1, "A", 0, len(t), t),))
            for t in texts
        ]
        return [sentence.attribution for sentence in attributed(quotes, evidence)]

    assert told("Strength rose.", "Growth did.") == ["Grgic (meta-analysis, 2018; obesity, diabetes)", ""]
    assert told("Grgic saw strength rise.") == ["Meta-analysis, 2018; obesity, diabetes"]
    assert told("In diabetic men strength rose.") == ["Grgic (meta-analysis, 2018)"]
