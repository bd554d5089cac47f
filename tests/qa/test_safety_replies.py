"""The fixed replies as rows: versions, review by a second person, and what a reader is shown."""

import importlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.urls import reverse

from corpus_app import curation
from qa_app.answers import asking
from qa_app.models import Answer, SafetyReply
from qa_app.pipeline.lexicon import read_tables
from qa_app.pipeline.question.safety import Route, SafetyLexicon
from tests.builders import make_curator, make_superuser
from tests.corpus.test_admin import form_of

pytestmark = pytest.mark.usefixtures("lexica")

LEXICON = Path(__file__).parents[2] / "corpus" / "lexicon"
ROUTES = tuple(SafetyLexicon.build(read_tables(LEXICON)).routes.values())
INSTEAD = next(route.instead for route in ROUTES if route.name == "drugs")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
EMERGENCY = "I get chest pain when I lift, should I do more sets?"
WORDS = "Stop now and call for help. A doctor has to look at this first."


@pytest.fixture
def lexica(db: None) -> None:
    """The routes of the starter corpus, as its folder brings them."""
    tables = {path.stem: path.read_text(encoding="utf-8") for path in LEXICON.glob("*.toml")}
    curation.set_lexica(tables, by=None, by_name="tests")


def make_draft(by: User, **changes: Any) -> SafetyReply:
    fields: dict[str, Any] = {"route": "emergency", "text": WORDS, "instead": "", "by": by, "now": NOW} | changes
    return SafetyReply.objects.draft(**fields)


def built_in(name: str = "emergency") -> Route:
    return next(route for route in ROUTES if route.name == name)


def first(route: str = "emergency") -> SafetyReply:
    return SafetyReply.objects.get(route=route, version=1)


def page(name: str, *args: Any) -> str:
    return reverse(f"admin:qa_app_safetyreply_{name}", args=args)


@pytest.fixture
def writer() -> User:
    return make_curator("writer")


@pytest.fixture
def reviewer() -> User:
    return make_curator("reviewer")


@pytest.fixture
def as_writer(client: Client, writer: User) -> Client:
    client.force_login(writer)
    return client


@pytest.fixture
def as_reviewer(reviewer: User) -> Client:
    client = Client()
    client.force_login(reviewer)
    return client


def test_every_route_begins_with_its_built_in_words_approved() -> None:
    rows = {row.route: row for row in SafetyReply.objects.filter(written_by=None, status="approved")}

    assert {name: row.text for name, row in rows.items()} == {route.name: route.message for route in ROUTES}
    assert {name: row.instead for name, row in rows.items()} == {route.name: route.instead for route in ROUTES}


BREAKS: dict[str, dict[str, Any]] = {
    "safety_reply_version_once": {"version": 1},
    "safety_reply_one_approved": {"version": 2, "status": "approved", "reviewed_at": NOW},
    "safety_reply_reviewed_unless_draft": {"version": 2, "status": "replaced"},
    "safety_reply_version_from_one": {"version": 0},
    "safety_reply_says_something": {"version": 2, "text": ""},
}


@pytest.mark.parametrize("name", BREAKS)
def test_database_holds_every_constraint(name: str) -> None:
    fields = {"route": "emergency", "text": WORDS, "written_at": NOW} | BREAKS[name]

    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        SafetyReply.objects.create(**fields)
    assert {constraint.name for constraint in SafetyReply._meta.constraints} == set(BREAKS)


