"""Findings of the cited studies: who agrees, how strong the evidence is, and when a headline says yes or no."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from corpus_app import records
from corpus_app.appraisal import BIAS_DOMAINS, BiasJudgement, BiasTool, CertaintyLevel, DomainBias, RiskOfBias
from corpus_app.records import AgeGroup, Certainty, Design, Direction, Finding, Lean, Notice, Sex, TrainingStatus
from qa_app.pipeline import agreement
from qa_app.pipeline.agreement import FindingConcepts, is_conflicting, map_finding, studies_on, studies_on_question
from qa_app.pipeline.effect_sizes import states_size
from qa_app.pipeline.lexicon import PhraseIndex, words_of
from qa_app.pipeline.matter import Matter, find_agreement, is_about
from qa_app.pipeline.query import NO_UNITS, AskedFacets, Intent
from qa_app.pipeline.question.wording import read_intent
from qa_app.pipeline.records import StudyLean
from qa_app.pipeline.strength import StudySize, assessed, capped, find_certainty, grade, read_certainty
from qa_app.pipeline.verdict import names_matter, read_polarity, verdict
from tests.pipeline.corpora import FACETS, asked
from tests.pipeline.test_parse import examples
from tests.pipeline.values import make_concept, make_query, make_study

UP, DOWN, MORE = Direction.INCREASE, Direction.DECREASE, records.Wanted.MORE
GOOD, BAD, SAME = Direction.FAVOURS_INTERVENTION, Direction.FAVOURS_COMPARATOR, Direction.NO_DIFFERENCE


def test_intents_and_polarities_catch_their_examples_and_miss_the_others() -> None:
    polarity = PhraseIndex.of_language("polarity")

    for name, caught, missed in examples("intent"):
        assert (read_intent(caught) == name, read_intent(missed) == name) == (True, False), name
    for name, caught, missed in examples("polarity"):
        assert (name in polarity.find(words_of(caught)), name in polarity.find(words_of(missed))) == (True, False), name


def test_the_size_of_an_effect_is_no_dose_age_time_or_count() -> None:
    finding = Finding("5 g of creatine a day", "placebo", "strength", UP, "It rose.")

    def states(sentence: str) -> bool:
        return states_size(sentence, finding, FACETS, NO_UNITS)

    assert [*map(states, ("Strength rose by 6.85 kg.", "It rose by about 2 percentage points."))] == [True, True]
    assert not any(map(states, (
        "With 5 g a day, adults got stronger.", "Adults aged 50 to 71 got stronger.", "Over 12 weeks strength rose.",
        "In 60 trials strength rose.", "Strength rose.",
    )))  # fmt: skip


def test_words_of_the_corpus_extend_those_of_the_language() -> None:
    corpus = {"polarity": {"lists": {"helps": {"phrases": ["pull crowds"]}}}}
    ask = "Does jazz pull crowds?"

    for lists, kind in ((None, "none"), (corpus, "helps")):
        phrases = PhraseIndex.of_language("polarity", corpus=lists)
        assert read_polarity(ask, read_intent(ask), phrases).kind == kind


def test_the_verdict_follows_question_and_finding() -> None:
    better, bad = "Does creatine improve strength?", "Is creatine bad for strength?"
    worse = "Is water better than creatine for strength?"
    for ask, lean, direction, expected in (
        (better, Lean.YES, GOOD, "yes"), (better, Lean.NO, BAD, "no"), (better, Lean.YES, UP, "yes"),
        (better, Lean.MIXED, GOOD, "depends"), (better, Lean.NO_CLEAR_DIFFERENCE, SAME, "no_clear_difference"),
        (better, None, GOOD, None), ("Does creatine not improve strength?", Lean.YES, GOOD, None),
        ("Is creatine bad for kidneys?", Lean.NO_CLEAR_DIFFERENCE, SAME, "no_clear_difference"),
        (bad, Lean.YES, GOOD, "no"), (bad, Lean.NO, DOWN, "yes"),
        ("Is creatine better than water for strength?", Lean.YES, GOOD, "yes"), (worse, Lean.YES, GOOD, "no"),
        (worse, Lean.NO, BAD, "yes"), ("Is milk better than soy for strength?", Lean.YES, GOOD, None),
        ("Is creatine as good as water for strength?", Lean.YES, GOOD, "no"),
        ("Creatine or water for strength?", Lean.YES, GOOD, None), ("Can creatine help me?", Lean.YES, GOOD, "yes"),
        ("How much creatine should I take?", Lean.YES, GOOD, "number"), ("creatine strength", Lean.YES, GOOD, None),
        ("Why does creatine work?", Lean.YES, GOOD, "explanation"), ("Which supplements help?", Lean.YES, GOOD, "list"),
    ):  # fmt: skip
        finding, intent = Finding("creatine", "water", "strength", direction, "", lean=lean), read_intent(ask)
        polarity = read_polarity(ask, intent)
        given = verdict(intent, polarity, finding, wanted=MORE, is_on_topic=True, is_whole=True)
        assert given == expected, (ask, lean)


@pytest.mark.parametrize(("is_on_topic", "is_whole", "expected"), [(False, True, None), (True, False, "depends")])
def test_no_yes_for_another_matter_or_half_an_answer(is_on_topic: bool, is_whole: bool, expected: str | None) -> None:
    ask = "Does creatine improve strength?"
    finding = Finding("creatine", "water", "strength", GOOD, "", lean=Lean.YES)
    polarity = read_polarity(ask, read_intent(ask))

    given = verdict(read_intent(ask), polarity, finding, wanted=MORE, is_on_topic=is_on_topic, is_whole=is_whole)

    assert given == expected
    matter = FindingConcepts(frozenset({"creatine"}), frozenset(), frozenset({"strength"}))
    named = [names_matter(frozenset(asked), matter) for asked in ({"creatine", "strength"}, {"creatine"}, {"strength"})]
    assert named == [True, False, False]


def concept(concept_id: str, kind: str, *names: str) -> records.Concept:
    return make_concept(concept_id, kind=kind, name=names[0], aliases=names[1:])


INDEX = agreement.build_alias_index([
    concept("creatine", "nutrient", "creatine", "creatine supplementation"),
    concept("lifting", "intervention", "resistance training", "lifting"),
    concept("keto", "nutrient", "ketogenic diet"), concept("heavy", "training_variable", "high-load training"),
    concept("light", "training_variable", "low-load training"),
    concept("strength", "outcome", "muscle strength", "strength"), concept("1rm", "measure", "1RM"),
    concept("legs", "outcome", "leg press"),
])  # fmt: skip


def finding(
    intervention: str, comparator: str, outcome: str = "strength", *, number: int = 1, study: str = "A", **changes: Any
) -> Finding:
    sides = intervention, comparator, outcome
    return Finding(*sides, Direction.UNCLEAR, "", number, study, **({"lean": Lean.YES} | changes))


def test_a_finding_is_mapped_to_what_differs_between_its_sides() -> None:
    for sides, outcome, *expected in (
        (("creatine supplementation", "placebo"), "strength", {"creatine"}, set(), {"strength"}),
        (("creatine plus lifting", "placebo plus lifting"), "muscle strength", {"creatine"}, set(), {"strength"}),
        (("ketogenic diet", "non-ketogenic diet"), "strength", {"keto"}, set(), {"strength"}),
        (("lifting", "no lifting"), "1RM", {"lifting"}, set(), {"1rm"}),
        (("high-load training", "low-load training"), "strength (1RM leg press)", {"heavy"}, {"light"}, {"strength"}),
        (("more lifting", "some lifting"), "strength", set(), set(), {"strength"}),
        (("creatine", "placebo"), "sleep", {"creatine"}, set(), set()),
    ):  # fmt: skip
        assert map_finding(finding(*sides, outcome), INDEX) == FindingConcepts(*map(frozenset, expected))


def leans_on(one: Finding, *findings: Finding, outcomes: frozenset[str] = frozenset()) -> dict[str, str]:
    concepts = {f.finding_id: map_finding(f, INDEX) for f in (one, *findings)}
    rows = studies_on(concepts[one.finding_id], [one, *findings], concepts, outcomes)
    return {row.study_id: row.lean.value for row in rows}


def test_each_study_on_the_matter_counts_once() -> None:
    one = finding("creatine", "placebo")
    for sides, changes, expected in (
        (("creatine", "placebo"), {"lean": Lean.NO, "study": "B"}, {"A": "yes", "B": "no"}),
        (("creatine", "placebo"), {}, {"A": "yes"}), (("creatine", "placebo"), {"lean": Lean.NO}, {"A": "mixed"}),
        (("creatine", "placebo"), {"lean": Lean.MIXED, "study": "B"}, {"A": "yes", "B": "mixed"}),
        (("creatine", "placebo"), {"lean": None, "study": "B"}, {"A": "yes"}),
        (("lifting", "rest"), {"study": "B"}, {"A": "yes"}),
        (("creatine", "placebo"), {"study": "B", "is_unconfirmed": True}, {"A": "yes"}),
    ):  # fmt: skip
        assert leans_on(one, finding(*sides, number=2, **changes)) == expected


def test_sides_the_other_way_round_count_turned_and_what_is_not_mapped_not_at_all() -> None:
    one, unmapped = finding("high-load training", "low-load training"), finding("sauna", "rest")
    other = finding("low-load training", "high-load training", lean=Lean.NO, number=2, study="B")

    assert leans_on(one, other) == {"A": "yes", "B": "yes"}
    assert leans_on(unmapped) == {}


def test_another_measure_of_the_outcome_asked_about_counts_too() -> None:
    one, other = finding("creatine", "placebo"), finding("creatine", "placebo", "1RM", number=2, study="B")

    assert leans_on(one, other) == {"A": "yes"}
    assert leans_on(one, other, outcomes=frozenset({"strength", "1rm"})) == {"A": "yes", "B": "yes"}


def on_question(*findings: Finding) -> dict[str, str]:
    concepts = {found.concept_id: found for found in INDEX.concepts.values()}
    rows = studies_on_question([concepts["creatine"]], [concepts["strength"]], findings, INDEX, concepts)
    return {row.study_id: row.lean.value for row in rows}


def test_studies_on_what_a_question_names_are_found_by_any_of_its_outcomes_names() -> None:
    same = {"lean": Lean.NO_CLEAR_DIFFERENCE}
    for findings, expected in (
        ([finding("creatine", "placebo", "leg press strength")], {"A": "yes"}),
        ([finding("creatine with resistance training", "placebo")], {"A": "yes"}),
        ([finding("creatine", "placebo"), finding("creatine", "placebo", number=2, **same)], {"A": "yes"}),
        ([finding("creatine", "placebo"), finding("creatine", "placebo", lean=Lean.NO)], {"A": "mixed"}),
        ([finding("creatine", "resistance training"), finding("resistance training", "rest")], {}),
        ([finding("creatine", "placebo", "sleep")], {}),
    ):  # fmt: skip
        assert on_question(*findings) == expected


def test_studies_lean_together_where_one_side_is_clearly_stronger() -> None:
    yes, same = Lean.YES, Lean.NO_CLEAR_DIFFERENCE
    for leans, expected in (
        ([(yes, 4.0), (yes, 2.0), (same, 2.0)], yes), ([(yes, 4.0), (yes, 2.0), (same, 4.0)], None), ([(yes, 4.0)] * 2, None),
        ([(Lean.MIXED, 4.0)] * 3, None),
    ):  # fmt: skip
        rows = [(found(f"S{number}", lean), weight) for number, (lean, weight) in enumerate(leans)]
        assert agreement.consensus(rows) is expected


def test_studies_conflict_where_no_side_is_clearly_stronger() -> None:
    for other, weight, is_conflict in (
        (Lean.NO_CLEAR_DIFFERENCE, 4.0, True), (Lean.NO, 3.0, True), (Lean.NO, 2.0, False), (Lean.MIXED, 4.0, False),
        (Lean.YES, 4.0, False),
    ):  # fmt: skip
        assert is_conflicting([found("A", Lean.YES), found("B", other)], {"A": 4.0, "B": weight}) is is_conflict
    assert not is_conflicting([], {})


HEAVY_SIDES, BLUNT = ("high-load training", "low-load training"), "before training"


def stand(
    asked_for: tuple[str, ...], *findings: Finding, ask: str = "yes_no", **named: Any
) -> tuple[str, str, dict[str, str], set[int]] | None:
    """Where studies stand on what a question names, from the first finding's matter: sides, leans, turned findings."""
    concepts = {found.concept_id: found for found in INDEX.concepts.values()}
    facts: Any = SimpleNamespace(aliases=INDEX, facets=FACETS, concept_index=SimpleNamespace(by_id=concepts))
    rows = studies_on(
        map_finding(findings[0], INDEX), findings, {f.finding_id: map_finding(f, INDEX) for f in findings}
    )
    matter = Matter(findings[0], True, map_finding(findings[0], INDEX), concepts["strength"], rows)
    query = replace(make_query("x"), intent=Intent(ask), intervention=asked_for, outcome=("strength",), **named)
    made = find_agreement(query, matter, facts)
    return made and (
        made.intervention,
        made.comparator,
        {r.study_id: r.lean.value for r in made.studies},
        set(made.turned),
    )


