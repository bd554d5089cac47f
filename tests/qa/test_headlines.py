"""Headline, strength of evidence, missing parts and near questions: wherever an answer is shown."""

import io
import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.utils.translation import override

from corpus_app import curation
from corpus_app.appraisal import BiasJudgement, BiasTool, CertaintyLevel, RiskOfBias, bias_to_json
from corpus_app.sources import CertaintyDraft
from inform_site import assistants
from inform_site.management.commands.ask import Command
from qa_app.answers import asking, exporting
from qa_app.answers.payload import Payload
from qa_app.models import AnswerSentence
from qa_app.pipeline import strength
from qa_app.pipeline.records import HeadlineVerdict, Outcome
from qa_app.templatetags import strength_words
from tests.builders import make_concept
from tests.qa.answers import NEAR, make_answer, store_answer
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")

UNKNOWN = "does a sauna cure gout?"
COUNTS = "Of 6 studies: 3 found a benefit, 2 found no clear difference, 1 found a disadvantage"
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


def test_the_headline_cites_and_quotes_like_a_sentence_and_all_is_kept() -> None:
    body = store_answer()

    headline = body["headline"]
    assert (headline["verdict"], headline["studies_for"], headline["studies_against"]) == ("yes", 3, 1)
    assert headline["citations"] == [1]
    (span,) = headline["support"]
    text = next(row["text"] for row in body["evidence"] if row["passage_id"] == span["passage_id"])
    assert text[span["start"] : span["end"]] == span["quote"] == headline["text"]
    assert AnswerSentence.objects.get(answer_id=body["id"], part="headline").citations.get().quote == span["quote"]
    kept = asking.find_answer(body["id"])
    assert kept
    assert {name: kept[name] for name in NEW} == {name: body[name] for name in NEW}
    assert body["evidence_strength"]["level"] == "moderate"
    assert [reason["code"] for reason in body["evidence_strength"]["reasons"]] == ["design", "few_studies"]
    assert body["missing"] == ["sleep"]


def test_the_page_opens_with_the_headline_then_strength_in_the_page_language(client: Client) -> None:
    body = store_answer()
    html, german = page_of(client, body), page_of(client, body, "de")
    opened = client.get(f"{body['url']}citations/headline/1/1/").content.decode()

    order = ['id="headline-1"', 'class="fold strength', 'id="confidence-title"']
    places = [html.index(mark) for mark in order]
    assert places == sorted(places)
    assert '<strong class="chip yes">Yes</strong>' in html
    assert COUNTS in html
    assert "Strength of the evidence: <strong>moderate</strong>" in html
    assert "The best evidence cited here is a randomised trial." in html
    assert "Match with the question" in html
    assert "onfidence" not in html.replace("confidence-title", "").replace('class="confidence', "")
    assert f"<mark>{body['headline']['text']}</mark>" in opened
    assert '<strong class="chip yes">Ja</strong>' in german
    assert "Von 6 Studien: 3 mit Nutzen, 2 ohne klaren Unterschied, 1 mit Nachteil" in german
    assert "Aussagekraft der Studien: <strong>mittel</strong>" in german
    assert "<li>Das Beste, was hier zitiert wird, ist eine randomisierte Studie.</li>" in german
    assert "<li>Sie beruht auf 3 Studien.</li>" in german


def test_a_verdict_is_shown_where_it_helps(client: Client) -> None:
    made = make_answer()
    assert made.headline
    for verdict, words in (
        (HeadlineVerdict.NO, "No"), (HeadlineVerdict.NO_CLEAR_DIFFERENCE, "No clear difference"),
        (HeadlineVerdict.NUMBER, None), (None, None),
    ):  # fmt: skip
        html = page_of(client, store_answer(headline=replace(made.headline, verdict=verdict, studies_for=None)))

        shown = html.partition('<template id="making')[0]
        assert ('class="chip' in shown) is (words is not None)
        assert words is None or f">{words}</strong>" in shown
        assert "found a benefit" not in shown


def test_a_refusal_links_to_near_questions_but_no_emergency_does(client: Client) -> None:
    body = store_answer(UNKNOWN, near_questions=NEAR)
    urgent = store_answer("I get chest pain when I lift, should I do more sets?")
    html = page_of(client, body)

    assert (body["outcome"], urgent["outcome"]) == ("insufficient_evidence", "guardrail")
    assert "The studies here do answer" in html
    assert 'name="example" value="How much protein' in html
    assert 'name="example" value="Do few sets' in html
    alone = page_of(client, urgent)
    assert "The studies here do answer" not in alone
    assert not re.search(r'<form[^>]*(?:question|feedback)|id="(?:next|keep|feedback)-title"', alone), (
        "help, nothing else"
    )


