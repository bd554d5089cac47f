"""`python -m lab bench`: time a question from its text to its passages."""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from corpus_app import embedding, search
from corpus_app.models import Study

ROUNDS = 5  # interleaved, so that a busy machine slows down all of them
QUESTIONS = 40
# Questions that a step takes before the next step: what another has read would else stand in its way each time.
IN_A_ROW = 8


class Command(BaseCommand):
    help = "Times the encoder, compressed and original, and the search of the present corpus, all in one run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rounds", type=int, default=ROUNDS)
        parser.add_argument("--questions", type=Path, help="a file, one a line; else the titles of the first studies")

    def handle(self, *args: Any, **options: Any) -> None:
        titles = list(Study.objects.order_by("pk").values_list("title", flat=True)[:QUESTIONS])
        if not titles:
            raise CommandError("There is no corpus to measure: `manage.py import_corpus` first.")
        questions = titles if options["questions"] is None else _questions(options["questions"])
        try:
            self.measure(questions, rounds=options["rounds"])
        except embedding.EncoderUnavailable as error:
            raise CommandError(str(error)) from error

    def measure(self, questions: Sequence[str], *, rounds: int) -> None:
        serving = embedding.get(search.encoder_name())
        original = embedding.original_of(serving)
        vectors = {question: search.encode_question(question) for question in questions}
        steps: dict[str, Callable[[str], object]] = {
            f"encode, {serving.name}": lambda question: serving.encode([question], threads=embedding.THREADS),
            f"encode, {original.name}": lambda question: original.encode([question], threads=embedding.THREADS),
        }
        steps |= search_steps(vectors)
        times = interleaved(steps, questions, rounds=rounds)
        passages = search.find(questions[0], vectors[questions[0]]).searchable_passages
        self.stdout.write(f"{passages} searchable passages, {len(questions)} questions, {rounds} rounds; milliseconds")
        for name, spent in times.items():
            p95 = sorted(spent)[int(0.95 * (len(spent) - 1))]
            self.stdout.write(
                f"{name:36} p50 {statistics.median(spent):7.2f}   p95 {p95:7.2f}   best {min(spent):7.2f}"
            )
        ours, theirs = (statistics.median(times[f"encode, {encoder.name}"]) for encoder in (serving, original))
        self.stdout.write(
            f"The original takes {theirs / ours:.1f} times as long as the encoder in use, by {embedding.THREADS} "
            f"threads both."
        )


def encode_and_search(question: str) -> object:
    """Encode and search as an answer does, including the snapshot."""
    with search.snapshot():
        return search.find(question, search.encode_question(question))


def search_steps(vectors: Mapping[str, Any]) -> dict[str, Callable[[str], object]]:
    """Return the steps of a search, by name; each takes a question of which there is a vector."""
    return {
        "search by words alone": lambda question: search.find(question, None),
        "search by meaning alone": lambda question: search.find("", vectors[question]),
        "search by both halves": lambda question: search.find(question, vectors[question]),
        "encode and search": encode_and_search,
    }


def interleaved(
    steps: dict[str, Callable[[str], object]], questions: Sequence[str], *, rounds: int
) -> dict[str, list[float]]:
    """Return the milliseconds of each step for each question, alternating the steps after a few questions each."""
    spent: dict[str, list[float]] = {name: [] for name in steps}
    some = [questions[at : at + IN_A_ROW] for at in range(0, len(questions), IN_A_ROW)]
    for round_number, row, name in product(range(rounds + 1), some, steps):
        for question in row:
            started = time.perf_counter()
            steps[name](question)
            if round_number:  # the first one warms up
                spent[name].append(1000 * (time.perf_counter() - started))
    return spent


def _questions(path: Path) -> list[str]:
    try:
        found = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
    if not found:
        raise CommandError(f"There is no question in {path}.")
    return found
