"""The desk's page of an answer: how it was written, draft by draft, and the settings; no raw JSON."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from qa_app.answers import asking
from qa_app.desk import written
from qa_app.pipeline.policy import DEFAULT
from qa_app.pipeline.records import Verdict
from tests.builders import make_superuser
from tests.qa.conftest import ASKED, UNANSWERED

FAILED = {"writer": "llm", "generator": {"name": "llm", "model": "m-1", "tokens": 1200}, "failure": "timeout"}
DRAFT = {
    "writer": "extractive",
    "failure": None,
    "summary": [{"text": "Ten sets."}],
    "answer": [{"text": "Five sets."}, {"text": "Nine sets."}],
    "verdicts": ["verbatim", "supported", "number_mismatch"],
    "dropped": [{"text": "Click here.", "reason": "unsupported", "detail": "it holds markup"}],
}


def test_each_attempt_tells_its_sentences_with_their_verdicts() -> None:
    failed, wrote = written.attempts([FAILED, DRAFT])

    assert (failed.writer, failed.details) == ("A language model", "model m-1, 1,200 tokens")
    assert failed.failure == "it did not answer in time"
    assert failed.parts == ()
    assert wrote.failure == ""
    assert [(title, [s.verdict for s in sentences]) for title, sentences in wrote.parts] == [
        ("In short", ["verbatim"]),
        ("In full", ["supported", "number_mismatch"]),
    ]
    assert wrote.dropped == (("Click here.", "unsupported", "it holds markup"),)


def test_settings_are_told_by_dotted_name_and_never_as_json() -> None:
    policy = {"citing": {"weights": [["cosine", 1.1]], "intercept": -1}, "trusts": True}
    told = dict(written.settings(DEFAULT.values()))

    expected = [("citing.intercept", "-1"), ("citing.weights.cosine", "1.1"), ("trusts", "yes")]
    assert list(written.settings(policy)) == expected
    assert not [name for name, value in told.items() if re.search(r"[\[{]", value)]
    assert told["evidence_passages"] == str(DEFAULT.evidence_passages)
    assert set(written.VERDICTS) == set(Verdict)


@pytest.mark.usefixtures("library")
def test_the_page_of_an_answer_is_readable(client: Client) -> None:
    client.force_login(make_superuser())
    answer, refused = asking.ask(question=ASKED), asking.ask(question=UNANSWERED)

    page, nothing = (
        client.get(reverse("admin:qa_app_answer_change", args=[body["id"]])).content.decode()
        for body in (answer, refused)
    )

    for words in (
        answer["answer"]["sentences"][0]["text"][:30],
        "Sentences chosen from the passages",
        "word for word from the passage",
        '<details class="settings">',
        "evidence_passages",
        "Not shown: nobody has approved it",
    ):
        assert words in page
    assert "{&quot;" not in page
    assert "Nothing was written for it" in nothing
