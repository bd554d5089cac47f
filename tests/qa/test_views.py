"""The public pages: each view works, refuses a wrong method, a bad id and a missing one, and shows text as text."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client, RequestFactory, override_settings
from django.utils import timezone

from corpus_app import records, search
from inform_site import errors
from qa_app import hooks
from qa_app.answers import asking
from qa_app.models import Answer
from tests.builders import make_policy, make_study
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
    monkeypatch.setattr(
        hooks, "count_request", None
    )  # questions are counted in the database, which these pages do without
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


# --- Ask -----------------------------------------------------------------------------------------------------------------


def test_ask_page_works(client: Client, service: FakeAsking) -> None:
    html = client.get("/").content.decode()

    assert '<label for="question">Your question</label>' in html
    assert 'maxlength="7000"' in html  # more than a question may have: what is pasted is refused with words, not cut
    assert "101 published studies" in html
    assert all(example in html for example in service.examples())


def test_ask_page_can_be_prefilled_by_its_address(client: Client, service: FakeAsking) -> None:
    html = client.get("/", {"q": HOSTILE, "mode": "intermediate", "collection": "training"}).content.decode()

    assert HOSTILE not in html
    assert HOSTILE in unescape(html)
    assert re.search(r'value="intermediate"\s+checked', html)
    assert re.search(r'value="training"\s+selected', html)


def test_asking_leads_to_the_answers_address(client: Client, service: FakeAsking) -> None:
    response = client.post("/", {"question": "how many\r\nsets?", "mode": "intermediate", "collection": "training"})

    assert (response.status_code, response["Location"]) == (303, "/answers/answer-one/")
    assert service.asked == [
        {"question": "how many\nsets?", "mode": "intermediate", "collection": "training", "parent": None}
    ]


def test_an_example_goes_before_what_stands_in_the_box(client: Client, service: FakeAsking) -> None:
    client.post("/", {"question": "half a thou", "example": "Is creatine safe for the kidneys?", "mode": "beginner"})

    assert service.asked[0]["question"] == "Is creatine safe for the kidneys?"


def test_asking_with_htmx_gives_the_answer_in_place(client: Client, service: FakeAsking) -> None:
    response = client.post("/", {"question": "how many sets?"}, headers=HTMX)

    html = response.content.decode()
    assert (response.status_code, response["HX-Push-Url"]) == (200, "/answers/answer-one/")
    assert html.lstrip().startswith("<title>")
    assert "<html" not in html
    assert QUOTE in html


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_bad_question_is_said_by_the_form_and_kept(
    client: Client, service: FakeAsking, headers: dict[str, str]
) -> None:
    service.bad = asking.BadQuestion("question", "too_long", "Please shorten it.")

    response = client.post("/", {"question": HOSTILE, "mode": "intermediate"}, headers=headers)

    html = response.content.decode()
    assert response.status_code == 400
    assert "Please shorten it." in html
    assert 'aria-invalid="true" aria-describedby="question-error"' in html
    assert HOSTILE not in html
    assert HOSTILE in unescape(html)
    assert re.search(r'value="intermediate"\s+checked', html)
    assert response.has_header("HX-Retarget") == bool(headers)


@pytest.mark.parametrize("field", ["mode", "collection", "parent"])
def test_a_complaint_about_any_field_is_shown(client: Client, service: FakeAsking, field: str) -> None:
    service.bad = asking.BadQuestion(field, "unknown", f"There is no such {field}.")

    response = client.post("/", {"question": "how many sets?", "mode": "x", "collection": "y"})

    assert response.status_code == 400
    assert f"There is no such {field}." in response.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("question", ["", "   ", "a" * 2001, "nul\0byte"])
def test_the_real_door_refuses_what_cannot_be_asked(client: Client, question: str) -> None:
    response = client.post("/", {"question": question})

    assert response.status_code == 400
    assert 'id="question-error"' in response.content.decode()


def test_ask_page_takes_no_other_method(client: Client, service: FakeAsking) -> None:
    assert client.put("/").status_code == 405
    assert client.delete("/").status_code == 405


def test_a_question_from_elsewhere_is_refused_with_a_way_on(service: FakeAsking) -> None:
    response = Client(enforce_csrf_checks=True).post("/", {"question": "how many sets?"})

    assert response.status_code == 403
    assert "Please send that once more" in response.content.decode()
    assert service.asked == []


# --- Answer --------------------------------------------------------------------------------------------------------------


def test_answer_page_works(client: Client, service: FakeAsking) -> None:
    html = client.get("/answers/answer-one/").content.decode()

    assert "how many sets per week for muscle growth?" in html
    assert 'href="/answers/answer-one/citations/summary/1/1/"' in html
    assert 'href="/answers/answer-one/citations/answer/2/2/"' in html
    assert 'href="https://doi.org/10.1000/test.1"' in html
    assert "84 of 100" in html
    assert "the encoder did not load" in html
    assert "no room" not in html
    assert "a figure does not agree with the passage" in html


def test_answer_page_shows_five_passages_and_folds_the_rest(client: Client, service: FakeAsking) -> None:
    html = client.get("/answers/answer-one/").content.decode()

    assert html.count('class="passage"') == 7
    assert "2 more passages" in html
    assert '<mark class="term">weekly sets</mark>' in html


def test_answer_page_is_private_and_asked_for_again_each_time(client: Client, service: FakeAsking) -> None:
    response = client.get("/answers/answer-one/")

    assert "private" in response["Cache-Control"]
    assert "no-cache" in response["Cache-Control"]
    assert "no-store" not in response["Cache-Control"]
    assert "HX-Request" in response["Vary"]
    assert 'name="robots" content="noindex"' in response.content.decode()


def test_answer_page_takes_no_other_method(client: Client, service: FakeAsking) -> None:
    assert client.post("/answers/answer-one/").status_code == 405


@pytest.mark.parametrize("answer_id", ["missing", "x" * 41, "a%00b", "../etc", "a b", "é"])
def test_an_answer_that_is_not_there_is_not_found(client: Client, service: FakeAsking, answer_id: str) -> None:
    response = client.get(f"/answers/{answer_id}/")

    assert response.status_code == 404
    assert "There is nothing at this address" in response.content.decode()


@pytest.mark.parametrize("outcome", ["insufficient_evidence", "out_of_scope"])
def test_a_refusal_shows_no_confidence_and_calls_its_passages_no_answer(
    monkeypatch: pytest.MonkeyPatch, outcome: str
) -> None:
    html = shows(monkeypatch, make_refusal(outcome))

    assert "The studies here do not answer this." in html
    assert "Nearest passages, not an answer" in html
    assert "of 100" not in html
    assert "citations/" not in html
    assert "In short" not in re.sub(r"<template.*?</template>", "", html, flags=re.DOTALL)  # what a script may fill in


def test_a_guardrail_shows_its_reply_and_no_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    html = shows(monkeypatch, make_refusal("guardrail", message="Please see a doctor.", evidence=[], related_topics=[]))

    assert "Please see a doctor." in html
    assert "Nearest passages" not in html
    assert "Does this answer fit" not in html


@pytest.mark.parametrize(
    ("route", "heading", "not_this"),
    [
        ("emergency", "This may be an emergency", "One for a professional"),
        ("crisis", "You are not alone with this", "One for a professional"),
        ("minor", "One for a professional", "This may be an emergency"),
    ],
)
def test_an_emergency_is_no_tip(monkeypatch: pytest.MonkeyPatch, route: str, heading: str, not_this: str) -> None:
    told = {"guardrail": {"route": route, "version": None}, "message": "Stop.", "evidence": [], "related_topics": []}

    html = shows(monkeypatch, make_refusal("guardrail", **told))

    assert heading in html
    assert not_this not in html
    assert ("outcome guardrail emergency" in html) is (route in {"crisis", "emergency"})


def test_words_of_retracted_studies_alone_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    html = shows(monkeypatch, make_payload(citations=[make_citation(1, notice="retracted"), make_citation(2)]))

    assert re.findall(r'class="sentence( retracted)?".*? id="(\w+-\d)"', html) == [
        (" retracted", "summary-1"),
        (" retracted", "answer-1"),
        ("", "answer-2"),
    ]
    prose = html[html.index('class="prose"') : html.index("Ask a follow-up")]
    assert prose.count(">Retracted</small>") == 2


def test_a_refusal_has_no_related_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Related topics" in shows(monkeypatch, make_payload())
    assert "Related topics" not in shows(monkeypatch, make_refusal())


@pytest.mark.parametrize(
    ("outcome", "badge"),
    [("partial", "Partly answered"), ("conflicting", "The studies disagree"), ("answered", "Answered")],
)
def test_the_outcome_is_said_in_words(monkeypatch: pytest.MonkeyPatch, outcome: str, badge: str) -> None:
    html = shows(monkeypatch, make_payload(outcome=outcome, message="Nothing was found on women."))

    assert badge in html
    assert ("Nothing was found on women." in html) == (outcome != "answered")


def test_a_beginner_reads_what_the_terms_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    term = {"id": "hypertrophy", "name": "hypertrophy", "definition": "Growth of a muscle."}

    html = shows(monkeypatch, make_payload(definitions=[term]))

    assert "Terms used here" in html
    assert "Growth of a muscle." in html
    assert "Terms used here" not in shows(monkeypatch, make_payload(definitions=[]))


@pytest.mark.parametrize(
    ("notice", "sentence"),
    [
        ({"study_id": "T001", "kind": "retracted"}, "A study used here has been retracted."),
        ({"study_id": "T001", "kind": "corrected"}, "A study used here has been corrected."),
        (
            {"study_id": "T001", "kind": "expression_of_concern"},
            "A journal has voiced concern about a study used here.",
        ),
        ({"study_id": "T001", "kind": "withdrawn"}, "A source was withdrawn."),
        (
            {"study_id": "T001", "kind": "passage_changed", "passage_id": 900_000_001},
            "A passage used here has been edited since.",
        ),
        ({"study_id": None, "kind": "newer_corpus"}, "The studies have changed since this was answered"),
    ],
)
def test_what_has_changed_since_stands_above_the_answer(
    monkeypatch: pytest.MonkeyPatch, notice: dict[str, Any], sentence: str
) -> None:
    html = shows(monkeypatch, make_payload(notices=[notice | {"at": "2026-11-21T08:00:00+00:00"}]))

    assert sentence in html
    assert html.index(sentence) < html.index("In short")


def test_of_a_withdrawn_study_nothing_but_that_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "The withdrawn review"
    payload = make_payload(
        citations=[make_citation(1, status="withdrawn", title=secret, authors=[secret]), make_citation(2)],
        evidence=[make_evidence(1, title=secret, text=secret + QUOTE), make_evidence(2, text=PROTEIN)],
        notices=[{"study_id": "T001", "kind": "withdrawn", "at": None}],
    )
    html = shows(monkeypatch, payload)
    citation = Client().get("/answers/answer-one/citations/summary/1/1/").content.decode()

    assert secret not in html
    assert QUOTE not in html
    assert "T001" not in html
    assert "A source was withdrawn." in html
    assert secret not in citation
    assert QUOTE not in citation
    assert "A source was withdrawn" in citation


def test_text_is_shown_as_text_wherever_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = make_evidence(
        1,
        title=HOSTILE,
        text=HOSTILE + QUOTE,
        highlights=[[0, 8]],
        because=[{"step": HOSTILE, "effect": HOSTILE, "value": 1}],
    )
    payload = make_payload(
        question=HOSTILE,
        summary={"text": HOSTILE, "sentences": [make_sentence(evidence, HOSTILE)]},
        answer={"text": HOSTILE, "sentences": [make_sentence(evidence, QUOTE)]},
        citations=[make_citation(1, title=HOSTILE, authors=[HOSTILE], journal=HOSTILE, population=HOSTILE)],
        evidence=[evidence],
        related_topics=[{"id": HOSTILE, "name": HOSTILE}],
        also_searched=[HOSTILE],
        left_out=[{"what": "sentence", "reason": "unsupported", "detail": HOSTILE, "text": HOSTILE}],
        legs={"lexical": {"ok": False, "candidates": 0, "error": HOSTILE}},
        confidence={"score": 84, "label": "high", "reasons": [HOSTILE], "calibration": HOSTILE},
    )

    html = shows(monkeypatch, payload)
    panel = Client().get("/answers/answer-one/citations/summary/1/1/").content.decode()

    for page in (html, panel):
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "onerror=alert" in unescape(page)


def test_what_was_searched_beside_the_question_and_beyond_its_collection_is_said_at_the_top(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beyond = "This collection holds too little on the question, so all the others were searched too."
    scope = {"collection": "nutrition", "searched": "collection_then_global", "detail": beyond}

    html = shows(monkeypatch, make_payload(collection="nutrition", scope=scope, also_searched=["hypertrophy"]))

    top = words(html).partition("What was searched")[0]
    assert "Also searched for: hypertrophy" in top
    assert beyond in top


def test_what_counts_most_of_a_question_is_said_where_it_is_only_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    html = shows(monkeypatch, make_payload(understood={"core": "How much <b>protein</b>?"}))

    assert "Counts most“How much <b>protein</b>?”" in words(html)
    assert "<b>protein</b>" not in html
    assert "Counts most" not in words(shows(monkeypatch, make_payload()))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "http://[", "ftp://x/y"])
def test_only_web_addresses_become_links(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    html = shows(
        monkeypatch,
        make_payload(citations=[make_citation(1, doi=None, url=url), make_citation(2, doi="nonsense", url=url)]),
    )

    assert f'href="{url}"' not in html
    assert "javascript:" not in html
    assert "Read the source" not in html


def test_hostile_doi_stays_within_doi_org(monkeypatch: pytest.MonkeyPatch) -> None:
    html = shows(
        monkeypatch, make_payload(citations=[make_citation(1, doi='10.1000/x"><script>?a=b#c'), make_citation(2)])
    )

    assert 'href="https://doi.org/10.1000/x%22%3E%3Cscript%3E%3Fa%3Db%23c"' in html


# --- Citation ------------------------------------------------------------------------------------------------------------


def test_citation_page_marks_the_words_within_the_passage(client: Client, service: FakeAsking) -> None:
    html = client.get("/answers/answer-one/citations/summary/1/1/").content.decode()

    assert f"<mark>{QUOTE}</mark>" in html
    assert WEEKLY in words(html)
    assert "Curator’s summary" in html
    assert 'href="/studies/T001/#p-900000001"' in html
    assert 'href="/answers/answer-one/#summary-1"' in html


def test_citation_panel_is_the_same_without_the_page(client: Client, service: FakeAsking) -> None:
    html = client.get("/answers/answer-one/citations/summary/1/1/", headers=HTMX).content.decode()

    assert f"<mark>{QUOTE}</mark>" in html
    assert "<html" not in html
    assert "<title" not in html


def test_citation_of_an_excerpt_says_whose_words_they_are(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    FakeAsking(make_payload(evidence=[make_evidence(1, kind="excerpt")])).install(monkeypatch)

    html = client.get("/answers/answer-one/citations/summary/1/1/").content.decode()

    assert "Source’s words" in html
    assert "Written by a curator" not in html


def test_citation_of_an_edited_passage_leads_to_the_present_text(
    monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    notice = {"study_id": "T001", "kind": "passage_changed", "passage_id": 900_000_001, "at": None}
    FakeAsking(make_payload(notices=[notice])).install(monkeypatch)

    html = client.get("/answers/answer-one/citations/summary/1/1/").content.decode()

    assert "Changed since." in html
    assert '<a href="/studies/T001/#p-900000001">read the present text</a>' in html
    assert f"<mark>{QUOTE}</mark>" in html


def test_citation_takes_no_other_method(client: Client, service: FakeAsking) -> None:
    assert client.post("/answers/answer-one/citations/summary/1/1/").status_code == 405


@pytest.mark.parametrize(
    "address",
    [
        "answer-one/citations/summary/1/2/",
        "answer-one/citations/summary/2/1/",
        "answer-one/citations/summary/0/1/",
        "answer-one/citations/title/1/1/",
        "answer-one/citations/summary/one/1/",
        "answer-one/citations/summary/-1/1/",
        "missing/citations/summary/1/1/",
    ],
)
def test_a_citation_that_is_not_there_is_not_found(client: Client, service: FakeAsking, address: str) -> None:
    assert client.get(f"/answers/{address}").status_code == 404


# --- Study ---------------------------------------------------------------------------------------------------------------


def study_page(**changes: Any) -> records.StudyPage:
    fields: dict[str, Any] = {
        "study_id": "T001",
        "title": "Weekly sets and muscle growth",
        "authors": ("Example AB",),
        "year": 2017,
        "journal": "Journal of Examples",
        "doi": "10.1000/test.1",
        "url": None,
        "design": records.Design.META_ANALYSIS,
        "peer_reviewed": True,
        "collection": "older-adults",
        "population": "Young and older adults",
        "training_status": records.TrainingStatus.UNTRAINED,
        "age_group": records.AgeGroup.MIXED,
        "sex": records.Sex.BOTH,
        "status": records.Status.PUBLISHED,
        "notice": records.Notice.NONE,
    } | changes
    study = records.Study(**fields)
    passage = records.Passage(
        101,
        1,
        study,
        0,
        records.Section.PRACTICAL_APPLICATIONS,
        7,
        study.title,
        WEEKLY,
        records.PassageKind.SUMMARY,
        (),
    )
    finding = records.Finding(
        "ten sets", "five sets", "thickness", records.Direction.NO_DIFFERENCE, "No difference was found."
    )
    concept = records.Concept("hypertrophy", "muscle growth", "outcome", (), "", ("training",))
    return records.StudyPage(
        study=study, passages=(passage,), findings=(finding,), concepts=(concept,), collection_name="Older adults"
    )


@pytest.mark.django_db
def test_study_page_works(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "find_study", lambda study_id: study_page())

    html = client.get("/studies/T001/").content.decode()

    assert 'id="p-101"' in html
    assert "Practical advice" in html
    assert "No difference was found." in html
    assert "Women and men" in html
    assert "Older adults" in html
    assert 'href="https://doi.org/10.1000/test.1"' in html


@pytest.mark.parametrize(
    ("notice", "sentence"),
    [
        (records.Notice.RETRACTED, "This study has been retracted."),
        (records.Notice.CORRECTED, "This study has been corrected."),
        (records.Notice.EXPRESSION_OF_CONCERN, "A journal has voiced concern about this study."),
    ],
)
@pytest.mark.django_db
def test_study_page_shows_its_notice(
    client: Client, monkeypatch: pytest.MonkeyPatch, notice: records.Notice, sentence: str
) -> None:
    monkeypatch.setattr(search, "find_study", lambda study_id: study_page(notice=notice))

    assert sentence in client.get("/studies/T001/").content.decode()


@pytest.mark.django_db
def test_study_page_shows_text_as_text(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = study_page(
        title=HOSTILE, authors=(HOSTILE,), journal=HOSTILE, population=HOSTILE, doi=None, url="javascript:alert(1)"
    )
    monkeypatch.setattr(search, "find_study", lambda study_id: hostile)

    html = client.get("/studies/T001/").content.decode()

    assert "<script>alert" not in html
    assert "<img" not in html
    assert "javascript:" not in html


def test_study_page_takes_no_other_method(client: Client) -> None:
    assert client.post("/studies/T001/").status_code == 405


@pytest.mark.django_db
@pytest.mark.parametrize("study_id", ["nothing", "..", "a b", "x" * 41, "a%00b"])
def test_a_study_that_is_not_there_is_not_found(client: Client, study_id: str) -> None:
    assert client.get(f"/studies/{study_id}/").status_code == 404


@pytest.mark.django_db
def test_drafts_and_withdrawn_studies_look_like_absent_ones(client: Client) -> None:
    make_study(study_id="DRAFT", status="draft")
    make_study(study_id="GONE", status="withdrawn")

    pages = {study_id: client.get(f"/studies/{study_id}/") for study_id in ("DRAFT", "GONE", "NEVER")}

    assert {page.status_code for page in pages.values()} == {404}
    assert len({page.content for page in pages.values()}) == 1


# --- All -----------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_stored_answer_is_read_with_few_queries(client: Client, django_assert_max_num_queries: Any) -> None:
    payload = make_payload()
    for citation in payload["citations"]:
        make_study(study_id=citation["study_id"])
    Answer.objects.create(
        id=payload["id"],
        request_id=payload["request_id"],
        question=payload["question"],
        mode=payload["mode"],
        outcome=payload["outcome"],
        corpus_version=payload["corpus_version"],
        policy=make_policy(),
        payload=payload,
        created_at=timezone.now(),
    )

    with django_assert_max_num_queries(11):
        response = client.get("/answers/answer-one/")

    assert response.status_code == 200
    with django_assert_max_num_queries(7):
        assert client.get("/answers/answer-one/citations/summary/1/1/").status_code == 200


@pytest.mark.django_db
def test_pages_of_the_corpus_need_few_queries(client: Client, django_assert_max_num_queries: Any) -> None:
    make_study(study_id="T001", texts=tuple(f"Passage {n} on weekly sets." for n in range(12)))

    with django_assert_max_num_queries(11):
        assert client.get("/studies/T001/").status_code == 200
    with django_assert_max_num_queries(6):
        assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/answers/answer-one/", "/answers/answer-one/citations/summary/1/1/", "/nothing"]
)
def test_pages_hold_no_inline_style_or_script_and_name_no_other_host(
    client: Client, service: FakeAsking, path: str
) -> None:
    html = client.get(path).content.decode()

    assert " style=" not in html
    assert "<style" not in html
    assert not re.search(r"\son\w+=", html)
    assert re.findall(r"<script(?![^>]*\ssrc=)", html) == []
    assert all(address.startswith("https://doi.org/") for address in re.findall(r'(?:src|href)="(https?:[^"]*)"', html))


def test_an_answer_page_is_small(client: Client, service: FakeAsking) -> None:
    html = client.get("/answers/answer-one/").content

    assert len(html) < 60_000


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


def test_a_missing_address_of_the_api_is_told_in_its_own_form(client: Client) -> None:
    response = client.get("/api/v1/nothing")

    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["status"] == 404


def test_a_server_error_of_the_api_is_a_problem(rf: RequestFactory) -> None:
    response = errors.server_error(rf.get("/api/v1/answers"))

    problem = json.loads(response.content)
    assert (response.status_code, problem["status"], problem["errors"]) == (500, 500, [])
    assert response.headers["Content-Type"] == "application/problem+json"
