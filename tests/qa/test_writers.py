"""Who writes, as the site is set up: with the database and a model's server."""

import json
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from qa_app.answers import answering, asking, replaying
from qa_app.models import Answer, ModelSpend
from tests.builders import make_curator, make_finding, make_study
from tests.corpus.test_admin import form_of
from tests.doubles.model_server import ModelDouble
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")

SetUp = Callable[..., None]


@pytest.fixture
def set_up(settings: Settings, double: ModelDouble) -> Iterator[SetUp]:
    """Gives the site a language model that behaves as named, and further settings."""

    def change(behaviour: str, **changes: Any) -> None:
        named = {"OPENAI_MODEL": behaviour, "OPENAI_BASE_URL": double.base_url} | changes
        for name, value in named.items():
            setattr(settings, name, value)

    yield change
    answering._model_server.cache_clear()


def page(client: Client, answer: dict[str, Any]) -> str:
    return " ".join(client.get(answer["url"]).content.decode().split())


def test_a_model_that_is_set_up_writes_unless_another_is_chosen(set_up: SetUp, client: Client) -> None:
    set_up("good")
    body = {"question": ASKED, "writer": "llm"}
    out = StringIO()

    answer = asking.ask(question=ASKED)
    sent = client.post("/api/v1/answers", json.dumps(body), content_type="application/json").json()
    call_command("ask", ASKED, "--writer", "llm", "--json", stdout=out)
    quoted = asking.ask(question=ASKED, writer="extractive")

    assert (answer["generator"]["name"], answer["generator"]["model"]) == ("llm", "good")
    said = "Written by a language model from the passages, then checked sentence by sentence (good)"
    assert said in page(client, answer)
    assert sent["generator"]["name"] == json.loads(out.getvalue())["generator"]["name"] == "llm"
    assert (quoted["generator"]["name"], quoted["generator"]["fallback_from"]) == ("extractive", None)
    assert answer["headline"] == quoted["headline"]  # which no model writes


@pytest.mark.parametrize(
    ("behaviour", "reason", "words"),
    [(None, "not_configured", "No language model is set up here"),
     ("500", "unavailable", "The language model did not answer, so the passages were quoted instead"),
     ("stream_cut_early", "unavailable", "The language model did not answer, so the passages were quoted instead"),
     ("general_knowledge", "unverified", "could not be verified, so the passages were quoted instead")],
)  # fmt: skip
def test_the_page_says_who_wrote(set_up: SetUp, client: Client, behaviour: str | None, reason: str, words: str) -> None:
    if behaviour:
        set_up(behaviour)

    answer = asking.ask(question=ASKED, writer="llm")

    generator = answer["generator"]
    assert [generator[name] for name in ("name", "fallback_from", "fallback_reason")] == ["extractive", "llm", reason]
    assert words in page(client, answer)


def test_a_model_that_finds_nothing_twice_refuses_and_the_page_says_so(set_up: SetUp, client: Client) -> None:
    set_up("not_found")

    answer = asking.ask(question=ASKED)
    told = page(client, answer)

    assert (answer["outcome"], answer["code"], answer["headline"]) == ("insufficient_evidence", "RAG_NO_ANSWER", None)
    assert "A language model read the passages of the studies twice and found no answer" in told
    assert answer["evidence"][0]["title"] in told
    assert answer["generator"]["tokens"] == 4 * 1200
    answering._model_server.cache_clear()
    assert replaying.replay(answer["id"]).is_same


def test_tokens_and_cost_are_kept_and_counted(set_up: SetUp) -> None:
    set_up("good", OPENAI_PRICE_PROMPT=0.5, OPENAI_PRICE_REPLY=1.0, OPENAI_DAILY_LIMIT=100.0)

    generator = asking.ask(question=ASKED)["generator"]

    assert generator["tokens"] == 2 * 1200
    assert generator["cost"] == pytest.approx(2 * (1000 / 1000 * 0.5 + 200 / 1000 * 1.0))
    assert float(ModelSpend.objects.get().cost) == pytest.approx(generator["cost"])


