"""One quota for pages, answers, streams, earlier addresses and assistants, over a socket and all at once."""

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from django.conf import LazySettings
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from inform_site import assistants
from inform_site import serving as serving_site
from inform_site.clients.keys import Made
from inform_site.clients.limits import Limits
from inform_site.clients.models import QuotaCounter
from inform_site.serving import make_site
from qa_app.answers import asking, streaming
from qa_app.models import Answer
from tests.api.conftest import NOON, V1
from tests.live import serving
from tests.qa.conftest import ASKED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("library", "at_noon")]
STREAM = f"{V1}answers/stream"
QUESTION = {"question": ASKED}
LEFT = re.compile(r'("(ask|read|model)-(minute|day)";r=\d+;t=\d+(, |$))+')


@pytest.fixture
def address(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    settings.REQUESTS_WAITING = 50  # all wait, so that the quota decides
    monkeypatch.setattr(serving_site, "QUEUE_SECONDS", 60)
    with serving(assistants.mount_mcp(make_site())) as url:
        yield url


@pytest.fixture
def allow(settings: LazySettings) -> Callable[..., None]:
    def allowed(**limits: int) -> None:
        few = {quota: Limits(1_000, number) for quota, number in limits.items()}
        settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | few
        settings.KEY_QUOTAS = settings.KEY_QUOTAS | few

    return allowed


def used(quota: str) -> int:
    return sum(QuotaCounter.objects.filter(quota=quota).values_list("used_in_day", flat=True))


def post(url: str, body: Any, **headers: str) -> httpx2.Response:
    return httpx2.post(url, json=body, headers=headers, timeout=60)


def events(response: httpx2.Response) -> list[dict[str, str]]:
    pieces = [piece for piece in response.text.split("\n\n") if piece and not piece.startswith(":")]
    return [dict(line.split(": ", 1) for line in piece.splitlines()) for piece in pieces]


def is_admitted(address: str, name: str, **headers: str) -> bool:
    """Whether it was counted. Either way the headers say what is left, and a refusal when to come again."""
    if (asked := ADDRESSES[name]) is None:
        return by_assistant(address, **headers)
    path, body, status = asked
    response = post(address + path, body, **headers)
    assert response.status_code in {status, 429}, response.text
    assert LEFT.fullmatch(response.headers["RateLimit"])
    assert response.headers["RateLimit-Policy"].startswith('"ask-minute";q=1000;w=60, "ask-day";q=10;w=86400')
    if response.status_code == 429:
        assert response.headers["Retry-After"] == str(12 * 3600 - 20)
    return response.status_code == status


def by_assistant(address: str, **headers: str) -> bool:
    async def talk() -> Any:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            return await client.call_tool("ask", QUESTION)

    result = asyncio.run(talk())
    assert not result.is_error or "used up" in str(result.content)
    return not result.is_error


ADDRESSES = {
    "answers": (f"{V1}answers", QUESTION, 201), "stream": (STREAM, QUESTION, 200),
    "search": (f"{V1}search", QUESTION, 200), "earlier address": ("/ask", {"query": ASKED}, 200), "assistant": None,
}  # fmt: skip


def test_a_quota_of_10_admits_10_of_50_at_once(address: str, allow: Callable[..., None]) -> None:
    allow(ask=10)
    start = threading.Barrier(50)

    def ask(n: int) -> bool:
        start.wait()
        name = list(ADDRESSES)[n % len(ADDRESSES)]
        return is_admitted(address, name, **{"X-Forwarded-For": f"10.0.{n}.7", "X-Real-IP": f"10.0.{n}.7"})

    with ThreadPoolExecutor(50) as pool:
        admitted = Counter(pool.map(ask, range(50)))

    assert admitted == {True: 10, False: 40}
    assert used("ask") == 10


def test_going_on_with_a_known_stream_alone_is_no_other_question(address: str, allow: Callable[..., None]) -> None:
    allow(ask=1)
    told = events(post(address + STREAM, QUESTION))

    for event in told:
        again = post(address + STREAM, QUESTION, **{"Last-Event-ID": event["id"]})
        assert (again.status_code, events(again)[-1]["event"]) == (200, "done")
    assert (used("ask"), used("read")) == (1, len(told))

    refused = post(address + STREAM, QUESTION, **{"Last-Event-ID": f"{'0' * 32}.5.2"})
    assert (refused.status_code, refused.json()["type"]) == (429, "urn:inform:problem:quota-used-up")
    assert refused.headers["Retry-After"] == str(12 * 3600 - 20)
    assert '"ask-day";r=0' in refused.headers["RateLimit"]
    assert Answer.objects.count() == 1


def test_an_answer_given_up_as_somebody_comes_back_is_another_question() -> None:
    checked = asking.check(question=ASKED, mode=None, collection=None, writer="auto", parent=None)
    asked = streaming._Request(checked, "auto", None, NOON, None, lambda: 7, None)
    given_up = streaming._AnswerJob(asked)
    given_up.waiting.leave()

    async def go_on() -> list[Any]:
        return [event async for event in streaming._follow(asked, given_up, 3)]

    [refused] = asyncio.run(go_on())

    assert (refused.name, refused.data["status"]) == ("error", 429)
    assert "7 seconds" in refused.data["detail"]
    assert streaming._jobs == {}


def test_a_key_sees_every_answer_that_it_made(address: str, make_key: Callable[..., Made]) -> None:
    key, other = make_key(), make_key()
    sent = {"Authorization": f"Bearer {key.secret}"}
    made = [
        post(f"{address}{V1}answers", QUESTION, **sent).json()["id"],
        json.loads(events(post(address + STREAM, QUESTION, **sent))[-1]["data"])["id"],
        *(
            post(f"{address}{path}", {"query": ASKED}, **sent).json()["answer_id"]
            for path in ("/ask", "/api/unified-search", "/explain-research")
        ),
    ]
    assert by_assistant(address, **sent)
    last = Answer.objects.exclude(pk__in=made).get().pk
    by_stream_of_nobody = post(address + STREAM, QUESTION)

    def listed(secret: str) -> list[str]:
        got = httpx2.get(f"{address}{V1}answers", headers={"Authorization": f"Bearer {secret}"})
        return [row["id"] for row in got.json()["items"]]

    assert by_stream_of_nobody.status_code == 200
    assert sorted(listed(key.secret)) == sorted([*made, last])
    assert listed(other.secret) == []
