"""Export everything that people wrote: the corpus folder, and its records as JSON lines.

The records are comments, history and waivers, with the names of people as they were written then, and on request the
golden questions. docs/importing.md describes the files.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson
from django.contrib.auth.models import User
from django.db.models import QuerySet

from corpus_app import hooks
from corpus_app.curation.exporting import Exported, export_corpus, pack_corpus, read_only_snapshot
from corpus_app.models import CorpusEvent, QualityWaiver, StudyComment
from corpus_app.sources import RECORDS

BATCH = 200  # rows in memory at a time
Record = Mapping[str, Any]


def zip_everything(out: IO[bytes], *, by: User | None, with_golden: bool = False) -> None:
    """Pack the corpus folder and all records into a zip, piece by piece.

    The golden questions are those that `by` may see; None, a command, sees all.
    """
    with read_only_snapshot(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        pack_corpus(archive)
        for name, records in _records(by, with_golden=with_golden):
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as packed:
                packed.writelines(_lines(records))


def export_everything(folder: Path, *, with_golden: bool = False) -> Exported:
    """Write the corpus folder and all records. Raises OSError."""
    with read_only_snapshot():
        exported = export_corpus(folder)
        (folder / RECORDS).mkdir(exist_ok=True)
        for name, records in _records(None, with_golden=with_golden):
            with (folder / name).open("wb") as stream:
                stream.writelines(_lines(records))
    return exported


def _lines(records: Iterable[Record]) -> Iterator[bytes]:
    for record in records:
        yield orjson.dumps(record) + b"\n"


def _records(by: User | None, *, with_golden: bool) -> Iterator[tuple[str, Iterable[Record]]]:
    """Yield the name and the records of each file."""
    yield f"{RECORDS}/comments.jsonl", _comments()
    yield f"{RECORDS}/history.jsonl", _history()
    yield f"{RECORDS}/waivers.jsonl", _waivers()
    if with_golden:
        rows = (row for source in hooks.golden_questions for row in source(by))
        yield f"{RECORDS}/golden.jsonl", rows


def _comments() -> Iterator[Record]:
    for row in _by_id(StudyComment.objects.select_related("study")):
        yield {"study_id": row.study.study_id, "author": row.author_name, "at": row.at, "text": row.text}


def _history() -> Iterator[Record]:
    for row in _by_id(CorpusEvent.objects.all()):
        yield {
            "at": row.at,
            "actor": row.actor_name,
            "action": row.action,
            "study_id": row.study_key or None,
            "passage_id": row.passage_key,
            "reason": row.reason,
            "corpus_version": row.corpus_version_id,
            "detail": row.detail,
        }


def _waivers() -> Iterator[Record]:
    for row in _by_id(QualityWaiver.objects.select_related("passage__study")):
        yield {
            "study_id": row.passage.study.study_id,
            "passage": row.passage.position + 1,
            "passage_id": row.passage_id,
            "kind": row.kind,
            "words": row.words,
            "reason": row.reason,
            "by": row.by_name,
            "at": row.at,
        }


def _by_id(rows: QuerySet[Any]) -> Iterator[Any]:
    """Yield rows by id, batch by batch; a server-side cursor would need a connection of its own behind a pooler."""
    last = 0
    while batch := list(rows.filter(pk__gt=last).order_by("pk")[:BATCH]):
        yield from batch
        last = batch[-1].pk
