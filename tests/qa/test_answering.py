"""From the pipeline to stored rows and to what clients see: every field, every quote, and who wrote."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone
from jsonschema import Draft202012Validator

from corpus_app import curation, embedding, indexing
from corpus_app.models import PassageVector, Study
from corpus_app.records import Direction, Finding, Lean
from inform_site.models import QueueBeat
from qa_app.answers import answering, asking, payload
from qa_app.answers.payload import Payload
from qa_app.models import Answer, AnswerCitation
from qa_app.pipeline.citations import parse_markers
from qa_app.pipeline.records import Agreement, Answered, LeftOut, LeftOutReason, Outcome, StudyLean
from tests.fakes import WordHashEncoder
from tests.pipeline.values import make_concept, make_study
from tests.qa.answers import make_answer, store_answer
from tests.qa.conftest import ASKED, PLAIN_SETS, SETS

pytestmark = pytest.mark.usefixtures("library")

WORDS = f"{PLAIN_SETS} {SETS}"
"""Everything that T-SETS says of the question."""


def test_every_sentence_and_span_of_the_payload_is_a_row() -> None:
    body = asking.ask(question=ASKED)

    parts = {part: body[part]["sentences"] for part in ("answer", "summary")}
    parts["headline"] = [body["headline"] | {"verdict": "verbatim"}]
    told = [
        (part, n, s["text"], s["verdict"], c["passage_id"], c["passage_version"], c["start"], c["end"], c["quote"])
        for part, sentences in parts.items()
        for n, s in enumerate(sentences)
        for c in s["support"]
    ]
    rows = AnswerCitation.objects.values_list(
        "sentence__part", "sentence__position", "sentence__text", "sentence__verdict",
        "passage_id", "passage_version", "start", "end", "quote",
    )  # fmt: skip
    assert sorted(rows) == sorted(told)


def test_a_source_deleted_before_storing_keeps_its_words_without_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    make = answering.make

    def deleted_meanwhile(*arguments: Any, **options: Any) -> Any:
        made = make(*arguments, **options)
        curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="faulty")
        curation.delete_study("T-SETS", by=None, by_name="tests")
        return made

    monkeypatch.setattr(answering, "make", deleted_meanwhile)

    asking.ask(question=ASKED)

    stored = AnswerCitation.objects.all()
    assert {(c.study_id, c.passage_id, c.study_key) for c in stored} == {(None, None, "T-SETS")}
    assert all(c.quote in WORDS for c in stored)


def test_a_source_deleted_while_storing_is_left_out_of_a_second_try(monkeypatch: pytest.MonkeyPatch) -> None:
    store = answering.store

    def fails_once(*arguments: Any, **options: Any) -> Payload:
        monkeypatch.setattr(answering, "store", store)
        raise IntegrityError

    monkeypatch.setattr(answering, "store", fails_once)

    assert asking.ask(question=ASKED)["outcome"] == "answered"
    assert Answer.objects.count() == 1


def test_readiness_says_when_no_model_was_fitted_for_the_encoder(client: Client) -> None:
    assert client.get("/readyz").json()["calibration"] is None

    with embedding.use(WordHashEncoder("other@test")):
        assert "calibrate" in client.get("/readyz").json()["calibration"]


def test_readiness_names_what_is_late_and_stays_ready(client: Client) -> None:
    now = timezone.now()
    QueueBeat.objects.bulk_create(QueueBeat(queue=queue.name, beat_at=now) for queue in settings.QUEUES)
    assert client.get("/readyz").json()["delays"] == []

    QueueBeat.objects.filter(queue="imports").update(beat_at=now - timedelta(hours=1))
    QueueBeat.objects.filter(queue="index").update(unindexed=2)

    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json()["delays"] == [
        "2 published passages have had no vector for more than 5 minutes; they are found by their words alone.",
        "The queue “imports” has had nothing done for 60 minutes.",
    ]


def test_late_are_published_passages_that_no_encoder_has_embedded() -> None:
    later = timezone.now() + timedelta(hours=1)
    assert indexing.count_late(later) == 0

    PassageVector.objects.all().delete()
    Study.objects.update(indexed_by="")

    assert indexing.count_late(later) > 0
    assert indexing.count_late(timezone.now() - timedelta(hours=1)) == 0


DOCS = Path(__file__).resolve().parents[2] / "docs"
OUTCOMES = {
    Outcome.ANSWERED: ASKED,
    Outcome.INSUFFICIENT_EVIDENCE: "does a sauna cure gout?",
    Outcome.OUT_OF_SCOPE: "What is the best pizza in Naples?",
    Outcome.GUARDRAIL: "I get chest pain when I lift, should I do more sets?",
}


def sentences(body: payload.Payload) -> list[dict[str, Any]]:
    return [*body["summary"]["sentences"], *body["answer"]["sentences"]]


def test_the_payload_has_the_fields_of_schema_and_contract() -> None:
    made = make_answer()
    assert isinstance(made, Answered)
    left_out = LeftOut("passage", LeftOutReason.DUPLICATE_LOCATION, "", passage_id=1, study_id="T-PROTEIN")
    finding = Finding("ten", "five", "growth", Direction.INCREASE, "Ten beat five.", 7, "T-SETS", lean=Lean.YES)
    evidence = replace(
        made.evidence, agreement=Agreement(make_concept("growth"), None, (StudyLean((finding,), Lean.YES),))
    )
    body = json.loads(json.dumps(store_answer(left_out=(left_out,), evidence=evidence)))
    schemas = yaml.safe_load((DOCS / "openapi.yaml").read_text(encoding="utf-8"))["components"]["schemas"]
    closed = {n: s | {"additionalProperties": False} if s.get("type") == "object" else s for n, s in schemas.items()}
    answer = {"$ref": "#/components/schemas/Answer", "components": {"schemas": closed}}
    contract = (DOCS / "contract.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| field \|.*?\n\n", contract, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| ([\w, \[\]]+) \|", table, re.MULTILINE)
    fields = {name.removesuffix("[]") for row in rows for name in row.split(", ")}

    assert [(error.json_path, error.message) for error in Draft202012Validator(answer).iter_errors(body)] == []
    assert fields - {"field", "sentences", "verdict", "support"} == set(body)


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
            assert not Answer.objects.get(pk=body["id"]).sentences.exists()


def test_quotes_citations_and_evidence_agree() -> None:
    answered = asking.ask(question=ASKED)
    first, *_ = answered["evidence"]
    texts = {entry["passage_id"]: entry["text"] for entry in answered["evidence"]}
    spans = [span for sentence in sentences(answered) for span in sentence["support"]]
    index_of = {citation["study_id"]: citation["index"] for citation in answered["citations"]}
    used = [n for sentence in sentences(answered) for n in sentence["citations"]]
    marked = {e["text"][a:b].lower() for e in answered["evidence"] for a, b in e["highlights"]}

    assert spans
    assert all(texts[s["passage_id"]][s["start"] : s["end"]] == s["quote"] for s in spans)
    assert list(dict.fromkeys(used)) == list(index_of.values()) == list(range(1, len(index_of) + 1))
    for sentence in sentences(answered):
        assert sorted(sentence["citations"]) == sorted({index_of[s["study_id"]] for s in sentence["support"]})
    for part in ("summary", "answer"):
        text, numbers = parse_markers(answered[part]["text"])
        assert text.split() == " ".join(s["text"] for s in answered[part]["sentences"]).split()
        assert set(numbers) == {n for s in answered[part]["sentences"] for n in s["citations"]}
    assert [entry["rank"] for entry in answered["evidence"]] == list(range(1, len(answered["evidence"]) + 1))
    assert first["distance"] == pytest.approx(1 - first["dense_score"])
    assert {"weekly", "sets", "muscle", "growth"} <= marked
    assert 0 <= answered["confidence"]["score"] <= 100


def test_the_address_ends_in_an_id_of_128_random_bits_or_more() -> None:
    first, second = asking.ask(question=ASKED), asking.ask(question=ASKED)

    assert re.fullmatch(r"[A-Za-z0-9_-]{23}", first["id"])
    assert first["url"] == f"/answers/{first['id']}/"
    assert first["id"] != second["id"]


def test_only_http_addresses_and_dois_become_links() -> None:
    for url, doi, expected in (
        ("https://example.org/x", "10.1/x", "https://example.org/x"), ("javascript:alert(1)", "10.1/x", "https://doi.org/10.1/x"),
        ("data:text/html,x", None, None), ("JavaScript://example.org/%0aalert(1)", None, None), ("//example.org", None, None),
    ):  # fmt: skip
        assert payload.link(make_study(url=url, doi=doi)) == expected
