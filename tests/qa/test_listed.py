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
from qa_app.models import Listing
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


def test_a_question_is_shown_from_its_approval_until_it_is_taken_off(client: Client, curator: User) -> None:
    body, refused = asking.ask(question=ASKED), asking.ask(question=UNANSWERED)
    ids = [refused["id"], body["id"]]

    rules = client.get("/robots.txt").content.decode().splitlines()
    assert {"User-agent: *", "Disallow: /answers/", "Disallow: /history/"} <= set(rules)
    assert "Disallow: /" not in rules
    assert '<meta name="robots" content="noindex">' in client.get(body["url"]).content.decode()

    def shown() -> list[bool]:
        link = f'<a href="{body["url"]}" rel="nofollow">{ASKED}</a>'
        pages = ("/studies/T-SETS/", "/topics/training-volume/", "/studies/T-PROTEIN/")
        return [link in client.get(page).content.decode() for page in pages]

    assert shown() == [False, False, False]
    fresh = [len(listed.list_publicly(ids, by=curator, now=timezone.now())) for _ in range(2)]
    assert fresh == [1, 0]  # no refusal, and nothing twice
    assert shown() == [True, True, False]
    newest = approve(ASKED.upper(), curator)
    assert [one.answer_id for one in listed.questions()] == [newest["id"]]

    gone = listed.unlist([body["id"], newest["id"]], by=curator, now=timezone.now())

    assert {answer.pk for answer in gone} == {body["id"], newest["id"]}
    assert listed.questions() == ()
    assert shown() == [False, False, False]
    row = Listing.objects.get(answer=body["id"])
    assert (row.listed_by, row.taken_off_by) == (curator, curator)


def test_a_question_that_lost_a_source_is_not_shown_until_the_source_is_back(curator: User) -> None:
    approve(ASKED, curator)

    curation.withdraw(["T-SETS"], by=curator, reason="a mistake")
    assert listed.questions() == ()
    curation.publish(["T-SETS"], by=curator)
    assert len(listed.questions()) == 1
    curation.set_notice(["T-SETS"], Notice.RETRACTED, by=curator, reason="fraud")
    assert listed.questions() == ()


def test_similar_questions_share_concepts_and_words(curator: User, django_assert_num_queries: Any) -> None:
    near = approve(ALIKE, curator)
    approve("How much protein do older adults need for lean mass?", curator)

    with django_assert_num_queries(2):
        assert len(listed.questions_citing("T-SETS")) == 1
    assert [one.answer_id for one in listed.similar_to(asking.ask(question=ASKED))] == [near["id"]]
    assert listed.similar_to(near) == ()


def test_curators_alone_list_and_take_off_with_an_entry_in_the_history(client: Client, curator: User) -> None:
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
    client.force_login(make_curator("reader", role="Desk readers"))
    assert "list_publicly" not in client.get(ANSWERS).content.decode()
    chosen_action(client, "list_publicly", body["id"])
    assert not listed.is_listed(body["id"])


def listing(answer_id: str, **changes: Any) -> Listing:
    empty: dict[str, Any] = {"question_key": "0", "study_ids": [], "concept_ids": [], "terms": []}
    return Listing.objects.create(answer_id=answer_id, listed_at=timezone.now(), **(empty | changes))


def test_an_answer_is_listed_once_at_a_time_and_taken_off_by_somebody_at_a_time(curator: User) -> None:
    body = asking.ask(question=ASKED)
    listing(body["id"], taken_off_at=timezone.now())
    listing(body["id"])

    with pytest.raises(IntegrityError, match="listing_once_at_a_time"), transaction.atomic():
        listing(body["id"])
    with pytest.raises(IntegrityError, match="listing_taken_off_by_and_when"), transaction.atomic():
        listing(asking.ask(question=ALIKE)["id"], taken_off_by=curator)
