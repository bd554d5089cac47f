"""Import golden questions, evaluate them in the background, and compare runs."""

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
from qa_app.models import CorpusCalibration, EvaluationRun, GoldenQuestion

WORKER_TIMEOUT = timedelta(minutes=2)  # without a heartbeat, another worker claims the run
MAIN_SOURCE = 2  # the grade of a study that answers the question by itself


@transaction.atomic
def import_file(path: Path) -> tuple[int, int]:
    """Import the questions of a file, all or none; return the number of new and of changed ones. Raises BadGolden."""
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


def export_rows(by: User | None) -> Iterator[dict[str, Any]]:
    """Yield the questions that this person may see as rows of a golden file; None sees all."""
    if by is None or by.has_perm("qa_app.view_goldenquestion"):
        for question in GoldenQuestion.objects.iterator():
            yield question.as_row() | {"is_active": question.is_active}


class NoGoldenQuestions(Exception):
    def __init__(self) -> None:
        super().__init__("There are no golden questions yet: bring some in first.")


def create_run(*, by: User | None) -> EvaluationRun:
    """Create a run for a worker. Raises NoGoldenQuestions."""
    total = GoldenQuestion.objects.filter(is_active=True).count()
    if not total:
        raise NoGoldenQuestions
    return EvaluationRun.objects.create(asked_by=by, asked_at=timezone.now(), total=total)


def notify_worker() -> None:
    """Notify a worker without waiting; without one, the schedule finds the run."""
    wake_worker("qa_app.tasks.evaluate_golden")


def claim_run() -> EvaluationRun | None:
    """Claim the oldest run that waits or whose worker stopped; None where there is none."""
    now = timezone.now()
    left = Q(status=EvaluationRun.Status.WAITING) | Q(
        status=EvaluationRun.Status.RUNNING, beat_at__lt=now - WORKER_TIMEOUT
    )
    with transaction.atomic():
        run = EvaluationRun.objects.select_for_update(skip_locked=True).filter(left).order_by("pk").first()
        if run:
            run.status, run.beat_at, run.done = EvaluationRun.Status.RUNNING, now, 0
            run.save()
    return run


def execute_run(run: EvaluationRun) -> None:
    """Ask every active question and record the progress; an error ends the run with its reason."""
    golden = tuple(golden_set.golden_of(q.as_row()) for q in GoldenQuestion.objects.filter(is_active=True))

    def report_progress(done: int) -> None:
        EvaluationRun.objects.filter(pk=run.pk).update(done=done, total=len(golden), beat_at=timezone.now())

    try:
        results = golden_set.evaluate(golden, on_progress=report_progress)
    except Exception as error:
        _end(run, status=EvaluationRun.Status.FAILED, error=f"{type(error).__name__}: {error}"[:2_000])
        raise
    _end(
        run,
        status=EvaluationRun.Status.DONE,
        figures=golden_set.report(results),
        results=[result_row(result) for result in results],
    )


def _end(run: EvaluationRun, **values: Any) -> None:
    values |= {
        "finished_at": timezone.now(),
        "corpus_version": search.corpus_version(),
        "policy": answering.POLICY.label,
        "engine": answering.engine(),
    }
    EvaluationRun.objects.filter(pk=run.pk).update(**values)


def current_run() -> EvaluationRun | None:
    """Return the last complete run if it measured the present corpus, policy, engine and calibration."""
    last = EvaluationRun.objects.filter(status=EvaluationRun.Status.DONE).first()
    present = (search.corpus_version(), answering.POLICY.label, answering.engine())
    if last is None or (last.corpus_version, last.policy, last.engine) != present:
        return None
    return None if CorpusCalibration.is_newer_than(last.asked_at) else last


def request_run() -> None:
    """Create a run unless one is under way, or one of the present corpus failed. Raises NoGoldenQuestions."""
    under_way = Q(status__in=[EvaluationRun.Status.WAITING, EvaluationRun.Status.RUNNING])
    failed = Q(status=EvaluationRun.Status.FAILED, corpus_version=search.corpus_version())
    if not EvaluationRun.objects.filter(under_way | failed).exists():
        create_run(by=None)
        notify_worker()


def result_row(result: golden_set.GoldenResult) -> dict[str, Any]:
    """Return what a run stores of one question."""
    return {
        "id": result.golden.id,
        "question": result.golden.question,
        "outcome": result.outcome.value,
        "cited": list(result.cited),
        "sections": list(result.final_sections),
        "passes": passes(result),
    }


def passes(result: golden_set.GoldenResult) -> bool:
    """Return whether a question was answered from a main source, or declined if nothing answers it."""
    golden = result.golden
    if golden.is_answerable:
        return result.outcome.is_answer and any(golden.relevant.get(s) == MAIN_SOURCE for s in result.cited)
    if golden.kind == "safety":
        return result.outcome.value == "guardrail"
    return not result.outcome.is_answer


def regressions(study_ids: Sequence[str]) -> Iterator[str]:
    """Yield a message if golden questions that passed in the last run fail on these drafts.

    New passages are found by words only until the worker has embedded them.
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
