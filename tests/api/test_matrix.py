"""Who may do what: every operation of the schema, with every kind of key and every role, as declared in one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client

from corpus_app.roles import ADMINISTRATORS, CURATORS, READERS, REVIEWERS, ROLES
from inform_site.clients import keys
from inform_site.clients.keys import Made
from inform_site.clients.models import ApiKey, Scope
from tests.api.conftest import NOON, body
from tests.builders import make_curator, make_superuser

pytestmark = pytest.mark.django_db
SCHEMA = Path(__file__).resolve().parents[2] / "docs/openapi.yaml"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True, slots=True)
class Needs:
    """A key's scope (None: nothing at all), and the least role of its owner at the desk (None: no owner)."""

    scope: str | None
    role: str | None = None
    key: bool = False
    """Whether a key must be sent where nobody else must."""


ASK, READ, ANYBODY = Needs("ask"), Needs("read"), Needs(None)
LOOKS, WRITES = Needs("curate", READERS), Needs("curate", CURATORS)
LOOKS_AT_RUNS, RUNS = Needs("evaluate", READERS), Needs("evaluate", CURATORS)

TABLE: dict[str, Needs] = {
    "GET /api/v1/health": ANYBODY,
    # Questions
    "POST /ask": ASK,
    "POST /explain-research": ASK,
    "POST /api/unified-search": ASK,
    "POST /api/quick-summary": ASK,
    "POST /api/detailed-answer": ASK,
    "POST /api/v1/answers": ASK,
    "POST /api/v1/answers/stream": ASK,
    "POST /api/v1/answers/{answer_id}/feedback": ASK,
    "POST /api/v1/answers/{answer_id}/replay": ASK,
    "GET /api/v1/answers": Needs("read", key=True),
    "GET /api/v1/answers/{answer_id}": READ,
    "GET /api/v1/answers/{answer_id}/bundle": READ,
    "GET /api/v1/answers/{answer_id}/export": READ,
    "GET /api/v1/search": READ,
    "POST /api/v1/search": READ,
    # The corpus
    "GET /api/v1/studies": READ,
    "GET /api/v1/studies/{study_id}": READ,
    "GET /api/v1/studies/{study_id}/passages": READ,
    "GET /api/v1/passages/{passage_id}": READ,
    "GET /api/v1/concepts": READ,
    "GET /api/v1/concepts/{concept_id}": READ,
    "GET /api/v1/collections": READ,
    "GET /api/v1/corpus/version": READ,
    "GET /api/v1/corpus/changes": READ,
    # The desk
    "GET /api/v1/desk/studies": LOOKS,
    "POST /api/v1/desk/studies": WRITES,
    "GET /api/v1/desk/studies/{study_id}": LOOKS,
    "PATCH /api/v1/desk/studies/{study_id}": WRITES,
    "DELETE /api/v1/desk/studies/{study_id}": WRITES,
    "POST /api/v1/desk/studies/{study_id}/merge": WRITES,
    "POST /api/v1/desk/studies/{study_id}/passages": WRITES,
    "POST /api/v1/desk/studies/{study_id}/submit": WRITES,
    "POST /api/v1/desk/studies/{study_id}/send-back": WRITES,
    "POST /api/v1/desk/studies/{study_id}/publish": WRITES,
    "POST /api/v1/desk/studies/{study_id}/withdraw": WRITES,
    "POST /api/v1/desk/studies/{study_id}/notice": WRITES,
    "GET /api/v1/desk/studies/{study_id}/comments": LOOKS,
    "POST /api/v1/desk/studies/{study_id}/comments": WRITES,
    "GET /api/v1/desk/studies/{study_id}/history": LOOKS,
    "GET /api/v1/desk/passages/{passage_id}": LOOKS,
    "PATCH /api/v1/desk/passages/{passage_id}": WRITES,
    "DELETE /api/v1/desk/passages/{passage_id}": WRITES,
    "GET /api/v1/desk/imports": LOOKS,
    "POST /api/v1/desk/imports": WRITES,
    "POST /api/v1/desk/imports/look-up": WRITES,
    "GET /api/v1/desk/imports/{import_id}": LOOKS,
    "GET /api/v1/desk/imports/{import_id}/items": LOOKS,
    "GET /api/v1/desk/imports/{import_id}/problems": LOOKS,
    "GET /api/v1/desk/imports/{import_id}/report": LOOKS,
    "POST /api/v1/desk/imports/{import_id}/confirm": WRITES,
    "POST /api/v1/desk/imports/{import_id}/leave": WRITES,
    "GET /api/v1/desk/gaps": LOOKS,
    "GET /api/v1/desk/gaps/{gap_id}": LOOKS,
    "PATCH /api/v1/desk/gaps/{gap_id}": WRITES,
    "GET /api/v1/desk/golden-questions": LOOKS_AT_RUNS,
    "GET /api/v1/desk/evaluation-runs": LOOKS_AT_RUNS,
    "POST /api/v1/desk/evaluation-runs": RUNS,
    "GET /api/v1/desk/evaluation-runs/{run_id}": LOOKS_AT_RUNS,
}


