"""Reranking: each step does what it says, writes it down, and drops nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import AgeGroup, Concept, Design, Section, Sentence, TrainingStatus
from qa_app.classic.policy import Policy
from qa_app.classic.query import understand
from qa_app.classic.ranking import WORDS_FOR_MEANING, rerank
from qa_app.pipeline.records import Candidate, Mode
from tests.classic.values import (
    POLICY,
    candidate_lists,
    encode,
    make_candidate,
    make_concept,
    make_question,
    make_study,
)

PLAIN = Policy(
    sentence_weight=0.0,
    design_weight=0.0,
    recency_band=0.0,
    concept_words_weight=0.0,
    leading_weight=0.0,
    variable_weight=0.0,
)
"""Nothing moves a candidate but what a test turns on."""


def ranked(
    *candidates: Candidate,
    question: str = "sets",
    mode: Mode = Mode.BEGINNER,
    vector: Any = None,
    concepts: Sequence[Concept] = (),
    **figures: Any,
) -> tuple[Candidate, ...]:
    asked = make_question(question, mode=mode)
    return rerank(
        candidates,
        question=asked,
        vector=vector,
        understanding=understand(asked, concepts=concepts, collections=()),
        policy=replace(PLAIN, **figures),
        concepts=concepts,
    )


def of_study(score: float, **changes: Any) -> Candidate:
    return make_candidate(score=score, study=make_study(**changes))


@given(candidate_lists(), st.sampled_from(list(Mode)))
def test_ranking_marks_but_never_drops(candidates: tuple[Candidate, ...], mode: Mode) -> None:
    asked = make_question("what are the limitations of the results?", mode=mode)
    understanding = understand(asked, concepts=(), collections=())
    policy = replace(POLICY, mode_weight=0.1, keyword_weight=0.1)

    result = rerank(
        candidates, question=asked, vector=encode([asked.text])[0], understanding=understanding, policy=policy
    )

    assert sorted(c.passage.passage_id for c in result) == sorted(c.passage.passage_id for c in candidates)


@given(candidate_lists(), st.randoms())
def test_the_order_handed_over_changes_nothing(candidates: tuple[Candidate, ...], random: Random) -> None:
    asked = make_question()
    understanding = understand(asked, concepts=(), collections=())
    shuffled = random.sample(candidates, len(candidates))

    first = rerank(candidates, question=asked, vector=None, understanding=understanding, policy=POLICY)

    assert rerank(shuffled, question=asked, vector=None, understanding=understanding, policy=POLICY) == first


@pytest.mark.parametrize(
    ("section", "factor"),
    [
        (Section.LIMITATIONS, 2.0),
        (Section.DISCUSSION, 2.0),
        (Section.PRACTICAL_APPLICATIONS, 1.3),
        (Section.METHODS, 1.0),
    ],
)
def test_sections_asked_for_are_lifted_and_their_neighbours_less(section: Section, factor: float) -> None:
    [result] = ranked(
        make_candidate(score=0.5, section=section),
        question="any caveats?",
        section_boost_exact=2.0,
        section_boost_related=1.3,
    )

    assert result.score == pytest.approx(0.5 * factor)
    assert [b.value for b in result.because if b.step == "section"] == ([factor] if factor > 1 else [])


def test_keywords_are_counted_once_each_in_heading_and_text() -> None:
    [result] = ranked(
        make_candidate("Sets, sets and more sets of squats.", score=0.5, heading="Growth"),
        question="sets growth sleep squat",
        keyword_weight=0.1,
    )

    assert result.keyword_hits == 3
    assert result.score == pytest.approx(0.5 + 0.1 * 3 / 4)


def test_the_best_sentence_lifts_its_passage() -> None:
    sentences = (Sentence(0, 3, (1.0, 0.0)), Sentence(4, 7, (0.6, 0.8)))
    candidate = make_candidate("One. Two.", score=0.5, sentences=sentences)

    [result] = ranked(candidate, vector=(0.6, 0.8), sentence_weight=0.5)

    assert result.sentence_cosines == (0.6, 1.0)
    assert result.score == pytest.approx(0.5 + 0.5 * 1.0)


def test_the_words_of_a_passage_that_waits_stand_in_for_its_meaning() -> None:
    waiting = make_candidate("Ten sets help.", score=0.5, sentences=(Sentence(0, 14),))
    foreign = make_candidate("Zinc and sleep.", score=0.5, sentences=(Sentence(0, 15),))

    near, far = ranked(waiting, foreign, question="ten sets", vector=(0.6, 0.8), sentence_weight=0.5)

    assert near.score == pytest.approx(0.5 + 0.5 * WORDS_FOR_MEANING)
    assert far.score == pytest.approx(0.5 + 0.5 * WORDS_FOR_MEANING / 2)  # its title has one of the two words


def test_a_stronger_design_leads_among_equals() -> None:
    trial, review = of_study(0.5, design=Design.COHORT_STUDY), of_study(0.5, design=Design.META_ANALYSIS)

    assert [c.passage.study.design for c in ranked(trial, review, design_weight=0.02)] == [
        "meta_analysis",
        "cohort_study",
    ]


@pytest.mark.parametrize(
    ("mode", "first"), [(Mode.BEGINNER, Design.META_ANALYSIS), (Mode.INTERMEDIATE, Design.RANDOMIZED_CONTROLLED_TRIAL)]
)
def test_beginners_get_reviews_first_and_others_trained_lifters(mode: Mode, first: Design) -> None:
    trained = of_study(0.5, training_status=TrainingStatus.TRAINED)
    review = of_study(0.5, design=Design.META_ANALYSIS)

    assert ranked(trained, review, mode=mode, mode_weight=0.1)[0].passage.study.design is first


def test_trained_children_are_no_evidence_for_trained_adults() -> None:
    youth = of_study(0.5, training_status=TrainingStatus.ATHLETES, age_group=AgeGroup.YOUTH)
    section = replace(youth, passage=replace(youth.passage, section=Section.METHODS))

    [result] = ranked(section, mode=Mode.INTERMEDIATE, mode_weight=0.1)

    assert result.score == 0.5


def steps(candidate: Candidate) -> dict[str, float]:
    return {step.step: step.value for step in candidate.because}


def test_a_part_of_an_alias_speaks_for_the_studies_of_its_make_concept() -> None:
    concepts = (make_concept("hypertrophy", "get bigger"), make_concept("strength", "get stronger"))
    growth, strength = (
        of_study(0.5, study_id="S1", concepts=("hypertrophy",)),
        of_study(0.6, study_id="S2", concepts=("strength",)),
    )

    first, second = ranked(strength, growth, question="will i be bigger", concepts=concepts, concept_words_weight=0.4)

    assert first.passage == growth.passage
    assert steps(first) == {"concept words": 0.4}
    assert steps(second) == {}


def test_studies_of_the_part_of_the_training_that_is_asked_about_come_first() -> None:
    concepts = (
        make_concept("volume", kind="training_variable", rarity=2.0),
        make_concept("load", kind="training_variable"),
    )
    near = of_study(0.6, study_id="S1", concepts=("load",))
    meant = of_study(0.5, study_id="S2", concepts=("volume",))

    first, second = ranked(near, meant, question="more volume?", concepts=concepts, variable_weight=0.4)

    assert first.passage == meant.passage
    assert (steps(first), steps(second)) == ({"asked variable": 0.4}, {})


def test_what_is_held_equal_is_not_what_is_asked_about() -> None:
    concepts = (make_concept("volume", kind="training_variable", rarity=2.0),)
    meant = of_study(0.5, study_id="S2", concepts=("volume",))

    (only,) = ranked(meant, question="how often to train with equal volume?", concepts=concepts, variable_weight=0.4)

    assert steps(only) == {}


def test_a_word_of_many_concepts_says_little() -> None:
    concepts = (
        make_concept("muscle growth"),
        make_concept("muscle strength"),
        make_concept("muscle soreness"),
        make_concept("sleep"),
    )
    growth = of_study(0.5, study_id="S1", concepts=("muscle growth",))
    sleep = of_study(0.5, study_id="S2", concepts=("sleep",))

    first, second = ranked(growth, sleep, question="muscle sleep", concepts=concepts, concept_words_weight=1.0)

    assert first.passage == sleep.passage
    assert steps(second)["concept words"] < 0.5 < steps(first)["concept words"]
    assert steps(first)["concept words"] + steps(second)["concept words"] == pytest.approx(1.0, abs=1e-3)


def test_studies_of_the_same_concepts_as_the_leading_ones_come_up() -> None:
    concepts = (
        make_concept("volume", rarity=3.0),
        make_concept("hypertrophy", rarity=1.0),
        make_concept("sleep", rarity=3.0),
    )
    leader = of_study(2.0, study_id="S1", concepts=("volume", "hypertrophy"))
    alike = of_study(0.5, study_id="S2", concepts=("volume",))
    other = of_study(0.51, study_id="S3", concepts=("hypertrophy", "sleep"))

    result = ranked(other, alike, leader, concepts=concepts, leading_weight=0.6, leading_studies=1)

    assert [c.passage.study.study_id for c in result] == ["S1", "S2", "S3"]
    assert [steps(c)["leading studies"] for c in result] == pytest.approx([0.6, 0.6 * 3 / 4, 0.6 * 1 / 4])


def test_of_two_leading_studies_the_closer_one_tells_more() -> None:
    concepts = (make_concept("volume", rarity=1.0), make_concept("sleep", rarity=1.0))
    first = of_study(1.0, study_id="S1", concepts=("volume",))
    second = of_study(0.9, study_id="S2", concepts=("sleep",))

    result = ranked(first, second, concepts=concepts, leading_weight=1.0, leading_studies=2, leading_closeness=0.1)

    assert steps(result[1])["leading studies"] / steps(result[0])["leading studies"] == pytest.approx(exp(-1), abs=1e-3)


@given(candidate_lists(max_size=8))
def test_a_corpus_without_concepts_is_ranked_by_its_passages_alone(candidates: tuple[Candidate, ...]) -> None:
    for result in ranked(*candidates, concept_words_weight=1.0, leading_weight=1.0):
        assert not {"concept words", "leading studies"} & steps(result).keys()


def test_the_newer_study_leads_only_inside_the_band() -> None:
    best, close, far = of_study(0.90, year=2001), of_study(0.89, year=2022), of_study(0.70, year=2025)

    result = ranked(best, close, far, recency_band=0.02)

    assert [c.passage.study.year for c in result] == [2022, 2001, 2025]
    assert result[0].because[-1].step == "recency"
    assert result[2].because == ()


def test_a_study_without_a_year_is_never_newer() -> None:
    unknown, old = of_study(0.5, year=None), of_study(0.5, year=1990)

    assert [c.passage.study.year for c in ranked(unknown, old, recency_band=0.02)] == [1990, None]


def test_ties_are_broken_by_passage_id() -> None:
    candidates = [make_candidate(score=0.5, passage_id=n) for n in (9, 3, 6)]

    assert [c.passage.passage_id for c in ranked(*candidates)] == [3, 6, 9]


@given(candidate_lists(max_size=8))
def test_every_change_of_a_score_is_written_down(candidates: tuple[Candidate, ...]) -> None:
    asked = make_question("why are there limitations?")
    understanding = understand(asked, concepts=(), collections=())

    for result in rerank(candidates, question=asked, vector=None, understanding=understanding, policy=POLICY):
        score = next(c.score for c in candidates if c.passage.passage_id == result.passage.passage_id)
        for step in result.because:
            score = score * step.value if step.effect.startswith("x") else score + step.value * (step.step != "recency")
        assert result.score == pytest.approx(score, abs=1e-3)


def test_where_the_newest_is_asked_for_the_newer_comes_up() -> None:
    old = of_study(1.0, study_id="S1", year=2014)
    newer = of_study(0.9, study_id="S2", year=2019)
    newest = of_study(0.8, study_id="S3", year=2024)

    asked = ranked(old, newer, newest, question="what is the newest study on sets?", year_weight=0.5)

    assert [c.passage.study.study_id for c in asked] == ["S3", "S2", "S1"]
    assert [steps(c).get("year") for c in asked] == pytest.approx([0.5, 0.25, None])
    assert [c.passage.study.study_id for c in ranked(old, newer, newest, year_weight=0.5)] == ["S1", "S2", "S3"]


def test_the_year_that_is_named_comes_first_among_those_that_are_near() -> None:
    near = of_study(0.8, study_id="S1", year=2017)
    other = of_study(1.0, study_id="S2", year=2024)
    far = of_study(-0.5, study_id="S3", year=2017)

    result = ranked(near, other, far, question="what did the 2017 meta-analysis find?", year_weight=0.5, year_band=1.0)

    assert [c.passage.study.study_id for c in result] == ["S1", "S2", "S3"]
    assert [steps(c).get("year") for c in result] == pytest.approx([0.5, None, None])


def test_studies_without_a_year_are_left_where_they_are() -> None:
    result = ranked(of_study(1.0, study_id="S1", year=None), question="the latest study on sets?", year_weight=0.5)

    assert "year" not in steps(result[0])
