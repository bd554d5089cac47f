"""Embed passages and short texts in the background, by any number of workers at once.

What waits is read from rows alone (content hash and encoder), so a lost or repeated wake-up call changes nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from django.db import Error, transaction
from django.db.models import Case, F, Q, TextField, Value, When

from common.copying import copy_rows
from corpus_app import embedding, passages, records
from corpus_app.indexing import study_texts
from corpus_app.indexing.claims import claim, forget_done
from corpus_app.indexing.pending import next_studies, recent_studies
from corpus_app.indexing.planner_statistics import (
    ANALYSE_FROM,
    ANALYSED_SHARE,
    count_estimate,
    update_planner_statistics,
)
from corpus_app.indexing.state import (
    INDEXABLE,
    Progress,
    ProgressReports,
    indexable,
    mark_complete,
    mark_indexed,
    waiting,
)
from corpus_app.indexing.superseded import drop_other_vectors
from corpus_app.indexing.sync import lock_study
from corpus_app.indexing.term_statistics import merge_term_statistics
from corpus_app.models import (
    IndexBatch,
    Passage,
    PassageQuerySet,
    PassageSentence,
    PassageVector,
    Study,
    StudyText,
)

logger = logging.getLogger(__name__)

WORKER_ENDED = "the worker ended while it embedded this text"
BATCH = 16  # passages between two commits: about a second's work on two cores
ENCODER_SAMPLE = 200  # titles, and as many texts, that check the compressed encoder
NO_FORMER_VECTOR = ("", None)
PLAIN = records.PassageKind.PLAIN
PUBLISHED = INDEXABLE[:1]
Studies = Callable[[], Iterator[list[int]]]
"""Keys of the studies of one step, some at once, read anew with each call."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """The outcome of one run: the number of passages indexed, and the ids of those that could not be."""

    count: int
    failed: tuple[int, ...] = ()
    is_cut_short: bool = False
    """The time limit was reached before everything was indexed."""
    texts: int = 0
    """The number of short texts that were looked at."""


@dataclass(frozen=True, slots=True)
class _Work:
    """A passage as it was read, and the texts to encode: the whole passage, then its sentences."""

    passage_id: int
    study_pk: int
    is_plain: bool
    content_hash: str
    spans: tuple[passages.Span, ...]
    texts: tuple[str, ...]


def index_stale(
    *,
    seconds: float | None = None,
    excluding: Sequence[int] = (),
    only_published: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Indexed:
    """Embed waiting passages, except these, batch by batch until none is left or the time is up.

    Those of published studies come first; `only_published` leaves drafts waiting.
    If the process is killed, each passage is either indexed or still waiting. Raises EncoderUnavailable when the
    encoder cannot be loaded.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    _prepare_encoder()
    study_texts.write_missing()
    merge_term_statistics()
    report = ProgressReports(on_progress)
    is_cut_short = False
    count = texts = 0
    failed: list[int] = []
    statuses = PUBLISHED if only_published else INDEXABLE
    mark_complete(embedding.active_name(), statuses)
    for studies in (
        partial(recent_studies, statuses),
        partial(next_studies, PUBLISHED),
        partial(next_studies, statuses),
    ):
        tried, is_complete = _index_short_texts(studies, deadline)
        texts += tried
        is_cut_short = is_cut_short or not is_complete
        while not is_cut_short:
            with _claim_batch(studies, [*excluding, *failed]) as works:
                done, batch_failed = _index(embedding.get(), works) if works else (0, [])
            if not works:
                break
            mark_indexed({work.study_pk for work in works}, embedding.active_name())
            count += done
            failed += batch_failed
            report.progress()
            is_cut_short = deadline is not None and time.monotonic() >= deadline
    if not is_cut_short:
        _finish()
    report.end()
    return Indexed(count, tuple(failed), is_cut_short, texts)


def _claim_batch(studies: Studies, excluded: Collection[int]) -> AbstractContextManager[list[_Work]]:
    rows = waiting(embedding.active_name()).exclude(pk__in=excluded)
    return claim(lambda free: _read_batch(_next_passages(rows.filter(free), studies)), lambda work: work.study_pk)


def index_all(*, on_progress: Callable[[Progress], None] | None = None) -> Indexed:
    """Embed every short text and passage again, those given up included, and drop the vectors of other encoders.

    Search uses each old vector until it is replaced. Raises EncoderUnavailable when the encoder cannot be loaded.
    """
    _prepare_encoder()
    Study.objects.exclude(indexed_by="").update(indexed_by="")
    study_texts.index_all(embedding.get(), threads=embedding.THREADS)  # first, as in `_index_short_texts`
    Passage.with_plain.filter(index_attempts__gt=0).update(index_attempts=0, index_error="")
    ids = list(indexable().order_by("study", "position").values_list("pk", flat=True))
    count = 0
    failed: list[int] = []
    for start in range(0, len(ids), BATCH):
        rows = Passage.with_plain.filter(pk__in=ids[start : start + BATCH])
        works = _read_batch([*rows.order_by("study", "position").only(*_READ)])
        done, batch_failed = _index(embedding.get(), works)
        count += done
        failed += batch_failed
        if on_progress:
            on_progress(Progress(done=min(start + BATCH, len(ids)), total=len(ids)))
    rest = index_stale(excluding=failed)  # passages edited in the meantime
    drop_other_vectors()
    return Indexed(count + rest.count, (*failed, *rest.failed))


