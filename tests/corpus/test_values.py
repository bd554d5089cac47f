"""How values of a record are read (mark-up, DOIs, names, notices), and what of it is taken, told and left out."""

import io
import zipfile

import pytest

from common.dois import find_doi, is_cut
from corpus_app.records import Notice
from corpus_app.sources import Problem, StudyDraft, Weight, formats
from corpus_app.sources.abstracts import split_abstract
from corpus_app.sources.bibliography import Intake
from corpus_app.sources.intake import Source
from corpus_app.sources.markup import decode, decode_latex, unknown_marks
from corpus_app.sources.names import ascii_letters, author_name, split_names
from corpus_app.sources.title_notices import is_unsure, kind_of_notice, notice_of_title

LATEX = [
    (r"$-1.2$ ${\pm}$ 0.3 kg", "−1.2 ± 0.3 kg"),
    (r"10$^{9}$, m$^2$, 30\,\textdegree C, 10$^\circ$C", "10⁹, m², 30 °C, 10°C"),
    (r"kg\textsuperscript{-1} and CO\textsubscript{2}", "kg⁻¹ and CO₂"),
    (r"{\textminus}0.35; p{\textless}0.05", "−0.35; p<0.05"),
    (r"\SI{5}{\micro\gram}, \num{-1.2e3}, \SIrange{1}{2}{kg}", "5 µg, −1.2 × 10³, 1–2 kg"),
    (r"$\text{ml}\cdot\text{kg}^{-1}$, $\frac{1}{2}$, HCO$_3^-$", "ml·kg⁻¹, 1/2, HCO₃⁻"),
    (r"{\v S}t{\v e}p{\'a}n, \c{C}a\u{g}lar, {\DJ}or{\dj}e, na\"{\i}ve", "Štěpán, Çağlar, Đorđe, naïve"),
    (r"\emph{in vivo} 5--6 \& ``q''", "in vivo 5–6 & “q”"),
    (r"\unheard{of} stays, x_1 stays", r"\unheard{of} stays, x_1 stays"),
    ("{" * 500 + "deep", "deep"),
]
MARKED = [
    (r"Creatine \& 10\% of \$5", "Creatine & 10% of $5"),
    ("10<sup>9</sup> kg<sup>-1</sup> CO<inf>2</inf> 5<sup>th</sup> x<sup>a</sup>", "10⁹ kg⁻¹ CO₂ 5th x^a"),
    ("p &amp;lt; 0.05, &#8722;4, r<sup>2</sup>", "p < 0.05, −4, r²"),
    ("p<0.05 and >10%; a<b and c>d", "p<0.05 and >10%; a<b and c>d"),
    ("costs $5 and $6; $10^9$ \\pm 3", "costs $5 and $6; 10⁹ ± 3"),
    ("rose by <inline-graphic href='x'/> and [Formula: see text].", "rose by \ufffc and \ufffc."),
    ("<foo>stays</foo>", "<foo>stays</foo>"),
]
DOIS = [
    ("https://doi.org/10.5555%2FS0140-6736%2812%2961031-9", "10.5555/s0140-6736(12)61031-9"),
    ("10.5555/(SICI)1097-0185(19990415)257:2<50::AID-X4>3.0.CO;2-N", "10.5555/(sici)1097-0185(19990415)257:2<50::aid-x4>3.0.co;2-n"),
    ("10.5555/(SICI)1097-0185(1999)257:2&lt;50::AID-X4&gt;3.0.CO;2-N", "10.5555/(sici)1097-0185(1999)257:2<50::aid-x4>3.0.co;2-n"),
    ("DOI: 10.5555/JSC.00000000000AbC. ", "10.5555/jsc.00000000000abc"),
    ("http://dx.doi.org/10.5555/bug.0010 [doi]", "10.5555/bug.0010"),
    ("(see doi:10.5555/x.1).", "10.5555/x.1"),
    ('<a href="https://doi.org/10.5555/x.1">10.5555/x.1</a>', "10.5555/x.1"),
    ("no doi", ""),
]  # fmt: skip
NAMES = [
    (["Alonso-Vidal, Marta J.; Brandt, Ole; Cusack, Niamh A."], ["Alonso-Vidal MJ", "Brandt O", "Cusack NA"]),
    (["Marta Alonso, Ole Brandt, Niamh Cusack"], ["Alonso M", "Brandt O", "Cusack N"]),
    (["Alonso, M.J., Brandt, O., Cusack, N."], ["Alonso MJ", "Brandt O", "Cusack N"]),
    (["World Health Organization, Department of Nutrition"], ["World Health Organization, Department of Nutrition"]),
    (["The TRAIN Group,"], ["The TRAIN Group"]),
    (["van 't Hoff, Pieter", "de la Cruz, María"], ["van 't Hoff P", "de la Cruz M"]),
    (["King, Jr., Martin", "Sean O'Neil"], ["King M", "O'Neil S"]),
    (["سعد، علي"], ["سعد ع"]),
    (["Schoenfeld, Brad J."], ["Schoenfeld BJ"]),
    (["Shannon,Claude E."], ["Shannon CE"]),
    (["Ludwig van Beethoven"], ["van Beethoven L"]),
    (["Molina-Bolívar, J.-A.", "Gray, SR"], ["Molina-Bolívar JA", "Gray SR"]),
    (["Madonna"], ["Madonna"]),
    (["{National Institute of Health}"], ["National Institute of Health"]),
]
TITLES = [
    ("RETRACTED: Vitamin K and strength", Notice.RETRACTED, None),
    ("Vitamin K and strength (Retracted Article)", Notice.RETRACTED, None),
    ("[Withdrawn] Vitamin K and strength", Notice.RETRACTED, None),
    ("Expression of Concern: Vitamin K", Notice.EXPRESSION_OF_CONCERN, None),
    ("Retraction: Vitamin K and strength", Notice.NONE, Notice.RETRACTED),
    ("Corrigendum to “Vitamin K and strength”", Notice.NONE, Notice.CORRECTED),
    ("Author Correction: Vitamin K", Notice.NONE, Notice.CORRECTED),
    ("Correction of scapular dyskinesis: a trial", Notice.NONE, None),
    ("Retraction rates of trials that were later retracted", Notice.NONE, None),
    ("Retracted articles in nutrition: a review", Notice.NONE, None),
    ("Withdrawal of caffeine and sprint times", Notice.NONE, None),
]