def test_studies_are_counted_as_seen_from_what_a_question_asks_about_and_on_no_other_matter() -> None:
    one, other = finding(*HEAVY_SIDES), finding(*HEAVY_SIDES[::-1], number=2, study="B", lean=Lean.NO_CLEAR_DIFFERENCE)
    third = finding(*HEAVY_SIDES[::-1], number=3, study="C")
    sides = HEAVY_SIDES
    assert stand(("heavy",), one, other, third) == (*sides, {"A": "yes", "B": "no_clear_difference", "C": "no"}, {2, 3})
    turned = {"A": "no", "B": "no_clear_difference", "C": "yes"}
    assert stand(("light",), one, other, third) == (*sides[::-1], turned, {1})
    assert stand(("light", "heavy"), one) == stand(("light",), one, comparator=("heavy",)) != stand(("heavy",), one)
    assert stand(("heavy",), one, comparator=("creatine",)) is None
    assert stand(("heavy", "creatine"), one) is None
    assert stand(("creatine",), one) is stand((), one) is stand(("heavy",), one, ask="how_many") is None
    both = finding("creatine and ketogenic diet", "placebo")
    assert stand(("creatine",), both) is None
    placebo, rise = finding("creatine", "placebo (sugar)"), finding("creatine", BLUNT, number=2, study="B")
    assert stand(("creatine",), placebo, rise) == ("creatine", "placebo", {"A": "yes"}, set())
    assert stand(("creatine",), rise) is None
    other = finding("creatine with lifting", "placebo plus lifting", number=2, study="B")
    assert stand(("creatine",), placebo, other) == ("creatine", "placebo", {"A": "yes", "B": "yes"}, set())
    mixed = finding("creatine during lifting", "lifting with placebo", number=2, study="B")
    again = replace(mixed, comparator="lifting with water", finding_id=1, study_id="A")
    assert stand(("creatine",), again, mixed) == ("creatine", "", {"A": "yes", "B": "yes"}, set())


