"""Answers as files: other programs read them, withdrawn studies leave them, no title becomes markup or a formula."""

import csv
import io
import json
from typing import Any

import bibtexparser
import jsonschema
import pytest
import rispy
from django.http import HttpResponse
from django.test import Client
from markdown_it import MarkdownIt

from corpus_app import curation
from corpus_app.models import Finding, Study
from corpus_app.sources.values import bare_cell
from qa_app.answers import asking, evidence_table, exporting
from tests.builders import make_finding
from tests.qa.conftest import ASKED, PLAIN_SETS, SETS, UNANSWERED
from tests.qa.csl import CSL
from tests.qa.payloads import make_payload, make_sentence

pytestmark = pytest.mark.usefixtures("library")

HOSTILE = (
    '=HYPERLINK("http://evil.example","x")', "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "[click](javascript:alert(1)) ![x](http://evil.example/x.png) <http://evil.example>",
    "www.evil.example and https://evil.example and mail@evil.example", r"50 % of {all} \input{x} $x_1^2$ ~ \\ & #",
    "TY  - JOUR", "```\n# Heading\n- item\n1. one\n---\n| a | b |", "“Ünïcode” 💪 \u202eright to left, it's",
)  # fmt: skip


def ask() -> dict[str, Any]:
    return asking.ask(question=ASKED)


def fetch(answer: dict[str, Any], suffix: str) -> HttpResponse:
    response = Client().get(f"/answers/{answer['id']}/export/{suffix}")
    assert response.status_code == 200
    return response


def text(answer: dict[str, Any], suffix: str) -> str:
    return fetch(answer, suffix).content.decode()


def table(answer: dict[str, Any]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(fetch(answer, "csv").content.decode("utf-8-sig"), newline="")))


def titles(answer: dict[str, Any]) -> dict[str, list[str]]:
    """The titles that each program reads."""
    return {
        "ris": [entry["title"] for entry in rispy.loads(text(answer, "ris"))],
        "bib": [entry["title"] for entry in bibtexparser.parse_string(text(answer, "bib")).entries],
        "csl": [entry["title"] for entry in json.loads(text(answer, "csl.json"))],
        "csv": [row["title"] for row in table(answer)],
    }


def withdraw(*study_ids: str) -> None:
    curation.withdraw(study_ids, reason="A secret reason.", by=None, by_name="tests")


def test_each_file_has_its_type_and_a_safe_name(client: Client) -> None:
    answer = ask()
    kinds = {
        "ris": "application/x-research-info-systems; charset=utf-8",
        "bib": "application/x-bibtex; charset=utf-8",
        "csl.json": "application/vnd.citationstyles.csl+json",
        "md": "text/markdown; charset=utf-8",
        "csv": "text/csv; charset=utf-8",
    }

    for suffix, kind in kinds.items():
        response = fetch(answer, suffix)
        assert response["Content-Type"] == kind
        assert response["Content-Disposition"] == f'attachment; filename="inform-{answer["id"]}.{suffix}"'
        assert response["X-Content-Type-Options"] == "nosniff"
        assert "no-cache" in response["Cache-Control"]
        assert response.content == fetch(answer, suffix).content
    for path in (f"{answer['id']}/export/pdf", "nobody/export/ris", "nobody/export/moon", "a%0d%0ab/export/ris"):
        assert client.get(f"/answers/{path}").status_code == 404
    assert client.post(f"/answers/{answer['id']}/export/ris").status_code == 405


def test_reference_managers_read_the_sources_cited() -> None:
    answer = ask()
    (cited,) = answer["citations"]

    (ris,) = rispy.loads(text(answer, "ris"))
    (bib,) = bibtexparser.parse_string(text(answer, "bib")).entries
    csl = json.loads(text(answer, "csl.json"))

    assert (ris["title"], ris["doi"], ris["year"]) == (cited["title"], cited["doi"], str(cited["year"]))
    assert (bib["title"], bib["doi"], bib["year"]) == (f"{{{cited['title']}}}", cited["doi"], str(cited["year"]))
    jsonschema.validate(csl, CSL)
    assert [(entry["title"], entry["DOI"]) for entry in csl] == [(cited["title"], cited["doi"])]


def test_the_table_holds_the_findings_of_the_studies_cited() -> None:
    study = Study.objects.get(study_id="T-SETS")
    study.n_participants = 34
    study.save()
    make_finding(study, statement="-5 kg of fat", direction="decrease")
    answer = ask()

    first, second = table(answer)

    assert (first["study_id"], first["number"], first["participants"]) == ("T-SETS", "1", "34")
    assert first["finding"] == "Ten weekly sets per muscle increased growth more than five."
    assert first["direction"] == "favours_intervention"
    assert (second["finding"], bare_cell(second["finding"])) == ("'-5 kg of fat", "-5 kg of fat")
    Finding.objects.all().delete()
    (row,) = evidence_table.rows(answer)
    assert (row.index, row.study.study_id, row.finding) == (1, "T-SETS", None)


