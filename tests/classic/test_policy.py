"""The policy: presets with the figures of their documents, read from one line of settings, wrong names refused in words."""

from __future__ import annotations

from dataclasses import fields

import pytest

from qa_app.classic.policy import DEFAULT, PRESETS, BadPolicy, Fusion, Order, Policy, named, read


def test_the_presets_hold_the_figures_of_their_documents() -> None:
    zero, one, two, four = (PRESETS[f"seed-00{n}"] for n in (0, 1, 2, 4))

    assert (zero.lexical_weight, zero.dense_weight) == (0.4, 0.6)
    assert {(preset.bm25_k1, preset.bm25_b) for preset in (zero, one, two, four)} == {(1.2, 0.75)}
    assert (one.leg_limit, one.pool, one.evidence_passages) == (12, 2 * 12, 5)
    assert one.neighbour_weight > 0
    assert (two.reranker_top_k, two.pool, two.evidence_passages, two.location_group) == (20, 40, 5, 3)
    assert (two.section_boost_exact, two.section_boost_related) == (2.0, 1.3)
    assert (four.pool, four.order, four.distance_gate) == (24, Order.KEYWORD_HITS, 1.5)


def test_every_preset_has_a_name_and_a_hash_of_its_own() -> None:
    assert set(PRESETS) == {"default", "seed-000", "seed-001", "seed-002", "seed-004"}
    assert all(preset.label.startswith(f"{name}-") for name, preset in PRESETS.items())
    assert len({preset.label.rpartition("-")[2] for preset in PRESETS.values()}) == len(PRESETS)


@pytest.mark.parametrize("text", ["", " ", "default", " default ,"])
def test_nothing_said_is_the_default(text: str) -> None:
    assert read(text) == DEFAULT == Policy()


def test_a_preset_is_read_with_its_figures_changed() -> None:
    policy = read("seed-002, evidence_passages=8 fusion=min_max,scope_detected=yes")

    assert (policy.name, policy.evidence_passages, policy.fusion, policy.scope_detected) == (
        "seed-002", 8, Fusion.MIN_MAX, True,
    )  # fmt: skip
    assert policy.section_boost_exact == 2.0
    assert policy.label != PRESETS["seed-002"].label


def test_figures_alone_change_the_default() -> None:
    assert read("evidence_passages=8") == named("default", ["evidence_passages=8"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed-003", "There is no preset 'seed-003'; there are default, seed-000, seed-001, seed-002, seed-004."),
        ("default, magic=1", "'magic' is no figure of the policy."),
        ("default name=other", "'name' is no figure of the policy."),
        ("default bearing=1", "'bearing' is no figure of the policy."),
        ("default pool_cap=many", "pool_cap=many cannot be read"),
        ("default pool_cap=0", "pool_cap must be 1 or more, not 0."),
        ("default leading_closeness=0", "leading_closeness must be more than 0, not 0."),
        ("default mode_weight=-1", "mode_weight must be 0 or more, not -1."),
        ("default mode_weight=nan", "mode_weight must be 0 or more, not nan."),
        ("default scope_detected=perhaps", "scope_detected is true or false, not 'perhaps'."),
        ("default fusion=magic", "fusion=magic cannot be read"),
    ],
)
def test_a_policy_that_is_not_there_is_refused_in_words(text: str, said: str) -> None:
    with pytest.raises(BadPolicy) as refused:
        read(text)

    assert said in str(refused.value)


def test_every_figure_but_the_fitted_models_can_be_set_from_outside() -> None:
    for figure in fields(Policy):
        value = getattr(DEFAULT, figure.name)
        if figure.name != "name" and isinstance(value, int | float | str):
            assert read(f"{figure.name}={value}") == DEFAULT