@transaction.atomic
def embed_again(passages: PassageQuerySet) -> int:
    """Queue these passages and the short texts of their studies for a new embedding; return the number of passages.

    Search keeps using their passage vectors; without sentence vectors a passage counts as waiting.
    """
    ids = list(passages.values_list("pk", flat=True))
    Study.objects.filter(passages__in=ids).update(indexed_by="")
    rows = Passage.with_plain.filter(Q(pk__in=ids) | Q(kind=PLAIN, study__in=passages.order_by().values("study")))
    PassageSentence.objects.filter(passage__in=rows).update(encoder="", vector=None, kept_encoder="", kept_vector=None)
    rows.filter(index_attempts__gt=0).update(index_attempts=0, index_error="")
    studies = Study.objects.filter(passages__in=ids)
    study_texts.delete_vectors(studies, embedding.active_name())
    return len(ids)


def reset_failures() -> None:
    """Let passages and texts that could not be indexed be tried again, as another encoder may handle them."""
    Passage.with_plain.filter(index_attempts__gt=0).update(index_attempts=0, index_error="")
    StudyText.objects.filter(index_attempts__gt=0).update(index_attempts=0, index_error="")


def embedded_text(heading: str, text: str) -> str:
    """Return the text from which a passage's vector is computed."""
    return f"{heading}\n{text}" if heading else text


def _prepare_encoder() -> None:
    """Compress the encoder, or find that it cannot be, before anything is embedded, so that nothing is embedded
    twice.
    """
    if embedding.is_prepared() or not indexable().exists():
        return
    titles = Study.objects.order_by("pk").values_list("title", flat=True)[:ENCODER_SAMPLE]
    texts = indexable().order_by("pk").values_list("text", flat=True)[:ENCODER_SAMPLE]
    embedding.prepare(titles=list(titles), texts=list(texts))


def _index_short_texts(studies: Studies, deadline: float | None) -> tuple[int, bool]:
    """Embed the waiting short texts of these studies until the deadline; return how many were tried, and whether all.

    They come before the passages, so that they are complete when search changes to a new encoder.
    """
    count = 0
    failed: list[int] = []
    while True:
        with _claim_texts(studies, failed) as texts:
            failed += study_texts.index_batch(embedding.get(), texts, threads=embedding.THREADS) if texts else []
        if not texts:
            return count, True
        mark_indexed({text.study_id for text in texts}, embedding.active_name())
        count += len(texts)
        if deadline is not None and time.monotonic() >= deadline:
            return count, not _next_texts(studies, failed, Q())


def _claim_texts(studies: Studies, excluded: Collection[int]) -> AbstractContextManager[list[StudyText]]:
    return claim(lambda free: _next_texts(studies, excluded, free), lambda text: text.study_id, is_of_passages=False)


def _next_texts(studies: Studies, excluded: Collection[int], free: Q) -> list[StudyText]:
    rows = study_texts.waiting(embedding.active_name()).filter(free).exclude(pk__in=excluded)
    for some in studies():
        if found := list(rows.filter(study__in=some).order_by("study_id", "position")[: study_texts.BATCH]):
            return found
    return []


def _finish() -> None:
    """Give the planner new statistics once many passages were indexed, however many runs they took.

    Of a large corpus, a few more passages leave its statistics as they are: it takes minutes to read it.
    """
    least = max(ANALYSE_FROM, ANALYSED_SHARE * count_estimate(Passage))
    if sum(IndexBatch.objects.exclude(done_at=None).values_list("passages", flat=True)) >= least:
        update_planner_statistics()
        IndexBatch.objects.exclude(done_at=None).delete()
    forget_done()


def _read_batch(found: list[Passage]) -> list[_Work]:
    """Return the work on these passages and count the attempt, so that a text that ends the process is not tried for
    ever.

    A passage whose last attempt came to nothing is tried alone, after the others.
    """
    if found and found[0].index_attempts:
        found = found[:1]
    reason = Case(When(index_attempts=0, then=F("index_error")), default=Value(WORKER_ENDED), output_field=TextField())
    attempted = Passage.with_plain.filter(pk__in=[passage.pk for passage in found])
    attempted.update(index_attempts=F("index_attempts") + 1, index_error=reason)
    return [_work(passage) for passage in found]


def _next_passages(rows: PassageQuerySet, studies: Studies) -> list[Passage]:
    """Return the next of these passages: those whose last attempt came to nothing come last."""
    for attempted in (Q(index_attempts=0), Q(index_attempts__gt=0)):
        for some in studies():
            found = rows.filter(attempted, study__in=some).order_by("index_attempts", "study_id", "position")
            if batch := [*found.only(*_READ)[:BATCH]]:
                return batch
    return []


