"""Export of the corpus to the files of a corpus folder."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import IO

from django.db import connection, transaction

from corpus_app import models, search
from corpus_app.appraisal import CertaintyLevel
from corpus_app.curation import rows
from corpus_app.curation.lexica import current_lexica
from corpus_app.curation.studies import EDITABLE
from corpus_app.facets import facets_from_json
from corpus_app.models import Concept, ConceptRelation, OutcomeCertainty, Study
from corpus_app.records import (
    AgeGroup,
    Notice,
    PassageKind,
    Section,
    Sex,
    Status,
    TrainingStatus,
    Wanted,
)
from corpus_app.sources import (
    CONCEPTS,
    MASTER,
    STUDIES,
    CertaintyDraft,
    CollectionDraft,
    ConceptDraft,
    PassageDraft,
    RelationDraft,
    StudyDraft,
    Vocabulary,
    concepts_json,
    lexicon_path,
    master_csv,
    sheet_pieces,
    study_json,
)

BATCH = 200  # studies in memory at a time
NO_REASON = "No reason was given."
NO_LEXICA: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Exported:
    studies: int
    passages: int
    concepts: int


def export_corpus(folder: Path) -> Exported:
    """Write all studies, whatever their status, and the concepts. Each file is replaced atomically."""
    with read_only_snapshot():
        studies, vocabulary = list(_drafts(None)), current_vocabulary()
    for name, content in corpus_files(studies, vocabulary, current_lexica()).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        _write(folder / name, content)
    return Exported(len(studies), sum(len(study.passages) for study in studies), len(vocabulary.concepts))


def corpus_files(
    studies: list[StudyDraft], vocabulary: Vocabulary, lexica: Mapping[str, str] = NO_LEXICA
) -> dict[str, bytes]:
    """Return the content of every file of the folder by its relative path."""
    files = {f"{STUDIES}/{study.study_id}.json": study_json(study) for study in studies}
    files |= {lexicon_path(name): content.encode() for name, content in lexica.items()}
    return files | {MASTER: master_csv(studies), CONCEPTS: concepts_json(vocabulary)}


def zip_corpus(out: IO[bytes], study_ids: Collection[str] | None = None) -> None:
    """Pack the corpus folder of all or these studies into a zip; the same corpus gives the same bytes."""
    with read_only_snapshot(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        pack_corpus(archive, study_ids)


def pack_corpus(archive: zipfile.ZipFile, study_ids: Collection[str] | None = None) -> None:
    """Pack the corpus folder, studies first, with few of them in memory.

    For a selection, relations keep only the selected studies, and word lists are left out.
    """
    master = master_csv([])
    for draft in _drafts(study_ids):
        _pack(archive, f"{STUDIES}/{draft.study_id}.json", study_json(draft))
        master += master_csv([draft]).partition(b"\n")[2]
    vocabulary, lexica = current_vocabulary(), current_lexica()
    if study_ids is not None:
        vocabulary, lexica = _restrict_relations(vocabulary, frozenset(study_ids)), {}
    for name, content in (corpus_files([], vocabulary, lexica) | {MASTER: master}).items():
        _pack(archive, name, content)


def _pack(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def export_studies(
    out: IO[bytes], write: Callable[[Iterable[StudyDraft]], Iterable[bytes]], study_ids: Collection[str] | None = None
) -> None:
    """Write all or these studies by `write`, which makes pieces of a file from drafts."""
    with read_only_snapshot():
        out.writelines(write(_drafts(study_ids)))


def _write(path: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def export_sheet(out: IO[bytes], study_ids: Collection[str] | None = None) -> None:
    """Write a spreadsheet of all or these studies to be mended, each with its version in the same snapshot."""
    with read_only_snapshot():
        rows = ((study.version, draft_of(study)) for study in _studies(study_ids))
        out.writelines(sheet_pieces(rows, search.site().facets))


@contextmanager
def read_only_snapshot() -> Iterator[None]:
    """Read everything inside from one snapshot; inside another transaction, that transaction's view is used."""
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _drafts(study_ids: Collection[str] | None) -> Iterator[StudyDraft]:
    return (draft_of(study) for study in _studies(study_ids))


