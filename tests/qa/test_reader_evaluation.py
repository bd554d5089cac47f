"""Labelled questions are read strictly and asked of the running code as the site asks them; nothing stays behind."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from qa_app.evaluation.reader_labels import BadLabels, LabelledPoint, read_labels
from qa_app.pipeline.records import HeadlineVerdict, Mode
from tests.builders import run_command
from tests.qa.conftest import ASKED
from tests.qa.test_evaluation import write_rows

LABELS: dict[str, Any] = {"id": "r-1", "question": "Do more sets build more muscle?", "expect": "answer"}


def test_all_labels_are_read(tmp_path: Path) -> None:
    row = LABELS | {
        "mode": "intermediate", "lang": "de", "relevant": {"A": 2, "B": 1}, "lead": ["B"], "verdict": "yes",
        "points": [{"text": "ten sets", "studies": ["A"], "numbers": ["10"]}], "note": "ignored",
    }  # fmt: skip

    (question,) = read_labels(write_rows(tmp_path / "labels.jsonl", row))

    assert (question.mode, question.language, question.verdict) == (Mode.INTERMEDIATE, "de", HeadlineVerdict.YES)
    assert (question.main_studies, question.accepted_leads) == (frozenset("A"), frozenset("AB"))
    assert question.points == (LabelledPoint("ten sets", frozenset({"A"}), ("10",)),)


@pytest.mark.parametrize(("line", "fault"), [
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
        ":2: point 1: numbers must be",
    ),
    (LABELS | {"id": "x", "follows": "x"}, ":2: follows 'x' must name a question of an earlier line"),
])  # fmt: skip
def test_a_broken_line_is_named_with_its_fault(tmp_path: Path, line: Any, fault: str) -> None:
    path = write_rows(tmp_path / "labels.jsonl", LABELS, line)

    with pytest.raises(BadLabels, match=fault):
        read_labels(path)
    with pytest.raises(BadLabels, match="there is no question"):
        read_labels(write_rows(tmp_path / "empty.jsonl", ""))


ROOT = Path(__file__).resolve().parents[2]
SETS: dict[str, Any] = {"id": "r-1", "question": ASKED, "expect": "answer", "relevant": {"T-SETS": 2}}
WOMEN: dict[str, Any] = {
    "id": "r-2", "question": "What about women?", "expect": "partial", "relevant": {"T-SETS": 2}, "follows": "r-1",
}  # fmt: skip
PIZZA: dict[str, Any] = {"id": "r-3", "question": "What is the best pizza in Naples?", "expect": "out_of_scope"}


@pytest.fixture
def labels(library: tuple[str, ...], tmp_path: Path) -> Path:
    return write_rows(tmp_path / "labels.jsonl", SETS, PIZZA, WOMEN)


def test_a_run_is_compared_with_an_earlier_one(labels: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    run_command("evaluate", "readers", str(labels), "--json", str(baseline))
    assert "No figure is worse" in run_command("evaluate", "readers", str(labels), "--baseline", str(baseline))

    report = json.loads(baseline.read_text(encoding="utf-8"))
    report["figures"]["precision"]["value"] = 1.2
    baseline.write_text(json.dumps(report), encoding="utf-8")
    with pytest.raises(CommandError, match=r"precision: 1\.0, was 1\.2"):
        run_command("evaluate", "readers", str(labels), "--baseline", str(baseline))


def test_what_cannot_be_measured_is_named(labels: Path, tmp_path: Path) -> None:
    broken = write_rows(tmp_path / "broken.jsonl", {"id": "x", "question": "?"})
    long = write_rows(tmp_path / "long.jsonl", SETS | {"question": "x" * 2_001})

    for arguments, reason in (
        (["absent.jsonl"], "absent.jsonl"),
        ([str(labels), "--set", "magic=1"], "magic"),
        ([str(broken)], "broken.jsonl:1: expect is missing"),
    ):
        with pytest.raises(CommandError, match=reason):
            run_command("evaluate", "readers", *arguments)
    assert "1 questions were not accepted" in run_command("evaluate", "readers", str(long))