_READ = ("study", "kind", "content_hash", "heading", "text", "index_attempts")


def _work(passage: Passage) -> _Work:
    spans = passages.sentences_of(passage.text, passage.kind)
    sentences = (passage.text[start:end] for start, end in spans)
    texts = (embedded_text(passage.heading, passage.text), *sentences)
    return _Work(passage.pk, passage.study_id, passage.kind == PLAIN, passage.content_hash, spans, texts)


def _index(encoder: embedding.Encoder, works: Sequence[_Work]) -> tuple[int, list[int]]:
    """Index these passages; return the number indexed, and the ids of those that could not be encoded."""
    try:
        return _encode_and_store(encoder, works), []
    except embedding.EncoderUnavailable:  # no fault of the texts
        attempted = Passage.with_plain.filter(pk__in=[work.passage_id for work in works], index_attempts__gt=0)
        attempted.update(index_attempts=F("index_attempts") - 1, index_error="")
        raise
    except Error:
        raise
    except Exception as error:  # whatever the model stack raises
        if len(works) == 1:
            _note_failure(works[0], error)
            return 0, [works[0].passage_id]
    outcomes = [_index(encoder, [work]) for work in works]  # one by one, to find the text that fails
    return sum(done for done, _ in outcomes), [pk for _, failed in outcomes for pk in failed]


def _encode_and_store(encoder: embedding.Encoder, works: Sequence[_Work]) -> int:
    rows = encoder.encode([text for work in works for text in work.texts], threads=embedding.THREADS)
    if not (abs((rows**2).sum(axis=1) - 1) < 0.01).all():  # NaN included
        raise ValueError("the encoder gave a vector that is not of unit length")
    vectors: dict[int, embedding.Matrix] = {}
    start = 0
    for work in works:
        vectors[work.passage_id] = rows[start : start + len(work.texts)]
        start += len(work.texts)
    return sum(
        _store(encoder.name, study_pk, list(group), vectors)
        for study_pk, group in groupby(works, key=lambda work: work.study_pk)
    )


@transaction.atomic
def _store(encoder: str, study_pk: int, works: Sequence[_Work], vectors: dict[int, embedding.Matrix]) -> int:
    """Write the vectors of passages whose text has not changed since it was read; the others still wait."""
    study = lock_study(study_pk)
    present = dict(
        Passage.with_plain.filter(pk__in=[work.passage_id for work in works]).values_list("pk", "content_hash")
    )
    current = [work for work in works if present.get(work.passage_id) == work.content_hash]
    if study is None or not current:
        return 0
    ids = [work.passage_id for work in current]
    PassageVector.objects.bulk_create(
        [
            PassageVector(
                passage_id=work.passage_id,
                collection_id=study.collection_id,
                encoder=encoder,
                content_hash=work.content_hash,
                searchable=study.is_searchable and not work.is_plain,
                vector=vectors[work.passage_id][0],
            )
            for work in current
        ],
        update_conflicts=True,
        unique_fields=["passage", "encoder"],
        update_fields=["collection", "content_hash", "searchable", "vector"],
    )
    rows = {(row.passage_id, row.start, row.end): row for row in PassageSentence.objects.filter(passage__in=ids)}
    former = {span: _former_vector(row, encoder) for span, row in rows.items()}
    PassageSentence.objects.filter(passage__in=ids).delete()
    copy_rows(
        PassageSentence(
            passage_id=work.passage_id,
            position=position,
            start=start,
            end=end,
            encoder=encoder,
            vector=vector,
            **_labels(rows.get((work.passage_id, start, end))),
            kept_encoder=former.get((work.passage_id, start, end), NO_FORMER_VECTOR)[0],
            kept_vector=former.get((work.passage_id, start, end), NO_FORMER_VECTOR)[1],
        )
        for work in current
        for position, ((start, end), vector) in enumerate(zip(work.spans, vectors[work.passage_id][1:], strict=True))
    )
    Passage.with_plain.filter(pk__in=ids, index_attempts__gt=0).update(index_attempts=0, index_error="")
    return len(current)


def _labels(row: PassageSentence | None) -> dict[str, Any]:
    """Return the labels of a sentence, which remain while its vectors are replaced."""
    return {} if row is None else {"role": row.role, "self_containedness": row.self_containedness}


def _former_vector(row: PassageSentence, encoder: str) -> tuple[str, Any]:
    """Return a sentence's encoder and vector other than this one: search uses it until all passages have the new
    one.
    """
    if row.encoder not in ("", encoder):
        return row.encoder, row.vector
    return (row.kept_encoder, row.kept_vector) if row.kept_encoder != encoder else NO_FORMER_VECTOR


def _note_failure(work: _Work, error: Exception) -> None:
    reason = f"{type(error).__name__}: {error}"[:500]
    logger.warning("Passage %s could not be indexed: %s", work.passage_id, reason)
    Passage.with_plain.filter(pk=work.passage_id, content_hash=work.content_hash).update(index_error=reason)
