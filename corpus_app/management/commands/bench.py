"""`manage.py bench`: how long a question takes here, from its words to its passages."""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from corpus_app import embedding, search
from corpus_app.models import Study

ROUNDS = 5  # interleaved, so that a busy machine slows down all of them
QUESTIONS = 40


class Command(BaseCommand):
    help = "Times the encoder, compressed and original, and the search of the present corpus, all in one run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rounds", type=int, default=ROUNDS)

    def handle(self, *args: Any, **options: Any) -> None:
        questions = list(Study.objects.order_by("pk").values_list("title", flat=True)[:QUESTIONS])
        if not questions:
            raise CommandError("There is no corpus to measure: `manage.py import_corpus` first.")
        try:
            self.measure(questions, rounds=options["rounds"])
        except embedding.EncoderUnavailable as error:
            raise CommandError(str(error)) from error

    def measure(self, questions: Sequence[str], *, rounds: int) -> None:
        serving = embedding.get(search.encoder_name())
        original = embedding.original_of(serving)
        vectors = {question: search.encode_question(question) for question in questions}
        steps: dict[str, Callable[[str], object]] = {
            f"encode, {serving.name}": lambda question: serving.encode([question]),
            f"encode, {original.name}": lambda question: original.encode([question]),
            "search by words alone": lambda question: search.find(question, None),
            "search by meaning alone": lambda question: search.find("", vectors[question]),
            "search": lambda question: search.find(question, vectors[question]),
            "encode and search": encode_and_search,
        }
        times = interleaved(steps, questions, rounds=rounds)
        passages = search.find(questions[0], vectors[questions[0]]).searchable_passages
        self.stdout.write(f"{passages} searchable passages, {len(questions)} questions, {rounds} rounds; milliseconds")
        for name, spent in times.items():
            p95 = sorted(spent)[int(0.95 * (len(spent) - 1))]
            self.stdout.write(
                f"{name:36} p50 {statistics.median(spent):7.2f}   p95 {p95:7.2f}   best {min(spent):7.2f}"
            )
        ours, theirs = (statistics.median(times[f"encode, {encoder.name}"]) for encoder in (serving, original))
        self.stdout.write(f"The original takes {theirs / ours:.1f} times as long as the encoder in use.")


def encode_and_search(question: str) -> object:
    """As an answer does it: the question is encoded while its words are looked up."""
    return search.find_while(question, lambda: (search.encode_question(question), None))


def interleaved(
    steps: dict[str, Callable[[str], object]], questions: Sequence[str], *, rounds: int
) -> dict[str, list[float]]:
    """The milliseconds of each step for each question, step after step within each question."""
    spent: dict[str, list[float]] = {name: [] for name in steps}
    for round_number in range(rounds + 1):
        for question in questions:
            for name, step in steps.items():
                started = time.perf_counter()
                step(question)
                if round_number:  # the first one warms up
                    spent[name].append(1000 * (time.perf_counter() - started))
    return spent
