"""Every format that an import understands, on small samples of our own and on those of real exporters where they are."""

import gzip
import json
from pathlib import Path

import pytest

from corpus_app import sources
from corpus_app.passages import sentences_of
from corpus_app.records import Design, Notice, PassageKind, Section, Status
from corpus_app.sources import Intake, ReadResult, Source, Weight
from corpus_app.sources.headings import is_boilerplate, section_of

INTAKE = Intake(collection="training")


def sample(name: str) -> str:
    return (Path(__file__).parents[1] / "data/formats" / name).read_text("utf-8")


def read(text: str | bytes, name: str = "file") -> ReadResult:
    return sources.read_file(Source(name, text.encode() if isinstance(text, str) else text), INTAKE)


def told(reading: ReadResult) -> str:
    return "\n".join(map(str, reading.problems))


def test_ris_gives_studies_with_their_abstract_by_sections() -> None:
    reading = read(sample("references.ris"))

    first, second = reading.studies
    assert first.title == "Effects of resistance training frequency: a systematic review and meta-analysis"
    assert first.authors == ("Schoenfeld BJ", "Ogborn D")
    assert (first.year, first.journal, first.doi) == (2016, "Sports Medicine", "10.1007/s40279-016-0543-8")
    assert (first.url, first.design) == ("https://link.example.org/543", Design.META_ANALYSIS)
    assert first.status is Status.DRAFT
    assert [passage.section for passage in first.passages] == [Section.BACKGROUND, Section.METHODS, Section.RESULTS]
    assert all(passage.kind is PassageKind.EXCERPT for passage in first.passages)
    assert (second.design, second.peer_reviewed, second.authors) == (Design.THESIS, False, ("Müller J",))
    assert "peer_reviewed" in told(reading)


def test_ris_that_is_damaged_keeps_the_records_around_it() -> None:
    reading = read(
        "T1  - No type\nAU  - Doe, A\nER  -\nTY  - JOUR\nT1  - No end\nTY  - JOUR\nPY  - 2001\nER  - \nTY - JOUR\nTI - Blanks\nER -\n"
    )

    assert [draft.title for draft in reading.studies] == ["No type", "No end", "Blanks"]
    assert [(problem.line, problem.field) for problem in reading.problems] == [(1, "TY"), (4, "ER"), (6, "title")]


def test_nbib_knows_retracted_studies_and_retractions() -> None:
    reading = read(sample("pubmed.nbib"))

    (draft,) = reading.studies
    (notice,) = reading.notices
    assert draft.title == "Effects of Resistance Training Frequency on Measures of Muscle Hypertrophy."
    assert (draft.pmid, draft.doi, draft.design) == ("27102172", "10.1007/s40279-016-0543-8", Design.META_ANALYSIS)
    assert (draft.notice, notice.notice, notice.pmid) == (Notice.RETRACTED, Notice.RETRACTED, "27102172")
    assert "31000001" in draft.notice_reason


def test_bibtex_reads_accents_macros_and_past_a_broken_entry() -> None:
    reading = read(sample("references.bib"))

    first, second = reading.studies
    assert first.title == "Effects of Resistance Training in München"
    assert (first.journal, first.year) == ("Sports Medicine", 2016)
    assert first.authors == ("Müller J", "World Health Organization", "van der Berg P")
    assert (first.doi, first.pmid, second.title, second.design) == ("10.1000/abc", "123", "A thesis", Design.THESIS)
    broken = [problem for problem in reading.problems if problem.weight is Weight.BROKEN]
    assert [problem.line for problem in broken] == [5]


def test_pubmed_xml_reads_structured_abstracts_and_names_the_empty_record() -> None:
    reading = read(sample("pubmed.xml"))

    (draft,) = reading.studies
    assert draft.title == "Trial of one thing in adults"
    assert (draft.authors, draft.year) == (("Doe JA", "The GUT group"), 2020)
    assert (draft.pmid, draft.doi) == ("1", "10.1136/gut-1")
    passages = [(passage.section, passage.text) for passage in draft.passages]
    assert passages == [(Section.METHODS, "We drew lots."), (Section.RESULTS, "It fell by <5%.")]
    assert [(problem.line, problem.field) for problem in reading.problems] == [(9, "title")]


