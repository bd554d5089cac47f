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

    assert compared.differences == ("They say the same, from the same studies.",)
    assert compared.is_same_question
    assert sided(make_refusal(), make_refusal()) == ("Both end without an answer.",)
    assert all(line.is_shared for side in compared.sides for line in (*side.summary, *side.lines))


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


def test_that_no_study_is_shared_is_said_in_a_word() -> None:
    mine, other = (make_payload(citations=[make_citation(number)]) for number in (1, 2))

    assert sided(mine, other)[0] == "Studies: none is cited by both, 1 only by A, 1 only by B."


def test_a_refusal_beside_an_answer_says_how_both_end() -> None:
    assert sided(make_payload(), make_refusal())[0] == (
        "They end differently: A is answered, B finds no answer in the studies."
    )


def test_a_withdrawn_source_is_counted_and_not_named() -> None:
    gone = make_payload(
        citations=[make_citation(1), make_citation(2, status="withdrawn", title="A source was withdrawn.")]
    )

    side = compare(gone, make_payload()).sides[0]

    assert [source.study_id for source in side.sources] == ["T001"]
    assert side.withdrawn == 1


# --- The page ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("library")
def test_two_answers_stand_side_by_side(client: Client) -> None:
    first, second = asking.ask(question=ASKED), asking.ask(question=OTHER)

    html = client.get("/compare/", {"a": first["id"], "b": f"http://testserver{second['url']}?x=1"}).content.decode()

    assert ASKED in html
    assert OTHER in html
    assert '<meta name="robots" content="noindex">' in html
    assert "only in A" in html
    assert SETS.split(". ")[0] in html


@pytest.mark.usefixtures("library")
def test_a_question_is_asked_in_the_other_mode(client: Client) -> None:
    first = asking.ask(question=ASKED, collection="training")

    response = client.post("/compare/", {"a": first["id"]})

    second = Answer.objects.exclude(pk=first["id"]).get()
    assert (second.question, second.mode, second.collection) == (ASKED, "intermediate", "training")
    assert (response.status_code, response["Location"]) == (303, f"/compare/?a={first['id']}&b={second.pk}")
    assert "The same question, once for a beginner and once with more detail." in client.get(
        response["Location"]
    ).content.decode().replace("\n", " ")
    assert second.pk in client.get("/history/").content.decode()


@pytest.mark.usefixtures("library")
def test_a_follow_up_in_the_other_mode_keeps_what_it_meant(client: Client) -> None:
    first = asking.ask(question="What about women?", parent=asking.ask(question=ASKED)["id"])

    client.post("/compare/", {"a": first["id"]})

    assert Answer.objects.filter(mode="intermediate").get().payload["understood_as"] == first["understood_as"]


@pytest.mark.usefixtures("library")
def test_words_of_a_withdrawn_source_are_in_neither(client: Client) -> None:
    body = asking.ask(question=ASKED)
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="a mistake")

    html = client.get("/compare/", {"a": body["id"], "b": body["id"]}).content.decode()

    assert "1 source was withdrawn since." in html
    assert SETS.split(". ")[0] not in html


@pytest.mark.parametrize("wanted", [{}, {"a": "", "b": ""}])
def test_without_answers_the_page_asks_for_them(client: Client, wanted: dict[str, str]) -> None:
    response = client.get("/compare/", wanted)

    assert response.status_code == 200
    assert "Paste the links of two answers." in response.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("bad", ["nobody", "a\0b", "<script>", "x" * 5000, "../../etc"])
def test_an_answer_that_there_is_not_is_named_in_words(client: Client, bad: str) -> None:
    response = client.get("/compare/", {"a": bad, "b": ""})

    assert response.status_code == 404
    assert "There is no answer at this link." in response.content.decode()
    assert client.post("/compare/", {"a": bad}).status_code == 404
    assert client.put("/compare/").status_code == 405


def test_answers_of_two_engines_say_so() -> None:
    (said,) = compare(make_payload(), make_payload(), is_same_engine=False).differences

    assert "different engines" in said
