"""The state of the index: which passages wait for an encoder, and how far each encoder is."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import Greatest

from corpus_app import embedding, records
from corpus_app.embedding import metric
from corpus_app.indexing import study_texts
from corpus_app.indexing.pending import may_lack, pending_studies
from corpus_app.models import (
    Passage,
    PassageQuerySet,
    PassageSentence,
    PassageTerm,
    PassageVector,
    Study,
    StudyText,
    StudyTextVector,
)

PUBLISHED = Q(study__status=records.Status.PUBLISHED)
INDEXABLE = ("published", "in_review", "draft", "archived")
"""Statuses of studies that are indexed, in the order in which they are."""
COUNTING_SECONDS, COUNTING_SHARE = 0.1, 0.05  # a count that takes longer is made for this share of the time alone
MAX_ATTEMPTS = 3  # failed attempts after which a passage is given up


@dataclass(frozen=True, slots=True)
class Progress:
    """The number of passages to index, and of those that are done."""

    done: int
    total: int

    @property
    def missing(self) -> int:
        return self.total - self.done


class ProgressReports:
    """Reports of the progress: rare where counting reads many passages."""

    def __init__(self, on_progress: Callable[[Progress], None] | None) -> None:
        self._on_progress = on_progress
        self._due = 0.0
        self._is_due = False

    def progress(self) -> None:
        """Report the progress, or note that it is to be reported later."""
        self._is_due = True
        if time.monotonic() >= self._due:
            self.end()

    def end(self) -> None:
        """Report what was not reported yet."""
        if not (self._on_progress and self._is_due):
            return
        started = time.monotonic()
        counted = progress()
        self._due = started + max(0.0, time.monotonic() - started - COUNTING_SECONDS) / COUNTING_SHARE
        self._is_due = False
        self._on_progress(counted)


@dataclass(frozen=True, slots=True)
class EncoderState:
    """The numbers of passages and short texts that have vectors of one encoder."""

    name: str
    passages: int
    texts: int
    is_used: bool
    """Search compares questions with its vectors."""
    is_active: bool
    """New vectors come from it."""
    is_fallback: bool
    """Its vectors are kept so that a change of encoder can be undone."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """The state of every encoder, and the numbers of passages and short texts to index."""

    encoders: tuple[EncoderState, ...]
    passages: int
    texts: int
    waiting: int
    failed: int


def read_state(*, used: str) -> IndexState:
    """Return the state of the index; `used` is the encoder that search uses."""
    active, fallback = embedding.active_name(), embedding.fallback_name()
    passages = dict(
        PassageVector.objects.filter(passage__in=indexable()).order_by().values_list("encoder").annotate(n=Count("pk"))
    )
    texts = study_texts.counts()
    others = sorted({*passages, *texts})
    names = dict.fromkeys((used, active, *([fallback] if fallback else []), *others))
    lacking = _lacking(active)
    failed = lacking.filter(index_attempts__gte=MAX_ATTEMPTS).count()
    return IndexState(
        tuple(
            EncoderState(
                name=name,
                passages=passages.get(name, 0),
                texts=texts.get(name, 0),
                is_used=name == used,
                is_active=name == active,
                is_fallback=name == fallback,
            )
            for name in names
        ),
        passages=indexable().count(),
        texts=study_texts.indexable().count(),
        waiting=lacking.count() - failed,
        failed=failed,
    )


def progress() -> Progress:
    """Return how many of the indexable passages are indexed by the active encoder; those given up are not."""
    total = indexable().count()
    return Progress(done=total - _lacking(embedding.active_name()).count(), total=total)


def has_work(*, excluding: Sequence[int] = (), only_published: bool = False) -> bool:
    """Return whether anything waits to be indexed, now or once the encoder is compressed, other than these passages.

    `only_published` leaves drafts out of account.
    """
    studies = PUBLISHED if only_published else Q()
    if not embedding.is_prepared():
        return indexable().filter(studies).exists()
    encoder = embedding.active_name()
    return (
        waiting(encoder).filter(studies).exclude(pk__in=excluding).exists()
        or study_texts.waiting(encoder).filter(studies).exists()
        or study_texts.without_texts().exists()
    )


def counts() -> dict[str, int]:
    """Return the number of rows of each kind."""
    return {
        "studies": Study.objects.count(),
        "published": Study.objects.published().count(),
        "passages": Passage.objects.count(),
        "searchable": Passage.objects.searchable().count(),
        "vectors": PassageVector.objects.count(),
        "short texts": StudyText.objects.count(),
        "short text vectors": StudyTextVector.objects.count(),
        "sentences": PassageSentence.objects.count(),
        "terms": PassageTerm.objects.exclude(lexeme="").count(),
    }


def indexable() -> PassageQuerySet:
    """Return all passages but those of withdrawn studies; drafts are indexed so that search finds them once
    published.
    """
    return Passage.with_plain.exclude(study__status=records.Status.WITHDRAWN)


def waiting(encoder: str) -> PassageQuerySet:
    """Return the passages that lack vectors of this encoder, except those given up."""
    return _lacking(encoder).filter(index_attempts__lt=MAX_ATTEMPTS)


def count_late(before: datetime) -> int:
    """Return how many passages of published studies have had no vector of any encoder since before that time."""
    incomplete = Q(study__indexed_by="")
    vector = PassageVector.objects.filter(passage=OuterRef("pk"), content_hash=OuterRef("content_hash"))
    since = Greatest("text_changed_at", "study__state_changed_at", "study__created_at")  # leaves out what is null
    return (
        Passage.with_plain.filter(PUBLISHED, incomplete, ~Exists(vector))
        .alias(since=since)
        .filter(since__lt=before)
        .count()
    )


def _lacking(encoder: str) -> PassageQuerySet:
    """Return the passages without a vector of their present text, or with a sentence that has none."""
    vector = PassageVector.objects.filter(
        passage=OuterRef("pk"), encoder=encoder, content_hash=OuterRef("content_hash")
    )
    sentences = PassageSentence.objects.filter(passage=OuterRef("pk"))
    other = sentences.exclude(Q(encoder=encoder) | Q(kept_encoder=encoder))
    below, above = may_lack(encoder)
    return indexable().filter(below | above, ~Exists(vector) | ~Exists(sentences) | Exists(other))


# --- Studies that are complete


def mark_complete(encoder: str, statuses: Collection[str]) -> None:
    """Note which studies of these statuses lack no vector, up to the first ones that wait for one."""
    for pks in pending_studies(encoder, statuses):
        mark_indexed(pks, encoder)
        of_studies = Q(study__in=pks)
        if waiting(encoder).filter(of_studies).exists() or study_texts.waiting(encoder).filter(of_studies).exists():
            return


@transaction.atomic
def mark_indexed(study_pks: Collection[int], encoder: str) -> None:
    """Note which of these studies lack no vector; those that somebody changes at the moment are left alone."""
    rows = Study.objects.select_for_update(no_key=True, skip_locked=True)
    rows = rows.filter(pk__in=study_pks, status__in=INDEXABLE).exclude(indexed_by=metric.space(encoder))
    locked = set(rows.order_by().values_list("pk", flat=True))
    of_studies = Q(study__in=locked)
    incomplete = {
        *study_texts.without_texts().filter(pk__in=locked).values_list("pk", flat=True),
        *study_texts.lacking(encoder).filter(of_studies).values_list("study", flat=True),
        *_lacking(encoder).filter(of_studies).values_list("study", flat=True),
    }
    Study.objects.filter(pk__in=locked - incomplete).update(indexed_by=metric.space(encoder))
