"""Keys: shown once, hashed, scoped, expiring, revoked, rotated."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError
from django.db import IntegrityError, transaction
from django.forms.models import model_to_dict
from django.test import Client
from django.utils import timezone

from inform_site.clients import keys
from inform_site.clients.keys import BadKey, Made
from inform_site.clients.models import ApiKey
from tests.api.conftest import NOON, V1, get, post, problem
from tests.builders import make_curator, make_superuser, run_command

pytestmark = pytest.mark.django_db
MakeKey = Callable[..., Made]
COLLECTIONS = f"{V1}collections"


def test_a_secret_opens_its_key_alone_and_is_kept_nowhere(make_key: MakeKey) -> None:
    made = make_key()
    secret = made.secret
    others = (
        secret[:-1], secret + "A", secret[:-1] + ("A" if secret[-1] != "A" else "B"), secret.upper(), "", "inform_",
        secret + "\n",
    )  # fmt: skip

    assert keys.find(secret, now=NOON).pk == made.key.pk
    assert secret.startswith(f"inform_{made.key.prefix}_")
    assert len(secret.split("_", 2)[2]) == 43  # 256 bits in base64
    assert secret.split("_", 2)[2] not in repr(list(ApiKey.objects.values()))
    for other in others:
        with pytest.raises(BadKey):
            keys.find(other, now=NOON)


def state(secret: str, hours: float = 0.0) -> str:
    """`open` so many hours after noon, or why it opens nothing."""
    try:
        keys.find(secret, now=NOON + timedelta(hours=hours))
    except BadKey as error:
        return str(error)
    return "open"


def test_a_key_opens_until_it_expires_is_replaced_or_revoked(make_key: MakeKey) -> None:
    owner = make_curator()
    made, first = make_key("curate", owner=owner, expires_at=NOON + timedelta(hours=1)), make_key()
    second = keys.rotate(first.key, now=NOON, overlap=timedelta(hours=2))

    assert (state(made.secret, 0.99), "expired" in state(made.secret, 1)) == ("open", True)
    assert [state(one.secret, 1) for one in (first, second)] == ["open", "open"]
    assert keys.find(first.secret, now=NOON).client_id == keys.find(second.secret, now=NOON).client_id
    assert ("replaced" in state(first.secret, 2), state(second.secret, 2)) == (True, "open")
    third = keys.rotate(second.key, now=NOON)
    assert (state(first.secret) == "open", state(second.secret)) == (False, "open")
    keys.revoke(third.key, now=NOON)
    assert ["revoked" in state(one.secret) for one in (second, third)] == [True, True]
    with pytest.raises(BadKey):
        keys.rotate(third.key, now=NOON)
    type(owner).objects.update(is_active=False)
    assert "owner" in state(made.secret)


def test_a_key_that_makes_no_sense_is_neither_made_nor_kept(make_key: MakeKey) -> None:
    options = {"name": "tests", "scopes": ("read",), "owner": None, "by": None, "now": NOON}
    scopes = [{"scopes": scopes} for scopes in ([], ["everything"], ["curate"], ["evaluate"])]
    for changes in (*scopes, {"name": " "}, {"expires_at": NOON}):
        with pytest.raises(ValidationError):
            keys.make(**(options | changes))  # type: ignore[arg-type]
    assert not ApiKey.objects.exists()

    made = make_key()
    for broken in (*scopes[:3], {"earlier_prefix": "abc"}, {"earlier_until": NOON}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ApiKey.objects.filter(pk=made.key.pk).update(**broken)


def test_a_key_is_sent_in_two_headers_and_a_bad_one_is_401(make_key: MakeKey) -> None:
    secret = make_key(now=timezone.now()).secret
    for headers in (
        {"Authorization": f"Bearer {secret}"}, {"Authorization": f"bearer  {secret} "}, {"X-API-Key": secret},
        {"Authorization": "Basic YTpi"},  # a proxy's own
    ):  # fmt: skip
        assert get(COLLECTIONS, **headers).status_code == 200
    for headers in (
        {"Authorization": "Bearer nonsense"}, {"Authorization": "Bearer"}, {"Authorization": "Token abc"},
        {"X-API-Key": ""}, {"X-API-Key": "inform_aaaaaaaa_" + "A" * 43}, {"Authorization": "Bearer inform_\x80"},
    ):  # fmt: skip
        response = get(COLLECTIONS, **headers)
        problem(response, 401, "bad-key")
        assert response["WWW-Authenticate"].startswith('Bearer realm="inform"')


def test_the_command_makes_lists_rotates_and_revokes() -> None:
    assert run_command("apikey", "list") == "There are no keys.\n"
    first = run_command("apikey", "make", "Clinic website", "--scope", "read", "--days", "30").strip()
    prefix = first.split("_")[1]
    assert get(COLLECTIONS, first).status_code == 200

    second = run_command("apikey", "rotate", prefix, "--overlap-hours", "0").split()[0]
    assert (get(COLLECTIONS, first).status_code, get(COLLECTIONS, second).status_code) == (401, 200)

    listed = run_command("apikey", "list")
    assert "Clinic website" in listed
    assert second not in listed

    assert "opens nothing" in run_command("apikey", "revoke", f"inform_{second.split('_')[1]}_…")
    assert get(COLLECTIONS, second).status_code == 401
    assert "revoked" in run_command("apikey", "list")


def test_the_command_says_what_is_wrong() -> None:
    for arguments in (
        "make x --owner nobody", "make x --scope curate", "revoke nothing", "rotate nothing", "make x --days nan",
        "make x --scope all", "",
    ):  # fmt: skip
        with pytest.raises(CommandError):
            run_command("apikey", *arguments.split())


@pytest.fixture
def desk() -> Client:
    client = Client()
    client.force_login(make_superuser())
    return client


def test_an_administrator_makes_changes_rotates_and_revokes_at_the_desk(desk: Client) -> None:
    refused = desk.post("/admin/clients/apikey/add/", {"name": "Clinic", "scopes": ["curate"]})
    assert "needs an owner" in refused.content.decode()
    assert not ApiKey.objects.exists()

    shown = desk.post("/admin/clients/apikey/add/", {"name": "Clinic", "scopes": ["ask", "read"]}, follow=True)
    key = ApiKey.objects.get()
    secret = f"inform_{key.prefix}_" + shown.content.decode().split(f"inform_{key.prefix}_")[1][:43]
    assert get(COLLECTIONS, secret).status_code == 200
    assert key.created_by is not None

    desk.post(f"/admin/clients/apikey/{key.pk}/change/", {"name": "Renamed", "scopes": ["read"]})
    assert ApiKey.objects.get().name == "Renamed"
    assert get(COLLECTIONS, secret).status_code == 200
    problem(post(f"{V1}answers", {"question": "x"}, secret), 403, "missing-scope")
    assert secret not in desk.get(f"/admin/clients/apikey/{key.pk}/change/").content.decode()

    rotated = desk.post(f"/admin/clients/apikey/{key.pk}/rotate/", follow=True)
    assert ApiKey.objects.get().prefix != key.prefix
    assert f"inform_{ApiKey.objects.get().prefix}_" in rotated.content.decode()
    desk.post(f"/admin/clients/apikey/{key.pk}/revoke/")
    assert get(COLLECTIONS, secret).status_code == 401


def test_curators_do_not_see_keys(make_key: MakeKey) -> None:
    key = make_key().key
    desk = Client()
    desk.force_login(make_curator())

    for path in ("", "add/", f"{key.pk}/change/"):
        assert desk.get(f"/admin/clients/apikey/{path}").status_code == 403
    for act in ("rotate", "revoke"):
        assert desk.post(f"/admin/clients/apikey/{key.pk}/{act}/").status_code == 403
    assert model_to_dict(ApiKey.objects.get()) == model_to_dict(key)
