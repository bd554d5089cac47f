"""How sessions end, and what the audit log holds."""

import csv
import io
import time
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from inform_site import commandline
from inform_site.accounts import audit, sessions
from inform_site.accounts.audit import Kind
from inform_site.clients import keys
from inform_site.models import AuditEntry
from inform_site.tasks import prune_accounts
from tests.accounts.test_login import LOGIN, PASSWORD, log_in, person
from tests.api.conftest import post
from tests.builders import make_curator, make_study, make_superuser

__all__ = ["person"]
pytestmark = pytest.mark.django_db


def is_out(client: Client) -> bool:
    return LOGIN in client.get("/admin/").headers.get("Location", "")


def test_a_session_ends_without_use_and_after_its_longest_time(client: Client, person: User, settings: Any) -> None:
    log_in(client)
    key = client.session.session_key
    client.get("/admin/")
    lasts = Session.objects.get(pk=key).expire_date - timezone.now()
    assert timedelta(minutes=719) < lasts <= timedelta(minutes=720)
    session = client.session
    session[sessions.BEGAN] = time.time() - settings.SESSION_HOURS * 3_600 + 5
    session.save()
    assert not is_out(client)
    session = client.session
    session[sessions.BEGAN] = time.time() - settings.SESSION_HOURS * 3_600
    session.save()
    assert is_out(client)
    assert AuditEntry.objects.filter(kind="session_ended").exists()

    log_in(client)
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert is_out(client)
    prune_accounts()
    assert not Session.objects.exists()


def test_a_clock_that_jumped_ends_no_session(client: Client, person: User) -> None:
    log_in(client)
    session = client.session
    session[sessions.BEGAN] = session[sessions.SEEN] = time.time() + 86_400 * 30
    session.save()

    assert not is_out(client)
    assert client.session[sessions.BEGAN] <= time.time()


def test_a_login_gets_a_new_session_and_cookies_that_scripts_cannot_read(client: Client, person: User) -> None:
    client.get(LOGIN)
    client.cookies["sessionid"] = "planted-by-somebody-else"
    log_in(client)

    cookie = client.cookies["sessionid"]
    assert cookie.value != "planted-by-somebody-else"
    assert len(cookie.value) == 32, "of 36 signs, drawn by secrets: 165 bits"
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert client.cookies["csrftoken"]["httponly"]
    assert client.cookies["known_browser"]["httponly"]
    log_out = client.post("/admin/logout/")
    assert is_out(client)
    assert log_out.status_code == HTTPStatus.OK


def test_people_see_and_end_their_own_sessions(person: User) -> None:
    here, elsewhere, third = (Client(headers={"User-Agent": agent}) for agent in ("Here", "Elsewhere", "Third"))
    for client in (here, elsewhere, third):
        log_in(client)
    page = here.get("/admin/account/").content.decode()
    assert all(agent in page for agent in ("Here", "Elsewhere", "Third"))
    assert page.count("(this one)") == 1
    other = make_curator("other")
    stranger = Client()
    stranger.force_login(other)
    shown = {session.user_agent: session for session in sessions.own_sessions(person)}

    stranger.post(f"/admin/account/sessions/{shown['Elsewhere'].pk}/end/")
    assert not is_out(elsewhere), "not one's own"
    here.post(f"/admin/account/sessions/{shown['Elsewhere'].pk}/end/")
    assert is_out(elsewhere)
    assert not is_out(third)
    here.post("/admin/account/sessions/end/")
    assert is_out(third)
    assert not is_out(here)