def test_jats_gives_sections_and_tells_what_it_left_out() -> None:
    (endnote,) = read(sample("endnote.xml")).studies
    assert (endnote.title, endnote.authors) == ("Painless laser", ("Lim RCH",))
    assert (endnote.year, endnote.journal) == (2018, "Med Acupunct")

    reading = read(sample("article.xml"))

    (draft,) = reading.studies
    assert (draft.authors, draft.licence) == (("Doe JA",), "CC BY 4.0")
    assert draft.design is Design.RANDOMIZED_CONTROLLED_TRIAL
    assert [(passage.section, passage.heading, passage.text) for passage in draft.passages] == [
        (Section.RESULTS, "Abstract > Results", "Strength rose by 10³ units of work."),
        (Section.INTRODUCTION, "1. Introduction", "Sets matter."),
        (Section.METHODS, "2. Materials and methods", "Men lifted 100 kg/m²."),
        (Section.METHODS, "2. Materials and methods > Table", "Table; 9"),
        (Section.METHODS, "2. Materials and methods > Results of a pilot", "The pilot went well."),
        (Section.RESULTS, "3. Results", "Strength rose.\n\nFirst item."),
        (Section.RESULTS, "3. Results > Figure", "Figure: A figure."),
    ]
    for left in ("parts without findings (1)", "reference lists (1)"):
        assert left in told(reading)


def article(body: str, *, around: str = "") -> ReadResult:
    work = '<ref id="b{0}"><label>{0}</label><mixed-citation><pub-id pub-id-type="doi">10.1000/w{0}</pub-id></mixed-citation></ref>'
    works = "".join(work.format(n) for n in range(1, 10))
    front = "<front><article-meta><title-group><article-title>Sets</article-title></title-group></article-meta></front>"
    back = f"<back><ref-list>{works}</ref-list></back>"
    return read(f"<article>{front}<body><sec><title>Results</title>{body}</sec></body>{back}{around}</article>")


def cite(number: int, mark: str = "") -> str:
    return f'<xref ref-type="bibr" rid="b{number}">{mark or number}</xref>'


@pytest.mark.parametrize(("written", "text", "cited"), [
     (f"It rose [{cite(1)}, {cite(3)}]. Then it fell.", "It rose. Then it fell.", [(7, "1"), (7, "3")]),
     (f"It rose [{cite(2)}–{cite(4)}], and fell.", "It rose, and fell.", [(7, "2"), (7, "3"), (7, "4")]),
     (f"It rose.<sup>{cite(1)},{cite(2)}</sup> It fell.", "It rose. It fell.", [(8, "1"), (8, "2")]),
     (f"It rose ({cite(1)}), or fell.{cite(2, '<sup>2</sup>')} So", "It rose, or fell. So", [(7, "1"), (17, "2")]),
     (f"It rose {cite(1, '[1')},{cite(2, '2]')} by 5.", "It rose by 5.", [(7, "1"), (7, "2")]),
     (f"Doe et al. {cite(5, '[5]')} saw 10<sup>3</sup>.", "Doe et al. saw 10³.", [(10, "5")]),
     (f"As shown in [{cite(6)}], it rose.", "As shown in ref. 6, it rose.", [(18, "6")]),
     (f"It rose (see {cite(7)}; not {cite(8)}).", "It rose (see 7; not 8).", [(14, "7"), (21, "8")]),
     (f"It rose ({cite(1, 'Doe et al., 2019')}).", "It rose (Doe et al., 2019).", []),
     (f"Doe ({cite(1, '2019')}) saw it [n = 5].", "Doe (2019) saw it [n = 5].", []),
])  # fmt: skip
def test_marks_of_the_source_are_kept_beside_the_text(written: str, text: str, cited: list[tuple[int, str]]) -> None:
    (passage,) = article(f"<p>{written}</p>").studies[0].passages

    assert passage.text == text
    assert [(work.at, work.label) for work in passage.cited] == cited
    assert all(work.doi == f"10.1000/w{work.label}" for work in passage.cited)


