"""The lab's commands: the words of a lexicon are counted, a corpus folder is asked its own questions."""

import json
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from corpus_app.models import Study
from lab.lexicon_usage import count_usage
from qa_app.models import Answer
from qa_app.pipeline.lexicon import Tables
from tests.builders import run_command
from tests.doubles.model_server import serving
from tests.fakes import WordHashEncoder
from tests.qa.conftest import ASKED
from tests.qa.test_evaluation import write_rows
from tests.qa.test_reader_evaluation import PIZZA, ROOT


def test_it_measures_whether_follow_ups_keep_their_subject(library: None, tmp_path: Path) -> None:
    label = {"set": "first", "kind": "people", "first": ASKED, "gone": [], "lead": ["T-SETS"]}
    rows = [
        {"id": "1", "follow_up": "What about women?", "subject": [["sets"], ["women"]]} | label,
        {"id": "2", "follow_up": "How hot should a sauna be?", "subject": [["sets"]]} | label,
    ]
    out = StringIO()

    call_command("measure", "follow-ups", str(write_rows(tmp_path / "rows.jsonl", *rows)), stdout=out)

    assert "first set (2): subject kept 50%, right lead 50%." in out.getvalue()
    assert not Answer.objects.exists()


def test_it_measures_what_a_model_server_writes(library: None, tmp_path: Path) -> None:
    rows = [
        {"id": f"q-{n}", "question": asked, "mode": "beginner", "kind": "answerable_lay", "collection": None, "relevant": {},
         "answer_points": [], "sections": [], "note": ""}
        for n, asked in enumerate((ASKED, "How hot should a sauna be?"))
    ]  # fmt: skip
    out = StringIO()

    with serving() as double:
        file = str(write_rows(tmp_path / "rows.jsonl", *rows))
        call_command("measure", "writer", double.base_url, file, model="good", n=2, stdout=out)

    for line in ("questions: 2", "answers: 1", "written by the model: 1", "unverified sentences: 0", "over budget: 0"):
        assert f"{line}\n" in out.getvalue()
    assert "median tokens: 2400" in out.getvalue()
    assert not Answer.objects.exists()


TABLES: Tables = {
    "small": {
        "lists": {
            "gain": {"phrases": ["grow*", "{more} muscle"], "except": ["grow up"]},
            "more": {"phrases": ["more", "extra"]},
        },
        "generic": {"words": ["risk", "dose"]}, "nl": {"words": ["het"], "endings": ["heid"]},
        "units": {"g": ["g", "gram"]}, "numerals": {"sixty": 60}, "abbreviations": {"words": ["e.g"]},
        "examples": {"gain": {"catches": "It grew."}},
    },
    "connectives": {"lists": {"qualifies": {"phrases": [". however"]}}},
    "crisis": {"lists": {"harm": {"phrases": ["harm"]}}},
}  # fmt: skip


def hits(*questions: str, passages: tuple[str, ...] = ()) -> dict[str, int]:
    return {entry.text: n for entry, n in count_usage(TABLES, questions, passages).items() if n}


@pytest.mark.parametrize(("question", "entries"), [
    ("When I grow up", {"grow*", "grow up"}), ("extra muscle?", {"extra", "{more} muscle"}),
    ("risks of dosing", {"risk", "dose"}), ("is het een waarheid", {"het", "heid"}),
    ("5g or 9 grams, e.g. at sixty", {"g", "gram", "sixty", "e.g"}), ("however", set()),
])  # fmt: skip
def test_an_entry_counts_where_it_occurs(question: str, entries: set[str]) -> None:
    assert set(hits(question)) == entries


def test_the_command_prints_the_report_and_names_a_bad_line(tmp_path: Path) -> None:
    labels, out = tmp_path / "labels.jsonl", StringIO()
    labels.write_text('{"question": "How many studies are here?"}\n', "utf-8")

    call_command("measure", "lexica", str(labels), stdout=out)

    assert "about_corpus" in out.getvalue()
    labels.write_text("{", "utf-8")
    with pytest.raises(CommandError, match=r"labels\.jsonl, line 1"):
        call_command("measure", "lexica", str(labels))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "other"
    (folder / "studies").mkdir(parents=True)
    studies = sorted((ROOT / "corpus" / "studies").glob("*.json"))[:2]
    used = {name for path in studies for name in json.loads(path.read_text(encoding="utf-8"))["concepts"]}
    graph = json.loads((ROOT / "corpus" / "concepts.json").read_text(encoding="utf-8"))
    few = [concept for concept in graph["concepts"] if concept["id"] in used]
    (folder / "concepts.json").write_text(json.dumps(graph | {"concepts": few, "relations": []}), encoding="utf-8")
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

    text = run_command("measure", "corpus", str(folder), "--json", str(tmp_path / "report.json"))

    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert "right_retrieved_first      1 of 1" in text
    assert report["figures"]["far_refused"] == {"value": 1.0, "n": 1, "count": 1}
    assert (connection.settings_dict["NAME"], Study.objects.count()) == (live, 0)

    for path in (folder / "studies").glob("*.json"):
        path.write_text("{", encoding="utf-8")
    with pytest.raises(CommandError, match=r"Problems: .*check_folder .*other` lists the faults"):
        run_command("measure", "corpus", str(folder))
