"""Records as exporters write them: what is taken, what is told, and what is left out."""

from __future__ import annotations

import io
import zipfile

import pytest

from corpus_app.records import Notice
from corpus_app.sources import Problem, StudyDraft, Weight, formats
from corpus_app.sources.bibliography import Intake
from corpus_app.sources.intake import Source


def read(text: str) -> tuple[list[StudyDraft], list[Problem]]:
    items = [*formats.stream(Source("file", text.encode()), Intake())]
    return [item for item in items if isinstance(item, StudyDraft)], [i for i in items if isinstance(i, Problem)]


def ris(*lines: str, kind: str = "JOUR") -> str:
    return "\n".join([f"TY  - {kind}", *lines, "ER  - ", ""])


def told(problems: list[Problem]) -> str:
    return "\n".join(f"{problem.line} {problem.field}: {problem.reason}" for problem in problems)


TOLD = [
    (ris("TI  - RETRACTED: Vitamin K and strength"), Notice.RETRACTED, "the title says so: taken as retracted"),
    (ris("TI  - Expression of concern: Vitamin K"), Notice.EXPRESSION_OF_CONCERN, "Settle the title"),
    (ris("TI  - Rest", "PY  - in press", "DA  - 2023/04/12"), Notice.NONE, "2023 was taken from 2023/04/12"),
    (ris("TI  - Rest", "AU  - Abel A et al."), Notice.NONE, "the list of authors goes on"),
    (ris("TI  - Rest", "AU  - Abel, A.; Bell, B."), Notice.NONE, "2 names stood in 1 fields"),
    (ris("TI  - Rest: a preprint"), Notice.NONE, "a preprint: taken as not peer reviewed"),
    (ris("TI  - Rest", kind="THES"), Notice.NONE, "the type THES is no journal article"),
    (ris("TI  - Rest", "AB  - It rose by [Formula: see text]."), Notice.NONE, "a picture in the source"),
    (ris("TI  - Rest", "AB  - It rose \\unheard{so} much."), Notice.NONE, "kept as written: \\unheard"),
    (ris("TI  - Rest", "AB  - It rose by 12 s (95%", "CI  - 3 to 21)."), Notice.NONE, "were read as text: 4"),
    (ris(f"TI  - {'long ' * 300}"), Notice.NONE, "it was cut to 1,000"),
    (ris("TI  - Rest", "UR  - nowhere"), Notice.NONE, "not an address"),
    (ris("TI  - Rest", "DO  - none"), Notice.NONE, "is not a DOI"),
    (ris("TI  - Rest", "PY  - soon"), Notice.NONE, "there is no year between"),
    ("TI  - Rest\nAU  - Abel, A\nER  - \n", Notice.NONE, "does not begin with “TY  - ”"),
    ("TY  - JOUR\nTI  - Rest\n", Notice.NONE, "has no end before the file ends"),
    (ris("TI  - Rest") + "C1  - Database: Invented\n", Notice.NONE, "were passed over: 4"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "notice", "words"), TOLD, ids=[words for _, _, words in TOLD])
def test_a_study_is_taken_and_a_curator_told(text: str, notice: Notice, words: str) -> None:
    [draft], problems = read(text)

    assert draft.notice is notice
    assert words in told(problems)
    assert not any(problem.weight is Weight.BROKEN for problem in problems)


LEFT_OUT = [
    (ris("TI  - Retraction: Vitamin K and strength"), "is no study but a notice (retracted)"),
    (ris("TI  - Corrigendum to “Rest”"), "is no study but a notice (corrected)"),
    (ris("AU  - Abel, A"), "a record without a title is no study"),
    ("Title,Item Type,Year\nFull Text,attachment,2020\n", "is called “attachment” and is no study"),
    ("OriginalPaperDOI,RetractionNature\n10.5555/x,Retraction\n", "is a retraction list"),
]


@pytest.mark.parametrize(("text", "words"), LEFT_OUT, ids=[words for _, words in LEFT_OUT])
def test_what_is_no_study_is_left_out_and_told(text: str, words: str) -> None:
    drafts, problems = read(text)

    assert drafts == []
    assert words in told(problems)


@pytest.mark.parametrize(
    ("members", "words"),
    [({"[Content_Types].xml": "<Types/>", "word/document.xml": "<w/>"}, "is a Word file"),
     ({"mimetype": "application/epub+zip"}, "is an office file"),
     ({"keyword/a.ris": ris("TI  - Rest"), "word/b.ris": ris("TI  - Sets")}, "")],
)  # fmt: skip
def test_an_office_file_is_refused_by_its_name_and_a_zip_of_files_is_not(members: dict[str, str], words: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)

    items = [*formats.stream(Source("file", packed.getvalue()), Intake())]

    assert words in told([item for item in items if isinstance(item, Problem)])
    assert sum(isinstance(item, StudyDraft) for item in items) == (0 if words else 2)


def test_a_table_of_a_reference_manager_is_read_by_its_item_types() -> None:
    text = (
        "Key,Item Type,Publication Year,Date,Author,Title,Extra,Document Type,Publication Type\n"
        '1,journalArticle,,2021-06,"Abel, Ann; Bell, Bo",Sets,PMID: 30000001,Article,J\n'
        "2,blogPost,2022,,Coach J,Tips,,Blog,J\n"
    )

    [article, post], problems = read(text)

    assert (article.pmid, article.year, article.authors) == ("30000001", 2021, ("Abel A", "Bell B"))
    assert (article.peer_reviewed, post.peer_reviewed) == (True, False)
    assert "taken as not peer reviewed" in told(problems)


def test_bibtex_hands_down_years_and_tells_of_editors() -> None:
    text = (
        "@proceedings{vol, title = {Congress}, year = 2019, editor = {Boss, B}}\n"
        "@inproceedings{x1, author = {{\\O}st, K and others}, title = {Lifters}, crossref = {vol}}\n"
        "@book{b, editor = {Quist, Bo}, title = {Handbook}, year = 2010, url = {//example.org/x?a=1\\&b=2}}\n"
    )

    [paper, book], problems = read(text)

    assert (paper.year, paper.journal, paper.authors) == (2019, "Congress", ("Øst K",))
    assert (book.authors, book.url) == (("Quist B",), "https://example.org/x?a=1&b=2")
    assert "the editors were taken" in told(problems)
    assert "is the volume of other entries" in told(problems)


def test_styles_of_endnote_raise_and_lower() -> None:
    text = (
        '<xml><records><record><ref-type name="Journal Article">17</ref-type><contributors><authors>'
        "<author>Stein, Ruth</author><author>The TRAIN Group,</author></authors></contributors><titles><title>"
        '<style face="normal">VO</style><style face="subscript">2</style><style face="normal">max</style></title></titles>'
        '<abstract><style face="bold">RESULTS:</style> 10<style face="superscript">9</style> units.&#xD;&#xD;More.</abstract>'
        "</record></records></xml>"
    )

    [draft], _ = read(text)

    assert (draft.title, draft.authors) == ("VO₂max", ("Stein R", "The TRAIN Group"))
    assert [passage.text for passage in draft.passages] == ["10⁹ units.\n\nMore."]
