"""The questions by which readers ask for the findings of the starter corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus_app.admin.studies import FindingForm
from corpus_app.records import QUESTION_LETTERS

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
STUDIES = [json.loads(path.read_text("utf-8")) for path in sorted((CORPUS / "studies").glob("*.json"))]


def questions(study: dict[str, object]) -> list[str]:
    findings = study.get("findings") or []
    assert isinstance(findings, list)
    return [question for finding in findings for question in finding.get("asked_as", [])]


def plain(question: str) -> str:
    return "".join(letter for letter in question.casefold() if letter.isalnum())


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: str(study["study_id"]))
def test_every_study_with_findings_has_questions_each_once(study: dict[str, object]) -> None:
    asked = list(map(plain, questions(study)))

    assert bool(asked) == bool(study.get("findings"))
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("name", ["golden_dev.jsonl", "golden_more.jsonl"])
def test_no_question_that_measures_the_site_was_copied_into_its_corpus(name: str) -> None:
    measured = {plain(json.loads(line)["question"]) for line in (CORPUS / name).read_text("utf-8").splitlines()}

    assert not measured & {plain(question) for study in STUDIES for question in questions(study)}


def form(asked_as: str) -> FindingForm:
    made = FindingForm.__new__(FindingForm)
    made.cleaned_data = {"asked_as": asked_as}
    return made


def test_the_form_keeps_a_question_a_line() -> None:
    assert form("  Why?\r\n\r\nHow many?  ").clean_asked_as() == "Why?\nHow many?"


def test_the_form_says_which_question_is_too_long() -> None:
    with pytest.raises(Exception, match=f"a question has at most {QUESTION_LETTERS}"):
        form("Why?\n" + "x" * (QUESTION_LETTERS + 1)).clean_asked_as()
