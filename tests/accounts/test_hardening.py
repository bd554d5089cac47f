"""What a site that strangers attack may not say, serve or do (docs/asvs.md names these tests)."""

import ast
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import User
from django.core.management.utils import get_random_secret_key
from django.test import Client

from common.encryption import CannotDecrypt, decrypt, encrypt
from qa_app.answers import answering
from tests.accounts.test_login import LOGIN, PASSWORD, log_in, person
from tests.builders import make_superuser

__all__ = ["person"]
ROOT = Path(__file__).resolve().parents[2]
CODE = [path for app in ("common", "corpus_app", "inform_site", "qa_app") for path in (ROOT / app).rglob("*.py")]
FORBIDDEN = re.compile(
    r"^(eval|exec|compile|__import__|os\.system|os\.popen|pickle\.loads?|marshal\.loads?|yaml\.load|hashlib\.(md5|sha1)"
    r"|random\.\w+|tempfile\.mktemp|ssl\._create_unverified_context|jinja2\.\w+)$"
)
"""Calls that run data, guessable numbers, and hashes that are broken."""
FOR_SAMPLES = re.compile(r"/(fitted|evaluation|management|migrations)/|qa_app/feedback/|quality/|qa_app/writers/")
"""Where numbers are drawn by chance for measurements and pauses, never for secrets."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
POLICY = ("default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'", "script-src 'self'")
PRODUCTION = {
    "INFORM_PRODUCTION": "true", "SECRET_KEY": "k" * 60, "ALLOWED_HOSTS": "inform.example",
    "DATABASE_URL": "postgresql://inform@127.0.0.1/inform?sslmode=verify-full", "INFORM_PROXIES": "1", "DEBUG": "false",
}  # fmt: skip


def _calls(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)
            for keyword in node.keywords:
                if isinstance(keyword.value, ast.Constant):
                    yield f"{keyword.arg}={keyword.value.value}"


def test_no_code_runs_data_draws_guessable_secrets_or_skips_a_check() -> None:
    found = {
        (str(path.relative_to(ROOT)), call)
        for path in CODE
        for call in _calls(path)
        if call in {"shell=True", "verify=False", "autoescape=False", "follow_redirects=True"}
        or (FORBIDDEN.match(call) and not (call.startswith("random.") and FOR_SAMPLES.search(str(path))))
    }

    assert found == set()


def test_one_cipher_encrypts_and_libraries_do_it() -> None:
    """Fernet: AES-128-CBC, then HMAC-SHA256, a fresh vector each time."""
    imported = {
        (str(path.relative_to(ROOT)), name)
        for path in CODE
        for name in re.findall(
            r"^\s*(?:from|import) ((?:cryptography|Crypto|nacl|jwt)[\w.]*)", path.read_text("utf-8"), re.M
        )
    }
    assert imported == {("common/encryption.py", "cryptography.fernet")}
    first, second = (encrypt("the same", purpose="a test") for _ in range(2))
    assert first != second
    for changed in (second[:-3] + "AA=", "", second):
        with pytest.raises(CannotDecrypt):
            decrypt(changed, purpose="another" if changed == second else "a test")


def test_templates_escape_everything_but_pictures_of_our_own() -> None:
    unsafe = re.compile(
        r"\|\s*safe(seq)?\b|autoescape off|<script(?![^>]*(src=|type=\"application/json\"))|javascript:|\son\w+=\""
    )
    found = {
        path.relative_to(ROOT).as_posix(): unsafe.findall(path.read_text(encoding="utf-8"))
        for path in (ROOT / "templates").rglob("*.html")
        if unsafe.search(path.read_text(encoding="utf-8"))
    }

    assert set(found) <= {"admin/account/app.html", "templates/admin/account/app.html"}, found


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/corpus/", "/claims/", LOGIN, "/nothing/here", "/api/v1/health", "/admin/"])
def test_every_reply_tells_browsers_what_they_may_do(client: Client, path: str) -> None:
    response = client.get(path)

    assert {name: response[name] for name in HEADERS} == HEADERS
    assert all(part in response["Content-Security-Policy"] for part in POLICY)
    assert "unsafe" not in response["Content-Security-Policy"]
    if response.content:
        assert re.search(r"charset=utf-8|^application/(problem\+)?json", response["Content-Type"])
    assert "Server" not in response
    assert "X-Powered-By" not in response


@pytest.mark.django_db
def test_nothing_hidden_is_served(client: Client) -> None:
    for path in (
        "/.git/config",
        "/.env",
        "/static/",
        "/static/../manage.py",
        "/static/%2e%2e/manage.py",
        "/admin/doc/",
    ):
        assert client.get(path, follow=True).status_code in {HTTPStatus.NOT_FOUND, HTTPStatus.OK}
        assert "Username" in (text := client.get(path, follow=True).content.decode()) or "SECRET" not in text
        assert client.get(path).status_code != HTTPStatus.OK, path
    for path in ("/", LOGIN, "/api/v1/health"):
        assert client.generic("TRACE", path, HTTP_COOKIE="a=secret-of-a-cookie").status_code in {
            HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.FORBIDDEN,
        }, path  # fmt: skip


def in_production(program: str, folder: Path) -> Any:
    """What a program of a production site prints as JSON."""
    env = PRODUCTION | {"INFORM_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "inform_site.settings"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ | env
    )
    return json.loads(done.stdout)


def test_a_production_site_speaks_https_and_its_cookies_are_its_own(tmp_path: Path) -> None:
    names = (
        "SESSION_COOKIE_NAME SESSION_COOKIE_SECURE SESSION_COOKIE_HTTPONLY SESSION_COOKIE_SAMESITE CSRF_COOKIE_NAME "
        "CSRF_COOKIE_SECURE CSRF_COOKIE_HTTPONLY SECURE_SSL_REDIRECT SECURE_HSTS_SECONDS "
        "SECURE_HSTS_INCLUDE_SUBDOMAINS SECURE_HSTS_PRELOAD DEBUG LANGUAGE_COOKIE_SECURE DATABASES"
    ).split()
    program = f"import json; from inform_site import settings; print(json.dumps({{n: getattr(settings, n) for n in {names}}}))"
    told = in_production(program, tmp_path)

    assert told.pop("SECURE_HSTS_SECONDS") >= 31_536_000
    assert told.pop("SESSION_COOKIE_NAME") == "__Host-sessionid"
    assert told.pop("CSRF_COOKIE_NAME") == "__Host-csrftoken"
    assert told.pop("SESSION_COOKIE_SAMESITE") == "Lax"
    assert told.pop("DEBUG") is False
    assert told.pop("DATABASES")["default"]["OPTIONS"]["sslmode"] == "verify-full"
    assert set(told.values()) == {True}


SET_COOKIES = """
import django, json
django.setup()
from django.conf import settings
from django.http import HttpRequest
from django.test import RequestFactory
from inform_site import language
from inform_site.accounts import browsers
from qa_app.pages.history import remember
chosen = RequestFactory().post("/language/", {"language": "de"}, secure=True, HTTP_HOST="inform.example")
response = language.choose(chosen)
remember(HttpRequest(), response, "an-answer")
browsers.remember(HttpRequest(), response, "robin")
cookies = [{"name": cookie.key, **cookie} for cookie in response.cookies.values()]
print(json.dumps([cookies, settings.MESSAGE_STORAGE]))
"""


def test_every_cookie_of_a_production_site_is_of_this_host_alone(tmp_path: Path) -> None:
    cookies, messages = in_production(SET_COOKIES, tmp_path)

    assert {cookie["name"] for cookie in cookies} == {"__Host-language", "__Host-asked", "__Host-known_browser"}
    for cookie in cookies:
        assert (cookie["secure"], cookie["path"], cookie["domain"]) == (True, "/", ""), cookie
        assert cookie["samesite"] == "Lax", cookie
    assert messages.endswith(".SessionStorage"), "or they would have a cookie of their own"
    setting = {path.name for path in CODE if re.search(r"\.set_(signed_)?cookie\(", path.read_text("utf-8"))}
    assert setting == {"browsers.py", "history.py"}


@pytest.mark.django_db
def test_what_programs_send_unencrypted_is_refused_and_people_are_led_to_https(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    client = Client()

    for path in ("/api/v1/health", "/api/v1/answers", "/api/v1/desk/studies", "/ask"):
        response = client.post(path, {}, headers={"Authorization": "Bearer inform_secret"})
        assert response.status_code == HTTPStatus.FORBIDDEN, path
        assert "https://" in response.json()["detail"]
        assert "Location" not in response
    assert client.get("/corpus/")["Location"] == "https://testserver/corpus/"
    assert client.get("/api/v1/health", secure=True).status_code == HTTPStatus.OK


def test_secrets_are_drawn_by_the_system_and_not_by_a_generator_that_can_be_guessed() -> None:
    for draw in (totp.generate_totp_secret, RecoveryCodes.generate_seed, answering.new_id, get_random_secret_key):
        drawn = set()
        for _ in range(2):
            random.seed(4711)
            drawn.add(draw())
        assert len(drawn) == 2, draw
        assert all(len(secret) >= 22 for secret in drawn), "128 bits at least"


def test_logs_go_to_standard_error_and_where_settings_send_them_and_nowhere_else(settings: Any) -> None:
    handlers = {handler["class"] for handler in settings.LOGGING["handlers"].values()}
    assert handlers == {"logging.StreamHandler"}
    assert not any("stream" in handler or "filename" in handler for handler in settings.LOGGING["handlers"].values())
    elsewhere = re.compile(r"\b\w*(File|Sys[Ll]og|Socket|HTTP|SMTP|Datagram)Handler\b|\.addHandler\(|fileConfig\(")
    assert {path.name: found[0] for path in CODE if (found := elsewhere.search(path.read_text("utf-8")))} == {}


def test_scripts_copy_no_objects_of_others_and_name_no_prototype() -> None:
    """A key of somebody else's JSON becomes a property of an object of ours nowhere."""
    copies = re.compile(r"__proto__|\.prototype\b|setPrototypeOf|\bfor \(\w+ \w+ in\b|Object\.assign\((?!\w+, \{)")
    assigned = re.compile(r"\w\[\w+\] = .*")
    found = {}
    for path in (ROOT / "static").glob("*.js"):
        source = path.read_text(encoding="utf-8")
        assert not copies.search(source), path.name
        found[path.name] = assigned.findall(source)

    assert [line for lines in found.values() for line in lines] == ["y[name] = String(typed.get(name));"], found


