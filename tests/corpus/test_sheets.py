"""Studies exported to a spreadsheet, mended there, and brought back cell by cell."""

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from corpus_app import curation, sources
from corpus_app.curation import bulk
from corpus_app.facets import Facet, FacetValue
from corpus_app.models import Study
from corpus_app.sources import Known, Source, StudyDraft, sheets
from tests.builders import make_collection, make_concept, make_curator, make_study
from tests.corpus.test_imports import carry_out, read
from tests.corpus.test_sources import draft, drafts

SOIL = {"soil": Facet("Soil", {"clay": FacetValue("heavy clay"), "sand": FacetValue("sand")})}
HERE = Known(collections=frozenset({"training", "nutrition"}), concepts=frozenset({"hypertrophy", "sets"}), facets=SOIL)
entries = st.lists(st.text("a; ,'\"=-\u00e9\u2265", min_size=1).filter(str.strip).map(str.strip), max_size=3).map(tuple)


def sheet(rows: list[tuple[int, StudyDraft]], facets: Mapping[str, Facet] = {}) -> bytes:
    return b"".join(sources.sheet_pieces(rows, facets))


def saved_again(content: bytes, *, mark: str = ",", codec: str = "utf-8", **cells: str) -> bytes:
    """The file as a spreadsheet would save it, with these cells changed in every row."""
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=mark, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(row | {name: cell for name, cell in cells.items() if name in row} for row in rows)
    return out.getvalue().encode(codec, "replace")


def compare(present: StudyDraft, content: bytes) -> tuple[Mapping[str, Any], list[tuple[str, str]]]:
    found = sources.read_file(Source("studies.csv", content), sources.Intake())
    (row,) = found.rows
    assert found.reader == sheets_name()
    return sheets.read_changes(present, row, HERE)


def sheets_name() -> str:
    return next(reader.name for reader in sources.READERS if reader.items is sheets.items)


def as_it_is(content: bytes) -> bytes:
    return content


FORMS: tuple[Callable[[bytes], bytes], ...] = (
    as_it_is, saved_again, lambda content: saved_again(content, mark=";"),
    lambda content: saved_again(content, mark="\t", codec="utf-16"),
    lambda content: saved_again(content, mark=";", codec="cp1252"),
)  # fmt: skip


@given(drafts, entries, st.sampled_from(FORMS))
def test_nothing_changed_is_no_difference(
    original: StudyDraft, labels: tuple[str, ...], form: Callable[[bytes], bytes]
) -> None:
    present = replace(original, labels=labels)

    changes, _ = compare(present, form(sheet([(3, present)])))

    assert changes == {}


@given(drafts, drafts, entries)
def test_a_changed_cell_comes_back_as_meant(before: StudyDraft, after: StudyDraft, labels: tuple[str, ...]) -> None:
    after = replace(after, study_id=before.study_id, labels=labels, status=before.status, passages=before.passages)

    changes, _ = compare(before, sheet([(3, after)]))

    for name in ("title", "year", "pmid", "n_participants", "labels", "licence", "duration_weeks_max"):
        if name in changes:
            wanted = getattr(after, name)
            assert changes[name] == (wanted.strip() if isinstance(wanted, str) else wanted)
        elif not sheets.READ_ONLY & {name}:
            unchanged = sheets.cells_of(before)[name].strip() == sheets.cells_of(after)[name].strip()
            assert unchanged or name in dict(compare(before, sheet([(3, after)]))[1])


PRESENT = replace(
    draft(), pmid="00123", doi="10.1000/x", labels=("2026-11", "007"), journal="J \u2265 5", takeaway="Long.", year=2020
)


