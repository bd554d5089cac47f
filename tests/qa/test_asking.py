"""Asking: what can be asked, what is stored, what becomes of it when the corpus changes; counts of the corpus."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from corpus_app import curation, embedding, indexing
from corpus_app.embedding import EncoderUnavailable
from corpus_app.models import Passage
from qa_app.answers import asking, redaction, replaying
from qa_app.answers.payload import Payload
from qa_app.models import Answer
from tests.builders import make_collection, make_study
from tests.qa.conftest import ASKED, DRAFT, PLAIN_SETS, SETS

pytestmark = pytest.mark.usefixtures("library")

BY: dict[str, User | str | None] = {"by": None, "by_name": "tests"}
NOW = datetime(2026, 3, 1, 12, 30, 15, 999, tzinfo=UTC)
ODD = (  # combining marks, right to left, emojis, private use, what grows when it is normalised, operators
    "e" + "\u0301" * 1_999, "\u202e\u2066 sets" * 200, "🏋🏽\u200d♀️" * 400, "\ue000\U000f0000\U000e0fff set " * 220,
    "ﷺ" * 2_000, "& | ! ( ) <-> :* ' \\ %s%(text)s \"; --" * 50, "x" * 2_000, "a " * 999 + "ab",
    "\x01\x1b[31m\x7f sets [1][2]{}<script>" * 60, "กล้ามเนื้อ肌肉 １２３٤" * 100,
)  # fmt: skip


def shown(body: Payload) -> dict[str, Any]:
    """The answer as a reader gets it now."""
    found = asking.find_answer(body["id"])
    assert found is not None
    return found


def notices(body: Payload) -> list[tuple[str | None, str]]:
    return [(notice["study_id"], notice["kind"]) for notice in shown(body)["notices"]]


def passage_of(study_id: str) -> Passage:
    return Passage.objects.get(study__study_id=study_id)


@pytest.fixture
def answered() -> Payload:
    body = asking.ask(question=ASKED, now=NOW)
    assert [c["study_id"] for c in body["citations"]] == ["T-SETS"]
    return body


def test_a_long_question_of_odd_characters_is_asked_like_any_other() -> None:
    for question in ODD:
        body = asking.ask(question=question[:2_000])
        assert shown(body)["question"] == question[:2_000].strip()
    assert asking.ask(question=" " * 500 + "x" * 2_000 + "\n" * 500)["question"] == "x" * 2_000
    headed = asking.ask(question=f"A heading without a stop on training volume {ASKED}")
    assert [row["study_id"] for row in headed["citations"]] == ["T-SETS"]


def test_a_chosen_collection_gives_way_only_to_an_answer_and_says_so() -> None:
    within = asking.ask(question="weekly sets per muscle and protein for older adults growth", collection="nutrition")
    body = asking.ask(question=ASKED, collection="nutrition")
    nowhere = asking.ask(question="does a sauna cure gout?", collection="nutrition")

    assert {entry["study_id"] for entry in within["evidence"]} == {"T-PROTEIN"}
    assert body["citations"][0]["study_id"] == "T-SETS"
    assert body["scope"] == {
        "collection": "nutrition",
        "searched": "collection_then_global",
        "detail": "This collection holds too little on the question, so all the others were searched too.",
    }
    assert not nowhere["citations"]
    assert {entry["study_id"] for entry in nowhere["evidence"]} <= {"T-PROTEIN"}
    assert "no answer either" in nowhere["scope"]["detail"]


def test_without_an_encoder_the_words_answer_and_the_failed_leg_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(*name: str) -> None:
        raise EncoderUnavailable("The weights are missing.")

    monkeypatch.setattr(embedding, "get", unavailable)

    body = asking.ask(question="Do more weekly sets per muscle build more muscle?")

    assert body["outcome"] == "answered"
    assert body["legs"]["dense"] == {"ok": False, "candidates": 0, "error": "The weights are missing."}
    assert body["legs"]["lexical"]["candidates"] >= 1
    assert [entry["dense_score"] for entry in body["evidence"]] == [None] * len(body["evidence"])
    assert "only by words" in asking.ask(question="does a sauna cure gout?")["message"]


def test_a_withdrawn_study_leaves_no_word_in_any_answer(answered: Payload) -> None:
    stored = Answer.objects.get(pk=answered["id"]).payload
    curation.withdraw(["T-SETS"], reason="faulty", **BY)

    body = shown(answered)

    kept = json.dumps(body | {"question": ""}, ensure_ascii=False)
    for words in (*SETS.split(". "), PLAIN_SETS, answered["citations"][0]["title"], "Example", "10.1000/test"):
        assert words not in kept
    assert {s["text"] for s in body["summary"]["sentences"]} == {redaction.WITHDRAWN}
    assert [body["headline"][name] for name in ("text", "verdict", "studies_for")] == [redaction.WITHDRAWN, None, None]
    assert (body["citations"][0]["status"], body["citations"][0]["index"]) == ("withdrawn", 1)
    assert ("T-SETS", "withdrawn") in notices(answered)
    assert "T-SETS" not in json.dumps(asking.ask(question=ASKED))
    assert Answer.objects.get(pk=answered["id"]).payload == stored
    curation.publish(["T-SETS"], **BY)
    assert shown(answered)["summary"] == answered["summary"]


def test_what_a_withdrawn_study_found_is_gone_from_the_agreement(answered: Payload) -> None:
    row = {"study_id": "T-SETS", "finding_id": 1, "statement": "Ten sets gave more growth."}
    kept = row | {"study_id": "T-PROTEIN", "finding_id": 2}
    sides: Payload = {"favours": [row, kept], "no_difference": [], "against": [row], "unclear": []}
    alone = {name: [r for r in rows if r is row] for name, rows in sides.items()}
    splits = [{"population": "older", **sides}, {"population": "younger", **alone}]
    curation.withdraw(["T-SETS"], reason="faulty", **BY)

    body = redaction.redact(answered | {"agreement": {"outcome_name": "growth", **sides, "by_population": splits}})

    left = {"favours": [kept], "no_difference": [], "against": [], "unclear": []}
    assert {name: body["agreement"][name] for name in left} == left
    assert body["agreement"]["by_population"] == [{"population": "older", **left}]


def test_a_marked_study_keeps_its_words_under_a_notice(answered: Payload) -> None:
    for notice in ("corrected", "expression_of_concern", "retracted"):
        curation.set_notice(["T-SETS"], notice, reason="the journal says so", **BY)

        body = shown(answered)
        assert body["summary"] == answered["summary"]
        assert (body["citations"][0]["notice"], body["citations"][0]["status"]) == (notice, "published")
        assert ("T-SETS", notice) in notices(answered)
    assert "T-SETS" not in json.dumps(asking.ask(question=ASKED))  # a retracted study answers no new question


def test_an_edited_passage_is_found_and_marked(answered: Payload) -> None:
    swings = "Ten weekly sets of kettlebell swings built more muscle than five."
    curation.revise_passage(passage_of("T-SETS").pk, text=swings, **BY)
    indexing.index_stale()

    new = asking.ask(question="do more weekly sets of kettlebell swings build more muscle?")
    old = asking.ask(question="do few sets still build muscle?")

    (sentence,) = new["answer"]["sentences"]
    assert (sentence["text"], sentence["support"][0]["passage_version"]) == (swings, 2)
    assert "Few sets" not in json.dumps(old)
    assert shown(answered)["summary"] == answered["summary"]
    assert ("T-SETS", "passage_changed") in notices(answered)


def test_a_deleted_study_stays_hidden_even_when_another_takes_its_name(answered: Payload) -> None:
    curation.withdraw(["T-SETS"], reason="faulty", **BY)
    curation.delete_study("T-SETS", **BY)
    bodies = [shown(answered)]
    other = "Something else entirely about sleep and zinc."
    make_study(study_id="T-SETS", texts=(other,), collection=make_collection())
    bodies.append(shown(answered))

    for body in bodies:
        assert not [words for words in ("Few sets", "Ten weekly sets per muscle") if words in json.dumps(body)]
        assert {n["kind"] for n in body["notices"] if n["study_id"] == "T-SETS"} == {"withdrawn"}


ALL = "What is in this corpus?"
VOLUME = "Which studies on training volume do you have?"


def test_a_question_about_the_corpus_is_counted_and_replayed() -> None:
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
    assert replay.is_same


def test_a_topic_and_a_collection_narrow_what_is_counted() -> None:
    none = asking.ask(question="How many studies on sauna do you have?")

    assert [row["study_id"] for row in asking.ask(question=VOLUME)["citations"]] == ["T-SETS"]
    assert [row["study_id"] for row in asking.ask(question=ALL, collection="nutrition")["citations"]] == ["T-PROTEIN"]
    assert (none["overview"]["total"], none["citations"]) == (0, [])


def test_only_the_count_of_a_withdrawn_study_remains() -> None:
    body = asking.ask(question=ALL)
    title = next(row["title"] for row in body["citations"] if row["study_id"] == "T-SETS")
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="a mistake")

    now = asking.find_answer(body["id"])

    assert title not in str({name: now[name] for name in ("summary", "answer", "citations")})
    assert now["summary"]["sentences"][0]["text"] == "There are 2 published studies here."
    assert now["summary"]["sentences"][0]["support"][0]["study_ids"] == ["T-PROTEIN"]


def test_the_page_of_a_count_leads_to_the_studies(client: Client) -> None:
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
