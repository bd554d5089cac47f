"""What is kept of a question: drafts, evidence for its parts, gaps; and whether a kept answer can be made again."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection
from django.utils import timezone

from corpus_app import curation
from corpus_app.models import Passage, Study
from qa_app import tasks
from qa_app.answers import asking, contexts, replaying
from qa_app.models import Answer, CorpusCalibration, EvidenceContext, Gap, StoredPolicy
from tests.builders import make_policy, run_command
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")


def replayed(answer_id: str) -> replaying.Replay:
    found = replaying.replay(answer_id)
    assert found is not None
    return found


def test_an_answer_or_refusal_is_made_again_byte_for_byte() -> None:
    for question in (ASKED, UNANSWERED, "My chest hurts when I lift, what should I do?"):
        body = asking.ask(question=question)
        assert replayed(body["id"]) == replaying.Replay(is_same=True, changed=(), differences=())
    assert run_command("replay", body["id"]) == "The same, byte for byte.\n"


def test_a_replay_tells_new_evidence_from_a_fault() -> None:
    body = asking.ask(question=ASKED)
    row = Answer.objects.get(pk=body["id"])
    row.payload["summary"]["sentences"][0]["text"] = "Somebody wrote into the database."

    Answer.objects.filter(pk=row.pk).update(payload=row.payload)
    with pytest.raises(CommandError, match="this is a fault"):
        run_command("replay", body["id"])
    CorpusCalibration.objects.create(beat_at=timezone.now())
    assert "Not the same: the estimates were calibrated to the corpus since" in run_command("replay", body["id"])
    curation.withdraw(["T-SETS"], reason="a test", by=None, by_name="tests")
    assert "Not the same: the corpus has gone from version 1 to 2" in run_command("replay", body["id"])
    other = StoredPolicy.objects.create(label="other-1", values={"moon_phase": 3})
    Answer.objects.filter(pk=row.pk).update(policy=other)
    with pytest.raises(CommandError, match="policy this one does not know"):
        run_command("replay", body["id"])
    Answer.objects.filter(pk=row.pk).update(engine="another")
    with pytest.raises(CommandError, match="made by another engine"):
        run_command("replay", body["id"])
    with pytest.raises(CommandError, match="no answer with this id"):
        run_command("replay", "nobody")


def test_a_refusal_files_a_gap_and_asking_again_counts_it() -> None:
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


@pytest.mark.django_db(transaction=True)
def test_two_who_ask_at_once_are_both_counted() -> None:
    row = unanswered("one", at=timezone.now())
    start = threading.Barrier(8)

    def file(_: int) -> None:
        try:
            start.wait()
            Gap.objects.file(row, missing=[])
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(file, range(8)))

    assert Gap.objects.get().asked == 8


def texts(written: contexts.WrittenPart) -> list[str]:
    return [sentence["text"] for sentence in written.part["sentences"]]


def test_both_parts_rest_on_the_evidence_that_was_frozen() -> None:
    opened = asking.open_context(question=ASKED)
    before = texts(asking.write_part(opened.request_id, "summary"))
    curation.publish(["T-DRAFT"], by=None, by_name="tests")  # it matches best

    assert texts(asking.write_part(opened.request_id, "summary")) == before
    assert asking.ask(question=ASKED)["evidence"][0]["study_id"] == "T-DRAFT"


def test_it_expires_and_is_forgotten_later() -> None:
    now = timezone.now()
    opened = asking.open_context(question=ASKED, now=now)
    asking.write_part(opened.request_id, "answer", now=now + timedelta(seconds=899))

    with pytest.raises(asking.ExpiredContext):
        asking.write_part(opened.request_id, "answer", now=now + timedelta(seconds=900))
    EvidenceContext.objects.update(policy={"moon": 1})  # of another release
    with pytest.raises(asking.ExpiredContext):
        asking.write_part(opened.request_id, "answer", now=now)
    assert contexts.forget(now + timedelta(hours=24)) == 0
    assert contexts.forget(now + timedelta(hours=25)) == 1
    with pytest.raises(asking.UnknownContext):
        asking.write_part(opened.request_id, "answer", now=now)
    asking.open_context(question=ASKED, now=now - timedelta(days=2))
    tasks.forget_contexts()
    assert not EvidenceContext.objects.exists()


def leave(happening: str) -> None:
    """What takes the words of T-SETS away."""
    by: dict[str, Any] = {"by": None, "by_name": "tests"}
    if happening == "retracted":
        curation.set_notice(["T-SETS"], "retracted", reason="A test.", **by)
    elif happening == "edited":
        passage = Passage.objects.get(study__study_id="T-SETS")
        curation.revise_passage(passage.pk, text="Something else altogether.", **by)
    elif happening == "reworded":
        drafts = curation.draft_of(Study.objects.get(study_id="T-SETS")).findings
        curation.set_findings("T-SETS", [replace(draft, plain="Something else altogether.") for draft in drafts], **by)
    else:
        curation.withdraw(["T-SETS"], reason="A test.", **by)
    if happening == "deleted":
        curation.delete_study("T-SETS", **by)


@pytest.mark.parametrize(
    ("happening", "part"),
    [("withdrawn", "summary"), ("retracted", "answer"), ("edited", "answer"), ("reworded", "summary"), ("deleted", "answer")],
)  # fmt: skip
def test_words_that_have_left_the_public_are_not_written_from(happening: str, part: contexts.Part) -> None:
    opened = asking.open_context(question=ASKED)
    told = texts(asking.write_part(opened.request_id, part))
    leave(happening)

    now_told = []
    with suppress(asking.InsufficientEvidence):
        now_told = texts(asking.write_part(opened.request_id, part))

    assert told
    assert not set(told) & set(now_told)
