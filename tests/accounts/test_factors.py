"""Second factors, confirmation before dangerous acts, and OpenID Connect."""

import json
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.socialaccount.models import SocialAccount, SocialToken
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_httpserver import HTTPServer

from inform_site.accounts import confirming, sessions, throttle
from inform_site.models import AuditEntry
from tests.accounts.test_login import LOGIN, PASSWORD, is_in, log_in, person, refused
from tests.builders import make_study, make_superuser

__all__ = ["person"]
pytestmark = pytest.mark.django_db
APP = "/admin/account/app/"


@pytest.fixture(autouse=True)
def no_used_codes() -> Iterator[None]:
    cache.clear()
    return


def code_of(secret: str) -> str:
    return totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30))


def confirm(client: Client, following: str) -> Any:
    return client.post("/admin/account/confirm/", {"password": PASSWORD, "next": following})


def with_app(client: Client) -> str:
    """Add an app as its owner does, and return its secret."""
    assert is_in(log_in(client))
    assert "/admin/account/confirm/" in client.get(APP)["Location"]
    assert confirm(client, APP)["Location"] == APP
    page = client.get(APP)
    secret: str = page.context["form"].secret
    assert "<svg" in page.content.decode()
    assert "data:image" not in page.content.decode()
    codes = client.post(APP, {"code": code_of(secret)}, follow=True)
    assert [len(code) for code in codes.context["unused_codes"]] == [8] * 10
    cache.clear()
    return secret


def test_an_app_is_asked_for_after_the_password(person: User, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        secret = with_app(Client())
    client = Client()

    response = log_in(client)

    assert response["Location"] == "/admin/account/factor/"
    assert not is_in(client.get("/admin/")) or LOGIN in client.get("/admin/")["Location"]
    wrong = client.post("/admin/account/factor/", {"code": "000000"})
    assert "Incorrect code" in wrong.content.decode()
    used = code_of(secret)
    assert is_in(client.post("/admin/account/factor/", {"code": used}))
    assert client.get("/admin/").status_code == HTTPStatus.OK
    kinds = set(AuditEntry.objects.values_list("kind", flat=True))
    assert {"factor_added", "factor_failed", "login", "confirmed"} <= kinds
    again = Client()
    log_in(again)
    assert not is_in(again.post("/admin/account/factor/", {"code": used})), "a code counts once"


def test_codes_cannot_be_guessed(person: User) -> None:
    secret = with_app(Client())
    client = Client()
    log_in(client)
    for _ in range(throttle.ACCOUNT_FAILURES):
        client.post("/admin/account/factor/", {"code": "000000"})

    response = client.post("/admin/account/factor/", {"code": code_of(secret)})

    assert refused(response)
    assert LOGIN in client.get("/admin/")["Location"]


def test_a_recovery_code_opens_the_desk_once(person: User) -> None:
    with_app(Client())
    code = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]
    for is_open in (True, False):
        client = Client()
        log_in(client)
        assert is_in(client.post("/admin/account/factor/", {"code": code})) is is_open


def test_secrets_of_second_factors_are_encrypted_and_worthless_under_another_key(person: User, settings: Any) -> None:
    secret = with_app(Client())
    stored = Authenticator.objects.get(type="totp")
    assert secret not in str(stored.data)
    assert stored.wrap().validate_code(code_of(secret))
    cache.clear()

    settings.SECRET_KEY = "another"

    assert not stored.wrap().validate_code(code_of(secret))
    assert not stored.wrap().validate_code(code_of("")), "an empty secret would be guessed"


def test_where_the_setting_asks_for_it_nobody_works_without_a_second_factor(person: User, settings: Any) -> None:
    settings.SECOND_FACTOR_REQUIRED = True
    client = Client()
    log_in(client)

    for address in ("/admin/", "/admin/corpus_app/study/", "/admin/corpus_app/study/add/"):
        assert client.get(address)["Location"] == "/admin/account/", address
    page = client.get("/admin/account/").content.decode()
    assert "This desk asks for a second factor" in page
    with_app(Client())
    assert client.get("/admin/").status_code == HTTPStatus.OK


DANGEROUS = (
    "/admin/auth/user/add/",
    "/admin/auth/user/{person}/change/",
    "/admin/auth/user/{person}/password/",
    "/admin/auth/group/add/",
    "/admin/clients/apikey/add/",
    "/admin/corpus_app/study/{study}/delete/",
    "/admin/corpus_app/study/retractions/",
    "/admin/password_change/",
)


@pytest.mark.parametrize("address", DANGEROUS)
def test_a_dangerous_act_asks_who_is_there(client: Client, address: str) -> None:
    owner = make_superuser()
    owner.set_password(PASSWORD)
    owner.save()
    client.force_login(owner)
    path = address.format(person=owner.pk, study=make_study().pk)
    assert client.get(path).status_code == HTTPStatus.OK, "a login a moment ago is enough"
    _age_login(client, confirming.CONFIRMED_SECONDS + 1)

    for response in (client.get(path), client.post(path, {"verb": "x"})):
        assert response["Location"].startswith("/admin/account/confirm/?next=")
    assert client.get("/admin/corpus_app/study/").status_code == HTTPStatus.OK
    former = client.session.session_key
    assert confirm(client, path)["Location"] == path
    assert client.session.session_key != former, "a session gets a new key when it is raised"
    assert client.get(path).status_code == HTTPStatus.OK


