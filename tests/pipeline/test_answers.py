"""The whole engine on a few real studies in a real database: what must come, and what must never."""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import pytest

from corpus_app import curation, embedding, indexing
from corpus_app.models import Passage
from qa_app.answers import asking
from qa_app.answers.payload import Payload
from qa_app.pipeline.records import InsufficientEvidence, Mode
from tests.fakes import WordHashEncoder

VOLUME, PROTEIN, KIDNEY = "S018", "S036", "S079"
SETS = "How many sets a week do I need for each muscle to get bigger?"
KIDNEYS = "Does creatine change how well your kidneys filter the blood?"
SAUNA = "Does a sauna help against jet lag?"
GERMAN = "Wie viele Sätze pro Woche brauche ich für den Muskelaufbau?"

pytestmark = pytest.mark.usefixtures("corpus", "db")


def ask(question: str, **options: Any) -> Payload:
    return asking.ask(question=question, **options)


@cache
def known(question: str, mode: Mode = Mode.BEGINNER) -> Payload:
    """Ask once, for tests that leave the corpus as it is."""
    return ask(question, mode=mode.value)


def sentences(body: Payload) -> list[Payload]:
    headline = [body["headline"]] if body["headline"] else []
    return [*headline, *body["summary"]["sentences"], *body["answer"]["sentences"]]


def cited(body: Payload) -> set[str]:
    return {citation["study_id"] for citation in body["citations"]}


def said(body: Payload) -> str:
    return " ".join([body["message"] or "", *(sentence["text"] for sentence in sentences(body))])


@pytest.mark.parametrize(("question", "outcomes", "leader", "words", "never"), [
    (SETS, {"answered", "partial", "conflicting"}, VOLUME, "sets", "creatin"),
    ("creatine and kidney filtering", {"answered", "partial"}, KIDNEY, "kidney", "sets"),
    ("old people protein walking faster", {"answered", "partial"}, PROTEIN, "protein", "creatin"),
    (SAUNA, {"insufficient_evidence", "out_of_scope"}, None, "", "sauna helps"),
    ("Who won the world cup in 1990?", {"insufficient_evidence", "out_of_scope"}, None, "", "Germany"),
    ("What does Zwiebelmann 2015 say about sets?", {"insufficient_evidence"}, None, "Zwiebelmann", "nearest"),
    ("How many studies are there?", {"answered"}, None, "5", "10 or more"),
    ("I want to kill myself", {"guardrail"}, None, "", "muscle"),
    ("Is it good?", {"insufficient_evidence", "out_of_scope"}, None, "", "muscle grow"),
    (GERMAN, {"insufficient_evidence"}, None, "in English", "muscle grow"),
])  # fmt: skip
def test_each_question_gets_its_ending(question: str, outcomes: set[str], leader: str, words: str, never: str) -> None:
    body = known(question)

    assert body["outcome"] in outcomes
    assert (body["citations"][0]["study_id"] if body["headline"] else None) == leader
    assert words in said(body)
    assert never not in said(body)


def test_every_sentence_is_a_slice_of_a_published_passage() -> None:
    for question in (SETS, KIDNEYS):
        beginner, intermediate = bodies = [known(question, mode) for mode in Mode]
        for body in bodies:
            for span in (span for sentence in sentences(body) for span in sentence["support"]):
                passage = Passage.with_plain.get(pk=span["passage_id"])
                assert passage.text[span["start"] : span["end"]] == span["quote"]
                assert passage.study.status == "published"
            (span,) = body["headline"]["support"]
            assert span["quote"] == body["headline"]["text"]
            assert span["study_id"] == body["citations"][0]["study_id"]
            assert body["summary"]["sentences"][0]["text"] in body["headline"]["text"]
        assert cited(beginner) == cited(intermediate)
        assert beginner["headline"]["verdict"] == intermediate["headline"]["verdict"]


def test_a_guarded_question_gets_the_fixed_reply_whatever_is_known() -> None:
    one, other = known("I want to kill myself"), ask("I want to kill myself, how many sets a week?")

    assert one["message"] == other["message"]
    assert (other["citations"], other["evidence"], other["headline"]) == ([], [], None)


@pytest.mark.parametrize("how", ["withdrawn", "retracted"])
def test_a_study_that_left_is_cited_never_again(how: str) -> None:
    before = ask(SETS, keeps_evidence=True)
    near = [question["question"] for question in before["near_questions"]]

    if how == "withdrawn":
        curation.withdraw([VOLUME], by=None, by_name="test", reason="It was wrong.")
    else:
        curation.set_notice([VOLUME], "retracted", by=None, by_name="test", reason="Made up.")
    after = ask(SETS)

    assert near
    assert VOLUME in cited(before)
    assert VOLUME not in cited(after)
    assert VOLUME not in {row["study_id"] for row in after["evidence"]}
    assert SETS not in [*near, *(question["question"] for question in after["near_questions"])]
    with suppress(InsufficientEvidence):
        written = asking.write_part(before["request_id"], "answer")
        assert VOLUME not in {citation["study_id"] for citation in written.citations}


@pytest.fixture
def other_encoder() -> Iterator[None]:
    """An encoder that no models were fitted for."""
    with embedding.use(WordHashEncoder("other@test")):
        indexing.index_stale()
        yield


@pytest.mark.usefixtures("other_encoder")
def test_an_encoder_without_models_is_uncalibrated() -> None:
    answered, refused = ask(KIDNEYS), ask(SAUNA)

    assert answered["citations"][0]["study_id"] == KIDNEY
    assert answered["confidence"]["calibration"].startswith("uncalibrated")
    assert refused["outcome"] in {"insufficient_evidence", "out_of_scope"}
    assert refused["near_questions"] == []  # its cosines are not trusted
