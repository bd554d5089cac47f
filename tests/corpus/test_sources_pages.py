"""Pages and books: HTML, Markdown and EPUB as sources of their own, in a file, a zip or a corpus folder."""

import io
import time
import zipfile
from pathlib import Path

import pytest

from corpus_app import sources
from corpus_app.sources import Intake, ReadResult, Source, Weight

HTML = """<!doctype html><html><head><title>Boats - Lake Museum</title><meta property="og:site_name" content="Lake Museum">
<link rel="canonical" href="https://lake.example/boats"><meta property="article:published_time" content="2023-04-05">
<script>var x = "<p>no text</p>";</script></head><body><header><a href="/">Lake Museum</a></header>
<nav><ul><li><a href="/a">Home</a></li><li><a href="/b">Boats</a></li></ul></nav>
<div class="cookie-banner"><p>We use cookies to make this page better for you.</p></div>
<main><h1>Boats of the lake</h1><p>The oldest is the <em>Anna</em>, made of 10<sup>3</sup> planks; CO<sub>2</sub> &lt; 5&nbsp;%.</p>
<h2>Visits</h2><p>Anna opens at <a href="/hours">nine</a>.<br>Dogs stay outside.</p><ul><li>Adults: 6 EUR</li><li>Children: free</li></ul>
<h3>Measures</h3><table><tr><th>Part</th><th>Length (m)</th></tr><tr><td>Hull</td><td>18.4</td></tr></table>
<h2>Funding</h2><div>The city pays 60 %.</div></main><aside><p>Other pages</p></aside><footer>Imprint</footer></body></html>"""
MARKDOWN = """---
title: Boats of the lake
date: 2023-04-05
url: https://lake.example/boats
---
# Boats of the lake

The oldest is the *Anna*, made of 10<sup>3</sup> planks; CO<sub>2</sub> &lt; 5 %.

## Visits

Anna opens at [nine](/hours).\\
Dogs stay outside.

- Adults: 6 EUR
- Children: free

### Measures

| Part | Length (m) |
|---|---|
| Hull | 18.4 |

Funding
-------

The city pays 60 %.
"""
TEXT = [
    ("", "The oldest is the Anna, made of 10³ planks; CO₂ < 5 %."),
    ("Visits", "Anna opens at nine. Dogs stay outside.\n\nAdults: 6 EUR\n\nChildren: free"),
    ("Visits > Measures", "Measures; Part: Hull; Length (m): 18.4"),
    ("Funding", "The city pays 60 %."),
]


def read(content: str | bytes, name: str = "page") -> ReadResult:
    return sources.read_file(Source(name, content.encode() if isinstance(content, str) else content), Intake())


