"""Parse concepts.json: concepts, their relations, and the collections."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from corpus_app.records import Wanted
from corpus_app.sources.appraisals import read_certainty
from corpus_app.sources.drafts import CertaintyDraft, CollectionDraft, ConceptDraft, Problem, RelationDraft, Vocabulary
from corpus_app.sources.fields import Fields
from corpus_app.sources.files import Refused, line_numbers, line_of, read_object
from corpus_app.sources.layout import CERTAINTY_KEYS, COLLECTION_KEYS, CONCEPT_KEYS, RELATION_KEYS
from corpus_app.sources.studies import slug
from corpus_app.sources.values import SLUG, STUDY_ID, listed, shown


def read_vocabulary(path: Path) -> tuple[Vocabulary, list[Problem]]:
    if not path.is_file():
        return Vocabulary(), []
    try:
        text, values = read_object(path)
    except Refused as refused:
        return Vocabulary(is_given=True), [Problem(path.name, refused.line, "", refused.reason)]
    vocabulary, notes = vocabulary_from(values)
    lines = line_numbers(text) if notes else {}
    return vocabulary, [Problem(path.name, line_of(place, lines), place, reason) for place, reason in notes]


def vocabulary_from(values: Mapping[str, Any]) -> tuple[Vocabulary, list[tuple[str, str]]]:
    """Return the valid entries of concepts.json, and the problems of the others."""
    notes: list[tuple[str, str]] = []
    whole = Fields(values, "", notes)
    whole.check_keys(("concepts", "relations", "collections", "certainties"), ("concepts", "collections"))
    collections = _collections(whole, notes)
    concepts = _concepts(whole, notes, {draft.slug for draft in collections})
    relations = _relations(whole, notes, {draft.concept_id for draft in concepts})
    certainties = _certainties(whole, notes, {draft.concept_id for draft in concepts})
    return Vocabulary(collections, concepts, relations, certainties, is_given=True), notes


def _collections(whole: Fields, notes: list[tuple[str, str]]) -> tuple[CollectionDraft, ...]:
    drafts: dict[str, CollectionDraft] = {}
    for found in whole.objects("collections", COLLECTION_KEYS, ("id", "name")):
        before = len(notes)
        draft = CollectionDraft(
            slug=slug(found, "id", limit=60),
            name=found.line("name", limit=200, required=True),
            description=found.text("description"),
            keywords=found.lines("keywords", limit=200),
        )
        if draft.slug in drafts:
            found.note("id", f"{draft.slug} stands twice; keep one.")
        if len(notes) == before:
            drafts[draft.slug] = draft
    return tuple(drafts.values())


def _concepts(whole: Fields, notes: list[tuple[str, str]], slugs: Collection[str]) -> tuple[ConceptDraft, ...]:
    drafts: dict[str, ConceptDraft] = {}
    owners: dict[str, str] = {}
    for found in whole.objects("concepts", CONCEPT_KEYS, ("id", "name", "kind")):
        before = len(notes)
        draft = ConceptDraft(
            concept_id=slug(found, "id", limit=80),
            name=found.line("name", limit=200, required=True),
            kind=slug(found, "kind", limit=40),
            aliases=found.lines("aliases", limit=200),
            definition=found.text("definition"),
            collections=found.lines("collections", limit=60, pattern=SLUG),
            wanted=found.choice("wanted", Wanted, Wanted.NEITHER),
        )
        if draft.concept_id in drafts:
            found.note("id", f"{draft.concept_id} stands twice; keep one.")
        for name in draft.collections:
            if name not in slugs:
                found.note("collections", f"{name!r} is not a sound collection of this file; known: {listed(slugs)}.")
        _check_aliases(found, draft, owners)
        if len(notes) == before:
            drafts[draft.concept_id] = draft
            owners |= dict.fromkeys((alias.lower() for alias in draft.aliases), draft.concept_id)
    return tuple(drafts.values())


def _check_aliases(found: Fields, draft: ConceptDraft, owners: Mapping[str, str]) -> None:
    seen: set[str] = set()
    for index, alias in enumerate(draft.aliases):
        key = alias.lower()
        if owner := owners.get(key):
            found.note(f"aliases[{index}]", f"{shown(alias)} is an alias of {owner} already; keep one of the two.")
        if key in seen:
            found.note(f"aliases[{index}]", f"{shown(alias)} stands twice, but for capitals; keep one.")
        seen.add(key)


def _relations(whole: Fields, notes: list[tuple[str, str]], ids: Collection[str]) -> tuple[RelationDraft, ...]:
    drafts: dict[tuple[str, str, str], RelationDraft] = {}
    for found in whole.objects("relations", RELATION_KEYS, ("source", "relation", "target")):
        before = len(notes)
        draft = RelationDraft(
            source=slug(found, "source", limit=80),
            relation=slug(found, "relation", limit=40),
            target=slug(found, "target", limit=80),
            studies=found.lines("studies", limit=40, pattern=STUDY_ID),
        )
        for key, concept in (("source", draft.source), ("target", draft.target)):
            if concept and concept not in ids:
                found.note(key, f"{concept!r} is not a sound concept of this file.")
        if draft.source == draft.target:
            found.note("target", f"{draft.source} cannot be related to itself.")
        triple = (draft.source, draft.relation, draft.target)
        if triple in drafts:
            found.note("relation", f"{' '.join(triple)} stands twice; keep one.")
        if len(notes) == before:
            drafts[triple] = draft
    return tuple(drafts.values())


def _certainties(whole: Fields, notes: list[tuple[str, str]], ids: Collection[str]) -> tuple[CertaintyDraft, ...]:
    drafts: dict[tuple[Any, ...], CertaintyDraft] = {}
    required = ("intervention", "outcome", "level", "reasons")
    for found in whole.objects("certainties", CERTAINTY_KEYS, required):
        before = len(notes)
        draft = read_certainty(found)
        for key, concept in (("intervention", draft.intervention), ("outcome", draft.outcome)):
            if concept and concept not in ids:
                found.note(key, f"{concept!r} is not a sound concept of this file.")
        if draft.intervention == draft.outcome:
            found.note("outcome", "is the intervention; a certainty is about two concepts.")
        if not draft.reasons:
            found.note("reasons", "is empty; say why.")
        if draft.matter in drafts:
            found.note("intervention", "stands twice with this outcome and facets; keep one.")
        if len(notes) == before:
            drafts[draft.matter] = draft
    return tuple(drafts.values())
