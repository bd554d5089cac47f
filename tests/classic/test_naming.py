"""Names that a number or a letter belongs to."""

from __future__ import annotations

import pytest

from corpus_app.records import Concept
from qa_app.classic.naming import find_concepts, find_name_spans, find_numbered, names, names_of


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Does lifting help in type 1 diabetes?", ("type 1",)),
        ("Types 1 and 2 diabetes", ("type 1", "type 2")),
        ("type I vs type II fibres", ("type 1", "type 2")),
        ("vitamins B6, B12 and D", ("vitamin b6", "vitamin b12", "vitamin d")),
        ("low in vitamin D, I am weak", ("vitamin d",)),
        ("types I, II and III", ("type 1", "type 2", "type 3")),
        ("Omega-3 and omega 6 fats", ("omega 3", "omega 6")),
        ("GLP\u20111 drugs, IL-6 and COVID-19", ("glp 1", "il 6", "covid 19")),
        ("stage 4 kidney disease, grade II", ("stage 4", "grade 2")),
        ("aged 40-65, 3 sets of 8-12, 20 g, RPE 8, post-12 weeks", ()),
        ("types of training in a class a week", ()),
        ("creatine 5 g after 2 hours; women over 65", ()),
    ],
)
def test_a_number_belongs_to_a_name(text: str, names: tuple[str, ...]) -> None:
    assert find_numbered(text) == names


def concept(concept_id: str, *names: str) -> Concept:
    name, *aliases = names
    return Concept(concept_id, name, "outcome", tuple(aliases), "", ())


def test_a_concept_is_named_by_the_names_that_it_has_now() -> None:
    before, after = concept("growth", "hypertrophy"), concept("growth", "hypertrophy", "muscle growth")

    assert not names("Muscle growth was measured.", before)
    assert names("Muscle growth was measured.", after)
    assert not names("Muscle growth was measured.", before)


def test_concepts_handed_out_anew_are_looked_for_anew() -> None:
    before, after = (concept("growth", "hypertrophy"),), (concept("growth", "muscle growth"),)

    assert find_concepts("muscle growth", before) == ()
    assert find_concepts("muscle growth", after) == after
    assert names_of(before).ids_in("muscle growth") == frozenset()
    assert names_of(after).ids_in("muscle growth") == {"growth"}
    assert names_of(after) is names_of(after)


def test_a_list_of_concepts_that_has_grown_is_looked_for_as_it_is() -> None:
    known = [concept("growth", "hypertrophy")]
    assert find_concepts("hypertrophy and strength", known) == tuple(known)

    known.append(concept("strength", "strength"))

    assert find_concepts("hypertrophy and strength", known) == tuple(known)


@pytest.mark.parametrize("said", ["parkinson's", "parkinsons", "parkinson’s"])
def test_an_apostrophe_may_be_left_out(said: str) -> None:
    illness = concept("parkinson", "Parkinson's disease", "Parkinson's")

    assert find_concepts(f"does creatine help with {said}?", (illness,)) == (illness,)
    assert names(f"People with {said} were stronger.", illness)


def test_what_is_done_is_named_by_whoever_does_it() -> None:
    hour = concept("time-of-day", "time of day of training", "training in the morning")
    fasted = concept("fasted", "fasted training", "lifting fasted")
    weights = concept("weights", "weights", "lifting weights")
    graph = (hour, fasted, weights)

    assert find_concepts("is it better to train in the morning?", graph) == (hour,)
    assert find_concepts("should I lift weights?", graph) == (weights,)
    assert find_concepts("should I lift fast to lose weight?", graph) == ()


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("do I grow more muscle with more sets?", "grow more muscle"),
        ("will my legs get any bigger?", "get any bigger"),
        ("can I put on a lot of muscle?", "put on a lot of muscle"),
        ("I put my mat on the muscle map", ""),
        ("how much muscle does a woman put on in a year?", "muscle"),
        ("how much more lean muscle can I hope to grow", ""),
        ("how many kilos of muscle can an old man grow", "muscle"),
        ("how much does a muscle grow", ""),
        ("how much muscle can I expect to put on", "muscle"),
        ("how much muscle pain will I grow used to", ""),
        ("how much muscle do I need to grow old well, or to grow strong", ""),
        ("how much muscle should I have if I want to grow", ""),
        ("so much muscle that they grow", ""),
        ("how much?", ""),
    ],
)
def test_an_amount_may_stand_within_a_name_or_be_asked_of_it(said: str, named: str) -> None:
    growth = concept("growth", "hypertrophy", "grow muscle", "put on muscle", "get bigger")

    spans = find_name_spans(said, (growth,))

    assert [said[start:end] for start, end, _ in spans] == ([named] if named else [])


@pytest.mark.parametrize(
    ("said", "is_named"),
    [
        ("does lifting make you stronger?", True),
        ("does lifting make my old mother stronger?", True),
        ("it made her legs stronger in a year", True),
        ("does it make for a stronger effect?", False),
        ("is the evidence stronger?", False),
        ("make stronger tea", False),
        ("does milk make my bones stronger?", False),
        ("does it make my immune system stronger?", False),
        ("does it make you bigger and stronger?", True),
        ("does it make or has it made you stronger?", True),
    ],
)
def test_what_one_may_get_one_may_be_made(said: str, is_named: bool) -> None:
    strength = concept("strength", "muscle strength", "get stronger")

    assert find_concepts(said, (strength,)) == ((strength,) if is_named else ())
    assert find_name_spans("make or made you stronger", (strength,)) == ((17, 25, strength),)


def test_a_doing_that_is_something_else_too_is_named_in_its_own_form() -> None:
    slow = concept("eccentric", "eccentric training", "lowering the weight")
    boxing = concept("boxing", "boxing", "boxing training")

    assert find_concepts("is lowering the weight better?", (slow, boxing)) == (slow,)
    assert find_concepts("should I lower the weight?", (slow, boxing)) == ()
    assert find_concepts("how boxers train", (slow, boxing)) == ()


def test_what_two_concepts_would_claim_names_neither() -> None:
    one, other = concept("one", "training heavy"), concept("other", "train heavy")

    assert find_concepts("training heavy", (one, other)) == (one,)
    assert find_concepts("train heavy", (one, other)) == (other,)
    assert find_concepts("train heavying", (one, other)) == ()
