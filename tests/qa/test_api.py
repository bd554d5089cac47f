"""/api/v1/answers: 201 and the same again by GET, and problem+json with what to do for everything else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.http import HttpResponse
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries

from corpus_app import curation, search
from inform_site.api.bodies import BodyLimit
from qa_app.answers import asking
from qa_app.api.answers import AnswersView
from qa_app.models import Answer
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")

ANSWERS = "/api/v1/answers"
JSON = "application/json"


def post(body: Any, **options: Any) -> HttpResponse:
    """Sends a body as it is where it is bytes, else as JSON."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Client(raise_request_exception=False).post(ANSWERS, sent, **({"content_type": JSON} | options))


def get(path: str) -> HttpResponse:
    return Client(raise_request_exception=False).get(path)


def problem(response: HttpResponse, status: int) -> dict[str, Any]:
    """The body of an error, after looking that it is one as RFC 9457 wants it."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body = json.loads(response.content)
    assert set(body) == {"type", "title", "status", "detail", "errors"}
    assert (body["status"], bool(body["title"]), bool(body["detail"])) == (status, True, True)
    return dict(body)


# --- Works ---------------------------------------------------------------------------------------------------------------


def test_an_answer_is_created_at_its_address() -> None:
    response = post({"question": ASKED})

    body = json.loads(response.content)
    assert (response.status_code, response["Content-Type"]) == (201, JSON)
    assert response["Location"] == f"{ANSWERS}/{body['id']}"
    assert body["outcome"] == "answered"


def test_reading_it_gives_it_again() -> None:
    created = post({"question": ASKED, "mode": "intermediate", "collection": "training"})

    again = get(created["Location"])

    assert again.status_code == 200
    assert json.loads(again.content) == json.loads(created.content)


def test_a_refusal_is_created_like_an_answer() -> None:
    response = post({"question": "What is the best pizza in Naples?"})

    assert response.status_code == 201
    assert json.loads(get(response["Location"]).content)["code"] == "OUT_OF_SCOPE"


def test_every_field_may_be_null_but_the_question() -> None:
    response = post({"question": ASKED, "mode": None, "collection": None, "writer": None, "parent": None})

    assert (response.status_code, json.loads(response.content)["mode"]) == (201, "beginner")


def test_an_answer_follows_its_parent() -> None:
    first = json.loads(post({"question": ASKED}).content)

    second = json.loads(post({"question": ASKED, "parent": first["id"]}).content)

    assert second["parent"] == first["id"]


def test_a_withdrawn_study_leaves_no_word_in_what_clients_read() -> None:
    created = post({"question": ASKED})
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="faulty")

    body = json.loads(get(created["Location"]).content)

    assert b"Few sets" in created.content
    assert "Few sets" not in json.dumps(body)
    assert [notice["kind"] for notice in body["notices"]] == ["withdrawn", "newer_corpus"]


# --- Bad input -------------------------------------------------------------------------------------------------------------

BAD: dict[str, tuple[Any, str, str]] = {
    "no question": ({}, "question", "required"),
    "empty": ({"question": ""}, "question", "blank"),
    "white space": ({"question": " \n"}, "question", "blank"),
    "null": ({"question": None}, "question", "not_text"),
    "number": ({"question": 1}, "question", "not_text"),
    "list": ({"question": ["sets"]}, "question", "not_text"),
    "object": ({"question": {"text": "sets"}}, "question", "not_text"),
    "2,001 characters": ({"question": "x" * 2_001}, "question", "too_long"),
    "NUL": (b'{"question": "sets\\u0000"}', "question", "not_text"),
    "lone surrogate": (b'{"question": "sets \\ud800"}', "question", "not_text"),
    "unknown field": ({"question": ASKED, "modus": "beginner"}, "modus", "unknown_field"),
    "unknown field with a surrogate": (b'{"question": "sets", "\\ud800": 1}', "\\ud800", "not_text"),
    "unknown mode": ({"question": ASKED, "mode": "expert"}, "mode", "unknown"),
    "mode that is a list": ({"question": ASKED, "mode": []}, "mode", "unknown"),
    "mode with a surrogate": (b'{"question": "sets", "mode": "\\ud800"}', "mode", "not_text"),
    "unknown writer": ({"question": ASKED, "writer": {"a": []}}, "writer", "unknown"),
    "unknown collection": ({"question": ASKED, "collection": "a\0"}, "collection", "not_text"),
    "unknown parent": ({"question": ASKED, "parent": "nobody"}, "parent", "unknown"),
    "parent with a surrogate": (b'{"question": "sets", "parent": "\\ud800"}', "parent", "not_text"),
}
UNREADABLE: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"question=sets",
    "half of it": b'{"question": "sets"',
    "a list": b'["sets"]',
    "a string": b'"sets"',
    "a number": b"7",
    "null": b"null",
    "not a number": b'{"question": NaN}',
    "invalid UTF-8": b'{"question": "\xff\xfe"}',
    "UTF-16": '{"question": "sets"}'.encode("utf-16"),
    "deeply nested list": b"[" * 30_000,
    "deeply nested object": b'{"question":' * 5_000,
    "deeply nested and closed": b"[" * 30_000 + b"]" * 30_000,
    "a number of 5,000 digits": b'{"question": ' + b"9" * 5_000 + b"}",
}


@pytest.mark.parametrize(("body", "field", "code"), BAD.values(), ids=BAD)
def test_bad_input_is_named_by_field(body: Any, field: str, code: str) -> None:
    [error] = problem(post(body), 400)["errors"]

    assert (error["field"], error["code"], bool(error["detail"])) == (field, code, True)
    assert not Answer.objects.exists()


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE)
def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    assert problem(post(body), 400)["detail"]


def test_every_unknown_field_is_named_up_to_twenty() -> None:
    body = {"question": ASKED} | {f"field{n}": n for n in range(30)} | {"x" * 500: 1}

    errors = problem(post(body), 400)["errors"]

    assert [error["field"] for error in errors] == [f"field{n}" for n in range(20)]


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/xml"]
)
def test_another_content_type_is_refused(content_type: str) -> None:
    problem(post({"question": ASKED}, content_type=content_type), 415)


def test_a_body_over_64_kb_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "ask", lambda **_: pytest.fail("it was asked"))

    problem(post(b'{"question": "sets"}' + b" " * 65_536), 413)


def test_a_body_of_just_64_kb_is_read() -> None:
    question = json.dumps({"question": ASKED}).encode()

    assert post(question + b" " * (65_536 - len(question))).status_code == 201


@pytest.mark.parametrize("length", ["-1", "many", "9" * 5_000], ids=["negative", "no number", "5,000 digits"])
def test_a_lying_length_is_no_server_error(length: str) -> None:
    assert post({"question": ASKED}, CONTENT_LENGTH=length).status_code in {400, 413}


@pytest.mark.parametrize("accept", ["text/html", "*/*", "application/json", "image/png", ""])
def test_whatever_is_accepted_json_is_what_there_is(accept: str) -> None:
    response = post({"question": ""}, headers={"Accept": accept})

    assert response["Content-Type"] == "application/problem+json"
    assert response.status_code in {400, 406}


# --- Wrong method, bad id, missing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_answers_can_only_be_created_and_listed_at_their_list(method: str) -> None:
    response = getattr(Client(), method)(ANSWERS)

    problem(response, 405)
    assert "POST" in response["Allow"]


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_an_answer_can_only_be_read(method: str) -> None:
    location = post({"question": ASKED})["Location"]

    problem(getattr(Client(), method)(location), 405)
    assert get(location).status_code == 200


@pytest.mark.parametrize(
    "answer_id",
    ["nobody", "a%00b", "%ff", "x" * 5_000, "%F0%9F%92%AA", "' OR 1=1 --"],
    ids=lambda answer_id: answer_id[:12],
)
def test_an_id_that_no_answer_has_is_not_found(answer_id: str) -> None:
    body = problem(get(f"{ANSWERS}/{answer_id}"), 404)

    assert body["title"] == "Not found"
    assert "nobody" not in body["detail"]


@pytest.mark.parametrize("path", [f"{ANSWERS}/", f"{ANSWERS}/a/b", "/api/v1/nothing", "/api/"])
def test_an_address_that_is_none_is_not_found(path: str) -> None:
    assert problem(get(path), 404)["errors"] == []


# --- What goes wrong ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OperationalError("connection refused by 10.0.0.7"), InterfaceError("closed")])
def test_without_the_database_clients_are_told_to_come_again(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(search, "collections", down)
    monkeypatch.setattr(Answer.objects, "filter", down)

    for response in (post({"question": ASKED}), get(f"{ANSWERS}/nobody")):
        body = problem(response, 503)
        assert int(response["Retry-After"]) > 0
        assert str(error) not in json.dumps(body)


def test_an_unexpected_error_tells_nothing_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: object) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr(asking, "ask", fails)

    response = post({"question": ASKED})

    assert response.status_code == 500
    assert b"secret inside" not in response.content


# --- Query counts ------------------------------------------------------------------------------------------------------------


def test_asking_takes_a_fixed_number_of_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    post({"question": ASKED})  # fills what is kept per corpus version

    # Passages and plain sentences, each with their sentences, the corpus version, two time limits, four of savepoints.
    with django_assert_num_queries(11):
        post({"question": ASKED})


def test_reading_takes_a_fixed_number_of_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    location = post({"question": ASKED})["Location"]

    # Beside the count; two mark the one view of the corpus that all of it is read in, and one reads the stored passages.
    with django_assert_num_queries(7):
        get(location)


def test_a_body_in_chunks_is_read_and_capped(rf: RequestFactory) -> None:
    view = AnswersView.as_view()

    def send(body: bytes) -> Any:
        request = rf.generic("POST", "/api/v1/answers", body, content_type="application/json")
        del request.META["CONTENT_LENGTH"]
        return BodyLimit(view).process_view(request, view, (), {}) or view(request)

    assert send(json.dumps({"question": ASKED}).encode()).status_code == 201
    assert send(b'{"question": "' + b"x" * 70_000 + b'"}').status_code == 413


def test_an_answer_is_asked_for_again_before_a_copy_is_shown() -> None:
    created = post({"question": ASKED})

    assert created.headers["Cache-Control"] == "private, no-cache"
    assert get(created["Location"]).headers["Cache-Control"] == "private, no-cache"
