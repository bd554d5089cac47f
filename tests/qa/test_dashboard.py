"""The curators' front page: each number is right, and leads to the list behind it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus_app import curation
from corpus_app.models import Passage, Study
from corpus_app.records import Figure
from qa_app import tasks
from qa_app.answers import asking
from qa_app.evaluation import golden_runs
from qa_app.feedback import ratings
from qa_app.models import Answer, EvaluationRun, GoldenQuestion
from tests.builders import make_curator, make_study
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")


def front(client: Client) -> dict[str, dict[str, Figure]]:
    client.force_login(make_curator())
    context = client.get(reverse("admin:index")).context
    return {panel.title: {figure.label: figure for figure in panel.figures} for panel, _ in context["panels"]}


def numbers(panel: dict[str, Figure]) -> dict[str, int]:
    return {label: figure.number for label, figure in panel.items()}


def test_the_corpus_is_counted(client: Client) -> None:
    make_study(status="in_review")
    curation.set_notice(["T-SETS"], "corrected", by=None, by_name="tests", reason="A test.")
    Passage.objects.filter(study__study_id="T-PROTEIN").update(content_hash="x" * 64, index_error="It is poisoned.")

    shown = front(client)

    assert numbers(shown["Studies"]) == {"Drafts": 1, "In review": 1, "Published": 2, "Withdrawn": 0}
    assert numbers(shown["Needs attention"]) == {
        "Studies to review": 1, "Passages not indexed yet": 1, "Passages that could not be indexed": 1,
        "Corrected studies": 1,
    }  # fmt: skip
    assert numbers(shown["Collections"]) == {"Training": 3, "Nutrition": 1}
    assert sum(numbers(shown["Designs"]).values()) == sum(numbers(shown["Years"]).values()) == Study.objects.count()


def test_what_was_asked_is_counted(client: Client) -> None:
    body, *_ = [asking.ask(question=question) for question in (ASKED, ASKED, UNANSWERED)]
    ratings.give_feedback(body["id"], is_helpful=False)
    GoldenQuestion.objects.create(key="g", question=ASKED, mode="beginner", kind="x", relevant={"T-SETS": 2})
    golden_runs.create_run(by=None)
    tasks.evaluate_golden()

    shown = front(client)

    assert shown["Questions in the last 30 days"]["Answered"].number == 2
    assert shown["Questions in the last 30 days"]["Unanswered"].number == 1
    assert numbers(shown["Asked most in the last 30 days"]) == {ASKED: 2, UNANSWERED: 1}
    assert numbers(shown["Unanswered, most asked first"]) == {UNANSWERED: 1}
    assert numbers(shown["Answers that did not help"]) == {ASKED: 1}
    assert numbers(shown["Golden questions"]) == {"As expected": 1, "Not as expected": 0}


def test_every_number_leads_to_as_many_rows(client: Client) -> None:
    make_study(status="in_review", design="cohort_study", year=1999)
    for year in (None, *range(1980, 1990)):
        make_study(year=year)
    first, _, long_ago = (asking.ask(question=question) for question in (ASKED, UNANSWERED, ASKED))
    ratings.give_feedback(first["id"], is_helpful=False)
    Answer.objects.filter(pk=long_ago["id"]).update(created_at=timezone.now() - timedelta(days=40))
    EvaluationRun.objects.create(status="failed", asked_at=timezone.now(), error="It fell over.")
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="A test.")
    shown = front(client)

    for title in ("Studies", "Needs attention", "Collections", "Designs", "Years", "Questions in the last 30 days"):
        for figure in shown[title].values():
            page = client.get(figure.address)
            assert page.status_code == 200, (title, figure)
            assert page.context["cl"].result_count == figure.number, (title, figure)
    failed = shown["Golden questions"]["Runs that failed"]
    assert client.get(failed.address).context["cl"].result_count == failed.number == 1
    for title in ("Asked most in the last 30 days", "Unanswered, most asked first", "Answers that did not help"):
        assert shown[title]
        for figure in shown[title].values():
            assert client.get(figure.address).status_code == 200
    assert sum(numbers(shown["Years"]).values()) == Study.objects.count()
    assert "Without a year" in shown["Years"]


def test_an_empty_front_page_has_words(client: Client) -> None:
    client.force_login(make_curator())

    page = client.get(reverse("admin:index")).content.decode()

    assert "No question waits for an answer." in page
    assert "No evaluation run has ended yet." in page
