"""Concepts as proposed: frequent terms of the sources, each with the sources that are about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from django.contrib.auth.models import User
from django.contrib.postgres.search import SearchQuery
from django.utils.text import slugify

from corpus_app import curation
from corpus_app.models import TEXT_SEARCH_CONFIG, Concept, Passage, StudyConcept
from corpus_app.records import ConceptRole, Status
from corpus_app.sources import ConceptDraft

LONGEST_ID = 80
ABOUT_SHARE = 0.2  # of a source's passages that speak of a term: from then on it is about it


def accept(chosen: Mapping[str, ConceptRole], *, by: User) -> int:
    """Make a concept of each term with its role as its kind, and give it to the sources about it; return how many."""
    known = {name.lower() for name in Concept.objects.values_list("name", flat=True)}
    with curation.act(by=by):
        new = 0
        for words, role in chosen.items():
            concept_id = slugify(words)[:LONGEST_ID]
            if not concept_id or words.lower() in known or Concept.objects.filter(pk=concept_id).exists():
                continue
            curation.save_concept(ConceptDraft(concept_id, words, role.value), by=by)
            for study_id in sources_about(words):
                _add(study_id, concept_id, by)
            new += 1
    return new


def sources_about(words: str) -> list[str]:
    """Return the sources of which enough passages have a term; where none has, the one that has it most often."""
    asked = SearchQuery(words, config=TEXT_SEARCH_CONFIG, search_type="phrase")
    used = Passage.objects.exclude(study__status__in=[Status.WITHDRAWN, Status.ARCHIVED])
    found = Counter(used.filter(lexemes=asked).values_list("study__study_id", flat=True))
    sizes = Counter(used.filter(study__study_id__in=list(found)).values_list("study__study_id", flat=True))
    about = [study_id for study_id, n in found.items() if n >= ABOUT_SHARE * sizes[study_id]]
    return sorted(about or [study_id for study_id, _ in found.most_common(1)])


def _add(study_id: str, concept_id: str, by: User) -> None:
    present = StudyConcept.objects.filter(study__study_id=study_id).order_by("position")
    curation.set_concepts(study_id, [*present.values_list("concept_id", flat=True), concept_id], by=by)
