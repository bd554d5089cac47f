"""Queries for answers whose sources were withdrawn, retracted or changed since."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from corpus_app.records import READABLE, Notice
from qa_app.models import Answer, AnswerCitation

LOST = Q(study=None) | ~Q(study__status__in=READABLE) | Q(study__notice=Notice.RETRACTED.value)
MARKED = Q(study__notice__in=[Notice.CORRECTED.value, Notice.EXPRESSION_OF_CONCERN.value])
CHANGED = Q(passage=None) | ~Q(passage__version=F("passage_version"))


def quoting_studies(study_ids: Collection[str]) -> QuerySet[Answer]:
    """Return the answers that quote one of these studies."""
    return _citing(Q(study_key__in=study_ids))


def with_lost_sources() -> QuerySet[Answer]:
    """Return the answers with a source that is retracted or no longer public."""
    return _citing(LOST)


def with_notices() -> QuerySet[Answer]:
    """Return the answers with a source that was corrected or is under an expression of concern."""
    return _citing(MARKED)


def with_changed_passages() -> QuerySet[Answer]:
    """Return the answers that quote a passage which was edited or removed since."""
    return _citing(CHANGED)


def to_ask_again() -> QuerySet[Answer]:
    """Return the answers with lost sources whose question has no later answer with all its sources."""
    later = (
        Answer.objects.annotate(follows=_parent("parent_id"))
        .filter(question=OuterRef("question"), mode=OuterRef("mode"), created_at__gt=OuterRef("created_at"))
        .filter(follows=_parent(OuterRef("parent_id")))
        .exclude(pk__in=with_lost_sources().values("pk"))
    )
    return with_lost_sources().filter(~Exists(later))


def _citing(condition: Q) -> QuerySet[Answer]:
    return Answer.objects.filter(pk__in=AnswerCitation.objects.filter(condition).order_by().values("sentence__answer"))


def _parent(key: str | OuterRef) -> Coalesce:
    """Return the parent's id as text; empty without a parent, so that NULLs compare equal."""
    return Coalesce(key, Value(""))