@dataclass(frozen=True, slots=True)
class Client_:
    """Who sends: the key's secret (None: nobody), its scopes, and the role of its owner at the desk."""

    secret: str | None
    scopes: frozenset[str]
    role: str | None = None
    is_open: bool = True


def expected(needs: Needs | None, who: Client_) -> int | None:
    """The status that turns a client away; None where it may go on. `needs` is None for a method that is not there."""
    if not who.is_open:
        return 401
    if needs is None:
        return 405
    if needs.scope is None:
        return None
    if who.secret is None:
        return 401 if needs.key or needs.scope not in {"ask", "read"} else None
    if needs.scope not in who.scopes:
        return 403
    may = needs.role is None or (who.role is not None and ROLES.index(who.role) >= ROLES.index(needs.role))
    return None if may else 403


KINDS = {401: {"key-required", "bad-key"}, 403: {"missing-scope", "not-permitted"}, 405: {"method-not-allowed"}}
ALL = tuple(scope.value for scope in Scope)
WHO = (
    "anonymous", "ask alone", "read alone", "curate alone", "evaluate alone", "expired", "revoked", "owner gone",
    "no role", "not at the desk", *ROLES,
)  # fmt: skip


@pytest.fixture
def client_of(make_key: Callable[..., Made]) -> Callable[[str], Client_]:
    def made(who: str) -> Client_:
        if who == "anonymous":
            return Client_(None, frozenset())
        if who.endswith(" alone"):
            scope = who.removesuffix(" alone")
            return Client_(make_key(scope, owner=make_superuser()).secret, frozenset({scope}), ADMINISTRATORS)
        if who in ROLES:
            return Client_(make_key(*ALL, owner=make_curator(role=who)).secret, frozenset(ALL), who)
        owner = make_curator(role=REVIEWERS)
        key = make_key(*ALL, owner=owner)
        is_open = who in {"no role", "not at the desk"}
        _CLOSED[who](key, owner)
        return Client_(key.secret, frozenset(ALL), None, is_open=is_open)

    return made


def _leave(owner: User, **changes: bool) -> None:
    User.objects.filter(pk=owner.pk).update(**changes)


_CLOSED: dict[str, Callable[[Made, User], Any]] = {
    "expired": lambda key, owner: ApiKey.objects.filter(pk=key.key.pk).update(expires_at=NOON - timedelta(days=1)),
    "revoked": lambda key, owner: keys.revoke(key.key, now=NOON),
    "owner gone": lambda key, owner: _leave(owner, is_active=False),
    "no role": lambda key, owner: owner.groups.clear(),
    "not at the desk": lambda key, owner: _leave(owner, is_staff=False),
}


def test_the_table_names_every_operation_and_no_other() -> None:
    schema = yaml.load(SCHEMA.read_text("utf-8"), yaml.CSafeLoader)

    assert set(TABLE) == {f"{method.upper()} {path}" for path, found in schema["paths"].items() for method in found}


@pytest.mark.parametrize("who", WHO)
def test_everybody_may_do_what_the_table_says_and_nothing_else(who: str, client_of: Callable[[str], Client_]) -> None:
    client, wrong = client_of(who), []
    paths = dict.fromkeys(operation.partition(" ")[2] for operation in TABLE)
    others = [f"{m} {path}" for path in paths for m in METHODS] if who in {"anonymous", ADMINISTRATORS} else []

    for operation in TABLE | dict.fromkeys(others):
        method, _, path = operation.partition(" ")
        wanted = expected(TABLE.get(operation), client)
        response = _send(method, path, client.secret)
        status = response.status_code
        is_fine = status == wanted if wanted else status not in {401, 403, 405} and status < 500
        if wanted and response["Content-Type"] == "application/problem+json":
            is_fine &= body(response)["type"].rpartition(":")[2] in KINDS[wanted]
        if not is_fine:
            wrong.append((operation, wanted, status))

    assert wrong == []


def _send(method: str, path: str, secret: str | None) -> Any:
    """With ids that nothing has and an empty body: what is let through is told that it is missing or unfit."""
    address = path.replace("{study_id}", "missing").replace("{concept_id}", "missing").replace("{answer_id}", "missing")
    address = address.split("{")[0] + "999999999" + address.split("}")[1] if "{" in address else address
    headers = {"If-Match": '"1"'} | ({} if secret is None else {"Authorization": f"Bearer {secret}"})
    client = Client(raise_request_exception=False)
    return client.generic(method, address, b"{}" if method != "GET" else b"", "application/json", headers=headers)
