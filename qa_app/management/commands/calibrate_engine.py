"""Fit the engine's models to labelled questions on the live corpus."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from corpus_app import search
from qa_app import engines, relevance_fit
from qa_app.backends.engine_corpus import EngineCorpus
from qa_app.engine import learned, relevance
from qa_app.engine.learned import FOLDER
from qa_app.engine.policy import EnginePolicy
from qa_app.engine.relevance import Vocabulary
from qa_app.pipeline.text import clean
from qa_app.relevance_fit import Labelled

GOLDEN = ("golden_dev.jsonl", "golden_more.jsonl")


class Command(BaseCommand):
    help = "Fits the models that rank studies and decide between an answer and a refusal."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True)
        models = kinds.add_parser("relevance", help="from labelled questions on the corpus")
        models.add_argument("--readers", type=Path, action="append", default=[], help="reader questions with labels")
        models.add_argument("--out", type=Path, default=FOLDER, help="model files are written below this folder")

    def handle(self, *args: Any, **options: Any) -> None:
        self.relevance(options["readers"], options["out"])

    def relevance(self, readers: list[Path], out: Path) -> None:
        files = [*readers, *(settings.BASE_DIR / "corpus" / name for name in GOLDEN)]
        questions = [row for path in files for row in self._read(path)]
        group = files[0].stem
        found: dict[str, dict[str, Any]] = {"relevance": {}, "answerability": {}, "lead": {}}
        figures: dict[str, Any] = {}
        for name, has_vectors, is_curated in (
            ("meaning", True, True), ("words", False, True), ("meaning_bare", True, False), ("words_bare", False, False),
        ):  # fmt: skip
            names = relevance_fit.feature_names(questions[0].features, has_vectors=has_vectors, is_curated=is_curated)
            held_out = relevance_fit.cross_validate(questions, names)
            threshold, figures[name] = relevance_fit.choose_threshold(questions, held_out, group)
            answerable, lead = relevance_fit.fit_decisions(questions, held_out, names)
            found["relevance"][name] = relevance_fit.fit_relevance(questions, names).as_row()
            found["answerability"][name] = answerable.as_row() | {"threshold": threshold}
            found["lead"][name] = lead.as_row()
            self.stdout.write(f"{name}: {figures[name]}")
        encoder, data = search.encoder_name(), ", ".join(path.stem for path in files)
        for kind, models in found.items():
            row = {"kind": kind, "encoder": encoder, "data": data, "figures": figures, "models": models}
            learned.write(out / learned.folder_of(encoder).name / f"{kind}.json", row)

    def _read(self, path: Path) -> list[Labelled]:
        corpus, policy = EngineCorpus(), EnginePolicy()
        labelled = []
        rows = relevance_fit.read_rows(path)
        for number, row in enumerate(rows, start=1):
            if sys.stderr.isatty():
                self.stderr.write(f"\r{path.stem}: {number} of {len(rows)}", ending="")
            with search.snapshot():
                facts = corpus.facts()
                query = engines.parse_question(clean(row["question"]), corpus, facts)
                vector = corpus.encode(query.ask)
                scores = corpus.score_studies(query.text, vector, collection=None, limit=policy.candidates)
                found = corpus.find(query.text, vector, collection=None, limit=200, error=None)
            vocabulary = Vocabulary.of(found.document_frequency, found.searchable_passages)
            features = relevance.read_features(query, scores, facts.studies, vocabulary)
            answers, is_answerable = relevance_fit.labels_of(row)
            labelled.append(Labelled(query, features, answers, is_answerable, path.stem))
        return labelled
