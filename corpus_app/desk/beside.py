"""A passage beside the words of its source, as an import brought them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from corpus_app.curation import history
from corpus_app.curation.history import DiffPart
from corpus_app.models import ImportItem, ImportJob, Passage, Study

_WORD = re.compile(r"\w+")
LEAST_SHARED = 0.5  # share of words in common below which two texts are not the same passage
WITH_PASSAGES = (ImportItem.Kind.STUDY, ImportItem.Kind.PASSAGES)
BROUGHT = (ImportItem.Outcome.CREATED, ImportItem.Outcome.UPDATED)


@dataclass(frozen=True, slots=True)
class SourceBeside:
    """The source text of a passage, and how the passage differs from it."""

    job: ImportJob
    parts: tuple[DiffPart, ...]
    """`gone` are words of the source that the passage lacks, `new` those that it has instead."""

    @property
    def is_same(self) -> bool:
        return all(part.mark == "same" for part in self.parts)


def find_source(passage: Passage) -> SourceBeside | None:
    """Return the source text nearest to a passage; None where no import brought one like it."""
    study_id = passage.study.study_id
    of_study = Q(study_key=study_id) | Q(other_key=study_id, effect=ImportItem.Effect.JOINS)
    items = ImportItem.objects.filter(of_study, kind__in=WITH_PASSAGES, outcome__in=BROUGHT)
    for item in items.select_related("job").defer("job__content").order_by("-job_id", "position"):
        texts = [str(row.get("text", "")) for row in item.draft.get("passages") or ()]
        if nearest := _find_nearest(passage.text, texts):
            return SourceBeside(item.job, tuple(history.compare(nearest, passage.text)))
    return None


def _find_nearest(text: str, others: Sequence[str]) -> str | None:
    """Return the text that shares most words with this one; None where none shares enough."""
    scored = [(_shared(text, other), other) for other in others]
    score, nearest = max(scored, default=(0.0, ""), key=lambda row: row[0])
    return nearest if score >= LEAST_SHARED else None


def _shared(one: str, other: str) -> float:
    """Return the share of the words of both texts that they have in common, from 0 to 1."""
    words, others = Counter(_WORD.findall(one.lower())), Counter(_WORD.findall(other.lower()))
    total = words.total() + others.total()
    return 2 * (words & others).total() / total if total else 0.0


def source_links(study: Study) -> list[tuple[str, str]]:
    """Return the pages of the paper itself: their names and addresses."""
    links = []
    if study.doi:
        links.append((f"DOI {study.doi}", f"https://doi.org/{study.doi}"))
    if study.pmid:
        links.append((f"PMID {study.pmid}", f"https://pubmed.ncbi.nlm.nih.gov/{study.pmid}/"))
    if study.url:
        links.append((study.url, study.url))
    return links
