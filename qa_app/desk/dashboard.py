"""Dashboard panels on questions, gaps and feedback."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Count, F, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from corpus_app.records import NEEDED, NOTHING, Figure, Panel
from qa_app.answers import retracted
from qa_app.desk.base import OUTCOMES, in_words
from qa_app.models import Answer, Delivery, EvaluationRun, Feedback, Gap, Proposal

RECENT = timedelta(days=30)
SHOWN = 5


def panels(by: User) -> Iterator[Panel]:
    """Yield the panels for those who may view answers."""
    if not by.has_perm("qa_app.view_answer"):
        return
    since = (timezone.localtime() - RECENT).replace(hour=0, minute=0, second=0, microsecond=0)
    yield Panel("Questions in the last 30 days", tuple(_by_outcome(since)), as_bars=True)
    yield Panel("Asked most in the last 30 days", tuple(_most_asked(since)), empty="Nobody has asked anything yet.")
    yield Panel("Unanswered, most asked first", tuple(_gaps()), empty="No question waits for an answer.")
    yield Panel(NEEDED, (*_to_ask_again(), *_proposals(), *_undelivered()), empty=NOTHING, is_work=True)
    yield Panel("Answers that did not help", tuple(_disliked()), empty="Nobody has complained.")
    yield Panel("Golden questions", tuple(_golden()), empty="No evaluation run has ended yet.")


def _by_outcome(since: datetime) -> Iterator[Figure]:
    counts = dict(
        Answer.objects.filter(created_at__gte=since).order_by().values_list("outcome").annotate(n=Count("pk"))
    )
    listed = reverse("admin:qa_app_answer_changelist")
    for outcome in OUTCOMES:
        asked = urlencode({"outcome__exact": outcome, "created_at__gte": since.isoformat(sep=" ")})
        yield Figure(in_words(outcome), counts.get(outcome, 0), f"{listed}?{asked}")


def _most_asked(since: datetime) -> Iterator[Figure]:
    asked = Answer.objects.filter(created_at__gte=since).order_by().values("question").annotate(n=Count("pk"))
    for row in asked.order_by("-n", "question")[:SHOWN]:
        newest = Answer.objects.filter(question=row["question"]).only("id").first()
        if newest:
            yield Figure(row["question"][:120], row["n"], newest.get_absolute_url())


def _gaps() -> Iterator[Figure]:
    gaps = Gap.objects.filter(leader=None, status=Gap.Status.OPEN, outcome__in=["insufficient_evidence", "partial"])
    demanded = gaps.annotate(demanded=F("asked") + Coalesce(Sum("followers__asked"), 0)).order_by("-demanded", "pk")
    for pk, question, times in demanded.values_list("pk", "question", "demanded")[:SHOWN]:
        yield Figure(question[:120], times, reverse("admin:qa_app_gap_change", args=[pk]))


def _to_ask_again() -> Iterator[Figure]:
    listed = reverse("admin:qa_app_answer_changelist")
    number = retracted.to_ask_again().count()
    yield Figure("Answers whose source was withdrawn", number, f"{listed}?sources=again", needs_care=True)


def _proposals() -> Iterator[Figure]:
    listed = reverse("admin:qa_app_proposal_changelist")
    number = Proposal.objects.filter(status=Proposal.Status.OPEN).count()
    yield Figure("Proposals to decide", number, f"{listed}?status__exact={Proposal.Status.OPEN.value}")


def _undelivered() -> Iterator[Figure]:
    number = Delivery.objects.filter(status__in=Delivery.NEEDS_CARE).count()
    listed = f"{reverse('admin:qa_app_followedquestion_changelist')}?deliveries=care"
    yield Figure("Messages to followers that did not arrive", number, listed, needs_care=True)


def _disliked() -> Iterator[Figure]:
    bad = Feedback.objects.filter(is_helpful=False).order_by().values("answer", "answer__question")
    for row in bad.annotate(n=Count("pk")).order_by("-n", "answer")[:SHOWN]:
        address = f"{reverse('admin:qa_app_feedback_changelist')}?answer__id__exact={row['answer']}"
        yield Figure(row["answer__question"][:120], row["n"], address, needs_care=True)


def _golden() -> Iterator[Figure]:
    run = EvaluationRun.objects.filter(status=EvaluationRun.Status.DONE).first()
    if failed := EvaluationRun.objects.filter(status=EvaluationRun.Status.FAILED).count():
        listed = reverse("admin:qa_app_evaluationrun_changelist")
        yield Figure("Runs that failed", failed, f"{listed}?status__exact={EvaluationRun.Status.FAILED.value}")
    if run:
        failing = sum(not row["passes"] for row in run.results)
        address = reverse("admin:qa_app_evaluationrun_change", args=[run.pk])
        yield Figure("As expected", len(run.results) - failing, address)
        yield Figure("Not as expected", failing, address, needs_care=True)
