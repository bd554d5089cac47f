"""Who says it: told where a quotation does not name its study and the one before is of another, never put into its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qa_app.classic.population import SPECIAL_AGES, find_population, is_about

from corpus_app.records import AgeGroup, Design, Sex, TrainingStatus
from qa_app.pipeline.attribution import attributed, attribution, besides, called, names_its_study, spoken, surname
from qa_app.pipeline.records import Population, Sentence, SentenceKind, Span, Verdict
from tests.classic.values import make_candidate, make_evidence, make_study

STUDIES = (
    make_study("A", authors=("Grgic J", "Schoenfeld BJ", "Davies TB"), year=2018, design=Design.META_ANALYSIS),
    make_study("B", authors=("Csapo R", "Alegre LM"), year=2016),
    make_study("C", authors=(), year=2023),
)


def told_of(sentences: list[Sentence], asked: str = "is it so?") -> tuple[Sentence, ...]:
    return attributed(sentences, make_evidence(*(make_candidate(study=study) for study in STUDIES), question=asked))


def quoting(study: str, text: str = "Strength rose.", kind: SentenceKind = SentenceKind.QUOTE) -> Sentence:
    return Sentence(text, (), Verdict.VERBATIM, "high", kind, (Span(1, 1, study, 0, len(text), text),))


@pytest.mark.parametrize(
    ("author", "family"),
    [
        ("Schoenfeld BJ", "Schoenfeld"),
        ("dos Santos EEP", "dos Santos"),
        ("Orssatto LBR", "Orssatto"),
        ("Schoenfeld, Brad J.", "Schoenfeld"),
        ("B. J. Schoenfeld", "Schoenfeld"),
        ("Brad Schoenfeld", "Schoenfeld"),
        ("O'Brien K", "O'Brien"),
        ("Hernández-Belmonte A", "Hernández-Belmonte"),
        ("American College of Sports Medicine", "American College of Sports Medicine"),
        ("WHO", "WHO"),
        ("", ""),
    ],
)
def test_the_family_name_is_found_in_every_form(author: str, family: str) -> None:
    assert surname(author) == family


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"authors": ("Grgic J",)}, "Grgic (randomised trial, 2020)"),
        ({"authors": ("Grgic J", "Csapo R")}, "Grgic and Csapo (randomised trial, 2020)"),
        ({"authors": ("Aber B", "Ceder D", "Esche F"), "year": None}, "Aber and colleagues (randomised trial)"),
        ({"authors": ("Grgic J",), "design": Design.OTHER}, "Grgic (2020)"),
        ({"authors": ("Grgic J",), "design": Design.OTHER, "year": None}, "Grgic"),
        ({"authors": (), "design": Design.POSITION_STAND}, "Position stand, 2020"),
        ({"authors": (), "design": Design.OTHER, "year": None}, ""),
    ],
)
def test_a_study_is_called_by_its_people_design_and_year(changes: dict[str, object], name: str) -> None:
    assert called(make_study("A", **changes)) == name


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Grgic and colleagues found no difference.", True),
        ("In the review by GRGIC strength rose.", True),
        ("The 2018 frequency meta-analysis found a small effect.", True),
        ("Trials were searched up to April 2018 and pooled.", False),
        ("The 2016 meta-analysis found it.", False),
        ("Schoenfeld and colleagues are not its first authors.", False),
        ("In 22 studies strength rose more.", False),
    ],
)
def test_a_text_names_its_study_by_first_author_or_by_its_year(text: str, is_named: bool) -> None:
    assert names_its_study(text, STUDIES[0]) is is_named


def test_a_change_of_study_is_told() -> None:
    told = told_of([quoting("A"), quoting("A"), quoting("B"), quoting("A", "Grgic found it."), quoting("C")])

    assert [s.attribution for s in told] == [
        "Grgic and colleagues (meta-analysis, 2018)",
        "",
        "Csapo and Alegre (randomised trial, 2016)",
        "",
        "Randomised trial, 2023",
    ]


@pytest.mark.parametrize(
    ("asked", "text", "is_told"),
    [
        ("the newest on strength", "Grgic found it.", True),
        ("the latest evidence", "Grgic found it in 2018.", False),
        ("is it so?", "Grgic found it.", False),
    ],
)
def test_where_the_newest_is_asked_for_the_year_is_told(asked: str, text: str, is_told: bool) -> None:
    assert bool(told_of([quoting("A", text)], asked)[0].attribution) is is_told


@pytest.mark.parametrize(
    ("asked", "age", "sex", "people"),
    [
        ("in older adults", AgeGroup.MIXED, Sex.BOTH, "mixed ages"),
        ("in older adults", AgeGroup.ADULTS, Sex.BOTH, "younger adults"),
        ("in older adults", AgeGroup.OLDER_ADULTS, Sex.BOTH, ""),
        ("in older adults", AgeGroup.NOT_REPORTED, Sex.BOTH, ""),
        ("in children", AgeGroup.ADULTS, Sex.BOTH, "adults"),
        ("in older women", AgeGroup.MIXED, Sex.MALE, "mixed ages, men"),
        ("in women", AgeGroup.MIXED, Sex.BOTH, ""),
        ("in women", AgeGroup.MIXED, Sex.MALE, "men"),
        ("in men and women", AgeGroup.MIXED, Sex.BOTH, ""),
        ("in men and women", AgeGroup.MIXED, Sex.MALE, ""),
        ("in young and older people", AgeGroup.MIXED, Sex.BOTH, ""),
        ("in younger and older adults", AgeGroup.MIXED, Sex.BOTH, ""),
        ("in teenagers and older adults", AgeGroup.MIXED, Sex.BOTH, "mixed ages"),
        ("in teenagers and older adults", AgeGroup.ADULTS, Sex.BOTH, "adults"),
        ("got 2 kids and one free day", AgeGroup.ADULTS, Sex.BOTH, ""),
        ("does it work?", AgeGroup.YOUTH, Sex.FEMALE, "girls"),
        ("does it work?", AgeGroup.OLDER_ADULTS, Sex.BOTH, "older adults"),
        ("does it work?", AgeGroup.ADULTS, Sex.MALE, "men"),
        ("does it work?", AgeGroup.ADULTS, Sex.BOTH, ""),
        ("does it work?", AgeGroup.MIXED, Sex.NOT_REPORTED, ""),
    ],
)
def test_the_people_of_a_study_are_told_where_others_were_asked_about(
    asked: str, age: AgeGroup, sex: Sex, people: str
) -> None:
    study = make_study("A", authors=("Grgic J",), year=2018, age_group=age, sex=sex)
    population = find_population(asked)

    def told(text: str) -> str:
        return attribution(text, study, asked=asked, population=population)

    assert besides(study, population) == people
    assert told("Strength rose.") == f"Grgic (randomised trial, 2018{'; ' * bool(people)}{people})"
    assert told("Grgic saw strength rise.") == (f"Randomised trial, 2018; {people}" if people else "")
    assert told("Grgic saw the strength of older women rise.") == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Women gained 5 kg.", "younger adults"),
        ("Untrained people gained 5 kg.", "younger adults, men"),
        ("In older adults strength rose.", "men"),
        ("Older women gained 5 kg.", ""),
    ],
)
def test_what_a_text_says_of_its_people_is_not_told_again(text: str, told: str) -> None:
    study = make_study("A", age_group=AgeGroup.ADULTS, sex=Sex.MALE)

    assert besides(study, find_population("in older women"), told=find_population(text.lower())) == told


def test_the_people_of_a_study_are_told_once_for_all_that_is_quoted_of_it_in_a_row() -> None:
    study = make_study("A", authors=("Grgic J",), year=2018, age_group=AgeGroup.MIXED)
    evidence = make_evidence(make_candidate(study=study), question="does it work in older adults?")
    texts = ("In older adults Grgic saw strength rise.", "Strength rose by 8 kg.", "Growth was alike.")

    told = [s.attribution for s in attributed([quoting("A", text) for text in texts], evidence)]

    assert told == ["", "Grgic (randomised trial, 2018; mixed ages)", ""]


def test_an_author_whom_the_text_names_is_not_named_twice() -> None:
    named, asked = "Grgic and colleagues saw strength rise.", "What is the newest study on strength?"

    (sentence,) = told_of([quoting("A", named)], asked)

    assert sentence.attribution == "Meta-analysis, 2018"
    assert told_of([quoting("A")], asked)[0].attribution == "Grgic and colleagues (meta-analysis, 2018)"
    assert called(make_study(authors=("Grgic J",), design=Design.OTHER), is_told=True) == "Grgic (2020)"


def test_nor_is_one_whom_a_later_quotation_names() -> None:
    study = make_study("A", authors=("Grgic J",), year=2018, age_group=AgeGroup.MIXED)
    evidence = make_evidence(make_candidate(study=study), question="does it work in older adults?")

    told = attributed([quoting("A", "In older adults strength rose."), quoting("A", "Grgic saw more.")], evidence)

    assert [sentence.attribution for sentence in told][1:] == ["Randomised trial, 2018; mixed ages"]


def test_a_study_without_a_name_is_not_called_by_its_people() -> None:
    study = make_study("A", authors=(), design=Design.OTHER, year=None)

    assert called(study, "men") == "A study (men)"
    assert called(study) == ""


@given(
    st.builds(Population, age_groups=st.lists(st.sampled_from([*AgeGroup][:3]), unique=True).map(tuple), training=st.just(()), sexes=st.lists(st.sampled_from([*Sex][:2]), unique=True).map(tuple)),
    st.sampled_from(AgeGroup),
    st.sampled_from(Sex),
)  # fmt: skip
def test_of_those_who_were_asked_about_nothing_is_told(asked: Population, age: AgeGroup, sex: Sex) -> None:
    study = make_study("A", age_group=age, sex=sex)
    is_of_one_sex = bool(asked.age_groups) and not asked.sexes and sex in (Sex.FEMALE, Sex.MALE)
    is_without_children = age is AgeGroup.MIXED and AgeGroup.YOUTH in asked.age_groups
    is_of_no_age = not asked.age_groups and age in SPECIAL_AGES
    is_special = is_of_no_age or (not asked.sexes and sex in (Sex.FEMALE, Sex.MALE))

    is_news = is_of_one_sex or is_without_children or is_special or not is_about(study, asked)
    assert bool(besides(study, asked)) <= is_news
    assert not is_special or besides(study, asked)


def test_old_women_are_told_where_only_their_training_or_their_sex_was_named() -> None:
    study = make_study("A", age_group=AgeGroup.OLDER_ADULTS, sex=Sex.FEMALE)

    assert besides(study, find_population("in beginners")) == "older women"
    assert besides(study, find_population("in women")) == "older adults"


def test_what_a_text_tells_of_its_people_is_not_told_twice_where_nobody_was_named() -> None:
    study = make_study("A", age_group=AgeGroup.OLDER_ADULTS, sex=Sex.FEMALE)

    assert besides(study, Population(), told=find_population("in women")) == "older adults"
    assert besides(study, Population(), told=find_population("in older adults")) == "women"
    assert besides(study, Population(), told=find_population("in older women")) == ""


@pytest.mark.parametrize(
    ("question", "people"),
    [
        ("does it work in older adults?", "women"),
        ("does it work in older men and women?", ""),
        ("does it work in older women?", ""),
        ("does it work?", "older women"),
    ],
)
def test_that_only_one_sex_was_studied_is_told_where_an_age_is_asked_about(question: str, people: str) -> None:
    study = make_study("A", age_group=AgeGroup.OLDER_ADULTS, sex=Sex.FEMALE)

    assert besides(study, find_population(question)) == people


@pytest.mark.parametrize(
    ("asked", "training", "people"),
    [
        ("in cyclists", TrainingStatus.MIXED, "trained and untrained people"),
        ("in cyclists", TrainingStatus.UNTRAINED, "untrained people"),
        ("in cyclists", TrainingStatus.ATHLETES, ""),
        ("in cyclists", TrainingStatus.NOT_REPORTED, ""),
        ("for beginners", TrainingStatus.TRAINED, "trained people"),
        ("for beginners", TrainingStatus.RECREATIONALLY_TRAINED, "recreationally trained people"),
        ("in trained and untrained people", TrainingStatus.MIXED, ""),
        ("in trained and untrained people", TrainingStatus.TRAINED, ""),
        ("does it work?", TrainingStatus.UNTRAINED, ""),
    ],
)
def test_how_the_people_of_a_study_train_is_told_where_others_were_asked_about(
    asked: str, training: TrainingStatus, people: str
) -> None:
    study = make_study("A", authors=("Grgic J",), year=2018, training_status=training)
    population = find_population(asked)

    def told(text: str) -> str:
        return attribution(text, study, asked=asked, population=population)

    assert besides(study, population) == people
    assert told("Strength rose.") == f"Grgic (randomised trial, 2018{'; ' * bool(people)}{people})"
    assert told("Grgic saw the strength of untrained men rise.") == ""
    assert told("Grgic saw it rise whatever the training status.") == ""
    assert bool(told("Grgic did not report the training status of anybody.")) is bool(people)


def test_only_quotations_of_one_study_are_attributed() -> None:
    both = quoting("A", kind=SentenceKind.NEAR_QUOTE)
    two = Sentence(
        "Both rose.", (), Verdict.VERBATIM, "high", SentenceKind.QUOTE, (*quoting("A").support, *quoting("B").support)
    )

    assert [s.attribution for s in told_of([both, two, quoting("unknown")])] == ["", "", ""]


@given(st.lists(st.sampled_from([quoting(s, t) for s in "ABC" for t in ("It rose.", "Csapo found it.")]), max_size=8))
def test_nothing_but_the_attribution_changes_and_what_comes_later_does_not_matter(told: list[Sentence]) -> None:
    whole = told_of(told)

    assert [(s.text, s.support) for s in whole] == [(s.text, s.support) for s in told]
    for end in range(len(told) + 1):
        assert told_of(told[:end]) == whole[:end]


@given(st.text(), st.text(min_size=1))
def test_the_words_stay_whole_behind_the_name(text: str, name: str) -> None:
    assert spoken(text, name).endswith(text)
    assert spoken(text, None) == spoken(text, "") == text