def test_the_data_steps_go_back_and_forth_and_leave_curators_their_words(writer: User, reviewer: User) -> None:
    names = ("0003_first_safety_replies", "0012_replies_to_minors_and_medicines")
    names += ("0013_replies_to_pregnancy_and_diagnosis", "0014_reply_to_a_crisis")
    first, second, third, fourth = (importlib.import_module(f"qa_app.migrations.{name}") for name in names)
    apps = MigrationExecutor(connection).loader.project_state(("qa_app", names[-1])).apps

    with connection.schema_editor() as editor:
        fourth.remove_first_reply(apps, editor)
        third.remove_second_versions(apps, editor)
        second.remove_second_versions(apps, editor)
        assert set(SafetyReply.objects.values_list("version", "status")) == {(1, "approved")}
        first.remove_first_replies(apps, editor)
        assert not SafetyReply.objects.exists()
        first.add_first_replies(apps, editor)
        make_draft(writer, route="minor").approve(by=reviewer, now=NOW, seen=NOW)
        second.add_second_versions(apps, editor)
        third.add_second_versions(apps, editor)
        fourth.add_first_reply(apps, editor)

    assert SafetyReply.objects.filter(status="approved").count() == len(ROUTES)
    assert SafetyReply.objects.find_approved("minor").text == WORDS


@pytest.mark.usefixtures("library")
def test_readers_get_the_approved_words_and_answers_their_version(writer: User, reviewer: User) -> None:
    before = asking.ask(question=EMERGENCY)
    make_draft(writer, instead="Ask about groups of people.").approve(by=reviewer, now=NOW, seen=NOW)

    body, stored = asking.ask(question=EMERGENCY), asking.find_answer(before["id"])

    assert body["message"] == f"{WORDS}\n\nAsk about groups of people."
    assert body["guardrail"] == {"route": "emergency", "version": 2}
    assert Answer.objects.get(pk=body["id"]).payload["guardrail"] == {"route": "emergency", "version": 2}
    assert (stored["message"], stored["guardrail"]) == (before["message"], {"route": "emergency", "version": 1})


@pytest.mark.usefixtures("library")
def test_a_corpus_of_another_subject_replies_in_its_own_words_or_in_general_ones(writer: User, reviewer: User) -> None:
    curation.set_lexica({}, by=None, by_name="tests")

    general = asking.ask(question=EMERGENCY)
    make_draft(writer).approve(by=reviewer, now=NOW, seen=NOW)

    assert general["message"] == SafetyLexicon.build().routes["emergency"].message
    assert general["guardrail"] == {"route": "emergency", "version": None}
    assert asking.ask(question=EMERGENCY)["message"] == WORDS


@pytest.mark.usefixtures("library")
def test_without_an_approved_row_the_built_in_words_stand_in(writer: User) -> None:
    SafetyReply.objects.all().delete()
    make_draft(writer)

    body = asking.ask(question=EMERGENCY)

    assert body["message"] == f"{built_in().message}\n\n{INSTEAD}"
    assert body["guardrail"] == {"route": "emergency", "version": None}


def test_an_approved_reply_has_no_form_and_leads_to_a_new_version(as_writer: Client) -> None:
    html = as_writer.get(page("change", first().pk)).content.decode()
    form = as_writer.get(page("add"), {"from": first("drugs").pk}).context["adminform"].form

    assert "<textarea" not in html
    assert "Came with InForm, or a former curator" in html
    assert ">None<" not in html
    assert f"{page('add')}?from={first().pk}" in html
    assert as_writer.post(page("change", first().pk), {"text": "Other words.", "instead": ""}).status_code == 403
    assert form.initial == {"route": "drugs", "text": first("drugs").text, "instead": INSTEAD}
    for origin in ("", "x", "9" * 30, "999999", "-1", "²"):
        form = as_writer.get(page("add"), {"from": origin}).context["adminform"].form
        assert form.initial == {"instead": INSTEAD}


