"""From the pipeline to stored rows: what is written, by whom, and what happens when a source goes meanwhile."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test import Client

from corpus_app import curation, embedding, search
from qa_app.answers import answering, asking
from qa_app.answers.payload import Payload
from qa_app.models import Answer, AnswerCitation, AnswerSentence
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.ports import WriterFailed
from qa_app.pipeline.records import Draft, DraftSentence, Evidence, Generator
from qa_app.pipeline.writer import ExtractiveWriter
from tests.fakes import WordHashEncoder
from tests.qa.conftest import ASKED, PLAIN_SETS, SETS

pytestmark = pytest.mark.usefixtures("library")

WORDS = f"{PLAIN_SETS} {SETS}"
"""Everything that T-SETS says of the question."""


class ScriptedModel:
    """In the model's place: says what it was told to about the first passage, or fails."""

    name = "llm"

    def __init__(self, *texts: str) -> None:
        self._texts = texts

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        if not self._texts:
            raise WriterFailed("The language model did not answer.")
        first = evidence.passages[0].passage.passage_id
        drafted = tuple(DraftSentence(text, (first,)) for text in self._texts)
        return Draft(drafted, drafted), Generator(self.name, "1", "scripted")


def ask_with_model(monkeypatch: pytest.MonkeyPatch, *texts: str) -> Payload:
    monkeypatch.setattr(answering, "writers", lambda *wanted, **ways: (ScriptedModel(*texts), ExtractiveWriter()))
    body = asking.ask(question=ASKED)
    assert asking.find_answer(body["id"]) == body
    return body


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


def test_an_answer_is_stored_with_every_figure_that_steered_it() -> None:
    row = Answer.objects.get(pk=asking.ask(question=ASKED, mode="intermediate")["id"])

    assert row.policy.values == json.loads(json.dumps(answering.POLICY.values()))
    assert row.policy_id == row.payload["policy"] == answering.POLICY.label
    assert (row.mode, row.outcome, row.corpus_version) == ("intermediate", "answered", search.corpus_version())


def test_a_refusal_is_stored_without_sentences() -> None:
    for question in ("What is the best pizza in Naples?", "does a sauna cure gout?"):
        body = asking.ask(question=question, writer="llm")
        assert Answer.objects.filter(pk=body["id"]).exists()
        assert body["generator"]["fallback_from"] is None
    assert not AnswerSentence.objects.exists()


def test_without_a_model_the_extractive_writer_writes_and_says_for_whom() -> None:
    for writer, fallback_from in (("auto", None), ("extractive", None), ("llm", "llm")):
        body = asking.ask(question=ASKED, writer=writer)
        told = [body["generator"][name] for name in ("name", "model", "fallback_from")]
        assert told == ["extractive", None, fallback_from]
        times = body["timings_ms"]
        measured = [spent for spent in times.values() if spent is not None]
        assert min(measured) >= 0
        assert sum(measured) - times["total"] <= times["total"] + 0.1


def test_a_model_that_quotes_is_published_and_one_that_fails_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    quoted = ask_with_model(monkeypatch, "Few sets still build muscle.")
    failed = ask_with_model(monkeypatch)

    assert quoted["generator"]["name"] == "llm"
    assert quoted["summary"]["text"] == "Few sets still build muscle [1]."
    assert (failed["outcome"], failed["generator"]["fallback_from"]) == ("answered", "llm")


def test_what_a_model_makes_up_is_never_published(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (
        "Sets cure everything.",
        "Few sets still build muscle [9].",
        "still build muscle.",
        "<script>alert(1)</script>",
        "![x](https://evil.example/?q=1)",
        "half \ud800 a pair",
        "nothing \0 at all",
    ):
        body = ask_with_model(monkeypatch, text)

        assert body["generator"]["fallback_from"] == "llm"
        assert all(s["text"] in WORDS for part in ("summary", "answer") for s in body[part]["sentences"])
        fallen = [entry for entry in body["left_out"] if entry["what"] == "sentence"]
        assert [entry["text"] for entry in fallen] == [text.replace("\0", "\ufffd").replace("\ud800", "?")] * 2
        assert all(entry["reason"] == "unsupported" or entry["reason"].endswith("_mismatch") for entry in fallen)


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


@pytest.mark.usefixtures("transactional_db")
def test_a_question_is_read_from_one_version_and_writes_nothing_meanwhile() -> None:
    with search.snapshot(), connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')")
        assert cursor.fetchone() == ("repeatable read", "on")

    assert asking.ask(question=ASKED)["corpus_version"] == search.corpus_version()


def test_an_encoder_that_nothing_was_fitted_for_is_told_to_whoever_runs_the_site(client: Client) -> None:
    assert client.get("/readyz").json()["calibration"] is None

    with embedding.use(WordHashEncoder("other@test")):
        assert "calibrate" in client.get("/readyz").json()["calibration"]
