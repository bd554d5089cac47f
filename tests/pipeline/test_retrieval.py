"""Passages found by words and by meaning come in one order."""

from __future__ import annotations

import pytest

from corpus_app.records import Hit
from qa_app.pipeline.retrieval import fuse


@pytest.mark.parametrize(
    ("hits", "order"),
    [
        ([], []),
        ([Hit(1, 1.0, 0.2), Hit(2, 3.0, 0.6)], [2, 1]),
        ([Hit(1, 1.0, None), Hit(2, 3.0, None)], [2, 1]),  # no vectors at all
        ([Hit(1, 0.0, 0.2), Hit(2, 0.0, 0.6)], [2, 1]),  # no word in common
        ([Hit(1, 1.0, 0.2), Hit(2, 9.0, None), Hit(3, 2.0, 0.6)], [2, 3, 1]),  # the second waits for its vector
        ([Hit(2, 1.0, 0.6), Hit(1, 1.0, 0.6)], [1, 2]),
    ],
)
def test_the_best_by_both_come_first(hits: list[Hit], order: list[int]) -> None:
    assert list(fuse(hits)) == order
