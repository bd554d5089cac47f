"""The desk's pages for bringing in, mending, merging and taking out."""

import asyncio
import csv
import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import celery
import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from corpus_app import curation, sources
from corpus_app.curation import gate, jobs, lookup, running
from corpus_app.models import ImportItem, ImportJob, Study
from qa_app.models import GoldenQuestion
from tests.builders import make_collection, make_concept, make_curator, make_study, work
from tests.corpus.test_imports import RIS, beir

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tasks that pages asked a worker for."""
    names: list[str] = []
    monkeypatch.setattr(celery.current_app, "send_task", lambda name, **options: names.append(name))
    return names


@pytest.fixture
def curator(client: Client) -> User:
    make_collection("training")
    curator = make_curator()
    client.force_login(curator)
    return curator


def at(name: str, *args: Any) -> str:
    return reverse(f"admin:corpus_app_{name}", args=args)


def bring(client: Client, **data: Any) -> str:
    """Asks for an import as the page does, and the address of its page."""
    response = client.post(at("importjob_add"), data)
    assert response.status_code == 302, response.content.decode()
    return str(response.headers["Location"])


def upload(content: str | bytes, name: str = "refs.ris") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def text_of(response: Any) -> str:
    return str(response.content.decode())


def test_a_file_is_uploaded_previewed_imported_and_reported(client: Client, curator: User, woken: list[str]) -> None:
    assert "Bring studies in" in text_of(client.get(at("study_changelist")))
    address = bring(client, file=upload(RIS))
    assert woken == [jobs.TASK]
    assert '<meta http-equiv="refresh"' in text_of(client.get(address))

    work()
    preview = text_of(client.get(address))
    assert "Imports waiting for a choice" in text_of(client.get(reverse("admin:index")))
    assert '<meta http-equiv="refresh"' not in preview
    assert "Ten weekly sets of squats" in preview
    assert "text that looks broken: 1 place" in preview
    assert "is missing: a record without a title is no study." in preview
    assert not Study.objects.exists()

    ids = [str(pk) for pk in ImportItem.objects.values_list("pk", flat=True)]
    refused = client.post(address, {"verb": "confirm", "among": ids, "items": ids}, follow=True)
    assert "Choose the collection" in text_of(refused)
    client.post(address, {"verb": "confirm", "among": ids, "items": ids[:1], "collection": "training", "submit": "on"})
    assert ImportJob.objects.get().status == "confirmed"
    work()

    done = text_of(client.get(address))
    assert "Handed over for review." in done
    assert Study.objects.get().status == "in_review"
    report = client.get(at("importjob_report", ImportJob.objects.get().pk)).content.decode("utf-8-sig")
    assert [row[7] for row in csv.reader(io.StringIO(report))][1:] == ["created", "left out", "broken"]
    assert client.get(at("importjob_file", ImportJob.objects.get().pk)).content == RIS.encode()


def test_differences_are_shown_word_by_word_and_duplicates_with_a_link(client: Client, curator: User) -> None:
    there = make_study(doi="10.1000/creatine.1")
    first = bring(client, file=upload(RIS))
    work()
    ids = list(ImportItem.objects.values_list("pk", flat=True))
    page = text_of(client.get(first))
    assert f'href="{at("study_change", there.pk)}">{there.study_id}</a>' in page
    client.post(first, {"verb": "confirm", "among": ids, "items": ids, "collection": "training"})
    work()

    second = bring(client, file=upload(RIS.replace("Strength rose alike", "Strength rose more")))
    work()

    assert "<del>alike</del><ins>more</ins>" in text_of(client.get(second))


def test_choosing_all_none_and_page_by_page(client: Client, curator: User, django_assert_max_num_queries: Any) -> None:
    address = bring(client, file=upload(beir(60), "corpus.jsonl"))
    work()
    with django_assert_max_num_queries(21):  # three of them once a version, for the nouns of the site
        assert "Page 1 of 3" in text_of(client.get(address))

    searched = f"{address}?effect=new&q=study+57"
    page = text_of(client.get(searched))
    assert ("Found: 1." in page, "Study 57" in page, "Study 56" in page) == (True, True, False)
    response = client.post(searched, {"verb": "none"})
    assert str(response.headers["Location"]).endswith("?effect=new&q=study+57")
    assert not ImportItem.objects.filter(chosen=True).exists()
    page = list(ImportItem.objects.values_list("pk", flat=True)[:25])
    client.post(address, {"verb": "save", "among": page, "items": page[:3], "p": "1"})
    assert ImportItem.objects.filter(chosen=True).count() == 3
    client.post(address, {"verb": "all"})
    assert ImportItem.objects.filter(chosen=True).count() == 60


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (MemoryError(), "It takes more memory than a worker may have. Split the file"),
        (SoftTimeLimitExceeded(), "It was tried 3 times. Each time it took longer than one step may take."),
        (SystemExit(), "It was tried 3 times. Each time the worker that was at it ended"),
    ],
)
def test_a_job_that_cannot_be_done_says_why_and_can_be_tried_again(
    raised: BaseException, words: str, client: Client, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = bring(client, file=upload(RIS))

    def fail(*args: object) -> None:
        raise raised

    with monkeypatch.context() as broken:
        broken.setattr(sources, "stream", fail)
        for _ in range(running.MAX_ATTEMPTS + 1):
            if job := jobs.find_work():
                with suppress(SystemExit):
                    jobs.run_job(job)
    assert jobs.find_work() is None
    assert words in text_of(client.get(page))

    client.post(page, {"verb": "again"})
    work()

    assert ImportJob.objects.get().status == ImportJob.Status.PREVIEWED
    assert ImportJob.objects.get().error == ""


def test_a_failed_look_up_is_repeated(
    client: Client, curator: User, monkeypatch: pytest.MonkeyPatch, woken: list[str]
) -> None:
    def fail(asker: Any, found: Any) -> list[lookup.Answer]:
        return [lookup.Answer(one, (), f"{one.value} <b> is busy.", can_retry=True) for one in found]

    monkeypatch.setattr(lookup.Asker, "answers", fail)
    address = bring(client, lookup="10.1000/a?b&c\nPMC12")
    assert "Stop looking up" in text_of(client.get(address))
    work()

    page = text_of(client.get(address))
    assert "10.1000/a?b&amp;c &lt;b&gt; is busy." in page
    assert "A service failed for 2 of them." in page
    del woken[:]
    client.post(address, {"verb": "again"})
    assert (woken, ImportJob.objects.get().status) == ([jobs.TASK], "waiting")
    client.post(address, {"verb": "stop"})
    assert "Not asked for, because the list was stopped: 2." in text_of(client.get(address))
    page = text_of(client.post(address, {"verb": "leave"}, follow=True))
    assert "Leave all out" not in page
    assert ImportJob.objects.get().status == "done"


def test_a_full_text_joins_its_reference_field_by_field(client: Client, curator: User) -> None:
    there = make_study(
        study_id="HERE", doi="10.1000/SQUATS.1", title="Weekly sets of squats in trained men", year=2020, journal=None,
        texts=("It was there.",), status="draft",
    )  # fmt: skip
    address = bring(client, file=upload(RIS.split("\n\n")[0]))
    work()
    item = ImportItem.objects.get()
    page = text_of(client.get(address))
    assert (item.effect, item.chosen, item.other_key) == ("joins", True, "HERE")
    assert "1 passage added" in page
    assert 'aria-label="Take year of the file for HERE"' in page
    for status, is_told in (("published", True), ("draft", False)):
        Study.objects.filter(pk=there.pk).update(status=status)
        assert ("changed only with “Publish them”" in text_of(client.get(address))) is is_told

    ticked = {"among": item.pk, "items": item.pk, "take": [f"{item.pk}:year", f"{item.pk}:status", "x"]}
    client.post(address, {"verb": "confirm", "collection": "training", **ticked})
    work()

    there.refresh_from_db()
    assert (there.year, there.journal) == (2021, "Journal of Squats")
    assert there.title == "Weekly sets of squats in trained men"
    assert there.passages.count() == 2
    assert "Joined to HERE, 1 passage added." in text_of(client.get(address))
    again = bring(client, file=upload(RIS.split("\n\n")[0]))
    work()
    assert "All of it is here already" in text_of(client.get(again))


def test_what_was_told_apart_is_a_new_study(client: Client, curator: User) -> None:
    title = "Ten weekly sets of squats in trained men: a randomised trial"
    make_study(study_id="HERE", doi=None, title=title, year=2021, authors=["Alpha A"])
    for expected in ("alike", "new"):
        address = bring(client, file=upload(RIS.split("\n\n")[0]))
        work()
        item = ImportItem.objects.latest("pk")
        assert item.effect == expected
        client.post(address, {"verb": f"apart-{item.pk}", "among": item.pk, "items": item.pk})
        item.refresh_from_db()
        assert (item.effect, item.chosen) == ("new", True)


def test_two_alike_in_a_file_are_told_before_they_come_in(client: Client, curator: User) -> None:
    first = RIS.split("\n\n")[0].replace("DO  - 10.1000/squats.1\n", "")
    others = first.replace("randomized", "randomised"), first.replace("2021", "2020")
    address = bring(client, file=upload("\n\n".join([first, *others])))
    work()
    assert "It may be the same as refs.ris, line 1: “Ten weekly" in text_of(client.get(address))
    found = ImportItem.objects.order_by("position").values_list("effect", "chosen")
    assert list(found) == [("new", True), ("alike", False), ("new", True)]


def test_what_is_new_is_shown_with_its_first_words(client: Client, curator: User) -> None:
    parts = (
        f"{heading}\nThickness <b> rose in group {heading}."
        for heading in ("Methods", "Results", "Discussion", "Conclusion")
    )
    address = bring(client, text="\n\n".join(parts), title="Sets and thickness")
    work()

    page = text_of(client.get(address))

    assert "The first 3 of 4 passages" in page
    assert "Thickness &lt;b&gt; rose in group Discussion." in page
    assert "group Conclusion" not in page


def test_what_was_found_of_a_file_stands_with_its_own_source_alone(client: Client, curator: User) -> None:
    page = "<html><head><title>{0}</title></head><body><nav><a href='/'>Home</a></nav><main><h1>{0}</h1><p>{1}</p></main></body></html>"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("boats.html", page.format("Boats", "The oldest boat of the lake is called Anna."))
        archive.writestr("nets.md", "# Nets\n\nFishers mended their nets on the shore in winter.")
    address = bring(client, file=upload(packed.getvalue(), "lake.zip"))
    work()

    text = text_of(client.get(address))

    assert text.count("Passages left out of the text: navigation (1).") == 2  # at its source, and in the list of all


def test_unusable_input_is_refused_in_the_form(client: Client, curator: User) -> None:
    for data, reason in (
        ({}, "Give one of the three"),
        ({"lookup": "10.1000/x", "text": "TY  - JOUR"}, "Give one of the three"),
        ({"lookup": "hello"}, "This is neither a DOI"),
        ({"text": "Results\nThickness rose by ten percent with ten sets a week."}, "Say the title of the study"),
    ):
        assert reason in text_of(client.post(at("importjob_add"), data)), reason
    assert not ImportJob.objects.exists()
    for name in ("importjob_change", "importjob_report", "importjob_file"):
        assert client.get(at(name, 99)).status_code == 404


def test_nonsense_posted_to_an_import_changes_nothing(client: Client, curator: User) -> None:
    address = bring(client, file=upload(RIS))
    work()

    for posted in ({"items": "x"}, {"verb": "save", "items": "9" * 40}, {"verb": "confirm", "design": "no"}):
        assert client.post(address, posted).status_code in {200, 302}
        assert ImportJob.objects.get().status == "previewed"


def test_a_selection_goes_out_and_comes_back(client: Client, curator: User) -> None:
    chosen, _ = make_study(study_id="E1"), make_study(study_id="E2")
    page = client.post(at("study_changelist"), {"action": "export_studies", "_selected_action": [chosen.pk]})
    assert f'value="{chosen.pk}"' in text_of(page)

    for form in ("csv", "ris", "bibtex", "csl"):
        response = client.post(at("study_export"), {"form": form, "ids": str(chosen.pk)})
        assert response.headers["Content-Disposition"].startswith("attachment")
        out = sources.Source("out", response.getvalue())
        found = sources.read_file(out, sources.Intake(collection="training")).studies
        assert [draft.doi for draft in found] == [chosen.doi]
    for posted in ({}, {"form": "exe"}, {"form": "ris", "ids": "x,,9"}):
        assert client.post(at("study_export"), posted).status_code == 200


async def joined(pieces: Any) -> bytes:
    return b"".join([piece async for piece in pieces])


def test_everything_goes_out_with_its_records(client: Client, curator: User, tmp_path: Path) -> None:
    study = make_study(study_id="E1", texts=("The heavy load raised it (P B 0.05) in ten weeks.",))
    curation.comment("E1", "Who has read this?", by=curator)
    [passage] = study.passages.all()
    curation.waive(passage.pk, gate.faults_of_loaded([passage])[passage.pk][0].key, reason="It is so.", by=curator)
    GoldenQuestion.objects.create(key="g-1", question="How many?", mode="beginner", kind="x", relevant={"E1": 2})

    sent = client.post(at("study_export"), {"form": "everything", "all": "1", "golden": "on"})
    (tmp_path / "all.zip").write_bytes(b"".join(sent.streaming_content))
    again = client.post(at("study_export"), {"form": "everything", "all": "1", "golden": "on"})
    assert asyncio.run(joined(again)) == (tmp_path / "all.zip").read_bytes()
    plain = client.post(at("study_export"), {"form": "folder", "all": "1"})
    call_command("export_corpus", tmp_path / "out", everything=True, golden=True, stdout=io.StringIO())

    with zipfile.ZipFile(tmp_path / "all.zip") as archive, zipfile.ZipFile(io.BytesIO(plain.getvalue())) as folder:
        packed = {name: archive.read(name) for name in archive.namelist()}
        assert {name: folder.read(name) for name in folder.namelist()}.items() <= packed.items()
    out = tmp_path / "out"
    assert packed == {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*")}
    records = {
        name: [json.loads(line) for line in packed[f"records/{name}.jsonl"].splitlines()]
        for name in ("comments", "history", "waivers", "golden")
    }
    [said], [waived], [asked] = (records[name] for name in ("comments", "waivers", "golden"))
    assert (said["study_id"], said["author"], said["text"]) == ("E1", curator.username, "Who has read this?")
    assert {"comment", "waive_finding"} == {row["action"] for row in records["history"]}
    assert (waived["passage"], waived["kind"], waived["reason"]) == (1, "operator", "It is so.")
    assert (asked["id"], asked["relevant"]) == ("g-1", {"E1": 2})
    assert sources.read(tmp_path / "out").problems == ()

    read = sources.read_file(sources.Source("all.zip", (tmp_path / "all.zip").read_bytes()), sources.Intake())
    assert {problem.weight.value for problem in read.problems} == {"told"}  # records are not taken for studies

    of_one = client.post(at("study_export"), {"form": "everything", "ids": str(study.pk)})
    assert "Content-Disposition" not in of_one.headers  # records are those of the whole corpus


def test_our_folder_goes_out_whole_and_comes_back(client: Client, curator: User, tmp_path: Path) -> None:
    concept = make_concept()
    chosen, _ = make_study(study_id="E1", concepts=(concept,)), make_study(study_id="E2")

    one = client.post(at("study_export"), {"form": "folder", "ids": str(chosen.pk)}).getvalue()
    everything = client.post(at("study_export"), {"form": "folder", "all": "1"}).getvalue()

    with zipfile.ZipFile(io.BytesIO(everything)) as archive:
        assert {"studies/E1.json", "studies/E2.json", "studies_master.csv", "concepts.json"} == set(archive.namelist())
    with zipfile.ZipFile(io.BytesIO(one)) as archive:
        assert json.loads(archive.read("studies/E1.json"))["study_id"] == "E1"
        archive.extractall(tmp_path)
    corpus = sources.read(tmp_path)
    assert (corpus.problems, [draft.study_id for draft in corpus.studies]) == ((), ["E1"])

    address = bring(client, file=upload(one, "corpus.zip"))
    work()
    page = text_of(client.get(address))
    assert "All of it is here already, word for word." in page
    assert "1 same" in page
