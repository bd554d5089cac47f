"""Who may do what: every operation of the schema, with every kind of key and every role, as declared in one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from corpus_app.roles import ADMINISTRATORS, CURATORS, READERS, REVIEWERS, ROLES
from inform_site.clients import keys
from inform_site.clients.keys import Made
from inform_site.clients.models import ApiKey, Scope
from tests.api.conftest import NOON, V1, body, described
from tests.builders import make_curator, make_superuser

pytestmark = pytest.mark.django_db
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

PUBLIC = {
    ASK: "POST /ask, POST /explain-research, POST /api/unified-search, POST /api/quick-summary, POST /api/detailed-answer, "
    "POST /api/v1/answers, POST /api/v1/answers/stream, POST /api/v1/answers/{answer_id}/feedback, "
    "POST /api/v1/answers/{answer_id}/replay",
    READ: "GET /api/v1/answers/{answer_id}, GET /api/v1/answers/{answer_id}/bundle, GET /api/v1/answers/{answer_id}/export, "
    "GET /api/v1/search, POST /api/v1/search, GET /api/v1/studies, GET /api/v1/studies/{study_id}, "
    "GET /api/v1/studies/{study_id}/passages, GET /api/v1/passages/{passage_id}, GET /api/v1/concepts, "
    "GET /api/v1/concepts/{concept_id}, GET /api/v1/collections, GET /api/v1/corpus/version, GET /api/v1/corpus/changes",
    ANYBODY: "GET /api/v1/health",
    Needs("read", key=True): "GET /api/v1/answers",
}
DESK = {  # to read and to write
    (
        LOOKS,
        WRITES,
    ): "GET studies, POST studies, GET studies/{study_id}, PATCH studies/{study_id}, DELETE studies/{study_id}, "
    "POST studies/{study_id}/merge, POST studies/{study_id}/passages, POST studies/{study_id}/submit, "
    "POST studies/{study_id}/send-back, POST studies/{study_id}/publish, POST studies/{study_id}/withdraw, "
    "POST studies/{study_id}/notice, GET studies/{study_id}/comments, POST studies/{study_id}/comments, "
    "GET studies/{study_id}/history, GET passages/{passage_id}, PATCH passages/{passage_id}, DELETE passages/{passage_id}, "
    "GET imports, POST imports, POST imports/look-up, GET imports/{import_id}, GET imports/{import_id}/items, "
    "GET imports/{import_id}/problems, GET imports/{import_id}/report, POST imports/{import_id}/confirm, "
    "POST imports/{import_id}/leave, POST imports/{import_id}/undo, GET bulk-edits, POST bulk-edits, "
    "GET bulk-edits/{bulk_edit_id}, GET bulk-edits/{bulk_edit_id}/items, POST bulk-edits/{bulk_edit_id}/confirm, "
    "POST bulk-edits/{bulk_edit_id}/cancel, POST bulk-edits/{bulk_edit_id}/undo, GET gaps, GET gaps/{gap_id}, PATCH gaps/{gap_id}",
    (
        LOOKS_AT_RUNS,
        RUNS,
    ): "GET golden-questions, GET evaluation-runs, POST evaluation-runs, GET evaluation-runs/{run_id}",
}
TABLE: dict[str, Needs] = {operation: needs for needs, said in PUBLIC.items() for operation in said.split(", ")} | {
    operation.replace(" ", f" {V1}desk/"): looks if operation.startswith("GET") else writes
    for (looks, writes), said in DESK.items()
    for operation in said.split(", ")
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
    paths = described()["paths"]

    assert set(TABLE) == {f"{method.upper()} {path}" for path, found in paths.items() for method in found}


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
