"""Evidence frozen under a request id: summary and answer from the same passages, asked for one after the other."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from corpus_app import curation
from corpus_app.models import Passage, Study
from qa_app import tasks
from qa_app.answers import answering, asking, contexts
from qa_app.answers.serialization import NotReadable, freeze, thaw
from qa_app.models import EvidenceContext
from qa_app.pipeline.policy import PRESETS, Policy
from qa_app.pipeline.records import Answered, Evidence, Question
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")


def texts(written: contexts.WrittenPart) -> list[str]:
    return [sentence["text"] for sentence in written.part["sentences"]]


def test_the_parts_are_those_of_the_whole_answer() -> None:
    whole = asking.ask(question=ASKED)
    opened = asking.open_context(question=ASKED)

    summary, answer = (asking.write_part(opened.request_id, part) for part in ("summary", "answer"))  # type: ignore[arg-type]

    assert opened.outcome == "answered"
    assert texts(summary) == [sentence["text"] for sentence in whole["summary"]["sentences"]]
    assert texts(answer) == [sentence["text"] for sentence in whole["answer"]["sentences"]]
    assert [row["passage_id"] for row in opened.evidence] == [row["passage_id"] for row in whole["evidence"]]
    assert {i for s in summary.part["sentences"] for i in s["citations"]} == {c["index"] for c in summary.citations}


def test_both_parts_rest_on_the_evidence_that_was_frozen() -> None:
    opened = asking.open_context(question=ASKED)
    before = texts(asking.write_part(opened.request_id, "summary"))
    curation.publish(["T-DRAFT"], by=None, by_name="tests")  # it matches best

    assert texts(asking.write_part(opened.request_id, "summary")) == before
    assert asking.ask(question=ASKED)["evidence"][0]["study_id"] == "T-DRAFT"


def test_evidence_is_the_same_after_the_database() -> None:
    answered = answering.make(Question(ASKED, ASKED), writer="extractive")
    assert isinstance(answered, Answered)

    kept = json.loads(json.dumps(freeze(answered.evidence)))

    assert thaw(Evidence, kept) == answered.evidence
    assert "vector" not in json.dumps(kept)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_a_policy_is_the_same_after_the_database(preset: Policy) -> None:
    assert thaw(Policy, json.loads(json.dumps(preset.values()))) == preset


@pytest.mark.parametrize("kept", [{}, {"moon": 1}, {"question": 3}])
def test_what_another_release_kept_is_not_read(kept: dict[str, Any]) -> None:
    with pytest.raises(NotReadable):
        thaw(Evidence, kept)


def test_a_refusal_is_a_context_without_evidence() -> None:
    opened = asking.open_context(question=UNANSWERED)

    assert opened.outcome == "insufficient_evidence"
    assert opened.message
    with pytest.raises(asking.InsufficientEvidence, match="do not answer"):
        asking.write_part(opened.request_id, "summary")


@pytest.mark.parametrize("request_id", ["", "nobody", "00000000-0000-4000-8000-000000000000", "\0", None])
def test_an_id_that_nobody_was_given_is_unknown(request_id: Any) -> None:
    with pytest.raises(asking.UnknownContext):
        asking.write_part(request_id, "summary")


def test_it_expires_and_is_forgotten_later() -> None:
    now = timezone.now()
    opened = asking.open_context(question=ASKED, now=now)
    asking.write_part(opened.request_id, "answer", now=now + timedelta(seconds=899))

    with pytest.raises(asking.ExpiredContext):
        asking.write_part(opened.request_id, "answer", now=now + timedelta(seconds=900))
    assert contexts.forget(now + timedelta(hours=24)) == 0
    assert contexts.forget(now + timedelta(hours=25)) == 1
    with pytest.raises(asking.UnknownContext):
        asking.write_part(opened.request_id, "answer", now=now)


def test_the_periodic_task_forgets() -> None:
    asking.open_context(question=ASKED, now=timezone.now() - timedelta(days=2))

    tasks.forget_contexts()

    assert not EvidenceContext.objects.exists()


def test_a_context_of_another_release_has_expired() -> None:
    opened = asking.open_context(question=ASKED)
    EvidenceContext.objects.update(policy={"moon": 1})

    with pytest.raises(asking.ExpiredContext):
        asking.write_part(opened.request_id, "summary")


@pytest.mark.parametrize(
    ("happening", "part"),
    [
        ("withdrawn", "summary"),
        ("retracted", "answer"),
        ("edited", "answer"),
        ("reworded", "summary"),
        ("deleted", "answer"),
    ],
)
def test_words_that_have_left_the_public_are_not_written_from(happening: str, part: contexts.Part) -> None:
    opened = asking.open_context(question=ASKED)
    told = texts(asking.write_part(opened.request_id, part))
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

    try:
        now_told = texts(asking.write_part(opened.request_id, part))
    except asking.InsufficientEvidence:
        now_told = []

    assert told
    assert not set(told) & set(now_told)


def test_evidence_of_an_answer_can_stay_open() -> None:
    whole = asking.ask(question=ASKED, keeps_evidence=True)

    summary, answer = (asking.write_part(whole["request_id"], part) for part in ("summary", "answer"))  # type: ignore[arg-type]

    assert summary.part["text"] == whole["summary"]["text"]
    assert texts(answer) == [sentence["text"] for sentence in whole["answer"]["sentences"]]
    assert summary.question == ASKED


def test_a_refusal_stays_open_as_one() -> None:
    whole = asking.ask(question=UNANSWERED, keeps_evidence=True)

    with pytest.raises(asking.InsufficientEvidence, match="do not answer"):
        asking.write_part(whole["request_id"], "summary")


def test_evidence_of_an_answer_is_not_kept_unasked() -> None:
    asking.ask(question=ASKED)

    assert not EvidenceContext.objects.exists()