def test_a_study_has_the_conditions_that_its_people_have() -> None:
    concepts = [concept("gout", "condition", "gout"), concept("late", "condition", "late gout")]
    facts: Any = SimpleNamespace(
        aliases=agreement.build_alias_index(concepts), facets=FACETS,
        concept_index=SimpleNamespace(by_id={one.concept_id: one for one in concepts}),
    )  # fmt: skip
    query = replace(make_query("x"), condition=("gout",))
    for population, outcome, changes, expected in (
        ("Adults with gout", "strength", {}, True), ("Men with late gout", "strength", {}, True),
        ("Healthy adults", "strength", {"concepts": ("gout",)}, False), ("Adults without gout", "strength", {}, False),
        ("Healthy adults", "attacks of gout", {}, True), ("", "strength", {"concepts": ("gout",)}, True),
        ("", "strength", {"title": "Lifting"}, False), ("Adults with gout", "strength", {"sex": Sex.MALE}, False),
    ):  # fmt: skip
        study = make_study(population=population, **({"sex": Sex.FEMALE} | changes))
        women = replace(query, facets=asked(sex="female"))
        assert is_about(study, [finding("lifting", "rest", outcome)], women, facts) is expected, population


def test_no_grade_is_above_the_certainty_that_its_source_or_the_curators_state() -> None:
    for name, caught, missed in examples("certainty"):
        assert (read_certainty([caught]), read_certainty([missed])) == (name, None)
    high = grade([REVIEW], [], AskedFacets(), sizes={"A": LARGE})
    low, moderate = CertaintyLevel.LOW, CertaintyLevel.MODERATE
    for stated, judged, level, codes in (
        (None, None, "high", []), (low, moderate, "low", ["stated_certainty"]), (None, moderate, "moderate", ["judged_certainty"]),
        (moderate, low, "low", ["stated_certainty", "judged_certainty"]), (CertaintyLevel.HIGH, None, "high", []),
    ):  # fmt: skip
        given = capped(high, stated=stated, judged=judged)
        assert given is not None
        assert (given.level, [reason.code for reason in given.reasons[1:]]) == (level, codes)


