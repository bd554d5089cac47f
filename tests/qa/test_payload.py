"""The answer as clients see it: every field of the contract, and nothing that pretends support, in every outcome."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from qa_app.answers import asking, payload
from qa_app.pipeline.citations import parse_markers
from qa_app.pipeline.records import Outcome
from tests.pipeline.values import make_study
from tests.qa.answers import store_answer
from tests.qa.conftest import ASKED, DRAFT

pytestmark = pytest.mark.usefixtures("library")

DOCS = Path(__file__).resolve().parents[2] / "docs"
OUTCOMES = {
    Outcome.ANSWERED: ASKED,
    Outcome.INSUFFICIENT_EVIDENCE: "does a sauna cure gout?",
    Outcome.OUT_OF_SCOPE: "What is the best pizza in Naples?",
    Outcome.GUARDRAIL: "I get chest pain when I lift, should I do more sets?",
}


def sentences(body: payload.Payload) -> list[dict[str, Any]]:
    return [*body["summary"]["sentences"], *body["answer"]["sentences"]]


@pytest.fixture
def answered() -> payload.Payload:
    return asking.ask(question=ASKED)


def test_the_payload_of_a_full_answer_has_the_fields_of_schema_and_contract() -> None:
    body = json.loads(json.dumps(store_answer()))
    schemas = yaml.safe_load((DOCS / "openapi.yaml").read_text(encoding="utf-8"))["components"]["schemas"]
    closed = {n: s | {"additionalProperties": False} if s.get("type") == "object" else s for n, s in schemas.items()}
    answer = {"$ref": "#/components/schemas/Answer", "components": {"schemas": closed}}
    contract = (DOCS / "contract.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| field \|.*?\n\n", contract, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| ([\w, \[\]]+) \|", table, re.MULTILINE)
    fields = {name.removesuffix("[]") for row in rows for name in row.split(", ")}

    assert [(error.json_path, error.message) for error in Draft202012Validator(answer).iter_errors(body)] == []
    assert fields - {"field", "sentences", "verdict", "support"} == set(body) - {"parent"}


def test_a_refusal_says_why_and_carries_nothing_that_pretends_support() -> None:
    for outcome, question in OUTCOMES.items():
        body = asking.ask(question=question)

        assert (body["outcome"], body["code"]) == (outcome, outcome.code)
        assert bool(body["message"]) == (body["confidence"] is None) == (not outcome.is_answer)
        assert bool(body["citations"]) == bool(sentences(body)) == outcome.is_answer
        shows_passages = outcome in {Outcome.ANSWERED, Outcome.INSUFFICIENT_EVIDENCE}
        assert bool(body["evidence"]) == shows_passages
        if not outcome.is_answer:
            assert body["summary"] == body["answer"] == {"text": "", "sentences": []}


def test_every_quote_is_the_passages_text_between_its_ends(answered: payload.Payload) -> None:
    texts = {entry["passage_id"]: entry["text"] for entry in answered["evidence"]}

    spans = [span for sentence in sentences(answered) for span in sentence["support"]]

    assert spans
    assert all(texts[s["passage_id"]][s["start"] : s["end"]] == s["quote"] for s in spans)


def test_citations_and_sentences_point_at_each_other(answered: payload.Payload) -> None:
    index_of = {citation["study_id"]: citation["index"] for citation in answered["citations"]}

    used = [n for sentence in sentences(answered) for n in sentence["citations"]]

    assert list(dict.fromkeys(used)) == list(index_of.values()) == list(range(1, len(index_of) + 1))
    for sentence in sentences(answered):
        assert sorted(sentence["citations"]) == sorted({index_of[s["study_id"]] for s in sentence["support"]})
    for part in ("summary", "answer"):
        text, numbers = parse_markers(answered[part]["text"])
        assert text.split() == " ".join(s["text"] for s in answered[part]["sentences"]).split()
        assert set(numbers) == {n for s in answered[part]["sentences"] for n in s["citations"]}


def test_evidence_is_in_rank_order_and_its_highlights_are_words_of_the_question(answered: payload.Payload) -> None:
    first, *_ = answered["evidence"]

    assert [entry["rank"] for entry in answered["evidence"]] == list(range(1, len(answered["evidence"]) + 1))
    assert first["distance"] == pytest.approx(1 - first["dense_score"])
    marked = {e["text"][a:b].lower() for e in answered["evidence"] for a, b in e["highlights"]}
    assert {"weekly", "sets", "muscle", "growth"} <= marked
    assert 0 <= answered["confidence"]["score"] <= 100


def test_the_address_ends_in_an_id_of_128_random_bits_or_more(answered: payload.Payload) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{23}", answered["id"])
    assert answered["url"] == f"/answers/{answered['id']}/"
    assert answered["id"] != asking.ask(question=ASKED)["id"]


def test_no_word_of_a_draft_is_in_any_answer() -> None:
    echoed = {"question", "message", "understood", "missing"}  # hold the asker's own words
    for question in (*OUTCOMES.values(), "canary"):
        asked = asking.ask(question=question)
        body = json.dumps({field: value for field, value in asked.items() if field not in echoed})

        assert "canary" not in body.lower()
        assert DRAFT not in body


@pytest.mark.parametrize(
    ("url", "doi", "expected"),
    [
        ("https://example.org/x", "10.1/x", "https://example.org/x"),
        ("javascript:alert(1)", "10.1/x", "https://doi.org/10.1/x"),
        ("data:text/html,x", None, None),
        ("JavaScript://example.org/%0aalert(1)", None, None),
        ("//example.org", None, None),
        (None, None, None),
    ],
)
def test_only_http_addresses_and_dois_become_links(url: str | None, doi: str | None, expected: str | None) -> None:
    assert payload.link(make_study(url=url, doi=doi)) == expected