def _studies(study_ids: Collection[str] | None) -> Iterator[Study]:
    """Yield all or these studies by id, a batch at a time in memory."""
    rows = Study.objects.prefetch_related("passages", "findings", "studyconcept_set").order_by("study_id")
    rows, last = rows if study_ids is None else rows.filter(study_id__in=study_ids), ""
    while batch := list(rows.filter(study_id__gt=last)[:BATCH]):
        yield from batch
        last = batch[-1].study_id


def _restrict_relations(vocabulary: Vocabulary, study_ids: Set[str]) -> Vocabulary:
    relations = [
        replace(relation, studies=tuple(study_id for study_id in relation.studies if study_id in study_ids))
        for relation in vocabulary.relations
    ]
    return replace(vocabulary, relations=tuple(relation for relation in relations if relation.studies))


def draft_of(study: Study) -> StudyDraft:
    """Return the draft that a study's file would hold."""
    needs_reason = study.status in {Status.DRAFT, Status.WITHDRAWN}
    values = {name: getattr(study, name) for name in EDITABLE if name != "collection"} | {
        "study_id": study.study_id,
        "authors": tuple(study.authors),
        "risk_of_bias": study.bias,
        "design": study.design,
        "collection": study.collection_id,
        "training_status": TrainingStatus(study.training_status),
        "age_group": AgeGroup(study.age_group),
        "sex": Sex(study.sex),
        "facets": facets_from_json(study.facets),
        "duration_weeks_min": _plain(study.duration_weeks_min),
        "duration_weeks_max": _plain(study.duration_weeks_max),
        "concepts": tuple(link.concept_id for link in study.studyconcept_set.all()),
        "findings": tuple(
            rows.finding_draft({name: getattr(row, name) for name in rows.FINDING_FIELDS})
            for row in study.findings.all()
        ),
        "status": Status(study.status),
        "status_reason": study.status_reason or (NO_REASON if needs_reason else ""),
        "notice": Notice(study.notice),
        "notice_reason": study.notice_reason,
        "derived_numbers": tuple(study.derived_numbers),
        "labels": tuple(study.labels),
        "passages": tuple(
            PassageDraft(
                section=Section(row.section),
                text=row.text,
                page=row.page,
                kind=PassageKind(row.kind),
                heading=row.source_heading,
                asked_as=row.asked_as,
                cited=rows.works_of(row),
            )
            for row in study.passages.all()
        ),
        "empty_keys": tuple(study.empty_keys),
    }
    return StudyDraft(**values)


def _plain(weeks: float | None) -> float | None:
    return int(weeks) if weeks is not None and weeks == int(weeks) else weeks


def current_vocabulary() -> Vocabulary:
    """Return all concepts, relations and collections as drafts."""
    return Vocabulary(
        collections=tuple(
            CollectionDraft(row.slug, row.name, row.description, tuple(row.keywords))
            for row in models.Collection.objects.order_by("position", "slug")
        ),
        concepts=tuple(
            ConceptDraft(
                row.concept_id,
                row.name,
                row.kind,
                tuple(alias.name for alias in row.aliases.all()),
                row.definition,
                tuple(link.collection_id for link in row.conceptcollection_set.all()),
                Wanted(row.wanted),
            )
            for row in Concept.objects.prefetch_related("aliases", "conceptcollection_set").order_by(
                "position", "concept_id"
            )
        ),
        relations=tuple(
            RelationDraft(
                row.source_id,
                row.relation,
                row.target_id,
                tuple(link.study.study_id for link in row.conceptrelationstudy_set.all()),
            )
            for row in ConceptRelation.objects.prefetch_related("conceptrelationstudy_set__study").order_by(
                "position", "id"
            )
        ),
        certainties=tuple(
            CertaintyDraft(
                row.intervention_id,
                row.outcome_id,
                CertaintyLevel(row.level),
                tuple(row.reasons.splitlines()),
                AgeGroup(row.age_group) if row.age_group else None,
                TrainingStatus(row.training_status) if row.training_status else None,
                Sex(row.sex) if row.sex else None,
                facets_from_json(row.facets),
            )
            for row in OutcomeCertainty.objects.order_by("position", "id")
        ),
        is_given=True,
    )
