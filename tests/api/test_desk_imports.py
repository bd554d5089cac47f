"""Imports by REST, from the file to the report; studies that are merged, deleted or looked up by DOI."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from corpus_app.api.desk.imports import ImportsView
from corpus_app.curation import jobs
from corpus_app.models import CorpusEvent, ImportItem, ImportJob, Study
from inform_site.clients.keys import Made
from tests.api.conftest import V1, body, delete, get, post, problem
from tests.builders import make_collection, make_concept, make_curator, make_study, work
from tests.corpus.test_imports import RIS

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]
IMPORTS = f"{V1}desk/imports"


def send(content: bytes, secret: str, *, query: str = "", kind: str = "application/octet-stream") -> HttpResponse:
    """The file as the body."""
    client = Client(raise_request_exception=False)
    return client.post(f"{IMPORTS}{query}", content, content_type=kind, headers={"Authorization": f"Bearer {secret}"})


def send_form(secret: str, **fields: Any) -> HttpResponse:
    return Client(raise_request_exception=False).post(IMPORTS, fields, headers={"Authorization": f"Bearer {secret}"})


def read_in(secret: str, text: str = RIS) -> str:
    """Send a file and have the worker read it; give the path of its import."""
    path = send(text.encode(), secret, query="?name=refs.ris")["Location"]
    work()
    return str(path)


@pytest.mark.parametrize("name", ["run.py", "shell.php", "page.html", "../../static/site.js", "x.svg", "run.sh"])
def test_a_program_that_is_sent_as_a_file_is_run_and_served_nowhere(
    key: str, curator: User, client: Client, settings: Any, name: str
) -> None:
    program = b"<?php system('touch ran'); ?><script>document.title='ran'</script>\nimport os; os.system('touch ran')"
    folders = (settings.BASE_DIR / "static", settings.STATIC_ROOT, settings.DATA_DIR, Path.cwd())
    before = [sorted(path.name for path in folder.glob("*")) for folder in folders]
    sent = send(program, key, query=f"?{urlencode({'name': name})}")
    if sent.status_code == 202:
        work()

    assert [sorted(path.name for path in folder.glob("*")) for folder in folders] == before
    for root in ("/", "/static/", "/media/", "/imports/", "/uploads/"):
        assert b"document.title='ran'" not in client.get(f"{root}{name}", follow=True).getvalue()
    client.force_login(curator)
    for job in ImportJob.objects.all():
        file = client.get(f"/admin/corpus_app/importjob/{job.pk}/file")
        assert file["Content-Type"] == "application/octet-stream"
        assert file["Content-Disposition"] == f'attachment; filename="import-{job.pk}.bin"'
        assert file["X-Content-Type-Options"] == "nosniff"
    assert sent.status_code != 202 or ImportJob.objects.exists()


def test_the_whole_way_from_the_file_to_the_report(key: str, curator: User, woken: list[str]) -> None:
    make_study(study_id="old", doi="10.1000/squats.1", title="Ten weekly sets of squats in trained men: a trial")
    ordered = send_form(key, file=SimpleUploadedFile("refs.ris", RIS.encode()))
    assert (ordered.status_code, body(ordered)["status"]) == (202, "waiting"), ordered.content
    assert woken == [jobs.TASK]
    path = ordered["Location"]
    assert body(get(f"{path}/items", key))["items"] == []

    work()
    seen = body(get(path, key))
    assert (seen["status"], seen["format"], seen["problems"]) == ("previewed", "RIS", 1)
    assert seen["effects"] == {"new": 1, "joins": 1}
    [problem_found] = body(get(f"{path}/problems", key))["items"]
    assert (problem_found["line"], problem_found["field"], problem_found["weight"]) == (19, "title", "broken")
    items = {item["effect"]: item for item in body(get(f"{path}/items", key))["items"]}
    assert (items["joins"]["other_id"], items["new"]["chosen"], items["new"]["broken"]) == ("old", True, 1)
    assert [row["effect"] for row in body(get(f"{path}/items?effect=new", key))["items"]] == ["new"]

    unsaid = problem(post(f"{path}/confirm", {}, key), 422, "not-possible")
    assert "Choose the collection" in unsaid["detail"]
    wanted = {"collection": "training", "submit": True, "items": [items["new"]["item_id"]]}
    confirmed = post(f"{path}/confirm", wanted, key)
    assert (confirmed.status_code, body(confirmed)["status"]) == (202, "confirmed"), confirmed.content
    problem(post(f"{path}/confirm", wanted, key), 409, "conflict")

    work()
    done = body(get(path, key))
    assert (done["status"], done["outcomes"]["created"], done["done"]) == ("done", 1, 1)
    study = Study.objects.exclude(study_id="old").get()
    assert (study.title, study.status) == ("Creatine and sprinting", "in_review")
    report = get(f"{path}/report", key)
    assert report["Content-Type"] == "text/csv"
    assert b"Creatine and sprinting" in report.content
    assert ImportJob.objects.get().asked_by == curator
    assert [row["status"] for row in body(get(IMPORTS, key))["items"]] == ["done"]


def test_differences_are_shown_before_they_are_made(key: str) -> None:
    path = read_in(key)
    assert post(f"{path}/confirm", {"collection": "training"}, key).status_code == 202
    work()

    path = read_in(key, RIS.replace("JO  - Journal of Squats", "JO  - Journal of Rests"))

    [changed] = body(get(f"{path}/items?effect=changes", key))["items"]
    assert changed["differences"] == [{"field": "journal", "before": "Journal of Squats", "after": "Journal of Rests"}]


def test_a_file_is_a_body_of_any_type_or_a_form_up_to_its_own_limit(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ImportsView, "largest_body", 200_000)
    for kind in ("application/octet-stream", "application/json", "nonsense", ""):
        answer = send(RIS.encode(), key, query="?name=refs.ris", kind=kind)
        assert (answer.status_code, body(answer)["file_name"]) == (202, "refs.ris")
    assert {bytes(job.content) for job in ImportJob.objects.all()} == {RIS.encode()}
    assert send(b"TY  - JOUR\n" + b"x" * 150_000, key).status_code == 202
    assert send_form(key, file=SimpleUploadedFile("a.ris", b"x" * 150_000)).status_code == 202
    problem(send(b"x" * 200_001, key), 413, "too-large")
    problem(send_form(key, file=SimpleUploadedFile("a.ris", b"x" * 200_001)), 413, "too-large")
    assert ImportJob.objects.count() == 6


def test_what_is_no_file_is_refused(key: str) -> None:
    forms: list[dict[str, Any]] = [
        {}, {"file": ""}, {"file": "words"}, {"file": SimpleUploadedFile("a.ris", b"")},
        {"file": SimpleUploadedFile("a.ris", b"x"), "publish": "on"}, {"other": SimpleUploadedFile("a.ris", b"x")},
    ]  # fmt: skip
    bodies = [
        (b"", "", "application/octet-stream"), (b"x", "?name=%00", "application/octet-stream"),
        (b"x", "?name=a%0Ab", "application/octet-stream"), (b"x", "?title=a", "application/octet-stream"),
        (b"x", "", "multipart/form-data"), (b"x", "", "multipart/form-data; boundary=y"),
    ]  # fmt: skip
    for fields in forms:
        problem(send_form(key, **fields), 400, "invalid")
    answers = [send(content, key, query=query, kind=kind) for content, query, kind in bodies]
    for answer in (*answers, send_form(key, **{f"f{n}": "x" for n in range(2_000)})):
        assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json"), answer.content
    assert send(b"%PDF-1.4 x", key, kind="application/pdf").status_code == 422
    assert not ImportJob.objects.exists()


def test_a_confirmation_that_is_unfit_is_named(key: str) -> None:
    path = read_in(key)
    unfit: list[tuple[dict[str, Any], str]] = [
        ({"items": "all"}, "items"), ({"items": ["1"]}, "items.0"), ({"items": [10**15]}, "items"),
        ({"items": [10**30]}, "items.0"), ({"items": [None]}, "items.0"), ({"collection": "moon"}, "collection"),
        ({"design": "essay"}, "design"), ({"submit": 1}, "submit"), ({"title": "x"}, "title"),
    ]  # fmt: skip

    for sent, field in unfit:
        refused = problem(post(f"{path}/confirm", sent, key), 400, "invalid")
        assert field in {error["field"] for error in refused["errors"]}
    for broken in (b"[]", b"{", b"\xff"):
        assert post(f"{path}/confirm", broken, key).status_code == 400
    assert set(ImportItem.objects.values_list("chosen", flat=True)) == {True}
    assert body(get(path, key))["status"] == "previewed"


def test_who_may_not_publish_brings_in_drafts_alone(make_key: Callable[..., Made]) -> None:
    make_collection("training")
    person = make_curator()
    person.groups.clear()
    permitted = ["view_importjob", "add_importjob", "change_importjob"]
    person.user_permissions.set(Permission.objects.filter(codename__in=permitted))
    key = make_key("curate", owner=person).secret
    path = read_in(key)

    refused = problem(post(f"{path}/confirm", {"collection": "training", "publish": True}, key), 422, "not-possible")
    assert "may not publish" in refused["detail"]
    assert post(f"{path}/confirm", {"collection": "training"}, key).status_code == 202


def test_an_import_may_be_left_without_bringing_anything_in(key: str) -> None:
    path = send(RIS.encode(), key, query="?name=refs.ris")["Location"]
    work()
    refused = problem(post(f"{path}/leave", {"reason": "x"}, key), 400, "invalid")
    assert [(error["field"], error["code"]) for error in refused["errors"]] == [("reason", "unknown_field")]

    left = post(f"{path}/leave", b"", key)

    assert (left.status_code, body(left)["status"], body(left)["finished_at"] is None) == (200, "done", False)
    assert body(left)["outcomes"] == {"left": sum(body(left)["effects"].values())}
    assert {item["chosen"] for item in body(get(f"{path}/items", key))["items"]} == {False}
    assert not Study.objects.exists()
    assert jobs.find_work() is None
    problem(post(f"{path}/leave", {}, key), 409, "conflict")
    problem(post(f"{path}/confirm", {"collection": "training"}, key), 409, "conflict")


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
        ({"reason": "Twice."}, "other"), (MERGED | {"other": "missing"}, "other"),
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
