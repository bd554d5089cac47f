"""Who gets in, how often they may try, and what that costs in memory."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, make_password
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone

from inform_site.accounts import browsers, hashing, throttle
from inform_site.accounts.hashing import BoundedArgon2Hasher, HasherBusy
from inform_site.clients.addresses import Proxies
from inform_site.models import AuditEntry, LoginAttempt
from tests.builders import make_curator

pytestmark = pytest.mark.django_db
PASSWORD = "seven quiet otters"
LOGIN = "/admin/login/"


@pytest.fixture
def person() -> User:
    user = make_curator("robin")
    user.set_password(PASSWORD)
    user.save()
    return user


def log_in(client: Client, password: str = PASSWORD, *, name: str = "robin", **meta: str) -> HttpResponse:
    return client.post(f"{LOGIN}?next=/admin/corpus_app/study/", {"login": name, "password": password}, **meta)


def is_in(response: HttpResponse) -> bool:
    return response.status_code == HTTPStatus.FOUND


def fail(times: int, *, client: Client | None = None, name: str = "robin", **meta: str) -> list[HttpResponse]:
    return [log_in(client or Client(), "wrong", name=name, **meta) for _ in range(times)]


def refused(response: HttpResponse) -> bool:
    return "Too many attempts" in response.content.decode()


def test_a_curator_with_a_password_logs_in_without_any_setting(client: Client, person: User) -> None:
    page = client.get(LOGIN)
    assert page.status_code == HTTPStatus.OK
    assert "Password:" in page.content.decode()

    response = log_in(client)

    assert response["Location"] == "/admin/corpus_app/study/"
    assert client.get("/admin/").status_code == HTTPStatus.OK
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.actor, entry.address, entry.what) == ("login", "robin", "127.0.0.1", "password")
    assert not LoginAttempt.objects.exists()


def test_nobody_signs_up_and_only_people_of_the_desk_get_in(client: Client, person: User) -> None:
    for address in (
        "/accounts/signup/",
        "/admin/account/signup/",
        "/accounts/login/",
        "/admin/account/password/reset/",
    ):
        response = client.get(address)
        assert response.status_code == HTTPStatus.NOT_FOUND or response["Location"].startswith(LOGIN), address
    assert "sign up" not in client.get(LOGIN).content.decode().lower()
    for changes in ({"is_staff": False}, {"is_staff": True, "is_active": False}):
        User.objects.update(**changes)
        assert not is_in(log_in(client)), changes
    assert not User.objects.filter(username="other").exists()
    assert not is_in(log_in(client, name="other"))


def test_failures_of_an_account_are_counted_and_the_right_password_no_longer_helps_a_stranger(person: User) -> None:
    assert not any(refused(response) for response in fail(throttle.ACCOUNT_FAILURES, name="Robin"))

    response = log_in(Client(), REMOTE_ADDR="198.51.100.9")

    assert refused(response)
    assert not is_in(response)
    assert AuditEntry.objects.filter(kind="login_refused", actor="robin", address="198.51.100.9").exists()
    assert is_in(log_in(Client(), name=_other_person(), REMOTE_ADDR="198.51.100.9"))


def _other_person() -> str:
    User.objects.create_user("kim", password=PASSWORD, is_staff=True)
    return "kim"


def test_strangers_cannot_lock_a_curator_out(client: Client, person: User) -> None:
    """Neither from a browser that was used before, nor from an address that was, nor for long."""
    assert is_in(log_in(client, REMOTE_ADDR="192.0.2.1"))
    client.cookies.pop("sessionid")
    fail(throttle.ACCOUNT_FAILURES, REMOTE_ADDR="203.0.113.5")
    assert refused(log_in(Client(), REMOTE_ADDR="203.0.113.6"))

    assert is_in(log_in(client, REMOTE_ADDR="203.0.113.7")), "the browser is known"
    assert is_in(log_in(Client(), REMOTE_ADDR="192.0.2.1")), "the address is known"
    LoginAttempt.objects.update(at=timezone.now() - throttle.WINDOW)
    assert is_in(log_in(Client(), REMOTE_ADDR="203.0.113.6")), "ten minutes later"


@pytest.mark.parametrize("jump", [timedelta(hours=9), timedelta(days=400), timedelta(hours=-9)])
def test_a_clock_that_jumped_locks_nobody_out(person: User, jump: timedelta) -> None:
    fail(throttle.ACCOUNT_FAILURES)
    LoginAttempt.objects.update(at=timezone.now() + jump)

    assert is_in(log_in(Client()))
    throttle.prune()
    assert not LoginAttempt.objects.exists()


def test_failures_of_an_address_are_counted_as_our_proxies_report_it(person: User, settings: Any) -> None:
    settings.PROXIES = Proxies(count=1)
    for number in range(throttle.ADDRESS_FAILURES):
        fail(1, name=f"name{number}", HTTP_X_FORWARDED_FOR=f"10.1.1.{number}, 198.51.100.1")

    assert refused(log_in(Client(), HTTP_X_FORWARDED_FOR="198.51.100.1"))
    assert is_in(log_in(Client(), HTTP_X_FORWARDED_FOR="198.51.100.1, 198.51.100.2"))
    settings.PROXIES = Proxies()
    assert is_in(log_in(Client(), HTTP_X_FORWARDED_FOR="198.51.100.1", REMOTE_ADDR="192.0.2.8"))


def test_thirty_at_once_are_counted_one_after_the_other(person: User, transactional_db: None) -> None:
    results: list[str] = []

    def attempt() -> None:
        try:
            throttle.begin(account="robin", address="192.0.2.1")
            results.append("tried")
        except throttle.TooManyAttempts:
            results.append("refused")
        finally:
            from django.db import connection

            connection.close()

    _at_once(attempt)

    assert results.count("tried") == throttle.ACCOUNT_FAILURES


def _at_once(work: Callable[[], None], number: int = 30) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_passwords_are_hashed_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def verify(self: object, password: str, encoded: str) -> bool:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.005)
        with lock:
            running -= 1
        return True

    monkeypatch.setattr(Argon2PasswordHasher, "verify", verify)
    _at_once(lambda: BoundedArgon2Hasher().verify("x", "y") and None)

    assert most == hashing.AT_ONCE


def test_where_too_many_wait_the_page_says_so_at_once(
    client: Client, person: User, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    def busy(self: object, password: str, encoded: str) -> bool:
        raise HasherBusy

    settings.PASSWORD_HASHERS = ["inform_site.accounts.hashing.BoundedArgon2Hasher"]
    User.objects.update(password=make_password(PASSWORD))
    monkeypatch.setattr(BoundedArgon2Hasher, "verify", busy)

    response = log_in(client)

    assert response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert response["Retry-After"]


def test_an_old_hash_is_replaced_when_its_owner_logs_in(client: Client, person: User, settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["inform_site.accounts.hashing.BoundedArgon2Hasher"]
    old = Argon2PasswordHasher()
    User.objects.update(password=old.encode(PASSWORD, old.salt()))

    assert is_in(log_in(client))

    person.refresh_from_db()
    assert "m=47104,t=2,p=1" in person.password
    assert person.check_password(PASSWORD)


@pytest.mark.parametrize(
    ("password", "is_good"),
    [
        ("elevenchars", False),
        ("password1234", False),
        ("robinrobin12", False),
        ("informinform", False),
        ("InForm curator 1", False),
        ("seven quiet otters", True),
        ("x9" * 64, True),
        ("ein Satz mit Umläuten – länger", True),
    ],
)
def test_passwords_have_twelve_characters_and_are_not_guessed(person: User, password: str, is_good: bool) -> None:
    try:
        validate_password(password, person)
    except ValidationError:
        assert not is_good
    else:
        assert is_good


def test_a_name_that_does_not_exist_takes_as_long_and_reads_the_same(person: User) -> None:
    texts = [log_in(Client(), "wrong", name=name).content.decode().count("errornote") for name in ("robin", "nobody")]

    assert texts[0] == texts[1] == 1


@pytest.mark.parametrize(
    ("secret", "salt", "days"),
    [("another key", browsers.SALT, 0), (None, "another purpose", 0), (None, browsers.SALT, 181)],
)
def test_a_cookie_of_another_site_purpose_or_year_is_worth_nothing(secret: str | None, salt: str, days: int) -> None:
    request = RequestFactory().get(LOGIN)
    known = {"id": "made-up", "accounts": [throttle.key_of("account", "robin")]}
    request.COOKIES[browsers.COOKIE] = signing.dumps(known, salt=browsers.SALT)
    assert browsers.id_of(request, "Robin") == "made-up"

    with freeze(days):
        request.COOKIES[browsers.COOKIE] = signing.dumps(known, key=secret, salt=salt)

    assert browsers.id_of(request, "robin") == ""


def freeze(days: int) -> Any:
    """Sign so many days ago."""
    return mock.patch("django.core.signing.time.time", return_value=time.time() - days * 86_400)


def test_passwords_do_not_expire(client: Client, person: User) -> None:
    long_ago = timezone.now() - timedelta(days=4_000)
    User.objects.update(date_joined=long_ago, last_login=long_ago)

    assert is_in(log_in(client))


def test_refusals_stand_in_the_log_without_a_name(person: User, caplog: pytest.LogCaptureFixture) -> None:
    fail(1, name="robin", REMOTE_ADDR="198.51.100.77")

    assert [record.getMessage().strip() for record in caplog.records if record.name == "inform_site.audit"] == [
        "login failed: 198.51.100.77"
    ]