def test_markdown_says_all_that_the_page_says() -> None:
    answer = ask()
    (cited,) = answer["citations"]

    written = text(answer, "md")

    assert written.startswith(f"# {ASKED}\n\n**Answered.**\n")
    first, second = SETS.split(". ")
    assert f"\n\n{PLAIN_SETS} [1]\n\n## Answer\n\n" in written
    assert f"*Example and Sample (randomised trial, 2020):* {first}. [1] {second} [1]" in written
    assert f"1. Example AB, Sample CD (2020). {cited['title']}. *Journal of Examples*." in written
    assert f"<https://doi.org/{cited['doi']}>" in written
    assert f"{answer['confidence']['score']} of 100" in written
    assert f"corpus version {answer['corpus_version']}," in written
    assert answer["created_at"][:10] in written
    assert f"<http://testserver{answer['url']}>" in written


def test_a_refusal_is_a_file_without_sources() -> None:
    answer = asking.ask(question=UNANSWERED)

    written = text(answer, "md")

    assert "**No answer in these studies.**" in written
    assert "## " not in written
    assert (text(answer, "ris"), text(answer, "bib"), json.loads(text(answer, "csl.json"))) == ("", "", [])
    assert table(answer) == []


def test_nothing_of_a_withdrawn_study_is_in_any_file() -> None:
    make_finding(Study.objects.get(study_id="T-SETS"), statement="A finding of the withdrawn.")
    answer = ask()
    (cited,) = answer["citations"]
    withdraw("T-SETS")

    files = {suffix: text(answer, suffix) for suffix in exporting.BY_SUFFIX}

    secrets = (cited["title"], cited["doi"], "T-SETS", "increased growth", "finding of the withdrawn", "secret reason")
    assert not [(suffix, word) for suffix, file in files.items() for word in secrets if word in file]
    assert "**A source was withdrawn" in files["md"]
    assert "1. A source was withdrawn." in files["md"]
    assert "Was " in files["md"]


def test_a_retraction_is_noted_in_every_file() -> None:
    answer = ask()
    curation.set_notice(["T-SETS"], "retracted", reason="A secret reason.", by=None, by_name="tests")

    files = {suffix: text(answer, suffix) for suffix in exporting.BY_SUFFIX}

    assert all("retracted" in file.lower() for file in files.values())
    assert not any("secret" in file for file in files.values())
    jsonschema.validate(json.loads(files["csl.json"]), CSL)
    assert rispy.loads(files["ris"])[0]["notes"] == ["Retracted."]


def test_any_title_is_read_as_it_is() -> None:
    answer = ask()

    for title in HOSTILE:
        one_line = " ".join(title.split())
        Study.objects.filter(study_id="T-SETS").update(title=one_line)
        read = titles(answer)
        assert read["ris"] == read["csl"] == [bare_cell(cell) for cell in read["csv"]] == [one_line]
        assert len(read["bib"]) == 1
        assert not read["csv"][0].startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize("words", HOSTILE)
def test_no_words_become_markup(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    payload = make_payload(question=words, message=words)
    payload["citations"][0] |= {"title": words, "journal": words, "population": words, "authors": [words]}
    payload["summary"]["sentences"] = [make_sentence(payload["evidence"][0], "Few sets still build", text=words)]
    payload["notices"] = [{"study_id": "T001", "kind": "corrected", "at": None}]
    monkeypatch.setattr(asking, "find_answer", lambda _: payload)

    made = exporting.export("answer-one", "md", site="https://inform.example/")

    assert made
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(made.content.decode())
    inner = [token for block in tokens for token in (block, *(block.children or ()))]
    links = {token.attrs["href"] for token in inner if token.type == "link_open"}
    assert links == {
        "https://doi.org/10.1000/test.1",
        "https://doi.org/10.1000/test.2",
        "https://inform.example/answers/answer-one/",
    }
    markup = {"html_block", "html_inline", "image", "fence", "table_open", "code_inline"}
    assert not {token.type for token in inner} & markup
    headings = [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings[1:] == ["Summary", "Answer", "Does this answer fit the question?", "Sources"]
    assert sum(token.type == "list_item_open" for token in tokens) == 2
    shown = ["".join(child.content for child in block.children or ()) for block in tokens if block.type == "inline"]
    assert shown[0] == " ".join(words.split())
    written = made.content.decode()
    assert written.count("http") - written.count(r"http\:") - written.count(r"https\:") == 3
