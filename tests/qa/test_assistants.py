"""The MCP server at /mcp over a socket, by the protocol's own client: the answers, keys and quotas of /api/v1/."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from django.utils import timezone
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from corpus_app import curation
from inform_site import assistants
from inform_site.clients import keys
from inform_site.clients.limits import Limits
from inform_site.serving import make_site
from qa_app.answers import asking
from qa_app.models import Answer
from tests.live import serving
from tests.qa.conftest import ASKED, CANARY, DRAFT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("library")]

TOOLS = ["ask", "check_claims", "get_passage", "get_study", "list_collections", "search"]


@pytest.fixture
def address(library: tuple[str, ...]) -> Iterator[str]:
    with serving(assistants.mount_mcp(make_site())) as url:
        yield url


def call(address: str, tool: str, **arguments: Any) -> Any:
    """What a tool gives: its structured content. Raises AssertionError with the words of an error."""
    result = attempt(address, tool, **arguments)
    assert not result.is_error, result.content
    return result.structured_content


def attempt(address: str, tool: str, **arguments: Any) -> Any:
    async def talk() -> Any:
        async with Client(f"{address}/mcp") as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(talk())


def said(result: Any) -> str:
    assert result.is_error
    return " ".join(block.text for block in result.content)


def test_tools_are_described_and_keep_no_line_open(address: str) -> None:
    async def talk() -> Any:
        async with Client(f"{address}/mcp") as client:
            return client.instructions, (await client.list_tools()).tools

    instructions, tools = asyncio.run(talk())

    assert "do not fill the gap" in instructions
    assert sorted(tool.name for tool in tools) == TOOLS
    assert all(tool.description and tool.title and tool.annotations for tool in tools)
    assert {tool.name for tool in tools if not tool.annotations.read_only_hint} == {"ask"}
    for method in ("GET", "HEAD", "DELETE"):
        answered = httpx2.request(method, f"{address}/mcp", headers={"Accept": "text/event-stream"}, timeout=60)
        assert (answered.status_code, answered.headers["allow"]) == (405, "POST")
    assert answered.json()["type"] == "urn:inform:problem:method-not-allowed"


def test_instructions_and_tools_say_the_nouns_of_the_site(address: str) -> None:
    curation.set_lexica({"site": 'nouns = { one = "entry", many = "entries" }'}, by=None, by_name="tests")

    async def talk() -> Any:
        async with Client(f"{address}/mcp") as client:
            return client.instructions, {tool.name: tool for tool in (await client.list_tools()).tools}

    instructions, tools = asyncio.run(talk())

    assert "a corpus of entries" in instructions
    assert (tools["get_study"].title, "the entries of this corpus" in tools["ask"].description) == (
        "Read an entry",
        True,
    )


def test_an_answer_comes_with_citations_and_the_exact_words_behind_them(address: str) -> None:
    told = call(address, "ask", question=ASKED)

    kept = asking.find_answer(told["id"])
    assert told["outcome"] == "answered"
    assert told["url"] == f"{address}{kept['url']}"
    assert [row["text"] for row in told["answer"]] == [row["text"] for row in kept["answer"]["sentences"]]
    assert [row["study_id"] for row in told["citations"]] == [row["study_id"] for row in kept["citations"]]
    quoted = [span for row in told["summary"] + told["answer"] for span in row["support"]]
    assert quoted
    for span in quoted:
        passage = call(address, "get_passage", passage_id=span["passage_id"])
        assert passage["text"][span["start"] : span["end"]] == span["quote"]


def test_refusals_and_bad_questions_are_told_in_the_words_of_the_api(address: str) -> None:
    assert "question" in said(attempt(address, "ask", question="  "))
    assert "Choose one of nutrition, training" in said(attempt(address, "ask", question=ASKED, collection="sports"))
    assert Answer.objects.count() == 0

    told = call(address, "ask", question="What is the best pizza in Naples?")

    assert (told["code"], told["confidence"], told["citations"]) == ("OUT_OF_SCOPE", None, [])
    assert told["message"]


def test_published_studies_are_read_and_drafts_look_missing(address: str) -> None:
    found = call(address, "search", query=ASKED, limit=3)
    study = call(address, "get_study", study_id="T-SETS")
    collections = call(address, "list_collections")
    claims = call(address, "check_claims", text="Ten weekly sets per muscle reduced growth more than five.")["claims"]
    hidden = call(address, "search", query=CANARY)

    assert found["passages"][0]["study_id"] == study["study_id"] == "T-SETS"
    assert [row["slug"] for row in collections["items"]] == ["nutrition", "training"]
    assert [row["verdict"] for row in claims] == ["contradicted"]
    assert DRAFT not in {row["study_id"] for row in hidden["passages"]}
    assert said(attempt(address, "get_study", study_id=DRAFT)) == said(attempt(address, "get_study", study_id="T-NONE"))
    assert "result" not in said(attempt(address, "get_study", study_id="../collections"))


def test_keys_and_quotas_are_those_of_the_api(address: str, settings: Any) -> None:
    secret = keys.make(name="assistant", scopes=["read"], owner=None, by=None, now=timezone.now()).secret

    async def talk(tool: str, arguments: dict[str, Any], bearer: str) -> Any:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {bearer}"}) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            return await client.call_tool(tool, arguments)

    assert not asyncio.run(talk("list_collections", {}, secret)).is_error
    assert "scope ask" in said(asyncio.run(talk("ask", {"question": ASKED}, secret)))
    assert "not known here" in said(asyncio.run(talk("list_collections", {}, secret[:-8] + "xxxxxxxx")))
    settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"ask": Limits(1, 1)}
    assert not attempt(address, "ask", question=ASKED).is_error
    assert "used up" in said(attempt(address, "ask", question=ASKED))
    assert Answer.objects.count() == 1


def test_without_the_extra_the_site_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    site = make_site()
    monkeypatch.setattr(assistants, "find_spec", lambda name: None)

    assert assistants.mount_mcp(site) is site
