"""What pages make of a payload, and of two side by side."""

from typing import Any

import pytest
from django.test import Client

from corpus_app import curation
from qa_app.answers import asking, presentation
from qa_app.answers.comparing import compare
from tests.qa.conftest import ASKED, SETS
from tests.qa.payloads import (
    PROTEIN,
    QUOTE,
    WEEKLY,
    make_citation,
    make_evidence,
    make_payload,
    make_refusal,
    make_sentence,
)


def test_cut_gives_back_the_text_and_ignores_spans_outside_it() -> None:
    pieces = presentation.cut("0123456789", [[6, 8], [2, 4], [3, 5]])

    assert "".join(piece.text for piece in pieces) == "0123456789"
    assert [piece.text for piece in pieces if piece.marked] == ["23", "4", "67"]
    assert presentation.cut("abc", [[5, 9], [2, 2], [-4, 0]]) == (presentation.Piece("abc", marked=False),)


def test_quote_marks_exactly_the_stored_words_by_code_points() -> None:
    quote = presentation.find_quote(make_payload(), part="answer", number=2, index=2)
    without_passage = presentation.find_quote(make_payload(evidence=[]), part="answer", number=1, index=1)

    (passage,) = quote.passages
    assert [piece.text for piece in passage.pieces if piece.marked] == ["than those who ate 0.8 g/kg."]
    assert "".join(piece.text for piece in passage.pieces) == PROTEIN
    assert without_passage.passages[0].pieces == (presentation.Piece(QUOTE, marked=True),)
    assert presentation.find_quote(make_payload(), part="title", number=1, index=1) is None


def test_a_counted_sentence_opens_the_findings_of_the_study() -> None:
    counted = {
        "text": "One of one reviews found more growth.", "citations": [1], "verdict": "counted",
        "support_level": "high", "kind": "count", "support": [{"finding_ids": [7, 8]}],
    }  # fmt: skip
    row = {"study_id": "T001", "finding_id": 7, "statement": "More sets, more growth."}
    other = {"study_id": "T002", "finding_id": 8, "statement": "No difference."}
    agreement = {"outcome_concept": "x", "favours": [row], "no_difference": [other], "against": [], "unclear": []}
    payload = make_payload(answer={"text": "", "sentences": [counted]}, agreement=agreement)

    quote = presentation.find_quote(payload, part="answer", number=1, index=1)

    assert [statement.text for statement in quote.statements] == ["More sets, more growth."]


def test_sentences_of_a_withdrawn_study_lose_words_and_markers() -> None:
    cited = [make_citation(1, status="withdrawn"), make_citation(2)]
    payload, nothing = make_payload(citations=cited), {"text": "", "sentences": []}
    payload["answer"]["sentences"][0]["attribution"] = "Example and Sample (2017)"
    shared = {"text": "", "sentences": [make_sentence(make_evidence(2), QUOTE, (1, 2))]}

    page = presentation.read(payload)
    kept = presentation.read(make_payload(summary=nothing, answer=shared, citations=cited))

    first = page.answer[0][0]
    assert (first.text, first.attribution, first.markers) == ("A source was withdrawn.", "", ())
    assert all(passage.row["study_id"] != "T001" for passage in (*page.top_passages, *page.more_passages))
    assert kept.answer[0][0].markers == (2,)


def test_banners_come_gravest_first_and_once_a_study() -> None:
    notices = [
        {"study_id": None, "kind": "newer_corpus", "at": None},
        {"study_id": "T001", "kind": "passage_changed", "passage_id": 900_000_001, "at": None},
        {"study_id": "T001", "kind": "passage_changed", "passage_id": 900_000_002, "at": None},
        {"study_id": "T002", "kind": "retracted", "at": None},
        {"study_id": "T003", "kind": "withdrawn", "at": None},
        {"study_id": "T004", "kind": "withdrawn", "at": None},
    ]

    page = presentation.read(make_payload(notices=notices))

    assert [banner.kind for banner in page.banners] == ["retracted", "withdrawn", "passage_changed"]
    assert (page.banners[1].count, page.banners[1].title, page.banners[1].study_id) == (2, "", None)
    assert page.has_newer_corpus


