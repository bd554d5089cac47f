"""The starter corpus: its questions, its texts, and the names of its concepts."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from corpus_app import quality
from qa_app.pipeline.text import EMPTY_WORDS, words

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
CONCEPTS = json.loads((CORPUS / "concepts.json").read_text("utf-8"))["concepts"]
STUDIES = [json.loads(path.read_text("utf-8")) for path in sorted((CORPUS / "studies").glob("*.json"))]


def questions(study: dict[str, Any]) -> list[str]:
    rows = [study, *(study.get("findings") or []), *(study.get("passages") or [])]
    return [question for row in rows for question in row.get("asked_as") or []]


def plain(question: str) -> str:
    return "".join(letter for letter in question.casefold() if letter.isalnum())


def test_every_study_with_findings_has_questions_each_once() -> None:
    for study in STUDIES:
        asked = list(map(plain, questions(study)))
        assert bool(asked) == bool(study.get("findings")), study["study_id"]
        assert len(set(asked)) == len(asked), study["study_id"]


def test_no_question_that_measures_the_site_was_copied_into_its_corpus() -> None:
    files = [CORPUS / "golden_dev.jsonl", CORPUS / "golden_more.jsonl"]
    measured = {json.loads(line)["question"] for path in files for line in path.read_text("utf-8").splitlines()}

    assert not set(map(plain, measured)) & {plain(question) for study in STUDIES for question in questions(study)}


def test_no_text_blocks_publishing() -> None:
    texts = [passage["text"] for study in STUDIES for passage in study["passages"]]

    assert len(texts) == 822
    assert [f for text in texts for f in quality.check(text) if f.severity == "blocks"] == []


def test_no_name_means_two_concepts() -> None:
    meant = defaultdict(set)
    for concept in CONCEPTS:
        for name in (concept["name"], *concept["aliases"]):
            meant[tuple(words(name.replace("'", "")))].add(concept["id"])

    assert () not in meant
    assert not {name: ids for name, ids in meant.items() if len(ids) > 1}


def test_no_name_is_of_everyday_words_or_figures_alone() -> None:
    names = {name for c in CONCEPTS for name in (c["name"], *c["aliases"])}

    assert not {name for name in names if set(words(name)) <= EMPTY_WORDS}
    assert not {name for name in names if all(word.isdigit() for word in words(name))}


def test_many_subjects_are_known_that_no_study_is_about() -> None:
    carried = {concept_id for study in STUDIES for concept_id in study["concepts"]}
    unstudied = [concept for concept in CONCEPTS if concept["id"] not in carried]

    assert len(unstudied) > 400
    assert all(concept["definition"] for concept in unstudied)