def packed(files: dict[str, str | bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def epub(chapters: dict[str, str], **metadata: str) -> bytes:
    items = "".join(f'<item id="{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in chapters)
    spine = "".join(f'<itemref idref="{n}"/>' for n in chapters)
    said = "".join(f"<dc:{name}>{value}</dc:{name}>" for name, value in metadata.items())
    root = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    book = f'<package xmlns:dc="urn:dc"><metadata>{said}</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>'
    files = {
        f"OEBPS/{name}.xhtml": f'<?xml version="1.0"?><html><body>{body}</body></html>'
        for name, body in chapters.items()
    }
    return packed({"mimetype": "application/epub+zip", "META-INF/container.xml": root, "OEBPS/book.opf": book} | files)


@pytest.mark.parametrize(("content", "reader"), [(HTML, "web page (HTML)"), (MARKDOWN, "Markdown with headings")])
def test_a_page_is_one_source_with_its_text_under_its_headings(content: str, reader: str) -> None:
    found = read(content)

    study = found.studies[0]
    assert (found.reader, study.title, study.year, study.url) == (
        reader,
        "Boats of the lake",
        2023,
        "https://lake.example/boats",
    )
    assert [(passage.heading, passage.text) for passage in study.passages] == TEXT
    assert not study.peer_reviewed
    assert {problem.weight for problem in found.problems} <= {Weight.REPORTED}


def test_what_is_left_out_of_a_page_is_told() -> None:
    (problem,) = read(HTML).problems

    assert problem.reason == (
        "left out of the text: asides (1), cookie notices (1), footers (1), navigation (1), page headers (1)."
    )


def test_a_page_without_a_main_part_gives_the_text_between_its_menus() -> None:
    menu = "<ul>" + "".join(f'<li><a href="/{n}">Page {n}</a></li>' for n in range(9)) + "</ul>"
    paragraphs = "".join(
        f"<p>The ferry number {n} carried people over the lake, and it was kept by the village.</p>" for n in range(6)
    )

    study = read(
        f"<html><body><div>{menu}</div><div><h1>Ferries</h1>{paragraphs}</div><div>{menu}</div></body></html>"
    ).studies[0]

    words = " ".join(passage.text for passage in study.passages)
    assert study.title == "Ferries"
    assert all(f"ferry number {n}" in words for n in range(6))
    assert "Page 3" not in words


def test_a_book_is_one_source_with_its_chapters_in_order() -> None:
    book = epub({"one": "<h1>Spring</h1><p>A hive has 10<sup>4</sup> bees.</p>", "two": "<section><h1>Winter</h1><h2>Food</h2><p>Bees need 15 kg.</p></section>"},
                title="Bees", creator="Ann Lee", date="2019-05-01")  # fmt: skip

    found = read(book, "bees.epub")

    study = found.studies[0]
    assert (found.reader, study.title, study.authors, study.year) == ("EPUB", "Bees", ("Lee A",), 2019)
    assert [(passage.heading, passage.text) for passage in study.passages] == [
        ("Spring", "A hive has 10⁴ bees."), ("Winter > Food", "Bees need 15 kg."),
    ]  # fmt: skip


@pytest.mark.parametrize(("content", "reason"), [
    ("<html><body><script>run()</script></body></html>", "holds no text under its headings"),
    ("<html><body>" + "<div>" * 400 + "deep", "nested deeper than 255"),
    ("<html><body>" + "<p>x" * 110_000, "more than 100,000 elements"),
    ("<html><body><p>" + "many words " * 400_000, "more than 4,000,000 characters"),
    ("# Many\n\n" + "many words\n" * 400_000, "more than 4,000,000 characters"),
    (packed({"mimetype": "application/epub+zip"}), "it holds no META-INF/container.xml"),
], ids=["scripts", "deep", "elements", "long page", "long text", "empty book"])  # fmt: skip
def test_a_page_that_cannot_be_read_is_refused_in_time(content: str | bytes, reason: str) -> None:
    before = time.monotonic()

    found = read(content)

    assert not found.studies
    assert reason in found.problems[0].reason
    assert time.monotonic() - before < 10


def test_a_corpus_folder_holds_pages_beside_its_studies(tmp_path: Path) -> None:
    (tmp_path / "studies" / "visit").mkdir(parents=True)
    (tmp_path / "studies" / "boats.html").write_text(HTML, "utf-8")
    (tmp_path / "studies" / "visit" / "Keys & locks.md").write_text("# Keys\n\nKeys are with the warden.", "utf-8")
    (tmp_path / "studies" / "list.ris").write_text("TY  - JOUR\nTI  - A\nER  - \n", "utf-8")
    (tmp_path / "site.toml").write_text('[source_kinds]\npage = { label = "page", plural = "pages" }\n', "utf-8")

    corpus = sources.read(tmp_path)

    assert [(s.study_id, s.collection, s.design, s.status) for s in corpus.studies] == [
        ("boats", "pages", "page", "published"), ("visit-Keys-locks", "visit", "page", "published"),
    ]  # fmt: skip
    assert [problem.file for problem in corpus.problems] == ["studies/list.ris"]
    assert [note.file for note in corpus.notes] == ["studies/boats.html"]


def test_pages_of_one_title_and_year_are_told_apart_by_their_words_and_a_page_sent_again_is_the_same() -> None:
    page = "---\ndate: 2024-05-01\n---\n# Opening hours\n\n{}"
    first, again, other = (read(page.format(text)).studies[0] for text in ("Nine to ten.", "Nine to ten.", "Closed."))

    assert (first.year, first.authors) == (2024, ())
    assert first.study_id == again.study_id != other.study_id


def test_a_folder_with_odd_things_in_it_is_read_to_the_end_and_each_is_told(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Secret\n\nNobody should read this.", "utf-8")
    folder, site = tmp_path / "herbs", "name = 'Herbs'\n[facets"
    files = {
        "site.toml": site.encode(), "lexicon/people.toml": b"[lists]", "studies/empty.html": b"",
        "studies/letter.docx": b"PK\x03\x04" + b"\0" * 40, "studies/notes.txt": b"Mint likes shade.",
        "studies/mint_tea.html": b"<html><body><p>" + b"Mint likes shade. " * 20 + b"</p></body></html>",
        "studies/wide.md": "# Thyme\n\nThyme likes sun.".encode("utf-16"), "studies/cut.pdf": b"%PDF-1.4\n" + b"x" * 9_000,
    }  # fmt: skip
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "studies" / "secret.md").symlink_to(outside)
    (folder / "studies" / "lost.md").symlink_to(tmp_path / "nowhere.md")

    corpus = sources.read(folder)

    assert {study.title for study in corpus.studies} == {"mint tea", "Thyme"}
    told = {problem.file: str(problem) for problem in (*corpus.problems, *corpus.notes)}
    for file, words in {
        "site.toml": "is not TOML", "lexicon/people.toml": "populations are facets now. Declare age_group",
        "studies/empty.html": "is empty; fill it", "studies/letter.docx": "Save it as one of these",
        "studies/notes.txt": "headings as Markdown has them", "studies/mint_tea.html": "is called “mint tea”",
        "studies/cut.pdf": "bring in its text as Markdown", "studies/secret.md": "leads out of the folder",
        "studies/lost.md": "a link to a file that is not there",
    }.items():  # fmt: skip
        assert words in told[file], told[file]
    with pytest.raises(sources.Unreadable, match="Put your pages, books and JSON files"):
        sources.read(tmp_path)
