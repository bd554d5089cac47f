"""The policy: presets with the figures of their documents, read from one line of settings, wrong names refused in words."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest

from qa_app.pipeline.policy import DEFAULT, PRESETS, BadPolicy, Lexical, Order, Policy, named, read


def another(value: Any) -> Any:
    return f"{value}-2" if isinstance(value, str) else not value if isinstance(value, bool) else value + 1


def test_the_presets_hold_the_figures_of_their_documents() -> None:
    zero, one, two, four = (PRESETS[f"seed-00{n}"] for n in (0, 1, 2, 4))

    assert (zero.lexical, zero.lexical_weight, zero.order) == (Lexical.TFIDF, 0.4, Order.SCORE)
    assert zero.recency_band > 0 < zero.mode_weight
    assert (one.scope_detected, one.has_second_pass, one.pool) == (True, True, 12)
    assert one.neighbour_weight > 0
    assert (two.lexical_weight, two.pool, two.section_exact, two.section_related) == (0.0, 40, 2.0, 1.3)
    assert (four.pool, four.order, four.distance_gate) == (24, Order.KEYWORD_HITS, 1.5)
    assert {preset.evidence_passages for preset in (zero, one, two, four)} == {5}


def test_every_preset_has_a_name_and_a_hash_of_its_own() -> None:
    assert set(PRESETS) == {"default", "seed-000", "seed-001", "seed-002", "seed-004"}
    assert all(preset.label.startswith(f"{name}-") for name, preset in PRESETS.items())
    assert len({preset.label.rpartition("-")[2] for preset in PRESETS.values()}) == len(PRESETS)


@pytest.mark.parametrize("figure", [f.name for f in fields(Policy)])
def test_the_label_changes_with_every_figure(figure: str) -> None:
    changed = replace(DEFAULT, **{figure: another(getattr(DEFAULT, figure))})

    assert changed.label != DEFAULT.label


def test_a_policy_can_be_stored_whole_and_does_not_change_once_made() -> None:
    stored = json.loads(json.dumps(PRESETS["seed-004"].values()))

    assert Policy(**stored) == PRESETS["seed-004"]
    with pytest.raises(FrozenInstanceError):
        DEFAULT.pool = 1  # type: ignore[misc]


@pytest.mark.parametrize("text", ["", " ", "default", " default ,"])
def test_nothing_said_is_the_default(text: str) -> None:
    assert read(text) == DEFAULT == Policy()


def test_a_preset_is_read_with_its_figures_changed() -> None:
    policy = read("seed-002, evidence_passages=8 lexical=tfidf,scope_detected=yes")

    found = policy.name, policy.evidence_passages, policy.lexical, policy.scope_detected
    assert found == ("seed-002", 8, Lexical.TFIDF, True)
    assert policy.section_exact == 2.0
    assert policy.label != PRESETS["seed-002"].label


def test_figures_alone_change_the_default() -> None:
    assert read("evidence_passages=8") == named("default", ["evidence_passages=8"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed-003", "There is no preset 'seed-003'; there are default, seed-000, seed-001, seed-002, seed-004."),
        ("default, magic=1", "'magic' is no figure of the policy; there are order, "),
        ("default name=other", "'name' is no figure of the policy"),
        ("default pool=many", "pool=many cannot be read"),
        ("default pool=0", "pool must be 1 or more, not 0."),
        ("default mode_weight=-1", "mode_weight must be 0 or more, not -1."),
        ("default mode_weight=nan", "mode_weight must be 0 or more, not nan."),
        ("default scope_detected=perhaps", "scope_detected is true or false, not 'perhaps'."),
        ("default order=magic", "order=magic cannot be read"),
        # Figures of a former engine stop the start, by name.
        ("default fusion=min_max", "'fusion' is no figure of the policy"),
        ("seed-002 section_boost_exact=2", "'section_boost_exact' is no figure of the policy"),
        ("pool_cap=50", "'pool_cap' is no figure of the policy"),
    ],
)
def test_a_policy_that_is_not_there_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(BadPolicy) as refused:
        read(text)

    assert message in str(refused.value)


def test_every_figure_can_be_set_from_outside() -> None:
    for figure in fields(Policy):
        if figure.name != "name":
            assert read(f"{figure.name}={getattr(DEFAULT, figure.name)}") == DEFAULT
