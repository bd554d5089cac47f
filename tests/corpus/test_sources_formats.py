"""Every format that an import understands, on small samples of our own and on those of real exporters where they are."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tarfile
import tracemalloc
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import bibtexparser
import pytest
import rispy
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_app import sources
from corpus_app.records import Design, Notice, PassageKind, Section, Status
from corpus_app.sources import Intake, ReadResult, Source, Weight
from corpus_app.sources.bibliography import author_name, found_doi, plain_words
from corpus_app.sources.bibtex import plain as latex
from corpus_app.sources.headings import is_boilerplate, section_of

SHARED = next(
    (up / "shared/data" for up in Path(__file__).resolve().parents if (up / "shared/data").is_dir()), Path("shared")
)
SAMPLES = SHARED / "importer_samples"
needs_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples of exporters are not here")
INTAKE = Intake(collection="training")

RIS = """TY  - JOUR
AU  - Schoenfeld, Brad J.
AU  - Ogborn, Dan
TI  - Effects of resistance training frequency: a systematic review and meta-analysis
JF  - Sports Medicine
PY  - 2016/11//
DO  - https://doi.org/10.1007/S40279-016-0543-8
UR  - //link.example.org/543
AB  - BACKGROUND: Frequency matters. METHODS: Ten studies were pooled. RESULTS: Twice a week was better than once.
ER  -

TY  - THES
A1  - Müller, Jörg
T1  - Squats and growth
Y1  - 2019
ER  -
"""
NBIB = """PMID- 27102172
OWN - NLM
DP  - 2016 Nov
TI  - Effects of Resistance Training Frequency on Measures of Muscle
      Hypertrophy.
LID - 10.1007/s40279-016-0543-8 [doi]
AB  - Ten studies were pooled.
FAU - Schoenfeld, Brad J
AU  - Schoenfeld BJ
JT  - Sports medicine (Auckland, N.Z.)
PT  - Meta-Analysis
RIN - Sports Med. 2020;50:1. PMID: 31000001

