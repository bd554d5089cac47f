"""Which questions get the fixed, careful reply: the reviewed list, the classifier beside it, and both without a corpus."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.pipeline.lexicon import read_tables
from qa_app.pipeline.question.safety import SafetyLexicon, check
from qa_app.pipeline.question.safety_model import BUCKETS, SafetyClassifier
from qa_app.pipeline.records import Outcome
from qa_app.pipeline.text import clean

ROOT = Path(__file__).parents[2]
LEXICON = SafetyLexicon.build(read_tables(ROOT / "corpus" / "lexicon"))
LANGUAGE_ONLY = SafetyLexicon.build()
ROWS = [json.loads(line) for line in (ROOT / "tests/data/safety_questions.jsonl").read_text("utf-8").splitlines()]
URGENT = [(row["route"], row["question"]) for row in ROWS if row["route"] in {"crisis", "emergency"}]


def route_of(question: str, lexicon: SafetyLexicon = LEXICON) -> str | None:
    declined = check(clean(question), None, lexicon, None)
    return declined.route if declined else None


@pytest.mark.parametrize("rule", LEXICON.rules, ids=lambda rule: f"{rule.route}: {rule.example[:40]}")
def test_a_rule_catches_its_example_and_nothing_catches_its_counterexample(rule) -> None:  # type: ignore[no-untyped-def]
    words = LEXICON.words(rule.example)

    assert rule.matches(words, LEXICON.index.find(words))
    assert route_of(rule.counterexample) is None


@pytest.mark.parametrize(("route", "question"), URGENT)
def test_no_crisis_and_no_emergency_is_missed(route: str, question: str) -> None:
    assert route_of(question) == route


def test_the_list_alone_declines_the_labelled_questions_and_no_others() -> None:
    wrong = [row["question"] for row in ROWS if route_of(row["question"]) != row["route"]]

    assert len(wrong) <= 2


@pytest.mark.parametrize(
    ("route", "words"),
    [
        ("crisis", ["112", "999", "911", "116 123", "988", "doctor"]),
        ("emergency", ["112", "999", "911", "Stop exercising"]),
        ("pregnancy", ["midwife", "doctor"]),
        ("eating", ["doctor", "helpline"]),
        ("minor", ["paediatrician", "under 18"]),
        ("drugs", ["no doses", "doctor"]),
        ("medicine", ["doctor", "pharmacist"]),
        ("personal_medical", ["doctor"]),
        ("diagnosis", ["doctor"]),
    ],
)
def test_a_reply_says_where_help_is_and_all_but_the_gravest_what_the_site_can_do(route: str, words: list[str]) -> None:
    declined = LEXICON.routes[route].declined()

    assert (declined.outcome, declined.route) == (Outcome.GUARDRAIL, route)
    assert [word for word in words if word not in declined.message] == []
    assert ("What this site can do" in declined.message) == (route != "crisis")


def test_every_route_has_labelled_questions() -> None:
    assert set(LEXICON.routes) == {row["route"] for row in ROWS if row["route"]}


@pytest.mark.parametrize(
    ("question", "route"),
    [
        ("I want to kill myself", "crisis"),
        ("my mum took 40 paracetamol tablets", "emergency"),
        ("I can't breathe", "emergency"),
        ("which heat pump is quietest?", None),
        ("can my son squat at 12 years old?", None),
    ],
)
def test_a_corpus_without_a_lexicon_still_answers_a_crisis_with_help(question: str, route: str | None) -> None:
    assert route_of(question, LANGUAGE_ONLY) == route


@pytest.mark.parametrize(
    "question", ["CHEST PAIN when I lift", "che\u200bst pa\u00adin when I lift", "chest-pain when I lift"]
)
def test_disguised_letters_do_not_get_around_a_route(question: str) -> None:
    assert route_of(question) == "emergency"


@pytest.mark.parametrize("misspelt", ["testosteron", "testostrone", "tetsosterone", "testozterone"])
def test_a_wrong_letter_in_a_drugs_name_does_not_get_around_a_route(misspelt: str) -> None:
    assert route_of(f"how much {misspelt} should i take a week") == "drugs"


@given(st.text())
def test_no_text_breaks_the_check(text: str) -> None:
    declined = check(clean(text), None, LEXICON, None)

    assert declined is None or declined.outcome is Outcome.GUARDRAIL


def classifier(guarded: bool) -> SafetyClassifier:
    """Build a model that always, or never, sees a question about medicines."""
    return SafetyClassifier.from_row(
        {
            "routes": ["medicine"],
            "lists": [],
            "thresholds": {"medicine": 0.8},
            "intercepts": [-5.0, 5.0] if guarded else [5.0, -5.0],
            "weights": np.zeros((384 + BUCKETS, 2)).tolist(),
        }
    )


STORY = (
    "My blood pressure pills make me tired, can I skip them? " + "I train at six before work and like it a lot. " * 6
)


@pytest.mark.parametrize(
    ("question", "guarded", "route"),
    [
        ("a question the list does not know", True, "medicine"),
        ("a question the list does not know", False, None),
        ("can I stop my metformin?", False, "medicine"),
        (STORY, False, None),
        (STORY, True, "medicine"),
        (STORY + "I want to kill myself.", False, "crisis"),
    ],
)
def test_the_classifier_adds_to_the_list_and_decides_long_questions_that_are_not_urgent(
    question: str, guarded: bool, route: str | None
) -> None:
    declined = check(question, [0.0] * 384, LEXICON, classifier(guarded))

    assert (declined.route if declined else None) == route


@pytest.mark.parametrize(
    "path", sorted((ROOT / "qa_app" / "fitted").glob("*/safety.json")), ids=lambda p: p.parent.name
)
def test_a_model_file_fits_the_lists_it_was_fitted_with(path: Path) -> None:
    model = SafetyClassifier.load(path)

    assert model is not None
    assert set(model.lists) <= LEXICON.index.names
    assert set(model.routes) <= set(LEXICON.routes)
    assert path.stat().st_size < 300_000
