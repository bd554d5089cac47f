"""Studies that go: deleted, or merged into another; and those that a DOI or PMID brings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission

from corpus_app.models import CorpusEvent, ImportJob, Study
from inform_site.clients.keys import Made
from tests.api.conftest import V1, body, delete, post, problem
from tests.builders import make_concept, make_curator, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]
STUDIES = f"{V1}desk/studies"
LOOK_UP = f"{V1}desk/imports/look-up"
MERGED = {"other": "B", "reason": "The same trial."}


@pytest.fixture
def without(make_key: Callable[..., Made]) -> Callable[[str], str]:
    """The key of a curator who may do everything but this."""

    def made(codename: str) -> str:
        owner = make_curator("other")
        held = Permission.objects.filter(group__user=owner).exclude(codename=codename)
        owner.user_permissions.set(held)
        owner.groups.clear()
        return make_key("curate", owner=owner).secret

    return made


def test_a_draft_is_deleted_with_its_passages_and_its_words(key: str) -> None:
    make_study(study_id="A", title="Words that go", status="draft")

    assert (delete(f"{STUDIES}/A", key, 1).status_code, delete(f"{STUDIES}/A", key, 1).status_code) == (204, 404)

    assert not Study.objects.exists()
    assert "Words that go" not in repr(list(CorpusEvent.objects.exclude(action="delete_study").values()))
    assert CorpusEvent.objects.latest("pk").action == "delete_study"


def test_no_published_study_is_deleted_and_none_unread(key: str, without: Callable[[str], str]) -> None:
    make_study(study_id="A", status="draft")
    make_study(study_id="B", status="published")

    assert "Withdraw it first" in problem(delete(f"{STUDIES}/B", key, 1), 422, "not-possible")["detail"]
    problem(delete(f"{STUDIES}/A", key), 428, "version-needed")
    problem(delete(f"{STUDIES}/A", key, 7), 412, "stale")
    assert "delete_study" in problem(delete(f"{STUDIES}/A", without("delete_study"), 1), 403, "not-permitted")["detail"]
    assert Study.objects.count() == 2


def test_what_is_worth_keeping_is_taken_over_and_the_other_withdrawn(key: str) -> None:
    make_study(study_id="A", doi=None, status="published", texts=("Ten sets were better than five.",))
    other = make_study(
        study_id="B", doi="10.1000/b", n_participants=40, duration_weeks_min=8, duration_weeks_max=12, status="draft",
        texts=("Five sets were worse.", "Not this."), concepts=(make_concept("volume"),),
    )  # fmt: skip
    first = other.passages.order_by("position")[0]
    asked = MERGED | {"take": ["doi", "participants", "weeks", "concepts"], "passages": [first.pk]}

    merged = post(f"{STUDIES}/A/merge", asked, key, **{"If-Match": '"1"'})

    assert merged.status_code == 200, merged.content
    told = body(merged)
    assert (told["doi"], told["participants"], told["concepts"]) == ("10.1000/b", 40, ["volume"])
    assert told["weeks"] == {"shortest": 8, "longest": 12}
    assert [row["text"] for row in told["passages"]] == ["Ten sets were better than five.", "Five sets were worse."]
    gone = Study.objects.get(study_id="B")
    assert (gone.status, "Merged into A" in gone.status_reason) == ("withdrawn", True)


def test_what_is_unfit_is_named(key: str) -> None:
    make_study(study_id="A", status="draft")
    make_study(study_id="B", status="draft")
    unfit: list[tuple[dict[str, Any], str]] = [
        ({"reason": "Twice."}, "other"), ({"other": "B"}, "reason"), (MERGED | {"other": "missing"}, "other"),
        (MERGED | {"take": ["status"]}, "take.0"), (MERGED | {"take": "doi"}, "take"),
        (MERGED | {"take": ["n_participants"]}, "take.0"), (MERGED | {"passages": ["1"]}, "passages.0"),
        (MERGED | {"moon": 1}, "moon"),
    ]  # fmt: skip

    for asked, field in unfit:
        refused = problem(post(f"{STUDIES}/A/merge", asked, key), 400, "invalid")
        assert [error["field"] for error in refused["errors"]] == [field]


def test_what_cannot_be_merged_is_refused_with_its_reason(key: str, without: Callable[[str], str]) -> None:
    make_study(study_id="A", status="draft")
    make_study(study_id="B", status="draft", notice="retracted")

    itself, retracted = (post(f"{STUDIES}/A/merge", MERGED | {"other": other}, key) for other in "AB")

    assert "not merged with itself" in problem(itself, 422, "not-possible")["detail"]
    assert "set that of A first" in problem(retracted, 422, "not-possible")["detail"]
    problem(post(f"{STUDIES}/A/merge", MERGED, key, **{"If-Match": '"7"'}), 412, "stale")
    problem(post(f"{STUDIES}/none/merge", MERGED, key), 404, "not-found")
    problem(post(f"{STUDIES}/A/merge", MERGED, without("change_study")), 403, "not-permitted")
    assert Study.objects.get(study_id="B").status == "draft"


@pytest.mark.parametrize("value", ["10.1000/example.1", "https://doi.org/10.1000/example.1", "12345678"])
def test_a_doi_or_pmid_is_ordered_as_an_import(key: str, woken: list[str], value: str) -> None:
    ordered = post(LOOK_UP, {"id": value}, key)

    assert (ordered.status_code, body(ordered)["status"]) == (202, "waiting"), ordered.content
    job = ImportJob.objects.get()
    assert ordered["Location"] == f"{V1}desk/imports/{job.pk}"
    assert (job.way, bytes(job.content).decode(), job.asked_by_name) == (ImportJob.Way.LOOKUP, value, "curator")
    assert len(woken) == 1


def test_nothing_is_ordered_for_what_is_no_id(key: str) -> None:
    for asked in ({}, {"id": ""}, {"id": " "}, {"id": 7}, {"id": None}, {"id": "x" * 301}, {"doi": "10.1/x"}):
        problem(post(LOOK_UP, asked, key), 400, "invalid")
    assert not ImportJob.objects.exists()