PMID- 31000001
TI  - Retraction of: Effects of Resistance Training Frequency.
PT  - Retraction of Publication
ROF - Sports Med. 2016;46:1689. PMID: 27102172
"""
BIBTEX = r"""@string{sm = "Sports " # {Medicine}}
@comment{nothing of this}
@article{ok, title = {Effects of {R}esistance Training in M{\"u}nchen}, author = {M{\"u}ller, J{\"o}rg and {World Health Organization} and van der Berg, Piet},
  year = 2016, journal = sm, doi = {10.1000/ABC}, pmid = "123"}
@article{broken, title = {No end
@phdthesis{later, title = "A thesis", author = "Jane Doe", year = {2001}}
"""
PUBMED = """<?xml version="1.0"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" "https://dtd.nlm.nih.gov/x.dtd">
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Journal><JournalIssue><PubDate><Year>2020</Year></PubDate></JournalIssue>
<Title>Gut</Title></Journal><ArticleTitle>Trial of <i>one</i> thing &nbsp;in adults</ArticleTitle>
<ELocationID EIdType="doi">10.1136/gut-1</ELocationID>
<Abstract><AbstractText Label="METHODS">We drew lots.</AbstractText><AbstractText Label="RESULTS">It fell by &lt;5%.</AbstractText></Abstract>
<AuthorList><Author><LastName>Doe</LastName><Initials>JA</Initials></Author><Author><CollectiveName>The GUT group</CollectiveName></Author></AuthorList>
<PublicationTypeList><PublicationType>Randomized Controlled Trial</PublicationType></PublicationTypeList></Article></MedlineCitation></PubmedArticle>
<PubmedArticle></PubmedArticle></PubmedArticleSet>
"""
ENDNOTE = """<xml><records><record><ref-type name="Journal Article">17</ref-type><contributors><authors>
<author><style face="normal">Lim, RCH</style></author></authors></contributors><titles><title><style>Painless</style> <style>laser</style></title>
<secondary-title>Med Acupunct</secondary-title></titles><dates><year>2018</year></dates>
<electronic-resource-num>10.1089/acu.2018.1295</electronic-resource-num></record></records></xml>
"""
JATS = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) v1.1//EN" "JATS-archivearticle1.dtd">
<article article-type="research-article" xmlns:xlink="http://www.w3.org/1999/xlink"><front>
<journal-meta><journal-title-group><journal-title>PLOS ONE</journal-title></journal-title-group></journal-meta>
<article-meta><article-id pub-id-type="doi">10.1371/x.1</article-id><title-group><article-title>Ten sets: a randomized trial</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Doe</surname><given-names>Jane Ann</given-names></name></contrib>
<contrib contrib-type="editor"><name><surname>Editor</surname><given-names>E</given-names></name></contrib></contrib-group>
<pub-date pub-type="epub"><year>2019</year></pub-date>
<permissions><license xlink:href="http://creativecommons.org/licenses/by/4.0/"><license-p>Open</license-p></license></permissions>
<abstract><sec><title>Results</title><p>Strength rose by 10<sup>3</sup> units<sup><xref ref-type="bibr">1</xref></sup> of work.</p></sec></abstract></article-meta></front>
<body><sec sec-type="intro"><title>1. Introduction</title><p>Sets matter [<xref ref-type="bibr">2</xref>].</p></sec>
<sec><title>2. Materials and methods</title><p>Men lifted 100 kg/m<sup>2</sup>.<table-wrap><table><tr><td>9</td></tr></table></table-wrap></p>
<sec><title>Results of a pilot</title><p>The pilot went well.</p></sec></sec>
<sec><title>3. Results</title><p>Strength rose.</p><fig><caption><p>A figure.</p></caption></fig><list><list-item><p>First item.</p></list-item></list></sec>
<sec><title>Funding</title><p>Nobody paid.</p></sec></body>
<back><ref-list><ref><mixed-citation>Somebody 2000</mixed-citation></ref></ref-list></back></article>
"""


def read(text: str | bytes, name: str = "file") -> ReadResult:
    return sources.read_file(Source(name, text.encode() if isinstance(text, str) else text), INTAKE)


def told(reading: ReadResult) -> str:
    return "\n".join(map(str, reading.problems))


# --- The formats --------------------------------------------------------------------------------------------------------


def test_ris_gives_studies_with_their_abstract_by_sections() -> None:
    reading = read(RIS)

    first, second = reading.studies
    assert (first.title, first.authors) == (
        "Effects of resistance training frequency: a systematic review and meta-analysis",
        ("Schoenfeld BJ", "Ogborn D"),
    )
    assert (first.year, first.journal, first.doi) == (2016, "Sports Medicine", "10.1007/s40279-016-0543-8")
    assert (first.url, first.design, first.status) == (
        "https://link.example.org/543",
        Design.META_ANALYSIS,
        Status.DRAFT,
    )
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


@settings(deadline=None)
@given(
    st.lists(
        st.from_regex(r"[A-Za-z][A-Za-z ]{3,30}[a-z]", fullmatch=True),
        min_size=1,
        max_size=5,
        unique_by=lambda title: "".join(title.lower().split()),  # alike titles of one year are one study
    )
)
def test_ris_written_by_rispy_is_read_as_it_was_meant(titles: list[str]) -> None:
    text = rispy.dumps(
        [{"type_of_reference": "JOUR", "title": title, "year": "2001", "authors": ["Doe, Jane"]} for title in titles]
    )

    reading = read(text)

    assert [draft.title for draft in reading.studies] == [" ".join(title.split()) for title in titles]


def test_nbib_knows_retracted_studies_and_retractions() -> None:
    reading = read(NBIB)

    (draft,) = reading.studies
    (notice,) = reading.notices
    assert draft.title == "Effects of Resistance Training Frequency on Measures of Muscle Hypertrophy."
    assert (draft.pmid, draft.doi, draft.design) == ("27102172", "10.1007/s40279-016-0543-8", Design.META_ANALYSIS)
    assert (draft.notice, notice.notice, notice.pmid) == (Notice.RETRACTED, Notice.RETRACTED, "27102172")
    assert "31000001" in draft.notice_reason


def test_bibtex_reads_accents_macros_and_what_stands_behind_a_broken_entry() -> None:
    reading = read(BIBTEX)

    first, second = reading.studies
    assert (first.title, first.journal, first.year) == (
        "Effects of Resistance Training in München",
        "Sports Medicine",
        2016,
    )
    assert first.authors == ("Müller J", "World Health Organization", "van der Berg P")
    assert (first.doi, first.pmid, second.title, second.design) == ("10.1000/abc", "123", "A thesis", Design.THESIS)
    broken = [problem for problem in reading.problems if problem.weight is Weight.BROKEN]
    assert [problem.line for problem in broken] == [5]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"{\'E}tude \`a la \c{c}", "Étude à la ç"),
        (r"\v{S}koda and {\ss} {\o}", "Škoda and ß ø"),
        (r"\'{\i} $\beta$-alanine 5\,\% --- a~b", "í β-alanine 5 % — a b"),
        (r"na{\"\i}ve", "naïve"),
    ],
)
def test_latex_becomes_text(written: str, meant: str) -> None:
    assert latex(written) == meant


def test_pubmed_xml_reads_structured_abstracts_and_names_the_empty_record() -> None:
    reading = read(PUBMED)

    (draft,) = reading.studies
    assert draft.title == "Trial of one thing in adults"
    assert (draft.authors, draft.year, draft.pmid, draft.doi) == (
        ("Doe JA", "The GUT group"),
        2020,
        "1",
        "10.1136/gut-1",
    )
    assert [(passage.section, passage.text) for passage in draft.passages] == [
        (Section.METHODS, "We drew lots."),
        (Section.RESULTS, "It fell by <5%."),
    ]
    assert [(problem.line, problem.field) for problem in reading.problems] == [(9, "title")]


def test_endnote_xml_joins_its_styles() -> None:
    (draft,) = read(ENDNOTE).studies

    assert (draft.title, draft.authors, draft.year, draft.journal) == (
        "Painless laser",
        ("Lim RCH",),
        2018,
        "Med Acupunct",
    )


def test_jats_gives_sections_and_tells_what_it_left_out() -> None:
    reading = read(JATS)

    (draft,) = reading.studies
    assert (draft.authors, draft.licence, draft.design) == (
        ("Doe JA",),
        "CC BY 4.0",
        Design.RANDOMIZED_CONTROLLED_TRIAL,
    )
    assert [(passage.section, passage.heading, passage.text) for passage in draft.passages] == [
        (Section.RESULTS, "Abstract > Results", "Strength rose by 10³ units¹ of work."),
        (Section.INTRODUCTION, "1. Introduction", "Sets matter [2]."),
        (Section.METHODS, "2. Materials and methods", "Men lifted 100 kg/m2."),
        (Section.METHODS, "2. Materials and methods > Results of a pilot", "The pilot went well."),
        (Section.RESULTS, "3. Results", "Strength rose.\n\nFirst item."),
    ]
    assert "figures (1)" in told(reading)
    assert "tables (1)" in told(reading)
    assert "reference lists (1)" in told(reading)


def test_csv_takes_the_names_of_columns_that_exporters_use() -> None:
    reading = read(
        '\ufeffPMID,Title,Authors,Journal/Book,Publication Year,DOI\n12,Growth,"Doe JA, Roe B.",Gut,2020,10.1000/x\n13,,Doe J,,,\n'
    )

    (draft,) = reading.studies
    assert (draft.pmid, draft.authors, draft.journal, draft.year) == ("12", ("Doe JA", "Roe B"), "Gut", 2020)
    assert [(problem.line, problem.field) for problem in reading.problems] == [(3, "title")]


def test_csv_of_passages_is_grouped_by_study() -> None:
    reading = read(
        "study_id;section;text;page\nS001;Results;Strength rose.;3\nS002;methods;Men lifted.;x\nS001;nowhere;Lost.;\nS001;discussion;So what.;4\n"
    )

    assert [(added.study_id, [(p.section, p.page) for p in added.passages]) for added in reading.passages] == [
        ("S001", [(Section.RESULTS, 3), (Section.DISCUSSION, 4)]),
        ("S002", [(Section.METHODS, None)]),
    ]
    assert [(problem.line, problem.field) for problem in reading.problems] == [(3, "page"), (4, "section")]


def test_json_reads_our_own_keys_and_csl() -> None:
    own = {
        "study_id": "T9",
        "title": "Own",
        "authors": ["Doe J"],
        "passages": [{"section": "results", "text": "It rose."}],
    }
    csl = {
        "type": "article-journal",
        "title": "Csl",
        "author": [{"family": "Doe", "given": "Jane"}],
        "issued": {"date-parts": [[2001, 5]]},
        "DOI": "10.1000/Y",
    }
    wrong = {"study_id": "T 8", "title": "Wrong", "authors": [], "passages": []}

    text = json.dumps([own, csl, wrong, 7], indent=1)
    lines = text.splitlines()

    reading = read(text)

    assert [(d.study_id[:7], d.authors, d.year, d.collection) for d in reading.studies] == [
        ("T9", ("Doe J",), None, "training"),
        ("Doe2001", ("Doe J",), 2001, "training"),
    ]
    assert [(problem.line, problem.field) for problem in reading.problems] == [
        (lines.index('  "study_id": "T 8",') + 1, "study_id"),
        (lines.index(" 7") + 1, ""),
    ]


def test_lines_of_json_and_beir_are_told_apart() -> None:
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


# --- Values -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Shannon,Claude E.", "Shannon CE"),
        ("Catarina Barata", "Barata C"),
        ("Ludwig van Beethoven", "van Beethoven L"),
        ("Doe, Jr., John", "Doe J"),
        ("Gray, SR", "Gray SR"),
        ("Molina-Bolívar, J.-A.", "Molina-Bolívar JA"),
        ("Schoenfeld BJ", "Schoenfeld BJ"),
        ("{National Institute of Health}", "National Institute of Health"),
        ("World Health Organization", "World Health Organization"),
        ("Madonna", "Madonna"),
    ],
)
def test_names_are_kept_in_one_form(written: str, kept: str) -> None:
    assert author_name(written) == kept
    assert author_name(kept) == kept


