"""Alternatives: what studies set against each other of the things that a question names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.records import AgeGroup, Direction, Finding
from qa_app.classic.alternatives import find_alternatives, widest
from qa_app.classic.evidence import find_citable
from qa_app.classic.generation.sentences import rank_sentences
from qa_app.classic.naming import MOST_NEIGHBOURS, names_of
from qa_app.classic.query import understand
from qa_app.pipeline.records import Alternatives, Section
from tests.classic.values import (
    POLICY,
    SENTENCES,
    make_candidate,
    make_concept,
    make_evidence,
    make_question,
    make_study,
)

MANY = tuple(f"c{n}" for n in range(MOST_NEIGHBOURS + 1))
MILK = make_concept("milk", kind="nutrient", rarity=3.0)
SOY = make_concept("soy", kind="nutrient", rarity=4.0)
LIFTING = make_concept("lifting", kind="intervention", neighbours=MANY)
CARDIO = make_concept("cardio", kind="intervention")
CUFFS = make_concept("cuffs", kind="intervention")
HEAVY = make_concept("heavy-loads", kind="training_variable")
LIGHT = make_concept("light-loads", kind="training_variable")
OFTEN = make_concept("often", kind="training_variable")
GROWTH = make_concept("growth")
CONCEPTS = (MILK, SOY, LIFTING, CARDIO, CUFFS, HEAVY, LIGHT, OFTEN, GROWTH)


def finding(intervention: str, comparator: str, study: str = "T001") -> Finding:
    return Finding(intervention, comparator, "growth", Direction.NO_DIFFERENCE, "It did not differ.", study_id=study)


def found(question: str, *findings: Finding) -> dict[str, Alternatives]:
    understanding = understand(make_question(question), concepts=CONCEPTS, collections=())
    return find_alternatives(question, understanding, findings, names_of(CONCEPTS))


@pytest.mark.parametrize(
    ("question", "intervention", "comparator", "expected"),
    [
        ("milk or soy for growth?", "milk after training", "soy after training", (["milk"], ["soy"])),
        ("soy or milk for growth?", "milk", "soy", (["milk"], ["soy"])),
        ("is cardio as good as lifting?", "lifting", "cardio", (["lifting"], ["cardio"])),
        ("cuffs with light loads or heavy loads?", "cuffs and light loads", "heavy loads", (["cuffs", "light-loads"], ["heavy-loads"])),
        ("milk or soy?", "milk and soy", "nothing", None),
        ("milk or soy?", "milk", "nothing", None),
        ("milk or soy with lifting?", "milk and lifting", "lifting", None),
        ("does milk give growth?", "milk", "soy", None),
        ("heavy loads or light loads?", "heavy loads", "light loads", None),
        ("how often should I do lifting?", "lifting", "often", None),
        ("milk or cardio?", "milk during cardio", "placebo with cardio", None),
        ("milk or cardio?", "milk before or after cardio", "cardio with placebo", None),
        ("cardio or cuffs?", "cardio before cuffs", "cuffs before cardio", None),
        ("milk or cardio?", "milk without cardio", "cardio without milk", (["milk"], ["cardio"])),
    ],
    ids=["two", "the other way round", "what half of the corpus is about", "how beside what", "together", "one side", "with both", "one is named",
         "how alone", "how beside what half of the corpus is about", "during what both did", "around what both did", "in either order", "without the other"],
)  # fmt: skip
def test_what_findings_set_against_each_other_of_what_is_asked(
    question: str, intervention: str, comparator: str, expected: tuple[list[str], list[str]] | None
) -> None:
    sides = found(question, finding(intervention, comparator)).get("T001")

    assert (sides and ([c.concept_id for c in sides.one], [c.concept_id for c in sides.other])) == expected


COMPARED = [
    "Is milk better than soy?",
    "Soy, or rather milk?",
    "Milk vs. soy",
    "milk/soy: which?",
    "Should I drink milk instead of soy?",
    "Does milk give as much growth as soy?",
    "How much milk would it take to grow the way soy drinkers do?",
    "How do milk and soy compare?",
    "Compare milk and soy.",
    "Diet and milk, or diet and soy?",
    "How many cups of milk a day, or heavy loads of soy?",
    "What is the difference between milk and soy?",
    "Which of milk and soy is it?",
    "Milk, soy or both?",
    "Milk only, soy only or both?",
    "Cardio, soy or milk?",
    "Milk, cardio or soy?",
    "Which of milk, cardio and soy is best?",
    "Does milk work as well as soy?",
    "Soy or milk: which grows more? I drink milk now.",
    "Milk vs. soy. Is soy as good as milk?",
]
NOT_COMPARED = [
    "Does milk help with soy?",
    "Milk and soy for growth?",
    "Should I take milk before or after soy?",
    "Does milk work with or without soy?",
    "Does milk during soy training matter?",
    "Is milk good or bad?",
    "Is a cup of milk with my dinner or in between all of the meals best with soy?",
    "Is milk better than food while soy is at hand, or during soy?",
    "How much soy should I eat, and does milk matter?",
    "Should I take milk as well as soy?",
    "Is milk as well as soy good for growth?",
    "Do milk and/or soy help?",
    "Compared to doing nothing, does milk with soy help?",
    "Does milk with soy help compared to a placebo?",
    "How do old and young people compare when they take milk and soy?",
    "Should I take milk first or soy first?",
    "Does it matter if I take milk or soy first?",
    "Does milk help people older than 60 with soy?",
    "Milk 5 g/day and soy, is it safe?",
    "Does milk protect against muscle loss with soy?",
    "Does milk help as long as I eat soy?",
    "Does milk, soy, help men or women?",
]


@pytest.mark.parametrize("question", [*COMPARED, *NOT_COMPARED])
def test_a_question_sets_two_things_against_each_other_by_its_words(question: str) -> None:
    assert bool(found(question, finding("milk", "soy"))) is (question in COMPARED)


@pytest.mark.parametrize(
    ("intervention", "comparator"),
    [("milk without soy", "placebo"), ("milk", "no soy"), ("milk", "nothing after soy"), ("milk during soy", "milk")],
)
def test_what_one_side_did_not_have_or_both_had_beside_it_is_not_compared(intervention: str, comparator: str) -> None:
    assert found("milk or soy?", finding(intervention, comparator)) == {}


def test_the_widest_of_the_studies_that_may_be_quoted() -> None:
    sides = found("milk, soy or cardio?", finding("cardio", "soy", "T001"), finding("milk", "soy", "T002"))

    assert widest(sides, {"T001", "T002"}) is sides["T002"]
    assert widest(sides, {"T001"}) is sides["T001"]
    assert widest(sides, {"T003"}) is None


def test_of_several_findings_of_a_study_the_one_that_says_most() -> None:
    asked = "milk, soy or cardio?"
    sides = found(asked, finding("cardio", "soy"), finding("milk", "soy"), finding("cardio", "milk"))["T001"]

    assert sides.rarity == MILK.rarity + SOY.rarity


@given(st.permutations(["milk", "soy", "cardio", "lifting", "cuffs"]), st.integers(1, 4))
def test_nothing_stands_on_both_sides_and_no_side_is_empty(things: list[str], cut: int) -> None:
    for sides in found(
        "milk, soy, cardio, lifting or cuffs?", finding(" and ".join(things[:cut]), " and ".join(things[cut - 1 :]))
    ).values():
        one, other = {c.concept_id for c in sides.one}, {c.concept_id for c in sides.other}
        assert one
        assert other
        assert not one & other


def quoted(
    question: str, *findings: Finding, ages: dict[str, AgeGroup] | None = None, cites_from: float = 0.0
) -> set[str]:
    studies = [make_study(f"T00{n}", age_group=(ages or {}).get(f"T00{n}", AgeGroup.ADULTS)) for n in (1, 2, 3)]
    ranked = [make_candidate(SENTENCES[0], study=study, score=2.0, cosine=0.7) for study in studies]
    understanding = understand(make_question(question), concepts=CONCEPTS, collections=())
    policy, compared = replace(POLICY, cites_from=cites_from), found(question, *findings)
    return set(
        find_citable(
            ranked,
            understanding=understanding,
            policy=policy,
            concepts=CONCEPTS,
            findings=findings,
            asked=question,
            alternatives=compared.keys(),
        )
    )


def test_where_some_studies_compared_what_is_asked_the_others_are_not_quoted() -> None:
    rows = (finding("milk", "nothing", "T001"), finding("milk", "soy", "T002"), finding("soy", "milk", "T003"))

    assert quoted("milk or soy for growth?", *rows) == {"T002", "T003"}
    assert quoted("does milk give growth?", *rows) == {"T001", "T002", "T003"}
    assert quoted("milk or soy for growth?", rows[0]) == {"T001", "T002", "T003"}
    assert quoted("milk or soy for growth?", *rows, cites_from=1.1) == {"T001"}  # none that compared them bears


def test_a_comparison_in_other_people_bars_nobody() -> None:
    rows = (finding("soy", "nothing", "T001"), finding("milk", "soy", "T002"))
    ages = {"T001": AgeGroup.OLDER_ADULTS, "T002": AgeGroup.ADULTS, "T003": AgeGroup.OLDER_ADULTS}

    assert "T001" in quoted("milk or soy at 70?", *rows, ages=ages)
    assert "T001" in quoted("milk or soy at 70?", *rows, ages=ages | {"T002": AgeGroup.MIXED})
    assert quoted("milk or soy at 70?", *rows, ages=ages | {"T002": AgeGroup.OLDER_ADULTS}) == {"T002"}


def test_beside_a_comparison_in_the_people_asked_about_one_in_all_people_is_quoted_too() -> None:
    rows = [finding("milk", "soy", f"T00{n}") for n in (1, 2, 3)]
    ages = {"T001": AgeGroup.OLDER_ADULTS, "T002": AgeGroup.MIXED, "T003": AgeGroup.YOUTH}

    assert quoted("milk or soy at 70?", *rows, ages=ages) == {"T001", "T002"}


@pytest.mark.parametrize(
    ("text", "section", "gains"),
    [
        ("Growth did not differ between milk and soy.", Section.RESULTS, True),
        ("Milk may be the better choice than soy.", Section.PRACTICAL_APPLICATIONS, True),
        ("Growth rose with milk.", Section.RESULTS, False),
        ("Milk is digested more slowly than soy.", Section.DISCUSSION, False),
    ],
)
def test_what_names_both_sides_is_needed_more(text: str, section: Section, gains: bool) -> None:
    candidate = make_candidate(text, section=section)
    evidence = make_evidence(candidate, question="milk or soy for growth?")

    def needed(sides: Alternatives | None, gain: float = POLICY.alternatives_gain) -> float:
        ranked = rank_sentences(replace(evidence, alternatives=sides), replace(POLICY, alternatives_gain=gain))
        return next(q.needed for q in ranked if q.text == text)

    sides = Alternatives((MILK,), (SOY,))
    assert needed(sides) - needed(sides, gain=0.0) == pytest.approx(POLICY.alternatives_gain * gains)
    assert needed(None) == needed(None, gain=0.0)