def test_at_the_days_limit_the_extractive_writer_answers(set_up: SetUp, double: ModelDouble, client: Client) -> None:
    set_up("good", OPENAI_PRICE_PROMPT=1.0, OPENAI_PRICE_REPLY=1.0, OPENAI_DAILY_LIMIT=0.001)
    double.asked.clear()

    answer = asking.ask(question=ASKED, writer="llm")

    assert answer["outcome"] == "answered"
    assert (answer["generator"]["name"], answer["generator"]["fallback_reason"]) == ("extractive", "spend_limit")
    assert double.asked == []
    assert "The day&#x27;s limit for the language model is reached" in page(client, answer)


@pytest.mark.parametrize("behaviour", ["good", "obeys", "not_found,good", "500", "stream_cut"])
def test_what_was_received_is_kept_and_can_be_made_again(set_up: SetUp, behaviour: str) -> None:
    set_up(behaviour)

    answer = asking.ask(question=ASKED)

    drafts = Answer.objects.get(pk=answer["id"]).drafts
    assert drafts[0]["writer"] == "llm"
    assert all(len(d["verdicts"]) == len(d["summary"]) + len(d["answer"]) for d in drafts)
    assert all(
        d["failure"] or d["writer"] == "extractive" or set(d["received"]) == {"summary", "answer"} for d in drafts
    )
    answering._model_server.cache_clear()
    replayed = replaying.replay(answer["id"])
    assert replayed.is_same, replayed.differences


def test_one_breaker_serves_the_process_and_readiness_says_who_writes(set_up: SetUp, client: Client) -> None:
    assert client.get("/readyz").json()["writer"] == {"name": "extractive", "model": None, "circuit": None}
    set_up("401", OPENAI_API_KEY="sk-secret", OPENAI_BREAKER_FAILURES=2)

    reasons = [asking.ask(question=ASKED)["generator"]["fallback_reason"] for _ in range(3)]

    assert reasons == ["unavailable"] * 2 + ["circuit_open"]
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["writer"]) == (200, {"name": "llm", "model": "401", "circuit": "open"})
    assert "sk-secret" not in ready.content.decode()


STATEMENT = "Creatine did not increase sprint speed in 40 women (SMD 0.10, 95% CI −0.20 to 0.40)."
PLAIN = "In a trial of 40 women, taking creatine did not increase how fast they could sprint."
PROPOSED = {
    PLAIN.replace("40", "400"): "a figure that", PLAIN.replace("did not increase", "increased"): "denies",
    PLAIN.replace("increase", "reduce"): "direction", PLAIN.replace("women", "men"): "people", "": "nothing that can",
    PLAIN: "",
}  # fmt: skip


def test_a_model_proposes_plain_words_that_a_person_takes_over(
    set_up: SetUp, double: ModelDouble, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(texts=("In this trial of 40 women creatine did not increase sprint speed.",), status="draft")
    finding = make_finding(study, statement=STATEMENT, intervention="creatine", outcome="sprint speed")
    client.force_login(make_curator())
    url = f"/admin/corpus_app/study/{study.pk}/change/"
    assert "Propose plain words" not in client.get(url).content.decode()
    set_up("finding_words")
    posted = form_of(client, url) | {"takeaway": "Typed, not saved.", "_propose": str(finding.pk)}

    for sentence, fault in PROPOSED.items():
        questions = ["Does creatine make women sprint faster?", "Do 12 weeks help?", "No question"] if sentence else []
        reply = json.dumps({"plain": sentence, "questions": questions})
        monkeypatch.setattr(double, "otherwise", lambda asked, reply=reply: reply)
        shown = client.post(url, posted).content.decode()
        assert "Typed, not saved." in shown
        assert (f'value="{PLAIN}"' in shown) is (not fault)
        assert fault in shown
        assert ("Questions left out, for they are none or have figures of their own: 2." in shown) is bool(sentence)
    taken = posted | {"_take": "findings-0-plain", "proposed-findings-0-plain": PLAIN}
    assert f">\n{PLAIN}</textarea>" in client.post(url, taken).content.decode()
    finding.refresh_from_db()
    assert (finding.plain, finding.study.takeaway) == ("", "")