@pytest.mark.parametrize(
    ("written", "doi"),
    [
        ("doi: 10.1063/1.1954747.", "10.1063/1.1954747"),
        ("http://dx.doi.org/10.1016/S0140-6736(20)30183-5", "10.1016/s0140-6736(20)30183-5"),
        ("(https://doi.org/10.1000%2Fx)", "10.1000/x"),
        ("10.1093/qjmed/hcz175 [doi]", "10.1093/qjmed/hcz175"),
        ("none", ""),
    ],
)
def test_a_doi_is_found_in_what_exporters_write(written: str, doi: str) -> None:
    assert found_doi(written) == doi


@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("2. Materials and Methods", Section.METHODS),
        ("Statistical analysis", Section.METHODS),
        ("Results and discussion", Section.RESULTS),
        ("Methods and findings", Section.RESULTS),
        ("IV. DISCUSSION:", Section.DISCUSSION),
        ("Strengths and limitations", Section.LIMITATIONS),
        ("Practical applications", Section.PRACTICAL_APPLICATIONS),
        ("Conclusions", Section.CONCLUSION),
        ("Aims", Section.INTRODUCTION),
        ("Background", Section.BACKGROUND),
        ("Lipoprotein subclasses", None),
    ],
)
def test_headings_name_sections(heading: str, section: Section | None) -> None:
    assert section_of(heading) is section


