"""Two answers side by side: what only one of them has is named in words."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from corpus_app import curation
from qa_app.answers import asking
from qa_app.answers.comparing import compare
from qa_app.models import Answer
from tests.qa.conftest import ASKED, SETS
from tests.qa.payloads import QUOTE, WEEKLY, make_citation, make_evidence, make_payload, make_refusal, make_sentence

OTHER = "How much protein do older adults need for lean mass?"


def sided(first: dict[str, Any], second: dict[str, Any]) -> tuple[str, ...]:
    return compare(first, second).differences


def test_an_answer_differs_in_nothing_from_itself() -> None:
    compared = compare(make_payload(), make_payload())
    mine, other = (make_payload(citations=[make_citation(number)]) for number in (1, 2))

    assert compared.differences == ("They say the same, from the same studies.",)
    assert compared.is_same_question
    assert all(line.is_shared for side in compared.sides for line in (*side.summary, *side.lines))
    assert sided(make_refusal(), make_refusal()) == ("Both end without an answer.",)
    ends = "They end differently: A is answered, B finds no answer in the studies."
    assert sided(make_payload(), make_refusal())[0] == ends
    assert sided(mine, other)[0] == "Studies: none is cited by both, 1 only by A, 1 only by B."
    (said,) = compare(make_payload(), make_payload(), is_same_engine=False).differences
    assert "different engines" in said


def test_studies_sentences_and_confidence_are_counted() -> None:
    row = make_evidence(1)
    said = {"text": "", "sentences": [make_sentence(row, "Across 15 trials")]}
    other = make_payload(
        summary=said, answer=said, citations=[make_citation(1), make_citation(3)], corpus_version=13,
        confidence={"score": 60, "label": "medium", "reasons": [], "calibration": "test-1"},
    )  # fmt: skip

    assert sided(make_payload(), other) == (
        "Studies: 1 is cited by both, 1 only by A, 1 only by B.",
        "Sentences: 2 only in A, 1 only in B.",
        "Chance that it fits the question: 84 of 100 for A, 60 for B.",
        "B was made from a newer state of the studies.",
    )


def test_a_sentence_quoted_with_another_one_is_still_shared() -> None:
    """`WEEKLY` is two sentences, quoted in one piece; the second one stands in the other answer by itself."""
    row = make_evidence(1)
    alone = {"text": "", "sentences": [make_sentence(row, QUOTE)]}
    both = {"text": "", "sentences": [make_sentence(row, WEEKLY)]}

    compared = compare(make_payload(summary=alone, answer=alone), make_payload(summary=both, answer=both))

    assert compared.differences == ("Sentences: 0 only in A, 1 only in B.",)
    first, second = compared.sides
    assert [(line.text, line.markers, line.is_shared) for line in first.summary] == [(QUOTE, (1,), True)]
    assert [(line.markers, line.is_shared) for line in second.summary] == [((), False), ((1,), True)]
    assert " ".join(line.text for line in second.summary) == WEEKLY
    assert second.lines == ()


@pytest.mark.usefixtures("library")
def test_two_answers_stand_side_by_side_without_words_of_withdrawn_sources(client: Client) -> None:
    first, second = asking.ask(question=ASKED), asking.ask(question=OTHER)
    asked = {"a": first["id"], "b": f"http://testserver{second['url']}?x=1"}

    html = client.get("/compare/", asked).content.decode()
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="a mistake")
    withdrawn = client.get("/compare/", asked).content.decode()

    for words in (ASKED, OTHER, '<meta name="robots" content="noindex">', "only in A", SETS.split(". ")[0]):
        assert words in html
    assert "1 source was withdrawn since." in withdrawn
    assert SETS.split(". ")[0] not in withdrawn


@pytest.mark.usefixtures("library")
def test_a_question_is_asked_in_the_other_mode_with_what_it_meant(client: Client) -> None:
    first = asking.ask(question="What about women?", parent=asking.ask(question=ASKED, collection="training")["id"])

    response = client.post("/compare/", {"a": first["id"]})

    second = Answer.objects.get(mode="intermediate")
    assert (second.question, second.collection) == ("What about women?", "training")
    assert second.payload["understood_as"] == first["understood_as"]
    assert (response.status_code, response["Location"]) == (303, f"/compare/?a={first['id']}&b={second.pk}")
    html = client.get(response["Location"]).content.decode().replace("\n", " ")
    assert "The same question, once for a beginner and once with more detail." in html
    assert second.pk in client.get("/history/").content.decode()


@pytest.mark.django_db
def test_without_answers_the_page_asks_for_them(client: Client) -> None:
    for wanted in ({}, {"a": "", "b": ""}):
        assert "Paste the links of two answers." in client.get("/compare/", wanted).content.decode()
    for bad in ("nobody", "a\0b", "<script>", "x" * 5000, "../../etc"):
        response = client.get("/compare/", {"a": bad, "b": ""})
        assert response.status_code == client.post("/compare/", {"a": bad}).status_code == 404
        assert "There is no answer at this link." in response.content.decode()
    assert client.put("/compare/").status_code == 405
