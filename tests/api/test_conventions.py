"""Conventions of every response: other origins, ids, conditional reads, bad requests, careless clients."""

import asyncio
import gzip
import json
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import LazySettings
from django.db import connection
from django.http import HttpResponse
from django.test import Client

from inform_site.clients import keys
from inform_site.clients.keys import Made
from inform_site.serving import make_site
from qa_app.models import Answer
from tests.api.conftest import NOON, V1, body, get, post, problem
from tests.asgi import posting
from tests.qa.conftest import ASKED

COLLECTIONS = f"{V1}collections"
OURS, OTHERS = "https://clinic.example", "https://elsewhere.example"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("library")]


@pytest.fixture
def for_the_clinic(settings: LazySettings) -> None:
    settings.CORS_ORIGINS = [OURS]


def preflight(origin: str, path: str = f"{V1}answers") -> HttpResponse:
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key"}
    return Client().options(path, headers=headers)


def test_a_named_origin_may_read_and_send_its_key_without_cookies(for_the_clinic: None) -> None:
    response = get(COLLECTIONS, Origin=OURS)
    exposed = set(response["Access-Control-Expose-Headers"].split(", "))
    asked = preflight(OURS)

    assert response["Access-Control-Allow-Origin"] == OURS
    assert {"ETag", "RateLimit", "Retry-After", "X-Request-ID"} <= exposed
    assert "Origin" in response["Vary"]
    assert "Access-Control-Allow-Credentials" not in response
    assert (asked.status_code, asked.content, asked["Access-Control-Allow-Origin"]) == (204, b"", OURS)
    assert {"Authorization", "X-API-Key", "Idempotency-Key"} <= set(asked["Access-Control-Allow-Headers"].split(", "))
    assert "POST" in asked["Access-Control-Allow-Methods"]
    for failed in (get(f"{V1}nothing", Origin=OURS), post(f"{V1}answers", b"{", Origin=OURS)):
        assert failed["Access-Control-Allow-Origin"] == OURS
    assert "Access-Control-Allow-Origin" not in get("/how-it-works/", Origin=OURS)


@pytest.mark.parametrize("origin", [OTHERS, "null", f"{OURS}.elsewhere.example", OURS.upper()])
def test_no_origin_may_read_unless_it_is_named(settings: LazySettings, origin: str) -> None:
    assert [name for name in get(COLLECTIONS, Origin=OURS).headers if name.startswith("Access-Control")] == []

    settings.CORS_ORIGINS = [OURS]
    for response in (get(COLLECTIONS, Origin=origin), preflight(origin)):
        assert "Access-Control-Allow-Origin" not in response
        assert "Origin" in response["Vary"]

    settings.CORS_ORIGINS = ["*"]
    assert get(COLLECTIONS, Origin=origin)["Access-Control-Allow-Origin"] == "*"


def test_an_id_that_the_client_sends_is_kept_unless_it_could_harm_a_log() -> None:
    for sent in ("a", "7f3c-9.B_x", "x" * 64):
        for path in (COLLECTIONS, f"{V1}nothing"):
            assert get(path, **{"X-Request-ID": sent})["X-Request-ID"] == sent
    made = [get(COLLECTIONS, **{"X-Request-ID": s})["X-Request-ID"] for s in ("", "x" * 65, "a b", "a\tb", "<b>", "é")]
    assert {len(one) for one in made} == {32}
    assert len(set(made)) == 6


def test_a_read_is_conditional() -> None:
    tag, client = get(COLLECTIONS)["ETag"], Client()
    for name, value, status in (
        ("If-Match", tag, 200), ("If-Match", f'"other", {tag}', 200), ("If-Match", "*", 200), ("If-None-Match", tag, 304),
        ("If-None-Match", f'"other", {tag}', 304), ("If-None-Match", "*", 304), ("If-Match", '"other"', 412),
        ("If-Match", f"W/{tag}", 412), ("If-Match", "rubbish", 200), ("If-Match", '"unended', 200),  # no tags, so no condition
        ("If-None-Match", '"other"', 200), ("If-None-Match", "rubbish", 200), ("If-None-Match", f"W/{tag}", 304),
        ("If-Unmodified-Since", "Sat, 29 Oct 1994 19:43:31 GMT", 200), ("Range", "bytes=0-10", 200),
    ):  # fmt: skip
        response, head = get(COLLECTIONS, **{name: value}), client.head(COLLECTIONS, headers={name: value})
        assert (response.status_code, head.status_code, head.content) == (status, status, b""), (name, value)
        assert response["ETag"] == head["ETag"] == tag
        if status == 412:
            problem(response, 412, "stale")
            assert response["Cache-Control"] == "no-store"


def test_a_refusal_says_what_to_do() -> None:
    elsewhere = get(COLLECTIONS, Host="elsewhere.example")
    packed = gzip.compress(json.dumps({"question": "sets?"}).encode())
    for response, status, kind, words in (
        (Client().put(f"{V1}answers"), 405, "method-not-allowed", "Allow"),
        (get(COLLECTIONS, Accept="text/html"), 406, "not-acceptable", "application/json"),
        (Client().post(f"{V1}answers", b"{}", content_type="text/plain"), 415, "unsupported-media-type", "application/json"),
        (post(f"{V1}answers", packed, **{"Content-Encoding": "gzip"}), 415, "unsupported-media-type", "without Content-Encoding"),
        (post(f"{V1}answers", b'\xef\xbb\xbf{"question": "x"}'), 400, "malformed", "byte order mark"),
        (elsewhere, 400, "malformed", ""),
    ):  # fmt: skip
        assert words in problem(response, status, kind)["detail"]
    assert b"elsewhere" not in elsewhere.content


