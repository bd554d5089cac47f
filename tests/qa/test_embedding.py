"""An answer on other sites: the card in a frame, oEmbed, and previews of its link."""

from html import escape, unescape
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

import pytest
from django.test import Client

from corpus_app import curation
from qa_app.answers import asking
from qa_app.models import Answer
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")

HOST = "http://testserver"
EMERGENCY = "I get chest pain when I lift, should I do more sets?"


def card_of(body: dict[str, Any], status: int = 200) -> str:
    response = Client().get(f"/embed/answers/{body['id']}")
    assert response.status_code == status
    return response.content.decode()


def oembed(url: str, status: int = 200, **options: str) -> Any:
    response = Client().get("/oembed?" + urlencode({"url": url} | options))
    assert (response.status_code, response["X-Frame-Options"]) == (status, "DENY")
    return response


def retract(study_id: str, verb: str) -> None:
    if verb == "retracted":
        curation.set_notice([study_id], "retracted", by=None, by_name="tests", reason="Its figures were made up.")
    else:
        curation.withdraw([study_id], by=None, by_name="tests", reason="It is not what it seemed.")


def test_the_card_alone_may_stand_in_frames_and_is_small_without_script_or_cookie() -> None:
    body = asking.ask(question=ASKED)

    response = Client().get(f"/embed/answers/{body['id']}")
    html = response.content.decode()

    policy = dict(rule.strip().partition(" ")[::2] for rule in response["Content-Security-Policy"].split(";"))
    assert (policy["frame-ancestors"], policy["default-src"], policy["style-src"]) == ("*", "'none'", "'self'")
    assert "X-Frame-Options" not in response
    assert not response.cookies
    assert "public" in response["Cache-Control"]
    assert "no-cache" in response["Cache-Control"]
    assert Client().get(f"/embed/answers/{body['id']}", headers={"If-None-Match": response["ETag"]}).status_code == 304
    assert "<script" not in html
    assert len(response.content) < 10_000
    whose = "The passages are curators’ summaries, not the studies’ own words."
    for words in (ASKED, body["headline"]["text"], body["citations"][0]["title"], whose):
        assert escape(words) in html
    assert f'href="{HOST}{body["url"]}" target="_blank" rel="noopener"' in html
    for path in (body["url"], "/", "/how-it-works/", "/embed/answers/nothing"):
        other = Client().get(path)
        assert other["X-Frame-Options"] == "DENY", path
        assert "frame-ancestors 'none'" in other["Content-Security-Policy"], path


@pytest.mark.parametrize(
    ("verb", "notice"),
    [("retracted", "A study used here has been retracted."), ("withdrawn", "A source was withdrawn.")],
)
def test_what_a_study_that_is_taken_back_said_is_gone_from_the_card(verb: str, notice: str) -> None:
    body = asking.ask(question=ASKED)
    tag = Client().get(f"/embed/answers/{body['id']}")["ETag"]
    retract("T-SETS", verb)

    html = unescape(card_of(body))

    assert notice in html
    assert "All sources of this answer were" in html
    assert "Strength of the evidence" not in html
    for row in (body["headline"], *body["summary"]["sentences"], *body["answer"]["sentences"]):
        assert row["text"] not in html
    assert Client().get(f"/embed/answers/{body['id']}", headers={"If-None-Match": tag}).status_code == 200
    preview = Client().get(body["url"]).content.decode()
    assert f'property="og:description" content="{body["headline"]["text"]}"' not in preview
    assert 'property="og:description" content="All sources of this answer were' in preview


@pytest.mark.parametrize("question", [EMERGENCY, "How many studies are there?"])
def test_fixed_replies_and_counts_are_not_embedded(question: str) -> None:
    body = asking.ask(question=question)

    card_of(body, status=404)
    oembed(HOST + body["url"], status=404)
    html = Client().get(body["url"]).content.decode()
    assert not any(mark in html for mark in ("og:title", "oembed", "Share or embed"))


def test_the_card_of_a_refusal_says_that_there_is_no_answer() -> None:
    body = asking.ask(question=UNANSWERED)

    html = card_of(body)

    assert "<strong>No answer in these studies</strong> The studies here do not answer this question" in html
    assert not any(words in html for words in ("Below are", "Match with the question", "whole answer"))
    assert oembed(HOST + body["url"]).json()["title"] == UNANSWERED


@pytest.mark.parametrize(("label", "score", "is_warned"), [("high", 95, False), ("low", 31, True)])
def test_the_card_says_how_likely_the_answer_fits(label: str, score: int, is_warned: bool) -> None:
    row = Answer.objects.get(pk=asking.ask(question=ASKED)["id"])
    row.payload["confidence"] |= {"label": label, "score": score}
    Answer.objects.filter(pk=row.pk).update(payload=row.payload)

    html = card_of({"id": row.pk})

    assert f"{score} out of 100" in html
    assert ("May not fit your question" in html) == is_warned


def test_oembed_describes_the_frame_that_the_page_offers() -> None:
    question = 'How many weekly sets "per muscle" for <growth> & strength?'
    body = asking.ask(question=question)
    page = Client().get(body["url"]).content.decode()
    assert f'property="og:title" content="{escape(question)}"' in page
    assert f'property="og:url" content="{HOST}{body["url"]}"' in page
    found = [unescape(part.partition('"')[0]) for part in page.split('+oembed" href="')[1:]]

    as_json, as_xml = (Client().get(address) for address in found)

    told = as_json.json()
    assert as_json["Content-Type"] == "application/json"
    assert (told["version"], told["type"], told["title"]) == ("1.0", "rich", question)
    frame = ET.fromstring(told["html"])
    assert (frame.get("title"), frame.get("src")) == (question, f"{HOST}/embed/answers/{body['id']}")
    assert frame.get("sandbox") == "allow-popups allow-popups-to-escape-sandbox"
    assert told["html"] in unescape(page.partition('<textarea id="frame"')[2].partition("</textarea")[0])
    assert as_xml["Content-Type"].startswith("text/xml")
    row = {child.tag: child.text for child in ET.fromstring(as_xml.content)}
    assert row == {name: str(value) for name, value in told.items()}
    small = oembed(HOST + body["url"], maxwidth="320", maxheight="5000").json()
    assert (small["width"], small["height"]) == (320, told["height"])
    assert 'width="320"' in small["html"]


def test_oembed_says_what_is_wrong_by_the_status_of_its_specification() -> None:
    address = HOST + asking.ask(question=ASKED)["url"]

    oembed(address, status=501, format="yaml")
    for name in ("maxwidth", "maxheight"):
        for size in ("0", "-3", "wide", "1.5"):
            oembed(address, status=400, **{name: size})
    assert Client().get("/oembed").status_code == 400
    elsewhere = address.replace("testserver", "elsewhere.example")
    for url in (elsewhere, f"{HOST}/answers/nothing/", f"{HOST}/", "ftp" + address[4:], "http://[", "\0"):
        oembed(url, status=404)
    assert Client().post("/oembed").status_code == 405
    assert Answer.objects.count() == 1
