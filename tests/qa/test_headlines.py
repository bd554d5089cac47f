"""Headline, strength of evidence, missing parts and near questions: wherever an answer is shown."""

from __future__ import annotations

import io
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils.translation import override

from corpus_app import curation
from corpus_app.records import Study
from inform_site import assistants
from qa_app.answers import answering, asking, bundles, exporting, presentation, redaction, streaming
from qa_app.answers.payload import Payload
from qa_app.management.commands.ask import Command
from qa_app.models import Answer, AnswerSentence
from qa_app.pipeline import strength
from qa_app.pipeline.ports import Unwatched
from qa_app.pipeline.records import Headline, HeadlineVerdict, Mode, Outcome, Question
from qa_app.templatetags import strength_words
from tests.qa.answers import NEAR, make_answer, store_answer
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")

UNKNOWN = "does a sauna cure gout?"
COUNTS = "3 studies agree, 1 found otherwise, 2 found no difference"
NEW = ("headline", "evidence_strength", "near_questions", "missing")


def page_of(client: Client, body: Payload, language: str = "en") -> str:
    return " ".join(client.get(body["url"], headers={"accept-language": language}).content.decode().split())


def terminal(body: Payload) -> str:
    written = io.StringIO()
    Command(stdout=written, no_color=True).show(body)
    return written.getvalue()


def markdown(body: Payload) -> str:
    made = exporting.export(body["id"], "md", site="https://inform.example/")
    assert made
    return made.content.decode()


def store_without_new_fields() -> Payload:
    """An answer as a former release stored it."""
    body = store_answer()
    row = Answer.objects.get(pk=body["id"])
    old = {name: value for name, value in asking.find_answer(row.pk).items() if name not in NEW}  # type: ignore[union-attr]
    old["understood"] = {"intents": [], "concepts": [], "terms": [], "signals": {}}
    Answer.objects.filter(pk=row.pk).update(payload=old)
    return old


# --- The payload ---------------------------------------------------------------------------------------------------------


def test_the_headline_cites_and_quotes_like_a_sentence() -> None:
    body = store_answer()

    headline = body["headline"]
    assert (headline["verdict"], headline["studies_for"], headline["studies_against"]) == ("yes", 3, 1)
    assert headline["citations"] == [1]
    (span,) = headline["support"]
    text = next(row["text"] for row in body["evidence"] if row["passage_id"] == span["passage_id"])
    assert text[span["start"] : span["end"]] == span["quote"] == headline["text"]
    assert AnswerSentence.objects.get(answer_id=body["id"], part="headline").citations.get().quote == span["quote"]


def test_what_is_kept_reads_as_it_was_given() -> None:
    body = store_answer()

    assert {name: asking.find_answer(body["id"])[name] for name in NEW} == {name: body[name] for name in NEW}  # type: ignore[index]
    assert body["evidence_strength"]["level"] == "moderate"
    assert [reason["code"] for reason in body["evidence_strength"]["reasons"]] == ["design", "few_studies"]
    assert body["missing"] == ["sleep"]


def test_the_fields_are_there_where_nothing_fills_them() -> None:
    body = asking.ask(question=UNKNOWN)

    assert (body["headline"], body["evidence_strength"], body["near_questions"]) == (None, None, [])
    assert set(body["missing"]) <= {"sauna", "cure", "gout"}
    assert {"ask", "intent", "intervention", "comparator", "outcome", "language", "sources"} <= set(body["understood"])


def test_an_answer_of_a_former_release_reads_with_empty_fields(client: Client) -> None:
    old = store_without_new_fields()

    body = asking.find_answer(old["id"])

    assert body
    assert [body[name] for name in NEW] == [None, None, [], []]
    assert body["understood"]["sources"] == []
    assert client.get(body["url"]).status_code == 200
    assert bundles.bundle(old["id"])
    assert "Strength of the evidence" not in markdown(body) + terminal(body)


@pytest.mark.parametrize("mode", list(Mode))
def test_the_address_of_a_near_question_asks_it_in_the_same_mode(client: Client, mode: Mode) -> None:
    body = store_answer(UNKNOWN, mode=mode)

    assert [near["question"] for near in body["near_questions"]] == [near.question for near in NEAR]
    for near in body["near_questions"]:
        given = parse_qs(urlsplit(near["url"]).query)
        assert (given["q"], given.get("mode", ["beginner"])) == ([near["question"]], [mode.value])
        assert near["question"] in client.get(near["url"]).content.decode()


