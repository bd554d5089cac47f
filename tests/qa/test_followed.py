"""Living answers: whoever follows a question is told once of each change that matters, and of no other question's."""

import ipaddress
import json
import re
import smtplib
import socket
from collections import Counter
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_httpserver import HTTPServer

from corpus_app import curation, indexing
from corpus_app.roles import CURATORS
from inform_site.clients.models import ApiKey
from qa_app.answers import asking
from qa_app.following import followers, outbox, renewal, webhooks
from qa_app.models import AnswerChange, Delivery, FollowedQuestion, Follower
from tests.api.conftest import make_key
from tests.builders import make_curator, make_study
from tests.qa.conftest import ASKED, UNANSWERED, make_sauna_study

__all__ = ["make_key"]

PROTEIN_ASKED = "How much protein do older adults need to keep muscle?"
QUESTIONS = (ASKED, PROTEIN_ASKED, UNANSWERED)
LATER = timedelta(days=3)
pytestmark = pytest.mark.usefixtures("library")


def ask(question: str = ASKED) -> str:
    return str(asking.ask(question=question)["id"])


def follow(answer_id: str, address: str) -> Follower:
    """A confirmed follower, whose request to confirm was sent before."""
    assert followers.follow_by_email(answer_id, address, language="en-gb")
    follower = Follower.objects.get(address_key=followers.hash_address(address), answer=answer_id)
    Delivery.objects.filter(follower=follower).delete()
    confirmed = followers.confirm(follower.pk)
    assert confirmed is not None
    return confirmed


def follow_all() -> list[list[str]]:
    """A hundred readers, each of one of three questions; gives the addresses by question."""
    answers = [ask(question) for question in QUESTIONS]
    addresses = [[f"{n}-{place}@example.org" for n in range(34 if place else 32)] for place in range(len(answers))]
    for key, readers in zip(answers, addresses, strict=True):
        for reader in readers:
            follow(key, reader)
    return addresses


def retract(study_id: str = "T-SETS") -> None:
    curation.set_notice([study_id], "retracted", reason="Made up.", by=None, by_name="tests")


def catch_up(later: timedelta = timedelta()) -> None:
    now = timezone.now() + later
    assert not renewal.ask_due(seconds=60, now=now)
    assert not outbox.send_due(seconds=60, now=now)


def addressees() -> Counter[str]:
    """How many mails went to each address."""
    return Counter(address for one in mail.outbox for address in one.to)


def test_each_of_a_hundred_followers_is_told_once_and_nobody_of_another_question() -> None:
    of_sets, _, of_sauna = follow_all()
    catch_up()
    assert not mail.outbox

    retract()
    catch_up()
    catch_up(LATER)
    assert addressees() == Counter(of_sets)
    assert all("- Retracted: " in one.body and ASKED in one.subject for one in mail.outbox)

    mail.outbox.clear()
    curation.publish([make_sauna_study().study_id], by=None, by_name="tests")
    indexing.index_stale()
    catch_up()
    assert addressees() == Counter(of_sauna)
    assert "- New source: " in mail.outbox[0].body
    assert FollowedQuestion.objects.count() == 3
    assert AnswerChange.objects.count() == 2


class Mailing(EmailBackend):
    """A mail server with which something happens at the third mail."""

    fault: BaseException | None = None
    is_taken = False
    is_down = False

    def open(self) -> None:
        if Mailing.is_down:
            raise ConnectionRefusedError

    def send_messages(self, messages: Any) -> int:
        fault = Mailing.fault if len(mail.outbox) == 2 else None
        if fault is None or Mailing.is_taken:
            super().send_messages(messages)
        if fault is not None:
            Mailing.fault = None
            raise fault
        return 1


@pytest.mark.parametrize(
    ("fault", "is_taken", "status", "told"),
    [
        (SystemExit(), True, "uncertain", 5),  # killed before it was recorded
        (SystemExit(), False, "uncertain", 4),
        (smtplib.SMTPServerDisconnected("gone"), False, "uncertain", 4),
        (smtplib.SMTPDataError(451, b"busy"), False, "sent", 5),  # the server has said no: certainly not sent
    ],
)
def test_no_mail_is_sent_twice_whenever_the_worker_ends(
    settings: Any, monkeypatch: pytest.MonkeyPatch, fault: BaseException, is_taken: bool, status: str, told: int
) -> None:
    settings.EMAIL_BACKEND = "tests.qa.test_followed.Mailing"
    monkeypatch.setattr(Mailing, "fault", fault)
    monkeypatch.setattr(Mailing, "is_taken", is_taken)
    answer = ask()
    readers = {f"{n}@example.org" for n in range(5)}
    for reader in readers:
        follow(answer, reader)
    retract()
    renewal.ask_due(seconds=60)

    try:
        outbox.send_due(seconds=60)
    except SystemExit:
        assert Delivery.objects.filter(status="sending").count() == 1
    catch_up(LATER)

    assert len(addressees()) == told
    assert max(addressees().values()) == 1
    assert Delivery.objects.filter(status=status).count() == (1 if status == "uncertain" else 5)
    if told < len(readers):  # the desk decides
        Delivery.objects.all().send_again(timezone.now())
        catch_up(LATER)
        assert addressees() == Counter(readers)


