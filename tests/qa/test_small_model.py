"""A real small model on llama.cpp's own server writes answers; the double of the other tests speaks as it does."""

import json
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from lab import local_model
from lab.model_writing import count_unverified
from qa_app.writers.model_server import Deadline, ModelServer, ServerFailed, ServerSettings
from tests.doubles.model_server import ModelDouble
from tests.pipeline.fake_corpus import FakeCorpus
from tests.qa.test_model_writer import answered, writers_of

CONTEXT = 1024
SECONDS = 240  # generous: the machine of a test may be busy
SCHEMA = {
    "type": "object",
    "properties": {"text": {"enum": ["Few sets build muscle."]}},
    "required": ["text"],
    "additionalProperties": False,
}
ASKED = [
    {"role": "user", "content": '{"question": "Do few sets build muscle?", "passages": [["Few sets build muscle."]]}'}
]


@pytest.fixture(scope="module")
def small() -> Iterator[str]:
    """The address of the real server."""
    if local_model.model_path() is None:
        pytest.skip("an extra: requirements/model.txt")
    with local_model.serving(context=CONTEXT) as address:
        yield address


@pytest.fixture(params=["double", "small"])
def address(request: pytest.FixtureRequest, double: ModelDouble) -> str:
    double.context = CONTEXT
    return double.base_url if request.param == "double" else str(request.getfixturevalue("small"))


def shape(value: Any) -> Any:
    """Return the keys and types of the fields that the site reads."""
    known = (
        "object",
        "choices",
        "index",
        "delta",
        "content",
        "finish_reason",
        "usage",
        "prompt_tokens",
        "error",
        "n_ctx",
    )
    if isinstance(value, dict):
        return {key: shape(item) for key, item in sorted(value.items()) if key in (*known, "completion_tokens", "type")}
    return [shape(item) for item in value] if isinstance(value, list) else type(value).__name__


def test_a_stream_has_pieces_an_end_and_a_count(address: str) -> None:
    body = {"model": "good", "messages": ASKED, "max_completion_tokens": 24, "temperature": 0, "stream": True}
    body |= {"stream_options": {"include_usage": True}}
    body |= {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": SCHEMA}}}
    request = urllib.request.Request(f"{address}/chat/completions", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=SECONDS) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        lines = [line.decode().strip() for line in response if line.strip()]

    assert lines[-1] == "data: [DONE]"
    assert all(line.startswith("data: ") for line in lines)
    *pieces, end, count = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    assert {"choices": [{"index": "int", "delta": {"content": "str"}, "finish_reason": "NoneType"}]}.items() <= (
        shape(pieces[-1]).items()
    )
    assert end["choices"][0]["finish_reason"] in ("stop", "length")
    assert count["choices"] == []
    assert shape(count["usage"]) == {"completion_tokens": "int", "prompt_tokens": "int"}


def test_the_context_is_told_and_a_prompt_beyond_it_refused(address: str) -> None:
    server = ModelServer(ServerSettings(model="too_long", base_url=address))

    assert server.context_tokens(Deadline.after(SECONDS)) == CONTEXT
    with pytest.raises(ServerFailed) as failed:
        server.complete([{"role": "user", "content": "few sets " * 2_000}], SCHEMA, Deadline.after(SECONDS))
    assert failed.value.reason == "too_long"
    assert server.context_tokens(Deadline.after(SECONDS)) == CONTEXT


def test_a_small_model_writes_an_answer_within_its_time(small: str, corpus: FakeCorpus) -> None:
    server = ModelServer(ServerSettings(model="local", base_url=small))
    start = time.monotonic()

    answer = answered(corpus, *writers_of(server, Deadline.after(SECONDS)))

    assert time.monotonic() - start < SECONDS + 10
    assert (answer.generator.name, count_unverified(answer)) == ("llm", 0)
    assert (answer.generator.prompt or "").startswith("write-3-small@")
    assert server.dialect.format == "bounded_schema"
    assert server.dialect.has_stream


def test_a_model_that_is_too_slow_gives_way_to_the_passages(small: str, corpus: FakeCorpus) -> None:
    server = ModelServer(ServerSettings(model="local", base_url=small))

    answer = answered(corpus, *writers_of(server, Deadline.after(0.5)))

    assert answer.outcome.is_answer
    assert (answer.generator.name, answer.generator.fallback_from) == ("extractive", "llm")
