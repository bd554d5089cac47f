"""The questions that studies and findings answer: kept at the desk, by imports and by merges."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from corpus_app import curation
from corpus_app.curation.merging import merge
from corpus_app.models import CorpusEvent, Finding
from corpus_app.public import changes
from corpus_app.records import QUESTION_LETTERS, Direction
from corpus_app.sources import FindingDraft
from tests.builders import make_study
from tests.corpus.test_admin import address, errors, form_of

pytestmark = pytest.mark.django_db


def test_the_desk_keeps_a_question_a_line_and_says_which_is_too_long(client: Client, curator: User) -> None:
    study = make_study()
    url = address("study_change", study.pk)

    client.post(url, form_of(client, url) | {"asked_as": "  Why?\r\n\r\nHow many?  "})
    study.refresh_from_db()
    assert study.asked_as == "Why?\nHow many?"

    long = f"Why?\n{'x' * (QUESTION_LETTERS + 1)}"
    page = errors(client.post(url, form_of(client, url) | {"asked_as": long}))
    assert f"a question has at most {QUESTION_LETTERS}" in page


def draft(statement: str = "It rose.", *, asked_as: str | None = None) -> FindingDraft:
    return FindingDraft("creatine", "placebo", "strength", Direction.INCREASE, statement, asked_as)


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


def test_two_records_of_one_study_join_their_questions() -> None:
    for name, asked_as in (("A", "Does it work?"), ("B", "Does it work?\nIs it any good?")):
        make_study(study_id=name, status="draft")
        curation.set_findings(name, [draft(asked_as=asked_as)], by=None, by_name="test")

    merge("A", "B", by=None, by_name="test", reason="The same trial.", take=["findings"], passages=[])

    (finding,) = Finding.objects.filter(study__study_id="A")
    assert finding.questions == ["Does it work?", "Is it any good?"]


def test_unchanged_findings_keep_their_rows() -> None:
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
