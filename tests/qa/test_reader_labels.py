"""Labelled reader questions are read strictly: a fault is named with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qa_app.evaluation.reader_labels import BadLabels, Expect, LabelledPoint, read_labels
from qa_app.pipeline.records import HeadlineVerdict, Mode
from tests.qa.test_evaluation import write_rows

LABELS: dict[str, Any] = {"id": "r-1", "question": "Do more sets build more muscle?", "expect": "answer"}


def test_fields_that_are_left_out_have_defaults(tmp_path: Path) -> None:
    (question,) = read_labels(write_rows(tmp_path / "labels.jsonl", "", LABELS))

    assert (question.mode, question.language, question.expect) == (Mode.BEGINNER, "en", Expect.ANSWER)
    assert (question.relevant, question.accepted_leads, question.points) == (None, frozenset(), ())


def test_all_labels_are_read(tmp_path: Path) -> None:
    row = LABELS | {
        "mode": "intermediate", "lang": "de", "relevant": {"A": 2, "B": 1}, "lead": ["B"], "verdict": "yes",
        "points": [{"text": "ten sets", "studies": ["A"], "numbers": ["10"]}], "note": "ignored",
    }  # fmt: skip

    (question,) = read_labels(write_rows(tmp_path / "labels.jsonl", row))

    assert (question.mode, question.language, question.verdict) == (Mode.INTERMEDIATE, "de", HeadlineVerdict.YES)
    assert (question.main_studies, question.accepted_leads) == (frozenset("A"), frozenset("AB"))
    assert question.points == (LabelledPoint("ten sets", frozenset({"A"}), ("10",)),)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", r"labels\.jsonl:2: not JSON: .* at column 2"),
        ("[]", r"labels\.jsonl:2: not a JSON object"),
        ({"question": "?", "expect": "answer"}, ":2: id is missing"),
        (LABELS, ":2: id 'r-1' is already used on line 1"),
        (LABELS | {"id": 7}, ":2: id must be a text that is not empty, not 7"),
        (LABELS | {"id": "x", "question": " "}, ":2: question must be a text"),
        (LABELS | {"id": "x", "expect": "maybe"}, ":2: expect is 'maybe'; choose one of answer, partial"),
        (LABELS | {"id": "x", "verdict": "perhaps"}, ":2: verdict is 'perhaps'"),
        (LABELS | {"id": "x", "relevant": {"A": True}}, ":2: relevant must give each study id a grade"),
        (LABELS | {"id": "x", "relevant": ["A"]}, ":2: relevant must give each study id a grade"),
        (LABELS | {"id": "x", "lead": "A"}, ":2: lead must be a list of texts"),
        (LABELS | {"id": "x", "points": ["ten"]}, ":2: points must be a list of objects"),
        (
            LABELS | {"id": "x", "points": [{"text": "ten", "studies": [], "numbers": [10]}]},
            ":2: point 1: numbers must be a list of texts",
        ),
        (LABELS | {"id": "x", "follows": "x"}, ":2: follows 'x' must name a question of an earlier line"),
    ],
)
def test_a_broken_line_is_named_with_its_fault(tmp_path: Path, line: Any, fault: str) -> None:
    path = write_rows(tmp_path / "labels.jsonl", LABELS, line)

    with pytest.raises(BadLabels, match=fault):
        read_labels(path)
    with pytest.raises(BadLabels, match="there is no question"):
        read_labels(write_rows(tmp_path / "empty.jsonl", ""))
