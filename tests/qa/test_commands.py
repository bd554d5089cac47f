"""`ask` and `evaluate` in the terminal."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError

from corpus_app import curation
from qa_app.answers import asking
from qa_app.models import Answer
from tests.builders import run_command
from tests.qa.conftest import ASKED, PLAIN_SETS
from tests.qa.test_evaluation import ROW, write_rows

pytestmark = pytest.mark.usefixtures("library")


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_ask_prints_answer_sources_confidence_and_address() -> None:
    text = run_command("ask", ASKED)

    answer = Answer.objects.get()
    assert f"Answered, from 1 study.\n\n{PLAIN_SETS} [1]\n\nIn short\n" in text
    assert f"Example and Sample (randomised trial, 2020): {PLAIN_SETS[:-1]} [1]." in " ".join(text.split())
    assert "Few sets still build muscle [1].\n\nSources\n  [1]" in text
    assert "[1] Example AB et al. 2020. Weekly sets and muscle growth" in text
    assert "Fits the question: " in text
    assert f"/answers/{answer.pk}/" in text


def test_ask_says_the_nouns_of_the_site() -> None:
    curation.set_lexica({"site": 'nouns = { one = "entry", many = "entries" }'}, by=None, by_name="tests")

    assert "Answered, from 1 entry." in run_command("ask", ASKED)
    assert "No answer in these entries.\n\nThe entries here" in run_command("ask", "does a sauna cure gout?")


def test_ask_does_not_say_the_same_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = asking.ask(question=ASKED)
    said = payload["summary"]["sentences"]
    monkeypatch.setattr(asking, "ask", lambda **_: payload)

    for sentences, is_more in ((said, False), ([*said, {**said[0], "text": "Another finding."}], True)):
        payload["answer"]["sentences"] = sentences
        assert ("In detail" in run_command("ask", ASKED)) is is_more


def test_ask_says_why_there_is_no_answer_and_shows_the_nearest_passages() -> None:
    text = run_command("ask", "does a sauna cure gout?")

    assert "No answer in these studies.\n\nThe studies here do not answer this question." in text
    assert "Nearest passages (not an answer)" in text
    assert "Fits the question" not in text
    declined = run_command("ask", "I get chest pain when I lift, should I go on?")
    assert "emergency number" in declined
    assert "Nearest passages" not in declined


def test_ask_refuses_in_one_sentence() -> None:
    for arguments, reason in (
        ([""], "Please type a question."),
        (["x" * 2_001], "longer than 2,000 characters"),
        (["\udcff sets"], "not text"),
        ([ASKED, "--preset", "magic"], "There is no preset 'magic'"),
        ([ASKED, "--mode", "expert"], "Choose a mode: beginner or intermediate."),
        ([ASKED, "--collection", "magic"], "There is no such collection. Choose one of nutrition, training, or none."),
    ):
        with pytest.raises(CommandError, match=reason) as refused:
            run_command("ask", *arguments)
        assert refused.value.returncode == 1


def test_ask_lets_no_control_character_reach_the_terminal() -> None:
    text = run_command("ask", f"{ASKED} \x1b]0;owned\x07\x1b[31m \u202e\x9b2J")

    assert not [char for char in text if not char.isprintable() and char != "\n"]
    assert "owned" in text


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    pizza = {"id": "q-2", "question": "What is the best pizza in Naples?", "kind": "unanswerable_far", "relevant": {}}
    return write_rows(tmp_path / "golden.jsonl", ROW, ROW | pizza)


def test_evaluate_prints_its_measures_and_writes_them(golden: Path, tmp_path: Path) -> None:
    text = run_command("evaluate", "golden", str(golden), "--json", str(tmp_path / "figures.json"))

    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert figures["by_kind"]["answerable_lay"]["ndcg@10"] == 1.0
    assert figures["unsupported sentences"] == 0
    assert "Of 1 answers, 100.0% cite a main study" in text
    assert "\nanswerable_lay          1    1.000" in text
    assert "\n  refused near          none asked\n" in text
    assert not Answer.objects.exists()


def test_evaluate_fails_when_a_figure_is_worse(golden: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    options = ("--preset", "seed-004", "--set", "distance_gate=2")
    run_command("evaluate", "golden", str(golden), *options, "--json", str(baseline))
    assert json.loads(baseline.read_text())["policy"].startswith("seed-004-")
    assert "No figure is worse" in run_command("evaluate", "golden", str(golden), *options, "--baseline", str(baseline))
    write_rows(golden, ROW | {"relevant": {"T-PROTEIN": 2}})

    with pytest.raises(CommandError, match="Worse than the baseline:\nby_kind / answerable_lay / ndcg@10: ") as failed:
        run_command("evaluate", "golden", str(golden), *options, "--baseline", str(baseline))

    assert failed.value.returncode == 1


def test_evaluate_names_what_it_cannot_read(golden: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    command = ("evaluate", "golden", str(golden), "--baseline", str(baseline))
    with pytest.raises(CommandError, match=r"baseline\.json"):
        run_command(*command)
    baseline.write_text("{", encoding="utf-8")
    with pytest.raises(CommandError, match=r"baseline\.json"):
        run_command(*command)
    for content in ("{", '{"id": 1}'):
        golden.write_text(content, encoding="utf-8")
        with pytest.raises(CommandError, match=r"golden\.jsonl:1: "):
            run_command("evaluate", "golden", str(golden))
    golden.unlink()
    with pytest.raises(CommandError, match=r"golden\.jsonl"):
        run_command("evaluate", "golden", str(golden))
