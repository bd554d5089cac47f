"""The schema of the API: current, complete, and true of what is sent."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.views import SpectacularJSONAPIView
from jsonschema import Draft202012Validator
from rest_framework.request import Request
from rest_framework.response import Response

from inform_site.api import views
from inform_site.api.schema import CHOSEN
from tests.api.conftest import V1, body, get, post
from tests.qa.conftest import ASKED

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text("utf-8"))
    return loaded


def operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, operation) for path, found in schema["paths"].items() for method, operation in found.items()]


def test_the_committed_schema_is_current() -> None:
    """`make schema` writes it anew."""
    written = io.StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=written)

    assert written.getvalue() == (ROOT / "docs/openapi.yaml").read_text("utf-8")


def test_every_operation_says_what_it_is(schema: dict[str, Any]) -> None:
    for path, method, operation in operations(schema):
        assert operation["summary"], (path, method)
        assert {tag["name"] for tag in schema["tags"]} >= set(operation["tags"])


def test_every_failure_is_a_problem_with_an_example(schema: dict[str, Any]) -> None:
    for status, response in schema["components"]["responses"].items():
        content = response["content"]["application/problem+json"]
        assert content["example"]["status"] == int(status)
        validate(schema, "Problem", content["example"])


def test_every_address_of_the_api_is_in_the_schema(schema: dict[str, Any]) -> None:
    described = {path.replace("{", "<").replace("}", ">") for path in schema["paths"]}
    own = {f"{V1}schema", f"{V1}docs/"}

    assert {"/" + route for route, view in routes().items() if hasattr(view, "cls")} - own == described


def test_every_view_of_the_api_declares_its_scope_and_its_quota() -> None:
    for route, view in routes().items():
        if hasattr(view, "cls"):
            assert hasattr(view.cls, "scope"), route
            assert hasattr(view.cls, "quota"), route


def routes() -> dict[str, Any]:
    """Views by their addresses, `<type:name>` written as `<name>`."""

    def walk(patterns: list[Any], before: str) -> Any:
        for pattern in patterns:
            route = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            elif isinstance(pattern, URLPattern):
                yield route.replace("<str:", "<").replace("<answer_id:", "<"), pattern.callback

    return dict(walk(get_resolver().url_patterns, ""))


def validate(schema: dict[str, Any], name: str, value: Any) -> None:
    """Against a component: nothing beside its fields, and all of them where the client has chosen none."""
    components = {"schemas": {n: _closed(component) for n, component in schema["components"]["schemas"].items()}}
    validator = Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": components})
    assert [(error.json_path, error.message[:200]) for error in validator.iter_errors(value)] == []


def _closed(component: dict[str, Any]) -> dict[str, Any]:
    if component.get("type") != "object":
        return component
    is_chosen_from = str(component.get("description", "")).endswith(CHOSEN)
    whole = {"required": list(component["properties"])} if is_chosen_from else {}
    return component | {"additionalProperties": False} | whole


ANSWERS = {
    "an answer": ASKED,
    "a refusal": "Does hypnosis change the colour of zebras?",
    "a fixed reply": "Can I take trenbolone 200 mg a week?",
    "a count": "How many studies are there?",
    "another subject": "What is the best pizza in Naples?",
}


@pytest.mark.parametrize("question", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.usefixtures("library")
def test_answers_are_what_the_schema_says(schema: dict[str, Any], question: str) -> None:
    created = body(post(f"{V1}answers", {"question": question}))

    validate(schema, "Answer", created)
    validate(schema, "Answer", body(get(f"{V1}answers/{created['id']}")))
    validate(schema, "Search", body(post(f"{V1}search", {"question": question})))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("studies/T-SETS", "StudyInFull"),
        ("concepts/training-volume", "ConceptInFull"),
        ("corpus/version", "CorpusState"),
        ("corpus/changes", "Changes"),
        ("health", "Health"),
        ("studies", "ListedStudy"),
        ("studies?q=protein", "ListedStudy"),
        ("studies/T-SETS/passages", "Passage"),
        ("concepts", "Concept"),
        ("collections", "Collection"),
    ],
)
@pytest.mark.usefixtures("library")
def test_what_is_read_is_what_the_schema_says(schema: dict[str, Any], path: str, name: str) -> None:
    found = body(get(V1 + path))

    for row in found["items"] if set(found) == {"items", "next"} else [found]:
        validate(schema, name, row)


@pytest.mark.parametrize(
    ("path", "described"),
    [
        ("studies?fields=title", "studies"),
        ("studies/T-SETS?fields=year,weeks", "studies/{study_id}"),
        ("studies/T-SETS/passages?fields=text", "studies/{study_id}/passages"),
        ("concepts/training-volume?fields=name", "concepts/{concept_id}"),
        ("corpus/changes?fields=upto", "corpus/changes"),
    ],
)
@pytest.mark.usefixtures("library")
def test_chosen_fields_are_what_the_schema_says(schema: dict[str, Any], path: str, described: str) -> None:
    read = schema["paths"][V1 + described]["get"]["responses"]["200"]["content"]["application/json"]["schema"]

    errors = Draft202012Validator(read | {"components": schema["components"]}).iter_errors(body(get(V1 + path)))

    assert [error.message for error in errors] == []


@pytest.mark.django_db
def test_schema_and_page_are_served_from_here_alone() -> None:
    assert json.loads(get(f"{V1}schema").content)["openapi"].startswith("3.1")

    page = Client().get(f"{V1}docs/")
    assert page.status_code == 200
    assert b"//" not in page.content.replace(b"<!--", b"")
    assert b"<style" not in page.content
    assert b"<script>" not in page.content


def test_the_schema_is_made_for_one_reader_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []
    make = SpectacularJSONAPIView._get_schema_response

    def watched(view: SpectacularJSONAPIView, request: Request) -> Response:
        made.append(views._one_at_a_time.locked())
        return make(view, request)

    monkeypatch.setattr(SpectacularJSONAPIView, "_get_schema_response", watched)
    assert Client().get("/api/v1/schema").status_code == 200
    assert (made, views._one_at_a_time.locked()) == ([True], False)
