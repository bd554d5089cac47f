"""Fit models to labelled data and cross-validate them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from common import orders
from corpus_app import search
from qa_app.answers.corpus import LEAST_AUROC, SearchedCorpus
from qa_app.evaluation import corpus_calibration, orders_fit, relevance_fit, safety_fit, support_fit
from qa_app.evaluation.relevance_fit import LabelledQuestion
from qa_app.pipeline import learned, relevance
from qa_app.pipeline.learned import FOLDER
from qa_app.pipeline.lexicon import read_tables
from qa_app.pipeline.policy import DEFAULT
from qa_app.pipeline.question.safety import SafetyLexicon
from qa_app.pipeline.question.safety_model import FILE, SafetyClassifier
from qa_app.pipeline.relevance import Vocabulary
from qa_app.pipeline.retrieval import concepts_about, encode
from qa_app.pipeline.run import parse_question
from qa_app.pipeline.text import clean
from qa_app.writers.judge import entailment_judge

GOLDEN = ("golden_dev.jsonl", "golden_more.jsonl")


class Command(BaseCommand):
    help = "Fits the models of an answer, of safety, of orders to a machine or of support, and cross-validates them."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True)
        models = kinds.add_parser(
            "relevance", help="which studies answer, whether any does, and how likely the first does"
        )
        models.add_argument("--readers", type=Path, action="append", default=[], help="reader questions with labels")
        models.add_argument("--out", type=Path, default=FOLDER, help="model files are written below this folder")
        kinds.add_parser("corpus", help="the estimates, to this corpus, by questions made from its own texts")
        safety = kinds.add_parser("safety", help="which questions get a fixed, careful reply")
        data = settings.BASE_DIR / "tests" / "data"
        safety.add_argument("--questions", type=Path, default=data / "safety_questions.jsonl", help="half is held out")
        safety.add_argument("--extra", type=Path, nargs="*", help="further rows to fit on")
        safety.add_argument("--library", type=Path, default=settings.BASE_DIR / "corpus", help="the corpus folder")
        safety.add_argument("--test", type=Path, help="fit nothing, and measure the model in use on these rows")
        safety.add_argument("--out", type=Path, default=FOLDER, help="the model is written below this folder")
        machine = kinds.add_parser("orders", help="which sentences give orders to a machine")
        machine.add_argument("--labelled", type=Path, default=data / "orders.tsv", help="sentences with labels")
        machine.add_argument("--payloads", type=Path, required=True, help="known payloads; half is held out")
        machine.add_argument(
            "--articles",
            type=Path,
            action="append",
            required=True,
            help="ordinary prose: a corpus.jsonl.gz, repeatable",
        )
        machine.add_argument("--out", type=Path, default=orders.MODEL, help="the model is written here")
        support = kinds.add_parser("support", help="the score of free paraphrases")
        support.add_argument(
            "--claims", type=Path, required=True, help="folder of claims with labels (.jsonl, .jsonl.gz)"
        )
        support.add_argument("--out", type=Path, help="write the fitted score here, as JSON")
        support.add_argument("--json", type=Path, dest="figures", help="write the figures here")
        support.add_argument("--judge", metavar="MODEL", help="measure this entailment model instead, by name or path")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["kind"] == "relevance":
                self.relevance(options["readers"], options["out"])
            elif options["kind"] == "corpus":
                self.corpus()
            elif options["kind"] == "safety":
                self.safety(options)
            elif options["kind"] == "orders":
                self.orders(options)
            else:
                self.support(options)
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error

    # --- The models of an answer ---

    def relevance(self, readers: list[Path], out: Path) -> None:
        files = [*readers, *(settings.BASE_DIR / "corpus" / name for name in GOLDEN)]
        questions = [row for path in files for row in self._read(path)]
        group = files[0].stem
        found: dict[str, dict[str, Any]] = {"relevance": {}, "answerability": {}, "lead": {}}
        figures: dict[str, Any] = {}
        for name, has_vectors, is_curated in (
            ("meaning", True, True),
            ("words", False, True),
            ("meaning_bare", True, False),
            ("words_bare", False, False),
        ):
            names = relevance_fit.feature_names(questions[0].features, has_vectors=has_vectors, is_curated=is_curated)
            held_out = relevance_fit.cross_validate(questions, names)
            threshold, figures[name] = relevance_fit.choose_threshold(
                questions, held_out, group, is_cautious=not is_curated
            )
            answerable, lead = relevance_fit.fit_decisions(questions, held_out, names)
            found["relevance"][name] = relevance_fit.fit_relevance(questions, names).as_row()
            found["answerability"][name] = answerable.as_row() | {"threshold": threshold}
            found["lead"][name] = lead.as_row()
            self.stdout.write(f"{name}: {figures[name]}")
        encoder, data = search.encoder_name(), ", ".join(path.stem for path in files)
        for kind, models in found.items():
            row = {"kind": kind, "encoder": encoder, "data": data, "figures": figures, "models": models}
            learned.write(out / learned.folder_of(encoder).name / f"{kind}.json", row)

    def _read(self, path: Path) -> list[LabelledQuestion]:
        corpus, policy = SearchedCorpus(), DEFAULT
        labelled = []
        rows = relevance_fit.read_rows(path)
        for number, row in enumerate(rows, start=1):
            if sys.stderr.isatty():
                self.stderr.write(f"\r{path.stem}: {number} of {len(rows)}", ending="")
            with search.snapshot():
                facts = corpus.facts()
                query = parse_question(clean(row["question"]), corpus, facts)
                vectors = encode(query, corpus)
                scores = corpus.score_studies(query.text, vectors, collection=None, limit=policy.candidates)
                found = corpus.find(query.text, vectors[0], collection=None, limit=200, error=None)
                about = concepts_about(query, scores, corpus)
            vocabulary = Vocabulary.of(found.document_frequency, found.searchable_passages)
            features = relevance.read_features(query, scores, about, vocabulary)
            answers, is_answerable = relevance_fit.labels_of(row)
            labelled.append(LabelledQuestion(query, features, answers, is_answerable, path.stem))
        return labelled

    def corpus(self) -> None:
        found = corpus_calibration.calibrate()
        if found is None:
            raise CommandError(corpus_calibration.TOO_FEW)
        self.stdout.write(f"{found.questions} questions, AUROC {found.auroc:.3f}, {found.figures}")
        if found.auroc < LEAST_AUROC:
            self.stdout.write("On this corpus the estimates tell little: refusals and confidence are not reliable.")

    # --- Safety ---

    def safety(self, options: dict[str, Any]) -> None:
        """Fit the safety classifier, or measure it, and print what it and the list miss and falsely decline."""
        lexicon = SafetyLexicon.build(read_tables(options["library"] / "lexicon"))
        encoder = search.encoder_name()
        path = options["out"] / learned.folder_of(encoder).name / FILE
        if options["test"]:
            rows = safety_fit.read(options["test"], search.encode_questions)
            figures = safety_fit.measure(rows, lexicon, SafetyClassifier.load(path))
        else:
            model = safety_fit.calibrate(
                options["questions"], options["extra"] or safety_fit.EXTRA, lexicon, search.encode_questions, encoder
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(model) + "\n", encoding="utf-8")
            figures = model["held_out"]
        self.stdout.write("\n".join(safety_fit.table(figures)))

    # --- Orders to a machine ---

    def orders(self, options: dict[str, Any]) -> None:
        """Fit the recogniser of orders, and print what it finds and falsely finds in rows that it has not seen."""
        model = orders_fit.calibrate(options["labelled"], options["payloads"], options["articles"])
        options["out"].write_text(json.dumps(model, ensure_ascii=False) + "\n", encoding="utf-8")
        for name, groups in model["held_out"].items():
            self.stdout.write(name)
            for group, count in groups.items():
                self.stdout.write(
                    f"  {group:10} {count.get('found', 0):>4} of {count.get('orders', 0):>4} orders found, "
                    f"{count.get('false', 0):>4} of {count.get('prose', 0):>6} other sentences"
                )

    # --- The support score ---

    def support(self, options: dict[str, Any]) -> None:
        if options["judge"]:
            figures = support_fit.evaluate_judge(options["claims"], entailment_judge(options["judge"]))
        else:
            support, figures = support_fit.fit(options["claims"], report=lambda name: self.stderr.write(name))
            if options["out"]:
                support_fit.write(support, options["out"])
        for name, row in figures.items():
            self.stdout.write(f"{name}: {row['n']} claims, {row['supported']} supported")
            for measure in ("auroc", "balanced accuracy"):
                low, high = row[measure]["interval"]
                self.stdout.write(f"  {measure:18} {row[measure]['mean']:.3f} (95 %: {low:.3f} to {high:.3f})")
        if options["figures"]:
            options["figures"].write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
