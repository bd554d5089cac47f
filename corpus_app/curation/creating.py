"""Creation of the studies of drafts, many at once, with everything that belongs to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.db.models.functions import Lower

from common.copying import copy_rows
from corpus_app import search
from corpus_app.appraisal import bias_to_json
from corpus_app.curation import rows
from corpus_app.curation.acts import Act
from corpus_app.curation.studies import EDITABLE
from corpus_app.facets import facets_to_json
from corpus_app.models import Finding, Study, StudyConcept
from corpus_app.records import Notice, Status
from corpus_app.sources import StudyDraft

IMPORTED = "Imported, not yet published."


def create_studies(current: Act, drafts: Sequence[tuple[StudyDraft, str]]) -> None:
    """Create the study of each draft, and keep the digest that stands beside it, within the caller's act.

    Raises IntegrityError, DataError or ValidationError, and then none is created.
    """
    studies = Study.objects.bulk_create(_study(draft, digest, at=current.at) for draft, digest in drafts)
    created = [(study, draft) for study, (draft, _) in zip(studies, drafts, strict=True)]
    StudyConcept.objects.bulk_create(
        StudyConcept(study=study, concept_id=concept_id, position=position)
        for study, draft in created
        for position, concept_id in enumerate(draft.concepts)
    )
    Finding.objects.bulk_create(
        Finding(study=study, position=position, **rows.finding_values(finding))
        for study, draft in created
        for position, finding in enumerate(draft.findings)
    )
    copy_rows(passage for study, draft in created for passage in rows.new_passages(study, draft.passages))
    for study, draft in created:
        current.touch(study, is_new=True)
        current.record("import_study", study=draft.study_id, file=draft.origin, passages=len(draft.passages))


def without_obstacle(drafts: Sequence[StudyDraft]) -> Iterator[int]:
    """Yield the places of the drafts whose id, DOI and PMID no study has, and whose kind of source is known."""
    ids = [draft.study_id.lower() for draft in drafts]
    present = Study.objects.annotate(low_id=Lower("study_id"), low_doi=Lower("doi")).filter(
        Q(low_id__in=ids)
        | Q(low_doi__in=[draft.doi for draft in drafts if draft.doi])
        | Q(pmid__in=[draft.pmid for draft in drafts if draft.pmid])
    )
    taken = {value for values in present.values_list("low_id", "low_doi", "pmid") for value in values}
    designs = frozenset(search.site().designs)
    for place, draft in enumerate(drafts):
        own = {draft.study_id.lower(), draft.doi, draft.pmid} - {None, ""}
        if draft.design in designs and not own & taken:
            taken |= own
            yield place


def _study(draft: StudyDraft, digest: str, *, at: datetime) -> Study:
    status = Status.DRAFT if draft.status is Status.PUBLISHED else draft.status
    return Study(
        study_id=draft.study_id,
        status=status.value,
        status_reason=draft.status_reason or default_status_reason(draft),
        notice=draft.notice.value,
        notice_reason=draft.notice_reason,
        import_hash=digest,
        state_changed_at=at if status is Status.WITHDRAWN or draft.notice is not Notice.NONE else None,
        **column_values(draft),
    )


def default_status_reason(draft: StudyDraft) -> str:
    """Return the reason of a draft that its file calls published; empty for others."""
    return IMPORTED if draft.status is Status.PUBLISHED else ""


def column_values(draft: StudyDraft) -> dict[str, Any]:
    """Return the column values that a draft specifies."""
    skipped = {"collection", "status_reason"}
    skipped |= {name for name in ("asked_as", "risk_of_bias") if getattr(draft, name) is None}
    names = [name for name in EDITABLE if name not in skipped]
    if draft.columns is not None:
        names = [name for name in names if name in draft.columns]
    values = {name: rows.to_json(getattr(draft, name)) for name in names}
    if "facets" in values:
        values["facets"] = facets_to_json(draft.facets)
    values["collection_id"] = draft.collection
    if "risk_of_bias" in values:
        values["risk_of_bias"] = bias_to_json(draft.risk_of_bias)
    if draft.columns is None:
        values["empty_keys"] = list(draft.empty_keys)
    return values
