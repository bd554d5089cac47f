"""Policies, passages and repeated words are stored once; what a client reads is the same to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.models import Passage
from qa_app.answers import asking, bundles, packing, storing
from qa_app.models import Answer, StoredPassage, StoredPolicy
from tests.qa.answers import store_answer
from tests.qa.payloads import QUOTE, make_citation, make_evidence, make_payload, make_refusal, make_sentence

LARGEST = 12_000  # bytes of an answer's row, which shares nothing with others
words = st.sampled_from(["", "+", "section", "Ünïcode 💪", "same"])
rows = st.lists(
    st.dictionaries(st.sampled_from("abcd"), st.one_of(st.none(), st.booleans(), st.integers(), words, st.lists(words)))
)


def and_back(body: dict[str, Any]) -> dict[str, Any]:
    packed, passages = packing.pack(body)
    return packing.unpack(json.loads(json.dumps(packed)), passages)


@pytest.mark.parametrize(
    "body",
    [
        make_payload(),
        make_refusal(),
        make_payload(evidence=[], left_out=[]),
        make_payload(summary={"text": "Not what the sentences say.", "sentences": []}),
        make_payload(headline=make_sentence(make_evidence(1), QUOTE) | {"verdict": "yes"}),
        make_payload(
            answer={
                "text": "Counted [1].",
                "sentences": [
                    make_sentence(make_evidence(1), QUOTE, text="Counted.", support=[{"study_id": "T001", "finding_ids": [3]}]),
                    make_sentence(make_evidence(99), QUOTE),
                ],
            },
            citations=[make_citation(1)],
        ),
    ],
)  # fmt: skip
def test_a_payload_comes_back_as_it_was(body: dict[str, Any]) -> None:
    assert and_back(body) == body
    assert packing.unpack(body, {}) == body  # what was never packed stays as it is


@given(left_out=rows, because=rows)
def test_rows_of_any_kind_come_back_as_they_were(left_out: list[Any], because: list[Any]) -> None:
    body = make_payload(left_out=left_out, evidence=[make_evidence(1, because=because), make_evidence(2, because=[])])

    assert and_back(body) == body


@pytest.mark.usefixtures("library")
def test_an_answer_takes_little_room_and_reads_as_it_was_given() -> None:
    body = store_answer()
    shared = StoredPolicy.objects.count(), StoredPassage.objects.count()
    store_answer()

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_column_size(a.*) FROM qa_app_answer a WHERE id = %s", [body["id"]])
        (size,) = cursor.fetchone()
    stored = Answer.objects.get(pk=body["id"])
    (draft,) = storing.restore_drafts(stored)

    assert size < LARGEST
    assert (StoredPolicy.objects.count(), StoredPassage.objects.count()) == shared
    assert body["evidence"][0]["text"] not in json.dumps([stored.payload, stored.drafts], ensure_ascii=False)
    assert storing.restore_payload(stored.payload) == body
    assert [s["text"] for s in draft["summary"]] == [s["text"] for s in body["summary"]["sentences"]]
    assert all("text" not in s for s in stored.drafts[0]["summary"])


@pytest.mark.usefixtures("library")
def test_words_outlive_the_passage_they_were_quoted_from() -> None:
    body = store_answer()
    Passage.objects.filter(pk=body["evidence"][0]["passage_id"]).update(text="Other words.", version=2)

    kept = asking.find_answer(body["id"])

    assert kept
    assert [row["text"] for row in kept["evidence"]] == [row["text"] for row in body["evidence"]]
    assert kept["summary"] == body["summary"]
    assert bundles.bundle(body["id"])


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("library")
def test_the_release_before_reads_what_this_one_stored_and_the_other_way_round() -> None:
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
