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
from qa_app.pipeline.records import Evidence, Question
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")


def texts(written: contexts.WrittenPart) -> list[str]:
    return [sentence["text"] for sentence in written.part["sentences"]]


def test_the_parts_are_those_of_the_whole_answer() -> None:
    assert not EvidenceContext.objects.exists()
    whole = asking.ask(question=ASKED)
    assert not EvidenceContext.objects.exists()
    opened = asking.open_context(question=ASKED)
    kept = asking.ask(question=ASKED, keeps_evidence=True)

    assert opened.outcome == "answered"
    assert [row["passage_id"] for row in opened.evidence] == [row["passage_id"] for row in whole["evidence"]]
    for request_id in (opened.request_id, kept["request_id"]):
        summary, answer = (asking.write_part(request_id, part) for part in ("summary", "answer"))  # type: ignore[arg-type]
        assert summary.question == ASKED
        assert summary.part["text"] == whole["summary"]["text"]
        assert texts(answer) == [sentence["text"] for sentence in whole["answer"]["sentences"]]
        assert {i for s in summary.part["sentences"] for i in s["citations"]} == {c["index"] for c in summary.citations}


def test_both_parts_rest_on_the_evidence_that_was_frozen() -> None:
    opened = asking.open_context(question=ASKED)
    before = texts(asking.write_part(opened.request_id, "summary"))
    curation.publish(["T-DRAFT"], by=None, by_name="tests")  # it matches best

    assert texts(asking.write_part(opened.request_id, "summary")) == before
    assert asking.ask(question=ASKED)["evidence"][0]["study_id"] == "T-DRAFT"


def test_evidence_is_the_same_after_the_database() -> None:
    composed: list[Evidence] = []
    answering.make(Question(ASKED, ASKED), writer="extractive", keep=composed.append)

    kept = json.loads(json.dumps(freeze(composed[0])))

    assert thaw(Evidence, kept) == composed[0]
    assert "vector" not in json.dumps(kept)
    for other in ({}, {"moon": 1}, {"question": 3}):
        with pytest.raises(NotReadable):
            thaw(Evidence, other)


@pytest.mark.parametrize("preset", [PRESETS["default"], PRESETS["seed-004"]], ids=lambda preset: preset.name)
def test_a_policy_is_the_same_after_the_database(preset: Policy) -> None:
    assert thaw(Policy, json.loads(json.dumps(preset.values()))) == preset


def test_what_nobody_was_given_is_unknown_and_a_refusal_has_no_parts() -> None:
    for request_id in ("", "nobody", "00000000-0000-4000-8000-000000000000", "\0", None):
        with pytest.raises(asking.UnknownContext):
            asking.write_part(request_id, "summary")  # type: ignore[arg-type]
    opened = asking.open_context(question=UNANSWERED)
    kept = asking.ask(question=UNANSWERED, keeps_evidence=True)
    assert (opened.outcome, bool(opened.message)) == ("insufficient_evidence", True)
    for request_id in (opened.request_id, kept["request_id"]):
        with pytest.raises(asking.InsufficientEvidence, match="do not answer"):
            asking.write_part(request_id, "summary")


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