# --- The page ------------------------------------------------------------------------------------------------------------


def test_the_page_opens_with_the_headline_then_summary_answer_and_strength(client: Client) -> None:
    html = page_of(client, store_answer())

    order = ['id="headline-1"', 'id="strength-title"', 'id="confidence-title"']
    places = [html.index(mark) for mark in order]
    assert places == sorted(places)
    assert '<strong class="chip yes">Yes</strong>' in html
    assert COUNTS in html
    assert "Strength of the evidence: <strong>moderate</strong>" in html
    assert "The best evidence cited here is a randomised trial." in html


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (HeadlineVerdict.NO, "No"),
        (HeadlineVerdict.NO_CLEAR_DIFFERENCE, "No clear difference"),
        (HeadlineVerdict.DEPENDS, "It depends"),
        (HeadlineVerdict.NUMBER, None),
        (HeadlineVerdict.LIST, None),
        (HeadlineVerdict.EXPLANATION, None),
        (None, None),
    ],
)
def test_a_verdict_is_shown_only_where_it_says_something(
    client: Client, verdict: HeadlineVerdict | None, words: str | None
) -> None:
    made = make_answer()
    assert made.headline
    html = page_of(client, store_answer(headline=replace(made.headline, verdict=verdict, studies_for=None)))

    shown = html.partition('<template id="making')[0]
    assert ('class="chip' in shown) is (words is not None)
    assert words is None or f">{words}</strong>" in shown
    assert "studies agree" not in shown


def test_the_number_of_a_headline_opens_its_words(client: Client) -> None:
    body = store_answer()

    opened = client.get(f"{body['url']}citations/headline/1/1/")

    assert opened.status_code == 200
    assert f"<mark>{body['headline']['text']}</mark>" in opened.content.decode()


def test_the_chance_that_an_answer_fits_is_not_called_confidence(client: Client) -> None:
    html = page_of(client, store_answer())

    assert "Does this answer fit the question?" in html
    assert "onfidence" not in html.replace("confidence-title", "").replace('class="confidence', "")


def test_a_refusal_links_to_near_questions(client: Client) -> None:
    body = store_answer(UNKNOWN, near_questions=NEAR * 2)
    html = page_of(client, body)

    assert body["outcome"] == "insufficient_evidence"
    assert "Questions that the studies answer" in html
    assert html.count("?q=How%20much%20protein") + html.count("?q=How+much+protein") == 2
    assert html.count("?q=Do%20few%20sets") + html.count("?q=Do+few+sets") == 1, "three at most"


def test_an_emergency_is_sent_to_no_other_question(client: Client) -> None:
    body = store_answer("I get chest pain when I lift, should I do more sets?")

    assert body["outcome"] == "guardrail"
    assert "Questions that the studies answer" not in page_of(client, body)


def test_a_partial_answer_names_what_is_missing(client: Client) -> None:
    body = store_answer(outcome=Outcome.PARTIAL, message="A part stays open.")

    assert "Nothing quoted here speaks of: <span>sleep</span>" in page_of(client, body)
    assert "Nothing quoted here speaks of: sleep." in terminal(body)
    assert "Nothing quoted here speaks of: sleep." in markdown(body)


def test_the_page_says_it_in_german(client: Client) -> None:
    html = page_of(client, store_answer(), "de")

    assert '<strong class="chip yes">Ja</strong>' in html
    assert "3 Studien stimmen zu, 1 fanden etwas anderes" in html
    assert "Aussagekraft der Studien: <strong>mittel</strong>" in html
    assert "<li>Das Beste, was hier zitiert wird, ist eine randomisierte Studie.</li>" in html
    assert "<li>Sie beruht auf 3 Studien.</li>" in html


def test_a_withdrawn_study_takes_its_headline_along(client: Client) -> None:
    body = store_answer()
    curation.withdraw(["T-SETS"], reason="A test.", by=None, by_name="tests")

    read = asking.find_answer(body["id"])

    assert read
    assert (read["headline"]["text"], read["headline"]["verdict"], read["headline"]["studies_for"]) == (
        redaction.WITHDRAWN,
        None,
        None,
    )
    shown = page_of(client, body).partition('<template id="making')[0]
    assert body["headline"]["text"] not in shown
    assert 'class="chip' not in shown


# --- Elsewhere -----------------------------------------------------------------------------------------------------------


