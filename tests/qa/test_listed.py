"""Questions of others are shown to readers only where a curator approved them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus_app import curation
from corpus_app.records import Notice
from qa_app.answers import asking, listed
from qa_app.models import Answer, Listing
from tests.builders import make_curator
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")

ALIKE = "How many weekly sets per muscle?"
ANSWERS = "/admin/qa_app/answer/"


@pytest.fixture
def curator() -> User:
    return make_curator()


def approve(question: str, by: User) -> dict[str, Any]:
    body = asking.ask(question=question)
    listed.list_publicly([body["id"]], by=by, now=timezone.now())
    return body


def chosen_action(client: Client, action: str, *ids: str) -> Any:
    return client.post(ANSWERS, {"action": action, "_selected_action": ids}, follow=True)


def test_nobody_sees_a_question_before_it_is_approved(client: Client, curator: User) -> None:
    body = asking.ask(question=ASKED)
    pages = ["/studies/T-SETS/", "/topics/training-volume/"]
    before = [client.get(page).content.decode() for page in pages]

    listed.list_publicly([body["id"]], by=curator, now=timezone.now())

    after = [client.get(page).content.decode() for page in pages]
    assert not any(body["id"] in html for html in before)
    assert all(f'<a href="{body["url"]}" rel="nofollow">{ASKED}</a>' in html for html in after)
    assert body["id"] not in client.get("/studies/T-PROTEIN/").content.decode()


def test_what_is_taken_off_the_list_is_gone_and_stays_as_history(client: Client, curator: User) -> None:
    body = approve(ASKED, curator)

    gone = listed.unlist([body["id"]], by=curator, now=timezone.now())

    assert [answer.pk for answer in gone] == [body["id"]]
    assert listed.questions() == ()
    assert not listed.is_listed(body["id"])
    assert body["id"] not in client.get("/studies/T-SETS/").content.decode()
    row = Listing.objects.get()
    assert (row.listed_by, row.taken_off_by) == (curator, curator)
    assert listed.list_publicly([body["id"]], by=curator, now=timezone.now())
    assert Listing.objects.count() == 2


def test_a_refusal_is_not_listed_and_nothing_is_listed_twice(curator: User) -> None:
    refused, answered = asking.ask(question=UNANSWERED), asking.ask(question=ASKED)
    ids = [refused["id"], answered["id"]]

    fresh = [len(listed.list_publicly(ids, by=curator, now=timezone.now())) for _ in range(2)]

    assert fresh == [1, 0]
    assert [one.question for one in listed.questions()] == [ASKED]


def test_a_question_asked_twice_is_shown_once_with_its_newest_answer(curator: User) -> None:
    approve(ASKED, curator)
    newest = approve(ASKED.upper(), curator)

    assert [one.answer_id for one in listed.questions()] == [newest["id"]]


@pytest.mark.parametrize("loss", ["withdraw", "retract"])
def test_a_question_that_lost_a_source_is_not_shown_until_the_source_is_back(curator: User, loss: str) -> None:
    approve(ASKED, curator)

    if loss == "withdraw":
        curation.withdraw(["T-SETS"], by=curator, reason="a mistake")
        assert listed.questions() == ()
        curation.publish(["T-SETS"], by=curator)
    else:
        curation.set_notice(["T-SETS"], Notice.RETRACTED, by=curator, reason="fraud")
        assert listed.questions() == ()
        curation.set_notice(["T-SETS"], Notice.NONE, by=curator, reason="reinstated")

    assert len(listed.questions()) == 1


def test_similar_questions_share_concepts_and_words(curator: User) -> None:
    near = approve(ALIKE, curator)
    approve("How much protein do older adults need for lean mass?", curator)

    found = listed.similar_to(asking.ask(question=ASKED))

    assert [one.answer_id for one in found] == [near["id"]]
    assert listed.similar_to(near) == ()


def test_reading_them_takes_two_queries(curator: User, django_assert_num_queries: Any) -> None:
    for question in (ASKED, ALIKE):
        approve(question, curator)

    with django_assert_num_queries(2):
        assert len(listed.questions_citing("T-SETS")) == 2


def test_robots_are_kept_from_answers_and_let_to_the_studies(client: Client) -> None:
    response = client.get("/robots.txt")

    rules = response.content.decode().splitlines()
    assert response["Content-Type"].startswith("text/plain")
    assert {"User-agent: *", "Disallow: /answers/", "Disallow: /history/"} <= set(rules)
    assert "Disallow: /" not in rules
    assert '<meta name="robots" content="noindex">' in client.get(asking.ask(question=ASKED)["url"]).content.decode()


# --- At the desk -----------------------------------------------------------------------------------------------------------


def test_a_curator_lists_and_takes_off_with_an_entry_in_the_history(client: Client, curator: User) -> None:
    body, refused = asking.ask(question=ASKED), asking.ask(question=UNANSWERED)
    client.force_login(curator)

    html = chosen_action(client, "list_publicly", body["id"], refused["id"]).content.decode()

    assert "1 question is now shown to other readers." in html
    assert "1 question is left as it was" in html
    assert listed.is_listed(body["id"])
    page = client.get(reverse("admin:qa_app_answer_change", args=[body["id"]])).content.decode()
    assert "approved by curator" in page
    assert [row.pk for row in client.get(ANSWERS, {"listed": "yes"}).context["cl"].queryset] == [body["id"]]
    assert [row.pk for row in client.get(ANSWERS, {"listed": "no"}).context["cl"].queryset] == [refused["id"]]

    html = chosen_action(client, "take_off_the_list", body["id"]).content.decode()

    assert "1 question is no longer shown to other readers." in html
    assert not listed.is_listed(body["id"])
    told = LogEntry.objects.filter(object_id=body["id"]).order_by("pk")
    assert [entry.get_change_message() for entry in told] == ["Listed publicly.", "Taken off the public list."]
    assert "; taken off" in client.get(reverse("admin:qa_app_answer_change", args=[body["id"]])).content.decode()


def test_a_desk_reader_cannot_list(client: Client) -> None:
    body = asking.ask(question=ASKED)
    client.force_login(make_curator("reader", role="Desk readers"))

    assert "list_publicly" not in client.get(ANSWERS).content.decode()
    chosen_action(client, "list_publicly", body["id"])

    assert not listed.is_listed(body["id"])


# --- Constraints -----------------------------------------------------------------------------------------------------------


def listing(answer_id: str, **changes: Any) -> Listing:
    fields = {
        "question_key": "0",
        "study_ids": [],
        "concept_ids": [],
        "terms": [],
        "listed_at": timezone.now(),
    } | changes
    return Listing.objects.create(answer=Answer.objects.get(pk=answer_id), **fields)


def test_an_answer_is_listed_once_at_a_time() -> None:
    body = asking.ask(question=ASKED)
    listing(body["id"], taken_off_at=timezone.now())
    listing(body["id"])

    with pytest.raises(IntegrityError, match="listing_once_at_a_time"), transaction.atomic():
        listing(body["id"])


def test_whoever_took_it_off_did_so_at_a_time(curator: User) -> None:
    body = asking.ask(question=ASKED)

    with pytest.raises(IntegrityError, match="listing_taken_off_by_and_when"), transaction.atomic():
        listing(body["id"], taken_off_by=curator)
