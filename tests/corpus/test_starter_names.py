"""The names of the starter corpus's concepts: those that its studies are about, and those that readers ask about besides."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from qa_app.pipeline.text import EMPTY_WORDS, words

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
CONCEPTS = json.loads((CORPUS / "concepts.json").read_text("utf-8"))["concepts"]
STUDIES = [json.loads(path.read_text("utf-8")) for path in sorted((CORPUS / "studies").glob("*.json"))]


def test_no_name_stands_for_two_concepts() -> None:
    meant = defaultdict(set)
    for concept in CONCEPTS:
        for name in (concept["name"], *concept["aliases"]):
            meant[tuple(words(name.replace("'", "")))].add(concept["id"])

    assert () not in meant
    assert not {name: ids for name, ids in meant.items() if len(ids) > 1}


def test_no_name_is_of_words_that_say_nothing() -> None:
    everyday = {name for c in CONCEPTS for name in (c["name"], *c["aliases"]) if set(words(name)) <= EMPTY_WORDS}

    assert not everyday


def test_no_name_is_of_figures_alone() -> None:
    assert not [name for c in CONCEPTS for name in (c["name"], *c["aliases"]) if all(w.isdigit() for w in words(name))]


def test_many_subjects_are_known_that_no_study_is_about() -> None:
    carried = {concept_id for study in STUDIES for concept_id in study["concepts"]}
    unstudied = [concept for concept in CONCEPTS if concept["id"] not in carried]

    assert len(unstudied) > 400
    assert all(concept["definition"] for concept in unstudied)
