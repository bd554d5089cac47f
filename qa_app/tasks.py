"""Celery tasks of questions and answers; each reads its work from the database."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from corpus_app import search
from qa_app.answers import contexts
from qa_app.evaluation import corpus_calibration, golden_runs
from qa_app.feedback import deriving, gaps, proposal_measurement
from qa_app.following import followers, outbox, renewal
from qa_app.models import Feedback, SentQuestion
from qa_app.privacy import erasing

logger = logging.getLogger(__name__)

MAX_RUN_SECONDS = 10  # of followed questions and of erasing; then other work has its turn


@shared_task(name="qa_app.tasks.tend_gaps")
def tend_gaps() -> None:
    """Group unanswered questions by meaning, and ask them again when the corpus has changed."""
    try:
        gaps.group_by_meaning()
        gaps.ask_again()
    except search.EncoderUnavailable as error:
        logger.error("%s", error)


@shared_task(name="qa_app.tasks.evaluate_golden")
def evaluate_golden() -> None:
    """Execute the waiting evaluation runs, one after the other."""
    while (run := golden_runs.claim_run()) is not None:
        golden_runs.execute_run(run)


@shared_task(name="qa_app.tasks.forget_contexts")
def forget_contexts() -> None:
    """Delete expired evidence contexts, idempotency keys, visitors of old ratings and unconfirmed addresses."""
    now = timezone.now()
    contexts.forget(now)
    SentQuestion.objects.forget(now)
    Feedback.objects.forget_visitors(now)
    followers.prune(now)


@shared_task(name="qa_app.tasks.erase_old_answers")
def erase_old_answers() -> None:
    """Erase the answers that are older than INFORM_KEEP_ANSWERS_DAYS and that nobody keeps."""
    before = timezone.now() - timedelta(days=settings.KEEP_ANSWERS_DAYS)
    erased = erasing.erase_old(before, seconds=MAX_RUN_SECONDS)
    if erased.answers:
        logger.info("Erased %d answers of before %s", erased.answers, f"{before:%Y-%m-%d}")
    if erased.answers and erasing.has_old(before):
        erase_old_answers.delay()


@shared_task(name="qa_app.tasks.renew_followed")
def renew_followed() -> None:
    """Ask followed questions again of a newer corpus, once its texts are indexed, and send what is in the outbox."""
    try:
        if search.is_indexed() and renewal.ask_due(seconds=MAX_RUN_SECONDS):
            renew_followed.delay()
    except search.EncoderUnavailable as error:
        logger.error("%s", error)
    notify_followers.delay()


@shared_task(name="qa_app.tasks.notify_followers")
def notify_followers() -> None:
    """Send what is in the outbox. Safe to run concurrently: each delivery is claimed by one worker."""
    if outbox.send_due(seconds=MAX_RUN_SECONDS):
        notify_followers.delay()


@shared_task(name="qa_app.tasks.calibrate_corpus")
def calibrate_corpus() -> None:
    """Calibrate the estimates to the corpus, where somebody asked for it or it has changed enough."""
    try:
        row = corpus_calibration.claim()
        if row or corpus_calibration.is_due():
            corpus_calibration.calibrate(row)
    except search.EncoderUnavailable as error:
        logger.error("%s", error)


@shared_task(name="qa_app.tasks.propose_changes")
def propose_changes() -> None:
    """Derive proposals from ratings, gaps and golden questions."""
    try:
        deriving.derive()
    except search.EncoderUnavailable as error:
        logger.error("%s", error)


@shared_task(name="qa_app.tasks.measure_proposals")
def measure_proposals() -> None:
    """Measure one waiting proposal; the schedule comes back for the next, so that other work is not held up."""
    try:
        proposal_measurement.measure_next()
    except search.EncoderUnavailable as error:
        logger.error("%s", error)