def test_the_terminal_shows_headline_strength_and_near_questions() -> None:
    body = store_answer()

    told = " ".join(terminal(body).split())

    assert f"Yes. {body['headline']['text']} [1]" in told
    assert f"{COUNTS}." in told
    assert "Strength of the evidence: moderate. The best evidence cited here is a randomised trial." in told
    assert "Fits the question: " in told
    assert f"- {NEAR[0].question}" in told


def test_markdown_holds_headline_strength_and_near_questions() -> None:
    body = store_answer()

    written = markdown(body)

    assert f"**Yes.** {body['headline']['text']} [1] ({COUNTS})" in written
    assert (
        "## Strength of the evidence\n\nModerate. The best evidence cited here is a randomised trial. It rests on 3 studies."
        in written
    )
    assert "- How much protein do older adults need? <https://inform.example/?q=" in written


def test_assistants_are_given_the_new_fields() -> None:
    body = store_answer()

    told = assistants.tool_result(body, origin="https://inform.example")

    assert told["headline"] == body["headline"]
    assert told["evidence_strength"] == body["evidence_strength"]
    assert told["missing"] == ["sleep"]
    assert told["near_questions"][0]["url"].startswith("https://inform.example/?q=")


def test_two_answers_are_compared_by_headline_verdict_and_strength(client: Client) -> None:
    made = make_answer()
    assert made.headline
    first = store_answer()
    headline = replace(made.headline, text="Few sets still build muscle.", verdict=HeadlineVerdict.DEPENDS)
    second = store_answer(headline=headline)

    html = " ".join(client.get(f"/compare/?a={first['id']}&b={second['id']}").content.decode().split())

    assert "Verdicts: A says “Yes”, B says “It depends”." in html
    assert '<strong class="chip depends">It depends</strong>' in html
    assert "Strength of the evidence: moderate" in html
    assert COUNTS in html


def test_a_bundle_proves_the_headline(tmp_path: Any) -> None:
    body = store_answer()
    made = bundles.bundle(body["id"])
    assert made
    (tmp_path / "bundle.zip").write_bytes(made.content)

    done = subprocess.run(
        [sys.executable, "-I", "qa_app/answers/bundled/verify.py", tmp_path / "bundle.zip"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout[:11]) == (0, "All is well")
    spans = list(bundles._spans(body))
    assert spans[0]["part"] == "headline"


def test_a_stream_that_is_taken_up_again_tells_the_headline_before_the_sentences() -> None:
    body = store_answer()
    stored = asking.find_answer(body["id"])
    assert stored

    events = list(streaming._stored_events(uuid.UUID(stored["request_id"]), stored))

    assert [event.name for event in events[:3]] == ["retrieval", "headline", "sentence"]
    assert events[1].data["text"] == stored["headline"]["text"]
    sources = [row["index"] for event in events if "sources" in event.data for row in event.data["sources"]]
    assert sources == [row["index"] for row in stored["citations"]], "each source is introduced once"


def test_whoever_watches_is_told_the_headline_once_and_first() -> None:
    class Watching(Unwatched):
        def __init__(self) -> None:
            self.told: list[tuple[str, list[int]]] = []

        def headline(self, headline: Headline, introduced: Mapping[int, Study]) -> None:
            self.told.append(("headline", list(introduced)))

        def sentence(self, part: str, index: int, sentence: Any, introduced: Mapping[int, Study]) -> None:
            self.told.append((part, list(introduced)))

    watching = Watching()

    answering.make(Question(ASKED, ASKED), writer="extractive", progress=watching)

    assert [part for part, _ in watching.told].count("headline") == 1
    assert watching.told[0] == ("headline", [1])
    assert not any(1 in introduced for _, introduced in watching.told[1:])


def test_the_earlier_addresses_keep_their_shapes(client: Client) -> None:
    found = client.post("/ask", {"query": ASKED}, content_type="application/json").json()

    assert not {"headline", "evidence_strength", "near_questions", "missing"} & set(found)


def test_a_page_without_a_headline_has_none() -> None:
    assert presentation.headline(asking.ask(question=UNKNOWN)) is None


def test_every_reason_for_a_strength_is_told_in_german() -> None:
    designs = [f"The best evidence cited here is {name} and {name}." for _, name in strength.START.values()]
    figures = ["It rests on 3 studies.", "Only 250 people took part."]
    figures.append("The people studied differ from those asked about in age and training and sex.")

    with override("de"):
        for text in (*designs, *figures, *strength_words.FIXED):
            told = strength_words.strength_reason_words({"text": text})
            assert told != text
            assert " and " not in told
        assert strength_words.strength_reason_words({"text": "in other words"}) == "in other words"
