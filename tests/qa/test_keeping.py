"""What is kept of a question: drafts, the engine, feedback, gaps; and whether a kept answer can be made again."""

from __future__ import annotations

import threading
import uuid
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from corpus_app import curation
from qa_app.answers import answering, asking, replaying, storing
from qa_app.models import Answer, Gap, StoredPolicy
from tests.builders import make_policy
from tests.qa.conftest import ASKED, UNANSWERED
from tests.qa.test_answering import ask_with_model


def replayed(answer_id: str) -> replaying.Replay:
    found = replaying.replay(answer_id)
    assert found is not None
    return found


def said(answer_id: str) -> str:
    out = StringIO()
    call_command("replay", answer_id, stdout=out)
    return out.getvalue()


@pytest.mark.usefixtures("library")
def test_the_draft_is_kept_as_it_was_received() -> None:
    body = asking.ask(question=ASKED)

    row = Answer.objects.get(pk=body["id"])
    assert [draft["writer"] for draft in row.drafts] == ["extractive"]
    assert [s["text"] for s in storing.restore_drafts(row)[0]["summary"]] == [
        s["text"] for s in body["summary"]["sentences"]
    ]
    assert row.engine == answering.engine()


@pytest.mark.usefixtures("library")
def test_a_draft_that_fell_is_kept_beside_the_one_that_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    body = ask_with_model(monkeypatch, "Forty sets \0 are best, \ud800 says nobody.")

    drafts = Answer.objects.get(pk=body["id"]).drafts
    assert [draft["writer"] for draft in drafts] == ["llm", "extractive"]
    assert drafts[0]["answer"][0]["text"] == "Forty sets \ufffd are best, ? says nobody."


@pytest.mark.usefixtures("library")
def test_an_answer_or_refusal_is_made_again_byte_for_byte() -> None:
    for question in (ASKED, UNANSWERED, "My chest hurts when I lift, what should I do?"):
        body = asking.ask(question=question)
        assert replayed(body["id"]) == replaying.Replay(is_same=True, changed=(), differences=())
    assert said(body["id"]) == "The same, byte for byte.\n"


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("texts", [("Few sets still build muscle.",), ("Forty sets are best.",), ()])
def test_what_a_model_wrote_is_verified_again_from_its_kept_draft(
    monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]
) -> None:
    body = ask_with_model(monkeypatch, *texts)
    monkeypatch.undo()

    assert replayed(body["id"]).is_same


@pytest.mark.usefixtures("library")
def test_new_evidence_is_told_from_a_fault_and_from_what_cannot_be_replayed() -> None:
    body = asking.ask(question=ASKED)
    row = Answer.objects.get(pk=body["id"])
    row.payload["summary"]["sentences"][0]["text"] = "Somebody wrote into the database."

    Answer.objects.filter(pk=row.pk).update(payload=row.payload)
    with pytest.raises(CommandError, match="this is a fault"):
        said(body["id"])
    curation.withdraw(["T-SETS"], reason="a test", by=None, by_name="tests")
    assert "Not the same: the corpus has gone from version 1 to 2" in said(body["id"])
    other = StoredPolicy.objects.create(label="other-1", values={"moon_phase": 3})
    Answer.objects.filter(pk=row.pk).update(policy=other)
    with pytest.raises(CommandError, match="policy this one does not know"):
        said(body["id"])
    Answer.objects.filter(pk=row.pk).update(engine="another")
    with pytest.raises(CommandError, match="made by another engine"):
        said(body["id"])
    with pytest.raises(CommandError, match="no answer with this id"):
        said("nobody")


@pytest.mark.usefixtures("library")
def test_a_refusal_files_a_gap_for_its_collection_and_asking_again_counts_it() -> None:
    asking.ask(question=ASKED)
    assert not Gap.objects.exists()

    first = asking.ask(question=UNANSWERED)
    second = asking.ask(question="  how hot should a SAUNA be??")
    asking.ask(question=UNANSWERED, collection="nutrition")

    assert (first["code"], second["code"]) == ("RAG_NO_ANSWER", "RAG_NO_ANSWER")
    gap, other = Gap.objects.order_by("collection")
    assert (gap.question, gap.asked, gap.outcome, gap.collection) == (UNANSWERED, 2, "insufficient_evidence", "")
    assert gap.last_answer_id == second["id"]
    assert "hot" in gap.missing
    assert (other.asked, other.collection) == (1, "nutrition")


def unanswered(answer_id: str, *, at: datetime) -> Answer:
    return Answer.objects.create(
        id=answer_id, request_id=uuid.uuid4(), question=UNANSWERED, mode="beginner", outcome="insufficient_evidence",
        corpus_version=1, policy=make_policy(), payload={}, created_at=at,
    )  # fmt: skip


@pytest.mark.django_db
def test_a_gap_is_filed_by_one_statement_and_was_last_asked_about_when_it_was(django_assert_num_queries: Any) -> None:
    now = timezone.now()
    newer, older = unanswered("newer", at=now), unanswered("older", at=now - timedelta(hours=1))

    for answer, missing in ((newer, ["hot"]), (older, ["sauna"])):
        with django_assert_num_queries(1):
            Gap.objects.file(answer, missing=missing)

    gap = Gap.objects.get()
    assert (gap.asked, gap.missing, gap.last_answer_id) == (2, ["sauna"], "older")
    assert (gap.first_asked_at, gap.last_asked_at) == (now, now)


@pytest.mark.django_db(transaction=True)
def test_two_who_ask_at_once_are_both_counted() -> None:
    row = unanswered("one", at=timezone.now())
    start = threading.Barrier(8)

    def file() -> None:
        try:
            start.wait()
            Gap.objects.file(row, missing=[])
        finally:
            connection.close()

    people = [threading.Thread(target=file) for _ in range(8)]
    for person in people:
        person.start()
    for person in people:
        person.join()

    assert Gap.objects.get().asked == 8