def test_a_moment_in_the_future_confirms_nothing(client: Client, person: User) -> None:
    User.objects.update(is_superuser=True)
    client.force_login(person)
    _age_login(client, -3_600)

    assert "/confirm/" in client.get("/admin/auth/user/add/")["Location"]


def _age_login(client: Client, seconds: int, *, method: str = "password") -> None:
    session = client.session
    session["account_authentication_methods"] = [{"method": method, "at": time.time() - seconds}]
    session.save()


def test_deleting_chosen_rows_asks_who_is_there(client: Client) -> None:
    client.force_login(make_superuser())
    _age_login(client, 3_600)
    study = make_study()

    chosen = {"action": "delete_selected", "_selected_action": [study.pk], "post": "yes"}
    response = client.post("/admin/corpus_app/study/", chosen)

    assert response["Location"].startswith("/admin/account/"), response.content
    assert not AuditEntry.objects.filter(kind="act").exists(), "nothing was done yet"
    study.refresh_from_db()


# --- OpenID Connect


KEY, OTHER_KEY = (rsa.generate_private_key(public_exponent=65_537, key_size=2_048) for _ in range(2))


@pytest.fixture
def provider(httpserver: HTTPServer, settings: Any) -> HTTPServer:
    """A provider that says whom it is told to say; `claims` of the fixture's server may be changed."""
    server = httpserver.url_for("").rstrip("/")
    settings.OIDC_SERVER = server
    app = {
        "provider_id": "oidc", "name": "Staff login", "client_id": "inform", "secret": "s3cret-of-the-client",
        "settings": {"server_url": server, "oauth_pkce_enabled": True},
    }  # fmt: skip
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}}
    httpserver.expect_request("/.well-known/openid-configuration").respond_with_json(
        {
            "issuer": server,
            "authorization_endpoint": f"{server}/authorize",
            "token_endpoint": f"{server}/token",
            "userinfo_endpoint": f"{server}/userinfo",
            "jwks_uri": f"{server}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }
    )
    public = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key())), "kid": "one", "alg": "RS256"}
    httpserver.expect_request("/keys").respond_with_json({"keys": [public]})
    return httpserver


def come_back(provider: HTTPServer, client: Client, key: Any = KEY, **claims: Any) -> Any:
    """Press the button, agree at the provider, and come back."""
    page = client.get(LOGIN)
    assert "Staff login" in page.content.decode()
    server = provider.url_for("").rstrip("/")
    assert server in page["Content-Security-Policy"]
    assert "unsafe" not in page["Content-Security-Policy"]
    away = client.post("/admin/account/provider/oidc/", {"next": "/admin/corpus_app/study/"})
    asked = {name: values[0] for name, values in parse_qs(urlsplit(away["Location"]).query).items()}
    assert asked["code_challenge_method"] == "S256"
    assert "openid" in asked["scope"]
    known = {
        "iss": server,
        "aud": "inform",
        "iat": time.time(),
        "exp": time.time() + 60,
        "sub": "4711",
        "nonce": asked["nonce"],
    }
    known |= claims
    token = {"access_token": "a", "token_type": "Bearer", "id_token": _signed(known, key)}
    provider.expect_oneshot_request("/token").respond_with_json(token)
    provider.expect_oneshot_request("/userinfo").respond_with_json(known)
    return client.get("/admin/account/provider/oidc/back/", {"code": "c", "state": asked["state"]})


def _signed(claims: dict[str, Any], key: Any) -> str:
    if key is None:
        return jwt.encode(claims, None, algorithm="none", headers={"kid": "one"})
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": "one"})


def test_a_provider_signs_in_who_has_an_account_and_nobody_else(provider: HTTPServer, person: User) -> None:
    User.objects.update(email="robin@example.org", password="!")
    for number, claims in enumerate(
        (
            {"email": "robin@example.org", "email_verified": False},
            {"email": "kim@example.org", "email_verified": True},
            {},
        )
    ):
        response = come_back(provider, Client(), sub=f"stranger{number}", **claims)
        assert response["Location"] == LOGIN, claims
    assert User.objects.count() == 1
    assert not SocialAccount.objects.exists()

    client = Client()
    response = come_back(provider, client, email="Robin@example.org", email_verified=True)

    assert response["Location"] == "/admin/corpus_app/study/"
    assert client.get("/admin/").status_code == HTTPStatus.OK
    assert AuditEntry.objects.filter(kind="login", actor="robin", what="socialaccount").exists()
    assert is_in(come_back(provider, Client())), "from now on by its subject"
    assert User.objects.count() == 1
    User.objects.update(is_staff=False)
    assert come_back(provider, Client())["Location"] == LOGIN
    assert EmailAddress.objects.count() <= 1
    assert not SocialToken.objects.exists()
    assert "access_token" not in str(dict(client.session))


