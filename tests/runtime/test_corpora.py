"""A corpus of one's own: its folder is made, found by name, checked, and kept apart from other sites."""

import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import translation

from corpus_app.curation.lexica import set_lexica
from corpus_app.site import Nouns
from inform_site.corpora import data_dir_of, find_corpus
from inform_site.nouns import renamed
from tests.builders import make_study


def test_a_new_corpus_is_sound_and_found_by_name(tmp_path: Path, settings, capsys: pytest.CaptureFixture[str]) -> None:
    settings.BASE_DIR = tmp_path

    call_command("new_corpus", "garden", "--title", "Garden notes")

    folder = tmp_path / "corpora" / "garden"
    assert find_corpus("garden", tmp_path) == folder
    assert 'name = "Garden notes"' in (folder / "site.toml").read_text("utf-8")
    call_command("check_folder", folder)
    assert "Sound sources: 1, with 1 passages; broken: 0" in capsys.readouterr().out
    for name, words in (("garden", "is there already"), ("../x", "cannot be the name"), ("none", "cannot be the name")):
        with pytest.raises(CommandError, match=words):
            call_command("new_corpus", name)


def test_a_folder_with_faults_is_refused_with_all_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "A.json").write_text("{", "utf-8")
    (tmp_path / "site.toml").write_text("nme = 'x'", "utf-8")

    with pytest.raises(CommandError, match="Correct these"):
        call_command("check_folder", tmp_path)

    told = capsys.readouterr().err
    assert "studies/A.json" in told
    assert "site.toml: has no key nme" in told


def test_each_corpus_has_data_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "examples" / "company").mkdir(parents=True)

    folders = [find_corpus(name, tmp_path) for name in ("corpus", "company", "none")]

    assert folders == [tmp_path / "corpus", tmp_path / "examples" / "company", None]
    data, others = tmp_path / ".data", tmp_path / ".data" / "corpora"
    assert [data_dir_of(tmp_path, folder) for folder in folders] == [data, others / "company", others / "none"]
    with pytest.raises(ValueError, match="there are company, corpus, and `make new"):
        find_corpus("nowhere", tmp_path)


@pytest.mark.parametrize(("text", "expected"), [
    ("Studies by year, as a study says.", "Entries by year, as an entry says."),
    ("An answer of “a study” in %(studies)s studies", "An answer of “a study” in %(studies)s entries"),
    ("Put a study-12 into studies/ or /a/study", "Put a study-12 into studies/ or /a/study"),
    ('<a href="/study/">See the cohort study</a>', '<a href="/study/">See the cohort study</a>'),
])  # fmt: skip
def test_a_site_names_what_it_holds_by_its_own_nouns(text: str, expected: str) -> None:
    assert renamed(text, Nouns("entry", "entries")) == expected
    cases = Nouns("case study", "case studies")
    assert renamed(once := renamed(text, cases), cases) == once


@pytest.mark.django_db
def test_pages_use_the_nouns_of_the_site(client: Client) -> None:
    make_study(study_id="A")
    set_lexica({"site": 'nouns = { one = "chapter", many = "chapters" }'}, by=None, by_name="test")

    with translation.override("en"):  # what a request activates ends with this
        english = client.get("/corpus/").content.decode()
        german = client.get("/corpus/", headers={"accept-language": "de"}).content.decode()

    assert "1 published chapter, chosen by curators" in english
    left = re.sub(r"<[^>]*>", "", english.partition("<main")[2])
    assert not [line for line in left.splitlines() if re.search(r"(?i)\bstud(y|ies)\b", line)]
    assert "Quelle" in german
    assert "Studie" not in re.sub(r"<[^>]*>", "", german.partition("<main")[2])
