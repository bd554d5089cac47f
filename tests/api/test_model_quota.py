"""What a language model writes for a client is counted, whichever address it was asked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.conf import LazySettings
from django.http import HttpResponse
from django.test import Client

from inform_site.clients.keys import Made
from inform_site.clients.limits import Limits
from inform_site.clients.models import QuotaCounter
from tests.api.conftest import V1, body, post, problem
from tests.doubles.model_server import serving
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library", "at_noon")
OTHER = "What is the best pizza in Naples?"


@pytest.fixture(autouse=True)
def one_answer_by_a_model(settings: LazySettings) -> Iterator[None]:
    """A language model is set up, and everybody may have it write once."""
    with serving() as double:
        settings.OPENAI_MODEL, settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "good", double.base_url, "for tests"
        settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"model": Limits(1, 1)}
        settings.KEY_QUOTAS = settings.KEY_QUOTAS | {"model": Limits(1, 1)}
        yield


def used() -> int:
    return sum(QuotaCounter.objects.filter(quota="model").values_list("used_in_day", flat=True))


def test_auto_falls_back_and_says_why() -> None:
    made = [body(post(f"{V1}answers", {"question": ASKED}))["generator"] for _ in range(2)]

    found = [tuple(one[name] for name in ("name", "fallback_from", "fallback_reason")) for one in made]
    assert found == [("llm", None, None), ("extractive", "llm", "quota_used_up")]


def test_a_model_by_name_is_429_for_that_client_and_says_when_to_come_again(make_key: Callable[..., Made]) -> None:
    asked, secret, once = {"question": ASKED, "writer": "llm"}, make_key().secret, {"Idempotency-Key": "one"}
    for unmodelled in ({"question": ASKED, "writer": "extractive"}, {"question": OTHER}, asked | {"question": ""}):
        assert post(f"{V1}answers", unmodelled).status_code in {201, 400}
    assert used() == 0

    assert body(post(f"{V1}answers", asked))["generator"]["name"] == "llm"
    refused = post(f"{V1}answers", asked)
    assert "leave out who is to write" in problem(refused, 429, "quota-used-up")["detail"]
    assert int(refused["Retry-After"]) > 0
    assert '"model-minute";r=0' in refused["RateLimit"]

    assert [post(f"{V1}answers", asked, secret, **once).status_code for _ in range(2)] == [201, 200]
    assert used() == 2


@pytest.mark.parametrize("address", ["/ask", "/explain-research", "/api/unified-search"])
def test_earlier_addresses_are_counted_too(address: str) -> None:
    first, second = (post(address, {"query": ASKED, "use_llm": True}) for _ in range(2))

    assert (first.status_code, used()) == (200, 1)
    require_refused(second)


@pytest.mark.parametrize("address", ["/api/quick-summary", "/api/detailed-answer"])
def test_parts_are_counted_too(address: str) -> None:
    request_id = body(post("/api/unified-search", {"query": ASKED, "use_llm": False}))["request_id"]
    first, second = (post(address, {"request_id": request_id, "use_llm": True}) for _ in range(2))

    assert (first.status_code, body(first)["backend"], used()) == (200, "llm", 1)
    require_refused(second)
    assert body(post(address, {"request_id": request_id}))["backend"] == "extractive"


def require_refused(response: HttpResponse) -> None:
    found = body(response)
    assert (response.status_code, found["success"], found["code"]) == (429, False, "QUOTA_USED_UP")
    assert int(response["Retry-After"]) > 0


def test_pages_are_counted_too() -> None:
    reader = Client()
    answered = reader.post("/", {"question": ASKED})["Location"]
    assert used() == 1

    reader.post(f"{answered}again/")
    reader.post("/compare/", {"a": answered})

    page = reader.get(reader.post("/", {"question": ASKED})["Location"]).content.decode()
    assert used() == 1
    assert "may write for you for now is used up" in page
