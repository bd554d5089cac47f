"""What becomes of test questions and fitted figures once another corpus replaces the one they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from django.db import transaction
from django.db.models import Q

from common.waking import wake
from qa_app.evaluation import corpus_calibration, verdicts
from qa_app.models import CorpusCalibration, GoldenQuestion, Proposal, SafetyReply


def adapt(archived: Sequence[str]) -> Iterator[str]:
    """Put out of use what was made for these studies, which are gone; yield what a curator should know."""
    asked = GoldenQuestion.objects.filter(is_active=True)
    about = Q(relevant__has_any_keys=list(archived)) | (Q(relevant={}) & ~Q(kind="safety"))
    if number := asked.filter(about).update(is_active=False):
        yield f"Golden questions put out of use, since they ask about the former corpus: {number}."
    GoldenQuestion.objects.filter(kind=verdicts.KIND, note=verdicts.WAITING, is_active=False).delete()
    CorpusCalibration.objects.all().delete()
    CorpusCalibration.objects.create(is_under_way=True)
    transaction.on_commit(partial(wake, corpus_calibration.TASK))
    Proposal.objects.filter(status__in=Proposal.UNDECIDED).delete()
    written = SafetyReply.objects.filter(status=SafetyReply.Status.APPROVED, written_by__isnull=False)
    for route in written.values_list("route", flat=True):
        yield f"The approved safety reply to {route} stays in force: read at the desk whether it fits."