@pytest.mark.parametrize(
    ("cells", "wanted", "told"),
    [({"labels": "a; b;;c"}, {"labels": ("a", "b;c")}, ""), ({"labels": ""}, {"labels": ()}, ""),
     ({"takeaway": "", "doi": ""}, {"takeaway": "", "doi": None}, ""),
     ({"duration_weeks_max": "9,5"}, {"duration_weeks_max": 9.5}, ""),
     ({"year": "2021.0", "peer_reviewed": "FALSCH"}, {"year": 2021, "peer_reviewed": False}, ""),
     ({"collection": "nutrition", "design": "thesis"}, {"collection": "nutrition", "design": "thesis"}, ""),
     ({"curator_notes": "'=1+1"}, {"curator_notes": "=1+1"}, ""), ({"title": ""}, {}, "title is missing"),
     ({"pmid": "123"}, {}, "pmid is 123 without the zeros"),
     ({"pmid": "1.2E+10"}, {}, "pmid is 1.2E+10, a number that a spreadsheet has rounded"),
     ({"doi": "12/05/2016"}, {}, "doi is 12/05/2016, a date"),
     ({"n_participants": "2016-05-12 00:00:00"}, {}, "n_participants is 2016-05-12 00:00:00, a date"),
     ({"labels": "Nov 26"}, {"labels": ("Nov 26",)}, ""),
     ({"journal": "#NAME?"}, {}, "journal is #NAME?, which a spreadsheet shows"),
     ({"year": "20200"}, {}, "year is 20200; it should lie"),
     ({"collection": "nowhere", "year": "2021"}, {"year": 2021}, "collection is nowhere; known are"),
     ({"concepts": "sets; nowhere"}, {}, "concepts names nowhere"),
     ({"facets": "soil:clay; soil:sand"}, {"facets": (("soil", ("clay", "sand")),)}, ""),
     ({"facets": "soil:mud"}, {}, "facets soil has no value 'mud'; declared: clay, sand"),
     ({"status": "withdrawn"}, {}, "status is not changed by a spreadsheet")],
)  # fmt: skip
def test_a_cell_changes_its_field_or_says_why_not(cells: dict[str, str], wanted: Mapping[str, Any], told: str) -> None:
    changes, notes = compare(PRESENT, saved_again(sheet([(1, PRESENT)], SOIL), **cells))

    assert changes == wanted
    assert told in "; ".join(f"{column} {reason}" for column, reason in notes)
    assert bool(notes) == bool(told)


@pytest.mark.parametrize(
    ("before", "cell", "form"),
    [("2026-11", "Nov 26", {}), ("3-5", "05-Mar", {}), ("\u2265 5", "? 5", {"codec": "cp1252"})],
)
def test_what_a_spreadsheet_made_of_a_cell_is_told(before: str, cell: str, form: dict[str, str]) -> None:
    present = replace(PRESENT, licence=before, title="\u00e9")

    changes, notes = compare(present, saved_again(sheet([(1, present)]), licence=cell, **form))

    assert (changes, [column for column, _ in notes if column == "licence"]) == ({}, ["licence"])


@pytest.fixture
def by(db: None, client: Client) -> User:
    make_collection("training")
    make_concept("strength")
    user = make_curator()
    client.force_login(user)
    return user


def test_the_file_goes_out_and_comes_back_as_changes(client: Client, by: User) -> None:
    same, changed, late, gone = [make_study(status="draft", labels=["old"], pmid=str(n)) for n in range(101, 105)]
    shown = make_study()
    keys = ",".join(str(study.pk) for study in (same, changed, late, gone, shown))
    content = client.post(reverse("admin:corpus_app_study_export"), {"form": "sheet", "ids": keys}).getvalue()
    assert set(read(content, by=by).items.values_list("effect", flat=True)) == {"same"}

    curation.revise_study(late.study_id, by=by, journal="Another")
    curation.delete_study(gone.study_id, by=by)
    mended = saved_again(content, labels="new", concepts="strength", licence="CC BY 4.0")
    rows = mended.split(b"\r\n")
    job = read(b"\r\n".join([rows[0], *rows[2:]]), by=by)  # the first row is left out

    effects = dict(job.items.values_list("study_key", "effect"))
    assert effects == {
        changed.study_id: "changes", late.study_id: "conflict", gone.study_id: "unmatched", shown.study_id: "changes",
    }  # fmt: skip
    page = client.get(reverse("admin:corpus_app_importjob_change", args=[job.pk])).content.decode()
    assert "<del>old</del><ins>new</ins>" in page
    assert "somebody has changed it since it was exported" in page
    carry_out(job, by=by)

    changed.refresh_from_db()
    assert (changed.labels, changed.licence, changed.concepts.count()) == (["new"], "CC BY 4.0", 1)
    assert job.items.get(study_key=shown.study_id).outcome == "refused"
    assert Study.objects.get(pk=late.pk).labels == Study.objects.get(pk=same.pk).labels == ["old"]
    assert read(mended, by=by).items.filter(study_key=changed.study_id).get().effect == "same"
    undo = bulk.undo(job, by=by)
    bulk.confirm(undo, by=by)
    assert bulk.run_job(undo)
    changed.refresh_from_db()
    assert (changed.labels, changed.licence, changed.concepts.count()) == (["old"], "", 0)
