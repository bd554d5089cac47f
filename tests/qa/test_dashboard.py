"""Curators' pages: each number leads to its list, lists take few queries, nobody overwrites another's work."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from corpus_app import curation
from corpus_app.models import ConceptRelation, ConceptRelationStudy, ImportItem, ImportJob, Passage, Study
from corpus_app.records import Figure
from qa_app import tasks
from qa_app.answers import asking
from qa_app.desk import written
from qa_app.evaluation import golden_runs
from qa_app.feedback import ratings
from qa_app.models import Answer, EvaluationRun, Feedback, Gap, GoldenQuestion, SafetyReply
from qa_app.pipeline.records import Verdict
from tests.builders import make_collection, make_concept, make_curator, make_policy, make_study, make_superuser
from tests.corpus.test_admin import form_of
from tests.qa.conftest import ASKED, UNANSWERED

pytestmark = pytest.mark.usefixtures("library")


def front(client: Client) -> dict[str, dict[str, Figure]]:
    client.force_login(make_curator())
    context = client.get(reverse("admin:index")).context
    return {panel.title: {figure.label: figure for figure in panel.figures} for panel, _ in context["panels"]}


def numbers(panel: dict[str, Figure]) -> dict[str, int]:
    return {label: figure.number for label, figure in panel.items()}


def test_what_was_asked_is_counted(client: Client) -> None:
    client.force_login(make_superuser())
    empty = client.get(reverse("admin:index")).content.decode()
    body, *_ = [asking.ask(question=question) for question in (ASKED, ASKED, UNANSWERED)]
    ratings.give_feedback(body["id"], is_helpful=False)
    GoldenQuestion.objects.create(key="g", question=ASKED, mode="beginner", kind="x", relevant={"T-SETS": 2})
    golden_runs.create_run(by=None)
    tasks.evaluate_golden()

    shown = front(client)

    assert "No question waits for an answer." in empty
    assert "No evaluation run has ended yet." in empty
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
    curation.set_notice(["T-PROTEIN"], "corrected", by=None, by_name="tests", reason="A test.")
    Passage.objects.filter(study__study_id="T-PROTEIN").update(content_hash="x" * 64, index_error="It is poisoned.")

    shown = front(client)
    attention = {
        "Studies to review", "Passages not indexed yet", "Passages that could not be indexed", "Corrected studies",
    }  # fmt: skip
    assert attention <= set(shown["Needs attention"])

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


FAILED = {"writer": "llm", "generator": {"name": "llm", "model": "m-1", "tokens": 1200}, "failure": "timeout"}
DRAFT = {
    "writer": "extractive", "failure": None, "summary": [{"text": "Ten sets."}],
    "answer": [{"text": "Five sets."}, {"text": "Nine sets."}],
    "verdicts": ["verbatim", "supported", "number_mismatch"],
    "dropped": [{"text": "Click here.", "reason": "unsupported", "detail": "it holds markup"}],
}  # fmt: skip


def test_attempts_and_settings_are_told_in_words() -> None:
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
    assert set(written.VERDICTS) == set(Verdict)
    policy = {"citing": {"weights": [["cosine", 1.1]], "intercept": -1}, "trusts": True}
    expected = [("citing.intercept", "-1"), ("citing.weights.cosine", "1.1"), ("trusts", "yes")]
    assert list(written.settings(policy)) == expected


def test_the_page_of_an_answer_is_readable(client: Client) -> None:
    client.force_login(make_superuser())
    answer, refused = asking.ask(question=ASKED), asking.ask(question=UNANSWERED)

    page, nothing = (
        client.get(reverse("admin:qa_app_answer_change", args=[body["id"]])).content.decode()
        for body in (answer, refused)
    )

    for words in (
        answer["answer"]["sentences"][0]["text"][:30], "Sentences chosen from the passages",
        "word for word from the passage", '<details class="settings">', "evidence_passages",
        "Not shown: nobody has approved it",
    ):  # fmt: skip
        assert words in page
    assert "{&quot;" not in page
    assert "Nothing was written for it" in nothing


def make_row(page: str) -> Any:
    now = timezone.now()
    if page == "gap":
        return Gap.objects.create(key="k", question="Sauna?", asked=1, first_asked_at=now, last_asked_at=now)
    if page == "goldenquestion":
        return GoldenQuestion.objects.create(key="g", question="Sets?", mode="beginner", kind="answerable_lay")
    by = make_curator("writer")
    return SafetyReply.objects.draft(route="emergency", text="Stop. Call for help.", instead="", by=by, now=now)


FIELDS = {"gap": "note", "goldenquestion": "note", "safetyreply": "text"}
OTHERS_CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("gap", {"note": "theirs"}), ("gap", {"status": "closed"}), ("goldenquestion", {"relevant": {"S1": 2}}),
    ("goldenquestion", {"is_active": False}), ("safetyreply", {"text": "theirs"}),
]  # fmt: skip


def open_form(client: Client, page: str, row: Any) -> tuple[str, dict[str, Any]]:
    client.force_login(make_curator())
    url = reverse(f"admin:qa_app_{page}_change", args=[row.pk])
    return url, form_of(client, url)


@pytest.mark.parametrize(("page", "theirs"), OTHERS_CHANGES)
def test_the_second_is_told_and_nothing_is_overwritten(client: Client, page: str, theirs: dict[str, Any]) -> None:
    row = make_row(page)
    url, seen = open_form(client, page, row)
    type(row).objects.filter(pk=row.pk).update(**theirs)

    response = client.post(url, seen | {FIELDS[page]: "mine"})

    assert response.status_code == 200
    assert "Someone else has saved this" in response.content.decode()
    assert "mine" in response.content.decode()
    row.refresh_from_db()
    assert {name: getattr(row, name) for name in theirs} == theirs
    assert getattr(row, FIELDS[page]) != "mine"


MOST_QUERIES = 16
ROWS = 6


def fill(start: int, count: int) -> None:
    """So many more rows of everything that the desk lists, each with what its line names."""
    now = timezone.now()
    for n in range(start, start + count):
        concept, other = make_concept(f"one-{n}", aliases=(f"uno {n}",)), make_concept(f"two-{n}")
        home = make_collection(f"c{n}")
        study = make_study(texts=("One.", "Two."), concepts=(concept,), collection=home, year=1990 + n)
        curation.revise_study(study.study_id, by=None, by_name="test", journal=f"Journal {n}")
        relation = ConceptRelation.objects.create(source=concept, relation="affects", target=other)
        ConceptRelationStudy.objects.create(relation=relation, study=study)
        person = make_curator(f"person {n}")
        Group.objects.create(name=f"group {n}")
        answer = Answer.objects.create(
            id=f"{n:032x}", request_id=f"{n:032x}", question=f"Question {n}?", mode="beginner", outcome="answered",
            corpus_version=1, policy=make_policy(), payload={}, created_at=now - timedelta(days=n),
        )  # fmt: skip
        Feedback.objects.create(answer=answer, is_helpful=False, reasons=["wrong"], given_at=now)
        Gap.objects.create(
            key=f"k{n}", question=f"Gap {n}?", asked=1, first_asked_at=now, last_asked_at=now, assigned_to=person,
            last_answer=answer, result=answer, outcome="partial",
        )  # fmt: skip
        GoldenQuestion.objects.create(key=f"g{n}", question="Sets?", mode="beginner", kind="answerable_lay")
        results = [{"id": "g", "passes": True}]
        EvaluationRun.objects.create(asked_by=person, asked_at=now, status="done", results=results)
        job = ImportJob.objects.create(
            file_name=f"{n}.ris", content=b"T", content_hash="0", asked_by=person, asked_at=now, status="previewed"
        )
        ImportItem.objects.create(job=job, position=0, kind="study", study_key=f"N{n}", draft={}, effect="new")
        SafetyReply.objects.draft(route="emergency", text="Stop.", instead="", by=person, now=now)


def queries_of(client: Client, address: str, **query: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address, query).status_code == 200, address
    return len(queries)


def lists() -> dict[str, Any]:
    """The address of every list with its desk."""
    names = {model._meta.label_lower.replace(".", "_"): desk for model, desk in admin.site._registry.items()}
    return {reverse(f"admin:{name}_changelist"): names[name] for name in sorted(names)}


def test_lists_and_front_page_take_few_queries_and_no_more_for_many_rows(client: Client) -> None:
    client.force_login(make_superuser())
    addresses = (reverse("admin:index"), *lists())
    fill(0, 6)
    few = {address: queries_of(client, address) for address in addresses}
    fill(6, ROWS)
    many = {address: queries_of(client, address) for address in addresses}
    searched = {
        address: queries_of(client, address, q="1") for address, desk in lists().items() if desk.get_search_fields(None)
    }

    assert [address for address in addresses if many[address] > few[address]] == []
    assert [address for address in lists() if many[address] >= MOST_QUERIES] == []
    assert [address for address, n in searched.items() if n >= MOST_QUERIES] == []
