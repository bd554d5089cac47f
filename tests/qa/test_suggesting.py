"""Questions offered to readers: while they type, and those of others that a curator approved."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus_app import curation
from corpus_app.models import Concept
from corpus_app.records import Notice
from inform_site.clients.limits import Limits
from qa_app.answers import asking, listed
from qa_app.feedback import suggestions
from qa_app.models import Listing
from tests.builders import make_curator, make_study
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")

BY: dict[str, Any] = {"by": None, "by_name": "tests", "reason": "for this test"}


def offered(typed: str) -> list[tuple[str, str]]:
    rows = Client().get("/suggest/", {"q": typed}).json()["suggestions"]
    return [(row["kind"], row["question"]) for row in rows]


def publish(study_id: str, **changes: Any) -> None:
    make_study(study_id=study_id, status="draft", **changes)
    curation.publish([study_id], **BY)


def test_studies_are_found_by_title_the_newest_first() -> None:
    publish("T-OLD", title="Kettlebells and grip", year=1999)
    publish("T-NEW", title="Grip after kettlebell swings", year=2021)

    assert offered("Does grip need kettleb") == [
        ("study", "What did “Grip after kettlebell swings” find?"),
        ("study", "What did “Kettlebells and grip” find?"),
    ]
    assert offered("kettlebell grip") == offered("grip kettle") != []
    assert offered("kettle grip") == []  # only the last word may be unfinished
    assert offered("grip sauna") == []
    for number in range(5):
        publish(f"T-MANY{number}", title=f"Kettlebells, part {number}")
    assert len(offered("kettlebells")) == suggestions.MAX_PER_KIND


def test_curated_questions_come_first_and_go_with_their_study(client: Client) -> None:
    question, other = "Does a sauna ease sore legs?", "Can a sauna help at night?"
    sauna = Concept.objects.get(concept_id="sauna")
    make_study(study_id="T-SAUNA", status="draft", title="Heat and soreness", year=2020, concepts=(sauna,))
    curation.revise_study("T-SAUNA", by=None, by_name="tests", asked_as=f"{question}\nsauna legs\n{other}")
    pages = ("/studies/T-SAUNA/", "/topics/sauna/")

    def linked() -> list[bool]:
        return [f'value="{question}"' in client.get(page).content.decode() for page in pages]

    assert offered("saun") == []
    curation.publish(["T-SAUNA"], **BY)

    assert offered("saun")[:2] == [("curated", other), ("curated", question)]
    assert ("curated", "sauna legs") not in offered("saun"), "not a question"
    assert offered("sore leg sauna") == [("curated", question)]
    assert offered("sauna nigh")[0] == ("curated", other)
    assert linked() == [True, True]
    strict = Client(enforce_csrf_checks=True)
    assert not strict.get(pages[0]).cookies, "its form needs no token"
    asked = strict.post("/offered/", {"question": question})
    assert asked.status_code == 303
    assert asked["Location"].startswith("/answers/")
    assert strict.post("/offered/", {"question": question}, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    curation.set_notice(["T-SAUNA"], Notice.RETRACTED, **BY)
    assert {kind for kind, _ in offered("saun")} == {"topic"}
    assert linked() == [False, False]


def test_what_names_nothing_is_offered_nothing() -> None:
    for typed in ("", "t", "how many of the", "?!", "\0", "\ud800", "“”", "%", "training " * 40, "weekly sets\0" * 999):
        assert suggestions.suggest(typed) == ()


def test_an_earlier_question_is_offered_once_approved() -> None:
    body = asking.ask(question=ASKED)
    before = offered(ASKED[:-4])

    listed.list_publicly([body["id"]], by=make_curator(), now=timezone.now())

    assert ("question", ASKED) not in before
    assert [row for row in offered(ASKED[:-4]) if row[0] == "question"] == [("question", ASKED)]
    curation.withdraw(["T-SETS"], **BY)
    assert ("question", ASKED) not in offered(ASKED[:-4])


def test_more_than_anybody_types_is_asked_to_wait(settings: Any) -> None:
    settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"suggest": Limits(1_000, 2)}
    client = Client()

    first, second, third = (client.get("/suggest/", {"q": "training vol"}) for _ in range(3))

    assert [first.status_code, second.status_code, third.status_code] == [200, 200, 429]
    assert (third.json(), int(third["Retry-After"]) > 0) == ({"suggestions": []}, True)
    assert '"suggest-day";r=0' in third["RateLimit"]
    assert "no-cache" in first["Cache-Control"]
    assert client.post("/suggest/?q=weekly").status_code == 405


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
        link = f'<a href="{body["url"]}" rel="nofollow" dir="auto">{ASKED}</a>'
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


def test_a_question_without_a_source_is_hidden_until_it_is_back(curator: User) -> None:
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