def test_a_new_password_ends_the_other_sessions(person: User) -> None:
    here, elsewhere = Client(), Client()
    log_in(here)
    log_in(elsewhere)
    new = "eight loud herons"

    here.post("/admin/password_change/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})

    assert not is_out(here)
    assert is_out(elsewhere)
    assert AuditEntry.objects.filter(kind="password", actor="robin").exists()


def test_who_leaves_the_desk_is_out_at_once(client: Client, person: User) -> None:
    for changes in ({"is_staff": False}, {"is_staff": True, "is_active": False}):
        User.objects.update(is_staff=True, is_active=True)
        log_in(client)
        assert not is_out(client)
        User.objects.update(**changes)
        assert is_out(client), changes


def test_administrators_end_sessions_and_remove_lost_factors(person: User) -> None:
    client, desk = Client(), Client()
    log_in(client)
    Authenticator.objects.create(user=person, type="totp", data={})
    desk.force_login(make_superuser())

    for action in ("end_sessions", "remove_second_factors"):
        desk.post("/admin/auth/user/", {"action": action, "_selected_action": [person.pk]})

    assert is_out(client)
    assert not Authenticator.objects.exists()
    acts = AuditEntry.objects.filter(kind="act", actor="owner").values_list("detail", flat=True)
    assert any(f"action=end_sessions {person.pk}" in act for act in acts)


def test_a_password_that_an_administrator_gave_is_replaced_at_the_first_login(person: User) -> None:
    desk, new = Client(), "eight loud herons"
    desk.force_login(make_superuser())
    given = {"password1": PASSWORD, "password2": PASSWORD}
    desk.post("/admin/auth/user/add/", {"username": "kim", "usable_password": "true", **given})
    User.objects.filter(username="kim").update(is_staff=True)
    desk.post(f"/admin/auth/user/{person.pk}/password/", given)
    assert desk.get("/admin/").status_code == HTTPStatus.OK, "only theirs were given"

    for name in ("kim", "robin"):
        client = Client()
        log_in(client, name=name)
        for address in ("/admin/", "/admin/account/", "/admin/corpus_app/study/", "/admin/account/passkeys/add/"):
            assert client.get(address)["Location"] == "/admin/password_change/", address
        assert "Choose a password that only you know" in client.get("/admin/password_change/").content.decode()
        change = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
        assert client.post("/admin/password_change/", change)["Location"] == "/admin/password_change/done/"
        assert client.get("/admin/").status_code == HTTPStatus.OK
        again = Client()
        log_in(again, new, name=name)
        assert again.get("/admin/").status_code == HTTPStatus.OK


# --- the audit log


def test_acts_at_the_desk_and_by_keys_are_recorded(client: Client, person: User) -> None:
    study = make_study(study_id="S1")
    comments = f"/admin/corpus_app/study/{study.pk}/comments/"
    log_in(client)
    client.post(comments, {"text": ""})
    assert not AuditEntry.objects.filter(kind="act").exists(), "a form that is shown again did nothing"
    client.post(comments, {"text": "Look again."}, HTTP_USER_AGENT="Browser 1")
    client.get("/admin/auth/user/")

    act = AuditEntry.objects.get(kind="act")
    assert (act.actor, act.address, act.agent, act.what, act.detail) == (
        "robin", "127.0.0.1", "Browser 1", "corpus_app_study_comments", comments,
    )  # fmt: skip
    assert AuditEntry.objects.get(kind="denied").what == "auth_user_changelist"
    key = keys.make(name="k", scopes=["curate"], owner=person, by=None, now=timezone.now())
    assert (
        post("/api/v1/desk/studies/S1/comments", {"text": "And again."}, key.secret).status_code == HTTPStatus.CREATED
    )
    by_key = AuditEntry.objects.get(kind="api")
    assert by_key.actor == "robin"
    assert key.key.prefix in by_key.detail
    assert key.secret not in by_key.detail


def test_rows_of_the_log_are_neither_changed_nor_deleted_but_by_age(settings: Any) -> None:
    entry = audit.record(Kind.ACT, actor="robin", what="one")
    for change in (lambda: AuditEntry.objects.update(actor="kim"), lambda: AuditEntry.objects.all().delete()):
        with pytest.raises(IntegrityError, match="append only"), transaction.atomic():
            change()
    audit.record(Kind.ACT, actor="robin", what="two")
    settings.AUDIT_DAYS = 0
    assert audit.prune() == 0
    settings.AUDIT_DAYS = 30
    AuditEntry.objects.bulk_create([AuditEntry(kind=Kind.ACT, what="old", at=timezone.now() - timedelta(days=31))])
    assert audit.prune() == 1
    assert AuditEntry.objects.count() == 2
    with pytest.raises(IntegrityError), transaction.atomic():
        entry.delete()


def test_the_log_is_read_and_exported_by_administrators_alone(client: Client) -> None:
    audit.record(Kind.LOGIN_FAILED, actor='=HYPERLINK("x")\n\x1b[31m', what="one")
    client.force_login(make_curator())
    for address in ("/admin/inform_site/auditentry/", "/admin/inform_site/auditentry/export/"):
        assert client.get(address).status_code == HTTPStatus.FORBIDDEN
    client.force_login(make_curator("head", role="Administrators"))

    page = client.get("/admin/inform_site/auditentry/").content.decode()
    sent = client.get("/admin/inform_site/auditentry/export/?kind__exact=login_failed")
    rows = list(csv.DictReader(io.StringIO(b"".join(sent.streaming_content).decode())))  # type: ignore[attr-defined]

    assert "login failed" in page
    assert "Export as CSV" in page
    assert [row["kind"] for row in rows] == ["login_failed"]
    assert rows[0]["at"].endswith("+00:00")
    assert rows[0]["actor"].startswith("'=HYPERLINK")
    assert "\x1b" not in rows[0]["actor"]
    pk = AuditEntry.objects.last().pk  # type: ignore[union-attr]
    for verb in ("delete", "change"):
        assert client.post(f"/admin/inform_site/auditentry/{pk}/{verb}/", {}).status_code == HTTPStatus.FORBIDDEN


def test_commands_that_change_everything_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commandline, "execute_from_command_line", lambda argv: None)
    monkeypatch.setattr(commandline, "needs_database", lambda argv: False)
    commandline.execute(["manage.py", "erase", "--address", "203.0.113.7"])
    commandline.execute(["manage.py", "check"])

    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.what) == ("command", "erase")
    assert "203" not in f"{entry.detail}{entry.what}"


def test_secrets_stand_on_no_page_of_the_desk(client: Client, person: User) -> None:
    client.force_login(make_superuser())
    page = client.get("/admin/").content.decode()

    assert not any(name in page for name in ("/admin/mfa/", "/admin/socialaccount/", "/admin/usersessions/"))
