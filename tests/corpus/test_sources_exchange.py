"""Studies out to other programs and back, duplicates, PDF."""

import csv
import io
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import bibtexparser
import pytest
import rispy
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_app import sources
from corpus_app.records import Design, Notice, Status
from corpus_app.sources import Intake, Sameness, Source, StudyDraft
from corpus_app.sources.bibliography import plain_words
from corpus_app.sources.duplicates import KnownStudy
from corpus_app.sources.values import bare_cell, safe_cell

STARTER = Path(__file__).resolve().parents[2] / "corpus"
INTAKE = Intake(collection="training")

letters = st.characters(min_codepoint=33, max_codepoint=0x24F, exclude_categories=("Cc", "Cs", "Zs", "Cf"))
words = st.text(letters, min_size=1, max_size=12)
lines = st.lists(words, min_size=1, max_size=6).map(" ".join)


def study(**changes: object) -> StudyDraft:
    draft = StudyDraft(
        "T001", "Growth & strength: 5 % of {all} sets_#1",
        ("Müller JÖ", "van der Berg P", "The Growth and Strength Group"), Design.OTHER, True, "training",
        Status.PUBLISHED, year=2020, journal="Gut", doi="10.1000/a_b", pmid="123", url="https://doi.org/10.1000/a_b",
    )  # fmt: skip
    return replace(draft, **changes)  # type: ignore[arg-type]


def back(content: bytes) -> tuple[StudyDraft, ...]:
    return sources.read_file(Source("file", content), INTAKE).studies


@pytest.mark.parametrize("write", [sources.to_ris, sources.to_bibtex, sources.to_csl_json, sources.to_csv])
def test_studies_come_back_from_every_format(write: Callable[[Sequence[StudyDraft]], bytes]) -> None:
    starter = sources.read(STARTER).studies
    drafts = [*starter, study(notice=Notice.RETRACTED, notice_reason="Data were wrong.")]

    content = write(drafts)

    found = back(content)
    assert len(found) == len(drafts) == 116
    for ours, theirs in zip(drafts, found, strict=True):
        assert theirs.title == " ".join(ours.title.split())
        assert (theirs.year, theirs.doi, theirs.journal) == (ours.year, ours.doi, ours.journal)
        assert [*map(plain_words, theirs.authors)] == [*map(plain_words, ours.authors)]
    assert (found[-1].authors, found[-1].pmid, found[-1].url) == (drafts[-1].authors, "123", drafts[-1].url)
    assert b"etracted" in content


@settings(deadline=None)
@given(lines)
def test_any_title_survives_bibtex_and_is_read_alike_by_another_parser(title: str) -> None:
    content = sources.to_bibtex([study(title=title)])

    (entry,) = bibtexparser.parse_string(content.decode()).entries
    assert entry.key == "T001"
    if "&" not in title and "<" not in title:
        (found,) = back(content)
        assert plain_words(found.title) == plain_words(title)


@settings(deadline=None)
@given(lines, lines)
def test_any_title_survives_ris_and_rispy(title: str, journal: str) -> None:
    content = sources.to_ris([study(title=title, journal=journal)])

    (entry,) = rispy.loads(content.decode())
    assert entry["title"].split() == title.split()
    assert entry["authors"][0] == "Müller, J. Ö."
    assert entry["alternate_title3"].split() == journal.split()


def test_no_csv_cell_is_a_formula_and_all_are_read_back(tmp_path: Path) -> None:
    for cell in ("=1+1", "+1", "-5 kg", "@SUM(A1)", "\t=1", "'=1"):
        draft = study(title=cell.strip(), curator_notes=cell, study_id="T002")

        for content in (sources.to_csv([draft]), sources.master_csv([draft])):
            for row in csv.reader(io.StringIO(content.decode("utf-8-sig"))):
                assert not any(value.startswith(("=", "+", "-", "@", "\t", "\r")) for value in row)
        (tmp_path / "studies_master.csv").write_bytes(sources.master_csv([draft]))
        (found,) = sources.read(tmp_path / "studies_master.csv").studies
        assert (found.title, found.curator_notes.strip()) == (cell.strip(), cell.strip())


