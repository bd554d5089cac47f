"""`python -m lab bench_desk`: count the queries and the time of each admin list in a large corpus."""

from __future__ import annotations

import statistics
import time
import uuid
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.urls import reverse
from django.utils import timezone

from lab import scratch_corpus
from qa_app.models import (
    Answer,
    AnswerCitation,
    AnswerSentence,
    EvaluationRun,
    Feedback,
    Gap,
    GoldenQuestion,
    StoredPolicy,
)

ROUNDS = 5  # all pages in turn, so that a busy machine slows down all of them
MOST_QUERIES, MOST_MILLISECONDS = 15, 300.0
ANSWERS, GAPS, GOLDEN, RUNS = 4_000, 1_000, 200, 40
IMPORTS, ITEMS = 200, 10_000  # items of one import: the longest list a preview has
HOST = "localhost"
FRONT, ONE = "front page", ", one"  # no lists: shown beside them, without a limit


class Command(BaseCommand):
    help = "Times every list of the desk in a throw-away database of made-up studies, and counts its queries."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--studies", type=int, default=2_000)
        parser.add_argument("--passages", type=int, default=20_000)
        parser.add_argument("--rounds", type=int, default=ROUNDS)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["studies"] < 1 or options["passages"] < options["studies"] or options["rounds"] < 1:
            raise CommandError("Each study has a passage at least, and each page is opened once at least.")
        with scratch_corpus.throwaway_database(), override_settings(ALLOWED_HOSTS=[HOST], STORAGES=_plain_static()):
            each = options["passages"] // options["studies"]
            ids = scratch_corpus.crowd(studies=options["studies"], passages_each=each, report=self.report)
            fill(ids)
            waiting = scratch_corpus.crowd_imports(ids, imports=IMPORTS, items=ITEMS)
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE")
            self.stdout.write(f"{len(ids)} studies, {len(ids) * each} passages, {ANSWERS} answers")
            self.measure(rounds=options["rounds"], waiting=waiting)

    def report(self, what: str, done: int, total: int) -> None:
        if done == total or done % 500 == 0:
            self.stderr.write(f"{what}: {done} of {total}")

    def measure(self, *, rounds: int, waiting: int) -> None:
        client = Client(HTTP_HOST=HOST)
        client.force_login(User.objects.create_superuser("bench"))
        spent: dict[str, list[float]] = {}
        queries: dict[str, int] = {}
        for round_number in range(rounds + 1):
            for name, address in pages(waiting):
                with CaptureQueriesContext(connection) as captured:
                    started = time.perf_counter()
                    response = client.get(address, secure=True)
                    milliseconds = 1000 * (time.perf_counter() - started)
                if response.status_code != 200:
                    raise CommandError(f"{name}: {address} answered {response.status_code}.")
                if round_number:  # the first one warms up
                    spent.setdefault(name, []).append(milliseconds)
                    queries[name] = len(captured)
        self.stdout.write(f"{'':44}{'queries':>8}{'p50 ms':>9}{'worst ms':>10}")
        for name, times in spent.items():
            is_list = name != FRONT and not name.endswith(ONE)
            is_slow = queries[name] >= MOST_QUERIES or statistics.median(times) >= MOST_MILLISECONDS
            self.stdout.write(
                f"{name:44}{queries[name]:>8}{statistics.median(times):>9.1f}{max(times):>10.1f}"
                + ("  over the limit" if is_list and is_slow else "")
            )


def pages(waiting: int) -> Iterator[tuple[str, str]]:
    """Return the URLs to time: every list plain, searched and filtered, the front page, and the longest forms."""
    yield FRONT, reverse("admin:index")
    for model, desk in sorted(admin.site._registry.items(), key=lambda entry: entry[0]._meta.label):
        name = f"admin:{model._meta.label_lower.replace('.', '_')}"
        yield model._meta.label, reverse(f"{name}_changelist")
        if desk.search_fields:
            yield f"{model._meta.label}, a search", f"{reverse(f'{name}_changelist')}?q=baba"
        for column in range(1, len(desk.list_display) + 1):
            if model._meta.label in {"corpus_app.Study", "corpus_app.Passage"}:
                yield f"{model._meta.label}, sorted by column {column}", f"{reverse(f'{name}_changelist')}?o={column}"
        first = model._default_manager.order_by("pk").first()
        if first is not None:
            yield f"{model._meta.label}{ONE}", reverse(f"{name}_change", args=[first.pk])
    for page in (1, 200):
        address = reverse("admin:corpus_app_importjob_change", args=[waiting])
        yield f"corpus_app.ImportItem, page {page}", f"{address}?p={page}"
    yield "corpus_app.Passage, those that wait", f"{reverse('admin:corpus_app_passage_changelist')}?indexed=waiting"


def fill(study_ids: tuple[str, ...]) -> None:
    """Create synthetic answers, gaps and runs for the studies."""
    now = timezone.now()
    payload = {"evidence": [], "words": "x" * 8_000}
    policy, _ = StoredPolicy.objects.get_or_create(label="bench", defaults={"values": {}})
    answers = Answer.objects.bulk_create(
        [
            Answer(
                id=f"{n:022d}", request_id=uuid.uuid4(), question=f"Question {n % 900} about something?",
                mode="beginner", outcome=("answered", "partial", "insufficient_evidence")[n % 3], corpus_version=1,
                policy=policy, payload=payload, created_at=now - timedelta(minutes=n),
            )
            for n in range(ANSWERS)
        ],
        batch_size=500,
    )  # fmt: skip
    sentences = AnswerSentence.objects.bulk_create(
        AnswerSentence(answer=answer, part="answer", position=0, text="Words.", kind="quoted", verdict="verbatim")
        for answer in answers
    )
    AnswerCitation.objects.bulk_create(
        AnswerCitation(
            sentence=sentence, index=1, study_key=study_ids[n % len(study_ids)], passage_key=n, passage_version=1,
            start=0, end=5, quote="Words",
        )
        for n, sentence in enumerate(sentences)
    )  # fmt: skip
    Feedback.objects.bulk_create(
        Feedback(answer=answer, is_helpful=n % 2 == 0, reasons=["wrong"], given_at=now)
        for n, answer in enumerate(answers[::4])
    )
    Gap.objects.bulk_create(
        Gap(
            key=f"{n}", question=f"Gap {n}?", outcome="partial", asked=n % 50, first_asked_at=now, last_asked_at=now,
            last_answer=answers[n], result=answers[n] if n % 3 == 0 else None,
        )
        for n in range(GAPS)
    )  # fmt: skip
    GoldenQuestion.objects.bulk_create(
        GoldenQuestion(
            key=f"g-{n}", question=f"Golden {n}?", mode="beginner", kind=f"kind {n % 5}", relevant={study_ids[0]: 2}
        )
        for n in range(GOLDEN)
    )
    results = [
        {"id": f"g-{n}", "question": f"Golden {n}?", "outcome": "answered", "cited": [], "passes": n % 9 > 0}
        for n in range(GOLDEN)
    ]
    EvaluationRun.objects.bulk_create(
        EvaluationRun(
            asked_at=now, status="done", done=GOLDEN, total=GOLDEN, corpus_version=n, results=results, figures={}
        )
        for n in range(RUNS)
    )


def _plain_static() -> dict[str, Any]:
    """Use static files under their plain names, because the manifest exists only after `prepare`."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    return {**settings.STORAGES, "staticfiles": plain}
