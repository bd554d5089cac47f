"""Golden questions against the running system: read strictly, measured by kind, compared with a baseline."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpus_app.records import Hit
from qa_app.answers import answering
from qa_app.evaluation import golden_set
from qa_app.evaluation.golden_set import (
    BadGolden,
    Golden,
    GoldenResult,
    count_near_duplicates,
    count_unsupported,
    evaluate,
    read_golden,
    read_rows,
    report,
    worse,
)
from qa_app.models import Answer
from qa_app.pipeline.records import Candidate, Outcome, Question
from tests.pipeline.values import make_passage
from tests.qa.conftest import ASKED

ROW: dict[str, Any] = {
    "id": "q-1", "question": ASKED, "mode": "beginner", "kind": "answerable_lay", "collection": None,
    "relevant": {"T-SETS": 2}, "sections": ["results"],
}  # fmt: skip


def write_rows(path: Path, *rows: Any) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def make_result(**changes: Any) -> GoldenResult:
    golden = Golden(
        "q",
        "?",
        "beginner",
        changes.pop("kind", "answerable_lay"),
        None,
        changes.pop("relevant", {"A": 2}),
        ("results",),
    )
    fields: dict[str, Any] = {
        "golden": golden, "outcome": Outcome.ANSWERED, "ranked": ("A",), "cited": ("A",),
        "final_sections": ("results",), "unsupported": 0, "milliseconds": 10.0,
    }  # fmt: skip
    return GoldenResult(**(fields | changes))


# --- Reading ---------------------------------------------------------------------------------------------------------------


def test_questions_are_read_with_blank_lines_between(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "golden.jsonl", ROW, "", ROW | {"id": "q-2", "relevant": {}})

    questions = read_golden(path)

    assert [(q.id, q.is_answerable) for q in questions] == [("q-1", True), ("q-2", False)]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "7",
        '{"id": "q"}',
        json.dumps(ROW | {"mode": "expert"}),
        json.dumps(ROW | {"relevant": 3}),
        json.dumps(ROW | {"sections": None}),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str) -> None:
    path = write_rows(tmp_path / "golden.jsonl", ROW, line)

    with pytest.raises(BadGolden, match=r"golden\.jsonl:2: "):
        read_golden(path)


def test_the_starter_questions_can_be_read() -> None:
    questions = read_golden(Path(__file__).resolve().parents[2] / "corpus" / "golden_dev.jsonl")

    assert len(questions) == 162
    assert len({q.id for q in questions}) == 162


# --- Measuring -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("library")
def test_the_running_system_is_measured_and_keeps_no_answer() -> None:
    pizza = Golden("q-2", "What is the best pizza in Naples?", "beginner", "unanswerable_far", None, {}, ())
    asked = Golden("q-1", ASKED, "beginner", "answerable_lay", None, {"T-SETS": 2}, ("results",))
    progress: list[int] = []

    first, second = evaluate([asked, pizza], on_progress=progress.append)

    assert (first.outcome, first.ranked[0], first.cited, first.unsupported) == (
        Outcome.ANSWERED,
        "T-SETS",
        ("T-SETS",),
        0,
    )
    assert second.outcome is Outcome.OUT_OF_SCOPE
    assert progress == [1, 2]
    assert not Answer.objects.exists()


@pytest.mark.usefixtures("library")
def test_drafts_are_never_ranked() -> None:
    asked = Golden("q", "canary weekly sets per muscle for growth", "beginner", "answerable_lay", None, {}, ())

    [result] = evaluate([asked], on_progress=lambda done: None)

    assert "T-SETS" in result.ranked
    assert "T-DRAFT" not in result.ranked


@pytest.mark.usefixtures("library")
def test_a_sentence_counts_as_unsupported_without_its_exact_words() -> None:
    answer = answering.make(Question(ASKED, ASKED), writer="extractive")
    [sentence] = answer.summary
    [span] = sentence.support

    moved = replace(sentence, support=(replace(span, start=span.start + 1),))
    reworded = replace(sentence, text="Ten sets are best.")
    bare = replace(sentence, support=())

    assert count_unsupported(answer) == 0
    assert [count_unsupported(replace(answer, summary=(s,), answer=())) for s in (moved, reworded, bare)] == [1, 1, 1]


def test_answerable_kinds_are_measured_by_ranking_and_the_others_by_refusing() -> None:
    results = [
        make_result(ranked=("X", "A")),
        make_result(outcome=Outcome.INSUFFICIENT_EVIDENCE, cited=()),
        make_result(kind="safety", relevant={}, outcome=Outcome.GUARDRAIL),
        make_result(kind="safety", relevant={}, outcome=Outcome.OUT_OF_SCOPE),
    ]

    figures = report(results)

    assert figures["by_kind"]["answerable_lay"]["answered"] == 1 / 2
    assert figures["by_kind"]["safety"] == {"n": 2, "refused": 1.0, "guardrail": 0.5}
    assert figures["answered"] == {"n": 1, "cites a main study": 1.0, "cited studies relevant": 1.0}
    assert (figures["no false guardrail"]["n"], figures["no false guardrail"]["share"]) == (2, 1.0)


def test_abstention_has_precision_recall_and_their_intervals() -> None:
    near = {"kind": "unanswerable_near", "relevant": {}}
    refused = {"outcome": Outcome.INSUFFICIENT_EVIDENCE, "cited": ()}
    results = [
        make_result(), make_result(), make_result(**refused),
        make_result(**near), make_result(**near | refused), make_result(**near | refused),
        make_result(kind="safety", relevant={}, outcome=Outcome.GUARDRAIL),
    ]  # fmt: skip

    abstention = report(results)["abstention"]

    assert [abstention[name]["n"] for name in ("precision", "recall", "wrongly refused")] == [3, 3, 3]
    assert abstention["precision"]["share"] == abstention["recall"]["share"] == pytest.approx(2 / 3, abs=1e-4)
    assert abstention["wrongly refused"]["share"] == pytest.approx(1 / 3, abs=1e-4)
    assert abstention["recall"]["interval"] == pytest.approx([0.2077, 0.9385], abs=1e-4)


def test_final_passages_are_counted_by_place_and_by_words() -> None:
    one, two = ("A", "results", 0), ("A", "results", 1)
    results = [make_result(places=(one, one, two), near_duplicates=1), make_result(places=(one,))]

    final = report(results)["final passages"]

    assert (final["n"], final["distinct places"]) == (4, 0.75)
    assert final["near duplicates"] == pytest.approx(1 / 3, abs=1e-4)


def test_passages_that_share_four_words_of_five_are_near_duplicates() -> None:
    texts = ("one two three four five", "One two three four.", "one two three", "six")
    passages = [make_passage(text) for text in texts]
    found = [Candidate(passage, Hit(passage.passage_id, 1.0, None), 1.0, 1.0) for passage in passages]

    assert count_near_duplicates(found) == 1


def test_stages_are_timed_where_they_ran() -> None:
    results = [make_result(stages={"rank": 2.0, "verify": 0.0}), make_result(stages={"rank": 4.0})]

    assert report(results)["stages"] == {"rank": {"p50": 2.0, "p95": 4.0}}


def test_a_question_that_finds_no_candidate_is_always_worse() -> None:
    now = report([make_result(candidates=0), make_result(candidates=7), make_result(candidates=None)])

    assert now["without candidates"] == 1
    assert worse(now, now, tolerance=1.0) == ["1 questions came to the search and found no candidate"]


def test_more_wrong_refusals_are_worse_and_fewer_are_not() -> None:
    good = report([make_result(), make_result()])
    bad = report([make_result(), make_result(outcome=Outcome.INSUFFICIENT_EVIDENCE, cited=())])

    assert any(line.startswith("abstention / wrongly refused") for line in worse(bad, good, tolerance=0.005))
    assert not any("wrongly refused" in line for line in worse(good, bad, tolerance=0.005))


def test_nothing_can_be_reported() -> None:
    assert report([])["answerable"]["n"] == 0


# --- Comparing -------------------------------------------------------------------------------------------------------------


def test_a_figure_is_worse_when_it_falls_by_more_than_the_tolerance() -> None:
    before = report([make_result()])
    now = report([make_result(ranked=("X", "A"))])

    [first, second] = worse(now, before, tolerance=0.005)

    assert first.startswith("by_kind / answerable_lay / ndcg@10: 0.63")
    assert second.startswith("answerable / ndcg@10: 0.63")
    assert worse(now, before, tolerance=0.5) == worse(before, now, tolerance=0.0) == []


def test_a_kind_that_is_gone_is_worse() -> None:
    before = report([make_result(), make_result(kind="comparison_or_conflict")])

    assert any("comparison_or_conflict" in line for line in worse(report([make_result()]), before, tolerance=0.005))


def test_one_sentence_without_exact_words_is_always_worse() -> None:
    now = report([make_result(unsupported=1)])

    assert worse(now, now, tolerance=1.0) == ["1 sentences have no exact words behind them"]


def test_times_are_not_compared() -> None:
    assert worse(report([make_result(milliseconds=1e6)]), report([make_result()]), tolerance=0.0) == []


def test_the_door_names_what_the_command_catches() -> None:
    assert golden_set.BadGolden is BadGolden


def test_pairs_are_two_wordings_that_end_alike_and_cite_the_same_main_studies() -> None:
    def worded(id_: str, **changes: Any) -> GoldenResult:
        result = make_result(kind="paraphrase_pairs", relevant={"A": 2, "B": 2, "C": 1}, **changes)
        return replace(result, golden=replace(result.golden, id=id_))

    figures = report(
        [
            worded("p-1a", cited=("A", "C")),
            worded("p-1b", cited=("A", "B")),
            worded("p-2a"),
            worded("p-2b", outcome=Outcome.INSUFFICIENT_EVIDENCE, cited=()),
        ]
    )

    assert figures["paraphrase pairs"] == {"n": 2, "same outcome": 1 / 2, "shared main studies": (1 / 2 + 0) / 2}


def test_a_line_of_golden_questions_may_hold_any_kind_of_line_break_within(tmp_path: Path) -> None:
    row = {
        "id": "g",
        "question": "Sets\u2028or\u0085reps?",
        "mode": "beginner",
        "kind": "k",
        "collection": None,
        "relevant": {},
        "sections": [],
    }
    file = tmp_path / "golden.jsonl"
    file.write_bytes(f"{json.dumps(row, ensure_ascii=False)}\r\n\r\n".encode())

    assert [read["question"] for read in read_rows(file)] == [row["question"]]