@settings(deadline=None)
@given(st.text(max_size=20))
def test_a_cell_comes_back_as_it_was(cell: str) -> None:
    assert bare_cell(safe_cell(cell)) == cell


TITLE = "Effects of training frequency on growth: a review"
HERE = KnownStudy("S001", TITLE, 2016, "Schoenfeld BJ", "10.1000/x", "")


@pytest.mark.parametrize(("new", "by"), [
    (KnownStudy("N", "Other words", 1999, "", "https://doi.org/10.1000/X"), Sameness.DOI),
    (KnownStudy("N", "Effects of Training Frequency on Growth. A Review.", 2016, "Schoenfeld B"), Sameness.ALIKE),
    (KnownStudy("N", "Effects of training frequency on growth – a review", 2017, ""), Sameness.ALIKE),
    (KnownStudy("N", TITLE, 2019, "Schoenfeld B"), None), (KnownStudy("N", TITLE, 2016, "Grgic J"), None),
    (KnownStudy("N", TITLE, 2016, "Schoenfeld BJ", "10.1000/y"), None),
    (KnownStudy("N", "Effects of training frequency on growth: part 2", 2016, "Schoenfeld BJ"), None),
    (KnownStudy("S001", TITLE, 2016, "Schoenfeld BJ", "10.1000/x"), None),
])  # fmt: skip
def test_duplicates_are_found_by_identifier_or_likeness(new: KnownStudy, by: Sameness | None) -> None:
    found = sources.duplicates([new], [HERE])

    assert [pair.by for pair in found] == ([by] if by else [])
    assert all(pair.known == "S001" for pair in found)


def test_merging_fills_what_is_missing_and_takes_what_is_chosen() -> None:
    kept, other = study(pmid=None, journal="Gut"), study(study_id="T002", journal="The Gut", title="Another", year=2021)

    assert {name for name, _, _ in sources.differences(kept, other)} == {"pmid", "journal", "title", "year"}
    made = sources.merge_drafts(kept, other, take=["year"])
    assert (made.study_id, made.pmid, made.journal) == ("T001", "123", "Gut")
    assert (made.title, made.year) == (kept.title, 2021)


