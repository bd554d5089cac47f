"""Who may do what, in one table; and the schema of the API: complete, and true of what is sent."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rest_framework.renderers import JSONRenderer

from corpus_app.roles import ADMINISTRATORS, CURATORS, READERS, REVIEWERS, ROLES
from inform_site.api.rendering import SwiftJSONRenderer
from inform_site.api.schema import CHOSEN
from inform_site.clients import keys
from inform_site.clients.keys import Made
from inform_site.clients.models import ApiKey, Scope
from tests.api.conftest import NOON, V1, body, described, get, post, routes, send
from tests.builders import make_curator, make_superuser
from tests.qa.conftest import ASKED

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
CURATING = (Needs("curate", READERS), Needs("curate", CURATORS))
EVALUATING = (Needs("evaluate", READERS), Needs("evaluate", CURATORS))

PUBLIC = {
    ASK: "POST /ask, POST /explain-research, POST /api/unified-search, POST /api/quick-summary, POST /api/detailed-answer, "
    "POST /api/v1/answers, POST /api/v1/answers/stream, POST /api/v1/answers/{answer_id}/feedback, "
    "POST /api/v1/answers/{answer_id}/replay",
    READ: "GET /api/v1/answers/{answer_id}, GET /api/v1/answers/{answer_id}/bundle, GET /api/v1/answers/{answer_id}/export, "
    "GET /api/v1/search, POST /api/v1/search, POST /api/v1/claims, GET /api/v1/studies, GET /api/v1/studies/{study_id}, "
    "GET /api/v1/studies/{study_id}/passages, GET /api/v1/passages/{passage_id}, GET /api/v1/concepts, "
    "GET /api/v1/concepts/{concept_id}, GET /api/v1/collections, GET /api/v1/certainties, GET /api/v1/corpus/version, GET /api/v1/corpus/changes",
    ANYBODY: "GET /api/v1/health",
    Needs("read", key=True): "GET /api/v1/answers, GET /api/v1/follows",
    Needs("ask", key=True): "POST /api/v1/follows, DELETE /api/v1/follows/{follow_id}",
}
DESK = {  # to read and to write
    CURATING: "GET studies, POST studies, GET studies/{study_id}, PATCH studies/{study_id}, DELETE studies/{study_id}, "
    "POST studies/{study_id}/merge, POST studies/{study_id}/passages, POST studies/{study_id}/submit, "
    "POST studies/{study_id}/send-back, POST studies/{study_id}/publish, POST studies/{study_id}/withdraw, "
    "POST studies/{study_id}/notice, GET studies/{study_id}/comments, POST studies/{study_id}/comments, "
    "POST findings/{finding_id}/confirm, GET certainties, POST certainties, DELETE certainties/{certainty_id}, "
    "GET studies/{study_id}/history, GET passages/{passage_id}, PATCH passages/{passage_id}, DELETE passages/{passage_id}, "
    "GET imports, POST imports, POST imports/look-up, GET imports/{import_id}, GET imports/{import_id}/items, "
    "GET imports/{import_id}/problems, GET imports/{import_id}/report, POST imports/{import_id}/confirm, "
    "POST imports/{import_id}/leave, POST imports/{import_id}/undo, GET bulk-edits, POST bulk-edits, "
    "GET bulk-edits/{bulk_edit_id}, GET bulk-edits/{bulk_edit_id}/items, POST bulk-edits/{bulk_edit_id}/confirm, "
    "POST bulk-edits/{bulk_edit_id}/cancel, POST bulk-edits/{bulk_edit_id}/undo, GET gaps, GET gaps/{gap_id}, PATCH gaps/{gap_id}",
    EVALUATING: "GET golden-questions, GET evaluation-runs, POST evaluation-runs, GET evaluation-runs/{run_id}",
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


NOBODYS = ("missing", "0", "9" * 300, "%00", "%F0%9F%92%AA")
FIT: dict[str, Any] = {
    "comments": {"text": "x"}, "passages": {"section": "results", "text": "x"}, "notice": {"notice": "corrected", "reason": "x"},
    "merge": {"other": "B", "reason": "x"}, "send-back": {"reason": "x"}, "withdraw": {"reason": "x"}, "feedback": {"helpful": True},
}  # fmt: skip


def test_an_id_that_nothing_has_is_404_at_every_address(make_key: Callable[..., Made]) -> None:
    secret = make_key(*ALL, owner=make_superuser()).secret

    for operation in TABLE:
        method, _, path = operation.partition(" ")
        for name in NOBODYS if "{" in path else ():
            address = re.sub(r"{\w+}", name, path) + "?format=ris" * path.endswith("/export")
            sent = None if method == "GET" else FIT.get(path.rpartition("/")[2], {})
            answer = send(method, address, secret, {"If-Match": '"1"'}, sent)
            assert answer.status_code == 404, (method, address, answer.content)


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def schema() -> dict[str, Any]:
    return dict(described())


def operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, operation) for path, found in schema["paths"].items() for method, operation in found.items()]


def test_the_committed_schema_is_current() -> None:
    """`make schema` writes it anew."""
    written = io.StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=written)

    assert written.getvalue() == (ROOT / "docs/openapi.yaml").read_text("utf-8")


def test_every_address_is_described_with_scope_quota_and_failures(schema: dict[str, Any]) -> None:
    for path, method, operation in operations(schema):
        assert operation["summary"], (path, method)
        assert {tag["name"] for tag in schema["tags"]} >= set(operation["tags"])
    for status, response in schema["components"]["responses"].items():
        content = response["content"]["application/problem+json"]
        assert content["example"]["status"] == int(status)
        validate(schema, "Problem", content["example"])

    views = {route: view.cls for route, view in routes().items() if hasattr(view, "cls")}

    assert set(views) - {f"{V1}schema", f"{V1}docs/"} == set(schema["paths"])
    assert [route for route, view in views.items() if not (hasattr(view, "scope") and hasattr(view, "quota"))] == []


def validate(schema: dict[str, Any], name: str, value: Any) -> None:
    """Require of a value all fields of a component and no other."""
    components = {"schemas": {n: _closed(component) for n, component in schema["components"]["schemas"].items()}}
    validator = Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": components})
    assert [(error.json_path, error.message[:200]) for error in validator.iter_errors(value)] == []


def _closed(component: dict[str, Any]) -> dict[str, Any]:
    if component.get("type") != "object":
        return component
    is_chosen_from = str(component.get("description", "")).endswith(CHOSEN)
    whole = {"required": list(component["properties"])} if is_chosen_from else {}
    return component | {"additionalProperties": False} | whole


ANSWERS = (
    ASKED, "Does hypnosis change the colour of zebras?", "Can I take trenbolone 200 mg a week?",
    "How many studies are there?", "What is the best pizza in Naples?",
)  # fmt: skip


@pytest.mark.usefixtures("library")
def test_what_is_read_is_what_the_schema_says(schema: dict[str, Any]) -> None:
    for path, name in (
        ("studies/T-SETS", "StudyInFull"), ("concepts/training-volume", "ConceptInFull"),
        ("corpus/version", "CorpusState"), ("corpus/changes", "Changes"), ("health", "Health"),
        ("studies", "ListedStudy"), ("studies?q=protein", "ListedStudy"), ("studies/T-SETS/passages", "Passage"),
        ("concepts", "Concept"), ("collections", "Collection"),
    ):  # fmt: skip
        found = body(get(V1 + path))
        for row in found["items"] if set(found) == {"items", "next"} else [found]:
            validate(schema, name, row)
    for question in ANSWERS:
        created = body(post(f"{V1}answers", {"question": question}))
        validate(schema, "Answer", created)
        validate(schema, "Answer", body(get(f"{V1}answers/{created['id']}")))
        validate(schema, "Search", body(post(f"{V1}search", {"question": question})))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_is_written_reads_as_the_frameworks_own(value: Any) -> None:
    written = SwiftJSONRenderer().render(value)

    assert (json.loads(written) if written else None) == value


def test_each_kind_of_value_is_written_as_the_framework_does() -> None:
    for value in (
        {"at": datetime(2026, 5, 1, 12, 30, 1, 123456, tzinfo=UTC), "on": date(2026, 5, 1)},
        {"id": UUID(int=7), "amount": Decimal("1.50")}, {"words": gettext_lazy("Studies"), "safe": mark_safe("<b>")},
        {"several": (1, 2), "set": {3}}, {1: "a number for a key"}, {"far": 2**70},
        {"script": "ends\u2028here\u2029and"}, {"letters": "größer ≥ 5 \U0001f3cb"}, None,
    ):  # fmt: skip
        assert SwiftJSONRenderer().render(value) == JSONRenderer().render(value)
    written = SwiftJSONRenderer().render({"a": [1]}, "application/json; indent=4")
    assert written == b'{\n    "a": [\n        1\n    ]\n}'
