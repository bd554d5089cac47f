"""A browser's own questions: remembered in its cookie, told to nobody else, forgotten one by one or all."""

from __future__ import annotations

from http.cookies import Morsel
from typing import Any

import pytest
from django.core import signing
from django.test import Client

from qa_app.answers import asking
from qa_app.pages.history import COOKIE, MAX_REMEMBERED
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")

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


def test_the_newest_question_comes_first_and_none_of_others_until_it_is_forgotten(client: Client) -> None:
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


def test_a_cookie_of_another_hand_and_answers_that_there_are_not_say_nothing(client: Client) -> None:
    answer_id = ask(client, ASKED)
    client.cookies[COOKIE] = f"{answer_id}:{signing.dumps('x')}"
    stranger = Client()

    assert "You have not asked anything" in shown(client)
    for unknown in ("nobody", "", "a\0b", "~"):
        assert stranger.post("/history/", {"keep": unknown}).status_code == 303
        assert COOKIE not in stranger.cookies
