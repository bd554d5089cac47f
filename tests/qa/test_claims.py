"""Checking claims: the API and the page, their limits, and that nothing is stored."""

import json
from html import unescape
from typing import Any

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from inform_site.clients.limits import Limits
from qa_app.answers import claim_checking
from qa_app.models import Answer, Gap
from tests.qa.conftest import SETS

pytestmark = pytest.mark.usefixtures("library")

SAME = "Ten weekly sets per muscle increased growth more than five."
OPPOSITE = "Ten weekly sets per muscle reduced growth more than five."
ELSEWHERE = "Saunas at ninety degrees lower blood pressure."
GERMAN = "Das Training mit vielen Gewichten ist gut und nicht schlecht."
CRISIS = "I want to kill myself."


def check(text: Any, *, status: int = 200, **more: Any) -> Any:
    body = json.dumps({"text": text} | more)
    response = Client().post("/api/v1/claims", body, content_type="application/json")
    assert response.status_code == status, response.content
    return response.json()


def test_each_claim_comes_back_with_the_exact_words_of_passages_and_nothing_is_stored() -> None:
    text = f"Anna: {SAME}\n00:12 {OPPOSITE} {ELSEWHERE} Is that so?"

    checked = check(text)

    assert [row["verdict"] for row in checked["claims"]] == ["supported", "contradicted", "not_covered"]
    assert [text[row["start"] : row["end"]] for row in checked["claims"]] == [SAME, OPPOSITE, ELSEWHERE]
    assert checked["counts"] == {"supported": 1, "contradicted": 1, "mixed": 0, "not_covered": 1}
    assert [row["reason"] for row in checked["skipped"]] == ["question"]
    (span,) = [s for s in checked["claims"][1]["spans"] if s["kind"] == "summary"][:1]
    assert (span["stance"], span["reason"]) == ("contradicts", "direction_mismatch")
    assert SETS[span["start"] : span["end"]] == span["quote"] == SAME
    assert not Answer.objects.exists()
    assert not Gap.objects.exists()


def test_a_text_that_cannot_be_checked_is_refused_by_name() -> None:
    codes = [check(text, status=400)["errors"][0]["code"] for text in ("", " \u200b", "Why?", "x" * 20_001, 5)]

    assert codes == ["blank", "blank", "no_claim", "too_long", "not_text"]
    assert check(SAME, status=400, collection="nowhere")["errors"][0]["field"] == "collection"


def test_fifty_claims_are_checked_and_ten_count_as_one_question() -> None:
    found = claim_checking.read(" ".join(f"Claim {n} says that sets build muscle." for n in range(60)))

    assert [claim.skipped for claim in found.sentences].count(None) == 50
    assert found.asks == 5
    with override_settings(ANONYMOUS_QUOTAS=dict.fromkeys(("ask", "read", "model", "suggest"), Limits(1, 100))):
        assert check(" ".join([SAME] * 11), status=429)["type"].endswith("quota-used-up")
    with override_settings(ANONYMOUS_QUOTAS=dict.fromkeys(("ask", "read", "model", "suggest"), Limits(5, 100))):
        check(
            " ".join([SAME] * 50), status=429
        )  # one of the five is used up by the check before, and the request itself
        check(" ".join([SAME] * 21))  # so three are left: nothing was taken for what was refused


def test_a_claim_in_another_language_is_not_said_to_be_missing_from_the_studies() -> None:
    (row,) = check(GERMAN)["claims"]
    page = Client().post(reverse("check_claims"), {"text": GERMAN}).content.decode()

    assert (row["verdict"], row["note"], row["spans"]) == ("not_covered", "other_language", [])
    assert "Not in English" in page
    assert "understands claims in English only" in page
    assert "No study here addresses" not in page


def test_a_claim_on_what_should_be_done_is_left_open_with_the_reason() -> None:
    (row,) = check("You should do ten weekly sets per muscle.")["claims"]
    page = (
        Client().post(reverse("check_claims"), {"text": "You should do ten weekly sets per muscle."}).content.decode()
    )

    assert (row["verdict"], row["note"]) == ("not_covered", "no_advice")
    assert "no study here advises for or against it" in page


def test_a_crisis_gets_its_reply_and_nothing_else() -> None:
    checked = check(f"{SAME} {CRISIS}")
    page = Client().post(reverse("check_claims"), {"text": f"{SAME} {CRISIS}"}).content.decode()

    assert checked["declined"]["route"] == "crisis"
    assert checked["claims"] == []
    assert 'class="outcome guardrail emergency"' in page
    assert "claims-form" not in page
    assert SAME not in page


def test_without_script_the_page_holds_every_verdict() -> None:
    page = Client().post(reverse("check_claims"), {"text": f"{SAME} {OPPOSITE}"}).content.decode()

    assert page.count('class="claim"') == 2
    assert "2 of 2 checked" in page
    assert "Says otherwise: another direction" in page
    assert Client().post(reverse("check_claims"), {"text": ""}).status_code == 400


def test_the_result_has_a_link_that_fills_the_text_in_unless_it_is_too_long_for_an_address() -> None:
    page = Client().post(reverse("check_claims"), {"text": SAME}).content.decode()
    link = page.partition('link-to-text"><a href="')[2].partition('"')[0]

    assert f"\n{SAME}</textarea>" in Client().get(unescape(link)).content.decode()
    assert "link-to-text" not in Client().post(reverse("check_claims"), {"text": SAME * 30}).content.decode()


def test_with_script_each_claim_is_checked_by_itself_and_only_if_its_text_was_counted() -> None:
    client = Client(headers={"HX-Request": "true"})
    page = client.post(reverse("check_claims"), {"text": f"{SAME} {OPPOSITE}"}).content.decode()
    tokens = [part.partition('"')[0] for part in page.split('name="claim" value="')[1:]]

    part = client.post(reverse("check_claim"), {"claim": tokens[1]}).content.decode()

    assert "0 of 2 checked" in page
    assert "Contradicted" in part
    assert "2 of 2 checked" in part
    assert client.post(reverse("check_claim"), {"claim": tokens[1][:-1]}).status_code == 400
