"""The desk's pages for bringing in, mending, merging and taking out."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from common import waking
from corpus_app import curation, sources
from corpus_app.curation import gate, jobs, lookup
from corpus_app.desk import merging
from corpus_app.models import CorpusEvent, ImportItem, ImportJob, Passage, QualityWaiver, Study
from tests.builders import make_collection, make_concept, make_curator, make_finding, make_study
from tests.corpus.test_gate import BROKEN
from tests.corpus.test_imports import RIS, beir

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tasks that pages asked a worker for."""
    names: list[str] = []
    monkeypatch.setattr(waking, "_send", names.append)
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


def work() -> None:
    while job := jobs.find_work():
        jobs.run_job(job)


def upload(content: str | bytes, name: str = "refs.ris") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def text_of(response: Any) -> str:
    return str(response.content.decode())


# --- Bringing in -----------------------------------------------------------------------------------------------------------


def test_the_whole_way_from_the_file_to_the_report(client: Client, curator: User, woken: list[str]) -> None:
    assert "Bring studies in" in text_of(client.get(at("study_changelist")))
    address = bring(client, file=upload(RIS))
    assert woken == [jobs.TASK]
    assert '<meta http-equiv="refresh"' in text_of(client.get(address))

    work()
    preview = text_of(client.get(address))
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
    rows = list(
        csv.reader(
            io.StringIO(client.get(at("importjob_report", ImportJob.objects.get().pk)).content.decode("utf-8-sig"))
        )
    )
    assert [row[7] for row in rows[1:]] == ["created", "left out", "broken"]
    assert client.get(at("importjob_file", ImportJob.objects.get().pk)).content == RIS.encode()


@pytest.mark.parametrize(
    ("name", "said"), [("ada", "By ada, 1 Mar 2026, 10:21: done."), ("", "1 Mar 2026, 10:21: done.")]
)
def test_an_import_whose_file_is_gone_says_who_and_when(client: Client, curator: User, name: str, said: str) -> None:
    job = ImportJob.objects.create(
        file_name="a.ris", content=b"", content_hash="0123456789abcdef" * 4, asked_by_name=name, status="done",
        asked_at=datetime(2026, 3, 1, 10, 21, tzinfo=UTC),
    )  # fmt: skip

    page = client.get(at("importjob_change", job.pk)).content.decode()

    words = " ".join(re.sub("<[^>]*>", " ", page).split())
    assert f"Import of a.ris {said}" in words.replace(" , ", ", ").replace(" :", ":")
    assert f'<abbr class="hash" title="{job.content_hash}">0123456789ab</abbr>' in page


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


def test_choosing_all_and_none_and_page_by_page(
    client: Client, curator: User, django_assert_max_num_queries: Any
) -> None:
    address = bring(client, file=upload(beir(60), "corpus.jsonl"))
    work()
    with django_assert_max_num_queries(15):
        assert "Page 1 of 3" in text_of(client.get(address))

    client.post(address, {"verb": "none"})
    assert not ImportItem.objects.filter(chosen=True).exists()
    page = list(ImportItem.objects.values_list("pk", flat=True)[:25])
    client.post(address, {"verb": "save", "among": page, "items": page[:3], "p": "1"})
    assert ImportItem.objects.filter(chosen=True).count() == 3
    client.post(address, {"verb": "all"})
    assert ImportItem.objects.filter(chosen=True).count() == 60


def test_an_import_is_left_with_a_button_and_waits_for_nobody(client: Client, curator: User) -> None:
    address = bring(client, file=upload(RIS.encode(), "refs.ris"))
    work()
    assert "Imports waiting for a choice" in text_of(client.get(reverse("admin:index")))

    page = text_of(client.post(address, {"verb": "leave"}, follow=True))

    assert "Left out: 2" in page
    assert "Bring them in" not in page
    assert not Study.objects.exists()


def test_a_file_with_nothing_to_bring_in_says_so_and_has_ended(client: Client, curator: User) -> None:
    address = bring(client, file=upload(b"Only words.", "nonsense.txt"))
    work()

    page = text_of(client.get(address))

    assert "Nothing in it could be brought in." in page
    assert "is none of the formats that can be read" in page
    assert ImportJob.objects.get().status == "done"


def test_what_is_neither_doi_nor_pmid_is_told_at_once(client: Client, curator: User) -> None:
    assert "This is neither a DOI" in text_of(client.post(at("importjob_add"), {"lookup": "hello"}))
    assert not ImportJob.objects.exists()