@pytest.mark.parametrize(("formula", "text"), [
    ("<alternatives><math><msup><mi>x</mi><mn>2</mn></msup></math><tex-math>x^2</tex-math></alternatives>", "x²"),
    ("<tex-math>\\documentclass{minimal}\\begin{document}$$a \\leq \\frac{1}{2}$$\\end{document}</tex-math>", "a ≤ 1/2"),
    ("<math>\n<mi>p</mi>\n<mo>≤</mo>\n<mn>0.05</mn></math><inline-graphic/>", "p ≤ 0.05"),
    ("<math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mi>b</mi></mfrac></math>", "(a+1)/b"),
    ("<math><msub><mi>x</mi><mn>1</mn></msub><mo>-</mo><msqrt><mi>y</mi></msqrt></math>", "x₁−√y"),
    ("<math><mover><mi>x</mi><mo>¯</mo></mover></math>", "x̄"),
    ("<italic>k</italic><inline-graphic/>", "k"), ("<inline-graphic/>", "\ufffc"),
])  # fmt: skip
def test_a_formula_in_a_sentence_is_read_once(formula: str, text: str) -> None:
    (passage,) = article(f"<p>So <inline-formula>{formula}</inline-formula> held.</p>").studies[0].passages

    assert passage.text == f"So {text} held."


TABLE = f"""<table-wrap id="t4"><label>Table 4</label><caption><p>Strength (kg). Means and SD.</p></caption><table><thead>
<tr><th rowspan="2">Group</th><th colspan="2">Squat</th><th rowspan="2">P</th></tr><tr><th>before</th><th>after</th></tr></thead>
<tbody><tr><td colspan="4">Women</td></tr><tr><td>Creatine</td><td>50 (8)</td><td>61 (9)</td><td rowspan="2">0.03</td></tr>
<tr><td>Placebo [{cite(2)}]</td><td/><td>55 (7)<sup>a</sup></td></tr></tbody></table>
<table-wrap-foot><fn><p><sup>a</sup> Two left. See Fig. 1.</p></fn></table-wrap-foot></table-wrap>"""
ROWS = (
    "Table 4: Strength (kg); Women; Group: Creatine; Squat, before: 50 (8); Squat, after: 61 (9); P: 0.03",
    "Table 4: Strength (kg); Women; Group: Placebo; Squat, after: 55 (7)^a; P: 0.03",
)


@pytest.mark.parametrize(("body", "around"), [
    (f"<sec><title>Strength</title><p>It rose.</p>{TABLE}</sec>", ""),
    (f"<sec><title>Strength</title><p>It rose.{TABLE}</p></sec>", ""),
    ("<sec><title>Strength</title><p>It <xref ref-type='table' rid='t4'>rose</xref>.</p></sec>", f"<floats-group>{TABLE}</floats-group>"),
], ids=["in the section", "in a paragraph", "behind the article"])  # fmt: skip
def test_a_table_is_quoted_row_by_row_below_its_section(body: str, around: str) -> None:
    passages = article(body, around=around).studies[0].passages

    prose, caption, rows = passages
    assert (caption.section, caption.heading) == (rows.section, rows.heading)
    assert (rows.section, rows.heading) == (Section.RESULTS, "Results > Strength > Table 4")
    assert (prose.text, rows.text) == ("It rose.", "\n".join(ROWS))
    assert caption.text == "Table 4: Strength (kg). Means and SD.\n\n^a Two left. See Fig. 1."
    assert (rows.kind, caption.kind) == (PassageKind.TABLE, PassageKind.EXCERPT)
    assert [rows.text[a:b] for a, b in sentences_of(rows.text, rows.kind)] == list(ROWS)
    assert [rows.text[: work.at].rpartition(" ")[2] for work in rows.cited] == ["Placebo"]


def row(*cells: str, tag: str = "td") -> str:
    """A row; `3:Age` is a cell over three columns."""
    wide = (cell.partition(":")[::2] if cell[1:2] == ":" else ("1", cell) for cell in cells)
    return f"<tr>{''.join(f'<{tag} colspan={chr(34)}{n}{chr(34)}>{words}</{tag}>' for n, words in wide)}</tr>"


HEAD = f"<thead>{row('Item', 'A', 'B', 'P', tag='th')}</thead>"
WIDE = f"<thead>{row('2:Item', '2:A', '2:B', tag='th')}</thead>"