@pytest.mark.parametrize("gone", ["withdrawn", "retracted"])
def test_a_near_question_goes_with_its_study(client: Client, gone: str) -> None:
    body = store_answer(UNKNOWN, near_questions=NEAR)

    if gone == "withdrawn":
        curation.withdraw(["T-PROTEIN"], by=None, by_name="tests", reason="It was wrong.")
    else:
        curation.set_notice(["T-PROTEIN"], "retracted", by=None, by_name="tests", reason="Made up.")

    shown = client.get(f"/api/v1/answers/{body['id']}").json()["near_questions"]
    assert [near["study_id"] for near in shown] == ["T-SETS"]
    assert "How+much+protein" not in page_of(client, body)


def test_a_partial_answer_names_what_is_missing(client: Client) -> None:
    body = store_answer(outcome=Outcome.PARTIAL, message="A part stays open.")

    assert re.search(r"Not mentioned in the quoted passages: <span[^>]*>sleep</span>", page_of(client, body))
    assert "Not mentioned in the quoted passages: sleep." in terminal(body)
    assert "Not mentioned in the quoted passages: sleep." in markdown(body)


def test_terminal_markdown_and_assistants_are_given_the_same() -> None:
    body = store_answer()

    printed, written = " ".join(terminal(body).split()), markdown(body)
    told = assistants.tool_result(body, origin="https://inform.example")

    assert f"Yes. {body['headline']['text']} [1]" in printed
    assert f"{COUNTS}." in printed
    assert "Strength of the evidence: moderate. The best evidence cited here is a randomised trial." in printed
    assert "Fits the question: " in printed
    assert f"- {NEAR[0].question}" in printed
    assert f"**Yes.** {body['headline']['text']} [1] ({COUNTS})" in written
    strength_told = "Moderate. The best evidence cited here is a randomised trial. It rests on 3 studies."
    assert f"## Strength of the evidence\n\n{strength_told}" in written
    assert "- How much protein do older adults need? <https://inform.example/?q=" in written
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


def test_every_reason_for_a_strength_is_told_in_german() -> None:
    designs = [f"The best evidence cited here is {name} and {name}." for _, name in strength.START.values()]
    people = "The people studied differ from those asked about in age and training and sex."

    with override("de"):
        for text in (*designs, "It rests on 3 studies.", "Only 250 people took part.", people, *strength_words.FIXED):
            told = strength_words.strength_reason_words({"text": text})
            assert told != text
            assert " and " not in told
        assert strength_words.strength_reason_words({"text": "in other words"}) == "in other words"


def test_risk_of_bias_and_the_curators_judgement_count_in_the_strength(client: Client) -> None:
    make_concept("hypertrophy", aliases=("growth",), kind="outcome")
    by: dict[str, Any] = {"by": None, "by_name": "test"}
    curation.set_concepts("T-SETS", ["training-volume", "hypertrophy"], **by)
    bias = RiskOfBias(BiasTool.ROB_2, (), BiasJudgement.HIGH)
    curation.revise_study("T-SETS", risk_of_bias=bias_to_json(bias), **by)

    graded = asking.ask(question=ASKED)
    reasons = ("Two trials agree.", "Both are small.")
    curation.save_certainty(CertaintyDraft("training-volume", "hypertrophy", CertaintyLevel.HIGH, reasons), **by)
    judged = asking.ask(question=ASKED)
    curation.set_notice(["T-SETS"], "expression_of_concern", reason="The journal says so.", **by)
    lowered = asking.ask(question=ASKED)

    bias_told = {"code": "risk_of_bias", "text": "Most of it is at high risk of bias."}
    assert bias_told in graded["evidence_strength"]["reasons"]
    strength = judged["evidence_strength"]
    assert (strength["level"], [reason["text"] for reason in strength["reasons"]]) == (
        "high", ["Judged by the curators.", *reasons],
    )  # fmt: skip
    assert "Von den Kuratoren beurteilt." in page_of(client, judged, "de")
    assert lowered["evidence_strength"]["level"] == "moderate"
