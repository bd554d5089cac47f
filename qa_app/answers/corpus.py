"""The pipeline's corpus port, implemented by the database."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from typing import Any

from django.db import DatabaseError

from common.postgresql import replicas
from corpus_app import search
from corpus_app.records import Certainty, Finding, Found, NameCues, Passage, Reference, Study, StudyScores
from qa_app.answers.time_limit import TimeLimit
from qa_app.models import CorpusCalibration
from qa_app.pipeline.agreement import build_alias_index
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.learned import Scaling
from qa_app.pipeline.lexicon import PhraseIndex, words_of
from qa_app.pipeline.ports import CorpusFacts, LegFailed, Vector
from qa_app.pipeline.question.about_corpus import CorpusWords, holder_words
from qa_app.pipeline.question.about_filters import journal_names
from qa_app.pipeline.question.facets import FacetIndex
from qa_app.pipeline.question.holdings import Holdings
from qa_app.pipeline.question.safety import SafetyLexicon
from qa_app.pipeline.question.site_questions import SiteIndex
from qa_app.pipeline.study_filters import StudyFilters
from qa_app.pipeline.units import unit_forms

logger = logging.getLogger(__name__)

MOST_SOURCES = 2_000
"""Sources by whose titles, topics and collections a site with an owner reads questions about itself."""
LEAST_AUROC = 0.7  # below it, the estimates cannot tell on a corpus


class SearchedCorpus:
    """The database corpus; statements of a snapshot stop at the time limit."""

    def __init__(self, limit: TimeLimit | None = None) -> None:
        self._limit = limit
        self._vectors: dict[str, Vector] = {}
        self._selection: search.StudySelection | None = None  # all studies

    def among(self, filters: StudyFilters) -> SearchedCorpus:
        limited = copy(self)
        limited._selection = search.StudySelection(filters.values, filters.first_year, filters.last_year)
        return limited

    def fitting(self, study_ids: Collection[str]) -> frozenset[str]:
        return self._selection.among(study_ids) if self._selection else frozenset(study_ids)

    def snapshot(self) -> AbstractContextManager[None]:
        return search.snapshot(milliseconds=self._limit.statement_timeout() if self._limit else None)

    def facts(self) -> CorpusFacts:
        return replace(search.once_per_version(_read_facts), scaling=current_scaling())

    def is_word(self, word: str) -> bool:
        return search.is_word(word)

    def word_counts(self, words: Collection[str]) -> Mapping[str, int]:
        return search.word_counts(words)

    def holdings(self, collection: str | None) -> Holdings:
        return search.counted_studies(collection)

    def studies(self, study_ids: Collection[str]) -> Mapping[str, Study]:
        return search.studies(study_ids)

    def concepts_of(self, study_ids: Collection[str], concepts: Collection[str]) -> Mapping[str, frozenset[str]]:
        return search.concepts_of(study_ids, concepts)

    def references(self, study_ids: Collection[str]) -> tuple[Reference, ...]:
        return search.references(sorted(study_ids))

    def named_studies(self, cues: NameCues) -> tuple[Reference, ...]:
        return search.named_studies(cues)

    def findings(self, study_ids: Collection[str]) -> tuple[Finding, ...]:
        return search.findings(sorted(self.fitting(study_ids)))

    def findings_naming(self, outcomes: Collection[str], compared: Sequence[Collection[str]]) -> tuple[Finding, ...]:
        return search.findings_naming(outcomes, compared, among=self._selection)

    def certainties(self, intervention: str, outcome: str) -> tuple[Certainty, ...]:
        return search.certainties(intervention, outcome) if self._selection is None else ()

    def encode(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]  # a question repeats many of them
        if new:
            try:
                self._vectors.update(zip(new, search.encode_questions(new), strict=True))
            except search.EncoderUnavailable as error:
                raise LegFailed(str(error)) from error
        return tuple(self._vectors[text] for text in texts)

    def mean(self, vectors: Sequence[Vector]) -> Vector:
        return search.mean_vector(vectors)

    def score_studies(
        self, text: str, vectors: Sequence[Vector], *, collection: str | None, limit: int
    ) -> tuple[StudyScores, ...]:
        try:
            return self._scores(text, vectors, collection, limit)
        except DatabaseError as error:
            if not vectors:
                raise
            logger.warning("Studies are ranked by words alone, for their vectors cannot be compared: %s", error)
            return self._scores(text, (), collection, limit)

    def _scores(
        self, text: str, vectors: Sequence[Vector], collection: str | None, limit: int
    ) -> tuple[StudyScores, ...]:
        found = search.score_studies(text, vectors, collection=collection, limit=limit)
        if self._selection is None:
            return found
        chosen = search.score_studies(text, vectors, collection=collection, among=self._selection, limit=limit)
        by_id = {score.study_id: score for score in (*found, *chosen)}
        return tuple(by_id[study_id] for study_id in sorted(by_id))

    def find(self, text: str, vector: Vector | None, *, collection: str | None, limit: int, error: str | None) -> Found:
        return search.find(text, vector, collection=collection, among=self._selection, limit=limit, dense_error=error)

    def load(self, passage_ids: Sequence[int]) -> tuple[Passage, ...]:
        return search.load_passages(passage_ids)

    def passages_among(self, study_ids: Sequence[str], passage_ids: Sequence[int]) -> tuple[Passage, ...]:
        return search.passages_among(study_ids, passage_ids)

    def plain_passages(self, study_ids: Sequence[str]) -> tuple[Passage, ...]:
        return search.plain_passages(study_ids)


def current_scaling() -> Scaling | None:
    """Return the newest calibration of the estimates to this corpus; None where there is none."""
    with replicas.primary():
        newest = CorpusCalibration.newest()
    return Scaling(**newest.figures) if newest else None


def describe_calibration() -> dict[str, Any] | None:
    """Return the figures of the calibration in force; None where there is none.

    `tells` is false where the estimates hardly tell made questions with and without their source apart.
    """
    newest = CorpusCalibration.newest()
    if newest is None:
        return None
    return {
        "corpus_version": newest.corpus_version,
        "questions": newest.questions,
        "auroc": round(newest.auroc, 3),
        "tells": newest.auroc >= LEAST_AUROC,
    }


def _taken_words(names: Sequence[str]) -> frozenset[str]:
    """Return the words for a corpus that are in a title or in one of these names."""
    return search.title_words(holder_words()).union(*map(words_of, names))


def _read_facts() -> CorpusFacts:
    concepts = search.concepts()
    lexicons, site, owner = search.lexicons(), search.site(), search.owner_name()
    return CorpusFacts(
        version=search.corpus_version(),
        site_hash=search.site_hash(),
        collections=search.collections(),
        concepts=concepts,
        concept_index=ConceptIndex.build(concepts),
        facets=FacetIndex.build(site.facets, site.phrase_lists),
        units=unit_forms(site.units),
        safety=SafetyLexicon.build(lexicons).without(site.routes_off),
        corpus_words=CorpusWords.build(
            (site.nouns.one, site.nouns.many) if site.nouns else None,
            _taken_words([site.texts.name, *(concept.name for concept in concepts)]),
            owner,
        ),
        site=SiteIndex.build(
            owner,
            search.published_studies(MOST_SOURCES) if owner else (),
            search.collections(),
            concepts,
            {kind: declared.label for kind, declared in site.concept_kinds.items()},
        ),
        polarity=PhraseIndex.of_language("polarity", corpus=lexicons),
        aliases=build_alias_index(concepts),
        changed_at=search.corpus_changed_at(),
        journals=journal_names(search.journals()),
    )