@pytest.mark.parametrize(("rows", "lines"), [
    ([HEAD, row("Sex", "", "", ".5"), row("Men", "1", "2", ""), row("Age", "3", "4", ".6")],
     ["Item: Sex; P: .5", "Sex; Item: Men; A: 1; B: 2", "Item: Age; A: 3; B: 4; P: .6"]),
    ([HEAD, row("Sex", "", "", ""), row("\xa0Men", "1", "2", ""), row("Age", "3", "4", "")],
     ["Sex; Item: Men; A: 1; B: 2", "Item: Age; A: 3; B: 4"]),
    ([HEAD, row("Squat", "", "", ""), row("Men", "1", "", ""), row("Bench", "", "", ""), row("Men", "2", "", "")],
     ["Squat; Item: Men; A: 1", "Bench; Item: Men; A: 2"]),
    ([HEAD, row("4:Women"), row("Squat", "2:5", ""), row("", "2:6", "7")],
     ["Women; Item: Squat; A and B: 5", "Women; Squat; A and B: 6; P: 7"]),
    ([WIDE, row("", "2:Age", "2:5", "6")], ["Item: Age; A: 5; B: 6"]),
    ([WIDE, row("", "2:Age", "3:5")], []),
    ([row("Item", "A", tag="th"), row("Age", "5")], ["Item: Age; A: 5"]),
    ([row("Item", "A"), row("Age", "5"), row("2:Mean of two.")], ["Item: Age; A: 5", "Mean of two."]),
], ids=["values beside", "indented", "repeated", "merged", "crossing", "not to be told", "row of heads", "note"])  # fmt: skip
def test_a_row_has_the_heads_that_it_stands_under(rows: list[str], lines: list[str]) -> None:
    reading = article(f"<p>It rose.</p><table-wrap><label>Table 1</label><table>{''.join(rows)}</table></table-wrap>")

    found = [line for passage in reading.studies[0].passages[1:] for line in passage.text.split("\n")]
    assert found == [f"Table 1; {line}" for line in lines]
    assert ("rows that do not fit their heads (1)" in told(reading)) == (not lines)


def test_a_giant_table_and_the_parts_of_others_are_told() -> None:
    rows = '<tr><td rowspan="9">1</td><td colspan="900">2</td></tr>' * 9
    caption = "<caption><p>Loads. In kg.</p></caption>"
    giant = f"<table-wrap><label>Table 1</label>{caption}<table>{rows}</table></table-wrap>"
    replies = "<sub-article><body><p>A reply.</p></body></sub-article><response><body><p>Thanks.</p></body></response>"

    reading = article(
        "<p>It rose.</p><p><bold>DOI:</bold> http://dx.doi.org/10.7554/eLife.00005.001</p><boxed-text><caption>"
        f"<title>Limitations</title></caption><p>Few men.</p></boxed-text><supplementary-material/>{giant}",
        around=replies,
    )

    assert [(p.section, p.heading, p.text) for p in reading.studies[0].passages] == [
        (Section.RESULTS, "Results", "It rose."),
        (Section.RESULTS, "Results > Table 1", "Table 1: Loads. In kg."),
        (Section.LIMITATIONS, "Results > Limitations", "Few men."),
    ]
    for left in ("reviews and replies (1)", "responses (1)", "supplements (1)", "tables of more than 4,000 cells (1)"):
        assert left in told(reading)


def test_csv_takes_the_names_of_columns_that_exporters_use() -> None:
    reading = read(
        '\ufeffPMID,Title,Authors,Journal/Book,Publication Year,DOI\n12,Growth,"Doe JA, Roe B.",Gut,2020,10.1000/x\n13,,Doe J,,,\n'
    )

    (draft,) = reading.studies
    assert (draft.pmid, draft.authors, draft.journal, draft.year) == ("12", ("Doe JA", "Roe B"), "Gut", 2020)
    assert [(problem.line, problem.field) for problem in reading.problems] == [(3, "title")]
    broken = read('title,year\n"one\nwith a break",2001\ntwo,long ago\n')  # a row is told by the line it begins on
    assert [(problem.line, problem.field) for problem in broken.problems] == [(4, "year")]