def test_who_comes_by_a_provider_is_asked_again_there_and_has_the_same_longest_time(
    provider: HTTPServer, person: User, settings: Any
) -> None:
    User.objects.update(email="robin@example.org", password="!", is_superuser=True)
    client = Client()
    come_back(provider, client, email="robin@example.org", email_verified=True)
    dangerous = "/admin/auth/user/add/"
    assert client.get(dangerous).status_code == HTTPStatus.OK

    _age_login(client, confirming.CONFIRMED_SECONDS + 1, method="socialaccount")
    assert client.get(dangerous)["Location"].startswith("/admin/account/provider/oidc/?next=")
    session = client.session
    session[sessions.BEGAN] = time.time() - settings.SESSION_HOURS * 3_600
    session.save()
    assert LOGIN in client.get("/admin/")["Location"]


def test_an_answer_that_nobody_asked_the_provider_for_is_refused(provider: HTTPServer, person: User) -> None:
    response = Client().get("/admin/account/provider/oidc/back/", {"code": "c", "state": "made-up"})

    assert response["Location"] == LOGIN


@pytest.mark.parametrize(
    ("key", "claims"),
    [
        (KEY, {"aud": "another-client"}),
        (KEY, {"iss": "https://elsewhere.example"}),
        (KEY, {"exp": 1_000_000_000}),
        (KEY, {"nonce": "of another login"}),
        (OTHER_KEY, {}),
        (None, {}),
    ],
)
def test_a_token_that_is_not_for_this_client_is_refused(
    provider: HTTPServer, person: User, key: Any, claims: dict[str, Any]
) -> None:
    User.objects.update(email="robin@example.org")
    sound = {"email": "robin@example.org", "email_verified": True}

    assert come_back(provider, Client(), key, **sound, **claims)["Location"] == LOGIN

    assert come_back(provider, Client(), **sound)["Location"] != LOGIN


def test_metadata_of_another_issuer_are_refused(provider: HTTPServer, person: User, settings: Any) -> None:
    client = Client()
    away = client.post("/admin/account/provider/oidc/")
    state = parse_qs(urlsplit(away["Location"]).query)["state"][0]
    settings.OIDC_SERVER = "https://elsewhere.example"

    assert client.get("/admin/account/provider/oidc/back/", {"code": "c", "state": state})["Location"] == LOGIN
    provider.clear()
    assert client.post("/admin/account/provider/oidc/")["Location"] == LOGIN, "a provider that fails"


def test_nobody_is_sent_to_the_provider_without_a_click(provider: HTTPServer, client: Client) -> None:
    page = client.get("/admin/account/provider/oidc/?next=/admin/")

    assert page.status_code == HTTPStatus.OK
    assert "Staff login" in page.content.decode()


def test_a_new_password_from_an_administrator_leaves_the_second_factor(person: User) -> None:
    secret = with_app(Client())
    desk, new, client = Client(), "eight loud herons", Client()
    desk.force_login(make_superuser())
    desk.post(f"/admin/auth/user/{person.pk}/password/", {"password1": new, "password2": new})

    assert log_in(client, new)["Location"] == "/admin/account/factor/"
    assert LOGIN in client.get("/admin/")["Location"]
    assert is_in(client.post("/admin/account/factor/", {"code": code_of(secret)}))
    assert client.get("/admin/")["Location"] == "/admin/password_change/"


def test_passkeys_have_keys_of_approved_kinds_and_a_challenge_of_their_own(person: User) -> None:
    client = Client()
    log_in(client)
    address = "/admin/account/passkeys/add/"
    confirm(client, address)
    options = [client.get(address).context["js_data"]["creation_options"]["publicKey"] for _ in range(2)]
    kinds = {int(kind["alg"]) for one in options for kind in one["pubKeyCredParams"]}

    assert options[0]["challenge"] != options[1]["challenge"]
    assert kinds
    ecdsa, eddsa, rsa, ml_dsa = (
        {-7, -9, -35, -36, -47},
        {-8, -19, -53},
        {-37, -38, -39, -257, -258, -259},
        {-48, -49, -50},
    )
    assert kinds <= ecdsa | eddsa | rsa | ml_dsa, "128 bits or more, with SHA-2 (IANA's register of COSE algorithms)"


def test_a_code_of_the_minute_before_is_worth_nothing(person: User) -> None:
    secret = with_app(Client())
    client = Client()
    log_in(client)
    before = totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30 - 2))

    assert not is_in(client.post("/admin/account/factor/", {"code": before}))


def test_without_a_provider_there_is_no_button(client: Client) -> None:
    assert "/admin/account/provider/" not in client.get(LOGIN).content.decode()
    assert client.post("/admin/account/provider/oidc/").status_code == HTTPStatus.NOT_FOUND
