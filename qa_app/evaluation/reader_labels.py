"""Read labelled reader questions, one JSON object a line. Docs: docs/evaluation.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from qa_app.pipeline.records import HeadlineVerdict, Mode

GRADES = (1, 2)  # related; answers the question or a main part of it by itself
ENGLISH = "en"


class Expect(StrEnum):
    """The expected response to a question."""

    ANSWER = "answer"
    PARTIAL = "partial"
    CONFLICT = "conflict"
    REFUSE = "refuse"
    """Near the corpus, but no study answers it."""
    OUT_OF_SCOPE = "out_of_scope"
    GUARDRAIL = "guardrail"
    ABOUT_CORPUS = "about_corpus"
    CHAT = "chat"

    @property
    def is_answerable(self) -> bool:
        return self in {Expect.ANSWER, Expect.PARTIAL, Expect.CONFLICT}

    @property
    def is_unanswerable(self) -> bool:
        return self in {Expect.REFUSE, Expect.OUT_OF_SCOPE}


@dataclass(frozen=True, slots=True)
class LabelledPoint:
    """A fact that a good answer states, the studies that state it and the numbers that must appear."""

    text: str
    studies: frozenset[str]
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """A question as a reader typed it, with its labels."""

    id: str
    question: str
    expect: Expect
    mode: Mode = Mode.BEGINNER
    language: str = ENGLISH
    follows: str | None = None
    """The id of the question that this one follows."""
    relevant: Mapping[str, int] | None = None
    """Grades by study id; None where no study is relevant."""
    lead: frozenset[str] = frozenset()
    verdict: HeadlineVerdict | None = None
    points: tuple[LabelledPoint, ...] = ()

    @property
    def main_studies(self) -> frozenset[str]:
        """Return the studies of grade 2."""
        return frozenset(study for study, grade in (self.relevant or {}).items() if grade == max(GRADES))

    @property
    def accepted_leads(self) -> frozenset[str]:
        """Return the studies any of which may open the answer."""
        return self.lead | self.main_studies


class BadLabels(ValueError):
    """A file with an invalid line; the message names the file, the line and the error."""


def read_labels(path: Path) -> tuple[ReaderQuestion, ...]:
    """Read the questions of a file; blank lines are skipped. Raises BadLabels, and OSError for a missing file."""
    questions: list[ReaderQuestion] = []
    line_of: dict[str, int] = {}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise BadLabels(f"{path}: not UTF-8 text: {error.reason} at byte {error.start}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = question_of(json.loads(line))
            if question.id in line_of:
                raise ValueError(f"id {question.id!r} is already used on line {line_of[question.id]}")
        except json.JSONDecodeError as error:
            raise BadLabels(f"{path}:{number}: not JSON: {error.msg} at column {error.colno}") from error
        except ValueError as error:
            raise BadLabels(f"{path}:{number}: {error}") from error
        line_of[question.id] = number
        questions.append(question)
    for question in questions:
        if question.follows and line_of.get(question.follows, 0) >= line_of[question.id]:
            raise BadLabels(
                f"{path}:{line_of[question.id]}: follows {question.follows!r} must name a question of an earlier line"
            )
    if not questions:
        raise BadLabels(f"{path}: there is no question in it")
    return tuple(questions)


def question_of(row: Any) -> ReaderQuestion:
    """Build a question from a line of the file. Raises ValueError that names the field."""
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    follows = row.get("follows")
    return ReaderQuestion(
        id=_text(row, "id"),
        question=_text(row, "question"),
        expect=Expect(_choice(row, "expect", Expect)),
        mode=Mode(_choice(row, "mode", Mode)) if row.get("mode") else Mode.BEGINNER,
        language=_text(row, "lang") if row.get("lang") else ENGLISH,
        follows=None if follows is None else _text(row, "follows"),
        relevant=_grades(row) or None,
        lead=frozenset(_texts(row, "lead")),
        verdict=HeadlineVerdict(_choice(row, "verdict", HeadlineVerdict)) if row.get("verdict") else None,
        points=_points(row),
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    if name not in row:
        raise ValueError(f"{name} is missing")
    value = row[name]
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError(f"{name} must be a text that is not empty, not {value!r}")
    return value


def _choice(row: Mapping[str, Any], name: str, choices: type[StrEnum]) -> str:
    value = _text(row, name)
    if value not in list(choices):
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(choices)}")
    return value


def _texts(row: Mapping[str, Any], name: str) -> list[str]:
    value = row.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name} must be a list of texts")
    return value


def _grades(row: Mapping[str, Any]) -> dict[str, int]:
    value = row.get("relevant")
    if value is None:
        return {}
    # JSON's true equals 1 in Python.
    if not isinstance(value, dict) or any(type(grade) is not int or grade not in GRADES for grade in value.values()):
        raise ValueError("relevant must give each study id a grade, 1 or 2")
    return dict(value)


def _points(row: Mapping[str, Any]) -> tuple[LabelledPoint, ...]:
    value = row.get("points")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(point, dict) for point in value):
        raise ValueError("points must be a list of objects with text, studies and numbers")
    points = []
    for place, point in enumerate(value, start=1):
        try:
            points.append(
                LabelledPoint(
                    text=_text(point, "text"),
                    studies=frozenset(_texts(point, "studies")),
                    numbers=tuple(_texts(point, "numbers")),
                )
            )
        except ValueError as error:
            raise ValueError(f"point {place}: {error}") from error
    return tuple(points)
