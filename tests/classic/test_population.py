"""Whom a question is about and which numbers it names: whole words, ages as ages stand, no dose taken for an age."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import AgeGroup, Sex, TrainingStatus
from qa_app.classic.population import find_numbers, find_population, is_about, is_about_others, names_others
from qa_app.pipeline.records import Population
from tests.classic.test_query import understood
from tests.classic.values import make_study


@pytest.mark.parametrize(
    "said",
    [
        "is it ok over 65?",
        "my grandma wants to lift",
        "protein for people over sixty",
        "adults aged 70 and up",
        "adults ≥60 y: lean mass",
        "my 77 yr old gran",
        "my dad is 68 and lifts",
        "lifting in my sixties",
        "people in their late 70s",
        "muscle gain after 75",
        "creatine for seniors",
        "older healthy men",
        "postmenopausal women",
        "young vs old",
        "falls in care home residents",
        "for someone of 70 who needs to lose weight",
        "a person of seventy",
        "men of sixty",
        "a woman of 72 who lifts",
        "a woman of 66 doing weights",
        "my dad of 78 lifts weights",
        "an old bloke of 70 wanting bigger arms",
        "do old blokes get anything from weights?",
        "can lifting help my dad, hes 70",
        "creatine for my mum, shes 68",
        "am i too old to start lifting?",
        "nobody is too old for weights",
        "aged between 60 and 75",
        "training in nursing homes",
    ],
)
def test_older_people_are_recognised(said: str) -> None:
    assert find_population(said).age_groups[0] is AgeGroup.OLDER_ADULTS or "young" in said
    assert AgeGroup.OLDER_ADULTS in find_population(said).age_groups


@pytest.mark.parametrize(
    "said",
    [
        "bench over 60 kg",
        "train at 60% of 1rm",
        "is lifting at 60 or 80% of 1rm better?",
        "sets at 60, 70 and 80% of 1rm",
        "isokinetic strength at 60°/s",
        "at 70 ± 5% of the maximum",
        "over 60 articles were read",
        "men of 70 kg",
        "participants of 64 studies",
        "a population of 60 athletes",
        "a woman of 70 kilograms",
        "a man of 80 kg wanting bigger arms",
        "my wife of 60 stone",
        "a man of 80 or 90 kilos",
        "the lady of 60 marathons",
        "my friend of 60 cigarettes a day",
        "his friend of 60 years says",
        "men of 64 clinics",
        "after 75 minutes of cardio",
        "rest 60s or 90s?",
        "over 65 to 70 reps",
        "a 16 week plan",
        "is the old plan better?",
        "older trials",
        "beyond 50 studies",
        "goldman's rule",
        "will the seniority of a coach matter?",
        "i am a care home nurse",
        "should i rest home after training?",
    ],
)
def test_a_dose_a_load_or_a_part_of_a_word_is_no_age(said: str) -> None:
    assert find_population(said).age_groups == ()


@pytest.mark.parametrize(
    ("years", "groups"),
    [
        (12, (AgeGroup.YOUTH,)),
        (17, (AgeGroup.YOUTH,)),
        (18, (AgeGroup.ADULTS,)),
        (49, (AgeGroup.ADULTS,)),
        (50, (AgeGroup.OLDER_ADULTS, AgeGroup.ADULTS)),
        (60, (AgeGroup.OLDER_ADULTS,)),
        (99, (AgeGroup.OLDER_ADULTS,)),
    ],
)
def test_years_of_age_give_the_groups_that_studies_count_them_in(years: int, groups: tuple[AgeGroup, ...]) -> None:
    for said in (f"a {years} year old", f"{years}-year-olds", f"aged {years}", f"i am {years}"):
        assert find_population(said).age_groups == groups


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("total newbie here", TrainingStatus.UNTRAINED),
        ("untrained men", TrainingStatus.UNTRAINED),
        ("i'm new to the gym", TrainingStatus.UNTRAINED),
        ("he just started lifting", TrainingStatus.UNTRAINED),
        ("in resistance-trained men", TrainingStatus.TRAINED),
        ("experienced lifters", TrainingStatus.TRAINED),
        ("i already lift", TrainingStatus.TRAINED),
        ("my client has lifted for five years", TrainingStatus.TRAINED),
        ("i've trained about 15 years now", TrainingStatus.TRAINED),
        ("any good for swimmers", TrainingStatus.ATHLETES),
        ("recreationally active adults", TrainingStatus.RECREATIONALLY_TRAINED),
    ],
)
def test_training_is_recognised_in_lay_words(said: str, status: TrainingStatus) -> None:
    assert find_population(said).training == (status,)


def test_both_sides_of_a_comparison_are_named() -> None:
    assert find_population("trained and untrained people").training == (
        TrainingStatus.UNTRAINED,
        TrainingStatus.TRAINED,
    )
    assert find_population("women or just guys").sexes == (Sex.FEMALE, Sex.MALE)
    assert find_population("can my mum lift").sexes == (Sex.FEMALE,)


@pytest.mark.parametrize(
    "said", ["how often is a muscle trained?", "women's day", "you guys rock", "maleficent", "show me"]
)
def test_a_verb_or_a_part_of_a_word_names_nobody(said: str) -> None:
    found = find_population(said)

    assert found.training == ()
    assert found.sexes == ((Sex.FEMALE,) if said.startswith("women") else ())


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("12 to 20 sets, 1.6 g/kg/d", ["12", "20 sets", "1.6 g/kg/d"]),
        ("1,5 g or 2,000 kcal", ["1.5 g", "2000 kcal"]),
        ("more than 10 secs, 30-minute window", ["10 secs", "30 minute"]),
        ("the 2017 review found 41%", ["2017", "41 %"]),
        ("type 2 diabetes, omega-3, vo2max, 1rm and hba1c", []),
        ("my dad is 68", []),
        ("8-12rm and 8-12rm", ["8", "12 rm"]),
    ],
)
def test_numbers_are_read_with_their_units(said: str, numbers: list[str]) -> None:
    assert [str(number) for number in find_numbers(said)] == numbers


def test_the_understanding_holds_both() -> None:
    understanding = understood("How much protein should my GRANDMA eat, 1.2 g/kg?")

    assert understanding.population.age_groups == (AgeGroup.OLDER_ADULTS,)
    assert [str(number) for number in understanding.numbers] == ["1.2 g/kg"]


@given(st.text(max_size=200))
def test_any_text_can_be_read(said: str) -> None:
    found = find_population(said)

    assert len(set(found.age_groups)) == len(found.age_groups)
    assert all(number.value for number in find_numbers(said))


@given(
    st.sampled_from(list(AgeGroup)),
    st.sampled_from(list(Sex)),
    st.lists(st.sampled_from([AgeGroup.YOUTH, AgeGroup.ADULTS, AgeGroup.OLDER_ADULTS]), unique=True, max_size=2),
    st.lists(st.sampled_from([Sex.FEMALE, Sex.MALE]), unique=True, max_size=2),
)
def test_a_study_is_never_about_those_asked_and_about_others(
    age: AgeGroup, sex: Sex, ages: list[AgeGroup], sexes: list[Sex]
) -> None:
    study, asked = make_study(age_group=age, sex=sex), Population(tuple(ages), (), tuple(sexes))

    assert not (is_about(study, asked) and is_about_others(study, asked))
    assert is_about(study, Population())
    assert is_about(study, asked) or age not in ages or sex not in sexes


def test_a_study_of_all_ages_is_about_several_groups_and_about_none_alone() -> None:
    study = make_study(age_group=AgeGroup.MIXED, sex=Sex.BOTH)

    assert is_about(study, Population((AgeGroup.ADULTS, AgeGroup.OLDER_ADULTS), (), (Sex.FEMALE, Sex.MALE)))
    assert not is_about(study, Population((AgeGroup.OLDER_ADULTS,)))
    assert not is_about(study, Population(sexes=(Sex.FEMALE,)))


@pytest.mark.parametrize(
    ("said", "is_age"),
    [
        ("68 and lazy, what is enough?", True),
        ("52, menopause, big belly", True),
        ("40 and 60 % loads", False),
        ("30, 60 or 90 s of rest", False),
    ],
)
def test_a_number_that_opens_the_question_by_itself_is_an_age(said: str, is_age: bool) -> None:
    assert bool(find_population(said).age_groups) is is_age


@pytest.mark.parametrize("said", ["i've got 2 kids and one free day", "she has two young children", "having kids"])
def test_whoever_has_children_does_not_ask_about_them(said: str) -> None:
    assert AgeGroup.YOUTH not in find_population(said).age_groups


@pytest.mark.parametrize("said", ["younger and older adults", "young vs old", "younger than older people"])
def test_young_and_old_are_both_named(said: str) -> None:
    assert set(find_population(said).age_groups) == {AgeGroup.ADULTS, AgeGroup.OLDER_ADULTS}


@pytest.mark.parametrize(
    "said",
    [
        "my mum is 5 foot 2 and has weak bones",
        "my dad is 14 stone and diabetic",
        "i'm 6 foot 2",
        "i'm 5'4 and small",
        "i have a 12 year old hip replacement, can i squat",
        "my 10 year old knee injury",
        "mother of three kids",
        "i've three kids, can lifting help my bones",
        "i want to be able to lift my kids",
        "i've lifted since childhood",
        "is strength training safe for high school seniors",
        "are weights ok for seniors on the football team",
        "im 5 11 and 80kg",
        "10 yr old torn acl",
        "i've lifted since i was a kid",
        "i'm a senior in college",
    ],
)
def test_height_weight_old_injuries_and_ones_children_are_no_age(said: str) -> None:
    assert find_population(said).age_groups == ()


@pytest.mark.parametrize(
    ("said", "group"),
    [
        ("my 10 year old son", AgeGroup.YOUTH),
        ("my kids are 12 and 14, can they lift", AgeGroup.YOUTH),
        ("im 12, can i lift", AgeGroup.YOUTH),
        ("are weights ok for seniors", AgeGroup.OLDER_ADULTS),
        ("my gran is 84 and frail", AgeGroup.OLDER_ADULTS),
        ("my 70 year old mum had surgery, can she lift", AgeGroup.OLDER_ADULTS),
        ("exercise for a 68 year old after knee replacement", AgeGroup.OLDER_ADULTS),
        ("what is the best 60 year old workout program", AgeGroup.OLDER_ADULTS),
        ("a 70 year old hip replacement patient", AgeGroup.OLDER_ADULTS),
        ("can my 12 year old with a fracture lift", AgeGroup.YOUTH),
        ("i have two teenagers who want to lift", AgeGroup.YOUTH),
    ],
)
def test_and_what_is_an_age_still_is(said: str, group: AgeGroup) -> None:
    assert find_population(said).age_groups == (group,)


@pytest.mark.parametrize(
    ("said", "ages"),
    [
        ("does it work for girls?", (AgeGroup.YOUTH, AgeGroup.ADULTS)),
        ("does it work for 14 year old girls?", (AgeGroup.YOUTH,)),
        ("does it work for teenage boys?", (AgeGroup.YOUTH,)),
    ],
)
def test_girls_and_boys_are_of_any_age_unless_it_is_told(said: str, ages: tuple[AgeGroup, ...]) -> None:
    assert find_population(said).age_groups == ages


def test_a_sentence_on_others_names_none_of_those_asked_about() -> None:
    asked = find_population("does it help women after the menopause?")

    assert names_others("for children and adolescents jumping is advised", asked)
    assert names_others("men gained more", asked)
    assert not names_others("older women gained as much as young women", asked)
    assert not names_others("bone mass rose", asked)