RAYYAN = (
    'RAYYAN-INCLUSION: {"Ann"=>"Excluded", "Bo"=>"Excluded"} | RAYYAN-LABELS: sprint,heat | '
    'RAYYAN-EXCLUSION-REASONS: wrong population | USER-NOTES: {"Ann"=>["no"]}'
)
RAYYAN_LABELS = ("Rayyan: excluded", "Rayyan: sprint", "Rayyan: heat", "Rayyan: wrong population")


def row(**cells: str) -> str:
    named = {"Title": "Milk and sprints", "Year": "2020", "Authors": "Lee, A.", **cells}
    quoted = [f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in named.values()]
    return f"{','.join(named)}\n{','.join(quoted)}\n"


@pytest.mark.parametrize(("text", "design", "is_reviewed", "labels"), [
    (row(**{"Document Type": "Article; Early Access"}), Design.OTHER, True, ()),
    (row(**{"Document Type": "Review", "Index Keywords": "milk"}), Design.OTHER, True, ()),
    (row(Title="Milk: a meta-analysis", **{"Document Type": "Review"}), Design.META_ANALYSIS, True, ()),
    (row(Type="Randomized Controlled Trial"), Design.RANDOMIZED_CONTROLLED_TRIAL, True, ()),
    (row(**{"Publication Type": "Journal Article; Review"}), Design.NARRATIVE_REVIEW, True, ()),
    (row(**{"Item Type": "preprint"}), Design.PREPRINT, False, ()),
    (row(notes=RAYYAN), Design.OTHER, True, RAYYAN_LABELS),
    (row(notes='RAYYAN-INCLUSION: {"A"=>"Maybe", "B"=>"Included"}'), Design.OTHER, True, ("Rayyan: conflict",)),
    (f"TY  - JOUR\nTI  - Milk and sprints\nKW  - milk\nN1  - {RAYYAN}\nER  -\n", Design.OTHER, True, RAYYAN_LABELS),
    (f"@article{{a, title={{Milk}}, keywords={{milk}}, note={{{RAYYAN}}}}}", Design.OTHER, True, RAYYAN_LABELS),
    (
        row(Notes="Ann (Select): Exclusion reason: Wrong dose; ", Tags="a; b", **{"Covidence #": "#1"}),
        Design.OTHER, True, ("Covidence: excluded", "Covidence: Wrong dose", "Covidence: a", "Covidence: b"),
    ),
    (row(**{"Manual Tags": "milk", "Automatic Tags": "Humans", "Extra": ""}), Design.OTHER, True, ("Zotero: milk",)),
    (row(**{"Manual Tags": "milk", "Automatic Tags": "", "Extra": ""}), Design.OTHER, True, ("Zotero: milk",)),
    (
        '[{"key": "A", "data": {"itemType": "thesis", "title": "Milk", "tags": [{"tag": "x"}, {"tag": "y", "type": 1}],'
        ' "collectionNames": ["C"]}}, {"key": "B", "data": {"itemType": "attachment", "title": "PDF"}}]',
        Design.THESIS, False, ("Zotero: x", "Zotero: C"),
    ),
])  # fmt: skip
def test_types_and_decisions_are_read(text: str, design: Design, is_reviewed: bool, labels: tuple[str, ...]) -> None:
    (draft,) = read(text).studies

    assert (draft.design, draft.peer_reviewed, draft.labels) == (design, is_reviewed, labels)


def test_csv_of_passages_is_grouped_by_study() -> None:
    reading = read(
        "study_id;section;text;page\nS001;Results;Strength rose.;3\nS002;methods;Men lifted.;x\nS001;nowhere;Lost.;\nS001;discussion;So what.;4\n"
    )

    found = {added.study_id: [(p.section, p.page) for p in added.passages] for added in reading.passages}
    assert found == {"S001": [(Section.RESULTS, 3), (Section.DISCUSSION, 4)], "S002": [(Section.METHODS, None)]}
    assert [(problem.line, problem.field) for problem in reading.problems] == [(3, "page"), (4, "section")]


