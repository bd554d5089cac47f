"""Which questions get a fixed reply: the reviewed list, the classifier beside it, both without a corpus."""

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


def route_of(question: str, lexicon: SafetyLexicon = LEXICON) -> str | None:
    declined = check(clean(question), None, lexicon, None)
    return declined.route if declined else None


def test_rules_catch_examples_and_no_counterexample() -> None:
    for rule in LEXICON.rules:
        words = LEXICON.words(rule.example)
        assert rule.matches(words, LEXICON.index.find(words)), rule.example
        assert route_of(rule.counterexample) is None, rule.counterexample


def test_no_crisis_is_missed_and_no_other_question_declined() -> None:
    wrong = [(row["route"], row["question"]) for row in ROWS if route_of(row["question"]) != row["route"]]

    assert [row for row in wrong if row[0] in {"crisis", "emergency"}] == []
    assert len(wrong) <= 2
    assert set(LEXICON.routes) == {row["route"] for row in ROWS if row["route"]}


def test_a_reply_says_where_help_is() -> None:
    for route, words in {
        "crisis": ["112", "999", "911", "116 123", "988", "doctor"],
        "emergency": ["112", "999", "911", "Stop exercising"], "pregnancy": ["midwife", "doctor"],
        "eating": ["doctor", "helpline"], "minor": ["paediatrician", "under 18"], "drugs": ["no doses", "doctor"],
        "medicine": ["doctor", "pharmacist"], "personal_medical": ["doctor"], "diagnosis": ["doctor"],
    }.items():  # fmt: skip
        declined = LEXICON.routes[route].declined()
        assert (declined.outcome, declined.route) == (Outcome.GUARDRAIL, route)
        assert [word for word in words if word not in declined.message] == []
        assert ("What this site can do" in declined.message) == (route != "crisis")


def test_a_corpus_without_a_lexicon_still_answers_a_crisis_with_help() -> None:
    routes = {
        "I want to kill myself": "crisis", "my mum took 40 paracetamol tablets": "emergency",
        "I can't breathe": "emergency", "which heat pump is quietest?": None, "can my son squat at 12 years old?": None,
    }  # fmt: skip

    assert {question: route_of(question, LANGUAGE_ONLY) for question in routes} == routes


def test_disguised_or_wrong_letters_do_not_get_around_a_route() -> None:
    for pain in ("CHEST PAIN", "che\u200bst pa\u00adin", "chest-pain"):
        assert route_of(f"{pain} when I lift") == "emergency"
    for drug in ("testosteron", "testostrone", "tetsosterone", "testozterone"):
        assert route_of(f"how much {drug} should i take a week") == "drugs"


@given(st.text())
def test_no_text_breaks_the_check(text: str) -> None:
    declined = check(clean(text), None, LEXICON, None)

    assert declined is None or declined.outcome is Outcome.GUARDRAIL


def classifier(guarded: bool) -> SafetyClassifier:
    """Build a model that always, or never, sees a question about medicines."""
    intercepts, weights = [-5.0, 5.0] if guarded else [5.0, -5.0], np.zeros((384 + BUCKETS, 2)).tolist()
    row = {
        "routes": ["medicine"], "lists": [], "thresholds": {"medicine": 0.8}, "intercepts": intercepts,
        "weights": weights,
    }  # fmt: skip
    return SafetyClassifier.from_row(row)


STORY = (
    "My blood pressure pills make me tired, can I skip them? " + "I train at six before work and like it a lot. " * 6
)


def test_the_classifier_adds_to_the_list() -> None:
    unknown = "a question the list does not know"
    for question, guarded, route in (
        (unknown, True, "medicine"), (unknown, False, None), ("can I stop my metformin?", False, "medicine"),
        (STORY, False, None), (STORY, True, "medicine"), (STORY + "I want to kill myself.", False, "crisis"),
    ):  # fmt: skip
        declined = check(question, [0.0] * 384, LEXICON, classifier(guarded))
        assert (declined.route if declined else None) == route


@pytest.mark.parametrize(
    "path", sorted((ROOT / "qa_app" / "fitted").glob("*/safety.json")), ids=lambda p: p.parent.name
)
def test_a_model_file_fits_the_lists_it_was_fitted_with(path: Path) -> None:
    model = SafetyClassifier.load(path)

    assert set(model.lists) <= LEXICON.index.names
    assert set(model.routes) <= set(LEXICON.routes)
    assert path.stat().st_size < 300_000
