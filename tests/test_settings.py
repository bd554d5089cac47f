"""Settings that steer retrieval: what cannot be read stops the start and says why."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.exceptions import ImproperlyConfigured

from inform_site import settings

READERS = {"INFORM_POLICY": settings.read_policy, "INFORM_RERANKER": settings.read_reranker}


def read(name: str) -> str:
    reader: Callable[[str], str] = READERS[name]
    return settings.read(reader, name, "")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("INFORM_POLICY", "seed-003", "There is no preset 'seed-003'; there are default, seed-000"),
        ("INFORM_POLICY", "default, evidence_passages=none", "evidence_passages=none cannot be read"),
        ("INFORM_RERANKER", "bm25", "'bm25' is neither llm nor cross-encoder: with a name or a folder behind it"),
        ("INFORM_RERANKER", "cross-encoder:", "is neither llm nor cross-encoder:"),
    ],
)
def test_a_bad_value_names_itself(monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ImproperlyConfigured) as refused:
        read(name)

    assert str(refused.value).startswith(f"{name} cannot be read: ")
    assert said in str(refused.value)


def test_a_good_value_is_kept_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("INFORM_POLICY", "seed-002, evidence_passages=8"), ("INFORM_RERANKER", "llm"),
        ("INFORM_RERANKER", "cross-encoder:/models/reranker"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
        assert read(name) == value
