"""Careless and hostile requests: a key taken away in mid-stream, one idempotency key for several, odd addresses and headers."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from inform_site.clients import keys
from inform_site.clients.keys import Made
from inform_site.serving import make_site
from qa_app.models import Answer
from tests.api.conftest import NOON, V1, body, get, post, problem
from tests.asgi import posting
from tests.qa.conftest import ASKED

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("library")]
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
            assert first is not None
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


ODD_ADDRESSES = (
    f"{V1}studies/%00", f"{V1}studies/%ff%fe", f"{V1}studies/..%2f..%2fadmin", f"{V1}studies/T-SETS%0d%0aX-Evil:%201",
    f"{V1}passages/-1", f"{V1}passages/1e3", f"{V1}passages/%D9%A3", f"{V1}passages/{'9' * 400}", f"{V1}answers/%00",
    f"{V1}answers/{'a' * 4_000}", f"{V1}{'a/' * 2_000}", f"{V1}/studies", f"{V1}studies/", "/api/v2/studies", "/api/",
)  # fmt: skip


def test_odd_addresses_and_queries_are_refused() -> None:
    for address in ODD_ADDRESSES:
        response = get(address)
        problem(response, 404, "not-found")
        assert b"Evil" not in response.content
        assert "X-Evil" not in response.headers
    for query in ("q=%ff%fe", "q=a%00b", "q=" + "a" * 60_000, "&".join(f"x{n}=1" for n in range(3_000))):
        for path in ("studies", "search", "concepts", "corpus/changes"):
            response = get(f"{V1}{path}?{query}")
            assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json"), path


@pytest.mark.parametrize("path", [f"{V1}answers", STREAM, f"{V1}collections", "/ask", f"{V1}answers/none/replay"])
def test_methods_that_an_address_does_not_have_do_nothing(path: str) -> None:
    for method in ("HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "CONNECT", "BREW"):
        response = Client(raise_request_exception=False).generic(method, path, json.dumps(QUESTION), "application/json")

        assert response.status_code != 405 or "OPTIONS" not in response["Allow"]
        is_read = method == "HEAD" and path in {f"{V1}collections", f"{V1}answers"}
        assert response.status_code in ({200, 401} if is_read else {405})
    assert not Answer.objects.exists()


@pytest.mark.parametrize("name", ["Idempotency-Key", "Last-Event-ID", "X-Request-ID", "X-API-Key", "Accept", "If-Match", "Range"])  # fmt: skip
def test_no_header_breaks_a_request(name: str) -> None:
    for value in ("", "\t", "é", "x" * 8_000, "a\"b'<c>", "*", ",,,", ";q=;"):
        sent: dict[str, Any] = {name: value}

        for response in (get(f"{V1}collections", **sent), post(f"{V1}answers", {"question": " "}, **sent)):
            assert response.status_code < 500
            assert response["Content-Type"] in {"application/json", "application/problem+json"}
            assert all(value != told or len(value) < 2 for told in response.headers.values())