def pdf(*pages: str, bomb: int = 0, title: str = "") -> bytes:
    """A PDF with Helvetica: a line on each page, or what its operators say; `bomb` bytes of white space unpack in each."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{' '.join(f'{4 + 2 * n} 0 R' for n in range(len(pages)))}] >>",
    ]
    bodies = [text.encode() for text in [*objects, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]]
    for index, words in enumerate(pages):
        written = words if words.startswith("BT") else f"BT /F1 12 Tf 72 720 Td ({words}) Tj ET"
        stream = zlib.compress(written.encode() + b" " * bomb)
        fonts = "/Resources << /Font << /F1 3 0 R >> >>"
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * index} 0 R {fonts} >>"
        bodies.append(page.encode())
        bodies.append(b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    content = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(bodies, start=1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(bodies) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R /Info << /Title (%s) >> >>\nstartxref\n%d\n%%%%EOF"
    return content + end % (size, table, size, title.encode(), len(content))


def test_a_pdf_gives_its_pages_up_to_a_limit() -> None:
    found = sources.text_of_pdf(Source("a.pdf", pdf("Strength rose by 5 kg.", *["Words."] * 404)))

    assert [page.strip() for page in found.pages[:2]] == ["Strength rose by 5 kg.", "Words."]
    assert (len(found.pages), found.left_out) == (400, 5)
    with pytest.raises(sources.Refused, match="took longer"):
        sources.text_of_pdf(Source("a.pdf", pdf("Words.")), seconds=0.01)


def page_of(*lines: tuple[int, int, str]) -> str:
    return " ".join(f"BT /F1 10 Tf 1 0 0 1 {x} {y} Tm ({words}) Tj ET" for x, y, words in lines)


COLUMNS = (72, "Strength of the women rose by"), (320, "Men went up by")
TWO_COLUMNS = [
    page_of(
        (72, 760, "Doe and others, J Row 2020"), (540, 760, str(page)),
        (72, 720, f"A line {'of many words ' * page} that stands over both of the columns of the page, from left to right"),
        *((x, 700 - 14 * n, f"{words} {page}.{n},") for n in range(6) for x, words in COLUMNS),
    )
    for page in (1, 2, 3)
]  # fmt: skip


@pytest.mark.parametrize(("pages", "text", "left_out"), [
    (TWO_COLUMNS, "right\nStrength of the women rose by 1.0,\nStrength of the women rose by 1.1,", ["Doe and others, J Row 2020", "1", "2", "3"]),
    (TWO_COLUMNS, "rose by 1.5,\nMen went up by 1.0,\nMen went up by 1.1,", None),
    ([page_of(*(row for n in range(6) for row in ((60, 700 - 14 * n, str(n + 7)), (90, 700 - 14 * n, "Men rose."))))], "Men rose.\nMen rose.", []),
    ([page_of((72, 700, "It rose [1,2] in men [3].")), page_of((72, 700, "so did CI [1, 2] it."))], "It rose in men.\n\nso did CI [1, 2] it.", ["[1,2]", "[3]"]),
    ([page_of((72, 700, "It rose in")), page_of((72, 700, "men [5, 9]."))], "It rose in\nmen [5, 9].", []),
], ids=["left column", "right column", "numbered lines", "marks", "a sentence over the page"])  # fmt: skip
def test_a_pdf_is_read_by_columns_without_its_margins(pages: list[str], text: str, left_out: list[str] | None) -> None:
    found = sources.text_of_pdf(Source("a.pdf", pdf(*pages)))

    assert text in found.text
    assert left_out is None or [*found.running_heads, *found.citation_marks] == left_out


def test_a_pdf_becomes_a_source_with_the_page_of_each_passage() -> None:
    def line(y: int, words: str, size: int = 10) -> str:
        return f"BT /F1 {size} Tf 1 0 0 1 72 {y} Tm ({words}) Tj ET"

    first = [
        line(740, "Rules of the house", 18),
        line(700, "Opening hours", 14),
        line(680, "The workshop opens at 9:00 and its mem-"),
    ]
    second = [
        line(740, "The cellar is locked."),
        line(725, "Keys cost 20 EUR."),
        line(690, "The hoist carries 300 kg."),
    ]
    content = pdf(
        " ".join([*first, line(668, "bers close it at 21:00 on every day of the")]),
        " ".join([line(740, "week but Sundays."), line(700, "Keys", 14), line(680, "Keys are with the warden.")]),
        " ".join(second),
        title="Microsoft Word - rules_3.docx",  # nobody gave it one
    )

    read = sources.read_file(Source("rules.pdf", content), sources.Intake())

    study = read.studies[0]
    assert (read.reader, study.title) == ("PDF", "Rules of the house")
    assert [(p.heading, p.page, p.text) for p in study.passages] == [
        ("Opening hours", 1, "The workshop opens at 9:00 and its members close it at 21:00 on every day of the week but Sundays."),
        ("Keys", 2, "Keys are with the warden.\n\nThe cellar is locked. Keys cost 20 EUR.\n\nThe hoist carries 300 kg."),
    ]  # fmt: skip


@pytest.mark.parametrize(("content", "words"), [
    (b"no pdf", "is no PDF"), (b"%PDF-1.4\n" + struct.pack("<4I", 1, 2, 3, 4), "cannot be read"),
    (pdf(""), "holds no text"), (pdf("Words", bomb=400_000_000), "cannot be read|memory"),
], ids=["words", "broken", "picture", "bomb"])  # fmt: skip
def test_a_pdf_that_cannot_be_read_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(sources.Refused, match=words):
        sources.text_of_pdf(Source("a.pdf", content))
