"""Background work of questions and answers. Each task is a wake-up call: what there is to do, the rows say."""

from __future__ import annotations

import logging

from celery import shared_task
from django.utils import timezone

from corpus_app import search
from qa_app.answers import contexts
from qa_app.evaluation import golden_runs
from qa_app.feedback import gaps
from qa_app.models import SentQuestion

logger = logging.getLogger(__name__)


@shared_task(name="qa_app.tasks.tend_gaps")
def tend_gaps() -> None:
    """Gathers unanswered questions by meaning, and asks them again where the corpus has changed."""
    try:
        gaps.gather()
        gaps.ask_again()
    except search.EncoderUnavailable as error:
        logger.error("%s", error)


@shared_task(name="qa_app.tasks.evaluate_golden")
def evaluate_golden() -> None:
    """Carries out the evaluation runs that wait, one after the other."""
    while (run := golden_runs.take_up()) is not None:
        golden_runs.carry_out(run)


@shared_task(name="qa_app.tasks.forget_contexts")
def forget_contexts() -> None:
    """Deletes frozen evidence that nobody can ask for any more, and frees the keys of questions of the day before."""
    now = timezone.now()
    contexts.forget(now)
    SentQuestion.objects.forget(now)
