"""A corpus in memory behind the pipeline's port: the same BM25, no database, no encoder, safe for threads."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus_app import quality, records
from qa_app.answers import engines
from qa_app.pipeline.agreement import build_alias_index
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.learned import DEFAULT_ENCODER
from qa_app.pipeline.policy import DEFAULT, Policy
from qa_app.pipeline.ports import CorpusFacts, LegFailed, Vector
from qa_app.pipeline.question.about_corpus import CorpusWords
from qa_app.pipeline.question.about_filters import Filters, journal_names
from qa_app.pipeline.question.facets import FacetIndex
from qa_app.pipeline.question.safety import SafetyLexicon
from qa_app.pipeline.question.site_questions import SiteIndex
from qa_app.pipeline.run import Engine
from qa_app.pipeline.study_filters import StudyFilters
from qa_app.pipeline.text import EMPTY_WORDS, stem, words
from qa_app.pipeline.verdict import LANGUAGE_POLARITY
from tests.pipeline.corpora import published_rows, study_of
from tests.pipeline.values import make_passage

K1, B = 1.2, 0.75


def lexemes(text: str) -> list[str]:
    return [stem(word) for word in words(text) if word not in EMPTY_WORDS]


def eager_engine(policy: Policy = DEFAULT) -> Engine:
    """Return an engine that answers whatever has a candidate, by words alone."""
    models, _ = engines.load(DEFAULT_ENCODER)
    eager = {name: replace(model, threshold=0.0) for name, model in models.answerability.items()}
    return Engine(replace(models, answerability=eager), None, policy)


class FakeHoldings:
    """Studies in memory that a question about the corpus counts."""

    def __init__(self, studies: Sequence[records.Study], concepts: Sequence[records.Concept] = ()) -> None:
        self._studies = sorted(studies, key=lambda study: study.study_id)
        self._concepts = concepts

    def where(self, filters: Filters) -> "FakeHoldings":
        traits = StudyFilters(tuple(filters.values.items()), filters.first_year, filters.last_year)
        return self._only(
            lambda study: (
                traits.accepts(study)
                and (not filters.journals or study.journal in filters.journals)
                and (filters.sources is None or study.study_id in filters.sources)
                and not any(ids.isdisjoint(study.concepts) for ids in filters.topic_ids)
            )
        )

    def without_retracted(self) -> "FakeHoldings":
        return self._only(lambda study: study.notice is not records.Notice.RETRACTED)

    def reviewed(self) -> "FakeHoldings":
        return self._only(lambda study: study.peer_reviewed)

    def count(self) -> records.StudyTotal:
        return records.StudyTotal(len(self._studies), tuple(study.study_id for study in self._studies))

    def tally(self, trait: records.StudyTrait, limit: int = 500) -> records.TraitCounts:
        named = {concept.concept_id: concept.name for concept in self._concepts}
        read: dict[records.StudyTrait, Callable[[records.Study], Sequence[object]]] = {
            records.StudyTrait.AUTHOR: lambda study: study.authors,
            records.StudyTrait.TOPIC: lambda study: [named[pk] for pk in study.concepts if pk in named],
        }
        own = read.get(trait, lambda study: (getattr(study, trait.value),))
        numbers = Counter(str(name) for study in self._studies for name in own(study) if name)
        return records.TraitCounts(len(numbers), tuple(numbers.most_common(limit)))

    def listed(self, limit: int, *, oldest: bool = False) -> list[records.Study]:
        sign = 1 if oldest else -1
        order = [(s.year is None, sign * (s.year or 0), s.title.casefold(), n) for n, s in enumerate(self._studies)]
        return [self._studies[place[-1]] for place in sorted(order)[:limit]]

    def kind_of(self, design: str) -> records.SourceKind | None:
        return next((study.kind for study in self._studies if study.design == design), None)

    def _only(self, is_chosen: Callable[[records.Study], bool]) -> "FakeHoldings":
        return FakeHoldings([study for study in self._studies if is_chosen(study)], self._concepts)


class FakeCorpus:
    """Published passages with what the engine asks of a corpus; nobody is sought by name, and nothing is declined."""

    def __init__(
        self, passages: Sequence[records.Passage], concepts: Sequence[records.Concept] = (), *, owner: str = "",
        collections: Sequence[records.Collection] = (),
    ) -> None:  # fmt: skip
        studies = {p.study.study_id: p.study for p in passages}
        self._passages = {p.passage_id: p for p in passages}
        self._counts = {p.passage_id: Counter(lexemes(f"{p.heading} {p.text}")) for p in passages}
        self._frequency = Counter(term for counts in self._counts.values() for term in counts)
        self._average = sum(c.total() for c in self._counts.values()) / max(1, len(self._counts))
        self._facts = CorpusFacts(
            version=1,
            collections=(), concepts=tuple(concepts), concept_index=ConceptIndex.build(concepts),
            facets=FacetIndex.build({}, {}), safety=SafetyLexicon.build(), corpus_words=CorpusWords.build(), site=SiteIndex.build(owner, tuple(studies.values()), collections, concepts, {}), polarity=LANGUAGE_POLARITY,
            aliases=build_alias_index(concepts), changed_at=None,
            journals=journal_names(sorted({study.journal for study in studies.values() if study.journal})),
        )  # fmt: skip
        self._studies = studies
        self._vocabulary = Counter(word for p in passages for word in set(words(p.text)))

    def snapshot(self) -> nullcontext[None]:
        return nullcontext()

    def facts(self) -> CorpusFacts:
        return self._facts

    def among(self, filters: StudyFilters) -> "FakeCorpus":
        limited = copy(self)
        limited._passages = {pk: p for pk, p in self._passages.items() if filters.accepts(p.study)}
        return limited

    def is_word(self, word: str) -> bool:
        return word in quality.standard()

    def word_counts(self, words: Collection[str]) -> dict[str, int]:
        return {word: self._vocabulary[word] for word in words if word in self._vocabulary}

    def fitting(self, study_ids: Collection[str]) -> frozenset[str]:
        return frozenset(study_ids).intersection(p.study.study_id for p in self._passages.values())

    def holdings(self, collection: str | None) -> FakeHoldings:
        studies = [study for study in self._studies.values() if collection in (None, study.collection)]
        return FakeHoldings(studies, self._facts.concepts)

    def studies(self, study_ids: Collection[str]) -> dict[str, records.Study]:
        return {study_id: study for study_id, study in self._studies.items() if study_id in study_ids}

    def concepts_of(self, study_ids: Collection[str], concepts: Collection[str]) -> dict[str, frozenset[str]]:
        return {pk: frozenset(study.concepts).intersection(concepts) for pk, study in self.studies(study_ids).items()}

    def references(self, study_ids: Collection[str]) -> tuple[records.Reference, ...]:
        return ()

    def named_studies(self, cues: records.NameCues) -> tuple[records.Reference, ...]:
        return ()

    def findings(self, study_ids: Collection[str]) -> tuple[records.Finding, ...]:
        return ()

    def findings_naming(
        self, outcomes: Collection[str], compared: Sequence[Collection[str]]
    ) -> tuple[records.Finding, ...]:
        return ()

    def certainties(self, intervention: str, outcome: str) -> tuple[records.Certainty, ...]:
        return ()

    def encode(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        raise LegFailed("There is no encoder.")

    def mean(self, vectors: Sequence[Vector]) -> Vector:
        raise LegFailed("There is no encoder.")

    def score_studies(
        self, text: str, vectors: Sequence[Vector], *, collection: str | None, limit: int
    ) -> tuple[records.StudyScores, ...]:
        terms = set(lexemes(text))
        best: dict[str, tuple[float, int]] = {}
        for pk, passage in self._within(collection).items():
            score = self._bm25(pk, terms)
            best[passage.study.study_id] = max((score, -pk), best.get(passage.study.study_id, (0.0, 0)))
        found = sorted((pair for pair in best.items() if pair[1][0] > 0), key=lambda pair: -pair[1][0])[:limit]
        return tuple(self._scores(study_id, score, -pk, terms) for study_id, (score, pk) in sorted(found))

    def _scores(self, study_id: str, score: float, passage_id: int, terms: set[str]) -> records.StudyScores:
        text = records.ShortText("passage", None, passage_id=passage_id)
        own = {t for pk, p in self._passages.items() if p.study.study_id == study_id for t in self._counts[pk]}
        scored = {"passage": records.TextScore(score, None, by_words=text)}
        return records.StudyScores(study_id, scored, frozenset(terms & own))

    def find(
        self, text: str, vector: Vector | None, *, collection: str | None, limit: int, error: str | None
    ) -> records.Found:
        terms = dict.fromkeys(lexemes(text))
        hits = [records.Hit(pk, self._bm25(pk, terms), None) for pk in self._within(collection)]
        best = sorted((hit for hit in hits if hit.bm25 > 0), key=lambda hit: (-hit.bm25, hit.passage_id))[:limit]
        return records.Found(
            hits=records.Hits.of(best), lexical=records.Leg(True, len(best)), dense=records.Leg(False, 0, error),
            corpus_version=1, document_frequency=tuple((term, self._frequency[term]) for term in terms),
            searchable_passages=len(self._passages),
        )  # fmt: skip

    def load(self, passage_ids: Sequence[int]) -> tuple[records.Passage, ...]:
        return tuple(self._passages[pk] for pk in passage_ids if pk in self._passages)

    def passages_among(self, study_ids: Sequence[str], passage_ids: Sequence[int]) -> tuple[records.Passage, ...]:
        return tuple(p for p in self.load(sorted(set(passage_ids))) if p.study.study_id in study_ids)

    def plain_passages(self, study_ids: Sequence[str]) -> tuple[records.Passage, ...]:
        return ()

    def _within(self, collection: str | None) -> dict[int, records.Passage]:
        return {pk: p for pk, p in self._passages.items() if collection in (None, p.study.collection)}

    def _bm25(self, passage_id: int, terms: Any) -> float:
        counts, total = self._counts[passage_id], len(self._passages)
        score = 0.0
        for term in terms:
            if tf := counts[term]:
                n, length = self._frequency[term], counts.total() / self._average
                score += math.log(1 + (total - n + 0.5) / (n + 0.5)) * tf / (tf + K1 * (1 - B + B * length))
        return score


def starter_corpus(folder: Path) -> FakeCorpus:
    """Return the published studies of a corpus folder, without their plain sentences."""
    return FakeCorpus([
        make_passage(
            p["text"], study=study, passage_id=int(study.study_id[1:]) * 100 + position, position=position,
            section=records.Section(p["section"]), heading=study.title,
        )
        for row in published_rows(folder)
        for study in [study_of(row)]
        for position, p in enumerate(row["passages"])
    ])  # fmt: skip
