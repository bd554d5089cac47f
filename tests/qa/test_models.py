"""Rows of answers: written once, and every constraint of the database holds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from qa_app.models import Answer, AnswerCitation, AnswerSentence
from tests.builders import make_policy

pytestmark = pytest.mark.django_db


def make_answer(**changes: Any) -> Answer:
    fields: dict[str, Any] = {
        "id": "one", "request_id": uuid4(), "question": "How many sets?", "mode": "beginner", "outcome": "answered",
        "corpus_version": 1, "policy": make_policy(), "payload": {}, "created_at": datetime(2026, 3, 1, tzinfo=UTC),
    }  # fmt: skip
    return Answer.objects.create(**(fields | changes))


def make_sentence(answer: Answer, **changes: Any) -> AnswerSentence:
    fields = {"part": "summary", "position": 0, "text": "Ten.", "kind": "quote", "verdict": "verbatim"} | changes
    return AnswerSentence.objects.create(answer=answer, **fields)


def make_citation(sentence: AnswerSentence, **changes: Any) -> AnswerCitation:
    fields: dict[str, Any] = {
        "index": 1, "study_key": "S018", "passage_key": 7, "passage_version": 1, "start": 0, "end": 4, "quote": "Ten.",
    }  # fmt: skip
    return AnswerCitation.objects.create(sentence=sentence, **(fields | changes))


BREAKS: dict[str, Any] = {
    "answer_mode_known": lambda answer: make_answer(id="two", mode="expert"),
    "answer_outcome_known": lambda answer: make_answer(id="two", outcome="perhaps"),
    "answer_sentence_once": lambda answer: [make_sentence(answer) for _ in range(2)],
    "citation_span_not_empty": lambda answer: make_citation(make_sentence(answer), start=4, end=4),
    "citation_index_from_one": lambda answer: make_citation(make_sentence(answer), index=0),
    "qa_app_answer_pkey": lambda answer: make_answer(id=answer.id),
    "qa_app_answer_request_id_key": lambda answer: make_answer(id="two", request_id=answer.request_id),
    "start_check": lambda answer: make_citation(make_sentence(answer), start=-1),
    "end_check": lambda answer: make_citation(make_sentence(answer), start=-9, end=-3),
    "corpus_version_check": lambda answer: make_answer(id="two", corpus_version=-1),
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


def test_an_answer_is_written_once_outlives_its_parent_and_takes_its_rows_along() -> None:
    answer = make_answer()
    make_citation(make_sentence(answer))
    make_answer(id="two", parent=answer)
    answer.question = "Something else?"

    with pytest.raises(TypeError, match="written once"):
        answer.save()
    assert Answer.objects.get(pk="one").question == "How many sets?"

    Answer.objects.filter(pk="one").delete()
    assert Answer.objects.get(pk="two").parent is None
    assert not AnswerSentence.objects.exists()
    assert not AnswerCitation.objects.exists()
