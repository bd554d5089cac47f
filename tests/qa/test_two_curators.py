"""Two curators on one page of questions: the second is told, and what readers write meanwhile is kept."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from qa_app.models import Gap, GoldenQuestion, SafetyReply
from tests.builders import make_curator
from tests.corpus.test_admin import form_of

pytestmark = pytest.mark.django_db


def make_row(page: str) -> Any:
    now = timezone.now()
    if page == "gap":
        return Gap.objects.create(key="k", question="Sauna?", asked=1, first_asked_at=now, last_asked_at=now)
    if page == "goldenquestion":
        return GoldenQuestion.objects.create(key="g", question="Sets?", mode="beginner", kind="answerable_lay")
    by = make_curator("writer")
    return SafetyReply.objects.draft(route="emergency", text="Stop. Call for help.", instead="", by=by, now=now)


FIELDS = {"gap": "note", "goldenquestion": "note", "safetyreply": "text"}
OTHERS_CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("gap", {"note": "theirs"}),
    ("gap", {"status": "closed"}),
    ("goldenquestion", {"relevant": {"S1": 2}}),
    ("goldenquestion", {"is_active": False}),
    ("safetyreply", {"text": "theirs"}),
]


def open_form(client: Client, page: str, row: Any) -> tuple[str, dict[str, Any]]:
    client.force_login(make_curator())
    url = reverse(f"admin:qa_app_{page}_change", args=[row.pk])
    return url, form_of(client, url)


@pytest.mark.parametrize(("page", "theirs"), OTHERS_CHANGES)
def test_the_second_is_told_and_nothing_is_overwritten(client: Client, page: str, theirs: dict[str, Any]) -> None:
    row = make_row(page)
    url, seen = open_form(client, page, row)
    type(row).objects.filter(pk=row.pk).update(**theirs)

    response = client.post(url, seen | {FIELDS[page]: "mine"})

    assert response.status_code == 200
    assert "Someone else has saved this" in response.content.decode()
    assert "mine" in response.content.decode()
    row.refresh_from_db()
    assert {name: getattr(row, name) for name in theirs} == theirs
    assert getattr(row, FIELDS[page]) != "mine"


def test_a_page_saved_twice_in_a_row_is_no_conflict(client: Client) -> None:
    for page, field in FIELDS.items():
        row = make_row(page)
        for words in ("first", "second"):
            url = reverse(f"admin:qa_app_{page}_change", args=[row.pk])
            client.force_login(make_curator(f"{page} {words}"))
            assert client.post(url, form_of(client, url) | {field: words}).status_code == 302
        row.refresh_from_db()
        assert getattr(row, field) == "second"


def test_a_question_asked_meanwhile_still_counts(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    gap = make_row("gap")
    url, seen = open_form(client, "gap", gap)

    original = Gap.save

    def save(self: Gap, *args: Any, **options: Any) -> None:
        Gap.objects.filter(pk=gap.pk).update(asked=F("asked") + 1)
        original(self, *args, **options)

    monkeypatch.setattr(Gap, "save", save)
    assert client.post(url, seen | {"note": "mine"}).status_code == 302

    gap.refresh_from_db()
    assert (gap.asked, gap.note) == (2, "mine")


def test_who_only_reads_sees_nothing_that_forms_need(client: Client) -> None:
    for page in FIELDS:
        row = make_row(page)
        client.force_login(make_curator(f"reader {page}", role="Desk readers"))
        response = client.get(reverse(f"admin:qa_app_{page}_change", args=[row.pk]))
        assert response.status_code == 200
        assert "field-seen" not in response.content.decode()
