"""Takeaways, plain sentences, questions of studies and passages, unconfirmed findings, and word lists of the subject."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from corpus_app import curation, indexing, search, sources
from corpus_app.curation.history import restore
from corpus_app.curation.merging import merge
from corpus_app.models import (
    CorpusEvent,
    CorpusLexicon,
    Finding,
    Passage,
    PassageSentence,
    PassageTerm,
    PassageVector,
    Study,
)
from corpus_app.records import Direction, Lean, PassageKind, Section
from corpus_app.sources import FindingDraft, Problem
from tests.builders import make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db

STARTER = Path(__file__).resolve().parents[2] / "corpus"
TAKEAWAY = "Lifting ten sets a week builds more muscle than five."


@pytest.fixture(autouse=True)
def _encoder(encoder: WordHashEncoder) -> None:
    pass


@pytest.fixture
def study() -> Study:
    """A published study with a takeaway and a finding in plain words."""
    study = make_study(study_id="A")
    curation.revise_study("A", by=None, by_name="test", takeaway=TAKEAWAY)
    set_findings(finding())
    return study


def finding(plain: str | None = "More sets built bigger thighs.", **changes: Any) -> FindingDraft:
    fields: dict[str, Any] = {"lean": Lean.YES, "plain": plain} | changes
    return FindingDraft("ten sets", "five sets", "thickness", Direction.INCREASE, "Ten sets increased it.", **fields)


def set_findings(*drafts: FindingDraft) -> None:
    curation.set_findings("A", drafts, by=None, by_name="test")


def plain() -> list[tuple[str, str, int | None, int]]:
    return [
        (passage.text, passage.section.value, passage.finding_id, passage.version)
        for passage in search.plain_passages(["A"])
    ]


# --- Plain sentences ----------------------------------------------------------------------------------------------------


def test_the_takeaway_and_each_plain_sentence_are_passages_of_their_own(study: Study) -> None:
    (row,) = study.findings.all()

    assert plain() == [
        (TAKEAWAY, "conclusion", None, 1),
        ("More sets built bigger thighs.", "results", row.pk, 1),
    ]


def test_new_words_are_a_new_version_of_the_same_plain_passage(study: Study) -> None:
    before = [passage.passage_id for passage in search.plain_passages(["A"])]

    set_findings(finding("More weekly sets built bigger thighs."))

    assert [passage.passage_id for passage in search.plain_passages(["A"])] == before
    assert [version for *_, version in plain()] == [1, 2]


def test_a_plain_sentence_that_is_taken_back_leaves_no_passage(study: Study) -> None:
    set_findings(finding(""))
    curation.revise_study("A", by=None, by_name="test", takeaway="")

    assert plain() == []
    assert not Passage.with_plain.filter(kind=PassageKind.PLAIN).exists()


def test_a_new_title_reaches_the_plain_passages_and_keeps_their_version(study: Study) -> None:
    curation.revise_study("A", by=None, by_name="test", title="Another title")

    assert {(p.heading, p.version) for p in search.plain_passages(["A"])} == {("Another title", 1)}
    indexing.index_stale()
    assert indexing.audit() == []


def test_plain_passages_can_be_loaded_with_their_sentences_and_vectors(study: Study) -> None:
    indexing.index_stale()
    ids = [passage.passage_id for passage in search.plain_passages(["A"])]

    loaded = search.load_passages(ids)

    assert [passage.text[s.start : s.end] for passage in loaded for s in passage.sentences] == [
        text for text, *_ in plain()
    ]
    assert all(sentence.vector is not None for passage in loaded for sentence in passage.sentences)
    assert indexing.audit() == []


def test_plain_passages_are_no_ordinary_ones(study: Study) -> None:
    indexing.index_stale()
    vector = search.encode_question("bigger thighs")

    found = {hit.passage_id for hit in search.find("bigger thighs", vector).hits}

    ids = {passage.passage_id for passage in search.plain_passages(["A"])}
    assert not ids & found
    assert not ids & set(search.passage_ids("A"))
    assert not ids & set(study.passages.values_list("pk", flat=True))
    page = search.find_study("A")
    assert page
    assert not ids & {passage.passage_id for passage in page.passages}
    assert not PassageTerm.objects.filter(passage__in=ids).exists()
    assert PassageVector.objects.filter(passage__in=ids, searchable=False).count() == len(ids)


def test_ordinary_passages_can_be_added_beside_plain_ones(study: Study) -> None:
    added = curation.add_passage("A", by=None, by_name="test", text="Rest helped.", section="results")

    assert added.position == 1
    assert [passage.section for passage in search.plain_passages(["A"])] == [Section.CONCLUSION, Section.RESULTS]


def test_a_study_needs_an_ordinary_passage_to_be_published() -> None:
    curation.create_study(
        "B", by=None, by_name="test", title="B", collection=make_study().collection, design="other", takeaway=TAKEAWAY
    )

    with pytest.raises(curation.NotPublishable, match="no passage"):
        curation.publish(["B"], by=None, by_name="test")


# --- Findings -----------------------------------------------------------------------------------------------------------


def test_a_finding_is_handed_out_with_its_plain_words_and_lean(study: Study) -> None:
    (found,) = search.findings(["A"])

    assert (found.plain, found.lean) == ("More sets built bigger thighs.", Lean.YES)


def test_an_unconfirmed_finding_is_neither_handed_out_nor_quoted(study: Study) -> None:
    set_findings(finding(is_unconfirmed=True))

    assert search.findings(["A"]) == ()
    page = search.find_study("A")
    assert page
    assert page.findings == ()
    assert plain() == [(TAKEAWAY, "conclusion", None, 1)]


def test_plain_words_change_and_the_finding_keeps_its_row(study: Study) -> None:
    (before,) = study.findings.values_list("pk", flat=True)

    set_findings(finding("Other words.", lean=Lean.MIXED))

    row = study.findings.get()
    assert (row.pk, row.plain, row.lean) == (before, "Other words.", "mixed")
    event = CorpusEvent.objects.filter(action="set_findings").first()
    assert event
    assert set(event.detail["changes"]) == {"findings"}


def test_a_source_that_says_nothing_of_plain_words_or_doubts_changes_neither(study: Study) -> None:
    set_findings(finding(is_unconfirmed=True))

    set_findings(finding(None, lean=None))

    row = study.findings.get()
    assert (row.plain, row.lean, row.is_unconfirmed) == ("More sets built bigger thighs.", "yes", True)


def test_what_was_written_before_can_be_put_back(study: Study) -> None:
    set_findings(finding("Other words.", lean=Lean.NO))
    event = CorpusEvent.objects.filter(action="set_findings").first()
    assert event

    restore(event.pk, by=None, by_name="test")  # newest first: it takes back the last

    row = study.findings.get()
    assert (row.plain, row.lean) == ("More sets built bigger thighs.", "yes")


def test_two_records_of_one_study_join_their_questions_and_plain_words(study: Study) -> None:
    set_findings(finding(""))
    make_study(study_id="B", status="draft")
    curation.set_findings("B", [finding()], by=None, by_name="test")
    for name, asked_as in (("A", "Why lift?"), ("B", "Why lift?\nWhy rest?")):
        curation.revise_study(name, by=None, by_name="test", asked_as=asked_as)

    merge("A", "B", by=None, by_name="test", reason="The same.", take=["findings", "asked_as"], passages=[])

    kept = Study.objects.get(study_id="A")
    assert kept.questions == ["Why lift?", "Why rest?"]
    assert [row.plain for row in kept.findings.all()] == ["More sets built bigger thighs."]


# --- Files --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in/studies").mkdir(parents=True)
    shutil.copy(STARTER / "concepts.json", tmp_path / "in")
    shutil.copy(STARTER / "studies/S003.json", tmp_path / "in/studies")
    vocabulary = json.loads((STARTER / "concepts.json").read_text("utf-8"))
    for relation in vocabulary["relations"]:
        relation["studies"] = [name for name in relation["studies"] if name == "S003"]
    (tmp_path / "in/concepts.json").write_text(json.dumps(vocabulary), "utf-8")
    return tmp_path / "in"


def load(folder: Path) -> curation.ImportReport:
    report = curation.import_corpus(sources.read(folder, known=curation.known_ids()), publish=True)
    assert not report.problems
    return report


def test_a_study_file_comes_in_whole(folder: Path) -> None:
    values = json.loads((folder / "studies/S003.json").read_text("utf-8"))

    load(folder)

    study = Study.objects.get(study_id="S003")
    assert study.takeaway == values["takeaway"]
    assert study.questions == values.get("asked_as", [])
    assert [p.questions for p in study.passages.all()] == [p.get("asked_as", []) for p in values["passages"]]
    confirmed = [f for f in values["findings"] if not f.get("unconfirmed")]
    assert len(confirmed) < len(values["findings"])
    found = search.findings(["S003"])
    assert [(f.plain, f.lean) for f in found] == [(f["plain"], f["lean"]) for f in confirmed]
    assert len(search.plain_passages(["S003"])) == 1 + len(confirmed)


def test_questions_of_a_passage_stay_where_a_file_says_nothing_of_them(folder: Path) -> None:
    load(folder)
    path = folder / "studies/S003.json"
    values = json.loads(path.read_text("utf-8"))
    asked = [passage.pop("asked_as", []) for passage in values["passages"]]
    path.write_text(json.dumps(values | {"curator_notes": "Changed."}), "utf-8")

    load(folder)

    assert [p.questions for p in Study.objects.get(study_id="S003").passages.all()] == asked


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"takeaway": 3}, "takeaway"),
        ({"asked_as": "Why?"}, "asked_as"),
        ({"findings": [{"intervention": "a", "outcome": "b", "direction": "mixed", "statement": "c", "lean": "perhaps"}]}, "findings[0].lean"),
        ({"passages": [{"section": "results", "text": "It rose.", "kind": "plain"}]}, "passages[0].kind"),
    ],
)  # fmt: skip
def test_a_file_that_says_it_wrongly_is_refused(folder: Path, changes: dict[str, Any], place: str) -> None:
    values = json.loads((folder / "studies/S003.json").read_text("utf-8"))

    draft, notes = sources.study_from(values | changes)

    assert draft is None
    assert [where for where, _ in notes] == [place]


def test_a_study_without_any_of_it_is_sound(folder: Path) -> None:
    values = json.loads((folder / "studies/S003.json").read_text("utf-8"))
    for row in (values, *values["findings"], *values["passages"]):
        for key in ("takeaway", "plain", "lean", "unconfirmed", "asked_as"):
            row.pop(key, None)

    draft, notes = sources.study_from(values)

    assert notes == []
    assert draft
    assert json.loads(sources.study_json(draft)) == values


# --- Word lists ---------------------------------------------------------------------------------------------------------


def write_lexicon(folder: Path, **texts: str) -> None:
    (folder / "lexicon").mkdir(exist_ok=True)
    for path in (folder / "lexicon").glob("*.toml"):
        path.unlink()
    for name, text in texts.items():
        (folder / f"lexicon/{name}.toml").write_text(text, "utf-8")


def test_word_lists_come_in_with_a_new_version_and_go_out_as_they_were(folder: Path, tmp_path: Path) -> None:
    write_lexicon(folder, people='women = ["girls"]\n', lay="[words]\nbiceps = 'arms'\n")
    load(folder)
    version = search.corpus_version()
    assert search.lexicons() == {"people": {"women": ["girls"]}, "lay": {"words": {"biceps": "arms"}}}

    write_lexicon(folder, people='women = ["girls", "ladies"]\n')
    load(folder)

    assert search.corpus_version() == version + 1
    assert search.lexicons() == {"people": {"women": ["girls", "ladies"]}}
    call_command("export_corpus", tmp_path / "out")
    assert (tmp_path / "out/lexicon/people.toml").read_text("utf-8") == 'women = ["girls", "ladies"]\n'
    load(folder)
    assert search.corpus_version() == version + 1


def test_a_folder_without_word_lists_leaves_those_that_are_there(folder: Path) -> None:
    CorpusLexicon.objects.create(name="people", content="")

    load(folder)

    assert CorpusLexicon.objects.count() == 1


def test_a_word_list_that_is_no_toml_is_named_with_its_line(folder: Path) -> None:
    write_lexicon(folder, people="a = 1\nb = [\n", lay="c = 1\n")

    corpus = sources.read(folder)

    (problem,) = corpus.problems
    assert isinstance(problem, Problem)
    assert problem.file == "lexicon/people.toml"
    assert "is not TOML" in problem.reason
    with pytest.raises(CommandError):
        call_command("import_corpus", folder, publish=True)
    assert not CorpusLexicon.objects.exists()


# --- Derived columns ----------------------------------------------------------------------------------------------------


def test_what_is_known_of_a_sentence_comes_with_it_and_stays_when_it_is_embedded() -> None:
    study = make_study(texts=("It rose.",))
    PassageSentence.objects.filter(passage__study=study).update(role="result", self_containedness=0.25)

    indexing.index_stale()

    (passage,) = search.load_passages(search.passage_ids(study.study_id))
    assert [(s.role, s.self_containedness) for s in passage.sentences] == [("result", 0.25)]
    assert Finding.objects.count() == 0
