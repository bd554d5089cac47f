import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from corpus_app import curation, sources
from corpus_app.models import (
    Collection,
    Concept,
    ConceptRelation,
    CorpusEvent,
    CorpusVersion,
    Passage,
    PassageTerm,
    Study,
)
from tests.builders import make_collection, make_concept, make_curator, make_study

pytestmark = pytest.mark.django_db

STARTER = Path(__file__).resolve().parents[2] / "corpus"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three studies of the starter corpus, a draft among them, with their concepts alone."""
    (tmp_path / "in/studies").mkdir(parents=True)
    names, named = ("S001", "S002", "S003"), set()
    for name in names:
        values = json.loads((STARTER / f"studies/{name}.json").read_text(encoding="utf-8"))
        named.update(values["concepts"])
        shutil.copy(STARTER / f"studies/{name}.json", tmp_path / "in/studies")
    change(tmp_path / "in/studies/S003.json", status="draft", status_reason="not checked yet")
    vocabulary = json.loads((STARTER / "concepts.json").read_text(encoding="utf-8"))
    vocabulary["concepts"] = [concept for concept in vocabulary["concepts"] if concept["id"] in named]
    vocabulary["relations"] = [
        relation | {"studies": [name for name in relation["studies"] if name in names]}
        for relation in vocabulary["relations"]
        if {relation["source"], relation["target"]} <= named
    ]
    write(tmp_path / "in/concepts.json", vocabulary)
    return tmp_path / "in"


def write(path: Path, values: Any) -> None:
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def change(path: Path, **changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) | changes
    write(path, values)
    return values


def load(folder: Path, **options: Any) -> curation.ImportReport:
    return curation.import_corpus(sources.read(folder, known=curation.known_ids()), **options)


def counts(report: curation.ImportReport) -> tuple[int, int, int, int, int]:
    return (report.created, report.updated, report.unchanged, report.broken, report.published)


def run(*args: Any, **options: Any) -> tuple[str, str, int]:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(*args, stdout=out, stderr=err, **options)
    except CommandError as error:
        return out.getvalue(), err.getvalue(), error.returncode
    return out.getvalue(), err.getvalue(), 0


def test_studies_and_word_lists_make_the_round_trip_byte_for_byte(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(STARTER / "lexicon", folder / "lexicon")
    shutil.copy(STARTER / "site.toml", folder)

    out, err, status = run("import_corpus", folder, publish=True)
    run("export_corpus", tmp_path / "out")

    assert (err, status) == ("", 0)
    assert "3 new, 0 changed, 0 unchanged, 0 broken" in out
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    written = {path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert written == files | {Path("studies_master.csv")}
    kept = [name for name in files if name.suffix == ".toml" or name.stem in {"S001", "S002"}]
    assert [name for name in kept if (tmp_path / "out" / name).read_bytes() != (STARTER / name).read_bytes()] == []
    assert "0 new, 0 changed, 3 unchanged, 0 broken" in run("import_corpus", tmp_path / "out")[0]


def test_an_import_makes_drafts_and_publishes_only_where_asked(folder: Path) -> None:
    assert counts(load(folder, publish=True, dry_run=True)) == (3, 0, 0, 0, 2)
    assert not any(model.objects.exists() for model in (Study, Concept, CorpusEvent))

    assert counts(load(folder)) == (3, 0, 0, 0, 0)
    assert set(Study.objects.values_list("status", flat=True)) == {"draft"}
    assert not PassageTerm.objects.exists()
    assert Study.objects.get(study_id="S001").status_reason
    before = CorpusVersion.objects.count()

    assert counts(load(folder, publish=True)) == (0, 0, 3, 0, 2)
    assert list(Study.objects.published().values_list("study_id", flat=True)) == ["S001", "S002"]
    assert CorpusVersion.objects.count() == before + 1
    assert CorpusEvent.objects.filter(action="publish").values("corpus_version").distinct().count() == 1
    curation.revise_study("S001", by=make_curator(), title="Corrected at the desk")
    events, versions = CorpusEvent.objects.count(), CorpusVersion.objects.count()

    report = load(folder, publish=True)
    assert counts(report) == (0, 0, 3, 0, 0)
    assert (report.concepts, report.notes, report.problems) == (0, (), ())
    assert (CorpusEvent.objects.count(), CorpusVersion.objects.count()) == (events, versions)
    assert Study.objects.get(study_id="S001").title == "Corrected at the desk"


def test_changed_file_of_a_published_study_changes_it_in_place(folder: Path) -> None:
    load(folder, publish=True)
    before = list(Passage.objects.filter(study__study_id="S001").values_list("pk", "text"))
    passages = json.loads((folder / "studies/S001.json").read_text(encoding="utf-8"))["passages"]
    passages[2]["text"] = "Creatine was never part of this review of tempo."
    inserted = {"section": "background", "text": "Lifters have argued about tempo for decades."}
    change(folder / "studies/S001.json", passages=[passages[0], inserted, *passages[1:]], title="A new title")

    report = load(folder)

    assert counts(report) == (0, 1, 2, 0, 0)
    study = Study.objects.get(study_id="S001")
    after = list(study.passages.values_list("pk", "text", "version"))
    assert (study.status, study.title) == ("published", "A new title")
    assert after[0] == (before[0][0], before[0][1], 1)
    assert after[1][1] == inserted["text"]
    assert after[3] == (before[2][0], passages[2]["text"], 2)
    assert [row[0] for row in after if row[1] != inserted["text"]] == [row[0] for row in before]
    assert PassageTerm.objects.filter(passage=before[2][0], lexeme="creatin").exists()


def test_a_changed_file_replaces_edits_and_reports_it(folder: Path) -> None:
    load(folder, publish=True)
    curation.revise_study("S001", by=make_curator(), title="Corrected at the desk")
    change(folder / "studies/S001.json", year=2016)

    report = load(folder)

    assert report.updated == 1
    assert "S001" in report.notes[0]
    event = CorpusEvent.objects.filter(action="import_changes").first()
    assert event
    assert event.detail["changes"]["title"]["before"] == "Corrected at the desk"


def test_an_import_withdraws_but_does_not_publish_what_was_withdrawn(folder: Path) -> None:
    load(folder, publish=True)
    curation.withdraw(["S001"], by=make_curator(), reason="Fabricated.")
    change(folder / "studies/S001.json", year=2016)
    change(folder / "studies/S002.json", status="withdrawn", status_reason="Made up.")

    report = load(folder, publish=True)

    study = Study.objects.get(study_id="S001")
    assert (study.status, study.status_reason, study.year) == ("withdrawn", "Fabricated.", 2016)
    assert any("was withdrawn at the desk" in note for note in report.notes)
    assert Study.objects.get(study_id="S002").status == "withdrawn"
    assert not PassageTerm.objects.exists()


def test_import_keeps_a_notice_and_sets_one(folder: Path) -> None:
    load(folder, publish=True)
    curation.set_notice(["S001"], "corrected", by=make_curator(), reason="Table 2.")
    change(folder / "studies/S001.json", year=2016)
    change(folder / "studies/S002.json", notice="retracted", notice_reason="By the journal.")

    load(folder)

    assert Study.objects.get(study_id="S001").notice == "corrected"
    retracted = Study.objects.get(study_id="S002")
    assert (retracted.notice, retracted.notice_reason) == ("retracted", "By the journal.")
    assert retracted.state_changed_at is not None
    assert not PassageTerm.objects.filter(passage__study=retracted).exists()


def test_doi_of_another_study_in_the_corpus_is_a_problem(folder: Path) -> None:
    doi = json.loads((folder / "studies/S001.json").read_text(encoding="utf-8"))["doi"]
    make_study(study_id="X001", doi=doi)

    report = load(folder)

    assert counts(report) == (2, 0, 0, 1, 0)
    assert report.problems[0].file == "studies/S001.json"
    assert "is the DOI of X001 in the corpus" in report.problems[0].reason


def test_changed_concepts_are_changed_and_desk_made_ones_stay(folder: Path) -> None:
    load(folder)
    make_concept("made-here", aliases=("our own word",))
    values = json.loads((folder / "concepts.json").read_text(encoding="utf-8"))
    moved = values["concepts"][0]["aliases"].pop()
    values["concepts"][1]["aliases"].append(moved)
    values["concepts"][2]["aliases"].append("Our own word")
    write(folder / "concepts.json", values)

    report = load(folder)

    first, second = (Concept.objects.get(pk=values["concepts"][index]["id"]) for index in (0, 1))
    assert not first.aliases.filter(name=moved).exists()
    assert second.aliases.filter(name=moved).exists()
    assert Concept.objects.get(pk="made-here").aliases.get().name == "our own word"
    assert [problem.reason for problem in report.problems] == [
        "our own word is an alias of made-here in the corpus already, and stays there."
    ]


def test_relation_gets_its_studies_when_they_come_later(folder: Path) -> None:
    late = folder / "studies/S002.json"
    content = late.read_bytes()
    late.write_text("{", encoding="utf-8")
    load(folder)
    missing = ConceptRelation.objects.filter(studies__study_id="S002").count()

    late.write_bytes(content)
    load(folder)

    assert missing == 0
    assert ConceptRelation.objects.filter(studies__study_id="S002").exists()


def test_master_alone_makes_studies_without_passages_that_wait(tmp_path: Path) -> None:
    lines = (STARTER / "studies_master.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "studies_master.csv").write_text("".join(lines[:9]), encoding="utf-8")

    report = load(tmp_path / "studies_master.csv", publish=True)

    assert counts(report) == (8, 0, 0, 0, 0)
    assert not Passage.objects.exists()
    assert len(report.problems) == 8
    assert all("has no passages yet" in problem.reason for problem in report.problems)


def test_master_alone_changes_what_it_states_and_leaves_the_rest(folder: Path, tmp_path: Path) -> None:
    load(folder, publish=True)
    draft = next(draft for draft in sources.read(folder).studies if draft.study_id == "S001")
    row = sources.master_csv([draft]).replace(b",2015,", b",2016,")
    (tmp_path / "studies_master.csv").write_bytes(row)

    report = load(tmp_path / "studies_master.csv")
    again = load(tmp_path / "studies_master.csv")

    study = Study.objects.get(study_id="S001")
    assert counts(report) == (0, 1, 0, 0, 0)
    assert counts(again) == (0, 0, 1, 0, 0)
    assert (study.year, study.status) == (2016, "published")
    assert study.population
    assert study.passages.count() == len(draft.passages)
    assert study.findings.count() == len(draft.findings)


def test_the_command_acts_for_a_user_and_names_each_problem(folder: Path) -> None:
    with pytest.raises(CommandError, match="There is no user 'nobody'"):
        call_command("import_corpus", folder, by="nobody")
    with pytest.raises(CommandError, match="Put your pages, books"):
        call_command("import_corpus", folder.parent)
    assert not Study.objects.exists()
    curator = make_curator("ada")

    out, _, _ = run("import_corpus", folder, by="ada")
    assert "2 sources are ready to be published: repeat with --publish." in out
    assert set(CorpusEvent.objects.values_list("actor", "actor_name")) == {(curator.pk, "ada")}

    change(folder / "studies/S002.json", year="soon", status="unknown")
    out, err, status = run("import_corpus", str(folder), publish=True)
    assert status == 1
    assert [line.split(" ", 1)[1] for line in err.splitlines()] == [
        "year: is text; it should be a whole number.",
        "status: is unknown; it should be one of draft, in_review, published, withdrawn, archived.",
    ]
    assert err.startswith("studies/S002.json:")
    assert "0 new, 0 changed, 2 unchanged, 1 broken; 1 published." in out


def test_export_refuses_a_folder_that_is_not_empty(tmp_path: Path) -> None:
    make_study()
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(CommandError, match="--force"):
        call_command("export_corpus", tmp_path)
    run("export_corpus", tmp_path, force=True)

    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "studies_master.csv").exists()
    assert not list(tmp_path.rglob(".*"))


def test_export_of_every_status_can_be_imported_again(tmp_path: Path) -> None:
    by = make_curator()
    make_collection(description="What is trained", keywords=["sets"])
    make_study(study_id="A1", concepts=(make_concept(aliases=("get bigger",)),), authors=["Ø Ærlig", "李 W"])
    make_study(study_id="A2")
    curation.withdraw(["A2"], by=by, reason="why")
    make_study(study_id="A3", status="draft", doi=None, journal=None, year=None)
    make_study(study_id="A4", status="in_review", pmid="123", licence="CC BY 4.0", duration_weeks_min=6.5)
    curation.set_notice(["A4"], "expression_of_concern", by=by, reason="Under inquiry.")
    passage = Passage.objects.get(study__study_id="A4")
    curation.revise_passage(passage.pk, by=by, kind="excerpt", page=3)

    run("export_corpus", tmp_path / "one")
    for model in (Study, Concept, Collection, CorpusEvent):
        model.objects.all().delete()
    _, err, status = run("import_corpus", tmp_path / "one", publish=True)
    run("export_corpus", tmp_path / "two")

    assert (err, status) == ("", 0)
    for path in (tmp_path / "one").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes(), path
    assert dict(Study.objects.values_list("study_id", "status")) == {
        "A1": "published", "A2": "withdrawn", "A3": "draft", "A4": "in_review",
    }  # fmt: skip
