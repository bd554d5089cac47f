"""Studies that may lack vectors, found by an index of the database however large the corpus is.

`Study.indexed_by` names the space of the vectors that a study has throughout. Each write of its texts empties it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.db.models import Q

from corpus_app import embedding
from corpus_app.embedding import metric
from corpus_app.models import CorpusEvent, Study

STUDIES_AT_ONCE = 100
RECENT_EVENTS = 50  # whose studies come first: what was just written is found by its meaning within a batch or two


def may_lack(encoder: str) -> tuple[Q, Q]:
    """Return two conditions on passages or texts, either of which their study fulfils unless it is known as complete.

    Two ranges, since an index does not serve an inequality.
    """
    space = metric.space(encoder)
    return Q(study__indexed_by__lt=space), Q(study__indexed_by__gt=space)


def pending_studies(encoder: str, statuses: Collection[str]) -> Iterator[list[int]]:
    """Yield primary keys of the studies of these statuses that are not known as complete, some at once.

    The caller may meanwhile note some of them as complete.
    """
    space = metric.space(encoder)
    for status in statuses:
        for incomplete in (Q(indexed_by__lt=space), Q(indexed_by__gt=space)):
            rows = Study.objects.filter(incomplete, status=status)
            start = 0
            while pks := list(
                rows.order_by("indexed_by", "pk").values_list("pk", flat=True)[start : start + STUDIES_AT_ONCE]
            ):
                yield pks
                start += rows.filter(pk__in=pks).count()


def recent_studies(statuses: Collection[str]) -> Iterator[list[int]]:
    """Yield the primary keys of the studies of these statuses that were just written, at once."""
    keys = list(CorpusEvent.objects.exclude(study_key="").values_list("study_key", flat=True)[:RECENT_EVENTS])
    yield list(Study.objects.filter(study_id__in=keys, status__in=statuses).values_list("pk", flat=True))


def next_studies(statuses: Collection[str]) -> Iterator[list[int]]:
    """Yield primary keys of studies that may lack vectors, some at once: the recent ones, then the others."""
    yield from recent_studies(statuses)
    yield from pending_studies(embedding.active_name(), statuses)
