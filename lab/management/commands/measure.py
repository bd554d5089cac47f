"""Measure retrieval, verification, other corpora and word lists."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from lab import (
    claim_checks,
    edited_sentences,
    following,
    foreign_corpus,
    grounding_fit,
    lexicon_usage,
    model_writing,
    retrieval,
)
from qa_app.evaluation import golden_set
from qa_app.management.commands.evaluate import write
from qa_app.pipeline import learned
from qa_app.pipeline import policy as policies
from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, read_tables
from qa_app.pipeline.policy import PRESETS


class Command(BaseCommand):
    help = "Measures parts of the system apart, and prints the figures."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        bench = kinds.add_parser("retrieval", help="a BEIR folder, in a throw-away database beside the live one")
        bench.add_argument("--corpus", type=Path, required=True, help="folder of corpus, queries and qrels")
        bench.add_argument("--preset", default="default", help=f"the policy to measure: {', '.join(PRESETS)}")
        bench.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", dest="changes", help="another figure in it"
        )
        bench.add_argument(
            "--legs",
            default=",".join(retrieval.DEFAULT_LEGS),
            help=f"some of {', '.join(retrieval.Leg)}, commas between",
        )
        bench.add_argument("--limit-queries", type=int, metavar="N", help="only N of the questions, drawn by lot")
        bench.add_argument("--json", type=Path, dest="out", help="write the figures here")
        bench.add_argument("--run", type=Path, dest="trec", help="write TREC runs here, and one beside it a leg")
        follow_ups = kinds.add_parser("follow-ups", help="whether labelled follow-ups keep their subject")
        follow_ups.add_argument("file", type=Path, nargs="?", default=following.FILE, help="one JSON object a line")
        follow_ups.add_argument("--json", type=Path, dest="out", help="write the figures and a row a question here")
        edited = kinds.add_parser(
            "verification", help="edited sentences of the live corpus, and of abstracts in a file"
        )
        edited.add_argument("--abstracts", type=Path, action="append", default=[], help="abstracts as SciFact has them")
        edited.add_argument("--n", type=int, default=5_000, help="how many sentences in all (default 5,000)")
        edited.add_argument("--seed", type=int, default=1, help="draws other sentences")
        edited.add_argument("--json", type=Path, dest="out", help="write the figures here, with every wrong verdict")

        lexica = kinds.add_parser("lexica", help="in how many labelled questions each entry of the word lists occurs")
        lexica.add_argument(
            "files",
            type=Path,
            nargs="*",
            help="questions, one JSON object a line, and study files (default: the project's)",
        )
        lexica.add_argument("--library", type=Path, default=settings.BASE_DIR / "corpus", help="the corpus folder")
        corpus = kinds.add_parser("corpus", help="corpus folders and their questions, in throw-away databases")
        corpus.add_argument("folders", type=Path, nargs="+", help="folders of studies/ and questions.jsonl")
        corpus.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", dest="changes", help="another figure in it"
        )
        corpus.add_argument("--json", type=Path, dest="out", help="write the figures and a row a question here")
        corpus.add_argument("--preset", help=f"instead of the site's policy: {', '.join(PRESETS)}")
        claims = kinds.add_parser("claims", help="the check of claims, on labelled claims")
        claims.add_argument("files", type=Path, nargs="*", help="claims with their evidence, .jsonl or .jsonl.gz")
        claims.add_argument("--corpus", type=Path, default=settings.BASE_DIR / "corpus", help="the corpus folder")
        claims.add_argument(
            "--claims", type=Path, default=settings.BASE_DIR / "lab" / "claims.jsonl", help="claims on that corpus"
        )
        claims.add_argument("--json", type=Path, dest="out", help="write the figures here")
        grounding = kinds.add_parser("grounding", help="fit the estimate for texts without curated questions")
        grounding.add_argument("folders", type=Path, nargs="+", help="folders of studies/ and questions.jsonl")
        grounding.add_argument("--out", type=Path, default=learned.FOLDER, help="folder of the models")

        writer = kinds.add_parser("writer", help="golden questions, with answers that a model server writes")
        writer.add_argument("url", help="of the server, as in OPENAI_BASE_URL")
        writer.add_argument("file", type=Path, nargs="?", default=settings.BASE_DIR / "corpus" / "golden_dev.jsonl")
        writer.add_argument("--model", default="local", help="its name, as in OPENAI_MODEL (default local)")
        writer.add_argument("--seconds", type=int, default=60, help="the model's time for an answer (default 60)")
        writer.add_argument("--n", type=int, default=20, help="questions (default 20)")
        writer.add_argument("--json", type=Path, dest="out", help="write the figures and a row a question here")

    def handle(self, *args: Any, **options: Any) -> None:
        what = options["what"]
        if what == "follow-ups":
            self.follow_ups(options["file"], options["out"])
        elif what == "corpus":
            self.corpus(**{k: options[k] for k in ("folders", "out", "preset", "changes")})
        elif what == "grounding":
            self.grounding(options["folders"], options["out"])
        elif what == "claims":
            self.claims(options["files"], options["corpus"], options["claims"], options["out"])
        elif what == "lexica":
            self.lexica(options["files"], options["library"])
        elif what == "writer":
            self.writer(**{k: options[k] for k in ("url", "file", "model", "seconds", "n", "out")})
        elif what == "verification":
            self.verification(options["abstracts"], options["n"], options["seed"], options["out"])
        else:
            self.retrieval(
                **{k: options[k] for k in ("corpus", "preset", "changes", "legs", "limit_queries", "out", "trec")}
            )

    def progress(self, what: str, done: int, total: int = 0) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r\033[K{what} {done}{f' of {total}' if total else ''} ", ending="")
            self.stderr.flush()

    # --- Answers ------------------------------------------------------------------------------------------------------

    def follow_ups(self, file: Path, out: Path | None) -> None:
        try:
            figures = following.measure(file, on_progress=lambda done, total: self.progress("questions", done, total))
        except (OSError, KeyError, ValueError) as error:
            raise CommandError(f"{file}: {error}") from error
        for name in following.SETS:
            kept, lead = (f"{figures[name][score]:.0%}" for score in following.SCORES)
            self.stdout.write(f"{name} set ({figures[name]['n']}): subject kept {kept}, right lead {lead}.")
        write(figures, out)

    def writer(self, url: str, file: Path, out: Path | None, **options: Any) -> None:
        try:
            figures = model_writing.measure(
                url, file, on_progress=lambda done, total: self.progress("questions", done, total), **options
            )
        except (OSError, golden_set.BadGolden) as error:
            raise CommandError(str(error)) from error
        for name, figure in figures.items():
            if name != "rows":
                self.stdout.write(f"{name}: {figure}")
        write(figures, out)

    def corpus(self, *, folders: list[Path], out: Path | None, preset: str | None, changes: list[str]) -> None:
        report: dict[str, Any] = {}
        try:
            for report in foreign_corpus.evaluate_corpora(
                folders, preset=preset, changes=changes, cache=settings.DATA_DIR / "cache", report=self.progress
            ):
                self.stdout.write(foreign_corpus.corpus_text(report))
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        write(report, out)  # of the last one, which is of all of them

    def grounding(self, folders: list[Path], out: Path) -> None:
        try:
            row = grounding_fit.fit(folders, cache=settings.DATA_DIR / "cache", report=self.progress)
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{row['figures']['bare']}\nWritten to {grounding_fit.write(row, out)}")

    # --- Word lists ---------------------------------------------------------------------------------------------------

    def lexica(self, files: list[Path], library: Path) -> None:
        folder = settings.BASE_DIR / "tests" / "data"
        paths = files or [*library.glob("golden_*.jsonl"), *folder.glob("*.jsonl"), *library.glob("studies/*.json")]
        try:
            texts = [lexicon_usage.read_texts(path) for path in paths]
            language, subject = read_tables(LANGUAGE_FOLDER), read_tables(library / "lexicon")
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        tables = language | {f"{name} of corpus" if name in language else name: subject[name] for name in subject}
        questions, passages = ([text for pair in texts for text in pair[place]] for place in (0, 1))
        self.stdout.write(lexicon_usage.usage_text(lexicon_usage.count_usage(tables, questions, passages)))

    # --- Retrieval ----------------------------------------------------------------------------------------------------

    def retrieval(
        self, *, corpus: Path, preset: str, changes: list[str], legs: str, limit_queries: int | None, out: Path | None,
        trec: Path | None,
    ) -> None:  # fmt: skip
        if limit_queries is not None and limit_queries < 1:
            raise CommandError("--limit-queries must be 1 or more.")
        try:
            done = retrieval.run(
                corpus, chosen=retrieval.legs(legs), policy=policies.named(preset, changes), limit=limit_queries,
                cache=settings.DATA_DIR / "cache", report=self.progress,
            )  # fmt: skip
            figures = retrieval.figures(done)
            self.show_legs(figures)
            write(figures, out)
            for path in retrieval.write_runs(done, trec) if trec else ():
                self.stdout.write(f"{path}")
        except (OSError, retrieval.BadBenchmark, retrieval.BadOption, policies.BadPolicy) as error:
            raise CommandError(str(error)) from error

    def show_legs(self, figures: dict[str, Any]) -> None:
        self.stdout.write(
            f"\n{figures['corpus']}: {figures['questions']} questions, {figures['documents']} documents, "
            f"{figures['encoder']}, policy {figures['policy']}. In brackets 95 % intervals over the questions."
        )
        self.stdout.write(
            f"{'':14}"
            + "".join(f"{name:>24}" for name in retrieval.MEASURES)
            + f"{'empty':>8}{'p50 ms':>9}{'p95 ms':>9}"
        )
        for leg, row in figures["legs"].items():
            times = row["milliseconds"]
            self.stdout.write(
                f"{leg:14}" + "".join(f"{spell(row[name]):>24}" for name in retrieval.MEASURES)
                + f"{row['no candidates']:>8.1%}{times['p50']:>9.1f}{times['p95']:>9.1f}"
            )  # fmt: skip
        for difference, row in figures["differences"].items():
            self.stdout.write(f"{difference:28} ndcg@10 {spell(row['ndcg@10'], '+')}")
        times = figures["encoding milliseconds"]
        self.stdout.write(
            f"Encoding a question, included where a leg needs it: p50 {times['p50']:.1f}, p95 {times['p95']:.1f} ms."
        )
        if figures["judgments of unknown documents"]:
            self.stdout.write(
                f"{figures['judgments of unknown documents']} judgments are of documents that are not there."
            )

    # --- Verification -------------------------------------------------------------------------------------------------

    def verification(self, abstracts: list[Path], n: int, seed: int, out: Path | None) -> None:
        try:
            figures = edited_sentences.evaluate(abstracts, n=n, seed=seed, report=lambda name: self.progress(name, 0))
        except (OSError, ValueError, KeyError) as error:
            raise CommandError(str(error)) from error
        for name, row in figures.items():
            self.stdout.write(f"\n{name}: {row['n']} sentences")
            for kind, row_of_kind in row["kinds"].items():
                what = "kept" if "kept" in row_of_kind else "caught"
                low, high = row_of_kind["interval"]
                self.stdout.write(
                    f"  {kind:12} {what:6} {row_of_kind[what]:7.2%} of {row_of_kind['n']} (95 %: {low:.2%} to "
                    f"{high:.2%})"
                )
        write(figures, out)

    def claims(self, files: list[Path], corpus: Path, labelled: Path, out: Path | None) -> None:
        results = {}
        try:
            for file in files:
                results[file.name] = claim_checks.check_evidence(file)
            results[labelled.name], edited = claim_checks.check_corpus(
                corpus, labelled, cache=settings.DATA_DIR / "cache", report=self.progress
            )
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        measured = {name: claim_checks.figures(rows) for name, rows in results.items()}
        for name, row in measured.items():
            self.stdout.write(claim_checks.figures_text(name, row))
        for kind, verdicts in edited.items():
            told = ", ".join(f"{verdict} {n}" for verdict, n in verdicts.most_common())
            self.stdout.write(f"sentences of the corpus, {kind}: {told}")
        write(measured | {"edited": edited, "claims": [asdict(row) for row in results[labelled.name]]}, out)


def spell(figure: dict[str, Any], sign: str = "") -> str:
    low, high = figure["interval"]
    return f"{figure['mean']:{sign}.4f} [{low:{sign}.3f}, {high:{sign}.3f}]"
