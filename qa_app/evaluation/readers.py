"""Evaluate the running code on labelled reader questions and on corpora of other subjects; no answer is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from django.db import transaction
from django.utils import timezone

from corpus_app import search
from qa_app.answers import answering, asking, payload
from qa_app.evaluation import reader_figures
from qa_app.evaluation.reader_figures import ReaderResult
from qa_app.evaluation.reader_labels import ReaderQuestion, read_labels
from qa_app.pipeline import policy as policies
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Ending

WRITER = "extractive"  # a language model would answer differently each time

Progress = Callable[[str, int, int], None]
"""Called with a label, the number done and the total."""


def evaluate_readers(
    path: Path, *, preset: str | None = None, changes: Sequence[str] = (), report: Progress
) -> dict[str, Any]:
    """Report the figures of a file of labelled questions on the live corpus. Raises BadLabels and BadPolicy."""
    policy = policy_of(preset, changes)
    results = ask_all(read_labels(path), policy=policy, report=report)
    return describe_run(path, policy) | reader_figures.report(results)


def policy_of(preset: str | None, changes: Sequence[str]) -> Policy:
    """Return the site's policy, or a preset with changed figures."""
    return policies.named(preset or "default", changes) if preset or changes else answering.POLICY


def describe_run(source: Path, policy: Policy) -> dict[str, Any]:
    return {
        "source": source.name,
        "policy": policy.label,
        "encoder": search.encoder_name(),
        "corpus_version": search.corpus_version(),
    }


# --- Asking ---


def ask_all(questions: Sequence[ReaderQuestion], *, policy: Policy, report: Progress) -> tuple[ReaderResult, ...]:
    """Ask every question, follow-ups after their parents, and return the results in the order of the questions."""
    found: dict[str, ReaderResult] = {}
    for conversation in conversations(questions):
        for result in _ask_conversation(conversation, policy):
            found[result.question.id] = result
            report("questions", len(found), len(questions))
    return tuple(found[question.id] for question in questions)


def conversations(questions: Iterable[ReaderQuestion]) -> list[list[ReaderQuestion]]:
    """Group questions with all that follow them; a follow-up without its parent starts a conversation of its own."""
    of_question: dict[str, list[ReaderQuestion]] = {}
    groups: list[list[ReaderQuestion]] = []
    for question in questions:
        group = of_question.get(question.follows or "")
        if group is None:
            groups.append(group := [])
        group.append(question)
        of_question[question.id] = group
    return groups


def _ask_conversation(conversation: Sequence[ReaderQuestion], policy: Policy) -> list[ReaderResult]:
    """Ask the questions of a conversation; answers with follow-ups are stored, and rolled back at the end."""
    followed = {question.follows for question in conversation}
    answers: dict[str, str] = {}
    results = []
    with nullcontext() if len(conversation) == 1 else _rolled_back():
        for question in conversation:
            parent = answers.get(question.follows or "")
            result, answer = _ask(question, parent, policy)
            results.append(result)
            if answer is not None and question.id in followed:
                stored = answering.store(answer, parent=parent, now=timezone.now(), files_gap=False)
                answers[question.id] = stored["id"]
    return results


@contextmanager
def _rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _ask(question: ReaderQuestion, parent: str | None, policy: Policy) -> tuple[ReaderResult, Ending | None]:
    start = perf_counter()
    try:
        checked = asking.check(
            question=question.question, mode=question.mode.value, collection=None, writer=WRITER, parent=parent
        )
    except asking.BadQuestion as error:
        return ReaderResult(question, outcome=None, error=error.detail), None
    answer = answering.make(checked, writer=WRITER, policy=policy)
    body = _payload(answer, parent, timezone.now())
    return reader_figures.measure(question, body, milliseconds=1000 * (perf_counter() - start)), answer


def _payload(answer: Ending, parent: str | None, now: datetime) -> payload.Payload:
    return payload.build_payload(
        answer,
        answer_id="",
        url="",
        request_id="",
        parent=parent,
        encoder=search.encoder_name(),
        created_at=now.isoformat(timespec="seconds"),
    )
