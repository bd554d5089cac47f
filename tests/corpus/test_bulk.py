"""Many studies changed in one act, and the act undone."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from corpus_app import curation
from corpus_app.curation import bulk
from corpus_app.models import BulkEdit, CorpusEvent, CorpusVersion, Study
from tests.builders import declare_site, make_collection, make_concept, make_curator, make_study
from tests.corpus.test_imports import carry_out as carry_out_import
from tests.corpus.test_imports import read

pytestmark = pytest.mark.django_db
FACETS = """
[facets.soil]
label = "Soil"
values = { clay = { label = "clay" }, sand = { label = "sand" } }
[facets.sex]
label = "Sex"
values = { male = { label = "men" }, female = { label = "women" } }
"""


@pytest.fixture
def by() -> Any:
    return make_curator()


def carry_out(edit: BulkEdit, changes: Mapping[str, Any], *, by: Any, reason: str = "") -> BulkEdit:
    bulk.preview(edit, changes, reason=reason, by=by)
    return run(edit, by=by)


def run(edit: BulkEdit, *, by: Any) -> BulkEdit:
    bulk.confirm(edit, by=by)
    assert bulk.run_job(edit)
    edit.refresh_from_db()
    return edit


def state(study: Study) -> dict[str, Any]:
    study.refresh_from_db()
    kept = ("collection_id", "design", "peer_reviewed", "labels", "notice", "notice_reason", "status", "assignee_id",
            "facets", "sex")  # fmt: skip
    concepts = list(study.studyconcept_set.order_by("position").values_list("concept_id", flat=True))
    return {name: getattr(study, name) for name in kept} | {"concepts": concepts}


def ids(studies: Iterable[Study]) -> list[str]:
    return [study.study_id for study in studies]


@pytest.mark.parametrize(
    ("changes", "field", "wanted"),
    [({"collection": "nutrition"}, "collection_id", "nutrition"),
     ({"design": "cohort_study"}, "design", "cohort_study"), ({"peer_reviewed": False}, "peer_reviewed", False),
     ({"concepts": {"add": ["strength"]}}, "concepts", ["hypertrophy", "strength"]),
     ({"concepts": {"remove": ["hypertrophy"], "add": ["strength"]}}, "concepts", ["strength"]),
     ({"concepts": {"set": []}}, "concepts", []),
     ({"labels": {"add": ["to read", "Old"]}}, "labels", ["old", "to read"]),
     ({"labels": {"remove": ["OLD"]}}, "labels", []), ({"labels": {"set": ["new"]}}, "labels", ["new"]),
     ({"facets": {"add": ["soil:sand"]}}, "facets", {"soil": ["clay", "sand"]}),
     ({"facets": {"set": ["soil:sand"]}}, "facets", {"soil": ["sand"]}),
     ({"facets": {"remove": ["soil:clay", "sex:male"]}}, "sex", "not_reported"),
     ({"facets": {"add": ["sex:female"]}}, "sex", "female"),
     ({"notice": "corrected"}, "notice", "corrected"), ({"status": "withdraw"}, "status", "withdrawn")],
)  # fmt: skip
def test_each_field_is_changed_and_undone_in_one_act(
    by: Any, changes: Mapping[str, Any], field: str, wanted: Any
) -> None:
    declare_site(FACETS)
    make_collection("nutrition")
    make_concept("strength")
    concept = make_concept("hypertrophy")
    values: dict[str, Any] = {"labels": ["old"], "facets": {"soil": ["clay"]}, "sex": "male"}
    studies = [make_study(concepts=(concept,), **values) for _ in range(3)]
    versions = CorpusVersion.objects.count()
    before = [state(study) for study in studies]

    edit = carry_out(bulk.choose(ids(studies), by=by), changes, by=by, reason="As agreed.")

    assert edit.report["outcomes"] == {"changed": 3}
    assert [state(study)[field] for study in studies] == [wanted] * 3
    assert CorpusEvent.objects.filter(bulk_edit=edit, study_key="").count() == 1
    assert CorpusVersion.objects.count() - versions == (0 if field == "labels" else 1)
    undone = run(bulk.undo(edit, by=by), by=by)
    assert undone.report["outcomes"] == {"changed": 3}
    assert [state(study) for study in studies] == before
    assert not bulk.can_undo(edit)
    again = run(bulk.undo(undone, by=by), by=by)
    assert [state(study)[field] for study in studies] == [wanted] * 3, again.report


def test_a_study_changed_since_stays_as_it_is_and_is_told(by: Any) -> None:
    kept, late, gone, other = [make_study(status="draft") for _ in range(4)]
    edit = bulk.choose(ids([kept, late, gone, other]), by=by)
    bulk.preview(edit, {"design": "cohort_study"}, by=by)
    curation.revise_study(late.study_id, by=by, journal="Another")
    curation.delete_study(gone.study_id, by=by)

    assert [planned.refusal for planned in bulk.plan(edit, by=by)][1:3] == [
        "was changed since the preview",
        "is no longer here",
    ]
    run(edit, by=by)
    assert list(edit.items.values_list("outcome", flat=True)) == ["changed", "refused", "refused", "changed"]

    curation.revise_study(other.study_id, by=by, design="cross_sectional_study")
    run(bulk.undo(edit, by=by), by=by)

    assert [state(study)["design"] for study in (kept, late, other)] == [
        "randomized_controlled_trial", "randomized_controlled_trial", "cross_sectional_study",
    ]  # fmt: skip
    last = BulkEdit.objects.get(undoes=edit).items.get(study_key=other.study_id)
    assert (last.outcome, last.outcome_reason) == ("refused", "was changed since, and stays as it is")


def test_with_two_people_required_published_content_is_left_to_reviewers(by: Any, settings: Any) -> None:
    settings.REVIEW_REQUIRED = True
    published, draft = make_study(), make_study(status="draft")

    edit = carry_out(bulk.choose(ids([published, draft]), by=by), {"design": "cohort_study"}, by=by)
    labelled = carry_out(bulk.choose([published.study_id], by=by), {"labels": {"add": ["x"]}}, by=by)

    assert edit.report["outcomes"] == {"changed": 1, "refused": 1}
    assert "only reviewers change what readers see" in edit.items.get(outcome="refused").outcome_reason
    assert labelled.report["outcomes"] == {"changed": 1}


@pytest.mark.parametrize(
    ("changes", "role", "reason", "fault"),
    [({}, "Curators", "", "Nothing is to change"), ({"title": "x"}, "Curators", "", "cannot be changed for many"),
     ({"collection": "nowhere"}, "Curators", "", "no such collection"),
     ({"concepts": {"add": ["nowhere"]}}, "Curators", "", "no concept nowhere"),
     ({"labels": ["x"]}, "Curators", "", "Give add, remove, or both"),
     ({"labels": {"add": ["\x00"]}}, "Curators", "", "U+0000"),
     ({"facets": {"add": ["soil:mud"]}}, "Curators", "", "soil has no value 'mud'; declared: clay, sand"),
     ({"facets": {"add": ["sex:male", "sex:female"]}}, "Curators", "", "sex has one value for each source"),
     ({"assignee": "nobody"}, "Curators", "", "nobody of this name"),
     ({"notice": "corrected"}, "Curators", "", "Give the reason"),
     ({"status": "publish", "design": "cohort_study"}, "Curators", "", "Change the status alone"),
     ({"design": "cohort_study"}, "Desk readers", "", "takes the permission change_study")],
)  # fmt: skip
def test_what_cannot_be_is_refused_first(changes: Mapping[str, Any], role: str, reason: str, fault: str) -> None:
    declare_site(FACETS)
    who = make_curator(role=role)
    edit = bulk.choose([make_study().study_id], by=who)

    with pytest.raises((curation.CurationError, ValidationError), match=fault.replace("+", r"\+")):
        bulk.preview(edit, changes, reason=reason, by=who)
    assert BulkEdit.objects.get().status == "chosen"


def test_a_killed_worker_loses_nothing_and_a_job_can_be_cancelled(by: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "BATCH", 2)
    studies = [make_study(status="draft") for _ in range(6)]
    edit = bulk.choose(ids(studies), by=by)
    bulk.preview(edit, {"labels": {"add": ["x"]}}, by=by)
    bulk.confirm(edit, by=by)

    assert not bulk.run_job(edit, seconds=0)
    assert edit.done == 2
    assert not bulk.run_job(bulk.find_work() or edit, seconds=0)
    assert CorpusEvent.objects.filter(action="label_study").count() == 4
    bulk.cancel(edit)

    assert bulk.find_work() is None
    assert edit.report["outcomes"] == {"changed": 4}
    assert run(bulk.undo(edit, by=by), by=by).report["outcomes"] == {"changed": 4}
    assert [state(study)["labels"] for study in studies] == [[]] * 6


def study_file(study_id: str, **changes: Any) -> dict[str, Any]:
    values = {
        "study_id": study_id, "title": f"Study {study_id}", "authors": ["Example AB"], "design": "cohort_study",
        "collection": "training",
    }  # fmt: skip
    return values | {"passages": [{"section": "results", "text": f"Squats helped in {study_id}."}]} | changes


def test_an_import_is_undone_as_a_whole(by: Any) -> None:
    there = make_study(study_id="S1", status="draft", labels=["mine"], texts=("Gone words.", "Old words.", "Same."))
    passages = [{"section": "methods", "text": text} for text in ("New words.", "Same.")]
    studies = [study_file("S1", passages=passages, labels=["theirs"]), *(study_file(f"N{n}") for n in range(3))]
    before, texts = state(there), list(there.passages.values_list("text", "section", "position"))
    job = carry_out_import(read(json.dumps(studies), by=by), by=by)
    assert state(there)["labels"] == ["mine", "theirs"]
    curation.revise_study("N1", by=by, journal="By hand")
    curation.publish(["N2"], by=by)

    undone = run(bulk.undo(job, by=by), by=by)

    assert undone.report["outcomes"] == {"changed": 3, "refused": 1}
    assert dict(Study.objects.values_list("study_id", "status")) == {"S1": "draft", "N1": "draft", "N2": "withdrawn"}
    assert state(there) == before
    assert list(there.passages.values_list("text", "section", "position")) == texts
    assert list(read(json.dumps(studies), by=by).items.values_list("effect", flat=True)) == [
        "changes", "new", "same", "same",
    ]  # fmt: skip


def test_the_desk_leads_from_the_list_to_the_undo(client: Client, by: Any) -> None:
    declare_site(FACETS)
    client.force_login(by)
    concept = make_concept("strength")
    studies = [make_study(status="draft", labels=["old"]) for _ in range(12)]
    make_study(labels=["old"])
    studies_at = reverse("admin:corpus_app_study_changelist")
    asked = {"action": "edit_together", "select_across": "1", "_selected_action": [studies[0].pk]}

    page = client.post(f"{studies_at}?status__exact=draft", asked)
    address = page.headers["Location"]
    assert "What to change in 12 studies" in client.get(address).content.decode()
    refused = client.post(address, {"verb": "preview", "labels": "x"}).content.decode()
    assert "Say what to do with these." in refused
    what = {"concepts_way": "add", "concepts": [concept.pk], "labels_way": "set", "labels": "new\nnewer"}
    what |= {"facets_way": "add", "facets": ["soil:clay", "sex:male"]}
    preview = client.post(address, {"verb": "preview", **what}, follow=True).content.decode()
    assert "12 would change" in preview
    assert "<ins>new\nnewer</ins>" in preview
    client.post(address, {"verb": "confirm"})
    assert '<meta http-equiv="refresh"' in client.get(address).content.decode()
    assert bulk.run_job(bulk.find_work() or BulkEdit())

    assert "Changed: 12" in client.get(address).content.decode()
    events = reverse("admin:corpus_app_corpusevent_changelist")
    edit = BulkEdit.objects.get()
    listed = client.get(events)
    assert listed.context["cl"].result_count == 1
    assert "Concepts, facets, labels: 12 studies" in listed.content.decode()
    assert client.get(f"{events}?bulk_edit__id__exact={edit.pk}").context["cl"].result_count == 25
    assert f"{edit}" in client.get(reverse("admin:corpus_app_study_history", args=[studies[0].pk])).content.decode()
    assert client.get(f"{studies_at}?bulk={edit.pk}").context["cl"].result_count == 12
    undo = client.post(address, {"verb": "undo"}).headers["Location"]
    assert "12 would change" in client.get(undo).content.decode()
    client.post(undo, {"verb": "confirm"})
    assert bulk.run_job(bulk.find_work() or BulkEdit())
    assert [state(study)["labels"] for study in studies] == [["old"]] * 12
    assert [state(study)["facets"] for study in studies] == [{}] * 12
    client.force_login(make_curator("reader", role="Desk readers"))
    assert client.post(address, {"verb": "undo"}).status_code == 403
