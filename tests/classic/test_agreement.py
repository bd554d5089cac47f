"""Agreement: studies are counted, not findings; a line that counts is proven by counting anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import AgeGroup, Concept, Design, Direction, Finding, Section, Sex, TrainingStatus, Wanted
from qa_app.classic import agreement
from qa_app.classic.generation import ExtractiveWriter
from qa_app.classic.naming import Names, find_terms
from qa_app.pipeline.records import (
    Agreement,
    DraftSentence,
    Evidence,
    LeftOutReason,
    Population,
    Stance,
    StudyStance,
    Verdict,
)
from tests.classic.values import POLICY, make_candidate, make_concept, make_evidence, make_study

STRENGTH = make_concept("muscle-strength", "strength", wanted=Wanted.MORE)
LEGS = make_concept("lower-body-strength", "leg strength", wanted=Wanted.MORE)
FAT = make_concept("body-fat", "fat mass", wanted=Wanted.LESS)
CREATINE = make_concept("creatine", kind="nutrient", rarity=2.0)
FAILURE = make_concept("proximity-to-failure", "training to failure", kind="training_variable", rarity=2.0)
TRAINING = make_concept("resistance-training", kind="intervention", rarity=0.2)
GRAPH = (STRENGTH, LEGS, FAT, CREATINE, FAILURE, TRAINING)
directions = st.lists(st.sampled_from(list(Direction)), min_size=1, max_size=3)


def finding(number: int, study: str, direction: Direction | str, **changes: str) -> Finding:
    sides = {"intervention": "creatine", "comparator": "placebo", "outcome": "maximal strength"} | changes
    return Finding(**sides, direction=Direction(direction), statement="A result.", finding_id=number, study_id=study)


def evidence_of(*findings: Finding, about: tuple[Concept, ...] = (CREATINE, STRENGTH), **studies: object) -> Evidence:
    ids = dict.fromkeys(f.study_id for f in findings)
    evidence = make_evidence(
        *(make_candidate(study=make_study(i, **studies.get(i, {}))) for i in ids),  # type: ignore[call-overload]
        question="does creatine help strength?",
    )
    understood = replace(evidence.understanding, concepts=about)
    evidence = replace(evidence, understanding=understood, findings=findings)
    return replace(evidence, agreement=agreement.read(evidence, GRAPH))


def stances(evidence: Evidence) -> dict[str, Stance]:
    return {row.study_id: row.stance for row in evidence.agreement.studies} if evidence.agreement else {}


# --- Where studies stand ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("direction", "changes", "expected"),
    [
        ("favours_intervention", {}, Stance.FAVOURS),
        ("favours_comparator", {}, Stance.AGAINST),
        ("no_difference", {}, Stance.NO_DIFFERENCE),
        ("mixed", {}, Stance.UNCLEAR),
        ("increase", {}, Stance.FAVOURS),
        ("decrease", {}, Stance.AGAINST),
        ("favours_comparator", {"intervention": "placebo", "comparator": "creatine"}, Stance.FAVOURS),
        ("increase", {"intervention": "placebo", "comparator": "creatine"}, Stance.AGAINST),
        ("increase", {"intervention": "the powder", "comparator": "no creatine"}, Stance.FAVOURS),
        ("increase", {"intervention": "more of it", "comparator": "less creatine"}, Stance.FAVOURS),
        ("increase", {"intervention": "a powder diet", "comparator": "lower-creatine diet"}, Stance.FAVOURS),
    ],
)
def test_a_study_stands_where_its_finding_points(direction: str, changes: dict[str, str], expected: Stance) -> None:
    assert stances(evidence_of(finding(1, "T001", direction, **changes))) == {"T001": expected}


def test_less_of_what_is_unwanted_is_a_benefit_of_more_of_it_whatever_the_intervention_is_called() -> None:
    pressure = make_concept("blood-pressure", "systolic pressure", wanted=Wanted.LESS)
    protein = make_concept("protein-intake", "protein", kind="nutrient")
    diet = make_concept("high-protein-diet", "higher-protein diet", kind="nutrient")
    fell = finding(
        1, "T001", "decrease",
        intervention="higher-protein diet", comparator="lower-protein diet", outcome="systolic pressure",
    )  # fmt: skip

    assert agreement.stance(fell, pressure, protein, Names((pressure, protein, diet))) is Stance.FAVOURS


def test_what_favours_less_of_it_is_against_it() -> None:
    volume = make_concept("training-volume", "volume", kind="training_variable")
    less = finding(1, "T001", "favours_intervention", intervention="low volume", comparator="high volume")
    more = finding(2, "T001", "favours_intervention", intervention="high volume", comparator="low volume")
    none = finding(3, "T001", "favours_intervention", intervention="low volume", comparator="rest")
    names = Names((STRENGTH, volume))

    stands = [agreement.stance(row, STRENGTH, volume, names) for row in (less, more, none)]

    assert stands == [Stance.AGAINST, Stance.FAVOURS, Stance.FAVOURS]


def test_low_loads_to_failure_are_no_less_of_failure() -> None:
    sides = {"intervention": "low-load training to failure", "comparator": "high loads, not training to failure"}
    row = finding(1, "T001", "favours_intervention", **sides)

    assert agreement.stance(row, STRENGTH, FAILURE, Names((STRENGTH, FAILURE))) is Stance.FAVOURS


@pytest.mark.parametrize(
    ("first", "second"), [("heavy training", "light training"), ("light training", "heavy training")]
)
def test_of_two_things_that_are_set_against_each_other_the_first_is_the_subject(first: str, second: str) -> None:
    heavy = make_concept("heavy", "heavy training", kind="intervention", rarity=1.0)
    light = make_concept("light", "light training", kind="intervention", rarity=2.0)
    row = finding(1, "T001", "favours_intervention", intervention="heavy training", comparator="light training")
    about = (heavy, light) if first == "heavy training" else (light, heavy)
    evidence = evidence_of(row, about=(*about, STRENGTH))
    question = replace(evidence.question, searched=f"is {first} better than {second} for strength?")

    found = agreement.read(replace(evidence, question=question), (*GRAPH, heavy, light))

    assert found is not None
    assert found.subject == about[0]
    assert found.studies[0].stance is (Stance.FAVOURS if about[0] is heavy else Stance.AGAINST)


def test_what_was_found_of_other_people_is_not_counted() -> None:
    girls = Population((AgeGroup.YOUTH,), (), (Sex.FEMALE,))
    of_women = finding(1, "T001", "increase", outcome="maximal strength in sedentary young women")
    of_girls = finding(2, "T002", "increase", outcome="maximal strength in adolescent girls")
    anybody = {"age_group": AgeGroup.MIXED, "sex": Sex.BOTH}
    evidence = evidence_of(of_women, of_girls, T001=anybody, T002=anybody)
    asked = replace(evidence.understanding, population=girls)

    found = agreement.read(replace(evidence, understanding=asked), GRAPH)

    assert found is not None
    assert [row.study_id for row in found.studies] == ["T002"]


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("do women gain as much strength from creatine as men", False),
        ("does creatine give men or women more strength", False),
        ("creatine and strength in men and women", True),
        ("do men and women get strength from creatine or protein", True),
    ],
)
def test_what_was_found_of_one_sex_says_nothing_of_both(question: str, is_told: bool) -> None:
    evidence = evidence_of(finding(1, "T001", "increase"))
    both = replace(evidence.understanding, population=Population((), (), (Sex.FEMALE, Sex.MALE)))
    asked = replace(evidence, understanding=both, question=replace(evidence.question, searched=question))

    assert (agreement.read(asked, GRAPH) is not None) is is_told


def test_a_low_load_that_is_asked_about_is_no_less_of_it_and_shared_words_make_no_same_thing() -> None:
    low = make_concept("low-load", "low-load training", kind="intervention")
    meat = make_concept("animal-protein", "animal protein", kind="nutrient")
    names = Names((STRENGTH, low, meat))
    heavy = finding(
        1, "T001", "favours_intervention", intervention="high-load training", comparator="low-load training"
    )
    plants = finding(2, "T002", "favours_intervention", intervention="plant protein", comparator="animal protein")

    assert agreement.stance(heavy, STRENGTH, low, names) is Stance.AGAINST
    assert agreement.stance(plants, STRENGTH, meat, names) is Stance.AGAINST


def test_a_count_that_would_miss_a_study_is_not_told() -> None:
    inside = (finding(1, "T001", "increase"), finding(2, "T002", "increase"))
    missed, other = finding(3, "T003", "no_difference"), finding(4, "T004", "increase", outcome="sleep")
    evidence = evidence_of(*inside)

    assert agreement.uncounted(evidence.agreement, evidence, (*inside, missed, other), GRAPH) == {"T003"}
    assert evidence.agreement is not None
    assert agreement.counted_lines(evidence.agreement, evidence, POLICY)
    assert not agreement.counted_lines(replace(evidence.agreement, is_whole=False), evidence, POLICY)


@pytest.mark.parametrize(
    ("text", "changes", "study", "expected"),
    [
        ("Creatine did nothing for strength.", {}, {}, {"T003"}),
        ("Creatine was taken. Strength rose.", {}, {}, set()),
        ("Creatine did nothing for strength.", {"section": Section.INTRODUCTION}, {}, set()),
        ("Creatine did nothing for strength.", {}, {"age_group": AgeGroup.YOUTH}, set()),
        ("Creatine did nothing for strength.", {}, {"study_id": "T001"}, set()),
    ],
    ids=["says it", "not in one sentence", "where it sets out", "others", "counted"],
)
def test_nor_is_one_beside_a_study_that_says_something_on_the_matter_but_has_no_finding_on_it(
    text: str, changes: dict[str, Section], study: dict[str, Any], expected: set[str]
) -> None:
    evidence = evidence_of(finding(1, "T001", "increase"), finding(2, "T002", "increase"))
    asked = replace(evidence.understanding, population=Population((AgeGroup.OLDER_ADULTS,)))
    told = make_study(**({"study_id": "T003", "age_group": AgeGroup.OLDER_ADULTS} | study))
    candidate = make_candidate(text, study=told, **({"section": Section.RESULTS} | changes))

    assert agreement.untold(evidence.agreement, replace(evidence, understanding=asked), [candidate]) == expected
    assert agreement.untold(None, evidence, [candidate]) == frozenset()


def test_nothing_is_counted_where_the_nearest_study_has_no_say() -> None:
    evidence = evidence_of(finding(1, "T001", "increase"), finding(2, "T002", "increase"))
    nearest = make_candidate(study=make_study("T009"))
    led_by_another = replace(evidence, passages=(nearest, *evidence.passages))

    assert agreement.counted_lines(evidence.agreement, evidence, POLICY)
    assert not agreement.counted_lines(evidence.agreement, led_by_another, POLICY)


@pytest.mark.parametrize(
    ("text", "is_counted"),
    [
        ("Creatine took muscle strength away.", False),
        ("Creatine made sleep longer.", True),
        ("Heavy loads raised muscle strength.", True),
    ],
    ids=["on the matter", "of another outcome", "of another subject"],
)
def test_nothing_is_counted_beside_what_a_study_that_is_not_counted_says(text: str, is_counted: bool) -> None:
    counted = evidence_of(finding(1, "T001", "increase"), finding(2, "T002", "increase"))
    other = make_candidate(text, study="T009", cosine=0.6)
    evidence = replace(counted, passages=(*counted.passages, other))
    assert evidence.agreement is not None

    draft, _ = ExtractiveWriter().write(evidence, replace(POLICY, needed_from=0.0, fills_from=0.0, besides_from=0.0))

    assert text in [sentence.text for sentence in (*draft.summary, *draft.answer)]
    assert any(sentence.finding_ids for sentence in draft.summary) is is_counted
    assert not agreement.goes_beyond(text, "T001", evidence.agreement, evidence)


def test_a_study_that_found_something_else_of_a_narrower_outcome_is_unclear() -> None:
    rows = (finding(1, "T001", "no_difference"), finding(2, "T001", "increase", outcome="leg strength"))
    loose = replace(STRENGTH, aliases=("strength",))

    evidence = evidence_of(*rows, about=(CREATINE, loose))

    assert stances(evidence) == {"T001": Stance.UNCLEAR}


def test_less_fat_is_wanted_and_of_an_unknown_outcome_no_change_is() -> None:
    names = Names(GRAPH)
    less = finding(1, "T001", "decrease", outcome="fat mass")

    assert agreement.stance(less, FAT, CREATINE, names) is Stance.FAVOURS
    assert agreement.stance(less, make_concept("body-water"), CREATINE, names) is Stance.UNCLEAR


def test_where_no_concept_is_asked_about_the_words_of_the_question_say_what_is() -> None:
    rows = (finding(1, "T001", "increase"), finding(2, "T002", "decrease", intervention="a nap"))
    evidence = evidence_of(*rows, about=(STRENGTH,))

    assert stances(evidence) == {"T001": Stance.FAVOURS}
    assert evidence.agreement is not None
    assert agreement.counted_lines(evidence.agreement, evidence, POLICY) == ()
    assert not agreement.recount("All three trials found a benefit.", rows[:1], evidence.agreement)


def test_the_outcome_is_found_by_its_longest_name() -> None:
    legs = finding(1, "T001", "increase", outcome="leg strength")

    assert stances(evidence_of(legs)) == {}
    assert stances(evidence_of(legs, about=(CREATINE, LEGS))) == {"T001": Stance.FAVOURS}


def test_what_both_groups_had_is_not_what_was_compared() -> None:
    both = {"intervention": "resistance training and heavy loads", "comparator": "resistance training and light loads"}

    assert stances(evidence_of(finding(1, "T001", "no_difference", **both), about=(TRAINING, STRENGTH))) == {}


def test_findings_that_point_in_different_ways_leave_a_study_unclear() -> None:
    rows = (finding(1, "T001", "increase"), finding(2, "T001", "no_difference"), finding(3, "T002", "increase"))

    assert stances(evidence_of(*rows)) == {"T001": Stance.UNCLEAR, "T002": Stance.FAVOURS}


def test_an_unclear_finding_beside_a_clear_one_does_not_count() -> None:
    rows = (finding(1, "T001", "increase"), finding(2, "T001", "unclear"))

    assert stances(evidence_of(*rows)) == {"T001": Stance.FAVOURS}


@pytest.mark.parametrize("before", ["before training", "Baseline", "before training (no control group)"])
def test_a_change_over_time_does_not_count_beside_a_comparison_of_groups(before: str) -> None:
    compared = finding(1, "T001", "unclear")
    change = finding(2, "T001", "increase", comparator=before)

    assert stances(evidence_of(compared, change)) == {"T001": Stance.UNCLEAR}
    assert stances(evidence_of(change)) == {"T001": Stance.FAVOURS}


def test_a_change_over_time_never_says_that_a_variable_of_training_matters() -> None:
    change = finding(1, "T001", "increase", intervention="training to failure", comparator="before training")
    other = finding(2, "T001", "increase", intervention="training to failure", comparator="baseline or no training")

    assert stances(evidence_of(change, about=(FAILURE, STRENGTH))) == {}
    assert stances(evidence_of(change, other, about=(FAILURE, STRENGTH))) == {"T001": Stance.FAVOURS}


def test_groups_of_people_that_differ_are_told_apart() -> None:
    old, young = {"age_group": AgeGroup.OLDER_ADULTS}, {"age_group": AgeGroup.ADULTS}
    rows = (finding(1, "T001", "increase"), finding(2, "T002", "increase"), finding(3, "T003", "no_difference"))

    read = evidence_of(*rows, T001=old, T002=old, T003=young).agreement

    assert read is not None
    assert {s.population: [row.study_id for row in s.studies] for s in read.by_population} == {
        "older adults": ["T001", "T002"],
        "younger adults": ["T003"],
    }


def test_a_group_is_told_with_the_studies_that_stand_elsewhere_in_it() -> None:
    old, young = {"age_group": AgeGroup.OLDER_ADULTS}, {"age_group": AgeGroup.ADULTS}
    rows = [finding(n, f"T00{n}", "increase") for n in (1, 2, 3)] + [
        finding(n, f"T00{n}", "no_difference") for n in (4, 5, 6)
    ]
    evidence = evidence_of(*rows, T001=old, T002=old, T003=old, T004=old, T005=young, T006=young)

    _, split = agreement.counted_lines(evidence.agreement, evidence, POLICY)

    assert split.text == (
        "In older adults, three of four trials here on creatine and muscle strength found a benefit; "
        "in younger adults, both found no clear difference."
    )
    assert agreement.verify_count(split, evidence)[0] is not None
    for wrong in ("three of five", "two of four", "all four"):
        changed = replace(split, text=split.text.replace("three of four", wrong))
        assert agreement.verify_count(changed, evidence)[0] is None
    swapped = split.text.replace("older", "x").replace("younger", "older").replace("x", "younger")
    assert agreement.verify_count(replace(split, text=swapped), evidence)[0] is None


def test_a_group_without_a_majority_is_not_told_apart() -> None:
    old, young = {"age_group": AgeGroup.OLDER_ADULTS}, {"age_group": AgeGroup.ADULTS}
    rows = (finding(1, "T001", "increase"), finding(2, "T002", "no_difference"), finding(3, "T003", "no_difference"))

    read = evidence_of(*rows, T001=old, T002=old, T003=young).agreement

    assert read is not None
    assert read.by_population == ()


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ({"training_status": TrainingStatus.ATHLETES}, {}, ["trained people", "untrained people"]),
        ({"sex": Sex.FEMALE}, {"sex": Sex.MALE}, ["women", "men"]),
    ],
)
def test_people_are_told_apart_by_training_and_by_sex(
    one: dict[str, object], other: dict[str, object], names: list[str]
) -> None:
    rows = (finding(1, "T001", "increase"), finding(2, "T002", "no_difference"), finding(3, "T003", "no_difference"))
    evidence = evidence_of(*rows, T001=one, T002=other, T003=other)

    _, split = agreement.counted_lines(evidence.agreement, evidence, POLICY)

    assert evidence.agreement is not None
    assert [s.population for s in evidence.agreement.by_population] == names
    assert split.text.startswith(f"In {names[0]}, the one trial here on creatine and muscle strength found a benefit; ")


def test_more_or_less_of_a_variable_of_training_is_no_difference_between_people() -> None:
    old, young = {"age_group": AgeGroup.OLDER_ADULTS}, {"age_group": AgeGroup.ADULTS}
    rows = (
        finding(1, "T001", "increase", intervention="training to failure"),
        finding(2, "T002", "decrease", intervention="training to failure"),
    )

    read = evidence_of(*rows, about=(FAILURE, STRENGTH), T001=old, T002=young).agreement

    assert read is not None
    assert read.by_population == ()


def test_without_an_outcome_nothing_is_in_conflict() -> None:
    assert not agreement.is_conflicting(None, make_evidence(make_candidate()), POLICY)


def test_good_studies_that_point_in_opposite_directions_are_in_conflict() -> None:
    rows = (finding(1, "T001", "increase"), finding(2, "T002", "decrease"))
    trials, survey = {"design": Design.RANDOMIZED_CONTROLLED_TRIAL}, {"design": Design.CROSS_SECTIONAL_STUDY}

    good, weak = (evidence_of(*rows, T001=trials, T002=other) for other in (trials, survey))

    assert agreement.is_conflicting(good.agreement, good, POLICY)
    assert not agreement.is_conflicting(weak.agreement, weak, POLICY)


@pytest.mark.parametrize(
    ("one", "other", "is_conflict"),
    [
        ({"age_group": AgeGroup.OLDER_ADULTS}, {"age_group": AgeGroup.ADULTS}, False),
        ({"training_status": TrainingStatus.TRAINED}, {"training_status": TrainingStatus.UNTRAINED}, False),
        ({"sex": Sex.FEMALE}, {"sex": Sex.MALE}, False),
        ({"age_group": AgeGroup.OLDER_ADULTS}, {"age_group": AgeGroup.MIXED}, True),
        ({"sex": Sex.FEMALE}, {"sex": Sex.BOTH}, True),
    ],
)
def test_studies_of_different_people_are_in_no_conflict(
    one: dict[str, object], other: dict[str, object], is_conflict: bool
) -> None:
    evidence = evidence_of(finding(1, "T001", "increase"), finding(2, "T002", "decrease"), T001=one, T002=other)

    assert agreement.is_conflicting(evidence.agreement, evidence, POLICY) is is_conflict


def test_that_more_or_less_of_a_training_variable_is_better_is_no_conflict() -> None:
    volume = make_concept("training-volume", "volume", kind="training_variable", rarity=2.0)
    sides = {"intervention": "high volume", "comparator": "low volume"}
    rows = (finding(1, "T001", "increase", **sides), finding(2, "T002", "decrease", **sides))

    evidence = evidence_of(*rows, about=(volume, STRENGTH))
    evidence = replace(evidence, agreement=agreement.read(evidence, (*GRAPH, volume)))

    assert stances(evidence) == {"T001": Stance.FAVOURS, "T002": Stance.AGAINST}
    assert not agreement.is_conflicting(evidence.agreement, evidence, POLICY)


def test_whether_a_way_to_train_helps_can_be_in_conflict() -> None:
    plans = make_concept("periodization", kind="training_variable", rarity=2.0)
    sides = {"intervention": "periodization", "comparator": "one plan throughout"}
    rows = (finding(1, "T001", "increase", **sides), finding(2, "T002", "decrease", **sides))
    evidence = evidence_of(*rows, about=(plans, STRENGTH))
    evidence = replace(evidence, agreement=agreement.read(evidence, (*GRAPH, plans)))

    assert agreement.is_conflicting(evidence.agreement, evidence, POLICY)


# --- The counted line -------------------------------------------------------------------------------------------------


def test_the_line_counts_studies_in_words() -> None:
    rows = [finding(n, f"T00{n}", "increase") for n in (1, 2, 3)] + [finding(4, "T004", "no_difference")]
    evidence = evidence_of(*rows, finding(5, "T004", "no_difference"))

    (line,) = agreement.counted_lines(evidence.agreement, evidence, POLICY)

    assert line.text == (
        "Of the four trials here on creatine and muscle strength, three found a benefit and one found no clear difference."
    )
    assert line.finding_ids == (1, 2, 3, 4, 5)


def test_a_variable_of_training_matters_or_does_not() -> None:
    rows = [finding(n, f"T00{n}", "no_difference", intervention="training to failure") for n in (1, 2, 3)]
    evidence = evidence_of(*rows, about=(FAILURE, STRENGTH))
    two = evidence_of(*rows[:2], about=(FAILURE, STRENGTH))

    assert agreement.counted_lines(two.agreement, two, POLICY) == ()
    (line,) = agreement.counted_lines(evidence.agreement, evidence, POLICY)

    assert line.text == "All three trials here on proximity to failure and muscle strength found no clear difference."


def test_nothing_is_counted_of_one_study_or_on_what_nearly_all_share() -> None:
    one = evidence_of(finding(1, "T001", "increase"))
    rows = [finding(n, f"T00{n}", "increase", intervention="resistance training") for n in (1, 2)]
    shared = evidence_of(*rows, about=(TRAINING, STRENGTH))

    assert agreement.counted_lines(one.agreement, one, POLICY) == ()
    assert agreement.counted_lines(shared.agreement, shared, POLICY) == ()
    assert agreement.counted_lines(None, one, POLICY) == ()


def test_of_the_people_asked_about_only_their_studies_are_counted() -> None:
    rows = [finding(n, f"T00{n}", "increase") for n in (1, 2, 3)]
    old, mixed = {"age_group": AgeGroup.OLDER_ADULTS}, {"age_group": AgeGroup.MIXED}
    evidence = evidence_of(*rows, T001=old, T002=old, T003=mixed)
    asked = replace(evidence.understanding, population=Population(age_groups=(AgeGroup.OLDER_ADULTS,)))
    of_old = replace(evidence, understanding=asked)

    (line,) = agreement.counted_lines(of_old.agreement, of_old, POLICY)

    assert line.text == "Both trials here on creatine and muscle strength found a benefit."
    assert line.finding_ids == (1, 2)
    assert agreement.verify_count(line, of_old)[0] is not None


people = st.fixed_dictionaries(
    {
        "age_group": st.sampled_from(list(AgeGroup)),
        "training_status": st.sampled_from(list(TrainingStatus)),
        "sex": st.sampled_from(list(Sex)),
    }
)


@given(st.lists(st.tuples(directions, people), min_size=2, max_size=6), st.booleans())
def test_every_line_is_proven_by_counting(
    studies: list[tuple[list[Direction], dict[str, object]]], is_variable: bool
) -> None:
    numbers = iter(range(1, 100))
    subject = FAILURE if is_variable else CREATINE
    about = {"intervention": "training to failure" if is_variable else "creatine"}
    rows = [finding(next(numbers), f"T00{n}", d, **about) for n, (own, _) in enumerate(studies) for d in own]
    evidence = evidence_of(*rows, about=(subject, STRENGTH), **{f"T00{n}": who for n, (_, who) in enumerate(studies)})
    counted = [set(stances(evidence))]
    if evidence.agreement:
        counted.append({row.study_id for split in evidence.agreement.by_population for row in split.studies})

    for line, studies_of in zip(agreement.counted_lines(evidence.agreement, evidence, POLICY), counted, strict=False):
        kept, fallen = agreement.verify_count(line, evidence)

        assert fallen is None
        assert kept is not None
        assert kept.verdict is Verdict.COUNTED
        assert set(kept.study_ids) == studies_of


@given(
    st.lists(st.sampled_from(list(Stance)), min_size=2, max_size=8),
    st.sampled_from(agreement.NUMBERS[1:]),
    st.sampled_from(agreement.NUMBERS[1:]),
)
def test_a_line_with_another_number_falls(stands: list[Stance], said: str, instead: str) -> None:
    rows = tuple(StudyStance(f"T{n}", s, (finding(n + 1, f"T{n}", "unclear"),)) for n, s in enumerate(stands))
    read = Agreement(STRENGTH, CREATINE, rows)
    text = agreement.count_in_words(Counter(stands), "studies", CREATINE, STRENGTH)
    findings = [f for row in rows for f in row.findings]
    changed = text.replace(f" {said} ", f" {instead} ", 1)

    assert agreement.recount(text, findings, read)
    assert not agreement.recount(text, [*findings, finding(99, "T99", "increase")], read)
    assert agreement.recount(changed, findings, read) is (changed == text)


def test_a_line_falls_that_leaves_out_a_study_or_counts_a_foreign_one() -> None:
    evidence = evidence_of(*(finding(n, f"T00{n}", "increase") for n in (1, 2, 3)))
    (line,) = agreement.counted_lines(evidence.agreement, evidence, POLICY)

    def reason(sentence: DraftSentence) -> LeftOutReason | None:
        _, fallen = agreement.verify_count(sentence, evidence)
        return fallen.reason if fallen else None

    assert reason(line) is None
    assert reason(replace(line, finding_ids=(1, 2))) is LeftOutReason.NUMBER_MISMATCH
    assert reason(replace(line, finding_ids=(1, 2, 3, 99))) is LeftOutReason.UNKNOWN_CITATION
    assert reason(replace(line, text="All three trials here on creatine and fat found a benefit.")) is (
        LeftOutReason.NUMBER_MISMATCH
    )
    assert reason(replace(line, text="Creatine is safe in every dose.")) is LeftOutReason.NUMBER_MISMATCH


def test_terms_of_an_answer_are_those_with_a_definition_that_the_question_did_not_use() -> None:
    failure, creatine = replace(FAILURE, definition="As many as possible."), replace(CREATINE, definition="A powder.")
    graph = (failure, creatine, STRENGTH, TRAINING)
    said = ["Training to failure helped strength.", "Creatine and resistance training helped too."]

    assert find_terms(said, graph, besides=()) == (failure, creatine)
    assert find_terms(said, graph, besides=(creatine,)) == (failure,)
    assert find_terms(said, (failure, replace(creatine, is_studied=False)), besides=()) == (failure,)