@pytest.mark.parametrize(
    "heading",
    [
        "Competing interests",
        "Authors’ contributions",
        "References",
        "Funding:",
        "Acknowledgements",
        "Supporting Information",
    ],
)
def test_boilerplate_is_known(heading: str) -> None:
    assert is_boilerplate(heading)
    assert not is_boilerplate("Results")


# --- Encodings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("codec", "note"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", ""),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("cp1252", "Windows-1252"),
        ("gb18030", "GB18030"),
    ],
)
def test_encodings_are_found_and_guesses_told(codec: str, note: str) -> None:
    name = "卡洛斯" if codec == "gb18030" else "Müller"

    reading = read(f"@article{{k, title = {{Ein Titel}}, author = {{{name}, J}}}}\r\n".encode(codec))

    assert reading.studies[0].authors == (f"{name} J",)
    assert note in told(reading)
    assert bool(note) == bool(reading.problems)


def test_bytes_of_no_encoding_are_refused_with_their_line() -> None:
    reading = read(b"TY  - JOUR\nTI  - \xc3\x28 \x81\nER  -\n")

    assert reading.studies == ()
    assert [(problem.line, problem.weight) for problem in reading.problems] == [(2, Weight.BROKEN)]


# --- Hostile files ------------------------------------------------------------------------------------------------------

BOMB = '<!DOCTYPE a [<!ENTITY x "xx"><!ENTITY y "&x;&x;">]><article>&y;</article>'
FOREIGN = (
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]><article><title>&f;</title></article>'
)
PARAMETER = '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p;]><article/>'


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


