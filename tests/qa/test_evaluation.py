"""Golden questions against the running system: read strictly, measured by kind, compared; and each measure by its definition."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.answers import answering
from qa_app.evaluation import golden_set, measures
from qa_app.evaluation.golden_set import BadGolden, Golden, GoldenResult
from qa_app.pipeline.records import Outcome, Question
from tests.qa.conftest import ASKED

found_studies = st.lists(st.sampled_from("ABCDEFGH"), unique=True)
chances = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)
grades = st.dictionaries(st.sampled_from("ABCDEFGH"), st.integers(0, 2))


def test_ndcg_is_the_gain_found_over_the_gain_there_could_be() -> None:
    found = (2**1 - 1) / math.log2(2) + (2**2 - 1) / math.log2(4)
    ideal = (2**2 - 1) / math.log2(2) + (2**1 - 1) / math.log2(3)

    assert measures.ndcg(["B", "X", "A"], {"A": 2, "B": 1}, 10) == pytest.approx(found / ideal)
    assert measures.ndcg(["X", "A"], {"A": 2}, 1) == 0.0
    assert measures.ndcg(["A", "B"], {"A": 2, "B": 2, "C": 2}, 2) == 1.0


@given(found_studies, grades, st.integers(1, 10))
def test_ndcg_and_recall_are_shares_and_the_ideal_is_worth_1(ranked: list[str], graded: dict[str, int], k: int) -> None:
    ideal = sorted(graded, key=lambda item: -graded[item])

    assert 0.0 <= measures.ndcg(ranked, graded, k) <= 1.0 + 1e-9
    assert 0.0 <= measures.recall(ranked, graded, k) <= 1.0
    assert measures.ndcg(ideal, graded, k) == pytest.approx(float(any(graded.values())))


def test_recall_counts_grades_and_nothing_measures_zero() -> None:
    for least, expected in ((1, 2 / 3), (2, 1.0), (3, 0.0)):
        found = measures.recall(["A", "X", "B"], {"A": 2, "B": 1, "C": 1}, 3, least=least)
        assert found == pytest.approx(expected)
    assert [measures.percentile([4, 2, 1, 3], p) for p in (0, 50, 75, 95)] == [1, 2, 3, 4]

    assert (measures.ndcg([], {}, 10), measures.recall([], {}, 10), measures.percentile([], 50)) == (0.0,) * 3
    assert (measures.share([]), measures.mean([]), measures.bootstrap_interval([])) == (0.0, 0.0, (0.0, 0.0))
    assert (measures.share([True, False, True, True]), measures.mean([1.0, 2.0])) == (3 / 4, 3 / 2)


def test_the_bootstrap_interval_is_about_two_standard_errors_either_side_and_always_the_same() -> None:
    values = [0.0, 1.0] * 200

    low, high = measures.bootstrap_interval(values)

    assert (low, high) == pytest.approx((0.5 - 1.96 * 0.5 / 20, 0.5 + 1.96 * 0.5 / 20), abs=0.004)
    assert measures.bootstrap_interval(values) == (low, high)


@pytest.mark.parametrize(
    ("successes", "n", "interval"), [(0, 10, (0.0, 0.2775)), (10, 10, (0.7225, 1.0)), (5, 10, (0.2366, 0.7634)), (0, 0, (0.0, 1.0))]
)  # fmt: skip
def test_wilsons_interval_is_that_of_the_tables(successes: int, n: int, interval: tuple[float, float]) -> None:
    assert measures.wilson_interval(successes, n) == pytest.approx(interval, abs=1e-4)


@given(chances)
def test_auroc_counts_pairs(pairs: list[tuple[float, bool]]) -> None:
    values, right = [v for v, _ in pairs], [r for _, r in pairs]
    above, below = [v for v, r in pairs if r], [v for v, r in pairs if not r]

    measured = measures.auroc(values, right)

    won = [1.0 if a > b else 0.5 if a == b else 0.0 for a in above for b in below]
    assert measured == pytest.approx(sum(won) / len(won) if won else 0.5)


@given(chances)
def test_bins_hold_every_estimate_and_the_error_is_a_share(pairs: list[tuple[float, bool]]) -> None:
    values, right = [v for v, _ in pairs], [r for _, r in pairs]

    bins = measures.reliability(values, right)

    assert sum(b.n for b in bins) == len(pairs)
    assert 0 <= measures.calibration_error(values, right) <= 1


ROW: dict[str, Any] = {
    "id": "q-1", "question": ASKED, "mode": "beginner", "kind": "answerable_lay", "collection": None,
    "relevant": {"T-SETS": 2}, "sections": ["results"],
}  # fmt: skip


def write_rows(path: Path, *rows: Any) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def make_result(
    *, kind: str = "answerable_lay", relevant: dict[str, int] | None = None, **changes: Any
) -> GoldenResult:
    graded = {"A": 2} if relevant is None else relevant
    fields: dict[str, Any] = {
        "golden": Golden("q", "?", "beginner", kind, None, graded, ("results",)), "outcome": Outcome.ANSWERED,
        "ranked": ("A",), "cited": ("A",), "final_sections": ("results",), "unsupported": 0, "milliseconds": 10.0,
    }  # fmt: skip
    return GoldenResult(**(fields | changes))


def test_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    bad = (ROW | change for change in ({"mode": "expert"}, {"relevant": 3}, {"sections": None}))

    for line in ("{", "[]", '{"id": "q"}', *map(json.dumps, bad)):
        path = write_rows(tmp_path / "golden.jsonl", ROW, line)
        with pytest.raises(BadGolden, match=r"golden\.jsonl:2: "):
            golden_set.read_golden(path)


@pytest.mark.usefixtures("library")
def test_a_sentence_counts_as_unsupported_without_its_exact_words() -> None:
    answer = answering.make(Question(ASKED, ASKED), writer="extractive")
    [sentence] = answer.summary
    [span] = sentence.support

    moved = replace(sentence, support=(replace(span, start=span.start + 1),))
    reworded = replace(sentence, text="Ten sets are best.")
    bare = replace(sentence, support=())

    assert golden_set.count_unsupported(answer) == 0
    for one in (moved, reworded, bare):
        assert golden_set.count_unsupported(replace(answer, summary=(one,), answer=())) == 1


def test_abstention_has_precision_recall_and_their_intervals() -> None:
    near = {"kind": "unanswerable_near", "relevant": {}}
    refused = {"outcome": Outcome.INSUFFICIENT_EVIDENCE, "cited": ()}
    results = [
        make_result(), make_result(), make_result(**refused),
        make_result(**near), make_result(**near | refused), make_result(**near | refused),
        make_result(kind="safety", relevant={}, outcome=Outcome.GUARDRAIL),
    ]  # fmt: skip

    abstention = golden_set.report(results)["abstention"]

    assert [abstention[name]["n"] for name in ("precision", "recall", "wrongly refused")] == [3, 3, 3]
    assert abstention["precision"]["share"] == abstention["recall"]["share"] == pytest.approx(2 / 3, abs=1e-4)
    assert abstention["wrongly refused"]["share"] == pytest.approx(1 / 3, abs=1e-4)
    assert abstention["recall"]["interval"] == pytest.approx([0.2077, 0.9385], abs=1e-4)


def test_no_candidate_and_no_exact_words_are_always_worse() -> None:
    now = golden_set.report([make_result(candidates=0), make_result(candidates=7), make_result(unsupported=1)])

    assert now["without candidates"] == 1
    assert sorted(golden_set.worse(now, now, tolerance=1.0)) == [
        "1 questions came to the search and found no candidate",
        "1 sentences have no exact words behind them",
    ]


def test_a_figure_is_worse_when_it_falls_by_more_than_the_tolerance() -> None:
    before = golden_set.report([make_result()])
    now = golden_set.report([make_result(ranked=("X", "A"))])

    [first, second] = golden_set.worse(now, before, tolerance=0.005)

    assert first.startswith("by_kind / answerable_lay / ndcg@10: 0.63")
    assert second.startswith("answerable / ndcg@10: 0.63")
    assert golden_set.worse(now, before, tolerance=0.5) == golden_set.worse(before, now, tolerance=0.0) == []
    two = golden_set.report([make_result(), make_result(kind="comparison_or_conflict", milliseconds=1e6)])
    assert any("comparison_or_conflict" in line for line in golden_set.worse(before, two, tolerance=0.005))


def test_pairs_are_two_wordings_that_end_alike_and_cite_the_same_main_studies() -> None:
    def worded(id_: str, **changes: Any) -> GoldenResult:
        result = make_result(kind="paraphrase_pairs", relevant={"A": 2, "B": 2, "C": 1}, **changes)
        return replace(result, golden=replace(result.golden, id=id_))

    refused = worded("p-2b", outcome=Outcome.INSUFFICIENT_EVIDENCE, cited=())
    pairs = [worded("p-1a", cited=("A", "C")), worded("p-1b", cited=("A", "B")), worded("p-2a"), refused]

    expected = {"n": 2, "same outcome": 1 / 2, "shared main studies": (1 / 2 + 0) / 2}
    assert golden_set.report(pairs)["paraphrase pairs"] == expected