def test_one_writes_and_another_approves(as_writer: Client, writer: User, as_reviewer: Client, reviewer: User) -> None:
    as_writer.post(page("add"), {"route": "emergency", "text": WORDS, "instead": "Ask about groups."})
    draft = SafetyReply.objects.get(route="emergency", version=2)
    with pytest.raises(ValidationError, match="another curator"):
        draft.approve(by=writer, now=NOW, seen=draft.written_at)
    assert SafetyReply.objects.find_approved("emergency") == first()

    asked = as_reviewer.get(page("approve", draft.pk)).content.decode()
    done = as_reviewer.post(page("approve", draft.pk), {"seen": draft.written_at.isoformat()}, follow=True)

    draft.refresh_from_db()
    assert (draft.written_by, draft.reviewed_by, first().status) == (writer, reviewer, "replaced")
    assert WORDS in asked
    assert first().text[:40] in asked
    assert [str(message) for message in done.context["messages"]] == ["Approved: readers now see Emergency, version 2."]
    assert SafetyReply.objects.find_approved("emergency") == draft
    assert SafetyReply.objects.filter(status="approved").count() == len(ROUTES)
    assert LogEntry.objects.filter(user=reviewer, object_id=str(draft.pk), change_message="Approved.").exists()
    for row in (draft, first()):  # neither is edited or approved again
        row.text = "Other words."
        with pytest.raises(TypeError, match="stays as it was"):
            row.save()
        with pytest.raises(ValidationError, match="approved before"):
            row.approve(by=reviewer, now=NOW, seen=NOW)
    owner = make_superuser()
    own = make_draft(owner)
    own.approve(by=owner, now=NOW, seen=NOW)
    assert own.status == "approved"


def test_who_edits_a_draft_is_its_writer(as_reviewer: Client, writer: User, reviewer: User) -> None:
    draft = make_draft(writer)

    url = page("change", draft.pk)
    as_reviewer.post(url, form_of(as_reviewer, url) | {"text": "Better words. See a doctor.", "instead": ""})

    draft.refresh_from_db()
    assert (draft.text, draft.written_by, draft.version) == ("Better words. See a doctor.", reviewer, 2)
    assert page("change", first().pk) in as_reviewer.get(url).content.decode()
    assert "You wrote it" in as_reviewer.get(page("approve", draft.pk)).content.decode()


def test_approving_needs_the_words_that_were_read_by_another(as_reviewer: Client, writer: User) -> None:
    draft = make_draft(writer)
    with pytest.raises(ValidationError, match="edited it since"):
        draft.approve(by=make_superuser(), now=NOW, seen=NOW - timedelta(seconds=1))
    own = Client()
    own.force_login(writer)

    for seen in ("2026-02-28T00:00:00+00:00", "2026-99-99T00:00:00", "x", ""):
        as_reviewer.post(page("approve", draft.pk), {"seen": seen})
    asked = own.get(page("approve", draft.pk)).content.decode()
    refused = own.post(page("approve", draft.pk), {"seen": draft.written_at.isoformat()}, follow=True)

    assert "You wrote it" in asked
    assert "<form method" not in asked.split("What readers get now")[1]
    assert any("You wrote it" in str(message) for message in refused.context["messages"])
    assert SafetyReply.objects.get(pk=draft.pk).is_draft
    for key in ("x", "999999", "9" * 30, "²"):
        assert as_reviewer.get(page("approve", key)).status_code == 404
        assert as_reviewer.post(page("approve", key)).status_code == 404


def test_a_curator_without_the_permission_cannot_approve(as_reviewer: Client, writer: User) -> None:
    draft = make_draft(writer)
    group = Group.objects.get(name="Curators")
    group.permissions.remove(group.permissions.get(codename="approve_safetyreply"))

    assert page("approve", draft.pk) not in as_reviewer.get(page("change", draft.pk)).content.decode()
    assert as_reviewer.post(page("approve", draft.pk), {"seen": NOW.isoformat()}).status_code == 403
    assert SafetyReply.objects.get(pk=draft.pk).is_draft


def test_words_that_cannot_be_shown_are_refused(as_writer: Client) -> None:
    for text in ("", "   ", "nul \0", "x" * 2_001):
        response = as_writer.post(page("add"), {"route": "emergency", "text": text, "instead": ""})
        assert "errornote" in response.content.decode()
    assert not SafetyReply.objects.filter(status="draft").exists()


def test_nothing_is_deleted_even_by_superusers(client: Client, writer: User) -> None:
    client.force_login(make_superuser())
    draft = make_draft(writer)

    for row in (draft, first()):
        assert client.post(page("delete", row.pk), {"post": "yes"}).status_code == 403
    assert SafetyReply.objects.filter(route="emergency").count() == 2
