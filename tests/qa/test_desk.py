"""The desk for questions: gaps by meaning, asked again; golden questions and their runs."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus_app import curation, hooks, indexing, search
from corpus_app.search import versions
from qa_app import tasks
from qa_app.answers import answering, asking
from qa_app.evaluation import golden_runs
from qa_app.feedback import gaps, ratings
from qa_app.models import Answer, EvaluationRun, Feedback, Gap, GoldenQuestion
from qa_app.pipeline.records import Question
from tests.builders import make_curator, make_study
from tests.corpus.test_admin import form_of
from tests.qa.conftest import ASKED, LIBRARY, UNANSWERED, make_sauna_study

pytestmark = pytest.mark.usefixtures("library")

ALIKE = "Sauna: how hot should it be?"
GOLDEN = {
    "id": "g-1", "question": ASKED, "mode": "beginner", "kind": "answerable_lay", "collection": None,
    "relevant": {"T-SETS": 2}, "answer_points": [], "sections": ["results"], "note": "expect=answer",
}  # fmt: skip
UNKNOWN = GOLDEN | {"id": "g-2", "question": UNANSWERED, "kind": "unanswerable_near", "relevant": {}, "sections": []}


def golden_file(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "golden.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_gaps_of_one_meaning_are_one_at_the_desk(client: Client) -> None:
    for question in (UNANSWERED, ALIKE):
        asking.ask(question=question)
    curator = make_curator()
    client.force_login(curator)
    Gap.objects.filter(question=ALIKE).update(assigned_to=curator, note="Look in journals of bathing.")
    Gap.objects.filter(question=UNANSWERED).update(note="Asked twice.")

    tasks.tend_gaps()

    leader = gaps.list_leaders().get()
    shown = [row["study_id"] for row in gaps.nearest(leader.last_answer)]
    listed = client.get(reverse("admin:qa_app_gap_changelist")).content.decode()
    page = client.get(reverse("admin:qa_app_gap_change", args=[leader.pk])).content.decode()
    assert (leader.question, leader.assigned_to) == (UNANSWERED, curator)
    assert leader.note == "Asked twice.\nLook in journals of bathing."
    assert '<td class="field-demand" data-of="Times asked">2</td>' in listed
    assert listed.count("field-demand") == 1
    assert ALIKE in page
    assert "Still open at corpus version" in page
    url = reverse("admin:qa_app_gap_change", args=[leader.pk])
    typed = {"status": "closed", "assigned_to": curator.pk, "note": "No study yet.", "question": "forged"}
    client.post(url, form_of(client, url) | typed)
    leader.refresh_from_db()
    closed = (leader.status, leader.assigned_to, leader.note, leader.question)
    assert closed == ("closed", curator, "No study yet.", UNANSWERED)
    assert [(gap.question, gap.asked) for gap in gaps.list_members(leader)] == [(UNANSWERED, 1), (ALIKE, 1)]
    assert gaps.group_by_meaning() == 0
    curation.withdraw(shown, by=None, by_name="tests", reason="A test.")
    assert shown
    assert (gaps.nearest(leader.last_answer), gaps.nearest(None)) == ([], ())


def test_a_gap_is_asked_again_when_the_corpus_has_changed() -> None:
    asking.ask(question=UNANSWERED)
    assert gaps.ask_again() == 0
    assert Gap.objects.get().asked_again_version == search.corpus_version()
    assert Answer.objects.count() == 1

    study = make_sauna_study()
    curation.publish([study.study_id], by=None, by_name="tests")
    indexing.index_stale()
    assert gaps.ask_again() == 1

    gap = Gap.objects.get()
    assert gap.result is not None
    assert gap.result.outcome == "answered"
    assert (gap.asked, gap.status) == (1, "open")

    curation.withdraw([study.study_id], by=None, by_name="tests", reason="A test.")
    assert gaps.ask_again() == 0
    assert Gap.objects.get().result is None


def test_a_gap_that_fails_does_not_keep_others_from_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for question in (UNANSWERED, "Why sauna?"):
        asking.ask(question=question)
    make = answering.make

    def fail(question: Question, **options: Any) -> Any:
        if question.text == UNANSWERED:
            raise ValueError("A test.")
        return make(question, **options)

    monkeypatch.setattr(answering, "make", fail)
    assert gaps.ask_again() == 0
    assert set(Gap.objects.values_list("asked_again_version", flat=True)) == {search.corpus_version()}


def closed_gap() -> Gap:
    asking.ask(question=UNANSWERED)
    tasks.tend_gaps()
    Gap.objects.update(status="closed", note="No study yet.")
    return Gap.objects.get()


@pytest.mark.parametrize("question", [UNANSWERED, ALIKE], ids=["in the same words", "in other words"])
def test_a_closed_gap_that_is_asked_about_again_is_open_again(question: str) -> None:
    gap = closed_gap()

    asking.ask(question=question)
    tasks.tend_gaps()

    gap.refresh_from_db()
    assert (gap.status, gap.note) == ("open", "No study yet.")
    assert sum(member.asked for member in gaps.list_members(gap)) == 2
    Gap.objects.update(status="closed")
    asking.ask(question=question)  # now a follower in its own right
    assert Gap.objects.get(leader=None).status == "open"


def test_a_file_is_brought_in_once_and_kept_up_to_date(tmp_path: Path) -> None:
    assert golden_runs.import_file(golden_file(tmp_path, GOLDEN, UNKNOWN)) == (2, 0)
    assert golden_runs.import_file(golden_file(tmp_path, GOLDEN, UNKNOWN | {"mode": "intermediate"})) == (0, 1)
    assert GoldenQuestion.objects.get(key="g-1").as_row() == GOLDEN


def test_what_no_golden_question_holds_keeps_the_file_out(client: Client) -> None:
    client.force_login(make_curator())
    address = reverse("admin:qa_app_goldenquestion_import")
    bad: list[dict[str, Any]] = [
        {"relevant": [["T-SETS", 2]]}, {"relevant": {"T-SETS": 5}}, {"question": 7}, {"question": "a\0b"},
        {"sections": "results"}, {"id": "g" * 61}, {"id": ["g"]},
    ]  # fmt: skip

    for content in (*(json.dumps(GOLDEN | change).encode() for change in bad), b"\xff\xfe", b'{"id": 1}'):
        page = client.post(address, {"file": SimpleUploadedFile("golden.jsonl", content)})
        assert page.context["form"].errors["file"], content
    assert "Line 1: question is missing" in page.content.decode()
    assert not GoldenQuestion.objects.exists()
    done = client.post(address, {"file": SimpleUploadedFile("g.jsonl", json.dumps(GOLDEN).encode())}, follow=True)
    assert "1 new question, 0 changed." in done.content.decode()


def test_a_question_is_edited_in_words_and_saved_as_it_was(client: Client, tmp_path: Path) -> None:
    points = [{"text": "Ten sets [a week]. Or more", "studies": ["T-SETS", "S2"]}, {"text": "Few do", "studies": []}]
    golden_runs.import_file(golden_file(tmp_path, GOLDEN | {"kind": "of_a_file", "answer_points": points}))
    question = GoldenQuestion.objects.get()
    before = question.as_row()
    client.force_login(make_curator())
    address = reverse("admin:qa_app_goldenquestion_change", args=[question.pk])

    page = client.get(address).content.decode()
    fields = form_of(client, address)
    client.post(address, fields)
    for relevant in ("S1 3", "S1", "2", '{"S1": 2}'):
        assert "Give each study its grade" in client.post(address, fields | {"relevant": relevant}).content.decode()

    assert ">T-SETS 2</textarea>" in page.replace("\n", "")
    assert '<option value="of_a_file" selected>Of a file</option>' in page
    assert GoldenQuestion.objects.get().as_row() == before
    client.post(address, fields | {"relevant": "T-SETS 1\r\nS2 2", "sections": ["methods"], "kind": "safety"})
    changed = GoldenQuestion.objects.get()
    assert (changed.relevant, changed.sections, changed.kind) == ({"T-SETS": 1, "S2": 2}, ["methods"], "safety")


def test_a_run_is_ordered_at_the_desk_and_carried_out_by_a_worker(client: Client, tmp_path: Path) -> None:
    client.force_login(make_curator())
    without = client.post(reverse("admin:qa_app_evaluationrun_start"), follow=True)
    assert "bring some in first" in without.content.decode()
    golden_runs.import_file(golden_file(tmp_path, GOLDEN, UNKNOWN))

    client.post(reverse("admin:qa_app_evaluationrun_start"))
    tasks.evaluate_golden()

    run = EvaluationRun.objects.get()
    assert (run.status, run.done, run.total) == ("done", 2, 2)
    assert run.corpus_version == search.corpus_version()
    assert [(row["id"], row["passes"]) for row in run.results] == [("g-1", True), ("g-2", True)]
    assert run.figures["answerable"]["n"] == 1


def test_what_flips_from_run_to_run_is_named(client: Client, tmp_path: Path) -> None:
    def run_and_list() -> str:
        golden_runs.create_run(by=None)
        tasks.evaluate_golden()
        return client.get(reverse("admin:qa_app_evaluationrun_changelist")).content.decode()

    client.force_login(make_curator())
    golden_runs.import_file(golden_file(tmp_path, GOLDEN))
    run_and_list()
    curation.withdraw(["T-SETS"], by=None, by_name="tests", reason="A test.")
    listed = run_and_list()

    newest = EvaluationRun.objects.first()
    page = client.get(reverse("admin:qa_app_evaluationrun_change", args=[newest.pk])).content.decode()
    assert "no longer as expected" in page
    assert f'<a href="{reverse("admin:qa_app_goldenquestion_changelist")}?q=g-1">g-1</a>' in page
    assert "100.0 %" in listed
    assert "<polyline" not in listed  # two runs make a slope that says nothing
    assert "<polyline" in run_and_list()


def test_a_killed_run_is_taken_up_again_and_a_fault_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden_runs.import_file(golden_file(tmp_path, GOLDEN))
    run = golden_runs.create_run(by=None)
    assert golden_runs.claim_run() == run
    assert golden_runs.claim_run() is None

    EvaluationRun.objects.update(beat_at=timezone.now() - timedelta(minutes=3))
    tasks.evaluate_golden()
    run.refresh_from_db()
    assert run.status == "done"

    def fail(*args: Any, **options: Any) -> None:
        raise RuntimeError("the disk is on fire")

    broken = golden_runs.create_run(by=None)
    monkeypatch.setattr("qa_app.evaluation.golden_set.evaluate", fail)
    with pytest.raises(RuntimeError):
        tasks.evaluate_golden()
    broken.refresh_from_db()
    assert (broken.status, broken.error) == ("failed", "RuntimeError: the disk is on fire")


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch, library: tuple[str, ...], tmp_path: Path) -> None:
    monkeypatch.setattr(hooks, "publish_checks", [golden_runs.regressions])
    golden_runs.import_file(golden_file(tmp_path, GOLDEN, UNKNOWN))


@pytest.mark.usefixtures("guarded")
def test_a_study_that_breaks_a_golden_question_is_not_published() -> None:
    study = make_sauna_study()
    indexing.index_stale()
    golden_runs.create_run(by=None)
    tasks.evaluate_golden()
    versions.cache.clear()  # the check is the first to read the corpus

    with pytest.raises(curation.NotPublishable, match=r"How hot should a sauna be.*g-2.*answered"):
        curation.publish([study.study_id], by=None, by_name="tests")

    study.refresh_from_db()
    assert study.status == "draft"
    assert {public.study_id for public in search.published_studies()} == set(LIBRARY)
    assert asking.ask(question=UNANSWERED)["outcome"] == "insufficient_evidence"


@pytest.mark.usefixtures("guarded")
def test_a_study_that_breaks_nothing_or_came_before_any_run_is_published() -> None:
    sauna = make_sauna_study()
    assert curation.publish([sauna.study_id], by=None, by_name="tests") == (sauna.study_id,)
    golden_runs.create_run(by=None)
    tasks.evaluate_golden()
    study = make_study(texts=("Shoes with thick soles are warm.",), status="draft")
    indexing.index_stale()

    assert curation.publish([study.study_id], by=None, by_name="tests") == (study.study_id,)


def test_answers_and_feedback_are_read_at_the_desk(client: Client) -> None:
    client.force_login(make_curator())
    body = asking.ask(question=ASKED)
    ratings.give_feedback(body["id"], is_helpful=False, reasons=["wrong"], words="<b>Not</b> so.")

    answers = client.get(reverse("admin:qa_app_answer_change", args=[body["id"]])).content.decode()
    listed = client.get(reverse("admin:qa_app_feedback_changelist")).content.decode()
    page = client.get(reverse("admin:qa_app_feedback_change", args=[Feedback.objects.get().pk])).content.decode()

    assert body["url"] in answers
    assert "says something wrong" in listed
    assert "By whether it helped" in listed
    assert "By when" in listed
    assert "&lt;b&gt;Not&lt;/b&gt; so." in listed
    assert body["url"] in page
