"""Answers whose sources were taken back: listed at the desk, asked again there, and off the list once they are."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus_app import curation
from corpus_app.models import Passage
from corpus_app.roles import READERS
from qa_app.answers import asking, retracted
from qa_app.models import Answer
from tests.builders import make_curator
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")
LIST = "admin:qa_app_answer_changelist"


@pytest.fixture
def curator(client: Client) -> User:
    user = make_curator()
    client.force_login(user)
    return user


def text_of(response: Any) -> str:
    html: str = response.content.decode()
    return html


def retract(by: User) -> None:
    curation.set_notice(["T-SETS"], "retracted", by=by, reason="The data were lost.")


def listed(client: Client, **query: str) -> set[str]:
    return {answer.pk for answer in client.get(reverse(LIST), query).context["cl"].result_list}


@pytest.mark.parametrize("loss", ["retract", "withdraw"])
def test_an_answer_that_lost_a_source_is_listed_until_its_question_is_asked_again(curator: User, loss: str) -> None:
    body = asking.ask(question=ASKED)
    assert not retracted.to_ask_again().exists()
    retract(curator) if loss == "retract" else curation.withdraw(["T-SETS"], by=curator, reason="A test.")

    asking.ask(question=ASKED, mode="intermediate")  # another question
    assert [answer.pk for answer in retracted.to_ask_again()] == [body["id"]]
    asking.ask_again(body["id"])

    assert not retracted.to_ask_again().exists()
    assert [answer.pk for answer in retracted.with_lost_sources()] == [body["id"]]


def test_corrected_studies_and_changed_words_have_lists_of_their_own(client: Client, curator: User) -> None:
    body = asking.ask(question=ASKED)
    assert listed(client, sources="marked") == listed(client, sources="changed") == set()

    curation.set_notice(["T-SETS"], "corrected", by=curator, reason="A figure.")
    passage = Passage.objects.get(study__study_id="T-SETS")
    curation.revise_passage(passage.pk, text=f"{passage.text} This was added.", by=curator)

    assert listed(client, sources="marked") == listed(client, sources="changed") == {body["id"]}
    assert listed(client, sources="lost") == listed(client, sources="again") == set()
    assert listed(client, quotes="T-SETS,T-PROTEIN") == {body["id"]}
    assert listed(client, quotes="T-PROTEIN") == set()


def test_after_a_retraction_the_desk_leads_to_the_answers_and_asks_them_again(
    client: Client, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qa_app.desk.asked.MAX_QUESTIONS", 1)
    body, other = asking.ask(question=ASKED), asking.ask(question=f"{ASKED} Really?")
    study = Passage.objects.get(study__study_id="T-SETS").study
    posted = {"ids": study.pk, "notice": "retracted", "reason": "The data were lost."}

    page = client.post(reverse("admin:corpus_app_study_state", args=["notice"]), posted, follow=True)
    assert f'{reverse(LIST)}?quotes=T-SETS">See which, and ask again</a>' in page.content.decode()
    assert listed(client, sources="again") == {body["id"], other["id"]}

    act = {"action": "ask_again", "_selected_action": [body["id"], other["id"]]}
    told = text_of(client.post(reverse(LIST), act, follow=True))

    newer = Answer.objects.exclude(pk__in=[body["id"], other["id"]]).get()
    assert f"{newer.get_absolute_url()}?since=" in told
    assert "The first 1 were asked again. Choose the others next." in told
    assert len(listed(client, sources="again")) == 1


def test_a_desk_reader_asks_nothing_again(client: Client) -> None:
    body = asking.ask(question=ASKED)
    client.force_login(make_curator("reader", role=READERS))

    client.post(reverse(LIST), {"action": "ask_again", "_selected_action": [body["id"]]})

    assert Answer.objects.count() == 1