REVIEW = make_study(design=Design.META_ANALYSIS)
LARGE = StudySize(participants=900, included_studies=20)


def found(study_id: str, lean: Lean) -> StudyLean:
    return StudyLean((finding("lifting", "rest", study=study_id),), lean)


def test_a_grade_starts_from_the_design() -> None:
    levels = {
        Design.META_ANALYSIS: "high", Design.UMBRELLA_REVIEW: "high", Design.COHORT_STUDY: "low", Design.PREPRINT: "very_low",
        Design.NARRATIVE_REVIEW: "low", Design.POSITION_STAND: "low", Design.CROSS_SECTIONAL_STUDY: "very_low",
    }  # fmt: skip
    graded = {d: grade([replace(REVIEW, design=d)], [], AskedFacets(), sizes={"A": LARGE}) for d in Design}

    assert {design: graded[design].level for design in levels} == levels
    assert {tuple(reason.code for reason in one.reasons) for one in map(graded.get, levels) if one} == {("design",)}


def test_each_row_lowers_the_grade_and_says_why() -> None:
    older, women = {"age_group": "older_adults"}, {"sex": "female"}
    for change, size, named, lean, level, codes in (
        ({}, StudySize(900, 4), {}, Lean.YES, "moderate", ["few_studies"]),
        ({}, StudySize(399, 20), {}, Lean.YES, "moderate", ["few_participants"]),
        ({}, StudySize(None, None), {}, Lean.YES, "high", []),
        ({"design": Design.RANDOMIZED_CONTROLLED_TRIAL}, StudySize(30), {}, Lean.YES, "low", ["few_studies", "few_participants"]),
        ({}, LARGE, {}, Lean.MIXED, "moderate", ["mixed_results"]), ({}, LARGE, {}, Lean.UNCLEAR, "moderate", ["unclear_results"]),
        ({}, LARGE, older, Lean.YES, "moderate", ["indirect"]), ({}, LARGE, older | women, Lean.YES, "moderate", ["indirect"]),
        ({"sex": Sex.BOTH}, LARGE, women, Lean.YES, "high", []),
        ({"training_status": TrainingStatus.ATHLETES}, LARGE, {"training_status": "trained"}, Lean.YES, "high", []),
        ({"peer_reviewed": False}, LARGE, {}, Lean.YES, "moderate", ["not_peer_reviewed"]),
        ({"notice": Notice.EXPRESSION_OF_CONCERN}, LARGE, {}, Lean.YES, "moderate", ["concern"]),
        ({"notice": Notice.CORRECTED}, LARGE, {}, Lean.YES, "high", ["corrected"]),
    ):  # fmt: skip
        graded = grade([replace(REVIEW, **change)], [found("A", lean)], asked(**named), sizes={"A": size})
        assert (graded.level, [reason.code for reason in graded.reasons[1:]]) == (level, codes)


