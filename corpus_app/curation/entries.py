"""Writes of single rows: concepts, relations, collections, certainties, and findings and concepts of a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import models
from django.utils.text import camel_case_to_spaces

from corpus_app import search
from corpus_app.curation import rows
from corpus_app.curation.acts import Act, NotAllowed, NotConfirmed, act
from corpus_app.facets import facets_to_json
from corpus_app.models import (
    Collection,
    Concept,
    ConceptAlias,
    ConceptCollection,
    ConceptRelation,
    ConceptRelationStudy,
    Finding,
    OutcomeCertainty,
    StudyConcept,
)
from corpus_app.sources import CertaintyDraft, ConceptDraft

Entry = (
    Collection
    | Concept
    | ConceptAlias
    | ConceptCollection
    | ConceptRelation
    | ConceptRelationStudy
    | Finding
    | OutcomeCertainty
    | StudyConcept
)

FIRST_COLLECTION = "sources"

# The parent within which each entry's position counts; None for entries with one global order.
_OWNER: Mapping[type[models.Model], str | None] = {
    Collection: None,
    Concept: None,
    ConceptAlias: "concept",
    ConceptCollection: "concept",
    ConceptRelation: None,
    ConceptRelationStudy: "relation",
    Finding: "study",
    OutcomeCertainty: None,
    StudyConcept: "study",
}


def save_entry(entry: Entry, *, by: User | None, by_name: str = "") -> None:
    """Save a new or changed entry; append a new one to its list.

    Raises NotConfirmed when that would confirm a finding without its source, NotAllowed for want of a review.
    """
    with act(by=by, by_name=by_name) as current:
        values = _values(entry)
        rows.check_texts(values)
        _check_reviewer(current, entry)
        _lock_study(current, entry)
        stored = None if entry._state.adding else type(entry)._default_manager.filter(pk=entry.pk).first()
        if stored is None:
            entry.position = entry.position or _next_position(entry)
        else:
            values["position"] = entry.position
        changes = rows.change(stored, values) if stored else {}
        if stored and not changes:
            return
        if isinstance(stored, Finding) and changes.get("is_unconfirmed", {}).get("after") is False:
            raise NotConfirmed
        entry.save()
        _record(current, "revise" if stored else "add", entry, changes=changes)


def delete_entry(entry: Entry, *, by: User | None, by_name: str = "") -> None:
    """Delete an entry. Raises ProtectedError when studies still refer to it."""
    with act(by=by, by_name=by_name) as current:
        _check_reviewer(current, entry)
        _lock_study(current, entry)
        gone = {name: rows.to_json(value) for name, value in _values(entry).items()}
        key = entry.pk
        entry.delete()
        entry.pk = key  # the caller may still want to name it
        _record(current, "delete", entry, was=gone)


def _values(entry: Entry) -> dict[str, Any]:
    fields = (field for field in entry._meta.concrete_fields if not field.generated)
    return {field.attname: getattr(entry, field.attname) for field in fields}


def _next_position(entry: Entry) -> int:
    owner = _OWNER[type(entry)]
    siblings = type(entry)._default_manager.all()
    if owner:
        siblings = siblings.filter(**{owner: getattr(entry, owner)})
    last = siblings.aggregate(last=models.Max("position"))["last"]
    return 0 if last is None else last + 1


def _check_reviewer(current: Act, entry: Entry) -> None:
    """Raise NotAllowed where a review is required: a certainty has no draft, readers see it at once."""
    if isinstance(entry, OutcomeCertainty) and not current.may_change_published:
        raise NotAllowed("A certainty is public at once", "ask one of them.")


def _lock_study(current: Act, entry: Entry) -> None:
    if isinstance(entry, Finding | StudyConcept):
        entry.study = current.study(entry.study.study_id)


def _record(current: Act, verb: str, entry: Entry, **detail: Any) -> None:
    kind = "certainty" if isinstance(entry, OutcomeCertainty) else camel_case_to_spaces(type(entry).__name__)
    action = f"{verb}_{kind}".replace(" ", "_")
    detail |= {"model": entry._meta.model_name, "key": str(entry.pk)}
    if isinstance(entry, Finding | StudyConcept):
        current.touch(entry.study)
        current.record(action, study=entry.study.study_id, entry=str(entry), **detail)
        return
    current.is_noticeable = True
    current.record(action, entry=str(entry), **detail)


def save_concept(draft: ConceptDraft, *, by: User | None, by_name: str = "") -> rows.Changes:
    """Save a concept with exactly these aliases and collections, in this order; return the changes."""
    with act(by=by, by_name=by_name) as current:
        concept = Concept.objects.filter(pk=draft.concept_id).first()
        is_new = concept is None
        concept = concept or Concept(concept_id=draft.concept_id, position=_next_position(Concept()))
        texts = {"name": draft.name, "kind": draft.kind, "definition": draft.definition}
        values = texts | {"wanted": str(draft.wanted)}
        rows.check_texts(texts | {"aliases": draft.aliases}, may_be_invisible=True)  # readers of files check that
        changes = rows.change(concept, values)
        if changes or is_new:
            concept.save()
        changes |= _set_aliases(concept, draft.aliases) | _set_collections(concept, draft.collections)
        if changes:
            current.is_noticeable = True
            current.record("add_concept" if is_new else "revise_concept", entry=draft.concept_id, changes=changes)
        return changes


def _set_aliases(concept: Concept, names: tuple[str, ...]) -> rows.Changes:
    before = list(concept.aliases.order_by("position").values_list("name", flat=True))
    if before == list(names):
        return {}
    concept.aliases.all().delete()
    ConceptAlias.objects.bulk_create(
        ConceptAlias(concept=concept, name=name, position=position) for position, name in enumerate(names)
    )
    return {"aliases": {"before": before, "after": list(names)}}


def _set_collections(concept: Concept, slugs: tuple[str, ...]) -> rows.Changes:
    links = ConceptCollection.objects.filter(concept=concept)
    before = list(links.order_by("position").values_list("collection_id", flat=True))
    if before == list(slugs):
        return {}
    links.delete()
    ConceptCollection.objects.bulk_create(
        ConceptCollection(concept=concept, collection_id=slug, position=position) for position, slug in enumerate(slugs)
    )
    return {"collections": {"before": before, "after": list(slugs)}}


def create_first_collection(*, by: User | None) -> Collection:
    """Create the collection of an empty desk, which is called like what the site holds."""
    nouns = search.site().nouns
    first = Collection(slug=FIRST_COLLECTION, name=nouns.many.capitalize() if nouns else "Sources")
    save_entry(first, by=by, by_name="import")
    return first


def save_certainty(draft: CertaintyDraft, *, by: User | None, by_name: str = "") -> OutcomeCertainty:
    """Save the certainty of these concepts and facets; one that is so already stays as it is."""
    people = {name: str(getattr(draft, name) or "") for name in ("age_group", "training_status", "sex")}
    matter: dict[str, Any] = {"intervention_id": draft.intervention, "outcome_id": draft.outcome, **people}
    matter["facets"] = facets_to_json(draft.facets)
    row = OutcomeCertainty.objects.filter(**matter).first() or OutcomeCertainty(**matter)
    values = (draft.level.value, "\n".join(draft.reasons))
    if (row.level, row.reasons) == values:
        return row
    row.level, row.reasons = values
    save_entry(row, by=by, by_name=by_name)
    return row
