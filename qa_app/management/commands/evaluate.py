"""Measures the running system on questions with labels, and its retrieval on public benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from qa_app import asking, edits, evaluation, judging, lexicon_usage, reader_evaluation, reader_figures, trials
from qa_app.management import reader_tables
from qa_app.pipeline import policy as policies
from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, read_tables
from qa_app.pipeline.policy import PRESETS

TOLERANCE = 0.005  # a figure counts as worse when it falls by more than this


class Command(BaseCommand):
    help = "Measures answers on golden questions, or retrieval on a benchmark folder, and prints the figures."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        golden = kinds.add_parser("golden", help="questions with labels, against the live corpus")
        golden.add_argument("file", type=Path, help="questions with labels, one JSON object a line")
        golden.add_argument("--json", type=Path, dest="out", help="write the figures here")
        golden.add_argument("--preset", help=f"instead of the site's policy: {', '.join(PRESETS)}")
        golden.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", dest="changes", help="another figure in it"
        )
        golden.add_argument("--baseline", type=Path, help="exit 1 when a figure is worse than in this file")
        retrieval = kinds.add_parser("retrieval", help="a BEIR folder, in a throw-away database beside the live one")
        retrieval.add_argument("--corpus", type=Path, required=True, help="folder of corpus, queries and qrels")
        retrieval.add_argument("--preset", default="default", help=f"the policy to measure: {', '.join(PRESETS)}")
        retrieval.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", dest="changes", help="another figure in it"
        )
        retrieval.add_argument(
            "--legs", default=",".join(trials.DEFAULT_LEGS), help=f"some of {', '.join(trials.Leg)}, commas between"
        )
        retrieval.add_argument("--limit-queries", type=int, metavar="N", help="only N of the questions, drawn by lot")
        retrieval.add_argument("--json", type=Path, dest="out", help="write the figures here")
        retrieval.add_argument("--run", type=Path, dest="trec", help="write TREC runs here, and one beside it a leg")
        points = kinds.add_parser("points", help="which answer points of golden questions the answers make")
        points.add_argument("file", type=Path, help="questions with answer points, one JSON object a line")
        points.add_argument("--json", type=Path, dest="out", help="write the figures here")
        blind = kinds.add_parser("blind", help="answers beside plain lists of passages, for readers who judge blindly")
        blind.add_argument("file", type=Path, help="questions with labels, one JSON object a line")
        blind.add_argument("--out", type=Path, required=True, help="the sheet; its key goes beside it as .key.json")
        blind.add_argument("--n", type=int, default=40, help="questions (default 40)")
        blind.add_argument("--seed", type=int, default=1, help="of the lot that draws questions and order (default 1)")

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
        self.add_reader_arguments(kinds)

    def add_reader_arguments(self, kinds: Any) -> None:
        readers = kinds.add_parser("readers", help="labelled questions as readers type them, against the live corpus")
        readers.add_argument("file", type=Path, help="labelled questions, one JSON object a line (docs/evaluation.md)")
        readers.add_argument("--baseline", type=Path, help="exit 1 when a figure is worse than in this file")
        corpus = kinds.add_parser("corpus", help="a corpus folder and its questions, in a throw-away database")
        corpus.add_argument("folder", type=Path, help="folder of studies/, concepts.json and questions.jsonl")
        for parser in (readers, corpus):
            parser.add_argument("--json", type=Path, dest="out", help="write the figures and a row a question here")
            parser.add_argument("--preset", help=f"instead of the site's policy: {', '.join(PRESETS)}")
            parser.add_argument(
                "--set", action="append", default=[], metavar="NAME=VALUE", dest="changes", help="another figure in it"
            )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["what"] == "golden":
            self.golden(**{k: options[k] for k in ("file", "out", "baseline", "preset", "changes")})
        elif options["what"] == "points":
            self.points(options["file"], options["out"])
        elif options["what"] == "blind":
            self.blind(options["file"], options["out"], n=options["n"], seed=options["seed"])
        elif options["what"] == "readers":
            self.readers(**{k: options[k] for k in ("file", "out", "baseline", "preset", "changes")})
        elif options["what"] == "corpus":
            self.corpus(**{k: options[k] for k in ("folder", "out", "preset", "changes")})
        elif options["what"] == "lexica":
            self.lexica(options["files"], options["library"])
        elif options["what"] == "verification":
            self.verification(options["abstracts"], options["n"], options["seed"], options["out"])
        else:
            self.retrieval(
                **{k: options[k] for k in ("corpus", "preset", "changes", "legs", "limit_queries", "out", "trec")}
            )

    # --- Golden questions ---------------------------------------------------------------------------------------------

    def golden(
        self, *, file: Path, out: Path | None, baseline: Path | None, preset: str | None, changes: list[str]
    ) -> None:
        try:
            before = self.read(baseline)
            figures = asking.evaluate_golden(
                file, on_progress=lambda done: self.progress("questions", done), preset=preset, changes=changes
            )
        except (OSError, asking.BadGolden, asking.BadPolicy) as error:
            raise CommandError(str(error)) from error
        self.show(figures)
        write(figures, out)
        if before is not None:
            self.compare(figures, before)

    def points(self, file: Path, out: Path | None) -> None:
        try:
            figures = judging.measure_points(file, on_progress=lambda done: self.progress("questions", done))
        except (OSError, evaluation.BadGolden) as error:
            raise CommandError(str(error)) from error
        for kind, shares in figures["by kind"].items():
            told = ", ".join(f"{name} {figure['share']:.0%}" for name, figure in shares.items())
            self.stdout.write(f"{kind} ({shares['at best']['n']} points): {told}.")
        for which in ("points of answered questions", "points of all questions"):
            for name, figure in figures[which].items():
                self.stdout.write(f"{which}, {name}: {share_of(figure)}.")
        write(figures, out)

    def blind(self, file: Path, out: Path, *, n: int, seed: int) -> None:
        try:
            sheet, key = judging.blind_sheet(
                file, n=n, seed=seed, on_progress=lambda done: self.progress("questions", done)
            )
            out.write_text(sheet, encoding="utf-8")
            out.with_suffix(".key.json").write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8")
        except (OSError, evaluation.BadGolden) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{out}: {len(key)} questions; the key is {out.with_suffix('.key.json')}.")

    def read(self, path: Path | None) -> dict[str, Any] | None:
        """The figures of an earlier run, before the long one begins."""
        if path is None:
            return None
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise CommandError(f"{path} holds no figures of an earlier run: {error}") from error

    def progress(self, what: str, done: int, total: int = 0) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r\033[K{what} {done}{f' of {total}' if total else ''} ", ending="")
            self.stderr.flush()

    def show(self, figures: dict[str, Any]) -> None:
        columns = ("n", "ndcg@10", "recall@10", "main recall@5", "section hit", "answered", "refused", "guardrail")
        self.stdout.write(f"\n{'':22}" + "".join(f"{column:>{len(column) + 2}}" for column in columns))
        for kind, row in {**figures["by_kind"], "all answerable": figures["answerable"]}.items():
            self.stdout.write(
                f"{kind:22}" + "".join(f"{in_place(row.get(column)):>{len(column) + 2}}" for column in columns)
            )
        answered = figures["answered"]
        self.stdout.write(
            f"\nOf {answered['n']} answers, {answered['cites a main study']:.1%} cite a main study; "
            f"{answered['cited studies relevant']:.1%} of the studies cited are relevant."
        )
        final, abstention = figures["final passages"], figures["abstention"]
        self.stdout.write(
            f"Of {final['n']} final passages, {final['distinct places']:.1%} stand at a place of their own;\n"
            f"{final['near duplicates']:.1%} of the pairs are near duplicates."
        )
        self.stdout.write(f"Questions that came to the search without candidates: {figures['without candidates']}.")
        self.stdout.write(f"Sentences without exact words behind them: {figures['unsupported sentences']}.")
        self.stdout.write("\nAbstention")
        for name in ("precision", "recall", "refused near", "refused far", "wrongly refused"):
            self.stdout.write(f"  {name:22}{share_of(abstention[name])}")
        self.stdout.write(f"  {'not guarded wrongly':22}{share_of(figures['no false guardrail'])}")
        self.stdout.write(f"\n{'Milliseconds':18}{'p50':>8}{'p95':>8}")
        for stage, spent in {"a whole answer": figures["milliseconds"], **figures["stages"]}.items():
            self.stdout.write(f"  {stage:16}{spent['p50']:>8.1f}{spent['p95']:>8.1f}")

    def compare(self, figures: dict[str, Any], baseline: dict[str, Any]) -> None:
        worse = asking.worse_than(figures, baseline, tolerance=TOLERANCE)
        if worse:
            raise CommandError("Worse than the baseline:\n" + "\n".join(worse))
        self.stdout.write(self.style.SUCCESS("No figure is worse than the baseline."))

    # --- Readers' questions and other corpora -------------------------------------------------------------------------

    def readers(
        self, *, file: Path, out: Path | None, baseline: Path | None, preset: str | None, changes: list[str]
    ) -> None:
        try:
            before = self.read(baseline)
            report = reader_evaluation.evaluate_readers(file, preset=preset, changes=changes, report=self.progress)
            worse = reader_figures.worse(report, before) if before is not None else []
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(reader_tables.readers_text(report))
        write(report, out)
        if worse:
            raise CommandError("Worse than the baseline:\n" + "\n".join(worse))
        if before is not None:
            self.stdout.write(self.style.SUCCESS("No figure is worse than the baseline."))

    def corpus(self, *, folder: Path, out: Path | None, preset: str | None, changes: list[str]) -> None:
        try:
            report = reader_evaluation.evaluate_corpus(
                folder, preset=preset, changes=changes, cache=settings.DATA_DIR / "cache", report=self.progress
            )
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(reader_tables.corpus_text(report))
        write(report, out)

    # --- Word lists ---------------------------------------------------------------------------------------------------

    def lexica(self, files: list[Path], library: Path) -> None:
        folder = settings.BASE_DIR / "tests" / "data"
        paths = files or [*library.glob("golden_*.jsonl"), *folder.glob("*.jsonl"), *library.glob("studies/*.json")]
        try:
            texts = [lexicon_usage.read_texts(path) for path in paths]
            tables = read_tables(LANGUAGE_FOLDER) | read_tables(library / "lexicon")
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
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
            done = trials.run(
                corpus,
                chosen=trials.legs(legs),
                policy=policies.named(preset, changes),
                limit=limit_queries,
                cache=settings.DATA_DIR / "cache",
                report=self.progress,
            )
            figures = trials.figures(done)
            self.show_legs(figures)
            write(figures, out)
            for path in trials.write_runs(done, trec) if trec else ():
                self.stdout.write(f"{path}")
        except (OSError, trials.BadBenchmark, trials.BadOption, policies.BadPolicy) as error:
            raise CommandError(str(error)) from error

    def show_legs(self, figures: dict[str, Any]) -> None:
        self.stdout.write(
            f"\n{figures['corpus']}: {figures['questions']} questions, {figures['documents']} documents, "
            f"{figures['encoder']}, policy {figures['policy']}. In brackets 95 % intervals over the questions."
        )
        self.stdout.write(
            f"{'':14}" + "".join(f"{name:>24}" for name in trials.MEASURES) + f"{'empty':>8}{'p50 ms':>9}{'p95 ms':>9}"
        )
        for leg, row in figures["legs"].items():
            times = row["milliseconds"]
            self.stdout.write(
                f"{leg:14}" + "".join(f"{spell(row[name]):>24}" for name in trials.MEASURES)
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
            figures = edits.evaluate(abstracts, n=n, seed=seed, report=lambda name: self.progress(name, 0))
        except (OSError, ValueError, KeyError) as error:
            raise CommandError(str(error)) from error
        for name, row in figures.items():
            self.stdout.write(f"\n{name}: {row['n']} sentences")
            for kind, row_of_kind in row["kinds"].items():
                what = "kept" if "kept" in row_of_kind else "caught"
                low, high = row_of_kind["interval"]
                self.stdout.write(
                    f"  {kind:12} {what:6} {row_of_kind[what]:7.2%} of {row_of_kind['n']} (95 %: {low:.2%} to {high:.2%})"
                )
        write(figures, out)


def in_place(value: float | None) -> str:
    """A figure of a table, its decimals below each other."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def share_of(figure: dict[str, Any]) -> str:
    if not figure["n"]:
        return "none asked"
    low, high = figure["interval"]
    return f"{figure['share']:.1%} of {figure['n']} (95 %: {low:.0%} to {high:.0%})"


def spell(figure: dict[str, Any], sign: str = "") -> str:
    low, high = figure["interval"]
    return f"{figure['mean']:{sign}.4f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def write(figures: dict[str, Any], path: Path | None) -> None:
    if path:
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
