"""The questions that the studies, passages and findings of the starter corpus answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus_app import curation, sources
from corpus_app.curation.merging import merge
from corpus_app.desk.base import QuestionsForm
from corpus_app.models import CorpusEvent, Finding
from corpus_app.public import changes
from corpus_app.records import QUESTION_LETTERS, Direction
from corpus_app.sources import FindingDraft
from tests.builders import make_study

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
STUDIES = [json.loads(path.read_text("utf-8")) for path in sorted((CORPUS / "studies").glob("*.json"))]


def questions(study: dict[str, object]) -> list[str]:
    rows = [study]
    for key in ("findings", "passages"):
        own = study.get(key) or []
        assert isinstance(own, list)
        rows += own
    return [question for row in rows for question in row.get("asked_as") or []]  # type: ignore[attr-defined]


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


def form(asked_as: str) -> QuestionsForm:
    made = QuestionsForm.__new__(QuestionsForm)
    made.cleaned_data = {"asked_as": asked_as}
    return made


def test_the_form_keeps_a_question_a_line() -> None:
    assert form("  Why?\r\n\r\nHow many?  ").clean_asked_as() == "Why?\nHow many?"


def test_the_form_says_which_question_is_too_long() -> None:
    with pytest.raises(Exception, match=f"a question has at most {QUESTION_LETTERS}"):
        form("Why?\n" + "x" * (QUESTION_LETTERS + 1)).clean_asked_as()


# --- Written over, joined, announced ----------------------------------------------------------------------------------


def draft(statement: str = "It rose.", *, asked_as: str | None = None) -> FindingDraft:
    return FindingDraft("creatine", "placebo", "strength", Direction.INCREASE, statement, asked_as)


def test_a_source_that_says_nothing_of_questions_takes_none_away() -> None:
    here = [draft(asked_as="Does it work?"), draft("It fell.")]

    kept = sources.with_questions([draft(), draft("It rose by 3 kg."), draft("It fell.", asked_as="")], here)

    assert [finding.asked_as for finding in kept] == ["Does it work?", "Does it work?", ""]


@pytest.mark.django_db
def test_findings_set_without_their_questions_keep_them_and_with_none_lose_them() -> None:
    study = make_study(study_id="A")
    curation.set_findings("A", [draft(asked_as="Does it work?")], by=None, by_name="test")

    curation.set_findings("A", [draft("It rose by 3 kg.")], by=None, by_name="test")
    assert Finding.objects.get(study=study).questions == ["Does it work?"]

    curation.set_findings("A", [draft("It rose by 3 kg.", asked_as="")], by=None, by_name="test")
    assert Finding.objects.get(study=study).questions == []


@pytest.mark.django_db
def test_questions_are_no_news_for_readers() -> None:
    study = make_study(study_id="A")
    curation.set_findings("A", [draft()], by=None, by_name="test")
    before = CorpusEvent.objects.count()

    curation.set_findings("A", [draft(asked_as="Does it work?")], by=None, by_name="test")

    event = CorpusEvent.objects.first()
    assert event is not None
    assert CorpusEvent.objects.count() == before + 1
    assert set(event.detail["changes"]) == {"asked_as"} <= changes.HIDDEN_FIELDS
    assert study.findings.get().questions == ["Does it work?"]


@pytest.mark.django_db
def test_two_records_of_one_study_join_their_questions() -> None:
    for name, asked_as in (("A", "Does it work?"), ("B", "Does it work?\nIs it any good?")):
        make_study(study_id=name, status="draft")
        curation.set_findings(name, [draft(asked_as=asked_as)], by=None, by_name="test")

    merge("A", "B", by=None, by_name="test", reason="The same trial.", take=["findings"], passages=[])

    (finding,) = Finding.objects.filter(study__study_id="A")
    assert finding.questions == ["Does it work?", "Is it any good?"]


@pytest.mark.django_db
def test_a_finding_that_says_what_it_said_keeps_its_row() -> None:
    make_study(study_id="A")

    def ids_after(*findings: FindingDraft) -> dict[str, list[int]]:
        curation.set_findings("A", findings, by=None, by_name="test")
        rows = Finding.objects.filter(study__study_id="A").order_by("position")
        ids: dict[str, list[int]] = {}
        for row in rows:
            ids.setdefault(row.statement, []).append(row.pk)
        assert [row.position for row in rows] == list(range(len(findings)))
        return ids

    first = ids_after(draft("It rose."), draft("It fell."), draft("It rose."))
    asked = ids_after(draft("It fell.", asked_as="Does it fall?"), draft("It rose."), draft("It rose."))
    assert asked == first
    edited = ids_after(draft("It fell by 3 kg."), draft("It rose."))
    assert edited["It rose."] == first["It rose."][:1]
    assert edited["It fell by 3 kg."] != first["It fell."]
    assert Finding.objects.filter(study__study_id="A").count() == 2
