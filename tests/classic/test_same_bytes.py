"""The same question gives the same figures to the last bit, whatever order a process keeps its sets of words in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from qa_app.classic import evidence
from qa_app.classic.policy import Policy
from qa_app.classic.retrieval import find_evidence

from qa_app.pipeline.clock import Clock
from qa_app.pipeline.records import Mode
from tests.classic.corpora import starter_corpus
from tests.classic.values import encode, make_question

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ("S002", "S007", "S009", "S013", "S018", "S028", "S029", "S030")
QUESTIONS = (
    "how many weekly sets per muscle and which training load and frequency are best for muscle growth and strength?",
    "does training to failure with light loads give more muscle hypertrophy and strength than heavy resistance training?",
)


def test_hash_seeds_do_not_move_the_last_bit() -> None:
    first, *others = (_figures(seed) for seed in ("1", "2", "3"))
    assert first.count("\n") > len(QUESTIONS) * len(STUDIES)
    for other in others:
        assert other == first


def _figures(seed: str) -> str:
    environment = os.environ | {"PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", f"from {__name__} import show; show()"]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout


def show() -> None:
    """Prints what a search of the starter corpus gives, each float in full."""
    corpus = starter_corpus(ROOT / "corpus", encode, only=STUDIES)
    for text in QUESTIONS:
        for mode in Mode:
            question = make_question(text, mode=mode)
            found = find_evidence(question, corpus=corpus, policy=Policy(), clock=Clock())
            print(text, found.signals)
            for candidate in (*found.ranked, *found.further):
                print(candidate.passage.passage_id, candidate.score.hex(), candidate.fused.hex(), candidate.because)
            signals = evidence.study_signals(
                found.ranked,
                understanding=found.understanding,
                concepts=found.concepts,
                findings=found.findings,
                near=found.near,
            )
            for study_id, values in signals.items():
                print(study_id, values)
