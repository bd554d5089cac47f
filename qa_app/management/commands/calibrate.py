"""Fits what is estimated to labelled data, and says how well it does on what it was not fitted on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from corpus_app import search
from qa_app import calibrating, calibration_tables, needed_fit, safety_fit, support_fit
from qa_app.answering import POLICY, in_use
from qa_app.backends.judge import entailment_judge
from qa_app.calibrating import Row
from qa_app.engine.lexicon import read_tables
from qa_app.engine.question.safety import SafetyLexicon
from qa_app.engine.question.safety_model import FILE, SafetyClassifier
from qa_app.pipeline import calibration

HELP = {
    "answerability": "whether the corpus answers a question",
    "confidence": "whether the first study cited bears on the question",
    "bearing": "whether a passage bears on the question",
}


class Command(BaseCommand):
    help = "Fits an estimate to labelled questions, or the support score to labelled claims, and cross-validates it."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True)
        for kind, told in HELP.items():
            estimate = kinds.add_parser(kind, help=told)
            estimate.set_defaults(corpus=None, svg=None)
            source = estimate.add_mutually_exclusive_group(required=True)
            source.add_argument("--questions", type=Path, help="questions with labels, one JSON object a line")
            estimate.add_argument("--out", type=Path, help="write the calibration here, as JSON")
            if kind == "answerability":
                estimate.add_argument(
                    "--more", type=Path, help="further questions to fit on, whose figures are told apart"
                )
            if kind == "confidence":
                source.add_argument(
                    "--corpus", type=Path, help="a BEIR folder: measured there instead, in a throw-away database"
                )
                estimate.add_argument("--svg", type=Path, help="draw the reliability diagram here")
        everything = kinds.add_parser(
            "all", help="what comes with the code: every estimate, for each form of the encoder"
        )
        everything.add_argument("--questions", type=Path, default=settings.BASE_DIR / "corpus" / "golden_dev.jsonl")
        everything.add_argument(
            "--more",
            type=Path,
            default=settings.BASE_DIR / "corpus" / "golden_more.jsonl",
            help="further questions for answerability",
        )
        everything.add_argument("--library", type=Path, default=settings.BASE_DIR / "corpus", help="the corpus folder")
        everything.add_argument("--benchmark", type=Path, help="a BEIR folder: confidence is measured there, too")
        everything.add_argument(
            "--docs", type=Path, default=settings.BASE_DIR / "docs", help="tables are written there"
        )
        everything.add_argument("--out", type=Path, default=calibration.SHIPPED, help="calibrations are written there")
        sentences = kinds.add_parser("sentences", help="whether a short answer needs a sentence")
        sentences.add_argument("--questions", type=Path, default=settings.BASE_DIR / "corpus" / "golden_dev.jsonl")
        sentences.add_argument("--labels", type=Path, default=settings.BASE_DIR / "tests" / "data" / "sentences.jsonl")
        safety = kinds.add_parser("safety", help="which questions get a fixed, careful reply")
        data = settings.BASE_DIR / "tests" / "data"
        safety.add_argument("--questions", type=Path, default=data / "safety_questions.jsonl", help="half is held out")
        safety.add_argument("--extra", type=Path, nargs="*", help="further rows to fit on")
        safety.add_argument("--library", type=Path, default=settings.BASE_DIR / "corpus", help="the corpus folder")
        safety.add_argument("--test", type=Path, help="fit nothing, and measure the model in use on these rows")
        safety.add_argument("--out", type=Path, default=calibration.SHIPPED, help="calibrations are written there")
        support = kinds.add_parser("support", help="the score of free paraphrases")
        support.add_argument(
            "--claims", type=Path, required=True, help="folder of claims with labels (.jsonl, .jsonl.gz)"
        )
        support.add_argument("--out", type=Path, help="write the fitted score here, as JSON")
        support.add_argument("--json", type=Path, dest="figures", help="write the figures here")
        support.add_argument("--judge", metavar="MODEL", help="measure this entailment model instead, by name or path")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["kind"] == "support":
                self.support(options)
            elif options["kind"] == "safety":
                self.safety(options)
            elif options["kind"] == "sentences":
                self.sentences(options)
            elif options["kind"] == "all":
                self.everything(options)
            else:
                self.estimate(options)
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error

    # --- Estimates ----------------------------------------------------------------------------------------------------

    def estimate(self, options: dict[str, Any]) -> None:
        kind, folder = options["kind"], options["corpus"]
        if folder:
            row = calibrating.measure_confidence(folder, cache=settings.DATA_DIR / "cache", report=self.progress)
        else:
            today = timezone.now().date()
            row = calibrating.calibrate(
                kind, options["questions"], more=options.get("more"), today=today, report=self.progress
            )
        for name, model in row["models"].items():
            self.show(f"{kind}, by {name}", model)
        if options["out"]:
            _write(options["out"], row)
        if options["svg"]:
            options["svg"].write_text(calibration_tables.diagram(row["models"]["meaning"]), encoding="utf-8")

    def everything(self, options: dict[str, Any]) -> None:
        """In throw-away databases: what is fitted depends on the files of the corpus, not on the live rows."""
        today, cache = timezone.now().date(), settings.DATA_DIR / "cache"
        if options["benchmark"]:
            row = calibrating.measure_confidence(options["benchmark"], cache=cache, report=self.progress)
            self.show(f"confidence on {row['corpus']}", row["models"]["meaning"])
            _write(options["out"] / calibrating.BENCHMARK, row)
        for encoder in calibrating.forms(settings.ENCODER):
            folder = calibration.folder_of(encoder, options["out"])
            folder.mkdir(parents=True, exist_ok=True)
            for kind, row in calibrating.calibrate_library(
                options["library"],
                options["questions"],
                encoder,
                more=options["more"],
                base=options["out"],
                cache=cache,
                today=today,
                report=self.progress,
            ).items():
                _write(folder / f"{kind}.json", row)
                for name, model in row["models"].items():
                    self.show(f"{encoder}: {kind}, by {name}", model)
        calibration_tables.write(options["out"], options["docs"])

    def progress(self, what: str, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r\033[K{what} {done} of {total} ", ending="")
            self.stderr.flush()

    def show(self, title: str, model: Row) -> None:
        self.stdout.write(f"\n{title}: {model['right']} of {model['n']} right, cross-validated:")
        for name, figure in model["unseen"].items():
            if isinstance(figure, dict) and "interval" in figure:
                low, high = figure["interval"]
                value = figure["value"] if "value" in figure else figure["share"]
                self.stdout.write(f"  {name:20} {value:.3f} ({low:.3f} to {high:.3f}), n = {figure['n']}")
        for signal in model["signals"]:
            self.stdout.write(f"  {signal['name']:20} {signal['coefficient']:+.3f} a standard deviation")

    # --- Safety -------------------------------------------------------------------------------------------------------

    def safety(self, options: dict[str, Any]) -> None:
        """Fit the safety classifier, or measure it, and print what it and the list miss and falsely decline."""
        lexicon = SafetyLexicon.build(read_tables(options["library"] / "lexicon"))
        encoder = search.encoder_name()
        path = calibration.folder_of(encoder, options["out"]) / FILE
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

    # --- Sentences ----------------------------------------------------------------------------------------------------

    def sentences(self, options: dict[str, Any]) -> None:
        """The fitted weights, as they stand in the policy."""
        found = needed_fit.fit(options["questions"], options["labels"], in_use(POLICY), report=self.progress)
        self.stdout.write(f"{found.sentences} sentences, {found.needed} needed; cross-validated by question:")
        self.stdout.write(f"  area under the curve {found.auroc:.3f}, within a question {found.auroc_within:.3f}")
        self.stdout.write(f"  intercept {found.model.intercept}")
        for name, weight in found.model.weights:
            self.stdout.write(f"  {name:10} {weight:+.3f}")

    # --- The support score --------------------------------------------------------------------------------------------

    def support(self, options: dict[str, Any]) -> None:
        if options["judge"]:
            figures = support_fit.judged(options["claims"], entailment_judge(options["judge"]))
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


def _write(path: Path, row: Row) -> None:
    path.write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")