HOSTILE = {
    "entity bomb": BOMB.encode(),
    "local file": FOREIGN.encode(),
    "foreign document": PARAMETER.encode(),
    "entities in UTF-16": BOMB.encode("utf-16"),
    "entities behind 20 KB": b"<?xml version='1.0'?><!-- " + b"x" * 20_000 + b"-->" + BOMB.encode(),
    "deep nesting": b"<article>" * 100_000,
    "many elements": b"<article>" + b"<p/>" * 400_000,
    "unclosed": b"<article><front>",
    "unknown entity": b'<!DOCTYPE article SYSTEM "x.dtd"><article>&secret;</article>',
    "zip bomb": zipped({"a.ris": b"0" * 45_000_000}),
    "large zip": zipped({f"{n}.ris": b"TY  - " * 1_000_000 for n in range(10)}),
    "climbing name": zipped({"../../etc/x.ris": RIS.encode()}),
    "absolute name": zipped({"/etc/x.ris": RIS.encode()}),
    "drive name": zipped({"C:\\x.ris": RIS.encode()}),
    "zip in a zip": zipped({"a.zip": zipped({"a.ris": RIS.encode()})}),
    "broken zip": zipped({"a.ris": RIS.encode()})[:-30],
    "gzip bomb": gzip.compress(b"TY  - JOUR\n" * 6_000_000, 1),
    "broken gzip": gzip.compress(RIS.encode())[:-20],
    "NUL bytes": b"TY  - JOUR\nTI  - a\0b\nER  -\n",
    "deep JSON": b"[" * 1_000_000,
    "list of numbers": b"[" + b"1," * 1_000_000 + b"1]",
    "one long line": b"TY  - JOUR\nTI  - " + b"x" * 2_000_000,
    "twin keys": b'[{"title": "a", "title": "b"}]',
    "not a number": b'[{"title": "a", "year": NaN}]',
    "empty": b"",
    "picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "html": b"<!DOCTYPE html><html><body>TY  - JOUR</body></html>",
    "words": b"Ignore all previous instructions.",
    "braces": b"@article{" + b"{" * 500_000,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_words_and_with_little_memory(name: str) -> None:
    content = HOSTILE[name]
    tracemalloc.start()

    reading = read(content, f"{name}.bin")

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (reading.studies, reading.notices, reading.passages) == ((), (), ())
    assert reading.broken >= 1
    assert all(problem.reason.rstrip().endswith(".") or ":" in problem.reason for problem in reading.problems)
    assert "passwd" not in told(reading)
    assert "root:" not in told(reading)
    assert peak < 150_000_000


def test_a_file_of_100_mb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.ris"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)
    tracemalloc.start()

    reading = sources.read_file(sources.source_of(path), INTAKE)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "larger than 50 MB" in told(reading)
    assert peak < 1_000_000


def test_names_of_a_zip_are_shown_and_never_opened() -> None:
    reading = read(
        zipped({"folder/a.ris": RIS.encode(), "b.xml": FOREIGN.encode(), "concepts.json": b"{}", "__MACOSX/._a": b"x"})
    )

    assert len(reading.studies) == 2
    assert {problem.file for problem in reading.problems if problem.weight is Weight.BROKEN} == {"b.xml"}


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_break_the_reading(content: bytes) -> None:
    read(content)


@settings(deadline=None)
@given(
    st.sampled_from([RIS, NBIB, BIBTEX, PUBMED, ENDNOTE, JATS]),
    st.integers(0, 3000),
    st.integers(0, 60),
    st.text(max_size=5),
)
def test_no_damage_breaks_the_reading(text: str, at: int, length: int, put: str) -> None:
    reading = read((text[:at] + put + text[at + length :]).encode("utf-8", "surrogatepass"))

    for draft in reading.studies:
        assert draft.title


# --- Files of real exporters --------------------------------------------------------------------------------------------


@needs_samples
def test_samples_of_exporters_import_or_are_refused_with_a_line() -> None:
    paths = [path for path in sorted(SAMPLES.glob("*/*")) if path.is_file()]

    for path in paths:
        reading = sources.read_file(sources.source_of(path), INTAKE)
        if not (reading.studies or reading.notices):
            broken = [problem for problem in reading.problems if problem.weight is Weight.BROKEN]
            assert broken, path
            assert broken[0].line is not None or "holds no" in broken[0].reason, path
    assert len(paths) == 129


@needs_samples
def test_samples_agree_with_what_another_importer_made_of_them() -> None:
    agreed: dict[str, list[bool]] = {"title": [], "authors": [], "year": [], "doi": []}
    for path in sorted(SAMPLES.glob("*/*")):
        expected_path = path.with_suffix(".bib")
        if path.suffix == ".bib" or not expected_path.exists():
            continue
        expected = sources.read_file(sources.source_of(expected_path), INTAKE).studies
        found = sources.read_file(sources.source_of(path), INTAKE).studies
        assert len(found) == len(expected), path
        for theirs, ours in zip(expected, found, strict=True):
            agreed["title"].append(plain_words(theirs.title) == plain_words(ours.title))
            agreed["authors"].append([*map(plain_words, theirs.authors)] == [*map(plain_words, ours.authors)])
            agreed["year"].append(theirs.year == ours.year)
            agreed["doi"].append(theirs.doi == ours.doi)

    assert {name: sum(values) / len(values) >= 0.95 for name, values in agreed.items()} == dict.fromkeys(agreed, True)
    assert all(len(values) == 24 for values in agreed.values())


@needs_samples
def test_bibtex_is_read_as_another_parser_reads_it() -> None:
    for path in sorted(SAMPLES.glob("*/*.bib")):
        if path.parent.name == "bibtex":
            continue  # other encodings
        text = path.read_text(encoding="utf-8")
        theirs = {
            entry.fields_dict["title"].value
            for entry in bibtexparser.parse_string(text).entries
            if "title" in entry.fields_dict
        }
        ours = {draft.title for draft in read(text).studies}
        assert {plain_words(latex(title)) for title in theirs} <= {
            plain_words(title) for title in ours
        }  # it skips keys that stand twice


@needs_samples
@pytest.mark.parametrize(
    "path", sorted((SHARED / "robustness/xxe").glob("*")) if SAMPLES.is_dir() else [], ids=lambda path: path.name
)
def test_published_attacks_are_refused(path: Path) -> None:
    reading = sources.read_file(sources.source_of(path), INTAKE)

    assert reading.studies == ()
    assert reading.broken


@needs_samples
def test_articles_import_with_their_gold_quotes_in_one_passage_or_two() -> None:
    folder = SHARED / "evidence_inference"
    articles: dict[str, list[sources.PassageDraft]] = {}
    with tarfile.open(folder / "articles_nxml.tar.xz") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() else None
            if stream is None:
                continue
            reading = read(stream.read(), member.name)
            (draft,) = reading.studies
            articles[re.sub(r"\D", "", Path(member.name).stem)] = list(draft.passages)
    whole, held, named = 0, 0, 0
    for line in gzip.decompress((folder / "prompts.jsonl.gz").read_bytes()).decode().splitlines():
        prompt = json.loads(line)
        passages = articles[prompt["pmcid"]]
        for annotation in prompt["annotations"]:
            quote = in_running_text(annotation["quote"])
            if quote is None:
                continue
            whole += 1
            found = list(holding(quote, passages))
            held += bool(found)
            named += any(is_under(annotation["section"], pair) for pair in found)

    assert len(articles) == 228
    assert whole > 1000
    assert held / whole >= 0.98
    assert named / whole >= 0.98


def holding(quote: str, passages: Sequence[sources.PassageDraft]) -> Iterator[tuple[sources.PassageDraft, ...]]:
    """Each passage that holds the quote whole, and each two neighbours that do so together."""
    for place, passage in enumerate(passages):
        neighbour = passages[place + 1 : place + 2]
        if quote in words(passage.text):
            yield (passage,)
        elif (
            neighbour
            and quote in words(f"{passage.text} {neighbour[0].text}")
            and quote not in words(neighbour[0].text)
        ):
            yield (passage, neighbour[0])


def is_under(section: str, pair: Sequence[sources.PassageDraft]) -> bool:
    """Whether a passage stands under the heading of a label such as `BODY.RESULTS`.

    Where the text file of an article has lost the headings of its body, the label names the last one of the abstract: then the
    quote stands in the body, under another heading.
    """
    part, _, heading = section.partition(".")
    if part == "ABSTRACT":
        return True
    own = [plain_words(step).replace(" ", "") for step in heading.split(".")]
    return not heading or any(
        step and step in plain_words(passage.heading).replace(" ", "") for passage in pair for step in own
    )


def words(text: str) -> str:
    return " ".join(text.split())


def in_running_text(quote: str) -> str | None:
    """A gold quote as it stands in the prose; None for rows of a table. The text files run labels of figures into the prose."""
    if quote.strip().count("\n") > 1:
        return None
    return words(re.sub(r"(?:Fig\.|Figure|Table)\s*\d+\s*$", "", quote))


def test_rows_of_a_csv_are_told_by_the_line_on_which_they_begin() -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["title", "year"], ["one\nwith a break", "2001"], ["two", "long ago"]])

    assert [(problem.line, problem.field) for problem in read(out.getvalue()).problems] == [(4, "year")]
