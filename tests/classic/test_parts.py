"""Parts: of two things asked about at once, the one that nothing cited speaks of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import AgeGroup, Concept, Sex, Study, TrainingStatus
from qa_app.classic import parts
from qa_app.classic.population import find_population
from qa_app.pipeline.records import Population, Sentence, SentenceKind, Understanding, Verdict
from tests.classic.values import make_candidate, make_evidence, make_study


def concept(concept_id: str, kind: str = "outcome") -> Concept:
    return Concept(concept_id, concept_id.replace("-", " "), kind, (), "", ())


def understood(*concepts: Concept, population: Population | None = None) -> Understanding:
    return Understanding((), (), concepts, None, (), population=population or Population())


def said(text: str) -> Sentence:
    return Sentence(text, (1,), Verdict.VERBATIM, "high", SentenceKind.QUOTE, ())


STUDY = replace(make_study(sex=Sex.MALE), concepts=("creatine",))
GAINED = [said("Creatine raised leg strength.")]


def taking(*people: tuple[AgeGroup, Sex], **changes: object) -> list[Study]:
    return [make_study(f"T{n}", age_group=age, sex=sex, **changes) for n, (age, sex) in enumerate(people)]


OLD, GROWN, YOUNG = AgeGroup.OLDER_ADULTS, AgeGroup.ADULTS, AgeGroup.YOUTH


@pytest.mark.parametrize(
    ("studies", "people"),
    [
        (taking((OLD, Sex.MALE), (OLD, Sex.MALE)), "older men"),
        (taking((OLD, Sex.FEMALE)), "older women"),
        (taking((OLD, Sex.MALE), (OLD, Sex.FEMALE)), "older adults"),
        (taking((OLD, Sex.BOTH)), "older adults"),
        (taking((GROWN, Sex.FEMALE), (OLD, Sex.FEMALE)), "women"),
        (taking((GROWN, Sex.MALE)), "men"),
        (taking((YOUNG, Sex.MALE)), "young people"),
        (taking((GROWN, Sex.MALE), (GROWN, Sex.BOTH)), ""),
        (taking((OLD, Sex.BOTH), (GROWN, Sex.BOTH)), ""),
        ([], ""),
    ],
)
def test_of_a_general_question_it_is_told_whom_alone_the_studies_took(studies: list[Study], people: str) -> None:
    assert parts.find_only("does creatine help?", understood(concept("creatine", "nutrient")), studies) == people


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("does creatine help older men?", understood(population=find_population("does creatine help older men?"))),
        ("does creatine help weak bones?", understood(concept("osteoporosis", "condition"))),
        ("who took part in that trial?", understood()),
        ("attendance in FrOST", understood()),
        ("what did Kemmler find?", understood()),
    ],
    ids=["people", "what they have", "a study", "by its mark", "by its author"],
)
def test_it_is_not_told_where_the_question_names_people_or_a_study(question: str, asked: Understanding) -> None:
    studies = taking((OLD, Sex.MALE), title="Results of the trial FrOST in men", authors=("Kemmler W",))

    assert parts.find_only(question, asked, studies) == ""


@pytest.mark.parametrize(
    ("question", "people"),
    [
        ("does creatine help men?", "older men"),
        ("does creatine help at 70?", "older men"),
        ("does creatine help older men?", ""),
    ],
)
def test_what_the_question_names_of_them_is_not_all_of_it(question: str, people: str) -> None:
    asked = understood(population=find_population(question))

    assert parts.find_only(question, asked, taking((OLD, Sex.MALE))) == people


@pytest.mark.parametrize(
    ("question", "taken", "people"),
    [
        ("does creatine help older people?", (GROWN, Sex.MALE), "younger men"),
        ("does creatine help older vegans?", (GROWN, Sex.BOTH), "younger adults"),
        ("does creatine help older women?", (OLD, Sex.MALE), "older men"),
        ("does creatine help young adults?", (GROWN, Sex.BOTH), ""),
        ("does creatine help women?", (GROWN, Sex.MALE), "men"),
        ("does creatine help teenagers?", (GROWN, Sex.BOTH), "adults"),
    ],
)
def test_people_asked_about_are_told_where_only_others_were_studied(
    question: str, taken: tuple[AgeGroup, Sex], people: str
) -> None:
    asked = understood(population=find_population(question))

    assert parts.find_only(question, asked, taking(taken)) == people


def test_one_sex_is_told_of_all_that_is_quoted_and_not_of_the_first_study_alone() -> None:
    assert parts.find_only("does creatine help?", understood(), taking((GROWN, Sex.MALE)), is_all=False) == ""
    assert parts.find_only("does creatine help?", understood(), taking((OLD, Sex.MALE)), is_all=False) == "older men"


def test_the_outcome_that_no_sentence_names_is_open() -> None:
    asked = understood(concept("leg-strength"), concept("sleep-quality"))

    missing = parts.find_open("creatine for leg strength and sleep quality?", asked, sentences=GAINED, studies=[STUDY])

    assert missing == ("sleep quality",)
    assert "sleep quality" in parts.in_words(missing)


@pytest.mark.parametrize(
    ("question", "names", "topics", "missing"),
    [
        ("creatine for blood pressure?", ["blood-pressure"], (), ("blood pressure",)),
        ("blood pressure and mood?", ["blood-pressure", "mood"], (), ("blood pressure", "mood")),
        ("blood pressure?", ["blood-pressure"], ("blood-flow",), ("blood pressure",)),
        ("blood pressure?", ["blood-pressure"], ("blood-pressure",), ()),
        ("lower body strength?", ["lower-body-strength"], ("arm-strength",), ()),
        ("kidney function?", ["kidney-function"], ("physical-function",), ("kidney function",)),
        ("leg strength, whatever the mood?", ["leg-strength", "mood"], (), ()),
    ],
    ids=["alone", "both", "a word of it", "a topic", "another kind of it", "a function", "one of two"],
)
def test_what_came_of_it_is_open_where_nothing_quoted_is_about_it(
    question: str, names: list[str], topics: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    study = replace(STUDY, concepts=topics)
    known = [concept(name) for name in (*names, *topics)]

    found = parts.find_open(
        question, understood(*map(concept, names)), sentences=GAINED, studies=[study], concepts=known
    )

    assert found == missing


def test_an_outcome_that_is_next_to_what_a_study_is_about_is_not_open() -> None:
    muscle = replace(concept("muscle-mass"), neighbours=("lean-tissue",))
    study = replace(STUDY, concepts=("lean-tissue",))

    for known, missing in (([concept("lean-tissue")], ()), ([concept("lean-tissue", "nutrient")], ("muscle mass",))):
        found = parts.find_open("muscle mass?", understood(muscle), sentences=GAINED, studies=[study], concepts=known)
        assert found == missing


def test_the_intervention_that_no_sentence_names_is_open() -> None:
    asked = understood(concept("creatine", "nutrient"), concept("caffeine", "nutrient"))

    assert parts.find_open("creatine or caffeine?", asked, sentences=GAINED, studies=[STUDY]) == ("caffeine",)


@pytest.mark.parametrize(
    ("question", "names"),
    [
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
    old = replace(make_study(), age_group=AgeGroup.OLDER_ADULTS, population="People over 65")

    assert parts.find_open("bone and muscle over 55?", asked, sentences=GAINED, studies=[old]) == ()
    assert parts.find_open("young and old?", asked, sentences=GAINED, studies=[old]) == ("younger adults",)


@pytest.mark.parametrize(
    "question", ["is creatine better than caffeine?", "does caffeine help as much for strength as creatine?"]
)
def test_a_comparison_joins_what_it_compares(question: str) -> None:
    asked = understood(concept("creatine", "nutrient"), concept("caffeine", "nutrient"))

    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY]) == ("caffeine",)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("is creatine better than ashwagandha for leg strength?", "“ashwagandha”"),
        ("does creatine help leg strength when combined with yoga?", "“yoga”"),
        ("does creatine raise leg strength in people after stroke?", "“stroke”"),
        ("does creatine raise leg strength and eyesight?", "“eyesight”"),
        ("caffeine or creatine for more leg strength?", "“caffeine”"),
        ("creatine monohydrate or creatine nitrate for leg strength?", "“creatine nitrate”"),
        ("does creatine raise leg strength with equal weekly sets?", "equal weekly sets"),
        ("does creatine keep raising leg strength after five years?", "the long term"),
        ("does creatine raise leg strength in teenagers?", "young people"),
        ("does creatine raise leg strength in people over 70?", "older adults"),
        ("does creatine raise leg strength in women?", "women"),
    ],
)
def test_what_nothing_speaks_of_is_open(question: str, missing: str) -> None:
    creatine = replace(concept("creatine", "nutrient"), aliases=("creatine monohydrate",))
    asked = understood(creatine, concept("leg-strength"), population=find_population(question))

    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY]) == (missing,)


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("is creatine better than ashwagandha for leg strength?", "Ashwagandha was tried, too."),
        ("does creatine help leg strength when combined with swimming?", "Swimmers took it."),
        ("does creatine raise leg strength with equal weekly sets?", "Sets were matched between groups."),
        ("does creatine keep raising leg strength after five years?", "One trial lasted 60 weeks."),
        ("does creatine raise leg strength in teenagers?", "Adolescents gained as much."),
    ],
)
def test_what_a_passage_of_a_cited_study_speaks_of_is_not_open(question: str, passage: str) -> None:
    asked = understood(concept("creatine", "nutrient"), concept("leg-strength"), population=find_population(question))

    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY])
    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY], passages=[passage]) == ()


@pytest.mark.parametrize(
    ("question", "quoted", "missing"),
    [
        ("does creatine raise leg strength in women?", "Creatine raised leg strength in women, too.", ()),
        ("does creatine raise leg strength in women?", "No trial had women in it.", ("women",)),
        ("does creatine raise leg strength in adolescent girls?", "Adolescents took part.", ("girls",)),
    ],
)
def test_of_another_sex_a_quoted_sentence_has_to_tell(question: str, quoted: str, missing: tuple[str, ...]) -> None:
    asked = understood(concept("creatine", "nutrient"), concept("leg-strength"), population=find_population(question))
    told = [*GAINED, said(quoted)]

    assert (
        parts.find_open(question, asked, sentences=told, studies=[STUDY], passages=["Women gained as much."]) == missing
    )


@pytest.mark.parametrize(
    ("studies", "lost"),
    [
        ({"resistance training in hypoxia", "weight loss"}, ("resistance training in hypoxia",)),
        ({"weight loss"}, ()),
        ({"resistance training in hypoxia"}, ()),
        (set(), ()),
    ],
)
def test_where_neither_what_was_done_nor_what_came_of_it_is_spoken_of_nothing_is_left(
    studies: set[str], lost: tuple[str, ...]
) -> None:
    graph = (
        replace(concept("hypoxia", "intervention"), name="resistance training in hypoxia", aliases=("hypoxia",)),
        replace(concept("weight-loss"), aliases=("lose weight",)),
    )
    question = "does lifting in hypoxia help people lose weight?"

    assert parts.find_lost(question, understood(*graph), sorted(studies)) == lost


def test_words_that_every_name_has_do_not_speak_of_what_is_done() -> None:
    hypoxia = replace(concept("hypoxia", "intervention"), name="resistance training in hypoxia", aliases=("hypoxia",))
    asked = understood(hypoxia, concept("leg-strength"))
    trained, thin = (
        make_evidence(make_candidate(f"Leg strength rose with resistance training{where}.", study=STUDY))
        for where in ("", " in hypoxia")
    )

    assert parts.find_unspoken("does hypoxia raise leg strength?", asked, trained, (hypoxia,)) == (hypoxia.name,)
    assert parts.find_unspoken("does hypoxia raise leg strength?", asked, thin, (hypoxia,)) == ()


@pytest.mark.parametrize(
    "question",
    [
        "is creatine good or bad for leg strength?",
        "does creatine raise leg strength more than before?",
        "is creatine safe or should I stop it for leg strength?",
        "does creatine raise leg strength and feel better?",
        "does creatine raise leg strength, good or bad?",
        "creatine for leg strength and keeping calm?",
        "creatine and training for leg strength?",
    ],
)
def test_everyday_words_are_no_parts(question: str) -> None:
    asked = understood(concept("creatine", "nutrient"), concept("leg-strength"))

    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY]) == ()


def test_a_condition_that_no_cited_study_is_about_is_open() -> None:
    near = concept("bone-density")
    asked = understood(
        concept("leg-strength"), replace(concept("osteoporosis", "condition"), neighbours=(near.concept_id,))
    )
    question = "leg strength with osteoporosis?"
    bones = replace(STUDY, concepts=(near.concept_id,))

    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY]) == ("osteoporosis",)
    assert parts.find_open(question, asked, sentences=GAINED, studies=[bones]) == ()


def test_what_is_done_about_a_condition_does_not_speak_of_it() -> None:
    training = concept("training", "intervention")
    asked = understood(
        concept("leg-strength"), replace(concept("diabetes", "condition"), neighbours=(training.concept_id,))
    )
    trained = replace(STUDY, concepts=(training.concept_id,))

    missing = parts.find_open(
        "leg strength with diabetes?", asked, sentences=GAINED, studies=[trained], concepts=[training]
    )

    assert missing == ("diabetes",)


@pytest.mark.parametrize(("others", "is_near"), [(2, True), (parts.MOST_NEIGHBOURS, False)], ids=["few", "a hub"])
def test_what_half_of_the_corpus_is_next_to_does_not_speak_for_it(others: int, is_near: bool) -> None:
    bands = replace(concept("bands", "intervention"), neighbours=("training",))
    crowd = tuple(f"other-{n}" for n in range(others))
    training = replace(concept("training", "intervention"), neighbours=("bands", *crowd))
    trained = replace(STUDY, concepts=(training.concept_id,))

    missing = parts.find_open(
        "do bands raise leg strength?",
        understood(bands, concept("leg-strength")),
        sentences=GAINED,
        studies=[trained],
        concepts=[bands, training],
    )

    assert missing == (() if is_near else ("bands",))


def test_what_no_study_is_about_is_open_by_the_words_that_name_it() -> None:
    tennis = replace(concept("tennis", "population"), name="racket sports", aliases=("tennis",), is_studied=False)
    asked = replace(understood(concept("leg-strength")), unstudied=(tennis,))
    question = "does tennis build leg strength?"

    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY]) == ("“tennis”",)
    heard = [said("Racket sports raised leg strength.")]
    assert parts.find_open(question, asked, sentences=heard, studies=[STUDY]) == ()


def test_a_concept_that_is_compared_and_not_heard_of_is_named_once() -> None:
    asked = understood(concept("creatine", "nutrient"), concept("yoga", "intervention"), concept("leg-strength"))

    missing = parts.find_open("creatine combined with yoga for legs?", asked, sentences=GAINED, studies=[STUDY])

    assert missing == ("“yoga”",)


def hmb(*neighbours: str) -> Concept:
    return replace(concept("HMB", "nutrient"), neighbours=neighbours)


@pytest.mark.parametrize(
    ("question", "near", "missing"),
    [
        ("does HMB raise leg strength?", (), ("HMB",)),
        ("does HMB raise leg strength?", ("creatine",), ()),
        ("I take HMB. Does creatine raise leg strength?", (), ()),
        ("I take HMB. Does it raise leg strength?", (), ("HMB",)),
        ("does creatine raise leg strength?", (), ()),
    ],
)
def test_what_is_taken_and_not_spoken_of_is_open(
    question: str, near: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    asked = replace(
        understood(hmb(*near), concept("creatine", "nutrient"), concept("leg-strength")),
        core=question.partition(". ")[2],
    )

    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY]) == missing


@pytest.mark.parametrize(
    ("question", "concepts", "is_so"),
    [
        ("does HMB raise leg strength?", (hmb(),), True),
        ("does HMB raise leg strength?", (hmb("creatine"),), False),
        ("does HMB raise leg strength?", (replace(hmb(), is_studied=False),), False),
        ("does HMB or creatine raise leg strength?", (hmb(), concept("creatine", "nutrient")), False),
        (
            "do vegans need heavy loads for leg strength?",
            (concept("vegans", "nutrient"), concept("loads", "training_variable")),
            True,
        ),
        ("do vegans need creatine sets?", (concept("vegans", "nutrient"), concept("sets", "training_variable")), False),
        ("does creatine powder help?", (concept("creatine-powder", "nutrient"),), False),
        ("does creatine raise leg strength?", (concept("creatine", "nutrient"),), False),
        ("what raises leg strength?", (), False),
    ],
)
def test_where_only_what_is_not_spoken_of_is_asked_about_the_evidence_has_nothing_of_it(
    question: str, concepts: tuple[Concept, ...], is_so: bool
) -> None:
    asked = understood(*concepts, concept("leg-strength"))
    evidence = make_evidence(make_candidate(f"{GAINED[0].text} They did three sets.", study=STUDY))

    assert bool(parts.find_unspoken(question, asked, evidence, concepts)) is is_so


def test_what_may_not_be_quoted_is_not_heard() -> None:
    named, other = (
        make_candidate(text, study=make_study(i)) for text, i in (("HMB did nothing.", "T1"), ("It rose.", "T2"))
    )
    evidence = make_evidence(named, other)
    asked = understood(hmb())

    assert not parts.find_unspoken("does HMB help?", asked, evidence, [])
    assert parts.find_unspoken("does HMB help?", asked, replace(evidence, citable={"T2": 0.9}), [])


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("does creatine raise leg strength over many years?", ("the long term",)),
        ("does creatine raise leg strength if I have been training for years?", ()),
        ("my client has lifted for five years: does creatine raise leg strength?", ()),
        ("I have trained for about 15 years, does creatine raise leg strength?", ()),
        ("does creatine still raise leg strength after years of training?", ("the long term",)),
        ("will creatine raise my wife's leg strength more than me?", ()),
    ],
)
def test_who_asks_is_no_part_of_what_is_asked(question: str, missing: tuple[str, ...]) -> None:
    asked = understood(concept("creatine", "nutrient"), concept("leg-strength"))

    assert parts.find_open(question, asked, sentences=GAINED, studies=[STUDY]) == missing


@pytest.mark.parametrize(
    ("status", "question", "missing"),
    [
        (TrainingStatus.TRAINED, "leg strength for newbies?", "untrained people"),
        (TrainingStatus.UNTRAINED, "leg strength for bodybuilders?", "trained people"),
    ],
)
def test_training_that_no_cited_study_has_is_open(status: TrainingStatus, question: str, missing: str) -> None:
    asked = understood(concept("leg-strength"), population=find_population(question))
    others = replace(make_study(), training_status=status)
    mixed = replace(make_study(), training_status=TrainingStatus.MIXED)

    assert parts.find_open(question, asked, sentences=GAINED, studies=[others]) == (missing,)
    assert parts.find_open(question, asked, sentences=GAINED, studies=[others, mixed]) == ()


def test_of_three_that_are_joined_each_that_is_not_heard_of_is_open() -> None:
    asked = understood(*(concept(name, "nutrient") for name in ("creatine", "caffeine", "citrulline")))

    missing = parts.find_open("creatine, caffeine or citrulline?", asked, sentences=GAINED, studies=[STUDY])

    assert missing == ("caffeine", "citrulline")


def test_whom_it_is_about_is_asked_of_the_studies_and_not_of_the_words() -> None:
    asked = understood(concept("creatine", "nutrient"), population=Population(sexes=(Sex.MALE,)))

    assert parts.find_open("is creatine better than men think?", asked, sentences=GAINED, studies=[STUDY]) == ()


def test_a_question_whose_letters_change_their_number_in_lower_case_names_no_qualifier() -> None:
    asked = understood(concept("creatine", "nutrient"))

    assert parts.find_open("İ creatine better than yoga?", asked, sentences=GAINED, studies=[STUDY]) == ()


def test_parts_are_told_in_one_sentence() -> None:
    assert "women, “yoga” or the long term;" in parts.in_words(["women", "“yoga”", "the long term"])


@given(st.text(alphabet="abc and or than with women over 70 years?", max_size=60))
def test_what_every_text_holds_is_never_open(question: str) -> None:
    asked = understood(concept("creatine", "nutrient"), population=find_population(question.lower()))
    heard = f"{question} Women and men, young, older adults and children; matched for ten years. {question}"

    missing = parts.find_open(question, asked, sentences=[*GAINED, said(heard)], studies=[STUDY])

    assert not missing


BOTH = replace(STUDY, sex=Sex.BOTH)


@pytest.mark.parametrize(
    ("question", "sentence", "studies", "missing"),
    [
        ("creatine: what about women?", "Creatine raised leg strength.", [BOTH], ("women alone",)),
        ("creatine: what about women?", "Creatine raised leg strength in women.", [BOTH], ()),
        ("creatine: what about women?", "Creatine raised leg strength.", [BOTH, replace(STUDY, sex=Sex.FEMALE)], ()),
        (
            "creatine: what about women?",
            "Creatine raised leg strength.",
            [BOTH, replace(STUDY, sex=Sex.MALE)],
            ("women alone",),
        ),
        ("should my mum take creatine?", "Creatine raised leg strength.", [BOTH], ()),
        ("creatine in men and women?", "Creatine raised leg strength.", [BOTH], ()),
    ],
)
def test_one_sex_that_no_quoted_sentence_tells_apart_is_open(
    question: str, sentence: str, studies: list[Study], missing: tuple[str, ...]
) -> None:
    asked = understood(population=find_population(question))

    assert parts.find_open(question, asked, sentences=[said(sentence)], studies=studies) == missing


def test_the_same_thing_is_nothing_that_is_held_equal() -> None:
    asked = understood(concept("creatine", "nutrient"))

    assert parts.find_open("can i stick with the same thing?", asked, sentences=GAINED, studies=[STUDY]) == ()
