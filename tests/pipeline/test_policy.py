"""The policy: presets, read from one line of settings; wrong names are refused in words."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from qa_app.pipeline.policy import DEFAULT, PRESETS, BadPolicy, Lexical, Policy, named, read


def another(value: Any) -> Any:
    return f"{value}-2" if isinstance(value, str) else not value if isinstance(value, bool) else value + 1


def test_every_preset_has_a_name_and_a_hash_of_its_own() -> None:
    labels = [preset.label.rpartition("-") for preset in PRESETS.values()]

    assert (
        set(PRESETS) == {"default", "seed-000", "seed-001", "seed-002", "seed-004"} == {name for name, _, _ in labels}
    )
    assert len({own for _, _, own in labels}) == len(PRESETS)


def test_every_figure_changes_the_label_and_can_be_set_from_outside() -> None:
    for figure in (f.name for f in fields(Policy)):
        value = getattr(DEFAULT, figure)
        assert replace(DEFAULT, **{figure: another(value)}).label != DEFAULT.label
        assert figure == "name" or read(f"{figure}={value}") == DEFAULT


def test_a_preset_is_read_with_its_figures_changed() -> None:
    policy = read("seed-002, evidence_passages=8 lexical=tfidf,scope_detected=yes")

    found = policy.name, policy.evidence_passages, policy.lexical, policy.scope_detected
    assert found == ("seed-002", 8, Lexical.TFIDF, True)
    assert policy.section_exact == 2.0
    assert policy.label != PRESETS["seed-002"].label
    assert [read(text) for text in ("", " ", "default", " default ,")] == [DEFAULT] * 4
    assert read("evidence_passages=8") == named("default", ["evidence_passages=8"])


def test_a_policy_that_is_not_there_is_refused_in_words() -> None:
    for text, message in {
        "seed-003": "There is no preset 'seed-003'; there are default, seed-000, seed-001, seed-002, seed-004.",
        "default, magic=1": "'magic' is no figure of the policy; there are order, ",
        "default name=other": "'name' is no figure of the policy", "default pool=many": "pool=many cannot be read",
        "default pool=0": "pool must be 1 or more, not 0.", "default order=magic": "order=magic cannot be read",
        "default mode_weight=-1": "mode_weight must be 0 or more, not -1.",
        "default mode_weight=nan": "mode_weight must be 0 or more, not nan.",
        "default scope_detected=perhaps": "scope_detected is true or false, not 'perhaps'.",
        "default fusion=min_max": "'fusion' is no figure of the policy",  # a figure of a former engine
    }.items():  # fmt: skip
        with pytest.raises(BadPolicy) as refused:
            read(text)
        assert message in str(refused.value)
