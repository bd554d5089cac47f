"""A question about the corpus itself gets a stored answer like any other: counted, cited, and true to what is public."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from corpus_app import curation
from qa_app.answers import asking, replaying
from tests.qa.conftest import DRAFT

pytestmark = pytest.mark.usefixtures("library")

ALL = "What is in this corpus?"
VOLUME = "Which studies on training volume do you have?"


def test_it_is_answered_from_the_rows_and_can_be_made_again() -> None:
    body = asking.ask(question=ALL)
    replay = replaying.replay(body["id"])

    assert (body["outcome"], body["generator"]["name"]) == ("answered", "counted")
    assert body["summary"]["sentences"][0]["text"] == "There are 2 published studies here."
    assert {row["study_id"] for row in body["citations"]} == {"T-SETS", "T-PROTEIN"}
    assert {(row["kind"], row["verdict"]) for row in body["summary"]["sentences"]} == {("count", "counted")}
    assert body["summary"]["sentences"][0]["support"] == [{"finding_ids": [], "study_ids": ["T-PROTEIN", "T-SETS"]}]
    assert (body["evidence"], body["overview"]["total"]) == ([], 2)
    assert body["confidence"] is None, "what is counted is no estimate"
    assert not [word for word in (DRAFT, "anary") if word in str(body)]
    assert replay is not None
    assert replay.is_same


def test_a_topic_and_a_collection_narrow_it() -> None:
    none = asking.ask(question="How many studies on sauna do you have?")

    assert [row["study_id"] for row in asking.ask(question=VOLUME)["citations"]] == ["T-SETS"]
    assert [row["study_id"] for row in asking.ask(question=ALL, collection="nutrition")["citations"]] == ["T-PROTEIN"]
    assert (none["overview"]["total"], none["citations"]) == (0, [])


def test_of_a_withdrawn_study_nothing_remains_but_the_count() -> None:
    body = asking.ask(question=ALL)
    title = next(row["title"] for row in body["citations"] if row["study_id"] == "T-SETS")
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="a mistake")

    now = asking.find_answer(body["id"])

    assert now is not None
    assert title not in str({name: now[name] for name in ("summary", "answer", "citations")})
    assert now["summary"]["sentences"][0]["text"] == "There are 2 published studies here."
    assert now["summary"]["sentences"][0]["support"][0]["study_ids"] == ["T-PROTEIN"]


def test_its_page_counts_draws_and_leads_to_the_studies(client: Client) -> None:
    body = asking.ask(question=VOLUME)

    html = client.get(body["url"]).content.decode()

    assert "1 published study here is about training volume." in html
    shown = re.sub(r"<template.*?</template>", "", html, flags=re.DOTALL)
    for words in ("Every sentence quotes a passage", "Ask for more detail", "Compare with the answer"):
        assert words not in shown
    assert '<a href="/corpus/?topic=training-volume">See it in the corpus</a>' in html
    assert "1 study" in client.get("/corpus/?topic=training-volume").content.decode()
    assert 'class="confidence' not in html
    assert client.get(f"{body['url']}citations/answer/1/1/").status_code == 200