def test_an_answer_tells_which_cited_sources_it_has_lost() -> None:
    gone = {"study_id": "T001", "kind": "withdrawn", "at": None}
    for kinds, lost in (
        ({}, ""),
        ({"T001": "corrected", "T003": "withdrawn"}, ""),  # T003 was shown, not cited
        ({"T002": "retracted"}, "part"),
        ({"T001": "withdrawn", "T002": "withdrawn"}, "all_withdrawn"),
        ({"T001": "withdrawn", "T002": "retracted"}, "all"),
    ):
        notices = [{"study_id": study_id, "kind": kind, "at": None} for study_id, kind in kinds.items()]
        assert presentation.read(make_payload(notices=notices)).lost == lost
    assert presentation.read(make_refusal(evidence=[], notices=[gone])).has_lost_passages
    assert not presentation.read(make_refusal(evidence=[])).has_lost_passages
    assert not presentation.read(make_refusal(notices=[gone])).has_lost_passages  # those of other studies are left


def test_a_sentence_is_retracted_with_its_last_source() -> None:
    said = {"text": "", "sentences": [make_sentence(make_evidence(1), WEEKLY, (1, 2))]}
    for first, second, is_retracted in (
        ({"notice": "retracted"}, {"notice": "retracted"}, True),
        ({"notice": "retracted"}, {"notice": "corrected"}, False),
        ({"notice": "retracted"}, {"status": "withdrawn"}, True),
        ({"status": "withdrawn"}, {}, False),
    ):
        cited = [make_citation(1, **first), make_citation(2, **second)]
        page = presentation.read(make_payload(summary=said, citations=cited))
        assert page.summary[0][0].is_retracted is is_retracted


def test_a_removed_passage_is_told_from_an_edited_one() -> None:
    edited = {"study_id": "T001", "kind": "passage_changed", "passage_id": 900_000_002, "gone": False, "at": None}
    gone = {"study_id": "T001", "kind": "passage_changed", "passage_id": 900_000_001, "gone": True, "at": None}
    payload = make_payload(notices=[edited, gone])

    quote = presentation.find_quote(payload, part="answer", number=1, index=1)

    assert (quote.passages[0].has_changed, quote.passages[0].is_gone) == (True, True)
    assert [banner.is_gone for banner in presentation.read(payload).banners] == [False, True]


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
    assert "different versions of the software" in said


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
        "Match with the question: 84 out of 100 for A, 60 for B.",
        "B was made from a newer state of the studies.",
    )


def test_a_sentence_quoted_with_another_one_is_still_shared() -> None:
    """`WEEKLY` is two sentences, quoted in one piece; the second one stands in the other answer by itself."""
    row = make_evidence(1)
    alone = {"text": "", "sentences": [make_sentence(row, QUOTE)]}
    both = {"text": "", "sentences": [make_sentence(row, WEEKLY, attribution="Baz-Valle 2022")]}

    compared = compare(make_payload(summary=alone, answer=alone), make_payload(summary=both, answer=both))

    assert compared.differences == ("Sentences: 0 only in A, 1 only in B.",)
    first, second = compared.sides
    assert [(line.text, line.markers, line.is_shared) for line in first.summary] == [(QUOTE, (1,), True)]
    assert [(line.markers, line.is_shared) for line in second.summary] == [((), False), ((1,), True)]
    assert [line.attribution for line in second.summary] == ["Baz-Valle 2022", ""]
    assert " ".join(line.text for line in second.summary) == WEEKLY
    assert second.lines == ()


@pytest.mark.usefixtures("library")
def test_compared_answers_show_no_withdrawn_words(client: Client) -> None:
    first, second = asking.ask(question=ASKED), asking.ask(question=OTHER)
    asked = {"a": first["id"], "b": f"http://testserver{second['url']}?x=1"}

    html = client.get("/compare/", asked).content.decode()
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="a mistake")
    withdrawn = client.get("/compare/", asked).content.decode()

    for words in (ASKED, OTHER, '<meta name="robots" content="noindex">', "only in A", SETS.split(". ")[0]):
        assert words in html
    assert "1 source was withdrawn since." in withdrawn
    assert SETS.split(". ")[0] not in withdrawn


@pytest.mark.django_db
def test_without_answers_the_page_asks_for_them(client: Client) -> None:
    for wanted in ({}, {"a": "", "b": ""}):
        assert "Paste the links of two answers." in client.get("/compare/", wanted).content.decode()
    for bad in ("nobody", "a\0b", "<script>", "x" * 5000, "../../etc"):
        response = client.get("/compare/", {"a": bad, "b": ""})
        assert response.status_code == client.post("/compare/", {"a": bad}).status_code == 404
        assert "There is no answer at this link." in response.content.decode()
    assert client.put("/compare/").status_code == 405
