"""A corpus folder is asked its own questions in a database of its own."""

import json
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from corpus_app.models import Study
from tests.fakes import WordHashEncoder
from tests.qa.test_evaluation import write_rows
from tests.qa.test_reader_evaluation import PIZZA, ROOT


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("measure", *arguments, stdout=out, no_color=True)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "other"
    (folder / "studies").mkdir(parents=True)
    graph = json.loads((ROOT / "corpus" / "concepts.json").read_text(encoding="utf-8"))
    (folder / "concepts.json").write_text(json.dumps(graph | {"relations": []}), encoding="utf-8")
    studies = sorted((ROOT / "corpus" / "studies").glob("*.json"))[:2]
    for path in studies:
        shutil.copy(path, folder / "studies")
    title = json.loads(studies[0].read_text(encoding="utf-8"))["title"]
    own = {"id": "o-1", "question": title, "expect": "answer", "relevant": {studies[0].stem: 2}}
    write_rows(folder / "questions.jsonl", own, PIZZA)
    return folder


@pytest.mark.django_db(transaction=True)
def test_a_folder_has_its_own_database(folder: Path, encoder: WordHashEncoder, tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    live = connection.settings_dict["NAME"]

    text = run("corpus", str(folder), "--json", str(tmp_path / "report.json"))

    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert "right_retrieved_first      1 of 1" in text
    assert report["figures"]["far_refused"] == {"value": 1.0, "n": 1, "count": 1}
    assert (connection.settings_dict["NAME"], Study.objects.count()) == (live, 0)

    (folder / "studies" / "broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(CommandError, match=r"Problems: 1.*import_corpus .*other --dry-run` lists the faults"):
        run("corpus", str(folder))


def test_a_folder_without_questions_is_named(library: tuple[str, ...], folder: Path) -> None:
    (folder / "questions.jsonl").unlink()

    with pytest.raises(CommandError, match=r"questions\.jsonl"):
        run("corpus", str(folder))
