"""The score of free paraphrases: signals that mean what they say, and a fitted file that can be read."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.pipeline.verification.reading import read
from qa_app.pipeline.verification.support import (
    FITTED,
    SIGNALS,
    Support,
    has_opposite_direction,
    is_negated,
    read_signals,
)
from tests.pipeline.values import SENTENCES

FLAT = Support(0.0, {}, {}, {}, 1, {}, "nothing")
EVIDENCE = ("Heavy loads raised leg strength by 12% in Norway.", "Sleep did not change.")


def test_a_claim_in_the_evidence_has_every_word_and_number_there() -> None:
    signals = read_signals(EVIDENCE[0], EVIDENCE, FLAT)

    assert signals["union_recall"] == signals["best_recall"] == signals["pair_recall"] == signals["longest_run"] == 1.0
    assert signals["letter_recall"] == 1.0
    assert [signals[name] for name in SIGNALS if "missing" in name or "apart" in name or "differs" in name] == [0.0] * 6


def test_what_a_claim_adds_is_missing() -> None:
    signals = read_signals("Heavy loads did not raise leg strength by 15% in Sweden.", EVIDENCE, FLAT)

    assert (signals["numbers_missing"], signals["names_missing"], signals["negation_differs"]) == (1.0, 1.0, 1.0)
    assert 0 < signals["missing_rarest"] <= 1
    assert signals["union_recall"] < 1


@pytest.mark.parametrize(("claim", "evidence"), [("", ()), ("Strength rose.", ()), ("", EVIDENCE), ("12", EVIDENCE)])
def test_nothing_to_compare_is_no_error(claim: str, evidence: tuple[str, ...]) -> None:
    assert set(read_signals(claim, evidence, FLAT)) == set(SIGNALS)


@given(st.sampled_from(SENTENCES) | st.text(max_size=60), st.lists(st.sampled_from(SENTENCES), max_size=4))
def test_the_fitted_score_is_a_chance_and_more_evidence_takes_no_word_away(claim: str, evidence: list[str]) -> None:
    fewer, more = read_signals(claim, evidence[:1], FITTED), read_signals(claim, evidence, FITTED)

    assert 0 < FITTED.score(more) < 1
    assert more["union_recall"] >= fewer["union_recall"]


def test_the_fitted_score_reads_back_what_it_writes_and_prefers_the_supported() -> None:
    claims = "Heavy loads raised strength.", "Bananas are yellow."
    rarely = Support(0.0, {}, {}, {}, 100, {"muscl": 50}, "")

    good, bad = (FITTED.score(read_signals(claim, EVIDENCE, FITTED)) for claim in claims)

    assert good > 0.5 > bad
    assert Support(**json.loads(json.dumps(asdict(FITTED)))) == FITTED
    assert set(FITTED.weights) == set(SIGNALS)
    assert rarely.rarity("anconeus") > rarely.rarity("muscl")


def test_a_claim_turns_where_the_source_points_only_the_other_way() -> None:
    for claim, source, turned in (
        ("Strength rose.", "Strength fell.", True), ("Strength fell.", "Strength rose, fat fell.", False),
        ("Strength rose.", "Strength was measured.", False),
    ):  # fmt: skip
        assert has_opposite_direction(read(claim), read(source)) is turned
    assert is_negated(read("It did not rise."))
    assert not is_negated(read("It did not fail to rise."))  # twice is none