def test_a_bad_search_says_which_field() -> None:
    queries = {
        "": "q", "q=+": "q", "q=" + "a" * 2_001: "q", "q=a%00b": "q", "q=sets&limit=many": "limit",
        "q=sets&limit=0": "limit", "q=sets&limit=51": "limit", "q=sets&limit=%D9%A3": "limit",
        "q=sets&mode=expert": "mode", "q=sets&collection=moon": "collection", "q=sets&moon=1": "moon",
        "question=sets": "question",
    }  # fmt: skip
    bodies: list[tuple[dict[str, object], str]] = [
        ({}, "question"), ({"q": "sets"}, "q"), ({"question": 5}, "question"), ({"question": None}, "question"),
        ({"question": "sets", "limit": "5"}, "limit"), ({"question": "sets", "limit": True}, "limit"),
        ({"question": "sets", "limit": 1e99}, "limit"), ({"question": "sets", "mode": ["beginner"]}, "mode"),
    ]  # fmt: skip
    refused = [(get(f"{V1}search?{query}"), field) for query, field in queries.items()]
    refused += [(post(f"{V1}search", sent), field) for sent, field in bodies]

    for response, field in refused:
        assert field in [error["field"] for error in problem(response, 400, "invalid")["errors"]]


def test_a_parameter_sent_twice_is_refused() -> None:
    for path, name in {
        "studies?limit=1&limit=2": "limit", "studies?q=a&q=b": "q", "studies?fields=title&fields=year": "fields",
        "search?q=a&q=b": "q", "answers/x?format=ris&format=md": "format", "collections?x%00=1&x%00=2": "x\\0",
        "concepts?kind=outcome&kind=intervention": "kind",
    }.items():  # fmt: skip
        refused = problem(get(V1 + path), 400, "invalid")
        assert {error["field"]: error["code"] for error in refused["errors"]}[name] == "repeated"
    assert get(f"{V1}studies?design=meta_analysis&design=cohort_study").status_code == 200


COMMITTED = pytest.mark.django_db(transaction=True)
QUESTION = {"question": ASKED}
STREAM = f"{V1}answers/stream"


@COMMITTED
def test_a_key_revoked_in_mid_stream_lets_it_end_and_begins_no_other(make_key: Callable[..., Made]) -> None:
    made = make_key("ask")
    bearer = f"Bearer {made.secret}"

    async def talk() -> tuple[list[str], int, int]:
        application = make_site()
        async with posting(application, STREAM, QUESTION, authorization=bearer) as sent:
            first = await sent.next()
            await asyncio.to_thread(_revoke, made)
            rest = [event.name for event in await sent.rest()]
        async with posting(application, STREAM, QUESTION, authorization=bearer, last_event_id=first.id) as again:
            await again.body()
        return rest, sent.status, again.status

    rest, begun, resumed = asyncio.run(talk())

    assert (begun, resumed) == (200, 401)
    assert [name in {"done", "error"} for name in rest] == [False] * (len(rest) - 1) + [True]


def _revoke(made: Made) -> None:
    keys.revoke(made.key, now=NOON)
    connection.close()


def test_an_idempotency_key_belongs_to_its_client(make_key: Callable[..., Made]) -> None:
    secrets = [make_key().secret, make_key().secret, None]
    once = {"Idempotency-Key": "the-same"}

    answers = {body(post(f"{V1}answers", QUESTION, secret, **once))["id"] for secret in secrets for _ in range(2)}

    assert len(answers) == Answer.objects.count() == 3
    for secret in secrets:
        problem(post(f"{V1}answers", {"question": "Is creatine safe?"}, secret, **once), 422, "idempotency-key-reused")


@COMMITTED
def test_of_many_at_once_with_one_idempotency_key_one_is_answered(make_key: Callable[..., Made]) -> None:
    secret, start = make_key().secret, threading.Barrier(12)

    def ask(_: int) -> tuple[int, str]:
        start.wait()
        try:
            response = post(f"{V1}answers", QUESTION, secret, **{"Idempotency-Key": "the-same"})
            assert response.status_code != 409 or int(response["Retry-After"]) > 0
            return response.status_code, str(body(response).get("id", ""))
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        told = list(pool.map(ask, range(12)))

    statuses = Counter(status for status, _ in told)
    assert (statuses[201], set(statuses) <= {200, 201, 409}) == (1, True)
    assert len({answer for _, answer in told if answer}) == Answer.objects.count() == 1


def test_methods_that_an_address_does_not_have_do_nothing() -> None:
    for path in (f"{V1}answers", STREAM, f"{V1}collections", "/ask", f"{V1}answers/none/replay"):
        for method in ("HEAD", "OPTIONS", "TRACE", "CONNECT", "BREW"):
            client = Client(raise_request_exception=False)
            response = client.generic(method, path, json.dumps(QUESTION), "application/json")
            assert response.status_code != 405 or "OPTIONS" not in response["Allow"]
            is_read = method == "HEAD" and path in {f"{V1}collections", f"{V1}answers"}
            assert response.status_code in ({200, 401} if is_read else {405})
    assert not Answer.objects.exists()
