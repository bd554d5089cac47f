"""Fill the present database with a large corpus by COPY: real vectors for its first part, jittered ones beyond."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from django.db import connection, transaction
from django.utils import timezone

from common.copying import copy_rows, reserve_ids
from corpus_app import embedding, indexing, passages, records
from corpus_app.embedding import metric
from corpus_app.indexing import study_texts
from corpus_app.models import (
    Collection,
    CorpusVersion,
    Finding,
    Passage,
    PassageSentence,
    Study,
    StudyText,
    StudyTextVector,
)
from lab import scale_text
from lab.scratch_corpus import CachingEncoder, passage_vector

PASSAGES_EACH = 8  # of a study
STUDIES_AT_ONCE = 500  # in one transaction
ENCODED_AT_ONCE = 64
LEAST_JITTER, MOST_JITTER = 0.4, 1.0  # length of the noise added to a unit vector: cosines of .93 to .71
COLLECTIONS = 8  # the first one holds half of the studies

Report = Callable[[str, int, int], None]
"""A callback with the name of the step, the number done, and the total."""


@dataclass(frozen=True, slots=True)
class _Draft:
    text: str
    vector: embedding.Matrix


def fill(text: scale_text.RealText, *, total: int, real: int, cache: Path, report: Report) -> None:
    """Write published studies until the database has `total` passages; `real` of all have encoded vectors.

    An interrupted call is continued by the next one with the same text and the same `real`.
    """
    _prepare_encoder(text)
    encoder = CachingEncoder(embedding.get(), cache)
    try:
        known = _encode(encoder, text.passages[: min(real, total)], report)
    finally:
        encoder.write()
    shelves = _collections()
    drafts = _drafts(text, known)
    done = Study.objects.count()
    for _ in islice(drafts, done * PASSAGES_EACH):
        pass
    while done * PASSAGES_EACH < total:
        size = min(STUDIES_AT_ONCE, -(-total // PASSAGES_EACH) - done)
        _write(list(islice(drafts, size * PASSAGES_EACH)), encoder.name, shelves, first=done)
        done += size
        report("passages", done * PASSAGES_EACH, total)
    CorpusVersion.objects.create(
        number=CorpusVersion.objects.count() + 1, at=timezone.now(), summary=f"{total} passages"
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.in_atomic_block else "VACUUM ANALYZE")


def _prepare_encoder(text: scale_text.RealText) -> None:
    sample = text.passages[:200]
    embedding.prepare(titles=[scale_text.title_of(passage) for passage in sample], texts=sample)


def _encode(encoder: CachingEncoder, texts: Sequence[str], report: Report) -> embedding.Matrix:
    rows = []
    for start in range(0, len(texts), ENCODED_AT_ONCE):
        rows.append(encoder.encode(texts[start : start + ENCODED_AT_ONCE], threads=embedding.THREADS))
        report("encoded", min(start + ENCODED_AT_ONCE, len(texts)), len(texts))
    return np.concatenate(rows)


def _collections() -> list[Collection]:
    rows = [Collection(slug=f"part-{n}", name=f"Part {n}", position=n) for n in range(1, COLLECTIONS + 1)]
    Collection.objects.bulk_create(rows, ignore_conflicts=True)
    return rows


def _drafts(text: scale_text.RealText, known: embedding.Matrix) -> Iterator[_Draft]:
    numbers = np.random.default_rng(1)
    for place, passage in enumerate(text.passages):
        near = known[place] if place < len(known) else _jitter(known[place % len(known)], numbers)
        yield _Draft(passage, near)
    for place, passage in text.recombined(len(known)):
        yield _Draft(passage, _jitter(known[place], numbers))


def _jitter(vector: embedding.Matrix, numbers: np.random.Generator, count: int = 0) -> embedding.Matrix:
    """Return a neighbour of a unit vector, or `count` of them as rows."""
    noise = numbers.standard_normal((count or 1, len(vector)), dtype=np.float32)
    lengths = numbers.uniform(LEAST_JITTER, MOST_JITTER, (count or 1, 1)).astype(np.float32)
    near = vector + noise * lengths / np.linalg.norm(noise, axis=1, keepdims=True)
    rows: embedding.Matrix = near / np.linalg.norm(near, axis=1, keepdims=True)
    return rows if count else rows[0]


@transaction.atomic
def _write(drafts: Sequence[_Draft], encoder: str, shelves: Sequence[Collection], *, first: int) -> None:
    """Write studies of `PASSAGES_EACH` drafts each, with all that is derived from them."""
    groups = [drafts[start : start + PASSAGES_EACH] for start in range(0, len(drafts), PASSAGES_EACH)]
    numbers = np.random.default_rng([1, first])
    studies = [
        Study(
            pk=pk, study_id=f"L{number:07}", title=scale_text.title_of(group[0].text), year=1990 + number % 35,
            design=tuple(records.Design)[number % len(records.Design)].value,
            collection=shelves[0 if number % 2 else number // 2 % len(shelves)],
            status=records.Status.PUBLISHED.value, indexed_by=metric.space(encoder),
        )
        for number, (pk, group) in enumerate(zip(reserve_ids(Study, len(groups)), groups, strict=True), start=first)
    ]  # fmt: skip
    owned = [(study, draft) for study, group in zip(studies, groups, strict=True) for draft in group]
    rows = [
        Passage(
            pk=pk, study=study, position=place % PASSAGES_EACH, section=records.Section.ABSTRACT.value,
            text=draft.text, content_hash=passages.content_hash(heading="", text=draft.text),
        )
        for place, (pk, (study, draft)) in enumerate(zip(reserve_ids(Passage, len(owned)), owned, strict=True))
    ]  # fmt: skip
    copy_rows(studies)
    copy_rows(rows)
    copy_rows(
        passage_vector(row, row.study.collection_id, encoder, draft.vector)
        for row, (_, draft) in zip(rows, owned, strict=True)
    )
    copy_rows(
        sentence
        for row, (_, draft) in zip(rows, owned, strict=True)
        for sentence in _sentences(row, draft, encoder, numbers)
    )
    findings = _findings(studies, groups)
    copy_rows(findings)
    _write_short_texts(studies, findings, [group[0].vector for group in groups], encoder, numbers)
    indexing.sync_states([study.pk for study in studies])


def _sentences(row: Passage, draft: _Draft, encoder: str, numbers: np.random.Generator) -> Iterator[PassageSentence]:
    spans = passages.split_sentences(row.text)
    vectors = _jitter(draft.vector, numbers, len(spans))
    for position, ((start, end), vector) in enumerate(zip(spans, vectors, strict=True)):
        yield PassageSentence(passage=row, position=position, start=start, end=end, encoder=encoder, vector=vector)


def _findings(studies: Sequence[Study], groups: Sequence[Sequence[_Draft]]) -> list[Finding]:
    return [
        Finding(
            pk=pk, study=study, position=0, intervention=" ".join(group[0].text.split()[:3]),
            outcome=" ".join(group[1].text.split()[:3]),
            direction=tuple(records.Direction)[pk % len(records.Direction)].value,
            statement=group[1].text[slice(*passages.split_sentences(group[1].text)[0])],
        )
        for pk, study, group in zip(reserve_ids(Finding, len(studies)), studies, groups, strict=True)
    ]  # fmt: skip


def _write_short_texts(
    studies: Sequence[Study], findings: Sequence[Finding], vectors: Sequence[embedding.Matrix], encoder: str,
    numbers: np.random.Generator,
) -> None:  # fmt: skip
    """Write titles and statements as `indexing` does, with vectors near that of the study's first passage."""
    texts = [
        (study, text, vector)
        for study, finding, vector in zip(studies, findings, vectors, strict=True)
        for text in study_texts.wanted(study, [finding], [])
    ]
    positions: dict[int, int] = {}
    rows = []
    for pk, (study, text, _) in zip(reserve_ids(StudyText, len(texts)), texts, strict=True):
        place = positions[study.pk] = positions.get(study.pk, -1) + 1
        rows.append(
            StudyText(
                pk=pk, study=study, kind=str(text.kind), finding_id=text.finding_pk, position=place, text=text.words
            )
        )
    near = metric.project(encoder, np.array([_jitter(vector, numbers) for _, _, vector in texts]))
    copy_rows(rows)
    copy_rows(
        StudyTextVector(
            text=row, study=row.study, collection_id=row.study.collection_id, kind=row.kind,
            encoder=metric.space(encoder), searchable=True, vector=vector,
        )
        for row, vector in zip(rows, near, strict=True)
    )  # fmt: skip
