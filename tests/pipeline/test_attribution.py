"""Who says it: named where a quotation does not name its study and the one before is of another, never put into its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import AgeGroup, Design, Sex, TrainingStatus
from qa_app.pipeline.attribution import (
    attributed,
    attribution,
    describe,
    differing_people,
    names_its_study,
    spoken,
    surname,
)
from qa_app.pipeline.query import Population
from qa_app.pipeline.records import Sentence, SentenceKind, Span, Verdict
from tests.pipeline.values import make_candidate, make_evidence, make_study

STUDIES = (
    make_study("A", authors=("Grgic J", "Schoenfeld BJ", "Davies TB"), year=2018, design=Design.META_ANALYSIS),
    make_study("B", authors=("Csapo R", "Alegre LM"), year=2016, sex=Sex.BOTH),
    make_study("C", authors=(), year=2023, sex=Sex.BOTH),
)
NOBODY = Population()
OLDER, WOMEN = Population(age_groups=(AgeGroup.OLDER_ADULTS,)), Population(sexes=(Sex.FEMALE,))
MEN_AND_WOMEN = Population(sexes=(Sex.FEMALE, Sex.MALE))
YOUTH = Population(age_groups=(AgeGroup.YOUTH,))
ADULTS = Population(age_groups=(AgeGroup.ADULTS, AgeGroup.OLDER_ADULTS))
BEGINNERS = Population(training=(TrainingStatus.UNTRAINED,))
TRAINED = Population(training=(TrainingStatus.TRAINED, TrainingStatus.ATHLETES))


def attributed_to(sentences: list[Sentence], population: Population = MEN_AND_WOMEN) -> tuple[Sentence, ...]:
    candidates = (make_candidate(study=study) for study in STUDIES)
    return attributed(sentences, make_evidence(*candidates, population=population))


def quoting(study: str, text: str = "Strength rose.", kind: SentenceKind = SentenceKind.QUOTE) -> Sentence:
    return Sentence(text, (), Verdict.VERBATIM, "high", kind, (Span(1, 1, study, 0, len(text), text),))


def test_the_family_name_is_found_in_every_form() -> None:
    families = {
        "Schoenfeld BJ": "Schoenfeld", "dos Santos EEP": "dos Santos", "Schoenfeld, Brad J.": "Schoenfeld",
        "B. J. Schoenfeld": "Schoenfeld", "Brad Schoenfeld": "Schoenfeld", "O'Brien K": "O'Brien",
        "Hernández-Belmonte A": "Hernández-Belmonte", "WHO": "WHO", "": "",
        "American College of Sports Medicine": "American College of Sports Medicine",
    }  # fmt: skip

    assert {author: surname(author) for author in families} == families


@pytest.mark.parametrize(
    ("changes", "people", "name"),
    [
        ({"authors": ("Grgic J",)}, "", "Grgic (randomised trial, 2020)"),
        ({"authors": ("Grgic J",)}, "men", "Grgic (randomised trial, 2020; men)"),
        ({"authors": ("Grgic J", "Csapo R")}, "", "Grgic and Csapo (randomised trial, 2020)"),
        ({"authors": ("Aber B", "Ceder D", "Esche F"), "year": None}, "", "Aber and colleagues (randomised trial)"),
        ({"authors": ("Grgic J",), "design": Design.OTHER}, "", "Grgic (2020)"),
        ({"authors": ("Grgic J",), "design": Design.OTHER, "year": None}, "", "Grgic"),
        ({"authors": (), "design": Design.POSITION_STAND}, "men", "Position stand, 2020; men"),
        ({"authors": (), "design": Design.OTHER, "year": None}, "men", "A study (men)"),
        ({"authors": (), "design": Design.OTHER, "year": None}, "", ""),
    ],
)
def test_a_study_is_described_by_its_authors_design_year_and_people(
    changes: dict[str, object], people: str, name: str
) -> None:
    assert describe(make_study("A", **changes), people) == name


def test_a_text_names_its_study_by_first_author_or_by_its_year() -> None:
    for text, is_named in (
        ("Grgic and colleagues found no difference.", True), ("In the review by GRGIC strength rose.", True),
        ("The 2018 frequency meta-analysis found a small effect.", True), ("The 2016 meta-analysis found it.", False),
        ("Trials were searched up to April 2018 and pooled.", False), ("In 22 studies strength rose more.", False),
        ("Schoenfeld and colleagues are not its first authors.", False),
    ):  # fmt: skip
        assert names_its_study(text, STUDIES[0]) is is_named, text


def test_a_change_of_study_is_named() -> None:
    found = attributed_to([quoting("A"), quoting("A"), quoting("B"), quoting("A", "Grgic found it."), quoting("C")])

    assert [s.attribution for s in found] == [
        "Grgic and colleagues (meta-analysis, 2018)",
        "",
        "Csapo and Alegre (randomised trial, 2016)",
        "",
        "Randomised trial, 2023",
    ]


@pytest.mark.parametrize(
    ("asked", "age", "sex", "people"),
    [
        (OLDER, AgeGroup.MIXED, Sex.BOTH, "mixed ages"),
        (OLDER, AgeGroup.ADULTS, Sex.BOTH, "younger adults"),
        (OLDER, AgeGroup.OLDER_ADULTS, Sex.FEMALE, "women"),
        (OLDER, AgeGroup.NOT_REPORTED, Sex.BOTH, ""),
        (YOUTH, AgeGroup.ADULTS, Sex.BOTH, "adults"),
        (ADULTS, AgeGroup.MIXED, Sex.BOTH, ""),
        (ADULTS, AgeGroup.YOUTH, Sex.BOTH, "children and adolescents"),
        (WOMEN, AgeGroup.MIXED, Sex.BOTH, ""),
        (WOMEN, AgeGroup.MIXED, Sex.MALE, "men"),
        (MEN_AND_WOMEN, AgeGroup.MIXED, Sex.MALE, ""),
        (BEGINNERS, AgeGroup.OLDER_ADULTS, Sex.FEMALE, "older women"),
        (NOBODY, AgeGroup.YOUTH, Sex.FEMALE, "girls"),
        (NOBODY, AgeGroup.ADULTS, Sex.MALE, "men"),
        (NOBODY, AgeGroup.ADULTS, Sex.BOTH, ""),
    ],
)  # fmt: skip
def test_the_people_of_a_study_are_named_where_others_were_asked_about(
    asked: Population, age: AgeGroup, sex: Sex, people: str
) -> None:
    study = make_study("A", authors=("Grgic J",), year=2018, age_group=age, sex=sex)

    assert differing_people(study, asked) == people
    name = f"Grgic (randomised trial, 2018{'; ' * bool(people)}{people})"
    assert attribution("Strength rose.", study, asked) == name
    assert attribution("Grgic saw strength rise.", study, asked) == (name if people else "")


def test_the_training_of_people_is_named_where_others_were_asked_about_and_nothing_twice() -> None:
    untrained_too = Population(training=(TrainingStatus.UNTRAINED, TrainingStatus.TRAINED))
    for asked, training, people in (
        (TRAINED, TrainingStatus.MIXED, "trained and untrained people"), (TRAINED, TrainingStatus.ATHLETES, ""),
        (TRAINED, TrainingStatus.NOT_REPORTED, ""), (BEGINNERS, TrainingStatus.TRAINED, "trained people"),
        (BEGINNERS, TrainingStatus.RECREATIONALLY_TRAINED, "recreationally trained people"),
        (untrained_too, TrainingStatus.MIXED, ""), (NOBODY, TrainingStatus.UNTRAINED, ""),
    ):  # fmt: skip
        study = make_study("A", sex=Sex.BOTH, training_status=training)
        assert differing_people(study, asked) == people
        assert differing_people(study, asked, "Resistance training raised strength.") == people

    young_men = make_study("A", age_group=AgeGroup.ADULTS, sex=Sex.MALE)
    older_women = Population(age_groups=(AgeGroup.OLDER_ADULTS,), sexes=(Sex.FEMALE,))
    for text, people in (
        ("Strength rose by 5 kg.", "younger adults, men"), ("The men gained 5 kg.", "younger adults"),
        ("Younger adults gained 5 kg.", "men"), ("In older adults strength rose.", "younger adults, men"),
        ("Men among the younger adults gained 5 kg.", ""),
    ):  # fmt: skip
        assert differing_people(young_men, older_women, text) == people


def test_only_quotations_of_one_study_are_attributed() -> None:
    near = quoting("A", kind=SentenceKind.NEAR_QUOTE)
    support = (*quoting("A").support, *quoting("B").support)
    both = Sentence("Both rose.", (), Verdict.VERBATIM, "high", SentenceKind.QUOTE, support)

    assert [s.attribution for s in attributed_to([near, both, quoting("unknown")])] == ["", "", ""]
    assert spoken("It rose.", "Grgic (2018)").endswith("It rose.")
    assert spoken("It rose.", None) == spoken("It rose.", "") == "It rose."


@given(st.lists(st.sampled_from([quoting(s, t) for s in "ABC" for t in ("It rose.", "Csapo found it.")]), max_size=8))
def test_nothing_but_the_attribution_changes_and_what_comes_later_does_not_matter(quoted: list[Sentence]) -> None:
    whole = attributed_to(quoted)

    assert [(s.text, s.support) for s in whole] == [(s.text, s.support) for s in quoted]
    for end in range(len(quoted) + 1):
        assert attributed_to(quoted[:end]) == whole[:end]
