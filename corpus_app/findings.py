"""Vectors of what studies found. A question is compared with findings, too: they say in one sentence what a whole study shows.

Kept like those of passages: what waits is read from rows alone, and a vector is written only beside the words it was made of.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import groupby

from django.db import Error, transaction
from django.db.models import Count, Exists, F, OuterRef, QuerySet

from corpus_app import embedding, records
from corpus_app.models import Finding, FindingVector, Study

logger = logging.getLogger(__name__)

BATCH = 64  # findings between two commits; they are short
MAX_ATTEMPTS = 3


def embedded_texts(finding: Finding) -> list[str]:
    """What a finding's vectors are made of: what it says, then the questions that it is asked for by."""
    against = f" versus {finding.comparator}" if finding.comparator else ""
    return [f"{finding.intervention}{against}: {finding.outcome}. {finding.statement}", *finding.questions]


def waiting(encoder: str) -> QuerySet[Finding]:
    """Findings without a vector of their present words, those given up left out."""
    current = FindingVector.objects.filter(
        finding=OuterRef("pk"), position=0, encoder=encoder, content_hash=OuterRef("content_hash")
    )
    return _kept().filter(~Exists(current), index_attempts__lt=MAX_ATTEMPTS)


def _kept() -> QuerySet[Finding]:
    """Drafts' too: what is published is then compared at once."""
    return Finding.objects.exclude(study__status=records.Status.WITHDRAWN).order_by("study", "position")


def sync_study(study_pk: int) -> None:
    """Drops the vectors of what the study's findings said before, and gives those given up another chance."""
    FindingVector.objects.filter(finding__study=study_pk).exclude(content_hash=F("finding__content_hash")).delete()
    Finding.objects.filter(study=study_pk, index_attempts__gt=0).update(index_attempts=0, index_error="")


def index_batch(encoder: embedding.Encoder, *, threads: int, but: Sequence[int] = ()) -> list[int]:
    """Embeds the next findings that wait; which of them could not be encoded."""
    return _index(encoder, list(waiting(encoder.name).exclude(pk__in=but)[:BATCH]), threads=threads)


def index_all(encoder: embedding.Encoder, *, threads: int) -> None:
    """Embeds every finding anew, those given up included; each keeps its old vector until it is replaced."""
    Finding.objects.filter(index_attempts__gt=0).update(index_attempts=0, index_error="")
    ids = list(_kept().values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        _index(encoder, list(_kept().filter(pk__in=ids[start : start + BATCH])), threads=threads)


def forget(studies: QuerySet[Study], encoder: str) -> None:
    """The findings of these studies wait for their vectors of this encoder again."""
    Finding.objects.filter(study__in=studies, index_attempts__gt=0).update(index_attempts=0, index_error="")
    FindingVector.objects.filter(finding__study__in=studies, encoder=encoder).delete()


def drop_others(*encoders: str) -> int:
    """Drops the vectors of all encoders but these; says how many."""
    return FindingVector.objects.exclude(encoder__in=encoders).delete()[0]


def indexable() -> QuerySet[Finding]:
    return Finding.objects.exclude(study__status=records.Status.WITHDRAWN)


def counts() -> dict[str, int]:
    """How many findings have a vector of which encoder."""
    vectors = FindingVector.objects.filter(finding__in=indexable(), position=0).order_by()
    return dict(vectors.values_list("encoder").annotate(n=Count("pk")))


def _index(encoder: embedding.Encoder, findings: Sequence[Finding], *, threads: int) -> list[int]:
    """Which of these could not be encoded."""
    if not findings:
        return []
    texts = [(finding.pk, text) for finding in findings for text in embedded_texts(finding)]
    try:
        rows = encoder.encode([text for _, text in texts], threads=threads)
        if not (abs((rows**2).sum(axis=1) - 1) < 0.01).all():  # NaN included
            raise ValueError("the encoder gave a vector that is not of unit length")
    except (embedding.EncoderUnavailable, Error):
        raise
    except Exception as error:  # whatever the model stack raises
        if len(findings) == 1:
            _note_failure(findings[0], error)
            return [findings[0].pk]
        # One by one, to find the text that it cannot bear.
        return [pk for finding in findings for pk in _index(encoder, [finding], threads=threads)]
    vectors: dict[int, list[embedding.Matrix]] = {finding.pk: [] for finding in findings}
    for (pk, _), row in zip(texts, rows, strict=True):
        vectors[pk].append(row)
    for study_pk, group in groupby(findings, key=lambda finding: finding.study_id):
        _store(encoder.name, study_pk, list(group), vectors)
    return []


@transaction.atomic
def _store(
    encoder: str, study_pk: int, findings: Sequence[Finding], vectors: dict[int, list[embedding.Matrix]]
) -> None:
    """Writes the vectors of those findings that still say what was encoded."""
    Study.objects.select_for_update(no_key=True).filter(pk=study_pk).first()
    present = dict(Finding.objects.filter(pk__in=[f.pk for f in findings]).values_list("pk", "content_hash"))
    FindingVector.objects.bulk_create(
        [
            FindingVector(finding_id=f.pk, position=n, encoder=encoder, content_hash=f.content_hash, vector=vector)
            for f in findings
            if present.get(f.pk) == f.content_hash
            for n, vector in enumerate(vectors[f.pk])
        ],
        update_conflicts=True,
        unique_fields=["finding", "encoder", "position"],
        update_fields=["content_hash", "vector"],
    )


def _note_failure(finding: Finding, error: Exception) -> None:
    reason = f"{type(error).__name__}: {error}"[:500]
    logger.warning("Finding %s could not be indexed: %s", finding.pk, reason)
    Finding.objects.filter(pk=finding.pk, content_hash=finding.content_hash).update(
        index_attempts=F("index_attempts") + 1, index_error=reason
    )
