"""The public pages: each view works, refuses a wrong method, a bad id and a missing one, and shows text as text."""

import gzip
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client, override_settings

from qa_app import hooks
from qa_app.answers import asking
from tests.qa.payloads import (
    PROTEIN,
    QUOTE,
    WEEKLY,
    FakeAsking,
    make_citation,
    make_evidence,
    make_payload,
    make_refusal,
    make_sentence,
)

HTMX = {"HX-Request": "true"}
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeAsking:
    monkeypatch.setattr(hooks, "count_request", None)  # quotas are in the database, which these pages do without
    return FakeAsking().install(monkeypatch)


def shows(monkeypatch: pytest.MonkeyPatch, payload: dict[str, Any]) -> str:
    """The page of this payload, as a browser without script would get it."""
    FakeAsking(payload).install(monkeypatch)
    response = Client().get(f"/answers/{payload['id']}/")
    assert response.status_code == 200
    return response.content.decode()


def words(html: str) -> str:
    """What a reader reads: no tags, one space between words."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", html)))


def test_a_bad_question_is_said_and_kept(client: Client, service: FakeAsking) -> None:
    service.bad = asking.BadQuestion("question", "too_long", "Please shorten it.")

    for headers in ({}, HTMX):
        response = client.post("/", {"question": HOSTILE, "mode": "intermediate"}, headers=headers)
        html = response.content.decode()
        assert response.status_code == 400
        assert "Please shorten it." in html
        assert 'aria-invalid="true" aria-describedby="question-error"' in html
        assert HOSTILE not in html
        assert HOSTILE in unescape(html)
        assert re.search(r'value="intermediate"\s+checked', html)
        assert response.has_header("HX-Retarget") == bool(headers)


@pytest.mark.django_db
def test_what_cannot_be_asked_is_said_at_its_field(client: Client) -> None:
    for question in ("", "   ", "a" * 2001, "nul\0byte"):
        response = client.post("/", {"question": question})
        assert response.status_code == 400
        assert 'id="question-error"' in response.content.decode()
    for field in ("mode", "collection", "parent"):
        response = client.post("/", {"question": "how many sets?", field: "nonsense"})
        assert response.status_code == 400
        assert 'role="alert"' in response.content.decode()


def test_a_question_from_elsewhere_is_refused_with_a_way_on(service: FakeAsking) -> None:
    response = Client(enforce_csrf_checks=True).post("/", {"question": "how many sets?"})

    assert response.status_code == 403
    assert "Please send that again" in response.content.decode()
    assert service.asked == []


def test_a_page_is_sent_compressed(client: Client, service: FakeAsking) -> None:
    whole = client.get("/answers/answer-one/").content
    sent = client.get("/answers/answer-one/", headers={"Accept-Encoding": "gzip"})

    assert (sent["Content-Encoding"], len(sent.content) < 15_000) == ("gzip", True)
    assert words(gzip.decompress(sent.content).decode()) == words(whole.decode())


def test_what_is_not_there_is_not_found_and_no_other_method_is_taken(client: Client, service: FakeAsking) -> None:
    for answer_id in ("missing", "x" * 41, "a%00b", "../etc", "a b", "é"):
        response = client.get(f"/answers/{answer_id}/")
        assert response.status_code == 404
        assert "There is nothing at this address" in response.content.decode()
    for place in ("summary/1/2", "summary/2/1", "summary/0/1", "title/1/1", "summary/one/1", "summary/-1/1"):
        assert client.get(f"/answers/answer-one/citations/{place}/").status_code == 404
    assert client.get("/answers/missing/citations/summary/1/1/").status_code == 404
    for path in ("/answers/answer-one/", "/answers/answer-one/citations/summary/1/1/", "/studies/T001/"):
        assert client.post(path).status_code == 405
    assert client.put("/").status_code == 405


def test_a_refusal_shows_no_confidence_and_calls_its_passages_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for outcome in ("insufficient_evidence", "out_of_scope"):
        html = shows(monkeypatch, make_refusal(outcome))

        assert "The studies here do not answer this." in html
        assert "Nearest passages, not an answer" in html
        assert "of 100" not in html
        assert "citations/" not in html
        assert "Related topics" not in html
        assert "In short" not in re.sub(r"<template.*?</template>", "", html, flags=re.DOTALL)  # for a script to fill
    assert "Related topics" in shows(monkeypatch, make_payload())


def test_a_fixed_reply_is_shown_alone_and_an_emergency_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    headings = {
        "emergency": "This may be an emergency", "crisis": "You are not alone with this",
        "minor": "One for a professional",
    }  # fmt: skip
    for route, heading in headings.items():
        guardrail = {"route": route, "version": None}
        reply = make_refusal("guardrail", guardrail=guardrail, message="Stop.", evidence=[], related_topics=[])
        html = shows(monkeypatch, reply)
        assert [words for words in headings.values() if words in html] == [heading]
        assert "Stop." in html
        assert ("outcome guardrail emergency" in html) is (route != "minor")
        assert not [words for words in ("Nearest passages", "Does this answer fit") if words in html]


def test_words_of_retracted_studies_alone_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    html = shows(monkeypatch, make_payload(citations=[make_citation(1, notice="retracted"), make_citation(2)]))

    assert re.findall(r'class="sentence( retracted)?".*? id="(\w+-\d)"', html) == [
        (" retracted", "summary-1"),
        (" retracted", "answer-1"),
        ("", "answer-2"),
    ]
    prose = html[html.index('class="prose"') : html.index("Ask a follow-up")]
    assert prose.count(">Retracted</small>") == 2


def test_outcome_terms_and_wider_search_are_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    term = {"id": "hypertrophy", "name": "hypertrophy", "definition": "Growth of a muscle."}
    beyond = "This collection holds too little on the question, so all the others were searched too."
    scope = {"collection": "nutrition", "searched": "collection_then_global", "detail": beyond}
    message, nutrition = "Nothing was found on women.", {"collection": "nutrition", "scope": scope}

    plain = shows(monkeypatch, make_payload(message=message, definitions=[]))
    partial = shows(monkeypatch, make_payload(outcome="partial", message=message, definitions=[term]))
    wider = shows(monkeypatch, make_payload(outcome="conflicting", also_searched=["hypertrophy"], **nutrition))

    assert ("Answered" in plain, message in plain, "Terms used here" in plain) == (True, False, False)
    for told in ("Partly answered", message, "Terms used here", "Growth of a muscle."):
        assert told in partial
    assert "The studies disagree" in wider
    top = words(wider).partition("What was searched")[0]
    assert "Also searched for: hypertrophy" in top
    assert beyond in top


def test_what_has_changed_since_stands_above_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {
        "retracted": "A study used here has been retracted.",
        "corrected": "A study used here has been corrected.",
        "expression_of_concern": "A journal has published an expression of concern about a study used here.",
        "withdrawn": "A source was withdrawn.",
        "passage_changed": "A passage used here has been edited since.",
        "newer_corpus": "The studies have changed since this was answered",
    }
    for kind, sentence in said.items():
        study_id = None if kind == "newer_corpus" else "T001"
        notice = {"study_id": study_id, "kind": kind, "passage_id": 900_000_001, "at": "2026-11-21T08:00:00+00:00"}
        html = shows(monkeypatch, make_payload(notices=[notice]))
        assert 0 < html.index(sentence) < html.index("In short")


def test_of_a_withdrawn_study_nothing_but_that_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "The withdrawn review"
    payload = make_payload(
        citations=[make_citation(1, status="withdrawn", title=secret, authors=[secret]), make_citation(2)],
        evidence=[make_evidence(1, title=secret, text=secret + QUOTE), make_evidence(2, text=PROTEIN)],
        notices=[{"study_id": "T001", "kind": "withdrawn", "at": None}],
    )
    html = shows(monkeypatch, payload)
    citation = Client().get("/answers/answer-one/citations/summary/1/1/").content.decode()

    for page in (html, citation):
        assert "A source was withdrawn" in page
        assert [words for words in (secret, QUOTE) if words in page] == []
    assert "T001" not in html
    gone = [{"study_id": f"T00{n}", "kind": "withdrawn", "at": None} for n in (1, 2)]
    cited = [make_citation(n, status="withdrawn", title="") for n in (1, 2)]
    nothing_left = words(shows(monkeypatch, make_payload(citations=cited, notices=gone, evidence=[])))
    assert "2 sources were withdrawn." in nothing_left
    assert "All sources of this answer were withdrawn." in nothing_left
    assert "When the answer was given: very likely, 84 out of 100." in nothing_left


def test_text_is_shown_as_text_wherever_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [{"step": HOSTILE, "effect": HOSTILE, "value": 1}]
    evidence = make_evidence(1, title=HOSTILE, text=HOSTILE + QUOTE, highlights=[[0, 8]], because=steps)
    payload = make_payload(
        question=HOSTILE, summary={"text": HOSTILE, "sentences": [make_sentence(evidence, HOSTILE)]},
        answer={"text": HOSTILE, "sentences": [make_sentence(evidence, QUOTE)]},
        citations=[make_citation(1, title=HOSTILE, authors=[HOSTILE], journal=HOSTILE, population=HOSTILE)],
        evidence=[evidence], related_topics=[{"id": HOSTILE, "name": HOSTILE}], also_searched=[HOSTILE],
        left_out=[{"what": "sentence", "reason": "unsupported", "detail": HOSTILE, "text": HOSTILE}],
        legs={"lexical": {"ok": False, "candidates": 0, "error": HOSTILE}},
        confidence={"score": 84, "label": "high", "reasons": [HOSTILE], "calibration": HOSTILE},
    )  # fmt: skip

    html = shows(monkeypatch, payload)
    panel = Client().get("/answers/answer-one/citations/summary/1/1/").content.decode()

    for page in (html, panel):
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "onerror=alert" in unescape(page)


def test_only_web_addresses_become_links(monkeypatch: pytest.MonkeyPatch) -> None:
    for url in ("javascript:alert(1)", "data:text/html,x", "//evil.example", "http://[", "ftp://x/y"):
        cited = [make_citation(1, doi=None, url=url), make_citation(2, doi="nonsense", url=url)]
        html = shows(monkeypatch, make_payload(citations=cited))
        assert f'href="{url}"' not in html
        assert "javascript:" not in html
        assert "Read the source" not in html
    cited = [make_citation(1, doi='10.1000/x"><script>?a=b#c'), make_citation(2)]
    html = shows(monkeypatch, make_payload(citations=cited))
    assert 'href="https://doi.org/10.1000/x%22%3E%3Cscript%3E%3Fa%3Db%23c"' in html


def test_a_citation_marks_the_words_and_whose_they_are(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "/answers/answer-one/citations/summary/1/1/"
    notice = {"study_id": "T001", "kind": "passage_changed", "passage_id": 900_000_001, "at": None}
    FakeAsking().install(monkeypatch)
    html, panel = (client.get(address, headers=headers).content.decode() for headers in ({}, HTMX))
    FakeAsking(make_payload(evidence=[make_evidence(1, kind="excerpt")], notices=[notice])).install(monkeypatch)
    changed = client.get(address).content.decode()

    assert WEEKLY in words(html)
    assert all(f"<mark>{QUOTE}</mark>" in page for page in (html, panel, changed))
    assert not [tag for tag in ("<html", "<title") if tag in panel]
    for told in ("Curator’s summary", 'href="/studies/T001/#p-900000001"', 'href="/answers/answer-one/#summary-1"'):
        assert told in html
    for told in ("Source’s words", "Changed since.", '<a href="/studies/T001/#p-900000001">read the current text</a>'):
        assert told in changed
    assert "Written by a curator" not in changed


@override_settings(DEBUG=False)
def test_an_unexpected_error_has_a_page_with_a_way_on(monkeypatch: pytest.MonkeyPatch, service: FakeAsking) -> None:
    def fails(answer_id: str) -> None:
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(asking, "find_answer", fails)

    response = Client(raise_request_exception=False).get("/answers/answer-one/")

    html = response.content.decode()
    assert response.status_code == 500
    assert "Something went wrong on our side" in html
    assert "secret" not in html
