"""The schema of the API: current, complete, and true of what is sent; JSON is the framework's, only faster."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rest_framework.renderers import JSONRenderer

from inform_site.api.rendering import SwiftJSONRenderer
from inform_site.api.schema import CHOSEN
from tests.api.conftest import V1, body, described, get, post, routes
from tests.qa.conftest import ASKED

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


def test_operations_are_described_and_failures_have_examples(schema: dict[str, Any]) -> None:
    for path, method, operation in operations(schema):
        assert operation["summary"], (path, method)
        assert {tag["name"] for tag in schema["tags"]} >= set(operation["tags"])
    for status, response in schema["components"]["responses"].items():
        content = response["content"]["application/problem+json"]
        assert content["example"]["status"] == int(status)
        validate(schema, "Problem", content["example"])


def test_every_address_is_in_the_schema_with_scope_and_quota(schema: dict[str, Any]) -> None:
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


@pytest.mark.usefixtures("library")
def test_chosen_fields_are_what_the_schema_says(schema: dict[str, Any]) -> None:
    for path, address in (
        ("studies?fields=title", "studies"), ("studies/T-SETS?fields=year,weeks", "studies/{study_id}"),
        ("studies/T-SETS/passages?fields=text", "studies/{study_id}/passages"),
        ("concepts/training-volume?fields=name", "concepts/{concept_id}"),
        ("corpus/changes?fields=upto", "corpus/changes"),
    ):  # fmt: skip
        read = schema["paths"][V1 + address]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        errors = Draft202012Validator(read | {"components": schema["components"]}).iter_errors(body(get(V1 + path)))
        assert [error.message for error in errors] == []


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
