"""A follow-up keeps parent, mode, collection and subject; a browser lists its own questions and forgets them."""

from http.cookies import Morsel
from typing import Any

import pytest
from django.core import signing
from django.test import Client

from qa_app.answers import asking, history, replaying
from qa_app.models import Gap
from qa_app.pages.history import COOKIE, MAX_REMEMBERED
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")

WOMEN = "What about women?"
MEANT = "How many weekly sets per muscle for growth in women?"


@pytest.fixture
def first() -> dict[str, Any]:
    return asking.ask(question=ASKED, mode="intermediate", collection="training")


def test_it_keeps_what_the_question_before_was_about(client: Client, first: dict[str, Any]) -> None:
    body = asking.ask(question=WOMEN, parent=first["id"])
    chosen = asking.ask(question=WOMEN, parent=first["id"], mode="beginner", collection="nutrition")
    asked = {"question": WOMEN, "parent": first["id"]}
    sent = client.post("/api/v1/answers", asked, content_type="application/json").json()
    replay = replaying.replay(body["id"])

    assert (body["question"], body["understood_as"], body["parent"]) == (WOMEN, MEANT, first["id"])
    assert (body["mode"], body["collection"]) == ("intermediate", "training")
    assert "set" in body["understood"]["terms"]
    assert body["understood"]["population"]["sexes"] == ["female"]
    assert asking.find_answer(body["id"])["understood_as"] == MEANT  # type: ignore[index]
    assert (chosen["mode"], chosen["collection"]) == ("beginner", "nutrition")
    assert (sent["understood_as"], sent["mode"], sent["collection"]) == (MEANT, "intermediate", "training")
    assert replay.is_same


def test_whole_questions_and_fixed_replies_are_not_rewritten(first: dict[str, Any]) -> None:
    declined = asking.ask(question="What about steroids, which dose?", parent=first["id"])

    assert asking.ask(question="Is it safe to take creatine?", parent=first["id"])["understood_as"] is None
    assert asking.ask(question=WOMEN)["understood_as"] is None
    assert (declined["outcome"], declined["understood_as"]) == ("guardrail", None)


def test_a_chain_keeps_its_subject_and_is_listed(first: dict[str, Any]) -> None:
    second = asking.ask(question=WOMEN, parent=first["id"])
    third = asking.ask(question="and older men?", parent=second["id"])

    assert third["understood_as"] == "How many weekly sets per muscle for growth in older men?"
    steps = [(step.address, step.question) for step in history.list_thread(third["parent"])]
    assert steps == [(first["url"], ASKED), (second["url"], WOMEN)]
    assert history.list_thread(None) == []


def test_what_may_be_asked_of_anything_is_not_answered_by_itself(first: dict[str, Any]) -> None:
    alone = asking.ask(question="how many should I do per week?")
    after = asking.ask(question="how many should I do per week?", parent=first["id"])

    assert alone["outcome"] == "insufficient_evidence"
    assert alone["message"].startswith("This question does not say what it is about. Please name it and ask again.")
    assert after["understood_as"] == "how many should I do per week (weekly sets, muscle, growth)?"


def test_a_gap_is_filed_under_what_was_meant() -> None:
    first = asking.ask(question="How hot should a sauna be?")

    asking.ask(question="for women?", parent=first["id"])

    assert Gap.objects.latest("pk").question == "How hot should a sauna be for women?"


OTHER = "How much protein do older adults need?"


def ask(client: Client, question: str, **headers: str) -> str:
    """The id of the answer."""
    sent = client.post("/", {"question": question}, headers=headers)
    address = sent["Location"] if sent.status_code == 303 else sent["HX-Push-Url"]
    return str(address).rstrip("/").rpartition("/")[2]


def shown(client: Client) -> str:
    return client.get("/history/").content.decode()


def cookie(client: Client) -> Morsel[Any]:
    return client.cookies[COOKIE]


def test_a_browser_lists_its_own_questions_until_they_are_forgotten(client: Client) -> None:
    first, second = ask(client, ASKED), ask(client, OTHER, **{"HX-Request": "true"})
    response = client.get("/history/")
    html = response.content.decode()

    assert html.index(f"/answers/{second}/") < html.index(f"/answers/{first}/")
    assert '<meta name="robots" content="noindex">' in html
    assert {"private", "no-store"} <= set(response["Cache-Control"].split(", "))
    assert ASKED not in shown(Client())
    assert "You have not asked anything in this browser yet" in shown(Client())
    assert client.put("/history/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/history/", {"forget_all": "yes"}).status_code == 403
    assert client.post("/history/", {"forget": first}).status_code == 303
    assert (first in shown(client), second in shown(client)) == (False, True)
    client.post("/history/", {"forget_all": "yes"})
    assert cookie(client).value == ""
    assert "You have not asked anything" in shown(client)


def test_the_cookie_is_for_this_site_alone_and_stays_small(client: Client) -> None:
    ids = [asking.ask(question=ASKED)["id"] for _ in range(3)]
    for answer_id in (*ids, ids[0]):
        client.post("/history/", {"keep": answer_id})

    kept = cookie(client)

    assert (kept["httponly"], kept["samesite"]) == (True, "Lax")
    assert kept.value.split(":")[0].split("~") == [ids[0], ids[2], ids[1]]
    assert MAX_REMEMBERED * (40 + 1) < 4096 - 100  # the largest cookie that browsers keep


def test_forged_cookies_and_unknown_answers_list_nothing(client: Client) -> None:
    answer_id = ask(client, ASKED)
    client.cookies[COOKIE] = f"{answer_id}:{signing.dumps('x')}"
    stranger = Client()

    assert "You have not asked anything" in shown(client)
    for unknown in ("nobody", "", "a\0b", "~"):
        assert stranger.post("/history/", {"keep": unknown}).status_code == 303
        assert COOKIE not in stranger.cookies
