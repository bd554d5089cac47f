"""Answer points over the running system, and the commands that measure them."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from lab import judging
from lab.points import CitedSentence, Point, is_covered
from qa_app.pipeline.concepts import ConceptIndex
from tests.pipeline.values import make_concept
from tests.qa.conftest import ASKED

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("library")]


def rows(path: Path, *changes: dict[str, Any]) -> Path:
    base = {"id": "q", "question": ASKED, "mode": "beginner", "kind": "answerable_lay", "collection": None}
    base |= {"relevant": {"T-SETS": 2}, "sections": ["results"], "answer_points": []}
    path.write_text("".join(json.dumps(base | change) + "\n" for change in changes), encoding="utf-8")
    return path


def test_points_are_counted_over_what_is_said(tmp_path: Path) -> None:
    points = [
        {"text": "Weekly sets increased growth", "studies": ["T-SETS"]},
        {"text": "Ten weekly sets increased growth more than five", "studies": ["T-SETS"]},
        {"text": "Twelve weekly sets increased growth more than five", "studies": ["T-SETS"]},
        {"text": "Weekly sets increased growth", "studies": ["T-PROTEIN"]},
    ]
    path = rows(tmp_path / "golden.jsonl", {"answer_points": points})
    figures = judging.measure_points(path, on_progress=lambda done: None)

    made = figures["points of answered questions"]["one sentence"]
    assert (made["n"], made["share"]) == (4, 2 / 4)
    assert figures["by kind"]["answerable_lay"]["one sentence"] == made
    assert [row["point"] for row in figures["missing"]] == [point["text"] for point in points[2:]]


def test_the_commands_write_their_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = [{"text": "Sets increased growth", "studies": ["T-SETS"]}]
    path = rows(tmp_path / "golden.jsonl", {"answer_points": points})

    call_command("measure", "points", str(path), "--json", str(tmp_path / "points.json"))
    call_command("measure", "blind", str(path), "--out", str(tmp_path / "sheet.md"), "--n", "1")

    assert json.loads((tmp_path / "points.json").read_text(encoding="utf-8"))["questions"] == 1
    assert (tmp_path / "sheet.md").read_text(encoding="utf-8").startswith("# Two texts")
    assert len(json.loads((tmp_path / "sheet.key.json").read_text(encoding="utf-8"))) == 1
    assert "one sentence: 100.0% of 1" in capsys.readouterr().out


HYPERTROPHY = make_concept("muscle-hypertrophy", aliases=("muscle growth", "hypertrophy"))
CONCEPTS = ConceptIndex.build((HYPERTROPHY, make_concept("low-load", aliases=("light loads",))))
GROWTH = Point("Light loads gave muscle growth of 0.12 over 12 weeks", ("T001",))
SIMILAR = Point("Muscle growth was similar with light loads", ("T001",))


def test_a_point_needs_all_its_figures_from_its_own_study_or_half_of_its_content() -> None:
    loads = "Hypertrophy with light loads was"
    for point, text, study, expected in (
        (GROWTH, f"{loads} 0.12 after 12 weeks.", "T001", True), (GROWTH, f"{loads} 0.12.", "T001", False),
        (GROWTH, f"{loads} 0.121 after twelve weeks.", "T001", True),
        (GROWTH, f"{loads} 0.21 after 12 weeks.", "T001", False),
        (GROWTH, f"{loads} 0.12 after 21 weeks.", "T001", False),
        (GROWTH, f"{loads} 0.12 after 12 weeks.", "T002", False),
        (SIMILAR, "Hypertrophy was similar.", "T001", True),
        (SIMILAR, "Hypertrophy was larger with heavy weights.", "T001", False),
    ):  # fmt: skip
        assert is_covered(point, [CitedSentence(text, (study,))], CONCEPTS) is expected, text
