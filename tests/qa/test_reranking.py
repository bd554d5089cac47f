"""Models that rank passages anew: a tiny CrossEncoder made here, and a server that is good, slow or broken."""

import json
import threading
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from corpus_app.records import Hit
from qa_app.answers import answering
from qa_app.pipeline.ports import RerankerFailed
from qa_app.pipeline.records import Candidate
from qa_app.pipeline.reranking import rerank
from qa_app.writers.model_server import ModelServer, ServerSettings
from qa_app.writers.reranking import CrossEncoderReranker, ModelReranker
from tests.pipeline.values import make_passage
from tests.qa.test_fitting import tiny_model

PASSAGES = [
    make_passage("Ten weekly sets per muscle increased growth.", passage_id=1, study="T001"),
    make_passage("Protein keeps lean mass.", passage_id=2, study="T002"),
    make_passage("Creatine did not harm the kidneys.", passage_id=3, study="T003"),
]
RANKED = tuple(Candidate(one, Hit(one.passage_id, 1.0, 0.5), 1.0, 1.0 / one.passage_id) for one in PASSAGES)


def completion(content: str | None) -> dict[str, Any]:
    """As a server that speaks OpenAI's chat completions replies."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "test", "choices": [choice]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A CrossEncoder of a few hundred random weights, as sentence-transformers keeps them."""
    return tiny_model(tmp_path_factory.mktemp("cross-encoder"), ("score",))


def test_a_cross_encoder_orders_passages_the_same_each_time(folder: str) -> None:
    reranker = CrossEncoderReranker(folder)
    reranker.prepare()

    scores = reranker.scores("how many sets?", PASSAGES * 7, seconds=60)
    ranked = rerank("how many sets?", RANKED, reranker)

    assert len(scores) == 21
    assert list(scores[:3]) == pytest.approx(list(scores[18:]), abs=1e-5)
    assert len({round(score, 7) for score in scores[:3]}) > 1
    of_passage = dict(zip([1, 2, 3], scores, strict=False))
    assert [c.passage.passage_id for c in ranked] == sorted(of_passage, key=lambda pk: -of_passage[pk])


def test_a_cross_encoder_that_is_not_there_leaves_the_built_in_order() -> None:
    ranked = rerank("how many sets?", RANKED, CrossEncoderReranker("/nowhere/at-all"))

    assert [c.passage for c in ranked] == PASSAGES
    effects = {c.because[-1].effect for c in ranked}
    assert effects <= {"could not be loaded", "not in time"}
    assert len(effects) == 1


def test_a_cross_encoder_that_takes_too_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = threading.Event()

    class Slow:
        def predict(self, pairs: list[Any], **_: Any) -> list[float]:
            waiting.wait(20)
            return [0.0] * len(pairs)

    reranker = CrossEncoderReranker("slow")
    monkeypatch.setattr(reranker, "_encoder", Slow)

    with pytest.raises(RerankerFailed, match="not in time"):
        reranker.scores("how many sets?", PASSAGES, seconds=0.05)
    waiting.set()


@pytest.fixture
def reranker(httpserver: HTTPServer) -> ModelReranker:
    return ModelReranker(ModelServer(ServerSettings(model="test", api_key="k", base_url=httpserver.url_for("/v1"))))


def serve(httpserver: HTTPServer, content: str | None) -> None:
    httpserver.expect_request("/v1/chat/completions").respond_with_json(completion(content))


def marks(**given: float) -> str:
    return json.dumps({"marks": [{"label": label, "mark": mark} for label, mark in given.items()]})


def test_the_marks_of_a_model_order_the_passages(httpserver: HTTPServer, reranker: ModelReranker) -> None:
    serve(httpserver, marks(p3=99, p1=4, p2=-5, p9=10))  # held to their scale, and to what was sent

    assert list(reranker.scores("how many sets?", PASSAGES, seconds=30)) == [4.0, 0.0, 10.0]
    sent = httpserver.log[0][0].get_json()["messages"]
    material = json.loads(sent[1]["content"])
    assert material["question"] == "how many sets?"
    assert [row["label"] for row in material["passages"]] == ["p1", "p2", "p3"]
    assert "Creatine" not in sent[0]["content"]


@pytest.mark.parametrize(
    "content", [None, "p1, p2", "[]", '{"marks": 3}', '{"marks": [{"label": "p9", "mark": 1}]}', '{"marks": [{"label": "p1", "mark": NaN}]}']
)  # fmt: skip
def test_a_reply_without_order_fails(httpserver: HTTPServer, reranker: ModelReranker, content: str | None) -> None:
    serve(httpserver, content)

    with pytest.raises(RerankerFailed, match="no order that can be read"):
        reranker.scores("how many sets?", PASSAGES, seconds=30)


def test_slow_servers_are_left(
    httpserver: HTTPServer, reranker: ModelReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = threading.Event()

    def wait(_: Request) -> Response:
        waiting.wait(20)
        return Response(status=503)

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(wait)
    with pytest.raises(RerankerFailed, match="not in time"):
        reranker.scores("how many sets?", PASSAGES, seconds=0.1)
    waiting.set()
    assert [c.passage for c in rerank("how many sets?", RANKED, reranker)] == PASSAGES


def test_what_is_configured_is_made_once_from_the_settings(settings: Any) -> None:
    assert answering.reranker() is None

    settings.INFORM_RERANKER = "cross-encoder: /some/folder"
    assert isinstance(answering.reranker(), CrossEncoderReranker)
    assert answering.reranker() is answering.reranker()

    settings.INFORM_RERANKER, settings.OPENAI_MODEL, settings.OPENAI_API_KEY = "llm", "test", "k"
    assert isinstance(answering.reranker(), ModelReranker)
