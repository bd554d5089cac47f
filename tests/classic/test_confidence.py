"""Signals, estimates and outcomes: bounded, from raw scores alone, and none for a refusal."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qa_app.classic.confidence import (
    answerability,
    assess,
    decide,
    estimate,
    of_a_part,
    questions_without,
    read_signals,
    unmet_names,
    unmet_word,
    with_bearing,
    with_unmet,
)
from qa_app.classic.query import understand
from qa_app.pipeline.calibration import Logistic

from corpus_app.records import Concept, NearFinding
from qa_app.pipeline.records import Candidate, Confidence, Found, Outcome, Signals, Understanding
from tests.classic.values import (
    POLICY,
    candidate_lists,
    encode,
    make_candidate,
    make_concept,
    make_found,
    make_question,
    make_study,
)

LINE = Logistic(-1.0, (("a", 2.0), ("b", -1.0)), "nothing")
NAMES = (
    "top_cosine", "second_study_cosine", "separation", "top_passage_cosine", "nearest_three", "first_lead", "first_lead_by_words",
    "first_coverage", "unmet_word", "unmet_together", "coverage", "pool_coverage", "subject_coverage", "missing_idf", "bm25", "concepts", "first_waits",
    "agreement", "asked_lead", "unasked",
)  # fmt: skip
SIGNED = {"separation", "first_lead", "first_lead_by_words"}
figures = st.fixed_dictionaries({name: st.floats(0, 1) for name in NAMES})


def understood(text: str, **options: object) -> Understanding:
    return understand(make_question(text), **({"concepts": (), "collections": ()} | options))  # type: ignore[arg-type]


def read(candidates: Sequence[Candidate], found: Found, text: str, **options: Any) -> Signals:
    concepts = options.pop("concepts", ())
    return read_signals(candidates, found, make_question(text), understood(text, concepts=concepts), **options)


def signals(**values: float) -> Signals:
    return Signals(dict.fromkeys(NAMES, 0.0) | values)


@given(st.dictionaries(st.sampled_from("abc"), st.floats(-1e9, 1e9)))
def test_an_estimate_is_a_chance_whatever_the_signals(values: dict[str, float]) -> None:
    assert 0.0 < estimate(LINE, values) < 1.0


def test_an_estimate_follows_its_weights_and_absent_signals_count_nothing() -> None:
    assert estimate(LINE, {"a": 1.0}) > estimate(LINE, {}) > estimate(LINE, {"b": 1.0})
    assert estimate(LINE, {"unknown": 9.0}) == estimate(LINE, {})


@given(candidate_lists(), st.text(max_size=50))
def test_every_signal_has_a_name_and_a_raw_scale(candidates: tuple[Candidate, ...], text: str) -> None:
    found = make_found([c.hit for c in candidates], searchable_passages=len(candidates))

    values = read(candidates, found, text).values

    assert set(values) == set(NAMES)
    assert all(
        0.0 <= values[name] <= 1.0 for name in NAMES if "cosine" not in name and name not in {*SIGNED, "nearest_three"}
    )


def test_signals_of_nothing_found_are_all_low() -> None:
    values = read((), make_found([]), "pizza in naples").values

    assert (values["top_cosine"], values["pool_coverage"], values["missing_idf"] > 0) == (0.0, 0.0, True)


def test_terms_that_no_near_passage_holds_are_named_rarest_first() -> None:
    found = make_found([], searchable_passages=100, document_frequency=(("sleep", 40), ("pizza", 0), ("set", 50)))

    result = read([make_candidate("Ten sets.", heading="")], found, "sets, sleep and pizza")

    assert result.missing_terms == ("pizza", "sleep")


def test_signals_do_not_depend_on_fused_scores() -> None:
    candidates = (make_candidate(score=0.9), make_candidate(score=0.1))
    found = make_found([c.hit for c in candidates], searchable_passages=2)
    lifted = tuple(replace(c, score=c.score + 5, fused=0.0) for c in candidates)

    assert read(candidates, found, "sets") == read(lifted, found, "sets")


@given(candidate_lists())
def test_the_chance_that_a_passage_bears_is_0_to_100(candidates: tuple[Candidate, ...]) -> None:
    marked = with_bearing(candidates, understood("how many sets?"), POLICY)

    assert all(0 <= c.bears <= 100 for c in marked)
    assert [c.passage for c in marked] == [c.passage for c in candidates]


@pytest.mark.parametrize(
    ("values", "concepts", "expected"),
    [
        ({"top_cosine": 0.8, "nearest_three": 0.8, "subject_coverage": 1.0}, (), Outcome.ANSWERED),
        (
            {
                "top_cosine": 0.4,
                "nearest_three": 0.3,
                "subject_coverage": 0.3,
                "unmet_word": 0.1,
                "unmet_together": 0.3,
            },
            (),
            Outcome.INSUFFICIENT_EVIDENCE,
        ),
        (
            {
                "top_cosine": 0.8,
                "nearest_three": 0.6,
                "subject_coverage": 1.0,
                "unmet_word": 0.4,
                "unmet_together": 0.4,
            },
            (),
            Outcome.INSUFFICIENT_EVIDENCE,
        ),
        ({"top_cosine": 0.1}, (), Outcome.OUT_OF_SCOPE),
        ({"top_cosine": 0.1}, (make_concept("sets"),), Outcome.INSUFFICIENT_EVIDENCE),
    ],
)
def test_the_outcome_follows_the_signals(
    values: dict[str, float], concepts: tuple[object, ...], expected: Outcome
) -> None:
    assert decide(signals(**values), understood("sets", concepts=concepts), POLICY) is expected


@given(figures, figures)
def test_an_answer_is_written_exactly_from_the_threshold_on(first: dict[str, float], second: dict[str, float]) -> None:
    for values in (first, second):
        read = Signals(values)
        model, threshold = POLICY.answerability, POLICY.answerable_from
        if read.by_words_alone:
            model, threshold = POLICY.answerability_by_words, POLICY.answerable_by_words_from
        answered = decide(read, understood("sets"), POLICY) is Outcome.ANSWERED
        is_far = not read.by_words_alone and values.get("top_cosine", 0.0) < POLICY.answers_from
        assert answered == (not is_far and estimate(model, values) >= threshold)


@given(figures)
def test_the_estimate_by_words_is_sure_where_words_are_and_meets_the_threshold_where_theirs_does(
    values: dict[str, float],
) -> None:
    read = Signals({**values, "top_cosine": 0.0, "first_waits": 1.0})
    chance, threshold = estimate(POLICY.answerability_by_words, read.values), POLICY.answerable_by_words_from

    assert read.by_words_alone
    assert (answerability(read, POLICY) >= POLICY.answerable_from) == (chance >= threshold)
    assert answerability(read, replace(POLICY, answerable_by_words_from=0.0)) >= POLICY.answerable_from
    assert 1 - answerability(read, POLICY) <= (1 - chance) / (1 - threshold) + 1e-9


def test_nothing_is_written_of_what_comes_near_nothing_or_names_nothing() -> None:
    sure = {"top_cosine": 0.9, "nearest_three": 0.9, "subject_coverage": 1.0}

    assert decide(signals(**sure), understood("sets"), POLICY) is Outcome.ANSWERED
    assert decide(signals(**sure), understood("?"), POLICY) is not Outcome.ANSWERED
    assert decide(signals(**sure | {"top_cosine": 0.2}), understood("sets"), POLICY) is not Outcome.ANSWERED


@given(figures)
def test_the_label_follows_the_score(values: dict[str, float]) -> None:
    read = Signals(values)

    result = assess(read, (), POLICY)

    assert 0 <= result.score <= 100
    assert result.label == ("high" if result.score >= 90 else "medium" if result.score >= 75 else "low")
    model = POLICY.confidence_by_words if read.by_words_alone else POLICY.confidence
    assert result.calibration == model.fitted_on


def test_confidence_gives_its_reasons() -> None:
    far = assess(Signals(dict(signals(top_cosine=0.3).values), ("pizza",)), (), POLICY).reasons
    by_words = assess(Signals(dict(signals(top_cosine=0.0).values)), (), POLICY).reasons

    assert "no passage comes very close to the question" in far
    assert "not every word of the question stands in the evidence" in far
    assert "search by meaning was not available" in by_words


def test_a_search_without_hits_ends_out_of_scope() -> None:
    nothing = understood("")

    assert decide(read((), make_found([]), ""), nothing, POLICY) is Outcome.OUT_OF_SCOPE


# --- The word that no passage holds -----------------------------------------------------------------------------------


def without(text: str, *passages: str, concepts: tuple[Concept, ...] = (), **changes: Any) -> tuple[str, ...]:
    candidates = [make_candidate(passage, heading="", **changes) for passage in passages]
    found = make_found([c.hit for c in candidates], searchable_passages=100, document_frequency=(("sleep", 40),))
    return questions_without(candidates, make_question(text), understood(text, concepts=concepts), found, POLICY)


def test_each_word_that_no_near_passage_holds_is_left_away_once_the_rarest_first() -> None:
    assert without("do sets and sleep help hair and Hair?", "Ten sets.") == (
        "do sets and sleep help and ?",
        "do sets and help hair and Hair?",
        "do sets and help and ?",
    )


def test_two_words_that_mean_one_thing_are_left_away_together_last() -> None:
    assert without("do sets risk venous thrombosis?", "Ten sets risk.")[-1] == "do sets risk ?"
    assert without("venous thrombosis?", "Ten sets.")[-1] == ""


def test_a_question_whose_every_word_is_held_is_not_tried() -> None:
    assert without("how many sets?", "Ten sets.") == ()


def test_numbers_and_words_that_ask_for_a_section_are_not_tried() -> None:
    assert without("What are the limitations of 12 sets?", "Ten sets.") == ()


def test_a_word_is_held_by_one_that_belongs_to_it() -> None:
    assert without("does it make me stronger, and does it grow arms?", "Strength and the growth of arms.") == ()
    assert without("stronger sets?", "Ten sets.") == ("sets?",)


def test_a_concept_is_held_under_each_of_its_names() -> None:
    strength = make_concept("strength", "jacked")

    assert without("will I get jacked?", "Strength rose.", concepts=(strength,)) == ()
    assert without("will I get jacked?", "Ten sets.", concepts=(strength,)) == ("",)


def test_what_no_study_is_about_is_held_under_each_of_its_names_too() -> None:
    breakdown = make_concept("rhabdomyolysis", "rhabdo", kind="condition", is_studied=False)

    assert without("sets and rhabdo?", "Ten sets and rhabdomyolysis.", concepts=(breakdown,)) == ()
    assert without("sets and rhabdo?", "Ten sets.", concepts=(breakdown,)) == ("sets and ?",)


def test_words_that_judge_or_ask_for_a_share_are_not_tried() -> None:
    assert without("Is it a silly idea, or proven, in percent, that sets boost my brother?", "Ten sets.") == ()


def test_a_concept_is_held_where_the_study_is_about_it() -> None:
    bands = make_concept("elastic-resistance", "bands")

    assert (
        without("do bands work?", "Ten sets.", concepts=(bands,), study=make_study(concepts=("elastic-resistance",)))
        == ()
    )


def test_no_more_words_are_tried_than_the_policy_allows() -> None:
    assert (
        len(without("alpha beta gamma delta epsilon zeta theta iota kappa", "Ten sets.")) == POLICY.probed_words + 1
    )  # and all together


def unmet(text: str, *passages: str, concepts: tuple[Concept, ...] = (), **changes: Any) -> tuple[str, ...]:
    candidates = [make_candidate(passage, heading="", **changes) for passage in passages]
    return unmet_names(candidates, make_question(text), understood(text, concepts=concepts))


def test_another_number_is_another_name() -> None:
    question = "Does lifting help in type 1 diabetes?"

    assert unmet(question, "Lifting helped in type 2 diabetes.") == ("type 1",)
    assert unmet(question, "Lifting helped in type 2 diabetes.", "And in types 1 and 2.") == ()


def test_a_brand_is_unmet_unless_a_passage_speaks_of_brands() -> None:
    question = "which brand of creatine is best?"

    assert unmet(question, "Creatine raised strength.") == ("brand",)
    assert unmet(question, "Two brands of creatine raised strength alike.") == ()
    assert unmet("how much does creatine cost?", "The energy cost of running fell.") == ("cost",)


def test_a_name_with_a_number_is_held_where_its_concept_is() -> None:
    fish_oil = make_concept("fish oil", "omega-3")

    assert unmet("does omega-3 help?", "Fish oil helped.", concepts=(fish_oil,)) == ()
    assert unmet("does omega-3 help?", "Ten sets.", concepts=(fish_oil,)) == ("omega 3",)


def test_a_concept_of_two_numbers_stands_for_neither() -> None:
    diabetes = make_concept("diabetes", "type 1 diabetes", "type 2 diabetes")

    assert unmet("lifting in type 1 diabetes?", "Type 2 diabetes.", concepts=(diabetes,)) == ("type 1",)
    assert unmet("lifting in type 2 diabetes?", "Type 2 diabetes.", concepts=(diabetes,)) == ()


def test_a_missing_name_is_told_and_lowers_what_is_held_of_the_subject() -> None:
    candidates = [make_candidate("Lifting helped people with type 2 diabetes.", heading="")]
    found = make_found([c.hit for c in candidates], searchable_passages=100, document_frequency=())

    held = read(candidates, found, "does lifting help type 2 diabetes")
    missing = read(candidates, found, "does lifting help type 1 diabetes")

    assert (held.missing_names, missing.missing_names) == ((), ("type 1",))
    assert missing.values["subject_coverage"] < held.values["subject_coverage"]


SAUNA = make_concept("sauna", "steam room", kind="intervention", is_studied=False)
ASTHMA = make_concept("asthma", kind="condition", is_studied=False)
TENNIS = make_concept("tennis", kind="population", is_studied=False)
LUNGES = make_concept("lunges", kind="training_variable", is_studied=False)
CREATINE = make_concept("creatine", kind="nutrient")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Does a steam room build muscle?", ("steam room",)),
        ("Does a Sauna build muscle?", ("Sauna",)),
        ("How do I build muscle with asthma?", ("asthma",)),
        ("I love my sauna after work. How many sets build muscle?", ()),  # what else somebody does
        ("My coach told me to use the sauna. Does it build any muscle?", ("sauna",)),  # what a pronoun takes up
        ("I have asthma since years. How many sets build muscle?", ("asthma",)),  # what somebody has
        ("Does tennis build muscle?", ()),  # named in passing as a rule; `parts` tells of it
        ("Do lunges help with a big belly?", ("lunges",)),  # nothing else is done
        ("Does creatine help me with lunges?", ()),
    ],
)
def test_a_subject_that_no_study_is_about_is_unmet(question: str, names: tuple[str, ...]) -> None:
    assert unmet(question, "Ten sets build muscle.", concepts=(SAUNA, ASTHMA, TENNIS, LUNGES, CREATINE)) == names


def test_a_subject_that_a_near_passage_speaks_of_is_met() -> None:
    assert unmet("Does a sauna build muscle?", "A steam room built no muscle.", concepts=(SAUNA,)) == ()


def test_the_name_of_a_studied_concept_holds_no_other() -> None:
    hot = make_concept("sauna suit", kind="intervention")

    assert unmet("Does a sauna suit help?", "Ten sets.", concepts=(hot, SAUNA)) == ()


def test_by_words_alone_an_unmet_subject_is_refused_too() -> None:
    read = understood("Does a sauna build muscle?", concepts=(SAUNA, make_concept("muscle")))
    met = signals(subject_coverage=1.0, bm25=1.0)

    assert decide(met, read, POLICY) is Outcome.ANSWERED
    assert decide(replace(met, missing_names=("sauna",)), read, POLICY) is Outcome.INSUFFICIENT_EVIDENCE


def test_a_misspelt_subject_is_unmet_as_it_is_meant() -> None:
    read = understood("does a suana help?", concepts=(SAUNA,), vocabulary={"sets": 1})

    assert read.corrections == (("suana", "sauna"),)
    assert unmet_names([make_candidate("Ten sets.")], make_question("does a suana help?"), read) == ("sauna",)


def test_nothing_unmet_counts_nothing_and_a_question_of_one_unmet_word_counts_all() -> None:
    candidate, (vector,) = make_candidate("Ten sets."), encode(["hair"])

    assert unmet_word([candidate], vector, ()) == 0.0
    assert unmet_word([candidate], vector, (None,)) == 1.0


def test_an_unmet_word_counts_by_its_own_weight_and_by_what_its_absence_gains() -> None:
    text = "Ten sets are enough."
    asked, rest = encode(["sets hair", "sets"])
    (sentence,) = encode([text])

    gained = float(np.dot(sentence, rest)) - float(np.dot(sentence, asked))
    weight = 1 - float(np.dot(asked, rest))

    assert unmet_word([make_candidate(text)], asked, (rest,)) == pytest.approx(gained + weight, abs=1e-5)


@given(candidate_lists(), st.lists(st.sampled_from(["sets", "hair", "sleep well", "protein"]), max_size=4))
def test_how_much_a_word_matters_is_never_negative_and_grows_with_more_words(
    candidates: tuple[Candidate, ...], others: list[str]
) -> None:
    asked, *rest = encode(["sets and hair", *others])

    measured = [unmet_word(candidates, asked, rest[:n]) for n in range(len(rest) + 1)]

    assert measured[0] == 0.0
    assert all(after >= before - 1e-6 for before, after in itertools.pairwise(measured))


def test_an_encoder_that_fails_half_way_leaves_the_words_alone() -> None:
    candidate = make_candidate()

    signals = read([candidate], make_found([candidate.hit]), "sets")

    assert with_unmet(signals, None).by_words_alone
    assert not with_unmet(signals, (0.0, 0.0)).by_words_alone


def test_what_is_unmet_is_added_and_nothing_else_changes() -> None:
    candidate = make_candidate()
    signals = read([candidate], make_found([candidate.hit]), "sets")

    added = with_unmet(signals, (0.1, 0.2)).values

    assert added == {**signals.values, "unmet_word": 0.1, "unmet_together": 0.2}


@given(figures)
def test_cosines_of_an_encoder_that_nothing_was_fitted_for_decide_nothing(values: dict[str, float]) -> None:
    wary = replace(POLICY, trusts_cosines=False)
    louder = dict(values) | dict.fromkeys(("top_cosine", "nearest_three", "first_lead", "separation"), 1.0)

    estimates = [assess(Signals(v), (), wary).score for v in (values, louder)]

    assert estimates[0] == estimates[1]
    assert estimate(wary.answerability_by_words, values) == estimate(wary.answerability_by_words, louder)


def test_of_a_part_the_confidence_does_not_say_that_every_word_is_there() -> None:
    whole = Confidence(
        80, "medium", ("2 studies are cited", "every word of the question stands in the evidence"), "here"
    )

    part = of_a_part(whole, POLICY)

    assert part == replace(whole, reasons=("a part of the question stays open", "2 studies are cited"))


def test_an_answer_to_a_part_is_never_of_high_confidence() -> None:
    part = of_a_part(Confidence(97, "high", (), "here"), POLICY)

    assert (part.score, part.label) == (POLICY.confidence_high - 1, "medium")


def test_a_question_by_which_readers_ask_leads_by_what_it_comes_nearer_than_any_sentence() -> None:
    candidate = replace(make_candidate(), sentence_cosines=(0.4,))
    found = make_found([candidate.hit])

    def values(*near: NearFinding) -> Mapping[str, float]:
        return read([candidate], found, "creatine", near=near).values

    asked, bare = NearFinding("T001", 1, 0.7, (), 0.2), NearFinding("T002", 1, 0.9, ())
    top = values()["top_cosine"]
    assert (values()["asked_lead"], values()["unasked"]) == (0.0, 1.0)
    assert (values(bare)["asked_lead"], values(bare)["unasked"]) == (0.0, 1.0)
    assert values(asked, bare)["asked_lead"] == pytest.approx(0.7 - top)
    assert values(asked, bare)["unasked"] == 0.5
