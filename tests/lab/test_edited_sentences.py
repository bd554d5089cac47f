"""Edited sentences: drawn the same from the same seed, edited as they say, and judged by what leaves."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from corpus_app.records import Passage
from lab import edited_sentences
from qa_app.pipeline.verification import verify
from tests.pipeline.values import make_passage

TEXTS = (
    "In a trial of 40 older men, heavy loads (80% of 1RM) raised leg strength by 12 to 15% after 12 weeks. "
    "However, the placebo group did not gain more than 2 kg in the first month. "
    "The authors concluded that strength fell in women without training at least 3 days per week.",
    "Among 25 trained women, light loads lowered body fat by 1.5 kg (P < 0.05) over 8 weeks of training. "
    "No change was seen in the control group, and protein intake was higher by 10 to 20 g per day in men. "
    "Overall, creatine increased lean mass in patients with cancer, but it was not better than whey in athletes.",
)


def passages() -> tuple[Passage, ...]:
    return tuple(make_passage(text, study=f"T{n}") for n, text in enumerate(TEXTS))


def test_every_kind_is_made_and_the_same_seed_draws_the_same() -> None:
    made = passages()

    first, again, other = (edited_sentences.edit(made, each=6, seed=seed) for seed in (1, 1, 2))

    assert first == again != other
    kinds = (*edited_sentences.MUTATIONS, *edited_sentences.FAITHFUL)
    assert [sum(row.kind == kind for row in first) for kind in kinds] == [6] * 10
    assert all(row.text not in row.passage.text for row in first if row.kind in edited_sentences.MUTATIONS)


def test_the_verifier_catches_what_is_changed_and_keeps_what_is_not() -> None:
    kinds = edited_sentences.measure(edited_sentences.edit(passages(), each=12, seed=3), verify)["kinds"]

    assert {kinds[kind]["caught"] for kind in edited_sentences.MUTATIONS} == {1.0}
    assert kinds["verbatim"]["kept"] == 1.0
    assert kinds["trimmed"]["n"] == 12


def test_the_command_measures_the_live_corpus_and_abstracts(
    library: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(edited_sentences, "searchable_passages", passages)
    file = tmp_path / "a.jsonl"
    abstracts = [[f"{sentence}." for sentence in text[:-1].split(". ")] for text in TEXTS]
    rows = [{"doc_id": n, "title": "T", "abstract": sentences} for n, sentences in enumerate(abstracts)]
    file.write_text("\n".join(map(json.dumps, rows)))
    out = tmp_path / "out.json"

    call_command("measure", "verification", "--abstracts", str(file), "--n", "40", "--json", str(out))

    figures = json.loads(out.read_text())
    assert [row["n"] for row in figures.values()] == [20, 20]
    assert "other study" in capsys.readouterr().out
