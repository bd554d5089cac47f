"""A headline says yes or no only where question and finding leave no doubt."""

import pytest

from corpus_app.records import Direction, Finding, Lean, Wanted
from qa_app.pipeline.agreement import FindingConcepts
from qa_app.pipeline.lexicon import PhraseIndex, words_of
from qa_app.pipeline.question.wording import read_intent
from qa_app.pipeline.verdict import names_matter, read_polarity, verdict
from tests.pipeline.test_parse import examples

UP, DOWN = Direction.INCREASE, Direction.DECREASE
GOOD, BAD, SAME = Direction.FAVOURS_INTERVENTION, Direction.FAVOURS_COMPARATOR, Direction.NO_DIFFERENCE


def test_intents_and_polarities_catch_their_examples_and_miss_the_others() -> None:
    polarity = PhraseIndex.of_language("polarity")

    for name, caught, missed in examples("intent"):
        assert (read_intent(caught) == name, read_intent(missed) == name) == (True, False), name
    for name, caught, missed in examples("polarity"):
        assert (name in polarity.find(words_of(caught)), name in polarity.find(words_of(missed))) == (True, False), name


def test_the_intent_of_a_question() -> None:
    intents = {
        "How many sets do I need?": "how_many", "my gran is 80, is lifting safe?": "yes_no", "protein timing strength": "claim",
        "Which is better, soy or whey?": "which", "": "claim",
    }  # fmt: skip

    assert {ask: read_intent(ask) for ask in intents} == intents


@pytest.mark.parametrize(
    ("ask", "lean", "direction", "expected"),
    [
        ("Does creatine improve strength?", Lean.YES, GOOD, "yes"),
        ("Does creatine improve strength?", Lean.NO, BAD, "no"),
        ("Does creatine improve strength?", Lean.YES, UP, "yes"),
        ("Does creatine improve strength?", Lean.MIXED, GOOD, "depends"),
        ("Does creatine improve strength?", Lean.NO_CLEAR_DIFFERENCE, SAME, "no_clear_difference"),
        ("Does creatine improve strength?", None, GOOD, None),
        ("Does creatine not improve strength?", Lean.YES, GOOD, None),
        ("Is creatine bad for kidneys?", Lean.NO_CLEAR_DIFFERENCE, SAME, "no_clear_difference"),
        ("Is creatine bad for strength?", Lean.YES, GOOD, "no"),
        ("Is creatine bad for strength?", Lean.NO, DOWN, "yes"),
        ("Is creatine better than water for strength?", Lean.YES, GOOD, "yes"),
        ("Is water better than creatine for strength?", Lean.YES, GOOD, "no"),
        ("Is water better than creatine for strength?", Lean.NO, BAD, "yes"),
        ("Is milk better than soy for strength?", Lean.YES, GOOD, None),
        ("Is creatine as good as water for strength?", Lean.YES, GOOD, "no"),
        ("Creatine or water for strength?", Lean.YES, GOOD, None),
        ("Can creatine help me?", Lean.YES, GOOD, "yes"),
        ("How much creatine should I take?", Lean.YES, GOOD, "number"),
        ("Why does creatine work?", Lean.YES, GOOD, "explanation"),
        ("Which supplements help?", Lean.YES, GOOD, "list"),
        ("creatine strength", Lean.YES, GOOD, None),
    ],
)
def test_the_verdict_follows_question_and_finding(
    ask: str, lean: Lean | None, direction: Direction, expected: str | None
) -> None:
    finding = Finding("creatine", "water", "strength", direction, "", lean=lean)
    intent = read_intent(ask)

    given = verdict(intent, read_polarity(ask, intent), finding, wanted=Wanted.MORE, is_on_topic=True, is_whole=True)

    assert given == expected


@pytest.mark.parametrize(("is_on_topic", "is_whole", "expected"), [(False, True, None), (True, False, "depends")])
def test_no_yes_for_another_matter_or_half_an_answer(is_on_topic: bool, is_whole: bool, expected: str | None) -> None:
    ask = "Does creatine improve strength?"
    finding = Finding("creatine", "water", "strength", GOOD, "", lean=Lean.YES)
    polarity = read_polarity(ask, read_intent(ask))

    given = verdict(read_intent(ask), polarity, finding, wanted=Wanted.MORE, is_on_topic=is_on_topic, is_whole=is_whole)

    assert given == expected
    matter = FindingConcepts(frozenset({"creatine"}), frozenset(), frozenset({"strength"}))
    named = [names_matter(frozenset(asked), matter) for asked in ({"creatine", "strength"}, {"creatine"}, {"strength"})]
    assert named == [True, False, False]
