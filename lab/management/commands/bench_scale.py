"""`python -m lab bench_scale`: fill the present database with a large corpus, and measure the search in it."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction
from psycopg import pq

from common.pipelining import Packed, PackedDumper
from corpus_app import search
from corpus_app.models import Passage, Study
from lab import scale_corpus
from lab.management.commands.bench import interleaved, search_steps
from lab.own_site import megabytes
from lab.scale_text import RealText
from qa_app.answers import asking

PASSAGES, REAL = 100_000, 5_000
QUESTIONS, ROUNDS = 40, 5
TOP = 20
QUESTIONS_FILE = "scale_questions.json"  # of the data directory: the measurement needs no other file
LONGEST_QUESTION = 300  # characters
WARM_UP = 3  # answers
TABLES = """
    SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
    WHERE relkind IN ('r', 'p') AND relname LIKE 'corpus\\_app\\_%' ORDER BY pg_total_relation_size(oid) DESC LIMIT 8
"""

NEAREST = """
    SELECT passage_id FROM corpus_app_passagevector WHERE encoder = %s AND searchable
    ORDER BY vector <#> %s::halfvec LIMIT %s
"""


class Command(BaseCommand):
    help = (
        "Fills an empty database with a corpus of a given size from a folder of text, and measures its search. "
        "Give it a data directory of its own: INFORM_DATA_DIR."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--passages", type=int, default=PASSAGES)
        parser.add_argument("--real", type=int, default=REAL, help="passages that are encoded; others get near vectors")
        parser.add_argument("--text", type=Path, help="a folder with text; none: measure what is there")
        parser.add_argument("--questions", type=int, default=QUESTIONS)
        parser.add_argument("--rounds", type=int, default=ROUNDS)
        parser.add_argument("--no-measurement", action="store_true", help="fill only")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["text"]:
            self._fill(options["text"], total=options["passages"], real=options["real"])
        if options["no_measurement"]:
            return
        if options["text"]:  # in a process of its own, whose memory is that of the search
            own = ["--questions", str(options["questions"]), "--rounds", str(options["rounds"])]
            subprocess.run([sys.executable, "-m", "lab", "bench_scale", *own], check=True)
            return
        self._measure(_read_questions(options["questions"]), rounds=options["rounds"])

    def _fill(self, folder: Path, *, total: int, real: int) -> None:
        if Study.objects.exclude(study_id__startswith="L").exists():
            raise CommandError("The database holds another corpus: set INFORM_DATA_DIR to a folder of its own.")
        try:
            text = RealText(folder)
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{len(text.passages)} real passages in {folder}")
        started = time.monotonic()
        _questions_path().write_text(json.dumps(text.questions), encoding="utf-8")
        scale_corpus.fill(
            text, total=total, real=real, cache=settings.DATA_DIR / "cache" / "scale", report=self._report
        )
        self.stdout.write(f"filled in {time.monotonic() - started:.0f} s")

    def _report(self, step: str, done: int, total: int) -> None:
        if done == total or done % 8_000 < 64:
            self.stdout.write(f"{step}: {done} of {total}")

    def _measure(self, questions: Sequence[str], *, rounds: int) -> None:
        vectors = {question: search.encode_question(question) for question in questions}
        search.find(questions[0], vectors[questions[0]])  # counts the corpus
        times = interleaved(search_steps(vectors), questions, rounds=rounds)
        self.stdout.write(f"{Passage.objects.count()} passages, {len(questions)} questions, {rounds} rounds")
        for name, spent in times.items():
            self._print_times(name, spent)
        sizes = [bytes_received(lambda q=question: search.find(q, vectors[q])) / 1000 for question in questions]
        self._print_kilobytes("leaves the database, search", sizes)
        self.stdout.write(f"{'recall of the dense half at 20':36} {dense_recall(vectors):11.4f}")
        self.stdout.write(f"{'memory, search alone':36} {megabytes(os.getpid()):11.0f} MB")
        self._measure_answers(questions)
        self._print_sizes()

    def _measure_answers(self, questions: Sequence[str]) -> None:
        times: list[float] = []
        sizes: list[float] = []
        late = 0
        for question in [question[:LONGEST_QUESTION] for question in questions]:
            started = time.perf_counter()
            try:
                size = bytes_received(lambda q=question: asking.ask(question=q))
            except asking.OutOfTime:
                late += 1
                continue
            sizes.append(size / 1000)
            times.append(1000 * (time.perf_counter() - started))
        self.stdout.write(f"{'answers given up for lack of time':36} {late:11}")
        if len(times) <= WARM_UP:
            return
        self._print_times("whole answer, stored", times[WARM_UP:])
        self._print_kilobytes("leaves the database, whole answer", sizes[WARM_UP:])
        self.stdout.write(f"{'memory, with answers':36} {megabytes(os.getpid()):11.0f} MB")

    def _print_kilobytes(self, name: str, sizes: Sequence[float]) -> None:
        self.stdout.write(f"{name:36} p50 {statistics.median(sizes):7.1f}   most {max(sizes):7.1f} KB")

    def _print_times(self, name: str, spent: Sequence[float]) -> None:
        p95 = sorted(spent)[int(0.95 * (len(spent) - 1))]
        self.stdout.write(f"{name:36} p50 {statistics.median(spent):7.1f}   p95 {p95:7.1f} ms")

    def _print_sizes(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(TABLES)
            for name, table, indexes in cursor.fetchall():
                self.stdout.write(f"{name:36} {table / 1e6:9.0f} MB, its indexes {indexes / 1e6:9.0f} MB")


def bytes_received(act: Any) -> int:
    """Return how many bytes the database sends while `act` runs."""
    connection.ensure_connection()
    pgconn = connection.connection.pgconn
    with tempfile.TemporaryFile() as log:
        pgconn.trace(log.fileno())
        pgconn.set_trace_flags(pq.Trace.SUPPRESS_TIMESTAMPS)
        try:
            act()
        finally:
            pgconn.untrace()
        log.seek(0)
        rows = (line.split(b"\t", 2) for line in log)
        return sum(int(row[1]) for row in rows if row[0] == b"B" and len(row) > 1)


def dense_recall(vectors: dict[str, Any]) -> float:
    """Return the mean share of the `TOP` nearest passages that search finds, compared by a scan of all vectors."""
    shares = []
    for vector in vectors.values():
        hits = search.find("", vector).hits
        found = set(np.asarray(hits.ids)[np.argsort(-np.asarray(hits.cosines), kind="stable")[:TOP]].tolist())
        exact = _nearest(vector)
        shares.append(len(found & exact) / len(exact))
    return statistics.mean(shares)


def _nearest(vector: Any) -> set[int]:
    with transaction.atomic():
        driver = connection.connection
        cursor = psycopg.Cursor(driver)
        cursor.adapters.register_dumper(Packed, PackedDumper)
        cursor.execute("SET LOCAL enable_indexscan = off")
        cursor.execute(NEAREST, [search.encoder_name(), Packed(vector, ">f2"), TOP])
        return {pk for (pk,) in cursor.fetchall()}


def _questions_path() -> Path:
    path: Path = settings.DATA_DIR / QUESTIONS_FILE
    return path


def _read_questions(count: int) -> list[str]:
    try:
        questions = json.loads(_questions_path().read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError("There is no corpus to measure: name a folder of text with --text.") from error
    return [questions[place * len(questions) // count] for place in range(min(count, len(questions)))]