def test_json_reads_our_own_keys_and_csl() -> None:
    passages = [{"section": "results", "text": "It rose."}]
    own = {"study_id": "T9", "title": "Own", "authors": ["Doe J"], "passages": passages}
    csl = {"type": "article-journal", "title": "Csl", "author": [{"family": "Doe", "given": "Jane"}]}
    csl |= {"issued": {"date-parts": [[2001, 5]]}, "DOI": "10.1000/Y"}
    wrong = {"study_id": "T 8", "title": "Wrong", "authors": [], "passages": []}
    text = json.dumps([own, csl, wrong, 7], indent=1)

    reading = read(text)

    assert [(d.study_id[:7], d.year) for d in reading.studies] == [("T9", None), ("Doe2001", 2001)]
    assert {(d.authors, d.collection) for d in reading.studies} == {(("Doe J",), "training")}
    places = [text.splitlines().index(line) + 1 for line in ('  "study_id": "T 8",', " 7")]
    assert [(p.line, p.field) for p in reading.problems] == [(places[0], "study_id"), (places[1], "")]


def test_json_lines_and_beir_are_distinguished() -> None:
    beir = '{"_id": "1", "title": "T", "text": "One. Two."}\n{"_id": "1", "text": "Twice."}\nno\n'
    lines = '{"study_id": "S001", "section": "results", "text": "It rose."}\n{"study_id": "S001", "section": "results", "text": ""}\n'

    assert [draft.title for draft in read(beir).studies] == ["T"]
    assert [problem.line for problem in read(beir).problems] == [2, 3]
    assert [problem.line for problem in read(gzip.compress(beir.encode())).problems] == [2, 3]
    assert len(read(lines).passages[0].passages) == 1
    assert [problem.line for problem in read(lines).problems] == [2]


def test_pasted_text_is_cut_at_its_headings() -> None:
    text = "Opening words.\r\n\r\nMETHODS\nMen lifted.\n\nThey rested.\n\nFunding\nNobody paid.\n\n3. Results\nStrength rose by 5 kg.\n"

    passages, problems = sources.passages_of(text)

    plain = text.replace("\r\n", "\n")
    assert [(p.section, p.text) for p in passages] == [
        (Section.ABSTRACT, "Opening words."),
        (Section.METHODS, "Men lifted.\n\nThey rested."),
        (Section.RESULTS, "Strength rose by 5 kg."),
    ]
    assert all(plain[p.start : p.end] == p.text for p in passages)
    assert [problem.line for problem in problems] == [8]


def test_the_same_record_has_the_same_id_in_every_format_and_once_in_a_file() -> None:
    ris = "TY  - JOUR\nTI  - Growth\nAU  - Doe, Jane\nDO  - 10.1000/X\nER  -\n"
    bib = "@article{a, title={Growth}, author={Jane Doe}, doi={https://doi.org/10.1000/x}}"

    assert read(ris).studies[0].study_id == read(bib).studies[0].study_id
    assert len(read(ris + ris).studies) == 1
    assert "already" in told(read(ris + ris))


def test_headings_name_sections_and_boilerplate_is_known() -> None:
    for heading, section in (
        ("2. Materials and Methods", Section.METHODS), ("Statistical analysis", Section.METHODS),
        ("Results and discussion", Section.RESULTS), ("Methods and findings", Section.RESULTS),
        ("IV. DISCUSSION:", Section.DISCUSSION), ("Strengths and limitations", Section.LIMITATIONS),
        ("Practical applications", Section.PRACTICAL_APPLICATIONS), ("Lipoprotein subclasses", None),
    ):  # fmt: skip
        assert section_of(heading) is section
        assert not is_boilerplate(heading)
    for heading in ("Competing interests", "Authors’ contributions", "References", "Funding:", "Acknowledgements"):
        assert is_boilerplate(heading)


def test_encodings_are_detected_and_guesses_reported() -> None:
    for codec, note in (
        ("utf-8-sig", ""), ("utf-16", ""), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"),
        ("cp1252", "Windows-1252"), ("gb18030", "GB18030"),
    ):  # fmt: skip
        name = "卡洛斯" if codec == "gb18030" else "Müller"
        reading = read(f"@article{{k, title = {{Ein Titel}}, author = {{{name}, J}}}}\r\n".encode(codec))

        assert reading.studies[0].authors == (f"{name} J",)
        assert note in told(reading)
        assert bool(note) == bool(reading.problems)
    refused = read(b"TY  - JOUR\nTI  - \xc3\x28 \x81\nER  -\n")
    assert refused.studies == ()
    assert [(problem.line, problem.weight) for problem in refused.problems] == [(2, Weight.BROKEN)]