def rob_2(*judgements: str) -> RiskOfBias:
    """RoB 2 with these judgements of its first domains; the others are low."""
    domains = BIAS_DOMAINS[BiasTool.ROB_2]
    all_five = [*judgements, *["low"] * (len(domains) - len(judgements))]
    rows = [DomainBias(d, BiasJudgement(j), "As reported.") for d, j in zip(domains, all_five, strict=True)]
    return RiskOfBias(BiasTool.ROB_2, tuple(rows))


HIGH, CONCERNS, LOW = rob_2("high"), rob_2("some_concerns"), rob_2()
CRITICAL = RiskOfBias(BiasTool.ROBINS_I, (), BiasJudgement.CRITICAL)


@pytest.mark.parametrize(("biases", "sizes", "level", "text"), [
    ({"A": HIGH, "B": HIGH}, (900, 900), "moderate", "Most of it is at high"),
    ({"A": HIGH, "B": LOW}, (100, 900), "high", "Some of it is at high"),
    ({"A": HIGH, "B": LOW}, (900, 100), "moderate", "Most of it is at high"),
    ({"A": HIGH}, (None, 900), "moderate", "Most of it is at high"),  # equal weights where a size is not known
    ({"A": rob_2("high", "high", "high")}, (900, 500), "low", "Most of it is at very high"),
    ({"A": CRITICAL, "B": HIGH}, (500, 900), "moderate", "Most of it is at high"),
    ({"A": CRITICAL}, (900, 500), "low", "Most of it is at very high"),
    ({"A": CONCERNS}, (900, 500), "high", "There are some concerns"),
    ({"A": LOW, "B": LOW}, (900, 900), "high", "Its risk of bias was judged to be low."),
    ({"A": LOW}, (900, 900), "high", None), ({"elsewhere": HIGH}, (900, 900), "high", None),
])  # fmt: skip
def test_the_risk_of_bias_of_most_of_the_evidence_lowers_the_grade(
    biases: dict[str, RiskOfBias], sizes: tuple[int | None, int], level: str, text: str | None
) -> None:
    both = {name: StudySize(size, 20) for name, size in zip("AB", sizes, strict=True)}

    graded = grade([REVIEW, replace(REVIEW, study_id="B")], [], AskedFacets(), sizes=both, biases=biases)

    assert (graded.level, len(graded.reasons)) == (level, 2 if text else 1)
    assert graded.reasons[-1].text.startswith(text or "The best evidence")