def test_a_mail_server_that_is_down_is_tried_again_and_given_up_at_last(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_BACKEND = "tests.qa.test_followed.Mailing"
    monkeypatch.setattr(Mailing, "is_down", True)
    follow(ask(), "reader@example.org")
    retract()
    for attempt in range(len(outbox.RETRIES)):
        catch_up(timedelta(minutes=1))
        delivery = Delivery.objects.get()
        assert (delivery.status, delivery.attempts) == ("waiting", attempt + 1)
        Delivery.objects.update(due_at=timezone.now())
    catch_up(timedelta(minutes=1))
    catch_up(LATER)
    assert (Delivery.objects.get().status, Delivery.objects.get().attempts) == ("failed", len(outbox.RETRIES) + 1)

    curator = make_curator(role=CURATORS)
    client = Client()
    client.force_login(curator)
    listed = reverse("admin:qa_app_followedquestion_changelist")
    page = client.get(f"{listed}?deliveries=care").content.decode()
    assert ASKED in page
    assert "reader@example.org" not in page
    question = FollowedQuestion.objects.get()
    shown = client.get(reverse("admin:qa_app_followedquestion_change", args=[question.pk])).content.decode()
    assert "The mail server cannot be reached" in shown
    assert "Messages to followers that did not arrive" in client.get(reverse("admin:index")).content.decode()
    monkeypatch.setattr(Mailing, "is_down", False)
    client.post(listed, {"action": "send_again", "_selected_action": [question.pk]})
    catch_up()
    assert addressees() == {"reader@example.org": 1}


# --- Pages ---


def links(body: str) -> list[str]:
    return [found.removeprefix("http://127.0.0.1:8000") for found in re.findall(r"^http\S+", body, re.MULTILINE)]


@pytest.mark.parametrize("ends", ["\r\n", "\n", "\r", "\u2028", "%0d%0a", "\x0b"])
def test_neither_address_nor_question_can_write_a_header_of_a_mail(client: Client, ends: str) -> None:
    forged = f"{ends}Bcc: everybody@evil.example{ends}{ends}Buy this."
    answer = ask(f"{ASKED}{forged}")
    client.post(f"/answers/{answer}/follow/", {"email": f"reader@example.org{forged}"})
    assert not Follower.objects.exists(), "not an address"
    follow(answer, "reader@example.org")
    retract()
    catch_up()

    sent = [message_from_bytes(one.message().as_bytes()) for one in mail.outbox]
    assert [(one["To"], one["Bcc"], one["Cc"]) for one in sent] == [("reader@example.org", None, None)]
    assert ASKED[:20] in sent[0]["Subject"], "the question stands in it"
    allowed = "content-type mime-version content-transfer-encoding subject from to date message-id auto-submitted"
    assert {name.lower() for name in sent[0]} <= {*allowed.split(), "list-unsubscribe", "list-unsubscribe-post"}


def test_an_address_is_confirmed_told_and_erased_by_the_links_of_its_mails(client: Client) -> None:
    answer = ask()
    german = Client(headers={"Accept-Language": "de"})
    response = german.post(f"/answers/{answer}/follow/", {"email": " Reader@Example.org "})
    assert "ist eine E-Mail unterwegs" in response.content.decode()
    catch_up()
    retract()
    catch_up()
    (request,) = mail.outbox  # who has not confirmed is told of nothing else
    assert request.subject.startswith("Bitte bestätigen")
    assert ASKED not in request.body  # a stranger cannot have the site send words
    confirm, _ = links(request.body)

    assert "<form" in client.get(confirm).content.decode()
    assert Follower.objects.get().confirmed_at is None  # a program that opens links confirms nothing
    assert "You follow this question now" in client.post(confirm).content.decode()
    catch_up()

    _, told = mail.outbox  # what changed since is told
    page, stop = links(told.body)
    assert "Die Antwort" in told.subject
    assert "what has changed" in client.get(page).content.decode()
    assert told.extra_headers["List-Unsubscribe"] == f"<http://127.0.0.1:8000{stop}>"
    assert told.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    client.get(stop)
    assert Follower.objects.exists()
    strict = Client(enforce_csrf_checks=True)
    assert "no longer follow" in strict.post(stop, {"List-Unsubscribe": "One-Click"}).content.decode()
    assert not Follower.objects.exists()
    assert not Delivery.objects.exists()
    assert client.post(stop).status_code == 200
    assert client.get(confirm).status_code == 410
    assert client.get(f"{stop[:-3]}xx/").status_code == 404


def test_an_address_cannot_be_flooded_or_looked_up(client: Client) -> None:
    answers = [ask(question) for question in QUESTIONS] + [ask(f"{ASKED} {n}") for n in range(4)]
    follow(answers[0], "known@example.org")

    replies = {
        client.post(f"/answers/{answer}/follow/", {"email": email}).content.decode().partition("</h1>")[2]
        .replace(answer, "").partition("</section>")[0]
        for answer in answers[:1] for email in ("known@example.org", "new@example.org", "new@example.org")
    }  # fmt: skip
    for answer in answers * 3:
        followers.follow_by_email(answer, "new@example.org", language="en-gb")
    catch_up()

    assert len(replies) == 1
    assert set(addressees()) == {"new@example.org"}
    assert addressees().total() <= 2  # as many as may be in a minute
    for wrong in ("", "nobody", "a@b\nBcc: c@example.org", "x" * 300 + "@example.org"):
        assert client.post(f"/answers/{answers[0]}/follow/", {"email": wrong}).status_code == 400, wrong
    assert "new@example.org" not in str(Follower.objects.values_list("address", "address_key"))
    followers.prune(timezone.now() + followers.UNCONFIRMED_FOR + timedelta(minutes=1))
    assert Follower.objects.count() == 1
    assert FollowedQuestion.objects.count() == 1


def test_without_a_mail_server_there_is_a_feed(client: Client, settings: Any) -> None:
    settings.FOLLOW_BY_EMAIL = False
    answer = ask()
    assert 'type="email"' not in client.get(f"/answers/{answer}/").content.decode()
    assert client.post(f"/answers/{answer}/follow/", {"email": "a@example.org"}).status_code == 400
    page = client.post(f"/answers/{answer}/follow/", {"by": "feed"}, headers={"HX-Request": "true"}).content.decode()
    (feed,) = re.findall(r'href="http://testserver(/followed/[^"]+/atom.xml)"', page)
    assert "<entry>" not in client.get(feed).content.decode()

    retract()
    catch_up()

    text = client.get(feed).content.decode()
    assert text.count("<entry>") == 1
    assert "Retracted: Weekly sets" in text
    assert "It has not changed yet" not in client.get(feed.removesuffix("atom.xml")).content.decode()
    assert not Delivery.objects.exists()
    followers.prune(timezone.now() + followers.FEED_READ_WITHIN + timedelta(days=2))
    assert client.get(feed).status_code == 404


def test_only_what_readers_rely_on_is_news_and_fixed_replies_are_not_followed(client: Client) -> None:
    follow(ask(), "reader@example.org")
    make_study(study_id="T-OTHER", texts=("Cold baths were cold.",), status="draft")
    curation.publish(["T-OTHER"], by=None, by_name="tests")
    indexing.index_stale()
    catch_up()
    assert not mail.outbox  # the corpus and perhaps the score, and nothing else

    curation.set_notice(["T-SETS"], "corrected", reason="A figure.", by=None, by_name="tests")
    catch_up()
    catch_up(LATER)
    (told,) = mail.outbox
    assert "- Corrected: Weekly sets" in told.body
    for fixed in ("Can I take trenbolone 200 mg a week?", "How many studies are there?"):
        answer = ask(fixed)
        assert "follow-question" not in client.get(f"/answers/{answer}/").content.decode()
        assert client.get(f"/answers/{answer}/follow/").status_code == 404


# --- Webhooks ---


def test_a_webhook_is_signed_sent_again_with_the_same_id_and_taken_away(
    make_key: Any, settings: Any, httpserver: HTTPServer
) -> None:
    settings.WEBHOOK_NETWORKS = [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1")]
    headers = {"Authorization": f"Bearer {make_key('ask', 'read').secret}"}
    client = Client(headers=headers)
    made = client.post("/api/v1/follows", {"answer": ask(), "url": httpserver.url_for("/hook")}, "application/json")
    assert made.status_code == 201, made.content
    created = made.json()
    httpserver.expect_ordered_request("/hook", "POST").respond_with_data(status=503)
    httpserver.expect_ordered_request("/hook", "POST").respond_with_data("taken")
    retract()
    catch_up()
    catch_up(LATER)
    catch_up(LATER)

    (failed, taken) = [request for request, _ in httpserver.log]
    assert failed.headers["webhook-id"] == taken.headers["webhook-id"]
    now = datetime.fromtimestamp(int(taken.headers["webhook-timestamp"]), tz=UTC)
    proof = webhooks.sign(taken.data, secret=created["secret"], message_id=taken.headers["webhook-id"], now=now)
    assert proof["webhook-signature"] == taken.headers["webhook-signature"]
    event = json.loads(taken.data)
    assert event["type"] == "answer.changed"
    assert event["data"]["notices"][0]["kind"] == "retracted"
    assert event["data"]["sentences_out"]
    (listed,) = client.get("/api/v1/follows").json()["items"]
    assert listed["notified_at"]
    assert "secret" not in listed

    httpserver.expect_ordered_request("/hook", "POST").respond_with_data(status=410)
    curation.set_notice(["T-SETS"], "none", reason="A test.", by=None, by_name="tests")
    ApiKey.objects.update(revoked_at=timezone.now())
    catch_up(2 * LATER)
    assert "API key" in Delivery.objects.get(sent_at=None).error
    ApiKey.objects.update(revoked_at=None)
    catch_up(3 * LATER)
    assert client.get("/api/v1/follows").json()["items"] == []
    other = client.post("/api/v1/follows", {"answer": ask(), "url": "https://example.org/x"}, "application/json").json()
    stranger = Client(headers={"Authorization": f"Bearer {make_key('ask').secret}"})
    assert stranger.delete(f"/api/v1/follows/{other['id']}").status_code == 404
    assert client.delete(f"/api/v1/follows/{other['id']}").status_code == 204


PRIVATE = (
        "http://127.0.0.1/", "http://10.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/",
        "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://0.0.0.0/", "http://224.0.0.1/", "ftp://example.org/",
        "https://name:word@example.org/", "https://example.org:99999/", "nothing", "https://", "https://exa mple.org/",
)  # fmt: skip


def test_a_private_or_malformed_address_is_no_webhook() -> None:
    answer = ask()
    for url in PRIVATE:
        with pytest.raises(followers.BadFollow):
            followers.follow_by_webhook(answer, url, client="key-1")


def test_a_webhook_sent_once_more_gets_a_new_secret_also_at_the_limit_of_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(followers, "MAX_WEBHOOKS", 1)
    answer = ask()
    first = followers.follow_by_webhook(answer, "https://example.org/Hook", client="key-1")
    again = followers.follow_by_webhook(answer, "https://example.org/Hook", client="key-1")

    assert first
    assert again
    assert (first[0].pk, first[1] != again[1]) == (again[0].pk, True)
    with pytest.raises(followers.BadFollow):  # paths are told apart by case
        followers.follow_by_webhook(answer, "https://example.org/hook", client="key-1")


def test_a_public_host_gets_no_message_without_encryption(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.PRODUCTION, settings.WEBHOOK_NETWORKS = True, [ipaddress.ip_network("10.0.0.0/8")]
    for address, is_sent in (("93.184.215.14", False), ("10.1.2.3", True)):
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, found=found, **__: found)
        with nullcontext() if is_sent else pytest.raises(webhooks.BadAddress, match="https"):
            webhooks.prepare("http://hook.example/", b"{}", secret="whsec_AAAA", message_id="m", now=timezone.now())


def test_a_name_that_leads_elsewhere_when_it_is_used_reaches_nothing_private(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with DNS rebinding: public when it was checked, private when it is connected to."""
    asked: list[str] = []
    connected: list[tuple[str, int]] = []
    addresses = iter(["93.184.215.14", "127.0.0.1"])

    def resolve(host: str, port: int, **options: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(addresses), port))]

    def connect(address: tuple[str, int], *arguments: Any, **options: Any) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    message = {"secret": "whsec_AAAA", "message_id": "m", "now": timezone.now()}
    send = webhooks.prepare("https://hook.example/x", b"{}", **message)
    with pytest.raises(webhooks.NotTaken):
        send()
    assert (asked, connected) == (["hook.example"], [("93.184.215.14", 443)])
    with pytest.raises(webhooks.BadAddress):
        webhooks.prepare("https://hook.example/x", b"{}", **message)
