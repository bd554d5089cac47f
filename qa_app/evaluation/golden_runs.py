"""The curators' own test questions: brought in, asked in the background, compared from run to run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from common.waking import wake as wake_worker
from corpus_app import search
from qa_app.answers import answering
from qa_app.evaluation import golden_set
from qa_app.models import EvaluationRun, GoldenQuestion

SILENT_AFTER = timedelta(minutes=2)  # a run whose worker gave no sign for so long is taken up by another
MAIN_SOURCE = 2  # the grade of a study that answers the question by itself


@transaction.atomic
def bring_in(path: Path) -> tuple[int, int]:
    """New and changed questions of a file, all or none. Raises evaluation.BadGolden naming the line."""
    new = changed = 0
    for row in golden_set.read_rows(path):
        values = {
            "question": row["question"], "mode": row["mode"], "kind": row["kind"], "collection": row["collection"],
            "relevant": row["relevant"], "answer_points": row.get("answer_points", []), "sections": row["sections"],
            "note": row.get("note", ""),
        }  # fmt: skip
        try:
            GoldenQuestion(key=row["id"], **values).clean_fields()
        except ValidationError as error:
            raise golden_set.BadGolden(f"{row['id'][:60]}: {'; '.join(error.messages)}") from error
        question = GoldenQuestion.objects.filter(key=row["id"]).first()
        if question is None:
            GoldenQuestion.objects.create(key=row["id"], **values)
            new += 1
        elif any(getattr(question, name) != value for name, value in values.items()):
            GoldenQuestion.objects.filter(pk=question.pk).update(**values)
            changed += 1
    return new, changed


class NothingToAsk(Exception):
    def __init__(self) -> None:
        super().__init__("There are no golden questions yet: bring some in first.")


def order_run(*, by: User | None) -> EvaluationRun:
    """A run that a worker will take up. Raises NothingToAsk."""
    total = GoldenQuestion.objects.filter(is_active=True).count()
    if not total:
        raise NothingToAsk
    return EvaluationRun.objects.create(asked_by=by, asked_at=timezone.now(), total=total)


def wake() -> None:
    """Asks a worker for it. Never holds a page up; the schedule finds what is not asked for."""
    wake_worker("qa_app.tasks.evaluate_golden")


def take_up() -> EvaluationRun | None:
    """The oldest run that waits, or whose worker has gone silent; marked as ours."""
    now = timezone.now()
    left = Q(status=EvaluationRun.Status.WAITING) | Q(
        status=EvaluationRun.Status.RUNNING, beat_at__lt=now - SILENT_AFTER
    )
    with transaction.atomic():
        run = EvaluationRun.objects.select_for_update(skip_locked=True).filter(left).order_by("pk").first()
        if run:
            run.status, run.beat_at, run.done = EvaluationRun.Status.RUNNING, now, 0
            run.save()
    return run


def carry_out(run: EvaluationRun) -> None:
    """Asks every active question, telling how far it is; a fault ends the run with its reason."""
    golden = tuple(golden_set.golden_of(q.as_row()) for q in GoldenQuestion.objects.filter(is_active=True))

    def told(done: int) -> None:
        EvaluationRun.objects.filter(pk=run.pk).update(done=done, total=len(golden), beat_at=timezone.now())

    try:
        results = golden_set.evaluate(golden, on_progress=told)
    except Exception as error:
        _end(run, status=EvaluationRun.Status.FAILED, error=f"{type(error).__name__}: {error}"[:2_000])
        raise
    _end(
        run,
        status=EvaluationRun.Status.DONE,
        figures=golden_set.report(results),
        results=[_kept(result) for result in results],
    )


def _end(run: EvaluationRun, **values: Any) -> None:
    values |= {
        "finished_at": timezone.now(),
        "corpus_version": search.corpus_version(),
        "policy": answering.POLICY.label,
        "engine": answering.engine(),
    }
    EvaluationRun.objects.filter(pk=run.pk).update(**values)


def _kept(result: golden_set.Result) -> dict[str, Any]:
    return {
        "id": result.golden.id,
        "question": result.golden.question,
        "outcome": result.outcome.value,
        "cited": list(result.cited),
        "passes": passes(result),
    }


def passes(result: golden_set.Result) -> bool:
    """Whether a question came out as it should: answered from a main source, or refused where nothing answers it."""
    golden = result.golden
    if golden.is_answerable:
        return result.outcome.is_answer and any(golden.relevant.get(s) == MAIN_SOURCE for s in result.cited)
    if golden.kind == "safety":
        return result.outcome.value == "guardrail"
    return not result.outcome.is_answer


def regressions(study_ids: Sequence[str]) -> Iterator[str]:
    """Why these studies should not be published: golden questions that came out as they should in the last run, and would
    not any more. Without a finished run there is nothing to compare with.

    New passages count by their words alone until the worker has embedded them.
    """
    last = EvaluationRun.objects.filter(status=EvaluationRun.Status.DONE).first()
    passed = {row["id"] for row in last.results if row["passes"]} if last else set()
    questions = GoldenQuestion.objects.filter(is_active=True, key__in=passed)
    golden = [golden_set.golden_of(question.as_row()) for question in questions]
    broken = [r for r in golden_set.evaluate(golden, on_progress=lambda done: None) if not passes(r)] if golden else []
    if broken:
        named = "; ".join(f"“{r.golden.question}” ({r.golden.id}): {r.outcome.value}" for r in broken[:5])
        more = f" and {len(broken) - 5} more" if len(broken) > 5 else ""
        yield f"golden questions would no longer come out as they should: {named}{more}."
