"""Curators' writes by REST: drafts, changes under a version, states with reasons, and every refusal as a problem."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse

from corpus_app.curation import bulk
from corpus_app.models import CorpusEvent, Passage, Study
from inform_site.clients.keys import Made
from tests.api.conftest import V1, body, delete, get, patch, post, problem
from tests.builders import make_concept, make_curator, make_passage, make_study, work
from tests.corpus.test_gate import BROKEN

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]
DESK = f"{V1}desk/"
STUDIES = f"{DESK}studies"
NEW: dict[str, Any] = {
    "study_id": "new-1", "title": "Ten weekly sets", "authors": ["Example AB"], "year": 2024, "collection": "training",
    "design": "randomized_controlled_trial", "doi": "https://doi.org/10.1000/NEW.1", "participants": 40,
    "weeks": {"shortest": 8, "longest": 12.5},
    "passages": [{"section": "results", "text": "Ten weekly sets increased growth more than five."}],
}  # fmt: skip
FINDING = {
    "intervention": "ten sets", "comparator": "", "outcome": "size", "direction": "no_difference", "statement": "None.",
}  # fmt: skip


def test_a_study_is_made_changed_handed_over_published_and_withdrawn(key: str, curator: User) -> None:
    made = post(STUDIES, NEW, key)
    assert (made.status_code, made["Location"], made["ETag"]) == (201, f"{STUDIES}/new-1", f'"{body(made)["version"]}"')
    draft = body(made)
    assert (draft["status"], draft["doi"], draft["participants"]) == ("draft", "10.1000/new.1", 40)
    assert draft["weeks"] == {"shortest": 8.0, "longest": 12.5}
    assert [passage["text"] for passage in draft["passages"]] == [NEW["passages"][0]["text"]]
    problem(get(f"{V1}studies/new-1"), 404, "not-found")

    changed = patch(f"{STUDIES}/new-1", {"title": "Ten sets or five", "year": None}, key, draft["version"])
    assert changed.status_code == 200, changed.content
    assert (body(changed)["title"], body(changed)["year"]) == ("Ten sets or five", None)
    assert changed["ETag"] == f'"{draft["version"] + 1}"'

    for verb, sent, status in (
        ("submit", {}, "in_review"),
        ("send-back", {"reason": "The year is missing."}, "draft"),
        ("publish", {}, "published"),
        ("notice", {"notice": "corrected", "reason": "A table was corrected."}, "published"),
        ("withdraw", {"reason": "It was a copy."}, "withdrawn"),
    ):
        response = post(f"{STUDIES}/new-1/{verb}", sent, key)
        assert (response.status_code, body(response)["status"]) == (200, status), response.content
        assert get(f"{V1}studies/new-1").status_code == (200 if status == "published" else 404)
    assert body(get(f"{STUDIES}/new-1", key))["notice"] == "corrected"

    events = CorpusEvent.objects.filter(study_key="new-1").order_by("pk")
    assert [event.action for event in events] == [
        "create_study", "add_passage", "revise_study", "submit", "send_back", "publish", "set_notice", "withdraw",
    ]  # fmt: skip
    assert {event.actor for event in events} == {curator}
    assert events.last().reason == "It was a copy."  # type: ignore[union-attr]
    history = body(get(f"{STUDIES}/new-1/history?limit=3", key))
    assert [event["action"] for event in history["items"]] == ["withdraw", "set_notice", "publish"]
    assert history["next"]


def test_lists_are_narrowed_and_studies_commented_on(key: str) -> None:
    make_study(study_id="A", status="draft")
    make_study(study_id="B")

    assert [s["study_id"] for s in body(get(STUDIES, key))["items"]] == ["A", "B"]
    assert [s["study_id"] for s in body(get(f"{STUDIES}?status=draft&collection=training", key))["items"]] == ["A"]
    problem(get(f"{STUDIES}?status=lost", key), 400, "invalid")
    problem(get(f"{STUDIES}?fields=title", key), 400, "invalid")
    assert post(f"{STUDIES}/A/comments", {"text": "Is the number right?"}, key).status_code == 201
    [said] = body(get(f"{STUDIES}/A/comments", key))["items"]
    assert (said["text"], said["by"]) == ("Is the number right?", "curator")
    problem(post(f"{STUDIES}/A/comments", {"text": " "}, key), 400, "invalid")


def test_a_finding_takes_the_questions_that_it_answers(key: str) -> None:
    make_study(study_id="A", status="draft")

    def change(version: int, **changes: Any) -> HttpResponse:
        return patch(f"{STUDIES}/A", {"findings": [FINDING | changes]}, key, version)

    kept = ["Do more sets make me bigger?", "Is one set enough?"]
    first = body(change(1, asked_as=["Do more sets make me bigger?", " Is one set\nenough? "]))
    turned = body(change(first["version"], direction="mixed"))
    emptied = body(change(turned["version"], asked_as=[]))

    assert [found["findings"][0]["asked_as"] for found in (first, turned, emptied)] == [kept, kept, []]
    for wrong in ("Is one set enough?", [1], ["x" * 301]):
        refused = problem(change(emptied["version"], asked_as=wrong), 400, "invalid")
        assert refused["errors"][0]["field"].startswith("findings")


def test_concepts_findings_and_the_order_of_passages_are_set_in_one_act(key: str) -> None:
    make_concept("hypertrophy")
    study = make_study(study_id="A", texts=("One.", "Two."), status="draft")
    first, second = study.passages.values_list("pk", flat=True)
    wanted = {"concepts": ["hypertrophy"], "findings": [FINDING], "passage_order": [second, first]}

    changed = patch(f"{STUDIES}/A", wanted, key, 1)

    assert changed.status_code == 200, changed.content
    found = body(changed)
    assert (found["concepts"], found["findings"][0]["statement"]) == (["hypertrophy"], "None.")
    assert [passage["passage_id"] for passage in found["passages"]] == [second, first]
    for wrong in ([first], [first, first], [first, second, 10**15]):
        refused = patch(f"{STUDIES}/A", {"passage_order": wrong}, key, found["version"])
        assert problem(refused, 400, "invalid")["errors"][0]["field"] == "passage_order"


def test_passages_are_added_changed_and_removed_under_the_studys_version(key: str) -> None:
    make_study(study_id="A", status="draft")

    new = {"section": "methods", "text": "Forty trained men."}
    added = post(f"{STUDIES}/A/passages", new, key, **{"If-Match": '"1"'})
    assert added.status_code == 201, added.content
    path = f"{DESK}passages/{body(added)['passage_id']}"
    assert added["Location"] == path
    version = body(added)["study_version"]

    changed = patch(path, {"text": "Forty trained women."}, key, version)
    assert (body(changed)["text"], body(changed)["version"]) == ("Forty trained women.", 2)
    assert problem(patch(path, {"text": "x"}, key, version), 412, "stale")
    problem(delete(path, key), 428, "version-needed")
    removed = delete(path, key, version + 1)
    assert (removed.status_code, removed.content) == (204, b"")
    assert removed["ETag"] == f'"{Study.objects.get(study_id="A").version}"'
    problem(get(path, key), 404, "not-found")
    assert CorpusEvent.objects.get(action="remove_passage").detail["text"] == "Forty trained women."

    last = make_passage()  # of a published study
    kept = delete(f"{DESK}passages/{last.pk}", key, last.study.version)
    assert "withdraw it first" in problem(kept, 422, "not-possible")["detail"]
    assert Passage.objects.filter(pk=last.pk).exists()


def test_broken_words_are_published_only_with_a_reason(key: str) -> None:
    passage = make_passage()
    path, version = f"{DESK}passages/{passage.pk}", passage.study.version
    make_study(study_id="A", texts=(BROKEN,), status="draft")

    assert "looks broken" in problem(post(f"{STUDIES}/A/publish", {}, key), 422, "not-possible")["detail"]
    refused = problem(patch(path, {"text": BROKEN}, key, version), 422, "not-possible")
    assert refused["errors"][0]["field"] == "passages.0.text"
    assert Passage.objects.get(pk=passage.pk).text != BROKEN
    assert Study.objects.get(study_id="A").status == "draft"

    kept = patch(path, {"text": BROKEN, "stands_because": "The source prints it so."}, key, version)
    assert kept.status_code == 200, kept.content
    assert CorpusEvent.objects.filter(action="waive_finding", reason="The source prints it so.").exists()


def test_a_change_needs_the_version_that_was_read(key: str) -> None:
    make_study(study_id="A", status="draft")
    path = f"{STUDIES}/A"
    assert get(path, key)["ETag"] == '"1"'

    problem(patch(path, {"title": "Mine"}, key), 428, "version-needed")
    assert patch(path, {"title": "Theirs"}, key, 1).status_code == 200
    stale = patch(path, {"title": "Mine"}, key, 1)
    assert "version 2" in problem(stale, 412, "stale")["detail"]
    assert stale["ETag"] == '"2"'
    assert Study.objects.get(study_id="A").title == "Theirs"
    for wrong in ("*", "1", 'W/"1"', '"1", "2"', '""', '"' + "9" * 100 + '"', "\u00e9"):
        refused = problem(patch(path, {"title": "Mine"}, key, **{"If-Match": wrong}), 400, "invalid")
        assert refused["errors"][0]["field"] == "If-Match"
    assert get(path, key, **{"If-None-Match": '"2"'}).status_code == 304
    problem(post(f"{path}/publish", {}, key, **{"If-Match": '"7"'}), 412, "stale")
    assert post(f"{path}/publish", {}, key, **{"If-Match": '"2"'}).status_code == 200


def test_a_state_that_does_not_fit_is_a_conflict(key: str) -> None:
    for status, verbs in (("published", ("publish", "submit")), ("draft", ("send-back", "withdraw"))):
        make_study(study_id=status, status=status)
        for verb in verbs:
            sent = {"reason": "x"} if status == "draft" else {}
            problem(post(f"{STUDIES}/{status}/{verb}", sent, key), 409, "conflict")
        assert Study.objects.get(study_id=status).status == status


def test_a_reason_must_be_given(key: str) -> None:
    make_study(study_id="A", status="in_review")
    make_study(study_id="B", status="published")

    for path in ("A/send-back", "B/withdraw", "B/notice"):
        for reason in ({}, {"reason": ""}, {"reason": "  "}, {"reason": "\u200b"}):
            refused = post(f"{STUDIES}/{path}", reason | ({"notice": "retracted"} if "notice" in path else {}), key)
            assert [error["field"] for error in problem(refused, 400, "invalid")["errors"]] == ["reason"]


def test_authors_do_not_publish_where_others_review(key: str, make_key: Callable[..., Made], settings: Any) -> None:
    settings.REVIEW_REQUIRED = True
    reviewer = make_key("curate", owner=make_curator("reviewer", role="Reviewers")).secret
    assert post(STUDIES, NEW, key).status_code == 201

    assert "handed over" in problem(post(f"{STUDIES}/new-1/publish", {}, key), 422, "not-possible")["detail"]
    assert post(f"{STUDIES}/new-1/submit", {}, key).status_code == 200
    problem(post(f"{STUDIES}/new-1/publish", {}, key), 422, "not-possible")
    assert post(f"{STUDIES}/new-1/publish", {}, reviewer).status_code == 200

    version = Study.objects.get(study_id="new-1").version
    problem(patch(f"{STUDIES}/new-1", {"title": "Mine"}, key, version), 403, "not-permitted")
    assert patch(f"{STUDIES}/new-1", {"title": "Reviewed"}, reviewer, version).status_code == 200


def test_no_passage_a_known_id_and_a_known_doi_are_refused(key: str) -> None:
    make_study(study_id="A", doi="10.1000/new.1", texts=(), status="draft")

    for verb in ("submit", "publish"):
        assert "no passage" in problem(post(f"{STUDIES}/A/{verb}", {}, key), 422, "not-possible")["detail"]
    problem(post(STUDIES, NEW | {"study_id": "A"}, key), 409, "conflict")
    assert problem(post(STUDIES, NEW | {"study_id": "a"}, key), 400, "invalid")["errors"][0]["field"] == "study_id"
    same_doi = problem(post(STUDIES, NEW, key), 400, "invalid")
    assert "another study has this doi" in same_doi["errors"][0]["detail"].lower()
    assert Study.objects.count() == 1


BAD: list[tuple[str, Any, str]] = [
    ("status", "published", "status"), ("title", 7, "title"), ("title", "  ", "title"), ("title", "\u2800", "title"),
    ("title", "a\x07b", "title"), ("title", "a\nb", "title"), ("title", "x" * 1_001, "title"),
    ("authors", "Example AB", "authors"), ("authors", [None], "authors.0"), ("authors", ["A B; C D"], "authors"),
    ("year", "2024", "year"), ("year", True, "year"), ("year", 2024.5, "year"), ("year", 24, "year"),
    ("participants", 10**30, "participants"), ("participants", -1, "participants"), ("weeks", [], "weeks"),
    ("weeks", {"shortest": "8"}, "weeks.shortest"), ("weeks", {"months": 2}, "weeks.months"), ("doi", "doi", "doi"),
    ("pmid", "PMC1", "pmid"), ("url", "javascript:alert(1)", "url"), ("design", "essay", "design"),
    ("design", ["cohort"], "design"), ("design", None, "design"), ("collection", "moon", "collection"),
    ("concepts", ["moon"], "concepts"), ("findings", [{}], "findings.0.intervention"),
    ("findings", {"a": 1}, "findings"), ("peer_reviewed", "yes", "peer_reviewed"),
]  # fmt: skip


def test_a_field_that_is_unfit_is_named(key: str) -> None:
    make_study(study_id="A", status="draft", title="As it was")

    for name, value, field in BAD:
        for sent in (post(STUDIES, NEW | {name: value}, key), patch(f"{STUDIES}/A", {name: value}, key, 1)):
            assert field in {error["field"] for error in problem(sent, 400, "invalid")["errors"]}, (name, value)
    assert list(Study.objects.values_list("study_id", "title", "version")) == [("A", "As it was", 1)]


def test_a_passage_that_is_unfit_is_named(key: str) -> None:
    make_study(study_id="A", status="draft")
    fit = {"section": "results", "text": "Words."}
    wrong = [
        ("text", " "), ("section", "moon"), ("text", "\u200b"), ("text", "a\x07"), ("page", 2**31), ("kind", "poem"),
        ("heading", "x"),
    ]  # fmt: skip

    for field, value in wrong:
        passage = fit | {field: value}
        alone = problem(post(f"{STUDIES}/A/passages", passage, key), 400, "invalid")
        within = problem(post(STUDIES, NEW | {"passages": [fit, passage]}, key), 400, "invalid")
        assert field in {error["field"] for error in alone["errors"]}
        assert f"passages.1.{field}" in {error["field"] for error in within["errors"]}
    missing = problem(post(f"{STUDIES}/A/passages", {"section": "results"}, key), 400, "invalid")
    assert "text" in {error["field"] for error in missing["errors"]}
    assert not Study.objects.filter(study_id="new-1").exists()


EDITS = f"{V1}desk/bulk-edits"


def test_the_whole_way_from_the_preview_to_the_undo(key: str, woken: list[str]) -> None:
    ids = [make_study(status="draft").study_id for _ in range(2)]
    wanted: dict[str, Any] = {"studies": [*ids, "gone"], "changes": {"labels": {"add": ["x"]}, "peer_reviewed": False}}

    made = post(EDITS, wanted, key)
    assert (made.status_code, body(made)["title"]) == (201, "Labels, peer reviewed: 3 studies"), made.content
    path = made["Location"]
    first, _, gone = body(get(f"{path}/items", key))["items"]
    assert {"field": "labels", "before": "", "after": "x"} in first["differences"]
    assert gone["refusal"] == "is no longer here"
    assert post(f"{path}/confirm", {}, key).status_code == 202
    problem(post(f"{path}/confirm", {}, key), 409, "conflict")
    assert woken == [bulk.TASK]
    work()

    assert body(get(path, key))["outcomes"] == {"changed": 2, "refused": 1}
    assert [row["study_id"] for row in body(get(f"{path}/items?outcome=refused", key))["items"]] == ["gone"]
    undo = post(f"{path}/undo", {}, key)["Location"]
    post(f"{undo}/confirm", {}, key)
    work()
    assert set(Study.objects.values_list("peer_reviewed", flat=True)) == {True}
    problem(post(f"{path}/undo", {}, key), 422, "not-possible")
    assert len(body(get(EDITS, key))["items"]) == 2


@pytest.mark.parametrize(
    ("changes", "status"),
    [({}, 422), ({"title": "x"}, 400), ({"collection": "nowhere"}, 400), ({"labels": {}}, 400), ({"design": 1}, 400)],
)
def test_a_change_that_cannot_be_is_refused(key: str, changes: Any, status: int) -> None:
    answer = post(EDITS, {"studies": [make_study().study_id], "changes": changes}, key)

    assert answer.status_code == status, answer.content
