"""The answers of /api/v1/: sent twice and answered once, one's own, made again, judged, taken along."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from corpus_app import curation
from inform_site.clients import keys
from qa_app.answers import asking
from qa_app.models import Answer, Feedback, SentQuestion, StoredPolicy
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")

ANSWERS = "/api/v1/answers"
KEPT_FOR = SentQuestion.objects.all().KEPT_FOR
OTHER = "How much protein do older adults need to keep lean mass?"


def send(
    method: str, path: str, body: Any = None, *, key: str | None = None, status: int, **headers: str
) -> tuple[Any, dict[str, str]]:
    """Body and headers of a response with this status; a body that is no JSON as bytes."""
    if key:
        headers["Authorization"] = f"Bearer {key}"
    data = "" if body is None else json.dumps(body)
    response = Client(raise_request_exception=False).generic(
        method, path, data, content_type="application/json", headers=headers
    )
    assert response.status_code == status, response.content
    kind = response.get("Content-Type", "")
    is_json = kind.endswith("json") and "csl" not in kind
    return (json.loads(response.content) if is_json else response.content), dict(response.items())


def ask(question: str = ASKED, *, status: int = 201, key: str | None = None, **headers: str) -> Any:
    return send("POST", ANSWERS, {"question": question}, key=key, status=status, **headers)[0]


def make_key(name: str = "A client") -> str:
    made = keys.make(name=name, scopes=["ask", "read"], owner=None, by=None, now=timezone.now())
    return made.secret


def once(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def test_a_question_sent_twice_with_its_key_is_answered_once() -> None:
    first, headers = send("POST", ANSWERS, {"question": ASKED}, status=201, **once("k-1"))
    again, repeated = send("POST", ANSWERS, {"question": ASKED}, status=200, **once("k-1"))
    other = ask(OTHER, status=422, **once("k-1"))

    assert again == first
    assert repeated["Location"] == headers["Location"]
    assert other["type"] == "urn:inform:problem:idempotency-key-reused"
    assert Answer.objects.count() == 1
    curation.withdraw(["T-SETS"], reason="A test.", by=None, by_name="tests")
    assert "increased growth" not in json.dumps(ask(status=200, **once("k-1")))


def test_a_refused_or_failed_question_leaves_its_key_free(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError

    ask("", status=400, **once("k-1"))
    with monkeypatch.context() as patched:
        patched.setattr(asking, "ask", fail)
        ask(status=500, **once("k-1"))

    assert ask(**once("k-1"))["outcome"] == "answered"


def test_a_question_that_is_being_answered_waits_until_it_was_broken_off() -> None:
    ask(**once("k-1"))
    SentQuestion.objects.update(answer=None)

    found, headers = send("POST", ANSWERS, {"question": ASKED}, status=409, **once("k-1"))
    SentQuestion.objects.update(sent_at=timezone.now() - timedelta(seconds=settings.ANSWER_SECONDS + 1))
    again = ask(**once("k-1"))

    assert (found["type"], headers["Retry-After"]) == ("urn:inform:problem:still-answering", "1")
    assert SentQuestion.objects.get().answer_id == again["id"]


def test_a_malformed_key_is_refused() -> None:
    for key in ("", " ", "a b", "é", "a" * 256):
        assert ask(status=400, **once(key))["errors"][0]["field"] == "Idempotency-Key"


def test_an_answer_is_made_again_to_the_byte_and_what_changed_is_said() -> None:
    answer = ask()

    same, _ = send("POST", f"{ANSWERS}/{answer['id']}/replay", status=200)
    curation.publish(["T-DRAFT"], by=None, by_name="tests")
    other, _ = send("POST", f"{ANSWERS}/{answer['id']}/replay", {}, status=200)

    assert same == {"id": answer["id"], "is_same": True, "changed": [], "differences": []}
    assert other["is_same"] is False
    assert any("corpus has gone" in line for line in other["changed"])
    assert any(line.startswith("+source: T-DRAFT") for line in other["differences"])
    Answer.objects.update(policy=StoredPolicy.objects.create(label="other-1", values={"moon": 1}))
    refused, _ = send("POST", f"{ANSWERS}/{answer['id']}/replay", status=409)
    assert refused["type"] == "urn:inform:problem:cannot-replay"


def test_a_replay_says_no_word_of_what_was_withdrawn_or_deleted() -> None:
    answer = ask()

    for leave in (
        lambda **by: curation.withdraw(["T-SETS"], reason="A test.", **by),
        lambda **by: curation.delete_study("T-SETS", **by),
    ):
        leave(by=None, by_name="tests")
        found, _ = send("POST", f"{ANSWERS}/{answer['id']}/replay", status=200)

        assert (found["is_same"], found["differences"]) == (False, None)
        assert not [word for word in ("increased growth", "T-SETS") if word in json.dumps(found)]


def test_feedback_is_kept_and_amended() -> None:
    answer = ask()
    path = f"{ANSWERS}/{answer['id']}/feedback"

    given, _ = send("POST", path, {"helpful": False, "reasons": ["hard"], "words": " Too long. "}, status=201)
    amended, _ = send("POST", path, {"helpful": True, "amends": given["id"]}, status=200)

    row = Feedback.objects.get()
    assert (given["helpful"], given["reasons"], given["words"]) == (False, ["hard"], "Too long.")
    assert (row.is_helpful, row.reasons, row.words) == (True, [], "")
    assert given["answer"] == amended["answer"] == answer["id"]
    other = f"{ANSWERS}/{ask()['id']}/feedback"
    send("POST", other, {"helpful": False, "amends": given["id"]}, status=400)
    assert Feedback.objects.get().is_helpful


def test_bad_feedback_is_refused_by_field() -> None:
    path = f"{ANSWERS}/{ask()['id']}/feedback"
    bad: list[tuple[dict[str, Any], str]] = [
        ({}, "helpful"), ({"helpful": "yes"}, "helpful"), ({"helpful": True, "reasons": ["moon"]}, "reasons"),
        ({"helpful": True, "reasons": "hard"}, "reasons"), ({"helpful": True, "reasons": [["hard"]]}, "reasons"),
        ({"helpful": True, "words": 5}, "words"), ({"helpful": True, "words": "a\0b"}, "words"),
        ({"helpful": True, "words": "a" * 1001}, "words"), ({"helpful": True, "moon": 1}, "moon"),
        ({"helpful": True, "amends": 1}, "amends"), ({"helpful": True, "amends": "forged"}, "amends"),
    ]  # fmt: skip

    for body, field in bad:
        found, _ = send("POST", path, body, status=400)
        assert [error["field"] for error in found["errors"]] == [field]
    assert not Feedback.objects.exists()


def test_programs_read_the_nouns_of_the_site_where_the_words_are_ours() -> None:
    refused, counted, quoted = (
        ask(question)["id"] for question in (UNANSWERED, "How many studies do you have?", ASKED)
    )
    curation.set_lexica({"site": 'nouns = { one = "entry", many = "entries" }'}, by=None, by_name="tests")

    shown = {key: send("GET", f"{ANSWERS}/{key}", status=200)[0] for key in (refused, counted, quoted)}
    missing = send("GET", "/api/v1/studies/none", status=404)[0]
    markdown = send("GET", f"{ANSWERS}/{refused}?format=md", status=200)[0].decode()

    assert shown[refused]["message"].startswith("The entries here do not answer this question.")
    assert shown[counted]["summary"]["text"].startswith("There are 2 published entries here.")
    assert "no cited entry" in str(shown[quoted]["confidence"]) or "the cited entries" in str(shown[quoted])
    assert missing["detail"] == "There is no entry with this id."
    assert "The entries here" in markdown