@pytest.mark.django_db
def test_the_login_form_helps_password_managers_and_leads_nowhere_else(client: Client, person: User) -> None:
    page = client.get(LOGIN).content.decode()
    field = re.search(r"<input[^>]*name=\"password\"[^>]*>", page)
    assert field is not None
    assert 'type="password"' in field[0]
    assert 'autocomplete="current-password"' in field[0]
    assert not re.search(r"onpaste|maxlength", field[0])

    for elsewhere in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"):
        response = Client().post(LOGIN, {"login": "robin", "password": PASSWORD, "next": elsewhere})
        assert response["Location"] == "/admin/", elsewhere


@pytest.mark.django_db
def test_a_password_counts_as_it_was_typed_and_its_change_needs_the_old_one(person: User) -> None:
    for typed in (PASSWORD.upper(), f" {PASSWORD}", PASSWORD[:-1], f"{PASSWORD}x"):
        assert log_in(Client(), typed).status_code == HTTPStatus.OK, typed
    client = Client()
    log_in(client)
    new = "eight loud herons"

    page = client.post("/admin/password_change/", {"old_password": "x", "new_password1": new, "new_password2": new})

    assert "old password" in page.content.decode()
    person.refresh_from_db()
    assert person.check_password(PASSWORD)


@pytest.mark.django_db
def test_pages_of_the_desk_are_not_kept_and_always_lead_out(client: Client) -> None:
    client.force_login(make_superuser())
    for path in ("/admin/", "/admin/account/", "/admin/corpus_app/study/", "/admin/auth/user/add/"):
        response = client.get(path)
        assert "no-store" in response["Cache-Control"], path
        assert "logout-form" in response.content.decode(), path


@pytest.mark.django_db
def test_forms_of_the_desk_need_their_token(person: User) -> None:
    strict = Client(enforce_csrf_checks=True)

    assert log_in(strict).status_code == HTTPStatus.FORBIDDEN
    strict.force_login(person)
    for path in ("/admin/account/sessions/end/", "/admin/logout/", "/admin/corpus_app/concept/add/"):
        assert strict.post(path, {}).status_code == HTTPStatus.FORBIDDEN, path
        assert strict.get("/admin/").status_code == HTTPStatus.OK, "nobody was signed out"
