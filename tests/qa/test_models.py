"""Rows of answers: written once, packed without loss, under constraints of the database."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from qa_app.answers import packing, storing
from qa_app.models import Answer, AnswerCitation, AnswerSentence
from tests.builders import make_policy
from tests.qa.answers import store_answer
from tests.qa.payloads import QUOTE, make_citation, make_evidence, make_payload, make_refusal, make_sentence

pytestmark = pytest.mark.django_db


def make_answer(**changes: Any) -> Answer:
    fields: dict[str, Any] = {
        "id": "one", "request_id": uuid4(), "question": "How many sets?", "mode": "beginner", "outcome": "answered",
        "corpus_version": 1, "policy": make_policy(), "payload": {}, "created_at": datetime(2026, 3, 1, tzinfo=UTC),
    }  # fmt: skip
    return Answer.objects.create(**(fields | changes))


def sentence_row(answer: Answer, **changes: Any) -> AnswerSentence:
    fields = {"part": "summary", "position": 0, "text": "Ten.", "kind": "quote", "verdict": "verbatim"} | changes
    return AnswerSentence.objects.create(answer=answer, **fields)


def citation_row(sentence: AnswerSentence, **changes: Any) -> AnswerCitation:
    fields: dict[str, Any] = {
        "index": 1, "study_key": "S018", "passage_key": 7, "passage_version": 1, "start": 0, "end": 4, "quote": "Ten.",
    }  # fmt: skip
    return AnswerCitation.objects.create(sentence=sentence, **(fields | changes))


BREAKS: dict[str, Any] = {
    "answer_mode_known": lambda answer: make_answer(id="two", mode="expert"),
    "answer_outcome_known": lambda answer: make_answer(id="two", outcome="perhaps"),
    "answer_sentence_once": lambda answer: [sentence_row(answer) for _ in range(2)],
    "citation_span_not_empty": lambda answer: citation_row(sentence_row(answer), start=4, end=4),
    "citation_index_from_one": lambda answer: citation_row(sentence_row(answer), index=0),
}


@pytest.mark.parametrize("constraint", BREAKS)
def test_the_database_refuses(constraint: str) -> None:
    answer = make_answer()
    named = {c.name for model in (Answer, AnswerSentence, AnswerCitation) for c in model._meta.constraints}

    with pytest.raises(IntegrityError, match="constraint"), transaction.atomic():
        BREAKS[constraint](answer)

    assert named <= set(BREAKS)
    assert Answer.objects.count() == 1
    assert not AnswerCitation.objects.exists()


def test_an_answer_is_written_once_and_outlives_its_parent() -> None:
    answer = make_answer()
    citation_row(sentence_row(answer))
    make_answer(id="two", parent=answer)
    answer.question = "Something else?"

    told = [str(row) for row in (answer, AnswerSentence.objects.get(), AnswerCitation.objects.get())]
    assert told == ["Something else?", "Ten.", "[1] Ten."]
    with pytest.raises(TypeError, match="written once"):
        answer.save()
    assert Answer.objects.get(pk="one").question == "How many sets?"

    Answer.objects.filter(pk="one").delete()
    assert Answer.objects.get(pk="two").parent is None
    assert not AnswerSentence.objects.exists()
    assert not AnswerCitation.objects.exists()


words = st.sampled_from(["", "+", "section", "Ünïcode 💪", "same"])
any_rows = st.lists(
    st.dictionaries(st.sampled_from("abcd"), st.one_of(st.none(), st.booleans(), st.integers(), words, st.lists(words)))
)


COUNTED = [
    make_sentence(make_evidence(1), QUOTE, text="Counted.", support=[{"study_id": "T001", "finding_ids": [3]}]),
    make_sentence(make_evidence(99), QUOTE),
]


def and_back(body: dict[str, Any]) -> dict[str, Any]:
    packed, passages = packing.pack(body)
    return packing.unpack(json.loads(json.dumps(packed)), passages)


@pytest.mark.parametrize("body", [
    make_payload(), make_refusal(), make_payload(evidence=[], left_out=[]),
    make_payload(summary={"text": "Not what the sentences say.", "sentences": []}),
    make_payload(headline=make_sentence(make_evidence(1), QUOTE) | {"verdict": "yes"}),
    make_payload(answer={"text": "Counted [1].", "sentences": COUNTED}, citations=[make_citation(1)]),
])  # fmt: skip
def test_a_payload_comes_back_as_it_was(body: dict[str, Any]) -> None:
    assert and_back(body) == body
    assert packing.unpack(body, {}) == body  # what was never packed stays as it is


@given(left_out=any_rows, because=any_rows)
def test_rows_of_any_kind_come_back_as_they_were(left_out: list[Any], because: list[Any]) -> None:
    body = make_payload(left_out=left_out, evidence=[make_evidence(1, because=because), make_evidence(2, because=[])])

    assert and_back(body) == body


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("library")
def test_releases_read_what_each_other_stored() -> None:
    body = store_answer()
    figures = Answer.objects.get(pk=body["id"]).policy.values

    call_command("migrate", "qa_app", "0016", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT payload, policy FROM qa_app_answer WHERE id = %s", [body["id"]])
        payload, policy = (json.loads(value) if isinstance(value, str) else value for value in cursor.fetchone())
    call_command("migrate", "qa_app", verbosity=0)

    assert (payload["evidence"], payload["summary"]) == (body["evidence"], body["summary"])
    assert policy == figures
    row = Answer.objects.get(pk=body["id"])
    assert (row.policy_id, row.policy.values) == (body["policy"], figures)
    assert storing.restore_payload(row.payload) == body