OLDER = replace(JUDGED := Certainty("creatine", "strength", CertaintyLevel.HIGH, ("Two reviews agree.",)),
                level=CertaintyLevel.LOW, age_group=AgeGroup.OLDER_ADULTS)  # fmt: skip
ON_CLAY = replace(JUDGED, level=CertaintyLevel.MODERATE, facets=(("soil", ("clay",)),))


@pytest.mark.parametrize(("named", "level"), [
    ({}, "high"), ({"facets": asked(age_group="older_adults")}, "low"), ({"outcome": ()}, None),
    ({"facets": AskedFacets(values={"soil": ("clay",)})}, "moderate"),
    ({"facets": AskedFacets(values={"soil": ("sand",)})}, None), ({"facets": asked(age_group="youth")}, None), ({"comparator": ("caffeine",)}, None),
    ({"intervention": ("creatine", "caffeine")}, None), ({"condition": ("sarcopenia",)}, None),
])  # fmt: skip
def test_the_curators_judge_a_question_about_just_what_they_judged(named: dict[str, Any], level: str | None) -> None:
    query = replace(make_query("Does creatine help?"), intervention=("creatine",), outcome=("strength",))

    found = find_certainty((JUDGED, OLDER, ON_CLAY), replace(query, **named))

    assert (found and found.level) == level


@pytest.mark.parametrize(("notices", "level", "last"), [
    ([Notice.NONE], "high", "curators_reason"), ([Notice.EXPRESSION_OF_CONCERN], "moderate", "concern"),
    ([Notice.NONE, Notice.RETRACTED], "high", "curators_reason"), ([Notice.RETRACTED], "very_low", "retracted"),
])  # fmt: skip
def test_a_judgement_is_no_better_than_the_notices_allow(notices: list[Notice], level: str, last: str) -> None:
    strength = assessed(JUDGED, [replace(REVIEW, notice=notice) for notice in notices])

    assert (strength.level, strength.reasons[-1].code) == (level, last)


def test_disagreement_retractions_and_parts_lower_the_grade_but_no_weaker_design_beside_a_review() -> None:
    other, sizes = replace(REVIEW, study_id="B"), {"A": LARGE, "B": LARGE}
    findings = [found("A", Lean.YES), found("B", Lean.NO_CLEAR_DIFFERENCE)]
    weak = replace(REVIEW, study_id="B", design=Design.THESIS, peer_reviewed=False)

    disagreeing = grade([REVIEW, other], findings, AskedFacets(), sizes=sizes)
    retracted = grade([replace(REVIEW, notice=Notice.RETRACTED)], [], AskedFacets(), sizes={})
    part = grade([REVIEW], [], AskedFacets(), sizes={}, is_partial=True)

    assert (disagreeing.level, disagreeing.reasons[-1].code) == ("moderate", "disagreement")
    assert (retracted.level, retracted.reasons[0].code) == ("very_low", "retracted")
    assert (part.level, "indirect_question" in {reason.code for reason in part.reasons}) == ("moderate", True)
    assert grade([weak, REVIEW], [found("B", Lean.NO)], AskedFacets(), sizes={"A": LARGE}).level == "high"
    with pytest.raises(ValueError, match="without a study"):
        grade([], [], AskedFacets(), sizes={})
