"""Which sentences a short answer needs: labels are read strictly, and the fit learns what they say."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from corpus_app.passages import split_sentences
from qa_app import needed_fit
from qa_app.answering import POLICY
from qa_app.evaluation import BadGolden, read_rows
from tests.qa.conftest import ASKED, SETS

LABELS = settings.BASE_DIR / "tests" / "data" / "sentences.jsonl"


def told(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    row = {"id": "a", "question": ASKED, "mode": "beginner", "kind": "answerable_lay", "collection": None}
    path.write_text(json.dumps(row | {"relevant": {"T-SETS": 2}, "answer_points": [], "sections": []}) + "\n")
    return path


def labels_file(folder: Path, *labels: int) -> Path:
    """Of the first sentence and the second one, which may be quoted with the first."""
    path = folder / "labels.jsonl"
    (start, end), (second, last) = split_sentences(SETS)
    marked = {SETS[start:end]: labels[0], SETS[second:last]: labels[1], SETS[start:last]: labels[1]}
    needed = {needed_fit.mark_of(text): label for text, label in marked.items()}
    path.write_text(json.dumps({"id": "a", "needed": needed}) + "\n")
    return path


def test_the_labels_that_come_along_are_of_golden_questions() -> None:
    labels = needed_fit.read_labels(LABELS)

    assert set(labels) <= {row["id"] for row in read_rows(settings.BASE_DIR / "corpus" / "golden_dev.jsonl")}
    assert {label for own in labels.values() for label in own.values()} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "line", ['{"id": "a", "needed": {"0": 4}}', '{"id": "a"}', "[]", "no JSON", '{"id": "a", "needed": [1]}']
)
def test_a_line_that_is_no_label_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f'{{"id": "b", "needed": {{}}}}\n{line}\n')

    with pytest.raises(BadGolden, match=r"labels\.jsonl:2"):
        needed_fit.read_labels(path)


def test_the_fit_tells_needed_sentences_from_others(library: tuple[str, ...], questions: Path, tmp_path: Path) -> None:
    found = needed_fit.fit(questions, labels_file(tmp_path, 3, 0), POLICY, report=told)

    assert (found.sentences, found.needed) == (2, 1)
    assert [name for name, _ in found.model.weights] == [name for name, _ in POLICY.needed.weights]
    assert dict(found.model.weights)["near"] > 0


def test_labels_that_are_all_alike_are_refused_by_the_command(
    library: tuple[str, ...], questions: Path, tmp_path: Path
) -> None:
    paths = [f"--questions={questions}", f"--labels={labels_file(tmp_path, 3, 2)}"]

    with pytest.raises(CommandError, match="all are alike"):
        call_command("calibrate", "sentences", *paths, stdout=StringIO())
