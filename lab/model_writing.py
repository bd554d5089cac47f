"""Ask golden questions of a site whose answers a model server writes. Docs: docs/writers.md."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from django.test.utils import override_settings

from qa_app.answers import answering
from qa_app.evaluation.golden_set import Golden, read_golden
from qa_app.pipeline.records import Answered, Ending, Mode, Question, SentenceKind
from qa_app.pipeline.text import clean

GRACE_SECONDS = 5  # beyond the model's time, for all the rest of an answer


@dataclass(frozen=True, slots=True)
class Row:
    """The ending of one question."""

    id: str
    outcome: str
    writer: str
    reason: str
    """Why the model did not write; empty where it did, and for a refusal."""
    seconds: float
    tokens: int
    unverified: int
    """Sentences without a support in the passages, word for word."""


def measure(
    url: str, file: Path, *, model: str, seconds: int, n: int, on_progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """Return figures and a row for each of `n` questions, spread evenly over the file. Nothing is stored."""
    golden = read_golden(file)
    chosen = golden[:: max(1, len(golden) // n)][:n]
    rows = []
    named = {"OPENAI_BASE_URL": url, "OPENAI_MODEL": model, "OPENAI_TIMEOUT_SECONDS": seconds}
    with override_settings(**named):
        answering.warm_up()
        for question in chosen:
            rows.append(_ask(question))
            on_progress(len(rows), len(chosen))
    return figures(rows, seconds)


def _ask(golden: Golden) -> Row:
    question = Question(golden.question, clean(golden.question), Mode(golden.mode), golden.collection)
    start = perf_counter()
    ending = answering.make(question, writer="llm")
    generator = ending.generator
    return Row(
        golden.id, ending.outcome.value, generator.name if ending.outcome.is_answer else "",
        generator.fallback_reason or "", round(perf_counter() - start, 2), generator.tokens or 0,
        count_unverified(ending),
    )  # fmt: skip


def count_unverified(ending: Ending) -> int:
    """Return how many sentences quote no passage of the evidence word for word."""
    if not isinstance(ending, Answered):
        return 0
    texts = {candidate.passage.passage_id: candidate.passage.text for candidate in ending.passages}
    return sum(
        sentence.kind is not SentenceKind.COUNT
        and not (
            sentence.support and all(texts.get(s.passage_id, "")[s.start : s.end] == s.quote for s in sentence.support)
        )
        for sentence in (*ending.summary, *ending.answer)
    )


def figures(rows: Sequence[Row], seconds: int) -> dict[str, Any]:
    """Return the figures of all rows; `seconds` is the model's time for an answer."""
    answers = [row for row in rows if row.writer]
    asked = [row for row in rows if row.tokens]
    return {
        "questions": len(rows),
        "outcomes": dict(Counter(row.outcome for row in rows)),
        "answers": len(answers),
        "written by the model": sum(row.writer == "llm" for row in answers),
        "quoted instead, because": dict(Counter(row.reason for row in answers if row.reason)),
        "unverified sentences": sum(row.unverified for row in rows),
        "over budget": sum(row.seconds > seconds + GRACE_SECONDS for row in rows),
        "median seconds of answers": round(statistics.median([row.seconds for row in answers] or [0]), 1),
        "longest seconds": max((row.seconds for row in rows), default=0),
        "median tokens": statistics.median([row.tokens for row in asked] or [0]),
        "rows": [_plain(row) for row in rows],
    }


def _plain(row: Row) -> Mapping[str, Any]:
    return {name: getattr(row, name) for name in Row.__slots__}
