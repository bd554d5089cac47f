"""The files of an answer, as a browser keeps them, read again by the programs that they are for."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import bibtexparser
import jsonschema
import pytest
import rispy
from markdown_it import MarkdownIt
from playwright.sync_api import Browser

from tests.browser.conftest import Watch
from tests.browser.site import Site, payload_of
from tests.qa.csl import CSL


def of_ris(text: str) -> list[str]:
    return [entry["title"] for entry in rispy.loads(text)]


def of_bibtex(text: str) -> list[str]:
    library = bibtexparser.parse_string(text)
    assert library.failed_blocks == []
    return [entry["title"].strip("{}") for entry in library.entries]


def of_csl(text: str) -> list[str]:
    rows = json.loads(text)
    jsonschema.validate(rows, CSL)
    return [row["title"] for row in rows]


def of_csv(text: str) -> list[str]:
    return list(
        dict.fromkeys(row["title"] for row in csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    )


def of_markdown(text: str) -> list[str]:
    """The items of its one numbered list."""
    tokens = MarkdownIt().parse(text)
    kinds = [token.type for token in tokens]
    items = tokens[kinds.index("ordered_list_open") : kinds.index("ordered_list_close")]
    return [token.content for token in items if token.type == "inline"]


FILES: dict[str, tuple[str, Callable[[str], list[str]]]] = {
    "RIS": ("ris", of_ris),
    "BibTeX": ("bib", of_bibtex),
    "CSL-JSON": ("csl.json", of_csl),
    "Markdown": ("md", of_markdown),
    "All findings of the sources as CSV": ("csv", of_csv),
}


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "no script"])
def test_every_file_is_kept_under_its_name_and_read_again(
    site: Site, browser: Browser, watch: Watch, has_script: bool
) -> None:
    context = browser.new_context(java_script_enabled=has_script)
    page = context.new_page()
    watch.attach(page)
    page.goto(site.answer_to(mode="intermediate"))
    cited = payload_of(page)["citations"]
    assert len(cited) > 1

    for name, (suffix, read) in FILES.items():
        with page.expect_download() as caught:
            page.get_by_role("link", name=name, exact=True).click()
        assert caught.value.suggested_filename == f"inform-{payload_of(page)['id']}.{suffix}"
        found = read(Path(caught.value.path()).read_text(encoding="utf-8"))
        assert [title in text for title, text in zip((row["title"] for row in cited), found, strict=True)] == [
            True
        ] * len(cited), name
    context.close()
