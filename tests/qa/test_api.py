"""/api/v1/answers: 201 and the same again by GET, and problem+json with what to do for everything else."""

import json
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.http import HttpResponse
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries

from corpus_app import search
from inform_site.api.bodies import BodyLimit
from qa_app.answers import asking
from qa_app.api.answers import AnswersView
from qa_app.models import Answer
from tests.api.conftest import get, problem
from tests.fakes import WordHashEncoder
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")

ANSWERS = "/api/v1/answers"
JSON = "application/json"


def post(body: Any, **options: Any) -> HttpResponse:
    """Sends a body as it is where it is bytes, else as JSON."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Client(raise_request_exception=False).post(ANSWERS, sent, **({"content_type": JSON} | options))


BAD: list[tuple[Any, str, str]] = [
    ({}, "question", "required"), ({"question": " \n\t\u3000"}, "question", "blank"),
    ({"question": "\u200b\u2060\ufeff\x07"}, "question", "blank"),
    ({"question": "\ue000\U000f0000 " * 600}, "question", "blank"),  # private use alone
    ({"question": " " * 60_000}, "question", "too_long"),
    ({"question": {"text": "sets"}}, "question", "not_text"), ({"question": "x" * 2_001}, "question", "too_long"),
    (b'{"question": "sets\\u0000"}', "question", "not_text"), (b'{"question": "sets \\ud800"}', "question", "not_text"),
    ({"question": ASKED, "modus": "beginner"}, "modus", "unknown_field"),
    (b'{"question": "sets", "\\ud800": 1}', "\\ud800", "not_text"),
    ({"question": ASKED, "mode": []}, "mode", "unknown"),
    (b'{"question": "sets", "mode": "\\ud800"}', "mode", "not_text"),
    ({"question": ASKED, "writer": {"a": []}}, "writer", "unknown"),
    ({"question": ASKED, "collection": "a\0"}, "collection", "not_text"),
    ({"question": ASKED, "collection": "magic"}, "collection", "unknown"),
    ({"question": ASKED, "collection": ["training"]}, "collection", "unknown"),
    ({"question": ASKED, "parent": 1}, "parent", "unknown"),
    ({"question": ASKED, "parent": "nobody"}, "parent", "unknown"),
]  # fmt: skip
UNREADABLE: tuple[bytes, ...] = (
    b"", b"question=sets", b'{"question": "sets"', b'["sets"]', b"null", b'{"question": NaN}',
    b'{"question": "\xff\xfe"}', '{"question": "sets"}'.encode("utf-16"), b"[" * 30_000, b'{"question":' * 5_000,
    b"[" * 30_000 + b"]" * 30_000, b'{"question": ' + b"9" * 5_000 + b"}",
    b'{"question": "sets", "question": "reps"}', b'{"x": ' * 100 + b"1" + b"}" * 100,
)  # fmt: skip


def test_bad_input_is_named_by_field_before_any_model_runs(encoder: WordHashEncoder) -> None:
    encoder.calls.clear()
    for body, field, code in BAD:
        [error] = problem(post(body), 400)["errors"]
        assert (error["field"], error["code"], bool(error["detail"])) == (field, code, True)
    many = {"question": ASKED} | {f"field{n}": n for n in range(30)} | {"x" * 500: 1}
    errors = problem(post(many), 400)["errors"]
    assert [error["field"] for error in errors] == [f"field{n}" for n in range(20)]
    assert encoder.calls == []
    assert not Answer.objects.exists()


def test_a_body_that_is_no_json_object_is_refused() -> None:
    for body in UNREADABLE:
        assert problem(post(body), 400)["detail"]
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        problem(post({"question": ASKED}, content_type=kind), 415)
    for length in ("-1", "many", "9" * 5_000):  # that is no server error
        assert post({"question": ASKED}, CONTENT_LENGTH=length).status_code in {400, 413}
    for accept in ("text/html", "*/*", "image/png", ""):
        response = post({"question": ""}, headers={"Accept": accept})
        assert response["Content-Type"] == "application/problem+json"
        assert response.status_code in {400, 406}


def test_a_body_of_more_than_64_kb_is_refused_unread(rf: RequestFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    view = AnswersView.as_view()
    question = json.dumps({"question": ASKED}).encode()

    def send_in_chunks(body: bytes) -> Any:
        request = rf.generic("POST", "/api/v1/answers", body, content_type="application/json")
        del request.META["CONTENT_LENGTH"]
        return BodyLimit(view).process_view(request, view, (), {}) or view(request)

    assert post(question + b" " * (65_536 - len(question))).status_code == 201
    assert send_in_chunks(question).status_code == 201
    monkeypatch.setattr(asking, "ask", lambda **_: pytest.fail("it was asked"))
    problem(post(b'{"question": "sets"}' + b" " * 65_536), 413)
    assert send_in_chunks(b'{"question": "' + b"x" * 70_000 + b'"}').status_code == 413


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


def test_asking_and_reading_take_a_fixed_number_of_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    location = post({"question": ASKED})["Location"]  # fills what is kept per corpus version
    # Passages and plain sentences (their sentences are read beside Django), version and calibration, two time limits, four
    # savepoints, and the version once more for the nouns of the site; then known words, sources that may be named,
    # concepts, findings and key figures of the candidates.
    with django_assert_num_queries(17):
        post({"question": ASKED})
    # Beside the count: two mark the snapshot that all of it is read in, one reads the stored passages, one the version
    # for the nouns of the site.
    with django_assert_num_queries(8):
        get(location)
