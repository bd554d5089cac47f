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
from qa_app.feedback import ratings
from qa_app.models import Answer, Feedback, Gap, StoredPolicy, question_key
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


# --- Drafts and the engine -------------------------------------------------------------------------------------------------


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


# --- Again -----------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("question", [ASKED, UNANSWERED, "My chest hurts when I lift, what should I do?"])
def test_an_answer_or_refusal_is_made_again_byte_for_byte(question: str) -> None:
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
def test_new_evidence_is_told_from_a_fault() -> None:
    body = asking.ask(question=ASKED)
    curation.withdraw(["T-SETS"], reason="a test", by=None, by_name="tests")

    found = replayed(body["id"])

    assert not found.is_same
    assert found.changed == (
        f"the corpus has gone from version {body['corpus_version']} to {body['corpus_version'] + 1}",
    )
    assert f"-source: T-SETS {body['citations'][0]['title']}" in found.differences
    assert "Not the same: the corpus has gone" in said(body["id"])


@pytest.mark.usefixtures("library")
def test_an_answer_that_differs_for_no_reason_is_a_fault() -> None:
    body = asking.ask(question=ASKED)
    row = Answer.objects.get(pk=body["id"])
    row.payload["summary"]["sentences"][0]["text"] = "Somebody wrote into the database."
    Answer.objects.filter(pk=row.pk).update(payload=row.payload)

    with pytest.raises(CommandError, match="this is a fault"):
        said(body["id"])


@pytest.mark.usefixtures("library")
def test_an_answer_of_another_engine_cannot_be_replayed() -> None:
    body = asking.ask(question=ASKED)
    Answer.objects.filter(pk=body["id"]).update(engine="another")

    with pytest.raises(CommandError, match="made by another engine"):
        said(body["id"])


@pytest.mark.usefixtures("library")
def test_a_policy_of_another_release_cannot_be_replayed() -> None:
    body = asking.ask(question=ASKED)
    Answer.objects.filter(pk=body["id"]).update(
        policy=StoredPolicy.objects.create(label="other-1", values={"moon_phase": 3})
    )

    with pytest.raises(CommandError, match="policy this one does not know"):
        said(body["id"])


@pytest.mark.django_db
def test_no_answer_no_replay() -> None:
    assert replaying.replay("nobody") is None
    with pytest.raises(CommandError, match="no answer with this id"):
        said("nobody")


# --- Feedback --------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("library")
def test_feedback_is_kept_with_its_reasons_in_their_order() -> None:
    body = asking.ask(question=ASKED)

    kept = ratings.give_feedback(body["id"], is_helpful=False, reasons=["hard", "wrong", "hard"], words="  Too short. ")

    assert kept is not None
    kept.refresh_from_db()
    assert (kept.is_helpful, kept.reasons, kept.words) == (False, ["wrong", "hard"], "Too short.")
    assert str(kept) == f"not helpful: {ASKED}"


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"is_helpful": "yes"}, "helpful"),
        ({"is_helpful": None}, "helpful"),
        ({"is_helpful": True, "reasons": ["bribed"]}, "reasons"),
        ({"is_helpful": True, "reasons": "clear"}, "reasons"),
        ({"is_helpful": True, "reasons": [["clear"]]}, "reasons"),
        ({"is_helpful": True, "words": "a\0b"}, "words"),
        ({"is_helpful": True, "words": "\ud800"}, "words"),
        ({"is_helpful": True, "words": 5}, "words"),
        ({"is_helpful": True, "words": "x" * 1_001}, "words"),
    ],
)
def test_feedback_that_cannot_be_kept_says_what_to_do(given: dict[str, object], field: str) -> None:
    body = asking.ask(question=ASKED)

    with pytest.raises(ratings.BadFeedback) as refused:
        ratings.give_feedback(body["id"], **given)  # type: ignore[arg-type]

    assert refused.value.field == field
    assert not Feedback.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("answer_id", ["nobody", "a\0b", "\ud800"])
def test_feedback_on_nothing_is_nothing(answer_id: str) -> None:
    assert ratings.give_feedback(answer_id, is_helpful=True) is None


# --- Gaps ------------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("library")
def test_a_refusal_files_a_gap_and_asking_again_counts_it() -> None:
    first = asking.ask(question=UNANSWERED)
    second = asking.ask(question="  how hot should a SAUNA be??")
    assert (first["code"], second["code"]) == ("RAG_NO_ANSWER", "RAG_NO_ANSWER")

    gap = Gap.objects.get()

    assert (gap.question, gap.asked, gap.outcome) == (UNANSWERED, 2, "insufficient_evidence")
    assert gap.last_answer_id == second["id"]
    assert "hot" in gap.missing


@pytest.mark.usefixtures("library")
def test_an_answer_files_none_and_a_collection_has_its_own() -> None:
    asking.ask(question=ASKED)
    assert not Gap.objects.exists()

    asking.ask(question=UNANSWERED)
    asking.ask(question=UNANSWERED, collection="nutrition")

    assert sorted(Gap.objects.values_list("collection", flat=True)) == ["", "nutrition"]


def test_questions_that_differ_in_case_and_marks_only_are_one() -> None:
    assert question_key("What of  Sauna?") == question_key("what of sauna")
    assert question_key("What of sauna?") != question_key("What of saunas?")


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
