"""Gaps, golden questions and their runs by REST."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from inform_site.clients.keys import Made
from qa_app import tasks
from qa_app.answers import asking
from qa_app.models import EvaluationRun, Gap, GoldenQuestion
from tests.api.conftest import V1, body, get, patch, post, problem
from tests.builders import make_curator
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library", "woken")
GAPS = f"{V1}desk/gaps"
RUNS = f"{V1}desk/evaluation-runs"
UNANSWERED = "Does hypnosis change the colour of zebras?"


@pytest.fixture
def curator(library: tuple[str, ...]) -> User:
    return make_curator()


@pytest.fixture
def key(make_key: Callable[..., Made], curator: User) -> str:
    return make_key("curate", "evaluate", owner=curator).secret


@pytest.fixture
def gap(library: tuple[str, ...]) -> Gap:
    asking.ask(question=UNANSWERED)
    asking.ask(question=UNANSWERED)
    return Gap.objects.get()


def test_a_gap_is_given_to_somebody_noted_and_closed(key: str, gap: Gap) -> None:
    [listed] = body(get(GAPS, key))["items"]
    assert (listed["question"], listed["asked"], listed["assigned_to"]) == (UNANSWERED, 2, None)
    path = f"{GAPS}/{gap.pk}"
    shown = body(get(path, key))
    assert shown["asked_as"] == [{"question": UNANSWERED, "asked": 2}]

    given = patch(path, {"assigned_to": "curator", "note": "Ask the library."}, key, shown["version"])
    assert given.status_code == 200, given.content
    assert (body(given)["assigned_to"], body(given)["note"]) == ("curator", "Ask the library.")
    closed = patch(path, {"status": "closed", "assigned_to": None}, key, body(given)["version"])
    told = body(closed)
    assert (told["status"], told["assigned_to"], told["note"]) == ("closed", None, "Ask the library.")
    assert body(get(f"{GAPS}?status=open", key))["items"] == []


def test_a_gap_changes_only_as_it_was_read(key: str, gap: Gap) -> None:
    path = f"{GAPS}/{gap.pk}"
    version = body(get(path, key))["version"]

    asking.ask(question=UNANSWERED)  # which is no change
    problem(patch(path, {"note": "Mine"}, key, None), 428, "version-needed")
    assert patch(path, {"note": "Theirs"}, key, version).status_code == 200
    stale = patch(path, {"note": "Mine"}, key, version)
    problem(stale, 412, "stale")
    assert stale["ETag"] == f'"{body(get(path, key))["version"]}"'
    assert Gap.objects.get().note == "Theirs"


def test_what_is_unfit_is_named(key: str, gap: Gap) -> None:
    path = f"{GAPS}/{gap.pk}"
    version = body(get(path, key))["version"]

    for field, value in (
        ("status", "lost"), ("status", None), ("status", ["open"]), ("note", None), ("note", "x" * 2_001),
        ("note", ["x"]), ("note", "\0"), ("assigned_to", "nobody"), ("assigned_to", 7), ("question", "x"),
    ):  # fmt: skip
        refused = problem(patch(path, {field: value}, key, version), 400, "invalid")
        assert [error["field"] for error in refused["errors"]] == [field]
    for unknown in (f"{RUNS}?x=1", f"{GAPS}?status=lost", f"{GAPS}?fields=note", f"{V1}desk/golden-questions?q=x"):
        problem(get(unknown, key), 400, "invalid")
    for sent in ({"policy": "x"}, b"[]", b"{"):
        assert post(RUNS, sent, key).status_code == 400
    assert not EvaluationRun.objects.exists()


def test_golden_questions_are_run_and_told(key: str, woken: list[str], curator: User) -> None:
    assert "no golden questions" in problem(post(RUNS, {}, key), 422, "not-possible")["detail"]
    GoldenQuestion.objects.create(key="lay-1", question=ASKED, mode="beginner", kind="lay", relevant={"T-SETS": 2})
    assert [row["key"] for row in body(get(f"{V1}desk/golden-questions", key))["items"]] == ["lay-1"]

    started = post(RUNS, {}, key)
    assert (started.status_code, body(started)["status"], body(started)["passing"]) == (202, "waiting", None)
    assert woken == ["qa_app.tasks.evaluate_golden"]
    tasks.evaluate_golden()

    done = body(get(started["Location"], key))
    assert (done["status"], done["passing"], done["asked_by"]) == ("done", 1, "curator")
    assert [(row["id"], row["passes"]) for row in done["results"]] == [("lay-1", True)]
    assert [row["run_id"] for row in body(get(RUNS, key))["items"]] == [done["run_id"]]
