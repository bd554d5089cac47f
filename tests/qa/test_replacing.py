"""Another corpus takes the place of the present one, in one act; stored answers keep their words."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from corpus_app import curation, search, sources
from corpus_app.models import Concept, CorpusEvent, CorpusVersion, Study
from qa_app.answers import asking
from qa_app.models import CorpusCalibration, GoldenQuestion
from tests.qa.conftest import ASKED, DRAFT

GARDEN = Path(__file__).parents[2] / "examples/garden"


def find(words: str) -> set[str]:
    """Return the first letters of the studies that a search finds."""
    hits = search.find(words, None, collection=None, limit=20).hits
    return {passage.study.study_id[0] for passage in search.load_passages([hit.passage_id for hit in hits])}


def test_another_corpus_comes_in_one_act_and_the_former_comes_back(
    library: tuple[str, ...], client: Client, tmp_path: Path
) -> None:
    curation.withdraw(["T-PROTEIN"], by=None, by_name="tests", reason="Its words may not be shown.")
    call_command("export_corpus", tmp_path / "former", verbosity=0)
    answer, concepts = asking.ask(question=ASKED), set(Concept.objects.values_list("pk", flat=True))
    golden = {"question": ASKED, "mode": "beginner"}
    GoldenQuestion.objects.create(key="g-1", kind="lay", relevant={"T-SETS": 2}, **golden)
    GoldenQuestion.objects.create(key="g-2", kind="safety", **golden)
    CorpusCalibration.objects.create(corpus_version=1, passages=9, models_version="", questions=99, auroc=1, figures={})
    versions = CorpusVersion.objects.count()
    site_file = hashlib.sha256((tmp_path / "former/site.toml").read_bytes()).hexdigest()[:16]
    assert answer["site_hash"] == site_file
    assert site_file in client.get(answer["url"]).content.decode()

    call_command("replace_corpus", GARDEN, yes=True, verbosity=0)

    assert CorpusVersion.objects.count() == versions + 1
    former = dict(Study.objects.filter(study_id__startswith="T").values_list("study_id", "status"))
    assert former == {"T-SETS": "archived", "T-PROTEIN": "withdrawn", DRAFT: "archived"}
    assert not concepts & set(Concept.objects.values_list("pk", flat=True))
    assert search.site().texts.name != "InForm"
    assert {c.slug for c in search.collections()} == set(Study.objects.published().values_list("collection", flat=True))
    assert find("weekly sets for broad beans") == {"G"}
    assert asking.ask(question=ASKED)["site_hash"] not in {None, site_file}
    assert [question.is_active for question in GoldenQuestion.objects.order_by("key")] == [False, True]
    assert CorpusCalibration.newest() is None
    again = asking.find_answer(answer["id"])
    assert again is not None
    assert again["answer"] == answer["answer"]
    assert [(row["title"], row["status"]) for row in again["citations"]] == [
        (answer["citations"][0]["title"], "archived")
    ]
    assert {row["kind"] for row in again["notices"]} == {"archived", "newer_corpus"}
    for address in (answer["url"], "/studies/T-SETS/"):
        assert "no longer part of the corpus" in client.get(address).content.decode()
    for address in ("/api/v1/studies/T-SETS", "/studies/T-PROTEIN/"):
        assert client.get(address).status_code == 404

    call_command("replace_corpus", tmp_path / "former", yes=True, verbosity=0)

    assert set(Concept.objects.values_list("pk", flat=True)) == concepts
    former = dict(Study.objects.filter(study_id__startswith="T").values_list("study_id", "status"))
    assert former == {"T-SETS": "published", "T-PROTEIN": "withdrawn", DRAFT: "draft"}
    assert asking.ask(question=ASKED)["answer"] == answer["answer"]
    events = CorpusEvent.objects.count()
    call_command("replace_corpus", tmp_path / "former", yes=True, verbosity=0)
    assert CorpusEvent.objects.count() == events


def test_nothing_changes_before_the_folder_is_sound_confirmed_and_in_whole(
    library: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "garden"
    shutil.copytree(GARDEN, folder)
    before = (CorpusEvent.objects.count(), CorpusVersion.objects.count())

    call_command("replace_corpus", folder, dry_run=True)
    assert "Archived would be 3 sources and removed 2 concepts" in capsys.readouterr().out
    with pytest.raises(CommandError, match="go on with --yes"):
        call_command("replace_corpus", folder)
    study = json.loads((folder / "studies/G01.json").read_text("utf-8"))
    (folder / "studies/G01.json").write_text(json.dumps(study | {"design": "novel"}), "utf-8")
    (folder / "site.toml").write_text("nme = 'x'", "utf-8")
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("replace_corpus", folder, yes=True)
    errors = capsys.readouterr().err
    assert "has no key nme" in errors
    assert "G01.json" in errors

    def stop(done: int, total: int) -> None:
        if done == total // 2:
            raise KeyboardInterrupt

    garden = sources.read(GARDEN)
    with pytest.raises(KeyboardInterrupt):
        curation.replace_corpus(garden, name="garden", by=None, by_name="tests", on_progress=stop)
    assert (CorpusEvent.objects.count(), CorpusVersion.objects.count()) == before
    assert find("weekly sets muscle") == {"T"}
    curation.replace_corpus(garden, name="garden", by=None, by_name="tests")
    assert find("weekly sets for broad beans") == {"G"}
