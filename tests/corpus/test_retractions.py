"""Retraction lists: read from all the forms they come in, matched, and applied in one act."""

from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from corpus_app import curation
from corpus_app.models import CorpusEvent, Study
from corpus_app.records import Notice
from corpus_app.sources import retractions
from corpus_app.sources.retractions import BadList, Match
from tests.builders import make_curator, make_study

WATCH = """Record ID,Title,Reason,RetractionDate,RetractionDOI,OriginalPaperDOI,OriginalPaperPubMedID,RetractionNature
1,One,+Error in Data;+Investigation by Journal;,1/2/2024 0:00,10.9/r1,10.1000/TEST.1,0,Retraction
2,Two,+Doubt;,1/3/2024 0:00,10.9/r2,unavailable,12345,Expression of concern
3,Three,,1/4/2024 0:00,10.9/r3,,0,Retraction
4,Four,,,10.9/r4,10.1000/test.4,,Moon phase
5,Five,+Mended;,1/5/2024 0:00,10.9/r5,https://doi.org/10.1000/test.5,,Correction
"""


def read(text: str) -> retractions.RetractionList:
    return retractions.read(text.encode())


def test_the_columns_of_retraction_watch() -> None:
    found = read(WATCH)

    assert [(e.doi, e.pmid, e.notice) for e in found.entries] == [
        ("10.1000/test.1", None, Notice.RETRACTED),
        ("unavailable", "12345", Notice.EXPRESSION_OF_CONCERN),
        ("10.1000/test.5", None, Notice.CORRECTED),
    ]
    assert found.entries[0].reason == "Retraction, 1/2/2024 0:00, Error in Data; Investigation by Journal"
    assert found.problems == (
        "Line 4 names neither a DOI nor a PMID.",
        "Line 5: “Moon phase” is no kind of notice that is known here.",
    )


def test_a_plain_list_means_retracted() -> None:
    for text in (
        "doi\n10.1/a\n", "\ufeffDOI\n10.1/A\n", "PMID, DOI\n,https://doi.org/10.1/a\n", "x,doi\r\n1,10.1/a\r\n",
    ):  # fmt: skip
        assert [(e.doi, e.notice) for e in read(text).entries] == [("10.1/a", Notice.RETRACTED)]
    for data in (b"", b"title,year\nOne,1999\n", b"PK\x03\x04\0\0doi", b"\xff\xfed\0o\0i\0"):
        with pytest.raises(BadList):
            retractions.read(data)


@given(
    st.binary(max_size=300) | st.text(max_size=300).map(lambda text: ("doi,notice\n" + text).encode("utf-8", "replace"))
)
def test_no_file_breaks_the_reader(data: bytes) -> None:
    try:
        found = retractions.read(data)
    except BadList:
        return
    assert all(entry.doi or entry.pmid for entry in found.entries)


@pytest.mark.parametrize(
    ("rows", "notice", "line"),
    [(("Retraction,5/20/2024 0:00", "Expression of concern,12/1/2021 0:00"), Notice.RETRACTED, 2),
     (("Retraction,2024-05-20", "Correction,2024-06-01"), Notice.RETRACTED, 2),
     (("Reinstatement,2024-05-20", "Retraction,2021-12-01"), Notice.NONE, 2),
     (("Retraction,2024-05-20", "Reinstatement,2021-12-01"), Notice.RETRACTED, 2),
     (("Retraction,", "Correction,2021-12-01"), Notice.RETRACTED, 2),
     (("Reinstatement,99/99/2024", "Retraction,2021-12-01"), Notice.RETRACTED, 3)],
)  # fmt: skip
def test_the_gravest_notice_applies_unless_reversed_later(rows: tuple[str, ...], notice: Notice, line: int) -> None:
    entries = read("\n".join(("doi,nature,date", *(f"10.1/a,{row}" for row in rows)))).entries

    (found,) = retractions.match(entries, [("S1", "10.1/a", None)])

    assert (found.entry.notice, found.entry.line) == (notice, line)


@pytest.mark.django_db
def test_a_list_lowers_a_notice_by_a_reinstatement_only(client: Client, curator: User) -> None:
    study = make_study(doi="10.1000/test.1", notice="retracted", notice_reason="Fraud")

    for nature, after in (("correction", "retracted"), ("reinstatement", "none")):
        text = f"doi,notice\n10.1000/test.1,{nature}\n"
        file = SimpleUploadedFile("l.csv", text.encode())
        shown = client.post(reverse("admin:corpus_app_study_retractions"), {"file": file})
        curation.apply_retractions([Match(study.study_id, read(text).entries[0])], by=None, by_name="tests")

        assert len(shown.context["new"]) == (after == "none")
        study.refresh_from_db()
        assert study.notice == after


@pytest.mark.django_db
def test_the_command_shows_first_and_marks_then(tmp_path: Path) -> None:
    study = make_study(doi="10.1/one")
    path = tmp_path / "list.csv"
    path.write_text("doi\n10.1/ONE\n10.1/two\n", encoding="utf-8")

    def run(*options: str) -> str:
        out = StringIO()
        call_command("apply_retractions", str(path), *options, stdout=out)
        return out.getvalue()

    assert "1 sources are named among 2 papers; nothing was marked." in run("--dry-run")
    assert Study.objects.get().notice == "none"
    assert "1 sources were marked; 0 were already." in run()
    assert Study.objects.get().notice == "retracted"
    assert "0 sources were marked; 1 were already." in run()
    assert CorpusEvent.objects.get().study_key == study.study_id

    path.write_text("nothing", encoding="utf-8")
    with pytest.raises(CommandError, match="names neither"):
        run()


@pytest.mark.django_db
def test_at_the_desk_it_is_shown_before_it_is_done(client: Client) -> None:
    study, doubted = make_study(doi="10.1000/test.1"), make_study(doi=None, pmid="12345")
    client.force_login(make_curator())
    address = reverse("admin:corpus_app_study_retractions")
    assert client.get(address).status_code == 200

    shown = client.post(address, {"file": SimpleUploadedFile("list.csv", WATCH.encode())})

    assert f"{study.study_id}</a> {study.title}" in shown.content.decode()
    assert "Lines that could not be used: 2" in shown.content.decode()
    study.refresh_from_db()
    assert study.notice == "none"

    done = client.post(address, {"found": shown.context["found"]}, follow=True)
    assert f"Marked: {study.study_id}, {doubted.study_id}." in done.content.decode()
    notices = dict(Study.objects.values_list("study_id", "notice"))
    assert notices == {study.study_id: "retracted", doubted.study_id: "expression_of_concern"}


@pytest.mark.django_db
def test_what_was_shown_cannot_be_forged(client: Client) -> None:
    make_study()
    client.force_login(make_curator())

    page = client.post(reverse("admin:corpus_app_study_retractions"), {"found": "forged"}, follow=True)

    assert "grown too old" in page.content.decode()
    assert Study.objects.get().notice == "none"
