"""Published studies: their pages, references and records."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection
from django.db.models import OuterRef

from corpus_app import models, records
from corpus_app.appraisal import CertaintyLevel, bias_from_json
from corpus_app.facets import facets_from_json
from corpus_app.search.catalogue import concepts
from corpus_app.search.findings import FINDING_FIELDS, as_finding
from corpus_app.search.passages import as_record, text_passages

_REFERENCES = """
    SELECT study_id, title, authors, year, journal, doi, pmid, url, design, notice, population,
           n_participants, n_studies, risk_of_bias
    FROM corpus_app_study WHERE status IN ('published', 'archived') AND study_id = ANY(%s)
"""


def find_study(study_id: str, *, with_archived: bool = False) -> records.StudyPage | None:
    """Return the page of a published study, retracted or not; None for any other id."""
    readable = models.Study.objects.readable() if with_archived else models.Study.objects.published()
    study = readable.select_related("collection").filter(study_id=study_id).first()
    if study is None:
        return None
    concept_ids = list(study.studyconcept_set.order_by("position").values_list("concept", flat=True))
    return records.StudyPage(
        study=as_record(study, concept_ids),
        passages=text_passages(study_id),
        findings=tuple(
            as_finding(study_id, f.pk, *(getattr(f, name) for name in FINDING_FIELDS))
            for f in study.findings.filter(is_unconfirmed=False).order_by("position")
        ),
        concepts=tuple(concept for concept in concepts() if concept.concept_id in concept_ids),
        included_studies=study.n_studies,
        participants=study.n_participants,
        weeks=(study.duration_weeks_min, study.duration_weeks_max),
        collection_name=study.collection.name,
        risk_of_bias=study.bias,
    )


def references(study_ids: Sequence[str]) -> tuple[records.Reference, ...]:
    """Return the references to these studies, in their order; only of published and archived ones, retracted or not."""
    if not study_ids:
        return ()
    with connection.cursor() as cursor:
        cursor.execute(_REFERENCES, [list(set(study_ids))])
        found = {row[0]: _reference(*row) for row in cursor.fetchall()}
    return tuple(found[study_id] for study_id in study_ids if study_id in found)


def certainties(intervention: str | None = None, outcome: str | None = None) -> tuple[records.Certainty, ...]:
    """Return the curators' judgements of bodies of evidence, in their order: all, or those of these concepts."""
    pair = {"intervention": intervention, "outcome": outcome}
    rows = models.OutcomeCertainty.objects.filter(**{name: value for name, value in pair.items() if value is not None})
    return tuple(
        records.Certainty(
            intervention=row.intervention_id,
            outcome=row.outcome_id,
            level=CertaintyLevel(row.level),
            reasons=tuple(row.reasons.splitlines()),
            age_group=records.AgeGroup(row.age_group) if row.age_group else None,
            training_status=records.TrainingStatus(row.training_status) if row.training_status else None,
            sex=records.Sex(row.sex) if row.sex else None,
            facets=facets_from_json(row.facets),
        )
        for row in rows
    )


def studies(study_ids: Collection[str]) -> dict[str, records.Study]:
    """Return the published studies among these by id, retracted or not, in the order of their ids."""
    rows = models.Study.objects.published().filter(study_id__in=list(study_ids))
    links = models.StudyConcept.objects.filter(study=OuterRef("pk")).order_by("position")
    rows = rows.annotate(concept_ids=ArraySubquery(links.values("concept"))).order_by("study_id").defer("curator_notes")
    return {row.study_id: as_record(row, row.__dict__["concept_ids"]) for row in rows}


def concepts_of(study_ids: Collection[str], concept_ids: Collection[str]) -> dict[str, frozenset[str]]:
    """Return which of these concepts each published study is about; studies that are about none are left out."""
    rows = models.StudyConcept.objects.filter(study__study_id__in=list(study_ids), concept__in=list(concept_ids))
    found: dict[str, set[str]] = defaultdict(set)
    for study_id, concept_id in rows.order_by().values_list("study__study_id", "concept_id"):
        found[study_id].add(concept_id)
    return {study_id: frozenset(own) for study_id, own in found.items()}


def published_studies(limit: int | None = None) -> tuple[records.Study, ...]:
    """Return the published studies, retracted or not, in the order of their ids; the first `limit` of them."""
    rows = models.Study.objects.published().order_by("study_id")
    return tuple(studies(rows.values_list("study_id", flat=True)[:limit]).values())


def _reference(
    study_id: str, title: str, authors: list[str], year: int | None, journal: str | None, doi: str | None,
    pmid: str | None, url: str | None, design: str, notice: str, population: str, participants: int | None,
    included: int | None, bias: dict[str, Any] | str | None,
) -> records.Reference:  # fmt: skip
    return records.Reference(
        study_id, title, tuple(authors), year, journal, doi, pmid, url, design, records.Notice(notice),
        population=population, participants=participants, included_studies=included,
        risk_of_bias=bias_from_json(json.loads(bias) if isinstance(bias, str) else bias),
    )  # fmt: skip