@pytest.mark.parametrize(("written", "read"), LATEX)
def test_latex_is_read(written: str, read: str) -> None:
    assert decode_latex(written) == read


@pytest.mark.parametrize("piece", ["\\'", "$^", "\\textsuperscript", "\\SI{", "<sup>", "{"])
def test_nothing_is_nested_too_deeply_to_be_read(piece: str) -> None:
    assert isinstance(decode(decode_latex(piece * 5_000)), str)


@pytest.mark.parametrize(("written", "read"), MARKED)
def test_tags_entities_and_formulas_are_read(written: str, read: str) -> None:
    assert decode(written) == read


def test_what_is_not_known_is_named() -> None:
    assert unknown_marks("a <foo> and \\unheard{x} and &bogus; and p < 5") == ("<foo>", "\\unheard", "&bogus;")


@pytest.mark.parametrize(("written", "doi"), DOIS)
def test_a_doi_is_found_whole(written: str, doi: str) -> None:
    assert find_doi(written) == doi
    assert not is_cut(doi)


@pytest.mark.parametrize("doi", ["10.5555/(sici)1097-0185(1999)257:2", "10.5555/s0140%2812%2961031-9"])
def test_a_doi_that_was_cut_is_recognised(doi: str) -> None:
    assert is_cut(doi)


@pytest.mark.parametrize(("fields", "names"), NAMES)
def test_names_are_told_apart(fields: list[str], names: list[str]) -> None:
    found, goes_on = split_names(fields)

    assert ([author_name(name) for name in found], goes_on) == (names, False)
    assert all(author_name(name) == name for name in names if name.isascii())


def test_lists_that_go_on_say_so_and_ids_keep_every_letter() -> None:
    assert split_names(["Abel A et al."]) == (["Abel A"], True)
    assert split_names(["Abel, A", "others"]) == (["Abel, A"], True)

    assert [ascii_letters(name) for name in ("Łukasiewicz", "Østergaard", "Štěpánková", "Groß")] == [
        "Lukasiewicz", "Ostergaard", "Stepankova", "Gross",
    ]  # fmt: skip


@pytest.mark.parametrize(("title", "notice", "instead"), TITLES)
def test_a_title_says_what_became_of_a_study(title: str, notice: Notice, instead: Notice | None) -> None:
    assert (notice_of_title(title), kind_of_notice(title)) == (notice, instead)
    assert is_unsure(title) == (notice is Notice.EXPRESSION_OF_CONCERN)


def test_an_abstract_is_split_at_its_labels() -> None:
    capitals = "Rowing is common. METHODS: Forty rowed. RESULTS: Grip rose. TRIAL REGISTRATION: NCT1."
    small = "Background: Rowing is common. Methods: Forty rowed. Results: Grip rose. Conclusions: It helps."
    jats = "<jats:title>Abstract</jats:title><jats:sec><jats:title>Results</jats:title><jats:p>It rose.</jats:p></jats:sec>"

    assert split_abstract(capitals) == [
        ("", "Rowing is common."), ("Methods", "Forty rowed."), ("Results", "Grip rose."),
    ]  # fmt: skip
    assert [label for label, _ in split_abstract(small)] == ["Background", "Methods", "Results", "Conclusions"]
    assert split_abstract(jats) == [("Results", "It rose.")]
    assert split_abstract("We saw this. Results: it rose.") == [("", "We saw this. Results: it rose.")]


def test_the_publishers_lines_are_left_out() -> None:
    assert split_abstract("Grip rose. © 2022 Us Ltd. All rights reserved. Copyright of Us.") == [("", "Grip rose.")]


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
     ({"mimetype": "application/vnd.oasis.opendocument.text"}, "is an office file"),
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