def test_a_failed_look_up_is_asked_again_or_put_aside(
    client: Client, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> None:
        raise lookup.LookupFailed("api.crossref.org is busy (503); try again later.", permanent=False)

    monkeypatch.setattr(lookup, "look_up", fail)
    address = bring(client, lookup="10.1000/a?b&c")
    work()

    page = text_of(client.get(address))
    assert "is busy (503); try again later." in page
    again = f"{at('importjob_add')}?lookup=10.1000/a%3Fb%26c"
    assert f'href="{again}"' in page
    assert 'value="10.1000/a?b&amp;c"' in text_of(client.get(again))

    page = text_of(client.post(address, {"verb": "leave"}, follow=True))
    assert "is busy (503); try again later." in page
    assert "Nothing came in." in page
    assert "Put it aside" not in page
    assert ImportJob.objects.get().status == "done"


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


def test_a_pasted_text_needs_a_title_unless_it_is_a_format(client: Client, curator: User) -> None:
    words = "Results\nThickness rose by ten percent with ten sets a week in trained men.\n"
    assert "Say the title of the study" in text_of(client.post(at("importjob_add"), {"text": words}))

    bring(client, text=words, title="Sets and thickness")
    bring(client, text=RIS)
    work()

    assert ImportItem.objects.order_by("pk")[0].title == "Sets and thickness"
    assert sorted(ImportJob.objects.values_list("format", flat=True)) == ["Pasted text", "RIS"]


@pytest.mark.parametrize("data", [{}, {"lookup": "10.1000/x", "text": "TY  - JOUR"}])
def test_one_of_the_three_is_given(client: Client, curator: User, data: dict[str, str]) -> None:
    assert "Give one of the three" in text_of(client.post(at("importjob_add"), data))
    assert not ImportJob.objects.exists()


def test_a_pdf_is_an_aid_for_pasting(client: Client, curator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    read = sources.PdfText(("Results\nThickness rose.", "More."), "Sets", 2)
    monkeypatch.setattr(sources, "text_of_pdf", lambda source: read)

    page = text_of(client.post(at("importjob_add"), {"file": upload(b"%PDF-1.7", "a.pdf")}))

    assert "Thickness rose." in page
    assert 'value="Sets"' in page
    assert not ImportJob.objects.exists()


def test_a_broken_pdf_is_refused_in_the_form(client: Client, curator: User) -> None:
    page = text_of(client.post(at("importjob_add"), {"file": upload(b"%PDF-1.7 nothing", "a.pdf")}))

    assert "a.pdf" in page
    assert 'class="errorlist' in page


@pytest.mark.parametrize(
    "posted", [{"items": "x"}, {"verb": "save", "items": "9" * 40}, {"verb": "confirm", "design": "no"}]
)
def test_nonsense_posted_to_an_import_changes_nothing(client: Client, curator: User, posted: dict[str, str]) -> None:
    address = bring(client, file=upload(RIS))
    work()

    assert client.post(address, posted).status_code in {200, 302}

    assert ImportJob.objects.get().status == "previewed"


def test_lists_of_imports_stay_short_of_queries(
    client: Client, curator: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        jobs.create_job(b"x" * 1000, file_name="x", by=curator)

    with django_assert_max_num_queries(9):
        assert client.get(at("importjob_changelist")).status_code == 200


@pytest.mark.parametrize("name", ["importjob_change", "importjob_report", "importjob_file"])
def test_no_import_no_page(client: Client, curator: User, name: str) -> None:
    assert client.get(at(name, 99)).status_code == 404


# --- Text quality ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def broken(curator: User) -> Study:
    return make_study(texts=("A sound text about squats.", BROKEN), status="draft")


def finding(study: Study) -> tuple[int, str]:
    ((pk, (held,)),) = gate.findings_of(Passage.objects.filter(study=study)).items()
    return pk, held.key


def test_findings_stand_on_both_pages_with_their_mend(client: Client, broken: Study) -> None:
    pk, key = finding(broken)

    for page in (client.get(at("study_change", broken.pk)), client.get(at("passage_change", pk))):
        shown = text_of(page)
        assert "<mark>P B 0.05</mark>" in shown or "<mark>B</mark>" in shown
        assert key in shown
        assert "Accept this correction" in shown
    assert "looks broken" in text_of(client.get(at("study_state", "publish"), {"ids": broken.pk}))


def test_a_button_mends_and_leads_back(client: Client, broken: Study) -> None:
    pk, key = finding(broken)

    response = client.post(
        at("study_quality", broken.pk), {"verb": "mend", "passage": pk, "finding": key, "back": "passage"}
    )

    assert response.headers["Location"] == at("passage_change", pk)
    assert "(P ≤ 0.05)" in Passage.objects.get(pk=pk).text
    assert "Text that looks broken" not in text_of(client.get(at("study_change", broken.pk)))


def test_a_button_lets_it_stand_with_a_reason(client: Client, broken: Study) -> None:
    pk, key = finding(broken)
    post = {"verb": "waive", "passage": pk, "finding": key}

    assert "Give the reason" in text_of(client.post(at("study_quality", broken.pk), post, follow=True))
    assert not QualityWaiver.objects.exists()
    page = text_of(client.post(at("study_quality", broken.pk), post | {"reason": "So it stands."}, follow=True))

    assert "So it stands." in page
    assert QualityWaiver.objects.get().by_name == "curator"


def test_all_mends_at_once(client: Client, broken: Study) -> None:
    client.post(at("study_quality", broken.pk), {"verb": "mend_all"})

    assert not gate.filter_blocked(Passage.objects.all()).exists()


@pytest.mark.parametrize(
    "posted",
    [{"verb": "mend"}, {"verb": "x"}, {"verb": "mend", "passage": "99"}, {"verb": "waive", "passage": "9" * 30}],
)
def test_nonsense_posted_to_the_gate_is_not_found(client: Client, broken: Study, posted: dict[str, str]) -> None:
    assert client.post(at("study_quality", broken.pk), posted).status_code == 404
    assert client.get(at("study_quality", broken.pk)).status_code == 404
    assert not CorpusEvent.objects.exists()


def test_the_list_of_passages_finds_the_broken_ones(client: Client, broken: Study) -> None:
    gate.refresh()

    page = text_of(client.get(at("passage_changelist"), {"text": "open"}))

    assert "1 passage" in page
    assert "Passages with broken text" in text_of(client.get(reverse("admin:index")))


# --- Merging ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def twins(curator: User) -> tuple[Study, Study]:
    title = "Weekly sets and growth in trained men and women"
    keep = make_study(study_id="A1", title=title, doi=None, url=None, journal=None, texts=("Shared words.",))
    other = make_study(
        study_id="A2",
        title=f"{title}.",
        doi="10.1000/a2",
        journal="Journal",
        texts=("Shared words.", "Words of its own."),
        concepts=(make_concept(),),
        status="draft",
    )
    make_finding(other)
    return keep, other


def test_twins_are_found_and_shown_side_by_side(client: Client, twins: tuple[Study, Study]) -> None:
    page = text_of(client.get(at("study_duplicates")))
    assert "keep=A1&amp;other=A2" in page  # the published one stays

    page = text_of(client.get(at("study_merge"), {"keep": "A1", "other": "A2"}))

    assert 'value="doi" aria-label="Take DOI of A2" checked' in page
    assert "Words of its own." in page
    assert "(there already)" in page


def test_merging_moves_what_was_chosen_and_withdraws_the_other(client: Client, twins: tuple[Study, Study]) -> None:
    keep, other = twins
    passages = list(other.passages.values_list("pk", flat=True))

    client.post(
        at("study_merge"),
        {
            "keep": "A1", "other": "A2", "take": ["doi", "journal", "concepts", "findings", "status", "nonsense"],
            "passages": passages, "reason": "The same trial.",
        },
    )  # fmt: skip

    keep.refresh_from_db()
    other.refresh_from_db()
    assert (keep.doi, keep.journal, keep.status) == ("10.1000/a2", "Journal", "published")
    assert list(keep.passages.order_by("position").values_list("text", flat=True)) == [
        "Shared words.",
        "Words of its own.",
    ]
    assert (keep.concepts.count(), keep.findings.count()) == (1, 1)
    assert (other.doi, other.status, other.status_reason) == (None, "withdrawn", "Merged into A1. The same trial.")
    assert other.passages.count() == 2
    actions = list(CorpusEvent.objects.order_by("id").values_list("action", "study_key"))
    assert actions[-2:] == [("withdraw", "A2"), ("merge_study", "A1")]
    assert list(merging.pairs()) == []


@pytest.mark.parametrize(
    ("data", "said"),
    [({}, "Give the reason"), ({"other": "A1", "reason": "x"}, "not merged with itself")],
)
def test_a_merge_that_cannot_be_says_why(
    client: Client, twins: tuple[Study, Study], data: dict[str, str], said: str
) -> None:
    page = client.post(at("study_merge"), {"keep": "A1", "other": "A2"} | data)

    assert said in text_of(page)
    assert not CorpusEvent.objects.exists()


def test_readers_do_not_lose_a_published_study_to_a_draft(twins: tuple[Study, Study], curator: User) -> None:
    with pytest.raises(curation.CannotMerge, match="merge A2 into A1, or publish A2 first"):
        curation.merge("A2", "A1", take=[], passages=[], reason="x", by=curator)

    assert Study.objects.get(study_id="A1").status == "published"


def test_of_two_drafts_the_one_with_more_passages_stays(curator: User) -> None:
    title = "Weekly sets and growth in trained men and women"
    make_study(study_id="B1", title=title, doi=None, status="draft", texts=("One.",))
    make_study(study_id="B2", title=title, doi=None, status="draft", texts=("One.", "Two."))

    (pair,) = merging.pairs()

    assert (pair.known, pair.new) == ("B2", "B1")


def test_a_retracted_study_is_not_merged_away(twins: tuple[Study, Study], curator: User) -> None:
    curation.set_notice(["A2"], "retracted", reason="Gone.", by=curator)

    with pytest.raises(curation.CannotMerge, match="set that of A1 first"):
        curation.merge("A1", "A2", take=[], passages=[], reason="x", by=curator)


def test_broken_text_is_not_merged_into_a_published_study(curator: User) -> None:
    make_study(study_id="A1")
    other = make_study(study_id="A2", texts=(BROKEN,), status="draft")

    with pytest.raises(curation.CannotMerge, match="looks broken"):
        curation.merge("A1", "A2", take=[], passages=[p.pk for p in other.passages.all()], reason="x", by=curator)


def test_two_studies_are_chosen_for_a_merge(client: Client, twins: tuple[Study, Study]) -> None:
    def act(*studies: Study) -> Any:
        data = {"action": "merge_studies", "_selected_action": [study.pk for study in studies]}
        return client.post(at("study_changelist"), data)

    assert act(*twins).headers["Location"] == f"{at('study_merge')}?keep=A1&other=A2"
    assert act(twins[0]).headers["Location"] == at("study_changelist")


# --- Out -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "ris", "bibtex", "csl"])
def test_a_selection_goes_out_and_comes_back(client: Client, curator: User, form: str) -> None:
    chosen, _ = make_study(study_id="E1"), make_study(study_id="E2")
    page = client.post(at("study_changelist"), {"action": "export_studies", "_selected_action": [chosen.pk]})
    assert f'value="{chosen.pk}"' in text_of(page)

    response = client.post(at("study_export"), {"form": form, "ids": str(chosen.pk)})

    assert response.headers["Content-Disposition"].startswith("attachment")
    found = sources.read_file(sources.Source("out", response.content), sources.Intake(collection="training")).studies
    assert [draft.doi for draft in found] == [chosen.doi]


def test_our_folder_goes_out_whole_and_comes_back(client: Client, curator: User, tmp_path: Path) -> None:
    concept = make_concept()
    chosen, _ = make_study(study_id="E1", concepts=(concept,)), make_study(study_id="E2")

    one = client.post(at("study_export"), {"form": "folder", "ids": str(chosen.pk)})
    everything = client.post(at("study_export"), {"form": "folder", "all": "1"})

    with zipfile.ZipFile(io.BytesIO(everything.content)) as archive:
        assert {"studies/E1.json", "studies/E2.json", "studies_master.csv", "concepts.json"} == set(archive.namelist())
    with zipfile.ZipFile(io.BytesIO(one.content)) as archive:
        assert json.loads(archive.read("studies/E1.json"))["study_id"] == "E1"
        archive.extractall(tmp_path)
    corpus = sources.read(tmp_path)
    assert (corpus.problems, [draft.study_id for draft in corpus.studies]) == ((), ["E1"])

    address = bring(client, file=upload(one.content, "corpus.zip"))
    work()
    page = text_of(client.get(address))
    assert "All of it is here already, word for word." in page
    assert "1 same" in page


@pytest.mark.parametrize("posted", [{}, {"form": "exe"}, {"form": "ris", "ids": "x,,9"}])
def test_nonsense_posted_to_the_export_is_answered(client: Client, curator: User, posted: dict[str, str]) -> None:
    assert client.post(at("study_export"), posted).status_code == 200
