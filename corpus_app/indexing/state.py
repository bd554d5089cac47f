"""The state of the index: which passages wait for an encoder, and how far each encoder is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Greatest

from corpus_app import embedding, records
from corpus_app.indexing import study_texts
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
MAX_ATTEMPTS = 3  # failed attempts after which a passage is given up


@dataclass(frozen=True, slots=True)
class Progress:
    """The number of passages to index, and of those that are done."""

    done: int
    total: int

    @property
    def missing(self) -> int:
        return self.total - self.done


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
    waiting_parts = (part.filter(studies, index_attempts__lt=MAX_ATTEMPTS) for part in _lacking_parts(encoder))
    return (
        any(part.exclude(pk__in=excluding).exists() for part in waiting_parts)
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
    vector = PassageVector.objects.filter(passage=OuterRef("pk"), content_hash=OuterRef("content_hash"))
    since = Greatest("text_changed_at", "study__state_changed_at", "study__created_at")  # leaves out what is null
    return indexable().filter(PUBLISHED, ~Exists(vector)).alias(since=since).filter(since__lt=before).count()


def _lacking(encoder: str) -> PassageQuerySet:
    """Return the passages without a vector of their present text, or with a sentence that has none."""
    sentences = PassageSentence.objects.filter(passage=OuterRef("pk"))
    other = sentences.exclude(Q(encoder=encoder) | Q(kept_encoder=encoder))
    return indexable().filter(~Exists(_vectors(encoder)) | ~Exists(sentences) | Exists(other))


def _lacking_parts(encoder: str) -> Iterator[PassageQuerySet]:
    """Yield the same passages by what they lack: PostgreSQL finds each part by an index, but not their union."""
    other = PassageSentence.objects.filter(Q(encoder__lt=encoder) | Q(encoder__gt=encoder))  # ranges of the index
    yield indexable().filter(pk__in=other.exclude(kept_encoder=encoder).values("passage"))
    yield indexable().filter(~Exists(PassageSentence.objects.filter(passage=OuterRef("pk"))))
    yield indexable().filter(~Exists(_vectors(encoder)))


def _vectors(encoder: str) -> QuerySet[PassageVector]:
    return PassageVector.objects.filter(passage=OuterRef("pk"), encoder=encoder, content_hash=OuterRef("content_hash"))
